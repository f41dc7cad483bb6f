"""The closest approach of a step beside two KD-tree queries, of the two nearest points to each of all agents.

Two queries are what it would take to look at the start and at the end only, and to miss whoever meets between. Their
tree is there already, and they have all cores. Ours is everything, from positions to the closest approach.
"""

from collections.abc import Iterator

import numpy as np

import tricover as tc
from benchmarks.compare import Row, against, power, size
from benchmarks.targets import clustered
from benchmarks.workers import Worker, files, worker

LENGTHS = (1, 2, 4, 8)  # longest moves, in spacings


def rows() -> Iterator[Row]:
    count, rng = size(1_000_000), np.random.default_rng(0)
    points = np.sqrt(count) * rng.random((count, 2))
    with worker("peers/points.py") as peer:
        for length in LENGTHS:
            moved = points + moves(count, length, rng)
            yield beside_queries(peer, f"moves up to {length} × spacing", points, moved, 1 if length == 1 else None)
        points = 3 * np.sqrt(count) * clustered(count, rng)
        yield beside_queries(peer, "clustered", points, points + moves(count, 1, rng))
        points = np.sqrt(count) * rng.random((count, 2))
        moved = points + moves(count, 1, rng)
        moved[: count // 1000] = np.sqrt(count) * rng.random((count // 1000, 2))
        yield beside_queries(peer, "one in a thousand goes anywhere", points, moved)


def moves(count: int, longest: float, rng: np.random.Generator) -> np.ndarray:
    """Moves (N, 2) in all directions, of all lengths up to the longest."""
    lengths, angles = longest * rng.random(count), 2 * np.pi * rng.random(count)
    return np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=-1)


def beside_queries(peer: Worker, how: str, before: np.ndarray, after: np.ndarray, wanted: float | None = None) -> Row:
    positions = np.stack([before, after])
    with files(points=before) as paths:
        return against(
            f"separation of {power(len(before))} agents, {how}",
            lambda: tc.separation(positions),
            lambda: peer.two_queries(**paths),
            wanted,
            goes=3,
            note="two KD-tree queries, k = 2",
        )
