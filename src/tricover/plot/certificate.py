"""Figures of a certificate: contraction, settling by layer, the sparsity of Γ, the tube around a desired position."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tricover.errors import InputError
from tricover.network import Network
from tricover.plot.style import (
    ACTUAL,
    COLUMN,
    FAINT,
    INK,
    WANTED,
    figure_style,
    layer_colours,
    new_axes,
    subscripted,
    whole_numbers,
)
from tricover.units import length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.sparse import csr_array

    from tricover.certificates import Certificate, Log

__all__ = ["plot_contraction", "plot_settling", "plot_transition", "plot_tube"]

_LEAST_ENTRY = 0.15  # of a transition matrix: smaller ones are drawn as large as this, lest they vanish


def plot_contraction(certificate: "Certificate", ax: "Axes | None" = None) -> "Axes":
    """‖Φ(s+k, s)‖∞ over the lag k: the largest measured, the theorem's bound, and the lag from which on it is zero."""
    found = certificate.contraction
    if found is None or not found.depth:
        raise InputError(
            "this certificate has no contraction: "
            "it is of a scenario, or of a team that morphs, has no followers or hears late"
        )
    lags = np.arange(len(found.measured) + max(2, found.depth // 4))
    bound = (1 - found.eta) ** (lags // found.window)
    measured = np.append(found.measured, np.zeros(len(lags) - len(found.measured)))
    with figure_style():
        ax = ax or new_axes(COLUMN, 0.72 * COLUMN)
        ax.axvspan(found.depth, lags[-1], color="#eeeeee", zorder=0, linewidth=0)
        ax.text((found.depth + lags[-1]) / 2, 1.0, r"$\Phi = 0$", fontsize=7, ha="center", va="center")
        label = rf"theorem: $\eta$ = {found.eta:.2g}, $T$ = {found.window}"
        ax.step(lags, bound, where="post", color=WANTED, label=label)
        ax.plot(lags, measured, "o-", color=ACTUAL, markersize=3, clip_on=False, label="measured, the largest")
        top = 1.05 * float(np.nanmax(measured))  # above one where a vehicle left its triangle
        ax.set(xlabel="lag $t - s$, steps", ylabel=r"$\|\Phi(t, s)\|_\infty$", ylim=(0, top), xlim=(0, lags[-1]))
        whole_numbers(ax.xaxis)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)
    return ax


def plot_settling(certificate: "Certificate", ax: "Axes | None" = None) -> "Axes":
    """The step at which each layer came to rest, beside its bound."""
    bounds = [(row.index, row.bound) for row in certificate.layers if row.bound is not None]
    if not bounds:
        raise InputError("this certificate says nothing about settling: see its claim 'theorem3'")
    settled = [(row.index, row.settled) for row in certificate.layers if row.settled is not None]
    with figure_style():
        ax = ax or new_axes(COLUMN, 0.72 * COLUMN)
        ax.plot(*np.transpose(bounds), "_-", color=WANTED, markersize=9, label="bound")
        if settled:
            ax.plot(*np.transpose(settled), "o", color=ACTUAL, markersize=4, clip_on=False, label="settled")
        ax.set(xlabel="layer", ylabel="step", ylim=(0, None))
        whole_numbers(ax.xaxis, ax.yaxis)
        ax.legend(loc="upper left")
    return ax


def plot_transition(matrix: "csr_array", network: Network, ax: "Axes | None" = None) -> "Axes":
    """The entries of a transition matrix, agents sorted by layer: identity, then strictly block lower triangular."""
    order = np.concatenate(network.layers)
    places = np.full(matrix.shape[0], -1)
    places[order] = np.arange(len(order))
    entries = matrix.tocoo()
    rows, columns = places[entries.row], places[entries.col]
    shown = (rows >= 0) & (columns >= 0)
    colours = layer_colours(network.depth)[network.layer[entries.row[shown]]]
    cuts = np.cumsum([len(agents) for agents in network.layers])
    with figure_style():
        ax = ax or new_axes(COLUMN, COLUMN)
        for cut in cuts[:-1]:
            ax.axhline(cut - 0.5, color=FAINT, linewidth=0.4, zorder=0)
            ax.axvline(cut - 0.5, color=FAINT, linewidth=0.4, zorder=0)
        size = float(np.clip(5000 / len(order) ** 1.4, 0.3, 24))
        areas = size * np.clip(np.abs(entries.data[shown]), _LEAST_ENTRY, 1)
        ax.scatter(
            columns[shown], rows[shown], s=areas, c=colours, marker="s", linewidths=0, rasterized=len(order) > 2000
        )
        ax.set(xlim=(-0.5, len(order) - 0.5), ylim=(len(order) - 0.5, -0.5), aspect="equal")
        middles = (np.append(0, cuts[:-1]) + cuts) / 2 - 0.5
        wide = np.diff(np.append(0, cuts)) >= 0.045 * len(order)
        names = [subscripted("V", index) if fits else "" for index, fits in enumerate(wide)]
        ax.set_xticks(middles, names)
        ax.set_yticks(middles, names)
        ax.tick_params(length=0, labeltop=True, labelbottom=False)
        ax.spines[:].set_visible(True)
        ax.set_xlabel("heard agent, by layer")
        ax.set_ylabel("landing agent, by layer")
        _key_to_sizes(ax, size)
    return ax


def _key_to_sizes(ax: "Axes", area: float) -> None:
    """What the squares mean, ``area`` points² for 1; in the corner above the diagonal, where no entry can be."""
    from matplotlib.lines import Line2D

    looks: dict[str, Any] = {"marker": "s", "color": INK, "linestyle": "", "markeredgewidth": 0}
    names = {1.0: "1", 0.5: "0.5", _LEAST_ENTRY: f"{_LEAST_ENTRY} or less"}
    keys = [Line2D([], [], markersize=(area * entry) ** 0.5, label=name, **looks) for entry, name in names.items()]
    ax.legend(handles=keys, loc="upper right", title="entry", alignment="left")


def plot_tube(certificate: "Certificate", log: "Log", agent: int, ax: "Axes | None" = None) -> "Axes":
    """How far an agent was from its desired position, step by step, beside the radius that is claimed for it."""
    around = certificate.neighbourhood
    if around is None:
        raise InputError("this certificate knows no desired positions: see its claim 'theorem3'")
    away = np.linalg.norm(log.path(agent) - around.desired[agent], axis=1)
    layer = int(log.epochs[-1].network.layer[agent])
    bound = next((row.bound for row in certificate.layers if row.index == layer), None)
    radius = float(around.radii[agent])
    kind = "from cells" if around.proper[agent] else "containment"
    with figure_style():
        ax = ax or new_axes(COLUMN, 0.72 * COLUMN)
        if bound is not None and bound < log.steps:
            ax.fill_between([bound, log.steps], 0, radius, color=WANTED, alpha=0.18, linewidth=0)
            ax.hlines(radius, bound, log.steps, color=WANTED, label=rf"radius $\rho$ = {length(radius)}, {kind}")
            ax.axvline(bound, color=FAINT, linewidth=0.6, label=f"bound, step {bound}")
        ax.plot(away, color=ACTUAL, linewidth=0.8, label=f"agent {agent}, layer {layer}")
        ax.set(xlabel="step", ylabel="distance from desired, m", xlim=(0, max(log.steps, 1)), ylim=(0, None))
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2)
    return ax
