"""SciPy and scikit-learn on points: Delaunay's triangulation, Lloyd's algorithm with a KD-tree, k-means."""

import os
import time
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial import Delaunay, cKDTree
from sklearn.cluster import KMeans

CORES = len(os.sched_getaffinity(0))
load = cache(np.load)


def delaunay(points: str) -> float:
    """Seconds; one core, Qhull has no threads."""
    sites = load(points)
    start = time.perf_counter()
    Delaunay(sites)
    return time.perf_counter() - start


def tree(points: str) -> float:
    """Seconds to build a KD-tree."""
    sites = load(points)
    start = time.perf_counter()
    cKDTree(sites)
    return time.perf_counter() - start


def two_queries(points: str) -> float:
    """Seconds to look up the two nearest points of every point, twice; the tree is there. All cores."""
    sites = load(points)
    tree = cKDTree(sites)
    start = time.perf_counter()
    for _ in range(2):
        tree.query(sites, k=2, workers=CORES)
    return time.perf_counter() - start


def _iterate(agents: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, float]:
    """Agents at the centroids of their targets, and the cost before; all cores.

    The tree is of the kind that is built fastest; on these points it is searched as fast as a balanced one.
    """
    tree = cKDTree(agents, balanced_tree=False, compact_nodes=False)
    distances, nearest = tree.query(targets, workers=CORES)
    counts = np.bincount(nearest, minlength=len(agents))
    sums = np.stack([np.bincount(nearest, axis, len(agents)) for axis in targets.T], axis=-1)
    moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], agents)
    return moved, float(distances @ distances) / len(targets)


def lloyd_iteration(agents: str, targets: str, in_order: bool = False) -> float:
    """Seconds; ``in_order`` sorts both by place beforehand, which spares the memory caches."""
    team, ground = load(agents), load(targets)
    if in_order:
        team, ground = _by_place(team), _by_place(ground)
    start = time.perf_counter()
    _iterate(team, ground)
    return time.perf_counter() - start


def _by_place(points: np.ndarray) -> np.ndarray:
    """Points in strips of about √N, each from left to right."""
    low, high = points.min(axis=0), points.max(axis=0)
    strips = np.floor((points[:, 1] - low[1]) / (high[1] - low[1]) * np.sqrt(len(points)))
    return points[np.lexsort((points[:, 0], strips))]


def lloyd(agents: str, targets: str, most: int, change: float, patience: float) -> dict[str, Any]:
    """Costs before each iteration and its seconds, until the cost falls by less than ``change`` in 10 iterations.

    Not ``settled`` if it was cut before that, after ``most`` iterations or ``patience`` seconds.
    """
    team, ground = load(agents), load(targets)
    costs, times, settled = [], [], False
    while not settled and len(costs) < most and sum(times) < patience:
        start = time.perf_counter()
        team, cost = _iterate(team, ground)
        times.append(time.perf_counter() - start)
        costs.append(cost)
        settled = len(costs) > 10 and costs[-11] - cost < change * cost
    return {"costs": costs, "seconds": times, "settled": settled}


def kmeans(agents: str, targets: str) -> dict[str, float]:
    """scikit-learn's k-means from the given start until it stops by its own default tolerance; all cores."""
    team, ground = load(agents), load(targets)
    start = time.perf_counter()
    found = KMeans(len(team), init=team, n_init=1, algorithm="lloyd").fit(ground)
    spent = time.perf_counter() - start
    return {"seconds": spent, "iterations": int(found.n_iter_), "cost": float(found.inertia_ / len(ground))}
