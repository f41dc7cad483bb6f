"""Zones: polygons that nobody enters. Which ways cross them, how far ways stay away, which cells they forbid.

A zone is a simple polygon: corners in order, at least three, sides that meet only where one follows the other. Its
edges belong to it, and so does what it encloses: a polygon's holes are not left out, which is the safe side.

Between two steps an agent goes straight. So a motion is judged by its ways, not by its places: ``crossings`` names
every way that meets a zone. Signs are exact, so a way that only touches a corner is found, and one beside it is not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.formats.points import LARGEST
from tricover.geometry.cells import CellGrid
from tricover.geometry.motions import checked_motion
from tricover.threads import in_ranges

__all__ = ["Crossing", "Zones", "as_zones", "checked_zone", "crossings"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_MOST_CORNERS = 20_000  # of one zone: its sides are compared with each other, which would take too long for more

Polygons: TypeAlias = "Iterable[ArrayLike] | Zones"


class Crossing(NamedTuple):
    """A way that meets a zone."""

    agent: int
    step: int
    """The way is from t = ``step`` to t+1; at the end of a motion, for who only then is there, a place."""
    zone: int
    length: float
    """How much of the way is in the zone, in metres: 0 where it only touches, or the agent stands."""


@dataclass(frozen=True, eq=False)
class Zones:
    """Polygons, checked and laid out for compiled loops; ``as_zones`` makes them.

    >>> zones = as_zones([[[1, 1], [1, 3], [3, 3], [3, 1]]])
    >>> zones.crossed(np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([[4.0, 0.5], [4.0, 2.0]])).tolist()
    [-1, 0]
    """

    polygons: tuple[Floats, ...]
    """Each (K, 2), in metres, counter-clockwise, its first corner once."""

    def __len__(self) -> int:
        return len(self.polygons)

    def __repr__(self) -> str:
        return f"<{len(self)} zones, {sum(map(len, self.polygons))} corners>"

    def __getstate__(self) -> dict[str, Any]:
        """The polygons alone: all else is derived from them."""
        return {"polygons": self.polygons}

    @cached_property
    def field(self) -> Any:
        """The polygons as compiled loops want them."""
        from tricover.geometry._polygons import TILES, Field

        boxes = np.array([[*ring.min(axis=0), *ring.max(axis=0)] for ring in self.polygons])
        low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
        scale = TILES * (1 - 1e-9) / (high - low)
        taken = np.zeros((TILES + 1, TILES + 1), np.int64)
        for x0, y0, x1, y1 in np.floor((boxes - np.tile(low, 2)) * np.tile(scale, 2)).astype(np.int64):
            taken[x0 + 1 : x1 + 2, y0 + 1 : y1 + 2] = 1
        starts = np.append(0, np.cumsum([len(ring) for ring in self.polygons]))
        tiles = np.cumsum(np.cumsum(taken, axis=0), axis=1)
        return Field(np.concatenate(self.polygons), starts, boxes, tiles, np.concatenate([low, scale]))

    def crossed(self, before: Floats, after: Floats, slack: float = 0.0) -> Ints:
        """The first zone (A,), by number, that each straight way from (A, 2) to (A, 2) meets; -1 if it meets none.

        ``slack`` is how near counts as meeting, as a share of the way's largest coordinate.
        """
        from tricover.geometry._polygons import ways_near

        found = np.empty(len(before), np.int64)
        ways = _plain(before), _plain(after)
        in_ranges(lambda first, last: ways_near(self.field, *ways, slack, first, last, found), len(found))
        return found

    def holding(self, points: Floats) -> Ints:
        """The first zone (A,), by number, that holds each point (A, 2); -1 if none does."""
        return self.crossed(points, points)

    def distance(self, before: Floats, after: Floats, below: float = np.inf) -> tuple[float, int, int]:
        """The least distance of straight ways (A, 2) to a zone, with the way and the zone; (``below``, -1, -1) if none
        comes as near as that."""
        from tricover.geometry._polygons import least

        best, way, zone = least(self.field, _plain(before), _plain(after), float(below))
        return float(best), int(way), int(zone)

    def nearest(self, before: Floats, after: Floats) -> Ints:
        """The zone (A,) that is nearest to each straight way."""
        pairs = zip(before[:, None], after[:, None], strict=True)
        return np.array([self.distance(here, there)[2] for here, there in pairs], np.int64)

    def cells(self, triangles: Floats, grid: CellGrid) -> Flags:
        """Which cells (A, M²) of triangles (A, 3, 2) that have an area come too near to a zone to be entered.

        Those are all that touch one, and those within a slack of one, far above rounding and far below a millimetre.
        """
        from tricover.geometry._obstacles import forbid, new_room

        found = np.empty((len(triangles), len(grid)), np.bool_)
        room, everyone = new_room(grid.resolution, len(self)), np.arange(len(self))
        for row, triangle in enumerate(_plain(triangles)):
            forbid(self.field, everyone, triangle, grid.resolution, room)
            found[row] = room.forbidden
        return found

    def goals(self, places: Floats | None, triangles: Floats, points: Floats, grid: CellGrid) -> Ints:
        """What zones mean for agents: rows (A, 4) of status, state, start and goal; see ``_obstacles``.

        Args:
            places: where they stand, (A, 2); None: it is not known, and every free cell counts as reachable.
            triangles: (A, 3, 2).
            points: goal points in them, (A, 2).
            grid: of cells.

        A goal cell that is forbidden, or that there is no walk to over free cells, is replaced: by the reachable free
        cell whose centre is nearest to the goal point, the lowest of equals.
        """
        from tricover.geometry._obstacles import settle

        found = np.empty((len(triangles), 4), np.int64)
        where = np.full((len(triangles), 2), np.nan) if places is None else _plain(places)
        work = self.field, _plain(grid.neighbors), _plain(grid.weights), grid.resolution
        agents = where, _plain(triangles), _plain(points)
        in_ranges(lambda first, last: settle(*work, *agents, first, last, found), len(found), smallest=256)
        return found


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """The same array in one form, whoever hands it over: kernels are compiled for one form only."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def as_zones(polygons: Polygons) -> Zones:
    """Polygons as zones; one that is none is an error that names it and its corners."""
    if isinstance(polygons, Zones):
        return polygons
    found = []
    for number, corners in enumerate(polygons):
        try:
            found.append(checked_zone(corners))
        except InputError as error:
            raise InputError(f"zone {number} {error}") from None
    if not found:
        raise InputError("there are no zones: give at least one polygon, or leave them out")
    return Zones(tuple(found))


def checked_zone(corners: ArrayLike) -> Floats:
    """A polygon's corners (K, 2) counter-clockwise, each once; read-only."""
    try:
        given = np.array(corners, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError("must be a list of corners [x, y], in metres")
    broken = np.flatnonzero(~(np.abs(given) <= LARGEST).all(axis=1))
    if broken.size:
        raise InputError(f"has a corner, number {broken[0]}, that is not finite, or beyond {LARGEST:g} metres")
    ring: Floats = given[(given != np.roll(given, 1, axis=0)).any(axis=1)]  # the first may be there again at the end
    if len(ring) < 3:
        raise InputError(f"has {len(ring)} different corners: a polygon needs three or more")
    if len(ring) > _MOST_CORNERS:
        raise InputError(f"has {len(ring)} corners, more than {_MOST_CORNERS}: simplify it")
    _check_simple(ring)
    if _clockwise(ring):
        ring = ring[::-1].copy()
    ring.flags.writeable = False
    return ring


def _check_simple(ring: Floats) -> None:
    from tricover.geometry._polygons import self_crossing

    ends = np.roll(ring, -1, axis=0)
    order = np.argsort(np.minimum(ring[:, 0], ends[:, 0]), kind="stable")
    one, other = self_crossing(ring, order, np.maximum(ring[:, 0], ends[:, 0]))
    if one < 0:
        return
    if _on_a_line(ring):
        raise InputError("has no area: its corners are on one line")
    sides = [f"{_named(ring[side])} to {_named(ends[side])}" for side in (one, other)]
    raise InputError(f"crosses itself: its sides from {listed(sides)} meet; give its corners in order around it")


def _named(corner: Floats) -> str:
    return f"({corner[0]:g}, {corner[1]:g})"


def _on_a_line(ring: Floats) -> bool:
    from tricover.geometry._predicates import orient2d

    return all(orient2d(*ring[0], *ring[1], *corner) == 0.0 for corner in ring[2:])


def _clockwise(ring: Floats) -> bool:
    """By the turn at the lowest corner of those farthest left, which is exact and never straight."""
    from tricover.geometry._predicates import orient2d

    at = int(np.lexsort((ring[:, 1], ring[:, 0]))[0])
    return bool(orient2d(*ring[at - 1], *ring[at], *ring[(at + 1) % len(ring)]) < 0.0)


def crossings(positions: ArrayLike, zones: Polygons, present: ArrayLike | None = None) -> list[Crossing]:
    """Every way of a motion that meets a zone, by step, agent and zone.

    Args:
        positions: (T+1, N, 2), in metres; between two steps everybody goes straight.
        zones: polygons, each (K, 2).
        present: who takes part, (T+1, N); None: everybody. A way counts if its agent takes part when it begins.

    >>> crossings([[[0, 0], [0, 2]], [[4, 0.5], [4, 2]]], [[[1, 1], [1, 3], [3, 3], [3, 1]]])
    [Crossing(agent=1, step=0, zone=0, length=2.0)]
    """
    (given, there), field = checked_motion(positions, present), as_zones(zones)
    last, found = len(given) - 1, []
    for step in range(last):
        found += ways_in(given[step], given[step + 1], np.flatnonzero(there[step]), step, field)
    late = np.flatnonzero(there[last] & ~there[last - 1]) if last else np.flatnonzero(there[0])
    return found + ways_in(given[last], given[last], late, last, field)


def ways_in(before: Floats, after: Floats, agents: Ints, step: int, zones: Zones) -> list[Crossing]:
    """The ways of some agents (A,) in one step, from (N, 2) to (N, 2), that meet a zone."""
    from tricover.geometry._polygons import crossing, length_inside

    starts, ends = before[agents], after[agents]
    found = []
    for row in np.flatnonzero(zones.crossed(starts, ends) >= 0).tolist():
        (ax, ay), (bx, by) = starts[row].tolist(), ends[row].tolist()
        for zone in range(len(zones)):
            if crossing(zones.field, zone, ax, ay, bx, by, 0.0):
                length = float(length_inside(zones.field, zone, ax, ay, bx, by))
                found.append(Crossing(int(agents[row]), step, zone, length))
    return found
