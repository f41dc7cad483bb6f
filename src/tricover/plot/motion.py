"""How agents come to rest: coordinates over time (the paper's figures of agents 29 and 43), and phase portraits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.plot.paths import chosen_agents
from tricover.plot.style import COLUMN, FAINT, INK, PAGE, figure_style, layer_colours, whole_numbers
from tricover.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_coordinates", "plot_portrait"]

_MOST_MARKED = 80  # steps: longer runs go without a marker for each
_MOST_PORTRAYED = 6


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
        left, right = axes
        for ax, name, values, goal in zip((left, right), "xy", path.T, run.desired[chosen], strict=True):
            marker = "o" if len(steps) <= _MOST_MARKED else None
            colour = layer_colours(1)[0]
            ax.plot(steps, values, drawstyle="steps-post", color=colour, marker=marker, markersize=2.5, label="actual")
            ax.axhline(goal, color="#d55e00", linestyle="--", linewidth=0.9, label="desired")
            ax.set(ylabel=f"{name}, m")
            whole_numbers(ax.xaxis)
        right.set_xlabel("step")
        left.legend(title=label or f"agent {chosen}", loc="best")
    return left, right


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
    layer = np.maximum(run.network.layer[chosen], 0)
    offsets = run.positions[:, chosen] - run.desired[chosen]
    with figure_style():
        if axes is None:
            axes = plt.subplots(1, 2, figsize=(PAGE, 0.45 * PAGE))[1]
        left, right = axes
        for axis, (ax, name) in enumerate(zip((left, right), "xy", strict=True)):
            ax.axhline(0, color=FAINT, linewidth=0.6, zorder=0)
            ax.axvline(0, color=FAINT, linewidth=0.6, zorder=0)
            for agent, colour, path in zip(
                chosen, layer_colours(run.network.depth)[layer], offsets[..., axis].T, strict=True
            ):
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


def _draw_orbit(
    ax: "Axes", offset: NDArray[np.float64], change: NDArray[np.float64], colour: NDArray[np.float64], label: str
) -> None:
    ax.plot(offset, change, color=colour, marker="o", markersize=2, linewidth=0.8, label=label)
    dx, dy = np.diff(offset), np.diff(change)
    moving = (dx != 0) | (dy != 0)
    x, y = (offset[:-1] + dx / 2)[moving], (change[:-1] + dy / 2)[moving]
    ax.quiver(
        x, y, dx[moving], dy[moving], color=[colour], angles="xy", pivot="mid", units="inches", scale_units="xy",
        scale=1e9, width=0.012, headwidth=3.4, headlength=4.2, headaxislength=4.2, minlength=0, zorder=3,
    )  # fmt: skip
