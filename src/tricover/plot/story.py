"""One agent's story in four panels.

1. Its place in the team: the three agents it listens to, its triangle, and its path.
2. Its own frame: the cells of its triangle, the targets in it at the end, and its way through the cells. The triangle
   moves and can be thin, so everything is drawn by barycentric coordinates, those of the time, in an equilateral one.
3. What it decides by: the value of every cell and the policy, towards its goal cell of the end, in the same frame.
4. How it comes to rest: its distance to the goal of the moment and to its desired position. The goal jumps until the
   in-neighbours stand; from then on nothing is left but to walk there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.geometry import CellGrid, barycentric, flat
from tricover.goals import cell_points
from tricover.mdp import LocalMDP
from tricover.plot.agents import draw_agents, draw_heads, draw_lines, draw_targets, marker_area, present_targets
from tricover.plot.mdp import EQUILATERAL, HIGHLIGHT, draw_cells, draw_solution
from tricover.plot.paths import chosen_agents
from tricover.plot.style import ACTUAL, FAINT, INK, PAGE, counted, figure_style, time_line, whole_numbers
from tricover.plot.zones import draw_zones
from tricover.simulation import Run
from tricover.targets import Targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_story"]

Floats = NDArray[np.float64]

_AROUND = 0.2  # of the triangle's side: how much of what is outside is shown
_VISITED = "#f9d5bd"


@dataclass(frozen=True, eq=False)
class _Life:
    """A follower's steps: when (K,), where (K, 2), in which triangle (K, 3, 2) with area; and its number and name."""

    agent: int
    name: str
    steps: NDArray[np.int64]
    path: Floats
    triangles: Floats


def plot_story(run: Run, agent: int, axes: "Sequence[Axes] | None" = None, label: str | None = None) -> "list[Axes]":
    """Tell one follower's story, on a page-wide figure or on four axes.

    Args:
        run: with at least a step.
        agent: a follower's index, from 0.
        axes: four axes to draw on; None: a figure of page width.
        label: what to call the agent; None: by its index.
    """
    import matplotlib.pyplot as plt

    life = _life(run, agent, label)
    with figure_style():
        panels = counted(plt.subplots(2, 2, figsize=(PAGE, 0.82 * PAGE))[1].flat if axes is None else axes, 4)
        _draw_place(panels[0], run, life)
        _draw_way(panels[1], run, life)
        _draw_decision(panels[2], run, life)
        _draw_arrival(panels[3], run, life)
        for ax in panels:
            ax.set_anchor("NW")  # titles stand in line, whatever the shape of the drawing
    return panels


def _life(run: Run, agent: int, label: str | None) -> _Life:
    [chosen] = chosen_agents(run, [agent]).tolist()
    launch = run.mission.launch
    if run.steps <= launch:
        raise InputError(f"this run has no steps{' after its launch' if launch else ''}: there is no story to tell")
    if run.network.layer[chosen] < 1:
        kind, others = "is an anchor" if run.network.layer[chosen] == 0 else "was lost", run.network.followers
        remedy = f"choose a follower, such as {others[-1]}" if others.size else "this team has no followers"
        raise InputError(f"agent {agent} {kind}: {remedy}")
    steps, triangles = [], []
    starts = [epoch.start for epoch in run.epochs]
    for epoch, stop in zip(run.epochs, [*starts[1:], run.steps + 1], strict=True):
        start, network = max(epoch.start, launch), epoch.network
        if chosen < len(network) and network.layer[chosen] > 0:
            steps.append(np.arange(start, stop))
            triangles.append(run.positions[start:stop, network.in_neighbors[chosen]])
    times, corners = np.concatenate(steps), np.concatenate(triangles)
    proper = ~flat(corners)
    if not proper[-1]:
        raise InputError(f"the triangle of agent {agent} has no area at the end, so it has no cells: choose another")
    times, corners = times[proper], corners[proper]
    return _Life(chosen, label or f"agent {agent}", times, run.positions[times, chosen], corners)


def _draw_place(ax: "Axes", run: Run, life: _Life) -> None:
    network, last = run.network, run.positions[-1]
    heard = network.in_neighbors[life.agent]
    draw_targets(ax, *present_targets(run.targets))
    draw_zones(ax, run)
    draw_agents(ax, network, last, 0.6 * marker_area(len(network), False), faint=True)
    ax.fill(*last[heard].T, facecolor=_VISITED, edgecolor="none", zorder=0.4)
    ways = last[life.agent] - last[heard]
    for start in last[heard]:
        ax.plot(*np.transpose([start, last[life.agent]]), color=HIGHLIGHT, linewidth=0.9, zorder=2)
    draw_heads(ax, last[heard] + 0.6 * ways, ways, HIGHLIGHT)
    draw_agents(ax, network, last, 30.0, only=np.append(heard, life.agent))
    _draw_path(ax, life.path)
    _number(ax, heard.tolist(), last[heard])
    ax.set_aspect("equal")
    ax.set(xlabel="x, m", ylabel="y, m")
    words = f"{life.name}, layer {network.layer[life.agent]}, listens to {_all(heard.tolist())}"
    ax.set_title(words, loc="left")


def _draw_way(ax: "Axes", run: Run, life: _Life) -> None:
    grid = CellGrid(run.scenario.control.resolution)
    own = barycentric(life.path, life.triangles)
    cells = grid.locate(own)
    draw_cells(ax, grid, EQUILATERAL, np.unique(cells[cells >= 0]), facecolors=_VISITED, linewidths=0, zorder=0)
    draw_lines(ax, _cuts(grid.resolution) @ EQUILATERAL, FAINT, 4 / (grid.resolution + 8), zorder=0)
    ax.fill(*EQUILATERAL.T, facecolor="none", edgecolor=INK, linewidth=0.7, zorder=1)
    draw_targets(ax, *_seen(run.targets, life.triangles[-1]))
    _draw_path(ax, own @ EQUILATERAL)
    ax.set(xlim=(-_AROUND, 1 + _AROUND), ylim=(-_AROUND, EQUILATERAL[0, 1] + _AROUND))
    _name_corners(ax, run.network.in_neighbors[life.agent].tolist())
    outside = int((cells < 0).sum())
    note = f", {outside} of {len(cells)} outside" if outside else ""
    ax.set_title(f"its {len(grid):,} cells and its way{note}", loc="left")


def _draw_decision(ax: "Axes", run: Run, life: _Life) -> None:
    control, goal = run.scenario.control, int(run.goal_cells[-1, life.agent])
    if goal < 0:  # the triangle had no area a step before the end
        ax.set_axis_off()
        return
    grid = CellGrid(control.resolution)
    settings, zones = (control.alpha, control.beta, control.gamma), run.epochs[-1].told.obstacles
    blocked = None if zones is None else zones.cells(life.triangles[-1:], grid)[0]
    if blocked is not None and blocked[goal]:  # the triangle moved in the last step
        ax.set_axis_off()
        return
    mdp = LocalMDP(grid, life.triangles[-1], goal, *settings, run.kernel_of(life.agent), blocked)
    draw_solution(ax, mdp.solve(), EQUILATERAL)
    ax.set_title("value of each cell, and the policy to its goal", loc="left")


def _draw_arrival(ax: "Axes", run: Run, life: _Life) -> None:
    grid, steps = CellGrid(run.scenario.control.resolution), life.steps[life.steps < run.steps]
    triangles, path = life.triangles[: len(steps)], life.path[: len(steps)]
    goals = cell_points(run.goal_cells[steps, life.agent].astype(np.int64), triangles, grid)
    to_goal = np.linalg.norm(path - goals, axis=1)
    to_desired = np.linalg.norm(life.path - run.desired[life.agent], axis=1)
    ax.plot(steps, to_goal, ".-", color=ACTUAL, linewidth=0.7, markersize=3, label="goal")
    ax.plot(life.steps, to_desired, color=HIGHLIGHT, label="desired position", **time_line(len(steps)))
    heard = run.positions[:, run.network.in_neighbors[life.agent]]
    moving = np.flatnonzero((heard != heard[-1]).any(axis=(1, 2)))
    stand = int(moving[-1]) + 1 if moving.size else 0
    if stand < run.steps:
        ax.axvline(stand, color=FAINT, linewidth=0.8, label=f"in-neighbours stand, step {stand}")
    top = 1.5 * float(max(to_goal.max(initial=0), to_desired.max())) or 1.0  # with room for the legend
    ax.set(xlabel="step", ylabel="distance, m", ylim=(0, top), xlim=(0, run.steps))
    whole_numbers(ax.xaxis)
    ax.legend(loc="upper right", title=f"{life.name} to its", alignment="left", frameon=True, edgecolor="none")
    ax.set_title("how far it is from where it should be", loc="left")


def _number(ax: "Axes", agents: list[int], corners: Floats) -> None:
    """The agents' numbers beside their markers at ``corners`` (3, 2), on the outer side of the triangle."""
    from matplotlib.patheffects import withStroke

    ways = corners - corners.mean(axis=0)
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    looks: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "weight": "bold", "zorder": 7}
    halo = [withStroke(linewidth=2, foreground="white")]
    for agent, corner, way in zip(agents, corners, ways, strict=True):
        shift = (float(9 * way[0]), float(9 * way[1]))
        ax.annotate(str(agent), tuple(corner), shift, textcoords="offset points", path_effects=halo, **looks)


def _draw_path(ax: "Axes", path: Floats) -> None:
    ax.plot(*path.T, color=HIGHLIGHT, linewidth=1.2, marker=".", markersize=3, zorder=5)
    ax.plot(*path[0], "o", color=HIGHLIGHT, markerfacecolor="white", markersize=4.5, zorder=6)
    ax.plot(*path[-1], "o", color=HIGHLIGHT, markeredgecolor="white", markersize=6, zorder=6)


def _cuts(resolution: int) -> Floats:
    """The lines that cut a triangle into cells, as barycentric coordinates of their ends (3M-3, 2, 3)."""
    near = np.arange(1, resolution) / resolution
    ends = np.stack([[near, 1 - near, 0 * near], [near, 0 * near, 1 - near]]).transpose(2, 0, 1)
    return np.concatenate([np.roll(ends, turn, axis=2) for turn in range(3)])


def _seen(targets: Targets, triangle: Floats) -> tuple[Floats, Floats | None]:
    """The targets inside a triangle (3, 2) in the equilateral frame, and their weights."""
    points, weights = present_targets(targets)
    own = barycentric(points, np.broadcast_to(triangle, (len(points), 3, 2)))
    inside = (own >= 0).all(axis=1)
    return np.asarray(own[inside] @ EQUILATERAL), None if weights is None else weights[inside]


def _name_corners(ax: "Axes", agents: list[int]) -> None:
    centre = EQUILATERAL.mean(axis=0)
    for corner, agent in zip(EQUILATERAL, agents, strict=True):
        x, y = centre + 1.12 * (corner - centre)
        ax.text(x, y, str(agent), ha="center", va="center", fontsize=7)


def _all(agents: list[int]) -> str:
    return f"{agents[0]}, {agents[1]} and {agents[2]}"
