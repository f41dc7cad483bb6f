"""What one agent knows of the targets in its triangle: by its own eyes, from memory, by what it was told."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tricover.errors import InputError
from tricover.plot.agents import draw_targets
from tricover.plot.style import FAINT, INK, figure_style, new_map, plain_axes
from tricover.simulation import Run
from tricover.simulation.knowing import Known

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_sight"]

# Okabe and Ito's colours, told apart by everybody; and shapes, for print without colours.
_LOOKS: dict[str, dict[str, Any]] = {
    "seen": {"color": "#d55e00", "marker": "o", "label": "sees"},
    "remembered": {"color": "#e69f00", "marker": "s", "label": "remembers"},
    "told": {"color": "#0072b2", "marker": "^", "label": "told by in-neighbours"},
    "reported": {"color": "#009e73", "marker": "D", "label": "reported by children"},
    "unknown": {"color": "#555555", "marker": "x", "label": "does not know"},
}
_SIZE = 12.0  # of a marker, in square points


def plot_sight(run: Run, agent: int, ax: "Axes | None" = None) -> "Axes":
    """A follower in the end: its disc of sight, its triangle, and what it knows in it.

    Diamonds are larger where a point stands for more.
    """
    from matplotlib.patches import Circle, Polygon

    known = run.known(agent)
    sight = run.scenario.world.sight
    if sight is None:
        raise InputError("in this run everybody sees every target: set world.sight")
    with figure_style():
        disc = known.position + sight * np.array([[-1.0, -1.0], [1.0, 1.0]])
        around = np.concatenate([known.triangle, np.clip(disc, known.triangle.min(0), known.triangle.max(0))])
        ax = ax or new_map(around)
        draw_targets(ax, run.targets.points, run.targets.weights, alpha=0.6)
        ax.add_patch(Polygon(known.triangle, closed=True, fill=False, edgecolor=INK, linewidth=0.9, zorder=2))
        ax.add_patch(
            Circle(tuple(known.position), sight, facecolor="#fdeee3", edgecolor="#d55e00", linewidth=0.7, zorder=0.4)
        )
        _draw_points(ax, known)
        ax.plot(*known.triangle.T, "o", color=INK, markersize=4, linestyle="", zorder=4)
        ax.plot(
            *known.position,
            "*",
            color=INK,
            markersize=9,
            markeredgecolor="white",
            linestyle="",
            zorder=5,
            label=f"agent {agent}",
        )
        plain_axes(ax)
        _frame(ax, around)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, handletextpad=0.4, edgecolor=FAINT)
    return ax


def _draw_points(ax: "Axes", known: Known) -> None:
    for name, looks in _LOOKS.items():
        points = getattr(known, name)
        sizes: Any = _SIZE
        if name == "reported" and len(points):
            sizes = np.clip(_SIZE * np.sqrt(known.weights / known.weights.min().clip(1e-9)), _SIZE, 6 * _SIZE)
        if len(points):
            ax.scatter(
                points[:, 0], points[:, 1], s=sizes, linewidths=0.8 if name == "unknown" else 0, zorder=3, **looks
            )


def _frame(ax: "Axes", around: Any) -> None:
    """Show the triangle, with a little around it."""
    low, high = around.min(axis=0), around.max(axis=0)
    room = 0.06 * float((high - low).max())
    ax.set_xlim(low[0] - room, high[0] + room)
    ax.set_ylim(low[1] - room, high[1] + room)
