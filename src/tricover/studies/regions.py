"""Regions of the plane in which the targets that a part needs lie: one convex piece for each of its subtrees.

All that a subtree ever looks at are triangles of its own agents and of the three corners of its cell. So their places
over time bound it. A piece is what lies between two lines across each of five directions: the normals of the three
edges of the subtree's cell, and both axes. Cells of a large team are thin, so a box along the axes around one is many
times as large as the cell: with ten million agents it held fourteen targets for each agent, where a piece holds two.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network
from tricover.network.structure import by_layer, parents_and_slots
from tricover.studies._regions import Limits, inside, reach
from tricover.studies.boxes import ROOM

__all__ = ["Region", "Subtrees", "subtrees_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

_ROUNDING = 8 * float(np.finfo(np.float64).eps)


class Region(NamedTuple):
    """Some convex pieces of the plane."""

    limits: Limits

    @classmethod
    def along(cls, triangles: Floats) -> Self:
        """Empty pieces with the directions of triangles (S, 3, 2)."""
        sides = np.roll(triangles, -1, axis=1) - triangles
        lengths = np.hypot(sides[..., 0], sides[..., 1])[..., None]
        normals = np.where(lengths > 0, sides[..., ::-1] * [1, -1] / np.where(lengths > 0, lengths, 1), [1.0, 0.0])
        axes = np.broadcast_to(np.eye(2), (len(triangles), 2, 2))
        directions = np.concatenate([axes, normals], axis=1)
        shape = directions.shape[:2]
        return cls(Limits(directions, np.full(shape, np.inf), np.full(shape, -np.inf)))

    @classmethod
    def around(cls, points: Floats) -> Self:
        """A box along the axes around points (n, 2)."""
        empty = cls(Limits(np.eye(2)[None], np.full((1, 2), np.inf), np.full((1, 2), -np.inf)))
        return empty.reaching(np.zeros(len(points), np.int64), points)

    def reaching(self, pieces: Ints, places: Floats) -> Self:
        """Made larger, so that places (n, 2) are in the pieces (n,)."""
        directions, low, high = self.limits
        larger = Limits(directions, low.copy(), high.copy())
        reach(larger, pieces, np.ascontiguousarray(places))
        return type(self)(larger)

    def roomy(self) -> Self:
        """With some room at all sides."""
        directions, low, high = self.limits
        room = ROOM * np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True, initial=0.0)
        return type(self)(Limits(directions, low - room, high + room))

    def piece(self, number: int) -> Self:
        """One of the pieces."""
        return type(self)(Limits(*(each[number : number + 1] for each in self.limits)))

    def covers(self, other: Self) -> bool:
        """Whether the pieces of another, with the same directions, are within these."""
        return bool((self.limits.low <= other.limits.low).all() and (other.limits.high <= self.limits.high).all())

    @property
    def box(self) -> Floats:
        """The box (2, 2) around all pieces."""
        return np.stack([self.limits.low[:, :2].min(axis=0), self.limits.high[:, :2].max(axis=0)])

    def near(self, low: Floats, high: Floats) -> Flags:
        """Which pieces may share a point with each box from ``low`` (n, 2) to ``high`` (n, 2): (n, S)."""
        directions = self.limits.directions
        middle = np.einsum("nx,skx->nsk", (low + high) / 2, directions)
        half = np.einsum("nx,skx->nsk", (high - low) / 2, np.abs(directions))
        # A box may be far larger than a piece, and so may be what rounding does to it.
        half += _ROUNDING * np.einsum("nx,skx->nsk", np.maximum(np.abs(low), np.abs(high)), np.abs(directions))
        apart = (middle + half < self.limits.low) | (middle - half > self.limits.high)
        return np.asarray(~apart.any(axis=2))

    def holds(self, points: Floats, pieces: Flags) -> Flags:
        """Which points (n, 2) are in one of some pieces (S,)."""
        found = np.zeros(len(points), np.bool_)
        inside(Limits(*(each[pieces] for each in self.limits)), points, found)
        return found


class Subtrees(NamedTuple):
    """The S subtrees of a part of n agents below K corners."""

    corners: Ints
    """(S, 3) the corners of each subtree's cell, by their places among those of the part."""
    agents: Ints
    """(n,) rows of the agents of all subtrees."""
    which: Ints
    """(n,) the subtree of each of these."""

    def region(self, ways: Floats, *places: Floats) -> Region:
        """Around the ways (T, K, 2) of the corners, and places (N, 2) of the part's agents."""
        triangles = ways[:, self.corners]
        pieces = np.tile(np.repeat(np.arange(len(self.corners)), 3), len(ways))
        empty = Region.along(triangles[-1])
        return self.reached(empty.reaching(pieces, triangles.reshape(-1, 2)), *places)

    def reached(self, region: Region, *places: Floats) -> Region:
        """A region made larger, so that places (N, 2) of the part's agents are in the pieces of their subtrees."""
        for each in places:
            region = region.reaching(self.which, each[self.agents])
        return region


def subtrees_of(network: Network) -> Subtrees:
    """The subtrees below the anchors of a part's network: whoever listens to anchors alone is the top of one."""
    layer, links, agents = network.layer, network.in_neighbors, network.followers
    parents, _ = parents_and_slots(links, layer)
    tops = agents[(layer[links[agents]] == 0).all(axis=1)]
    which = np.full(len(layer), -1, np.int64)
    which[tops] = np.arange(len(tops))
    for some in by_layer(layer)[1:]:
        below = some[which[some] < 0]
        which[below] = which[parents[below]]
    return Subtrees(np.searchsorted(network.anchors, links[tops]), agents, which[agents])
