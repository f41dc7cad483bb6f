"""The transition matrices Γ[t] from positions alone (paper, eq. (23)).

A follower i moves by r_i[t+1] = Σ_j α_{i,j}[t] r_j[t], summed over its in-neighbours j. So its row of Γ[t] holds the
barycentric coordinates α of its landing point, in the triangle of its in-neighbours at t. A follower that landed
outside this triangle has a negative entry. Anchors have the row of the identity, and so have agents that are not there.

Rounding. A landing point counts as inside its triangle within 16 ε·c, where c is the largest coordinate at hand. This
is what the last bits of coordinates of that size can mean, and no more (4e-15 m at 1 m). Such a point has the row of
the nearest point of the triangle. In a triangle without area one point has many rows. The mean of the corners then has
a third each, any other point the row of the nearest point on an edge.

With the motion ``morph`` an agent goes by the *next* positions of its in-neighbours: r_i[t+1] = Σ_j w_ij[t+1] r_j[t+1].
Its row then holds the barycentric coordinates in the triangle at t+1, and is to be read with y[t+1] on the right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.certificates import _kernels
from tricover.certificates._kernels import Motion, Rows
from tricover.certificates.log import ROUNDING, Log
from tricover.errors import InputError
from tricover.network import Network
from tricover.threads import in_ranges

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Frame", "Rows", "frame_of", "framed", "rows_of", "transition_matrices", "transition_matrix"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_IDLE = "has in-neighbours without being a follower"
_TWICE = "listens to the same agent twice"
_LATE = "listens to an agent that is not of an earlier layer"
_LOST = "listens to nobody in one of its places"


@dataclass(frozen=True, eq=False)
class Frame:
    """A network's followers by layer, as rows of Γ and products of A[t] need them; ``frame_of`` makes it.

    Attributes:
        network: whose followers they are.
        followers: (F,) first those of layer 1, then those of layer 2, …
        corners: (F, 3) their in-neighbours.
        inner: (F, 3) places of their in-neighbours among the followers, -1 for anchors.
        starts: (depth + 1,) places from which on followers are of a layer beyond 0, 1, …, depth.
        violations: agents whose row of Γ is not zero where it must be, each with the reason.
    """

    network: Network
    followers: Ints
    corners: NDArray[np.int32]
    inner: NDArray[np.int32]
    starts: Ints
    violations: dict[int, str]


def frame_of(network: Network) -> Frame:
    """The followers of a network, by layer."""
    followers = np.concatenate([np.empty(0, np.int64), *network.layers[1:]])
    layers = network.layer[followers]
    corners = np.ascontiguousarray(network.in_neighbors[followers])
    places = np.full(len(network), -1, np.int32)
    places[followers] = np.arange(len(followers))
    starts = np.searchsorted(layers, np.arange(network.depth + 1), side="right")
    violations = _violations(network, followers, corners)
    return Frame(network, followers, corners, places[corners], starts, violations)


def _violations(network: Network, followers: Ints, corners: NDArray[np.int32]) -> dict[int, str]:
    """Agents that listen where they must not, each with the reason that is worst."""
    layer, above = network.layer, network.layer[corners]
    listens = (network.in_neighbors >= 0).any(axis=1)
    late = (above >= layer[followers][:, None]).any(axis=1)
    lost = (corners < 0).any(axis=1) | (above < 0).any(axis=1)
    ranked = np.sort(corners, axis=1)
    twice = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    found = dict.fromkeys(np.flatnonzero((layer <= 0) & listens).tolist(), _IDLE)
    for flags, reason in ((twice, _TWICE), (late, _LATE), (lost, _LOST)):
        found |= dict.fromkeys(followers[flags].tolist(), reason)
    return found


def framed(log: Log) -> Iterator[tuple[int, Frame, Floats, Floats]]:
    """Steps t with the frame of their epoch and the positions (N, 2) at t and at t+1."""
    current, frame = -1, None
    for step, before, after in log.pairs():
        start = log.epoch_at(step).start
        if frame is None or start != current:
            current, frame = start, frame_of(log.epoch_at(step).network)
        yield step, frame, before, after


def rows_of(frame: Frame, before: Floats, after: Floats, triangles: Floats | None = None) -> Rows:
    """Rows of Γ[t] from the positions (N, 2) at t and at t+1, or in triangles (F, 3, 2) that followers heard."""
    count, corners = len(frame.followers), frame.corners
    found = Rows(np.empty((count, 3)), np.empty(count), np.empty(count, np.bool_))
    if triangles is not None:
        before, corners = triangles.reshape(-1, 2), np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    motion = Motion(_read_only(before), _read_only(after), frame.followers, corners, ROUNDING)
    in_ranges(lambda first, last: _kernels.rows(motion, found, first, last), count)
    return found


def _read_only(positions: Floats) -> Floats:
    """The same positions in one form, whoever hands them over: the kernel is compiled for one form only."""
    view = np.ascontiguousarray(positions, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def transition_matrix(network: Network, before: Floats, after: Floats) -> "csr_array":
    """Γ[t] (N, N) from everybody's positions (N, 2) at t and at t+1, as a sparse matrix.

    >>> import tricover as tc
    >>> network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    >>> after = network.reference.copy()
    >>> after[5] = [0.5, 2.5]
    >>> transition_matrix(network, network.reference, after).toarray()[5].tolist()
    [0.25, 0.0, 0.0, 0.5, 0.25, 0.0]
    """
    return _matrix(frame_of(network), len(before), before, after)


def transition_matrices(log: Log) -> "Iterator[csr_array]":
    """Γ[t] of a log, one at a time: t = 0, 1, …, or from the end of the launch on; y[t+1] on the right if it morphs."""
    if log.late is not None:
        raise InputError("messages are late in this run: agents act on positions of several steps, not on those of one")
    for step, frame, before, after in framed(log):
        if step >= log.launched:
            yield _matrix(frame, log.agents, after if log.settings.motion == "morph" else before, after)


def _matrix(frame: Frame, agents: int, before: Floats, after: Floats) -> "csr_array":
    from scipy.sparse import csr_array

    # Entries of each row: three for followers, the diagonal for all others.
    counts = np.ones(agents, np.int64)
    counts[frame.followers] = 3
    cuts = np.append(0, np.cumsum(counts))
    columns, values = np.repeat(np.arange(agents), counts), np.ones(cuts[-1])
    entries = cuts[frame.followers][:, None] + np.arange(3)
    columns[entries] = frame.corners
    values[entries] = rows_of(frame, before, after).weights
    matrix = csr_array((values, columns, cuts), shape=(agents, agents))
    matrix.sort_indices()
    return matrix
