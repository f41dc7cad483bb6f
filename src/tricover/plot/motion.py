"""How agents come to rest: coordinates over time (the paper's figures of agents 29 and 43), and phase portraits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.plot.agents import draw_heads
from tricover.plot.paths import chosen_agents
from tricover.plot.style import (
    ACTUAL,
    COLUMN,
    FAINT,
    INK,
    PAGE,
    WANTED,
    agent_colours,
    counted,
    figure_style,
    time_line,
    whole_numbers,
)
from tricover.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_coordinates", "plot_portrait"]

Floats = NDArray[np.float64]

_MOST_MARKED = 80  # steps: longer runs go without a marker for each
_MOST_PORTRAYED = 6
_SHORT = 0.15  # of the longest move in a portrait: shorter ones have no room for a head


def plot_coordinates(
    run: Run, agent: int, axes: "Sequence[Axes] | None" = None, label: str | None = None
) -> "tuple[Axes, Axes]":
    """x and y of one agent over time, its desired position dashed.

    Args:
        run: of any motion.
        agent: its index, from 0.
        axes: two axes to draw on; None: a figure of column width.
        label: what to call the agent, such as "agent 29" in the paper's numbering; None: by its index.
    """
    import matplotlib.pyplot as plt

    [chosen] = chosen_agents(run, [agent])
    steps = np.flatnonzero(run.present[:, chosen])
    path = run.positions[steps, chosen]
    with figure_style():
        if axes is None:
            axes = plt.subplots(2, 1, figsize=(COLUMN, 0.9 * COLUMN), sharex=True)[1]
        upper, lower = counted(axes, 2)
        marker = "o" if len(steps) <= _MOST_MARKED else None
        for ax, name, values, goal in zip((upper, lower), "xy", path.T, run.desired[chosen], strict=True):
            looks: dict[str, Any] = {"color": ACTUAL, "marker": marker, "markersize": 2.5, **time_line(len(steps))}
            ax.plot(steps, values, label="actual", **looks)
            ax.axhline(goal, color=WANTED, linestyle="--", linewidth=0.9, label="desired")
            ax.set(ylabel=f"{name}, m")
            ax.margins(x=0.02)
            whole_numbers(ax.xaxis)
        lower.set_xlabel("step")
        upper.set_title(label or f"agent {chosen}", loc="left")
        upper.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1)
    return upper, lower


def plot_portrait(
    run: Run,
    agents: Sequence[int] | NDArray[np.integer] | None = None,
    axes: "Sequence[Axes] | None" = None,
) -> "tuple[Axes, Axes]":
    """Phase portraits: an agent's offset from its desired x (and y) against the change in a step; they end at 0, 0.

    Args:
        run: with at least a step.
        agents: whom to portray; None: of some layers the agent that starts farthest from its desired position.
        axes: two axes to draw on; None: a figure of page width.
    """
    import matplotlib.pyplot as plt

    if not run.steps:
        raise InputError("this run has no steps: there is nothing to portray")
    chosen = _farthest(run) if agents is None else chosen_agents(run, agents)
    colours = agent_colours(run.network.depth, run.network.layer[chosen])
    offsets = run.positions[:, chosen] - run.desired[chosen]
    with figure_style():
        if axes is None:
            axes = plt.subplots(1, 2, figsize=(PAGE, 0.45 * PAGE))[1]
        left, right = counted(axes, 2)
        for axis, (ax, name) in enumerate(zip((left, right), "xy", strict=True)):
            ax.axhline(0, color=FAINT, linewidth=0.6, zorder=0)
            ax.axvline(0, color=FAINT, linewidth=0.6, zorder=0)
            ax.axline((0, 0), slope=-1, color=FAINT, linewidth=0.6, linestyle="--", zorder=0, label="arrives next")
            for agent, colour, path in zip(chosen, colours, offsets[..., axis].T, strict=True):
                _draw_orbit(ax, path[:-1], np.diff(path), colour, f"agent {agent}, layer {run.network.layer[agent]}")
            ax.plot(0, 0, "+", color=INK, markersize=8, zorder=4)
            ax.set(xlabel=f"offset from desired {name}, m", ylabel=f"change of {name} in a step, m")
        right.legend(loc="best")
    return left, right


def _farthest(run: Run) -> NDArray[np.int64]:
    """Of up to six layers, spread over all, the agent that starts farthest from its desired position."""
    away = np.linalg.norm(run.positions[0] - run.desired, axis=1)
    layers = run.network.layers[1:] or run.network.layers
    picked = np.unique(np.linspace(0, len(layers) - 1, _MOST_PORTRAYED).round().astype(np.int64))
    return np.array([layers[index][np.argmax(away[layers[index]])] for index in picked])


def _draw_orbit(ax: "Axes", offset: Floats, change: Floats, colour: Floats, label: str) -> None:
    """Points (offset, change) in the order of time, hollow at the start, with heads that show the direction."""
    ax.plot(offset, change, color=colour, marker="o", markersize=2, linewidth=0.8, label=label)
    ax.plot(offset[0], change[0], "o", color=colour, markerfacecolor="white", markersize=4, zorder=3)
    ways = np.column_stack([np.diff(offset), np.diff(change)])
    longest = np.maximum(np.abs(ways).max(axis=0, initial=0), np.finfo(np.float64).tiny)
    long = (np.abs(ways) > _SHORT * longest).any(axis=1)
    middles = np.column_stack([offset, change])[:-1][long] + 0.5 * ways[long]
    draw_heads(ax, middles, ways[long], colour)
