"""What an agent has learned of its moves: where they end, how that changed its policy, and the evidence for it.

All three are drawn as the triangle stands at the end of the run, in metres, so that winds have their directions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.geometry import CellGrid, flat
from tricover.mdp import LocalMDP
from tricover.mdp.estimate import PooledOffsets
from tricover.mdp.offsets import FARTHER, OFFSETS, shifts
from tricover.plot.mdp import HIGHLIGHT, draw_cells
from tricover.plot.style import ACTUAL, COLUMN, FAINT, INK, PAGE, counted, figure_style, time_line, whole_numbers
from tricover.simulation import Run
from tricover.simulation.evidence import Evidence, evidence_of
from tricover.vehicles.mixed import Mixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_evidence", "plot_learned", "plot_policies"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_MOST_TOLD = 4  # ends with figures
_MOST_ARROWS = 18  # along a side
_FARTHEST = 14  # moves that are drawn
_DIFFERS = "#f9d5bd"


def plot_learned(run: Run, agent: int, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Where the moves of a follower end: a panel for intended cells that point up, and one for those that point down.

    Each shows the intended cell with a ring, and an arrow to every cell in which a move ended, the wider the likelier.
    The likeliest have their chance with its 95% interval. ``axes``: two to draw on.
    """
    import matplotlib.pyplot as plt

    known, triangle, grid = run.learned(agent), _triangle(run, agent), CellGrid(run.scenario.control.resolution)
    assert known.pooled is not None, "who learns pools offsets"
    with figure_style():
        panels = counted(plt.subplots(1, 2, figsize=(PAGE, 0.52 * PAGE))[1] if axes is None else axes, 2)
        for ax, up in zip(panels, (True, False), strict=True):
            _draw_ends(ax, known.pooled, up, triangle / grid.resolution)
        panels[0].figure.suptitle(_heading(run, agent), fontsize="medium")
        _draw_wind(panels[1], run, agent)
    return panels


def plot_policies(run: Run, agent: int, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """The policy of a follower that believes in success, and the one that it has learned, to its goal of the end.

    Cells in which they differ are coloured. ``axes``: two to draw on.
    """
    import matplotlib.pyplot as plt

    known, triangle, control = run.learned(agent), _triangle(run, agent), run.scenario.control
    grid, goal = CellGrid(control.resolution), int(run.goal_cells[-1, agent]) if run.steps else -1
    if goal < 0:
        raise InputError(f"agent {agent} had no goal cell at the end: choose another")
    settings = control.alpha, control.beta, control.gamma
    first, second = (
        LocalMDP(grid, triangle, goal, *settings, kernel).solve().policy
        for kernel in (None, None if known.certain else known.kernel)
    )
    differs = first != second
    with figure_style():
        panels = counted(plt.subplots(1, 2, figsize=(PAGE, 0.5 * PAGE))[1] if axes is None else axes, 2)
        for ax, policy in zip(panels, (first, second), strict=True):
            _draw_policy(ax, grid, triangle, policy, differs, goal)
        panels[0].set_title("as if moves always succeeded", loc="left")
        panels[1].set_title(_verdict(known.certain, differs), loc="left")
        panels[0].figure.suptitle(_heading(run, agent), fontsize="medium")
        _draw_wind(panels[1], run, agent)
    return panels


def plot_evidence(run: Run, agent: int, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Evidence over time: moves and misses of a follower, and its estimate of the chance to hit. ``axes``: two."""
    import matplotlib.pyplot as plt

    found = evidence_of(run, agent)
    if not len(found.steps):
        raise InputError(f"agent {agent} made no moves by its policy: there is no evidence to draw")
    with figure_style():
        panels = plt.subplots(2, 1, figsize=(1.4 * COLUMN, 1.25 * COLUMN), sharex=True)[1] if axes is None else axes
        top, bottom = counted(panels, 2)
        line: Any = time_line(len(found.steps))
        top.plot(found.steps, np.arange(1, len(found.steps) + 1), color=FAINT, label="moves", **line)
        top.plot(found.steps, np.cumsum(found.missed), color=HIGHLIGHT, label="misses", **line)
        top.set(ylabel="so far", ylim=(0, None))
        top.legend(loc="upper left", bbox_to_anchor=(0.12, 1.0))
        top.set_title(_heading(run, agent), loc="left")
        band: Any = {"step": "post", "color": ACTUAL, "alpha": 0.2, "linewidth": 0}
        bottom.fill_between(found.steps, found.low, found.high, label="95% interval", **band)
        bottom.plot(found.steps, found.hit, color=ACTUAL, label="chance to hit", **line)
        bottom.set(xlabel="step", ylabel="chance to hit", ylim=(0, 1.02), xlim=(0, run.steps))
        whole_numbers(bottom.xaxis)
        _mark_changes(top, bottom, found)
        bottom.legend(loc="lower right")
    return [top, bottom]


def _mark_changes(top: "Axes", bottom: "Axes", found: Evidence) -> None:
    """A line where the agent stops to trust its moves, or trusts them again."""
    changed = np.flatnonzero(np.diff(np.append(True, found.trusts)))
    for number, place in enumerate(changed):
        label = "changes its mind" if number == 0 else None
        for ax in (top, bottom):
            ax.axvline(
                found.steps[place], color=INK, linewidth=0.7, linestyle=":", label=label if ax is bottom else None
            )


def _heading(run: Run, agent: int) -> str:
    known = run.learned(agent)
    low, high = known.slip_interval()
    chance = f"{100 * known.slip:.0f}% miss ({100 * low:.0f} to {100 * high:.0f}%)"
    return f"agent {agent}, its last {known.records.sum():,} moves: {chance}"


def _verdict(certain: bool, differs: Flags) -> str:
    if certain:
        return "it has no reason to change its mind"
    return f"as it has learned: {differs.sum():,} of {len(differs):,} cells differ"


def _triangle(run: Run, agent: int) -> Floats:
    """The triangle (3, 2) of a follower at the end."""
    triangle = run.positions[-1][run.network.in_neighbors[agent]]
    if flat(triangle):
        raise InputError(f"the triangle of agent {agent} has no area at the end, so it has no cells: choose another")
    return np.asarray(triangle)


def _draw_ends(ax: "Axes", pooled: PooledOffsets, up: bool, cell: Floats) -> None:
    """Ends of moves to cells of one orientation; ``cell`` (3, 2): the triangle, as small as a cell."""
    mine = (pooled.up == up) & (pooled.codes < FARTHER)
    codes, chances = pooled.codes[mine], pooled.chances[mine]
    low, high = (part[mine] for part in pooled.interval())
    ends = shifts(codes, np.full(len(codes), up)) / 3 @ cell
    moves = np.abs(OFFSETS[codes]).sum(axis=1)
    shown = moves <= _FARTHEST
    _draw_lattice(ax, up, cell, int(moves[shown].max(initial=1)) + 2)
    ax.plot(0, 0, "o", color=INK, markerfacecolor="none", markersize=9, zorder=5)
    _draw_hit(ax, up, cell, float(chances[codes == 0][0]))
    for end, chance in zip(ends[shown & (codes > 0)], chances[shown & (codes > 0)], strict=True):
        look = {"arrowstyle": "-|>", "color": HIGHLIGHT, "linewidth": 0.6 + 5 * chance, "shrinkA": 5, "shrinkB": 0}
        ax.annotate("", tuple(end), (0, 0), arrowprops=look, zorder=4)
    for place in np.argsort(-chances * shown, kind="stable")[:_MOST_TOLD]:
        if shown[place]:
            text = f"{100 * chances[place]:.0f}%\n{100 * low[place]:.0f} to {100 * high[place]:.0f}"
            _tell(ax, ends[place], text)
    count = int(pooled.counts[pooled.up == up].sum())
    gone = int(pooled.counts[(pooled.up == up) & (pooled.codes >= FARTHER)].sum())
    far = f", {gone:,} out of sight" if gone else ""
    ax.set_title(f"to cells that point {'up' if up else 'down'}: {count:,} moves{far}", loc="left")


def _tell(ax: "Axes", place: Floats, text: str) -> None:
    """A text beside a place, with a halo, away from the arrow that ends there."""
    from matplotlib.patheffects import withStroke

    length = float(np.linalg.norm(place))
    way = place / length if length else np.array([0.0, -1.0])
    shift = (float(16 * way[0]), float(13 * way[1])) if length else (-14.0, -14.0)
    halo = [withStroke(linewidth=2, foreground="white")]
    looks: Any = {"ha": "center", "va": "center", "fontsize": 6.5, "zorder": 7, "path_effects": halo}
    ax.annotate(text, (float(place[0]), float(place[1])), shift, textcoords="offset points", **looks)


def _draw_lattice(ax: "Axes", up: bool, cell: Floats, reach: int) -> None:
    """The cells within so many moves of the intended one, whose centre is the origin."""
    from matplotlib.collections import PolyCollection

    near = OFFSETS[np.abs(OFFSETS).sum(axis=1) <= reach]
    outlines = list(_outlines(near if up else -near, up) @ cell)
    ax.add_collection(PolyCollection(outlines, facecolors="none", edgecolors=FAINT, linewidths=0.4, zorder=1))
    ax.autoscale_view()
    ax.set_aspect("equal")
    ax.set_axis_off()


def _draw_hit(ax: "Axes", up: bool, cell: Floats, chance: float) -> None:
    """The intended cell, the darker the likelier a move ends in it."""
    [outline] = _outlines(np.zeros((1, 3), np.int64), up) @ cell
    ax.fill(*outline.T, facecolor=ACTUAL, alpha=0.15 + 0.6 * chance, edgecolor=INK, linewidth=0.6, zorder=2)


def _outlines(offsets: Ints, up: bool) -> Floats:
    """Corners (K, 3, 3) of cells at offsets (K, 3) from an up or a down cell, seen from its centre."""
    total = offsets.sum(axis=1)
    points_up = (total == 0) == up
    own = np.where(points_up[:, None, None], np.eye(3), 1 - np.eye(3))
    return np.asarray(offsets[:, None, :] + own - (1 if up else 2) / 3)


def _draw_policy(ax: "Axes", grid: CellGrid, triangle: Floats, policy: Ints, differs: Flags, goal: int) -> None:
    """Arrows of a policy; where cells are many, on every few of them, for as many moves."""
    colours = np.where(differs, _DIFFERS, "#ffffff")
    draw_cells(ax, grid, triangle, facecolors=colours, edgecolors=FAINT, linewidths=4 / (grid.resolution + 8))
    stride = -(-grid.resolution // _MOST_ARROWS)
    centres, ends = grid.weights @ triangle, np.arange(len(grid))
    for _ in range(stride):
        ends = policy[ends]
    chosen = (grid.coordinates[:, :2] % stride == 0).all(axis=1) & (grid.up | (stride == 1))
    moving = np.flatnonzero(chosen & (ends != np.arange(len(grid))))
    staying = np.flatnonzero(chosen & (ends == np.arange(len(grid))))
    ways = (centres[ends] - centres)[moving]
    arrows: Any = {"angles": "xy", "scale_units": "xy", "scale": 1.3, "width": 0.004, "zorder": 3}
    ax.quiver(*centres[moving].T, *ways.T, color=INK, **arrows)
    ax.plot(*centres[staying].T, ".", color=INK, markersize=2.5, zorder=3)
    ax.plot(*centres[goal], "*", color=HIGHLIGHT, markersize=11, markeredgecolor="white", linestyle="", zorder=4)


def _draw_wind(ax: "Axes", run: Run, agent: int) -> None:
    """Where gusts or the wind blow to, if the agent's vehicle knows: an arrow in a corner, in metres' directions."""
    team = run.mission.vehicle
    vehicle: Any = team.vehicles[team.assignment[agent]] if isinstance(team, Mixed) else team
    name, setting = ("gusts", "gust") if vehicle.kind == "gusty" else ("wind", "wind")
    way = np.asarray(getattr(vehicle, setting, (0.0, 0.0)), np.float64)
    if way.shape != (2,) or not way.any():
        return
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    size = max(right - left, top - bottom)
    middle = np.array([right - 0.08 * size, top - 0.08 * size])
    way = 0.06 * size * way / np.linalg.norm(way)
    looks: Any = {"arrowstyle": "-|>", "color": ACTUAL, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tuple(middle + way), tuple(middle - way), arrowprops=looks, annotation_clip=False)
    ax.text(middle[0], middle[1] - 0.09 * size, name, ha="center", va="center", color=ACTUAL)
