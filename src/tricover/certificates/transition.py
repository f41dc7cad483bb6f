"""The transition matrices Γ[t] from positions alone (paper, eq. eq:markov_update).

r_i[t+1] = Σ_j α_{i,j}[t] r_j[t] over the in-neighbours j of a follower i, so its row of Γ[t] holds the barycentric
coordinates α of where it landed in the triangle from which it was steered. Anchors have the row of the identity, and so
have agents that are not there. Rows of followers that landed outside their triangle have a negative entry.

Rounding. Positions are floats, so a landing point counts as inside its triangle within 16 ε·c, where c is the largest
coordinate at hand: what the last bits of coordinates of that size can mean, and no more (4e-15 m at 1 m). Then its row
is that of the nearest point of the triangle. A triangle without area has many rows for one point: a third each for the
mean of the corners, else those of the nearest edge.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.certificates import _kernels
from tricover.certificates.log import ROUNDING, Log
from tricover.network import Network
from tricover.threads import in_ranges

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Frame", "Rows", "rows_of", "transition_matrices", "transition_matrix"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_IDLE = "has in-neighbours without being a follower"
_TWICE = "listens to the same agent twice"
_LATE = "listens to an agent that is not of an earlier layer"
_LOST = "listens to nobody in one of its places"


@dataclass(frozen=True, eq=False)
class Frame:
    """A network's followers by layer, as the products of A[t] need them."""

    network: Network

    @cached_property
    def followers(self) -> Ints:
        """(F,) followers, first those of layer 1, then those of layer 2, …"""
        return np.concatenate([np.empty(0, np.int64), *self.network.layers[1:]])

    @cached_property
    def layers(self) -> NDArray[np.int32]:
        """(F,) their layers, ascending."""
        return self.network.layer[self.followers]

    @cached_property
    def corners(self) -> NDArray[np.int32]:
        """(F, 3) their in-neighbours."""
        return np.ascontiguousarray(self.network.in_neighbors[self.followers])

    @cached_property
    def inner(self) -> NDArray[np.int32]:
        """(F, 3) places of their in-neighbours among the followers, -1 for anchors."""
        places = np.full(len(self.network), -1, np.int32)
        places[self.followers] = np.arange(len(self.followers))
        return places[self.corners]

    @cached_property
    def misfits(self) -> dict[int, str]:
        """Agents whose row of Γ is not zero where it must be, each with the reason."""
        network, layer = self.network, self.network.layer
        above = layer[self.corners]
        found = dict.fromkeys(np.flatnonzero((layer <= 0) & (network.in_neighbors >= 0).any(axis=1)).tolist(), _IDLE)
        late = (above >= self.layers[:, None]).any(axis=1)
        lost = (self.corners < 0).any(axis=1) | (above < 0).any(axis=1)
        ranked = np.sort(self.corners, axis=1)
        twice = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
        for flags, reason in ((twice, _TWICE), (late, _LATE), (lost, _LOST)):
            found |= dict.fromkeys(self.followers[flags].tolist(), reason)
        return found

    @cached_property
    def starts(self) -> Ints:
        """(depth + 1,) places from which on followers are of a layer beyond 0, 1, …, depth."""
        return np.searchsorted(self.layers, np.arange(self.network.depth + 1), side="right")


@dataclass(frozen=True, eq=False)
class Rows:
    """The followers' rows of Γ[t], in the order of the frame.

    ``weights`` (F, 3) by in-neighbour, ``outside`` (F,) metres beyond the triangle, ``flat`` (F,) triangles without
    area.
    """

    weights: Floats
    outside: Floats
    flat: NDArray[np.bool_]


def rows_of(frame: Frame, before: Floats, after: Floats) -> Rows:
    """Rows of Γ[t] from the positions (N, 2) at t and at t+1."""
    count = len(frame.followers)
    found = Rows(np.empty((count, 3)), np.empty(count), np.empty(count, np.bool_))
    before, after = np.ascontiguousarray(before), np.ascontiguousarray(after)

    work, out = (before, after, frame.followers, frame.corners, ROUNDING), vars(found).values()
    in_ranges(lambda first, last: _kernels.rows(*work, first, last, *out), count)
    return found


def transition_matrix(network: Network, before: Floats, after: Floats) -> "csr_array":
    """Γ[t] (N, N) from everybody's positions (N, 2) at t and at t+1, as a sparse matrix.

    >>> import tricover as tc
    >>> network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    >>> after = network.reference.copy()
    >>> after[5] = [0.5, 2.5]
    >>> transition_matrix(network, network.reference, after).toarray()[5].tolist()
    [0.25, 0.0, 0.0, 0.5, 0.25, 0.0]
    """
    return _matrix(Frame(network), len(before), before, after)


def transition_matrices(log: Log) -> "Iterator[csr_array]":
    """Γ[0], Γ[1], … of a log, one at a time."""
    frames = {id(stretch): Frame(stretch.network) for stretch in log.stretches}
    for step, before, after in log.pairs():
        yield _matrix(frames[id(log.stretch_at(step))], log.agents, before, after)


def _matrix(frame: Frame, agents: int, before: Floats, after: Floats) -> "csr_array":
    from scipy.sparse import csr_array

    counts = np.ones(agents, np.int64)
    counts[frame.followers] = 3
    cuts = np.append(0, np.cumsum(counts))
    columns, values = np.repeat(np.arange(agents), counts), np.ones(cuts[-1])
    slots = cuts[frame.followers][:, None] + np.arange(3)
    columns[slots], values[slots] = frame.corners, rows_of(frame, before, after).weights
    matrix = csr_array((values, columns, cuts), shape=(agents, agents))
    matrix.sort_indices()
    return matrix
