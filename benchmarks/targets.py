"""Sums of targets in the triangles of a settled network, beside one iteration of Lloyd's algorithm on the same team.

Both tell every agent where to go next. Ours sums the targets in a million triangles, Lloyd's assigns a million targets
to the nearest of a million agents (SciPy's KD-tree, all cores) and sums them.
"""

import tracemalloc
from collections.abc import Iterator

import numpy as np

import tricover as tc
from benchmarks.compare import Row, against, best_of, power, size, span, timer
from benchmarks.workers import Worker, files, worker


def settled(network: tc.Network, targets: tc.Targets) -> np.ndarray:
    """Positions (N, 2) with every follower at the centroid of the targets in its triangle (Algorithm 2)."""
    positions = network.reference.copy()
    for layer in network.layers[1:]:
        triangles = positions[network.in_neighbors[layer]]
        counts, sums = targets.in_triangles(triangles)
        centroids = sums / np.maximum(counts, 1)[:, None]
        positions[layer] = np.where(counts[:, None] > 0, centroids, triangles.mean(axis=1))
    return positions


def clustered(count: int, rng: np.random.Generator) -> np.ndarray:
    """Points around twenty places."""
    return rng.random((20, 2))[rng.integers(0, 20, count)] + 0.02 * rng.normal(size=(count, 2))


def rows() -> Iterator[Row]:
    count, rng = size(1_000_000), np.random.default_rng(0)
    points = rng.random((count, 2))
    with worker("peers/points.py") as peer:
        yield beside_lloyd(peer, "", points, rng, wanted=5)
        yield beside_lloyd(peer, ", clustered", clustered(count, rng), rng)
        with files(points=points) as paths:
            built, tree = best_of(timer(lambda: tc.Targets(points).index), lambda: peer.tree(**paths), goes=3)
    yield Row(f"index of {power(count)} targets", span(built), f"{span(tree)} KD-tree", tree / built)
    few = rng.random((1000, 3, 2))
    yield memory("bytes per target", points, few, None)
    yield memory("bytes per weighted target", points**6 * [1, 0.01], few, rng.random(count))


def beside_lloyd(
    peer: Worker, how: str, points: np.ndarray, rng: np.random.Generator, wanted: float | None = None
) -> Row:
    """As many agents as targets, all over their box."""
    targets = tc.Targets(points)
    reference = points.min(axis=0) + np.ptp(points, axis=0) * rng.random(points.shape)
    network = tc.build_network(reference, mentee="balanced")
    positions = settled(network, targets)
    triangles = positions[network.in_neighbors[network.followers]]
    held = int(targets.in_triangles(triangles)[0].sum())
    with files(agents=positions, targets=points) as paths:
        return against(
            f"targets in {len(triangles):,} triangles{how}",
            lambda: targets.in_triangles(triangles),
            lambda: peer.lloyd_iteration(**paths),
            wanted,
            note=f"Lloyd iteration; {power(len(points))} targets, {held:,} found inside",
        )


def memory(what: str, points: np.ndarray, triangles: np.ndarray, weights: np.ndarray | None) -> Row:
    """All that Targets keeps, its own copy of the points included."""
    tracemalloc.start()
    targets = tc.Targets(points, weights)
    targets.in_triangles(triangles)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    note = f"{most / len(points):.0f} B while it is built"
    return Row(what, f"{kept / len(points):.0f} B", "16 B points", kept / len(points), 100, at_most=True, note=note)
