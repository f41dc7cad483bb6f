"""Where agents went: their paths from start to end (the paper's figures of agent paths)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.errors import agents as named
from tricover.plot.agents import (
    MOST_DETAILED,
    MOST_VECTORS,
    draw_agents,
    draw_targets,
    first_agents,
    key_to_layers,
    key_to_roles,
    marker_area,
    present_targets,
    tell_sample,
)
from tricover.plot.style import agent_colours, figure_style, new_map
from tricover.plot.zones import draw_zones, zone_key
from tricover.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["chosen_agents", "chosen_step", "plot_paths"]


def chosen_agents(run: Run, agents: Sequence[int] | NDArray[np.integer] | None) -> NDArray[np.int64]:
    """The agents asked for, all if None; one that is not there, or did not come to join, is an error that names it."""
    count = len(run.network)
    chosen = np.arange(count) if agents is None else np.atleast_1d(np.asarray(agents))
    if not np.issubdtype(chosen.dtype, np.integer) or not chosen.size:
        raise InputError(f"agents must be whole numbers from 0 to {count - 1}, at least one, not {agents!r}")
    unknown = chosen[(chosen < 0) | (chosen >= count)]
    if unknown.size:
        raise InputError(f"there is no {named(unknown.tolist())}: agents are numbered 0 to {count - 1}")
    return chosen


def chosen_step(run: Run, step: int) -> int:
    """The step asked for; negative ones count from the end."""
    chosen = step + run.steps + 1 if step < 0 else step
    if not 0 <= chosen <= run.steps:
        raise InputError(f"there is no step {step}: this run has steps 0 to {run.steps}")
    return chosen


def plot_paths(run: Run, ax: "Axes | None" = None, agents: Sequence[int] | NDArray[np.integer] | None = None) -> "Axes":
    """Draw the paths of agents: hollow where they start, filled where they end, targets below.

    By default of all, in a team of more than 20,000 of so many in the first layers.

    Paths have the colour of the agent's layer in the last network; lost agents end in a cross.
    """
    from matplotlib.collections import LineCollection

    network = run.network
    chosen = chosen_agents(run, first_agents(network) if agents is None else agents)
    area = 0.8 * marker_area(len(chosen), False)
    trails = [_moves(run.positions[:, agent]) for agent in chosen]
    with figure_style():
        ground, masses = present_targets(run.targets)
        ax = ax or new_map(ground, run.positions[0, chosen], run.positions[-1, chosen], strip=True)
        draw_targets(ax, ground, masses)
        draw_zones(ax, run)
        lines = LineCollection(
            trails,
            colors=agent_colours(network.depth, network.layer[chosen]),
            linewidths=float(np.clip(40 / len(chosen), 0.2, 0.9)),
            alpha=0.8 if len(chosen) <= MOST_DETAILED else 0.45,
            zorder=1,
            rasterized=sum(map(len, trails)) > MOST_VECTORS,
        )
        ax.add_collection(lines)
        draw_agents(ax, network, run.positions[0], 0.6 * area, only=chosen, hollow=True)
        draw_agents(ax, network, run.positions[-1], area, only=chosen)
        if agents is None:
            tell_sample(ax, len(chosen), len(network), "paths")
        ax.set_aspect("equal")
        ax.set(xlabel="x, m", ylabel="y, m")
        key_to_layers(ax, network)
        key_to_roles(ax, network, start=True, targets=True, more=zone_key(run))
    return ax


def _moves(path: NDArray[np.float64]) -> NDArray[np.float64]:
    """A path (T+1, 2) without the steps at which the agent stood still."""
    moved = np.append(True, (path[1:] != path[:-1]).any(axis=1))
    return np.asarray(path[moved])
