"""Coverage of a run: the cost over time beside Lloyd's algorithm, and the Voronoi cells of the team."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.coverage import CoverageTrace, voronoi_cells
from tricover.plot.agents import (
    MOST_VECTORS,
    draw_agents,
    draw_targets,
    key_to_layers,
    key_to_roles,
    marker_area,
    present_targets,
)
from tricover.plot.paths import chosen_step
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
from tricover.plot.zones import draw_zones, zone_key
from tricover.simulation import Run
from tricover.units import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_coverage", "plot_voronoi"]

_LARGE = 20.0  # ratio of costs from which on the scale is logarithmic
_MARGIN = 0.04  # of the extent, around agents and targets


def plot_coverage(trace: CoverageTrace, ax: "Axes | None" = None) -> "Axes":
    """Cost of the team step by step, with Lloyd's algorithm, iteration by iteration, and their limits."""
    with figure_style():
        ax = ax or new_axes(COLUMN, 0.78 * COLUMN)
        ax.plot(trace.steps, trace.costs, color=ACTUAL, label="team", **time_line(len(trace.steps)))
        ax.axhline(trace.desired, color=INK, linewidth=0.8, linestyle="--", label="desired configuration")
        if trace.lloyd is not None:
            ax.plot(trace.lloyd, color=WANTED, marker="o", markersize=2, label="Lloyd, same start")
            ax.axhline(trace.lloyd[-1], color=WANTED, linewidth=0.8, linestyle=":", label="Lloyd's limit")
        costs = np.concatenate([trace.costs, [] if trace.lloyd is None else trace.lloyd])
        if np.nanmin(costs) > 0 and np.nanmax(costs) > _LARGE * np.nanmin(costs):
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter(lambda cost, _: number(cost))
        else:
            ax.set_ylim(0, None)
        ax.set(xlabel="step of the team, iteration of Lloyd's", ylabel="coverage cost, m²", xlim=(0, None))
        whole_numbers(ax.xaxis)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)
    return ax


def plot_voronoi(run: Run, step: int = -1, ax: "Axes | None" = None) -> "Axes":
    """Voronoi cells of the agents that take part at a step (negative: from the end), with the targets of that step."""
    from matplotlib.collections import PolyCollection

    time = chosen_step(run, step)
    positions, present = (run.read(name, time, time + 1)[0] for name in ("positions", "present"))
    ground, masses = present_targets(run.mission.targets_at(time))
    network = run.network_at(max(min(time, run.steps - 1), 0))
    box = _around(np.concatenate([positions[present], ground]))
    cells = [cell for cell in voronoi_cells(positions[present], box) if len(cell)]
    with figure_style():
        ax = ax or new_map(box, strip=True)
        draw_targets(ax, ground, masses)
        draw_zones(ax, run)
        raster, width = len(cells) > MOST_VECTORS, float(np.clip(200 / len(cells), 0.15, 0.5))
        ax.add_collection(
            PolyCollection(cells, facecolors="none", edgecolors=FAINT, linewidths=width, zorder=1, rasterized=raster)
        )
        draw_agents(
            ax, network, positions[: len(network)], marker_area(len(cells), False), only=np.flatnonzero(present)
        )
        ax.set(xlim=box[:, 0], ylim=box[:, 1], xlabel="x, m", ylabel="y, m", aspect="equal")
        key_to_layers(ax, network)
        key_to_roles(ax, network, targets=True, more=zone_key(run))
    return ax


def _around(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """A box (2, 2) around points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = _MARGIN * float((high - low).max()) or 1.0
    return np.stack([low - margin, high + margin])
