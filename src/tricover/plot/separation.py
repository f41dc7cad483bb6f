"""Separation of a run: the least distance of any two agents over time, and where agents came closest to each other."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.geometry import Separation
from tricover.plot.agents import (
    MOST_VECTORS,
    draw_agents,
    draw_lines,
    draw_targets,
    first_agents,
    marker_area,
    present_targets,
    tell_sample,
)
from tricover.plot.style import (
    ACTUAL,
    COLUMN,
    FAINT,
    INK,
    WANTED,
    figure_style,
    new_axes,
    new_map,
    time_line,
    whole_numbers,
)
from tricover.simulation import Run
from tricover.simulation.approaching import closest_pairs
from tricover.units import length

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LISTED", "plot_approaches", "plot_separation"]

Floats = NDArray[np.float64]

LISTED = 5
"""Closest approaches that are numbered and listed."""
_MOST_SHOWN = 500  # pairs below the limit: more would hide each other


def plot_separation(run: Run, ax: "Axes | None" = None) -> "Axes":
    """The least distance of any two agents in each step, between its ends too, with what the scenario asks for."""
    found, wanted = run.approaches, run.scenario.safety.separation
    there = np.isfinite(found.distances)
    if not there.any():
        raise InputError("this run never has two agents: there is no distance to draw")
    closest = int(found.distances.argmin())
    who = "agents {} and {}".format(*found.agents[closest])
    with figure_style():
        ax = ax or new_axes(COLUMN, 0.7 * COLUMN)
        steps = np.arange(len(there))
        distances = np.where(there, found.distances, np.nan)
        ax.plot(steps, distances, color=ACTUAL, **time_line(len(steps)))
        least = f"least: {length(found.distances[closest])}, {who}"
        place = closest + float(found.shares[closest])
        ax.plot(place, found.distances[closest], "o", color=INK, markersize=4, clip_on=False, zorder=4, label=least)
        if wanted is not None:
            ax.axhline(wanted, color=WANTED, linewidth=0.9, linestyle="--", label=f"asked for: {length(wanted)}")
        ax.set(xlabel="step", ylabel="least distance, m", xlim=(0, None))
        ax.set_ylim(0, 1.05 * max(found.distances[there].max(), wanted or 0.0) or 1.0)
        whole_numbers(ax.xaxis)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2)
    return ax


def plot_approaches(run: Run, ax: "Axes | None" = None, close: Separation | None = None) -> "Axes":
    """Who came closest to whom, and where: pairs at the moment of their closest approach, with their ways in that step.

    Args:
        run: finished or not.
        ax: axes to draw on; None: a figure of column width.
        close: the pairs to draw; None: ``closest_pairs`` of the run.
    """
    wanted = run.scenario.safety.separation
    shown = (closest_pairs(run, LISTED) if close is None else close).closest_first(_MOST_SHOWN)
    if not len(shown.below):
        raise InputError("this run never has two agents: there is no approach to draw")
    ways, points = _moments(run, shown)
    everybody = first_agents(run.network)
    paths = run.positions[:, everybody].swapaxes(0, 1)
    too_close = wanted is not None and shown.distances[0] < wanted
    with figure_style():
        ground, masses = present_targets(run.targets)
        ax = ax or new_map(ground, run.positions[0, everybody], run.positions[-1, everybody], strip=True)
        draw_targets(ax, ground, masses, alpha=0.6)
        width = float(np.clip(20 / len(everybody), 0.15, 0.5))
        draw_lines(ax, paths, FAINT, width, rasterized=paths.size > MOST_VECTORS)
        draw_agents(ax, run.network, run.positions[-1], 0.3 * marker_area(len(everybody), False), everybody, faint=True)
        colour = WANTED if too_close else ACTUAL
        draw_lines(ax, ways.reshape(-1, 2, 2), colour, 0.8, zorder=2)
        _draw_pairs(ax, points, colour, wanted)
        _number(ax, shown, points)
        tell_sample(ax, len(everybody), len(run.network), "paths")
        ax.set_aspect("equal")
        ax.set(xlabel="x, m", ylabel="y, m")
    return ax


def _moments(run: Run, shown: Separation) -> tuple[Floats, Floats]:
    """Ways of both agents of each pair in its step, (K, 2, 2, 2), and where they are at that moment, (K, 2, 2)."""
    after = np.minimum(shown.steps + 1, run.steps)
    ends = [run.positions[times[:, None], shown.below] for times in (shown.steps, after)]
    points = ends[0] + shown.shares[:, None, None] * (ends[1] - ends[0])
    return np.stack(ends, axis=2), points


def _draw_pairs(ax: "Axes", points: Floats, colour: str, wanted: float | None) -> None:
    """Pairs as dots with a line between them; discs of half the separation overlap where they are too close."""
    from matplotlib.collections import EllipseCollection

    draw_lines(ax, points, INK, 1.2, zorder=3)
    flat = points.reshape(-1, 2)
    if wanted is not None:
        looks: dict[str, Any] = {"facecolors": colour, "alpha": 0.25, "linewidths": 0, "zorder": 1.5}
        sizes = np.full(len(flat), wanted)
        ax.add_collection(
            EllipseCollection(
                sizes, sizes, np.zeros(len(flat)), units="xy", offsets=flat, offset_transform=ax.transData, **looks
            )
        )
    area = float(np.clip(300 / len(points), 2.0, 14.0))
    ax.scatter(flat[:, 0], flat[:, 1], s=area, color=colour, edgecolors="white", linewidths=0.4, zorder=4)


def _number(ax: "Axes", shown: Separation, points: Floats) -> None:
    """Numbers at the closest approaches, and who they are above the axes."""
    from matplotlib.lines import Line2D

    handles = []
    for place in range(min(LISTED, len(points))):
        first, second = shown.below[place].tolist()
        middle = tuple(points[place].mean(axis=0))
        ax.annotate(
            str(place + 1), middle, (4, 4), textcoords="offset points", fontsize=7, color=INK, weight="bold", zorder=5
        )
        text = f"{place + 1}: {length(shown.distances[place])}, agents {first} and {second}, step {shown.steps[place]}"
        handles.append(Line2D([], [], linestyle="", label=text))
    more = len(points) - len(handles)
    title = "closest approaches" + (f", and {more} more" if more else "")
    looks: dict[str, Any] = {"handlelength": 0, "handletextpad": 0, "borderaxespad": 0.1, "labelspacing": 0.2}
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), title=title, alignment="left", **looks)
