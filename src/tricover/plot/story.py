"""One agent's story in four panels: its place in the team, its cells and its way through them, the value and policy
that lead it, and how it comes to rest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.geometry import CellGrid, barycentric, flat
from tricover.mdp import LocalMDP
from tricover.plot.formation import plot_desired
from tricover.plot.mdp import HIGHLIGHT, draw_cells, plot_solution
from tricover.plot.paths import chosen_agents
from tricover.plot.style import PAGE, figure_style, whole_numbers
from tricover.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_story"]

Floats = NDArray[np.float64]


def plot_story(run: Run, agent: int, axes: "Sequence[Axes] | None" = None, label: str | None = None) -> "list[Axes]":
    """Tell one follower's story, on a page-wide figure or on four axes.

    The second and third panels are in the agent's own frame: its triangle as it is at the end, and positions by their
    barycentric coordinates in the triangle of their time.
    """
    import matplotlib.pyplot as plt

    [chosen] = chosen_agents(run, [agent])
    network, name = run.network, label or f"agent {agent}"
    if not run.steps:
        raise InputError("this run has no steps: there is no story to tell")
    if network.layer[chosen] < 1:
        raise InputError(f"agent {agent} follows nobody: choose a follower, such as {network.followers[0]}")
    grid = CellGrid(run.scenario.control.resolution)
    corners = run.positions[:, network.in_neighbors[chosen]]
    with figure_style():
        panels = list(plt.subplots(2, 2, figsize=(PAGE, 0.85 * PAGE))[1].flat) if axes is None else list(axes)
        place, cells, decision, arrival = panels
        _draw_place(place, run, int(chosen), name)
        _draw_way(cells, grid, corners, run.positions[:, chosen])
        goal = int(run.goal_cells[-1, chosen])
        if goal >= 0:
            control = run.scenario.control
            mdp = LocalMDP(grid, corners[-1], goal, control.alpha, control.beta, control.gamma)
            state = int(run.states[0, chosen])
            plot_solution(mdp.solve(), start=state if state >= 0 else None, ax=decision)
        _draw_arrival(arrival, run, int(chosen))
    return panels


def _draw_place(ax: "Axes", run: Run, agent: int, name: str) -> None:
    plot_desired(run, ax, labels=False, key=False)
    ax.fill(*run.desired[run.network.in_neighbors[agent]].T, color=HIGHLIGHT, alpha=0.3, zorder=2, linewidth=0)
    ax.plot(*run.desired[agent], "o", color=HIGHLIGHT, markersize=5, zorder=5)
    ax.set_title(f"{name} and its triangle")


def _draw_way(ax: "Axes", grid: CellGrid, corners: Floats, path: Floats) -> None:
    proper = ~flat(corners)
    draw_cells(ax, grid, corners[-1], facecolors="white", linewidths=0.2)
    own = barycentric(path[proper], corners[proper]) @ corners[-1]
    ax.plot(*own.T, "o-", color=HIGHLIGHT, markersize=2)
    ax.set_title("its cells, and its way through them")


def _draw_arrival(ax: "Axes", run: Run, agent: int) -> None:
    away = np.linalg.norm(run.positions[:, agent] - run.desired[agent], axis=1)
    ax.plot(away, drawstyle="steps-post", color=HIGHLIGHT)
    ax.set(xlabel="step", ylabel="distance from desired, m", ylim=(0, None), xlim=(0, run.steps))
    whole_numbers(ax.xaxis)
    ax.set_title("how it comes to rest")
