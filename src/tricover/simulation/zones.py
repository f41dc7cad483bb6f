"""What can be said of zones before a run: nobody begins in one, and no anchor is sent through one.

Anchors go straight from place to place. Where one begins is known, unless it becomes an anchor during the run; then it
looks for itself (see ``control.decision``), but its places must be free.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tricover.control import Told
from tricover.errors import InputError
from tricover.geometry import as_zones
from tricover.goals.zones import TOUCHING

__all__ = ["check_zones"]

Floats = NDArray[np.float64]


def check_zones(told: Sequence[tuple[int, Told]], positions: Floats) -> None:
    """Refuse agents that begin at positions (N, 2) in a zone, and anchors that are sent through one.

    ``told`` is what agents are told, each with the step from which on it holds.
    """
    zones = as_zones(told[0][1].zones or ())
    inside = zones.crossed(positions, positions, TOUCHING)
    if (inside >= 0).any():
        agent = int(np.argmax(inside >= 0))
        raise InputError(
            f"safety.zones: agent {agent} begins in zone {inside[agent]}, at {_at(positions[agent])}: "
            "begin elsewhere, or change the zone"
        )
    where = positions.copy()
    for order, (start, now) in enumerate(told):
        end = told[order + 1][0] if order + 1 < len(told) else start + len(now.paths)
        anchors = now.network.anchors
        for step in range(start, max(end, start + 1)):
            places = now.places(step)  # NaN: wherever it then is
            here = np.where(np.isnan(where[anchors]), places, where[anchors])
            _check_ways(zones.crossed(here, places, TOUCHING), anchors, here, places)
            where[anchors] = places
            if step >= len(now.paths) - 1:
                break
        where[now.network.followers] = np.nan  # who knows where they are


def _check_ways(met: NDArray[np.int64], anchors: NDArray[np.integer], here: Floats, there: Floats) -> None:
    if (met >= 0).any():
        row = int(np.argmax(met >= 0))
        raise InputError(
            f"safety.zones: anchor {anchors[row]} is sent through zone {met[row]}, from {_at(here[row])} to "
            f"{_at(there[row])}: give it another place, or paths around the zone (anchors.paths)"
        )


def _at(point: Floats) -> str:
    return f"({point[0]:g}, {point[1]:g})"
