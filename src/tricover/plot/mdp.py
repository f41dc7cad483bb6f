"""The local decision process: cells with their weights, the kinds of states, value and policy.

The first two are the paper's figures of the weights (M = 5) and of the states. Corners are named i_1, i_2, i_3, as the
in-neighbours are there.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.geometry import CellGrid
from tricover.mdp import Solution
from tricover.plot.style import COLUMN, FAINT, INK, figure_style, new_axes, plain_axes
from tricover.units import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

__all__ = ["EQUILATERAL", "HIGHLIGHT", "draw_cells", "draw_solution", "plot_solution", "plot_states", "plot_weights"]

Floats = NDArray[np.float64]

EQUILATERAL = np.array([[0.5, np.sqrt(0.75)], [0.0, 0.0], [1.0, 0.0]])
HIGHLIGHT = "#d55e00"
_MOST_ARROWS = 15  # along a side
# Okabe and Ito's colours, told apart by everybody.
KINDS = (("interior", 3, "#56b4e9"), ("boundary", 2, "#f0e442"), ("nodal", 1, "#e69f00"))


def plot_weights(grid: CellGrid, triangle: ArrayLike | None = None, ax: "Axes | None" = None) -> "Axes":
    """The cells of a triangle (3, 2), by default an equilateral one, with the three weights of their centres."""
    corners = EQUILATERAL if triangle is None else np.asarray(triangle, dtype=np.float64)
    with figure_style():
        ax = ax or new_axes(1.4 * COLUMN, 1.25 * COLUMN)
        draw_cells(ax, grid, corners, facecolors=["#ffffff" if up else "#ececec" for up in grid.up])
        size = min(8.0, 32 / grid.resolution)
        for weights in grid.weights:
            x, y = weights @ corners
            text = "\n".join(f"{weight:.3f}" for weight in weights)
            ax.text(x, y, text, ha="center", va="center", fontsize=size, linespacing=0.95)
        _name_corners(ax, corners)
    return ax


def plot_states(grid: CellGrid, triangle: ArrayLike | None = None, ax: "Axes | None" = None) -> "Axes":
    """The contained states by kind: interior, boundary and nodal, with three, two and one neighbours."""
    from matplotlib.patches import Patch

    corners = EQUILATERAL if triangle is None else np.asarray(triangle, dtype=np.float64)
    colours = {degree: colour for _, degree, colour in KINDS} | {0: KINDS[2][2]}
    with figure_style():
        ax = ax or new_axes(COLUMN, 0.95 * COLUMN)
        draw_cells(ax, grid, corners, facecolors=[colours[int(degree)] for degree in grid.degrees])
        _name_corners(ax, corners)
        keys = [Patch(facecolor=colour, edgecolor=INK, linewidth=0.4, label=name) for name, _, colour in KINDS]
        ax.legend(handles=keys, loc="upper left")
    return ax


def plot_solution(solution: Solution, start: int | None = None, ax: "Axes | None" = None) -> "Axes":
    """Value as colour, the policy as arrows, a star on the goal, and the path from cell ``start`` if one is given."""
    with figure_style():
        ax = ax or new_axes(1.5 * COLUMN, 1.15 * COLUMN)
        centres = draw_solution(ax, solution)
        if start is not None:
            x, y = centres[solution.path(start)].T
            ax.plot(x, y, color=HIGHLIGHT, linewidth=1.5, marker="o", markevery=[0], markersize=4, label="path")
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def draw_solution(ax: "Axes", solution: Solution, corners: Floats | None = None) -> Floats:
    """Value, policy and goal, with a bar for the value; the centres of the cells (M², 2).

    ``corners`` (3, 2): draw it in a triangle of another shape.
    """
    problem = solution.problem
    shape = problem.triangle if corners is None else corners
    centres = problem.grid.weights @ shape
    lost = np.sort(problem.order[problem.reaching :]).astype(np.int64)  # forbidden, or with no walk to the goal
    kept = np.sort(problem.order[: problem.reaching]).astype(np.int64)
    cells = draw_cells(ax, problem.grid, shape, kept, array=solution.value[kept], cmap="viridis_r", linewidths=0.1)
    if lost.size:
        looks = {"facecolors": "#f0efed", "edgecolors": FAINT, "linewidths": 0.1, "hatch": "//////"}
        draw_cells(ax, problem.grid, shape, lost, **looks).set_hatch_linewidth(0.4)
    bar = ax.figure.colorbar(cells, ax=ax, label="value $V^*(s)$: the lower, the better", shrink=0.7)
    bar.ax.yaxis.set_major_formatter(lambda value, _: number(value))
    _draw_policy(ax, solution, centres)
    x, y = centres[problem.goal_cell]
    ax.plot(x, y, "*", color=HIGHLIGHT, markersize=10, markeredgecolor="white", linestyle="", zorder=4, label="goal")
    return np.asarray(centres)


def draw_cells(
    ax: "Axes", grid: CellGrid, corners: Floats, only: NDArray[np.int64] | None = None, **style: Any
) -> "PolyCollection":
    """The cells of a triangle (3, 2) as one collection, all or ``only`` some, on plain axes."""
    from matplotlib.collections import PolyCollection

    outlines = grid.corners(np.arange(len(grid)) if only is None else only) @ corners
    cells = PolyCollection(list(outlines), **{"edgecolors": INK, "linewidths": 0.4, **style})
    ax.add_collection(cells)
    ax.autoscale_view()
    plain_axes(ax)
    return cells


def _draw_policy(ax: "Axes", solution: Solution, centres: Floats) -> None:
    """An arrow per cell; where cells are many, on every few of them, for as many moves."""
    grid = solution.problem.grid
    stride = -(-grid.resolution // _MOST_ARROWS)
    ends = np.arange(len(grid))
    for _ in range(stride):
        ends = solution.policy[ends]
    chosen = (grid.coordinates[:, :2] % stride == 0).all(axis=1) & (grid.up | (stride == 1))
    moving = np.flatnonzero(chosen & (ends != np.arange(len(grid))))
    (x, y), (dx, dy) = centres[moving].T, (centres[ends] - centres)[moving].T
    ax.quiver(x, y, dx, dy, angles="xy", scale_units="xy", scale=1.6, width=0.004, color="white", zorder=3)


def _name_corners(ax: "Axes", corners: Floats) -> None:
    centre = corners.mean(axis=0)
    for k, corner in enumerate(corners):
        x, y = centre + 1.08 * (corner - centre)
        ax.text(x, y, f"$i_{k + 1}$", ha="center", va="center", fontsize=10)
