"""Who takes which place: beside SciPy's dense assignment."""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import tricover as tc
from benchmarks.compare import Row, best_of, power, seconds, size, span, timer
from tricover.geometry.assignment import assign_by_groups

SPACING, CLUSTERS = 4.0, 5


def rows() -> Iterator[Row]:
    tc.assign_places(*pads_and_places(3000))  # compile
    few, many = size(2000), size(10_000)
    starts, places = pads_and_places(few)
    ours, theirs = assign_by_groups(starts, places), dense(starts, places)
    mine, peer = best_of(timer(lambda: assign_by_groups(starts, places)), timer(lambda: dense(starts, places)), goes=3)
    above = squares(starts, places, ours) / squares(starts, places, theirs)
    scipy = f"{span(peer)}, SciPy's dense"
    yield Row(f"assign {power(few)} agents by groups", span(mine), scipy, peer / mine, 2)
    yield Row(f"sum of squares of {power(few)} by groups", "", "the least", above, 1.02, at_most=True)
    taken = seconds(lambda: tc.assign_places(*pads_and_places(many)))
    yield Row(f"assign {power(many)} agents, checked", span(taken), f"{scipy}, of {power(few)}", peer / taken, 0.5)


def pads_and_places(agents: int) -> tuple[np.ndarray, np.ndarray]:
    """Pads on a square grid, and places in clusters beside each other, none closer to the next than pads are."""
    rng = np.random.default_rng(agents)
    side = int(np.ceil(np.sqrt(agents)))
    pads = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)[:agents]
    middles = rng.uniform(-4 * side, 4 * side, (CLUSTERS, 2))
    cells = rng.normal(size=(4 * agents, 2)) * side / 2 + middles[np.arange(4 * agents) % CLUSTERS]
    return SPACING * pads, SPACING * rng.permutation(np.unique(cells.round(), axis=0))[:agents]


def dense(starts: np.ndarray, places: np.ndarray) -> np.ndarray:
    return linear_sum_assignment(cdist(starts, places, "sqeuclidean"))[1]


def squares(starts: np.ndarray, places: np.ndarray, order: np.ndarray) -> float:
    return float(((starts - places[order]) ** 2).sum())
