"""Heights: at which level every vehicle flies, on a map and over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tricover.export import Flights
from tricover.plot.agents import MOST_DETAILED, MOST_VECTORS
from tricover.plot.style import FAINT, INK, PAGE, counted, figure_style, layer_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_heights"]

_MOST_NAMED = 12  # levels: more have no room for their names


def plot_heights(flights: Flights, axes: "Sequence[Axes] | None" = None) -> "tuple[Axes, Axes]":
    """Draw flights from above, in the colours of their levels, and the height of each level over time.

    Left, rings are pads, and thin lines between them join who comes near whom and so flies at different levels. Right,
    the time in which vehicles move sideways is shaded: all climb before it and come down after it.

    Args:
        flights: of a run, by ``tricover.export.flights_of``.
        axes: two axes to draw on; None: a figure of page width.
    """
    import matplotlib.pyplot as plt

    with figure_style():
        if axes is None:
            axes = plt.subplots(1, 2, figsize=(PAGE, 0.5 * PAGE))[1]
        above, over_time = counted(axes, 2)
        _draw_from_above(above, flights)
        _draw_over_time(over_time, flights)
    return above, over_time


def _draw_from_above(ax: "Axes", flights: Flights) -> None:
    from matplotlib.collections import LineCollection

    ways = [points[:, :2] for _, points in flights.tracks]
    pads = np.array([way[0] for way in ways]).reshape(-1, 2)
    colours = layer_colours(len(flights.heights) - 1)[flights.levels]
    pixels = sum(map(len, ways)) > MOST_VECTORS
    rows = np.searchsorted(flights.tracks.agents, flights.near)
    if len(rows) <= MOST_VECTORS:
        ax.add_collection(LineCollection(list(pads[rows]), colors=FAINT, linewidths=0.4, zorder=0))
    width = float(np.clip(40 / max(len(ways), 1), 0.2, 1.1))
    ax.add_collection(LineCollection(ways, colors=colours, linewidths=width, zorder=1, rasterized=pixels))
    area = 14 if len(ways) <= MOST_DETAILED else 3
    looks: dict[str, Any] = {"facecolors": "white", "edgecolors": colours, "linewidths": 0.8, "zorder": 2}
    ax.scatter(pads[:, 0], pads[:, 1], s=area, **looks)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.05)
    ax.set(xlabel="x, m", ylabel="y, m")
    ax.set_title("from above", loc="left")


def _draw_over_time(ax: "Axes", flights: Flights) -> None:
    colours = layer_colours(len(flights.heights) - 1)
    tracks = list(flights.tracks)
    ready, end = flights.sideways
    ax.axvspan(ready, end, color=FAINT, alpha=0.25, linewidth=0)
    for level, height in enumerate(flights.heights.tolist()):
        members = np.flatnonzero(flights.levels == level)
        times, points = tracks[members[0]]
        ax.plot(times, points[:, 2], color=colours[level], linewidth=1.2, zorder=3 - level / len(flights.heights))
        if len(flights.heights) <= _MOST_NAMED:
            agents = "1 agent" if len(members) == 1 else f"{len(members)} agents"
            ax.text((ready + end) / 2, height, agents, ha="center", va="bottom", color=INK)
    ax.set(xlabel="time, s", ylabel="height above the pads, m", xlim=(0, None))
    ax.set_ylim(0, float(flights.heights[-1]) + 1.2 * flights.flight.spacing)
    ax.set_title("over time: all climb, fly, and come down", loc="left")
