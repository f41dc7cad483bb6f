"""Zones on a map: hatched, below everything that moves."""

from typing import TYPE_CHECKING, Any

from tricover.simulation import Run

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["draw_zones", "zone_key"]

_COLOUR = "#b3361f"
_LOOKS: dict[str, Any] = {"facecolor": "#f6e3df", "edgecolor": _COLOUR, "hatch": "////", "linewidth": 0.7}


def draw_zones(ax: "Axes", run: Run) -> None:
    """The zones of a run. They do not widen the map: those far away are not seen."""
    from matplotlib.collections import PolyCollection

    zones = run.mission.ground.zones
    if zones is None:
        return
    looks = {f"{name}s" if name != "hatch" else name: value for name, value in _LOOKS.items()}
    shapes = PolyCollection(list(zones), zorder=0.45, **looks)
    shapes.set_hatch_linewidth(0.4)
    ax.add_collection(shapes, autolim=False)


def zone_key(run: Run) -> "list[Artist]":
    """What zones look like, for a key; nothing where there are none."""
    from matplotlib.lines import Line2D

    looks: dict[str, Any] = {"marker": "s", "markerfacecolor": _LOOKS["facecolor"], "markeredgecolor": _COLOUR}
    none = run.mission.ground.zones is None
    return [] if none else [Line2D([], [], linestyle="", markersize=4.5, label="zone", **looks)]
