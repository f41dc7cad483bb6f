"""Sums of targets in the triangles of a settled network, beside one iteration of Lloyd's algorithm on the same team.

Both tell every agent where to go next. Ours sums the targets in a million triangles, Lloyd's assigns a million targets
to the nearest of a million agents (SciPy's KD-tree, all cores) and sums them.
"""

import tracemalloc
from collections.abc import Iterator

import numpy as np
from scipy.spatial import cKDTree

import tricover as tc
from benchmarks.compare import Row, against, best_of, span
from tricover.threads import workers

MILLION = 1_000_000


def settled(network: tc.Network, targets: tc.Targets) -> np.ndarray:
    """Positions (N, 2) with every follower at the centroid of the targets in its triangle (Algorithm 2)."""
    positions = network.reference.copy()
    for layer in network.layers[1:]:
        triangles = positions[network.in_neighbors[layer]]
        counts, sums = targets.in_triangles(triangles)
        centroids = sums / np.maximum(counts, 1)[:, None]
        positions[layer] = np.where(counts[:, None] > 0, centroids, triangles.mean(axis=1))
    return positions


def lloyd_iteration(positions: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, nearest = cKDTree(positions).query(points, workers=workers())
    counts = np.bincount(nearest, minlength=len(positions))
    sums = np.stack([np.bincount(nearest, axis, len(positions)) for axis in points.T], axis=-1)
    return counts, sums


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    points = rng.random((MILLION, 2))
    targets = tc.Targets(points)
    network = tc.build_network(rng.random((MILLION, 2)), mentee="balanced")
    positions = settled(network, targets)
    triangles = positions[network.in_neighbors[network.followers]]
    held = int(targets.in_triangles(triangles)[0].sum())
    yield against(
        f"targets in {len(triangles):,} triangles",
        lambda: targets.in_triangles(triangles),
        lambda: lloyd_iteration(positions, points),
        wanted=5,
        note=f"Lloyd iteration; 10⁶ targets, {held:,} found inside",
    )
    clustered = points**6 * [1, 0.01]
    few = triangles[:1000]
    built, tree = best_of(lambda: tc.Targets(points).index, lambda: cKDTree(points), goes=3)
    yield Row("index of 10⁶ targets", span(built), f"{span(tree)} KD-tree", tree / built)
    yield memory("bytes per target", points, few, None)
    yield memory("bytes per weighted target", clustered, few, rng.random(MILLION))


def memory(what: str, points: np.ndarray, triangles: np.ndarray, weights: np.ndarray | None) -> Row:
    """All that Targets keeps, its own copy of the points included."""
    tracemalloc.start()
    targets = tc.Targets(points, weights)
    targets.in_triangles(triangles)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    note = f"{most / len(points):.0f} B while it is built"
    return Row(what, f"{kept / len(points):.0f} B", "16 B points", kept / len(points), 100, at_most=True, note=note)
