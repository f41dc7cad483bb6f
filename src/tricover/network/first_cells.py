"""Algorithm 1 for teams larger than memory: the first cells of everybody, and then each first cell on its own.

The hull of all is the hull of the hulls of chunks, the core is the best of the best of chunks, and which first cell
holds an agent depends on hull and core alone. From there on no cell depends on another. All comparisons are exact, so
the network is that of ``build_network``, whatever the chunks.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FormationError
from tricover.geometry.hull import Hull, convex_hull, fan_cones
from tricover.network.core import Choice, choose_core
from tricover.network.mentees import MenteeRule
from tricover.network.roster import as_roster, refuse_coincident, scaled, spans_well
from tricover.network.structure import Structure, fill_structure

__all__ = ["Frame", "cell_structure", "first_cells", "frame_of"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CHUNK = 1 << 20
"""Agents that are looked at together: 16 MB of positions."""


class Frame(NamedTuple):
    """The anchors of a team in the plane: boundary agents (H,), counter-clockwise from the lowest, and the core."""

    boundary: Indices
    core: int


def frame_of(reference: Floats, choice: Choice) -> Frame:
    """Boundary and core of a team at places (N, 2), which may be an array on disk."""
    candidates = _candidates(reference)
    boundary = candidates[convex_hull(scaled(np.asarray(reference[candidates]))).vertices]
    if isinstance(choice, int):
        at_hand = choice not in boundary
        bests = [choice] if at_hand else list(range(len(reference)))  # else all are named in the error
    else:
        bests = [best for part in _chunks(reference) for best in _best_of(reference, part, boundary, choice)]
    return Frame(boundary, _core(reference, np.array(bests, np.int64), boundary, choice))


def _chunks(reference: Floats) -> Iterator[Indices]:
    for start in range(0, len(reference), CHUNK):
        yield np.arange(start, min(start + CHUNK, len(reference)))


def _candidates(reference: Floats) -> Indices:
    """Agents that may be corners of the hull, ascending; places are checked on the way."""
    largest, least, found = 0.0, np.inf, []
    for part in _chunks(reference):
        places = np.asarray(reference[part[0] : part[-1] + 1])
        sizes = np.abs(places)
        largest, least = max(float(sizes.max()), largest), min(least, float(sizes[sizes > 0].min(initial=np.inf)))
        if not np.isfinite(largest):  # or no number, which stays when it comes first
            break
        try:
            found.append(part[np.sort(convex_hull(scaled(places)).vertices)])
        except FormationError:  # all of these, but perhaps no others, are on one line
            found.append(part)
    if len(reference) < 4 or not spans_well(least, largest):
        as_roster(reference)  # which says what is wrong
    return np.concatenate(found)


def _best_of(reference: Floats, part: Indices, boundary: Indices, choice: Choice) -> list[int]:
    """The best core among the agents of a chunk, if it has an interior agent."""
    inner = np.setdiff1d(part, boundary, assume_unique=True)
    return [_core(reference, inner, boundary, choice)] if inner.size else []


def _core(reference: Floats, among: Indices, boundary: Indices, choice: Choice) -> int:
    """The core among some agents, ascending: with these and the boundary at hand, and nobody else."""
    rows = np.sort(np.concatenate([np.setdiff1d(boundary, among, assume_unique=True), among]), kind="stable")
    places, alive = np.asarray(reference[rows]), np.ones(len(rows), np.bool_)
    asked = int(np.searchsorted(rows, choice)) if isinstance(choice, int) else choice
    return int(rows[choose_core(places, scaled(places), np.searchsorted(rows, boundary), alive, asked)])


def first_cells(reference: Floats, frame: Frame) -> Iterator[tuple[Indices, NDArray[np.int32], Floats]]:
    """Chunk by chunk: the followers' numbers (n,), their first cells (n,), and their places (n, 2).

    Cell h lies between boundary agents h and h+1 and the core.
    """
    anchors = np.append(frame.boundary, frame.core)
    corners = np.asarray(reference[anchors])
    count = len(frame.boundary)
    turn = np.arange(count)
    hull = Hull(
        turn,
        np.stack([turn, (turn + 1) % count], axis=1).astype(np.int32),
        np.stack([(turn + 1) % count, (turn - 1) % count], axis=1).astype(np.int32),
    )
    for part in _chunks(reference):
        followers = np.setdiff1d(part, anchors, assume_unique=True)
        places = np.asarray(reference[part[0] : part[-1] + 1])[followers - part[0]]
        rows = np.arange(len(anchors), len(anchors) + len(followers))
        yield followers, fan_cones(scaled(np.concatenate([corners, places])), hull, count, rows), places


def cell_structure(numbers: Indices, places: Floats, mentee: str | MenteeRule) -> Structure:
    """Algorithm 1 below one first cell: of three corners, the core last, and then of its followers, (n + 3,) in all."""
    refuse_coincident(places, numbers)
    alive, cells = np.ones(len(places), np.bool_), np.zeros(len(places), np.int64)
    return fill_structure(places, alive, mentee, np.array([0, 1]), 2, cells)
