"""Building the network beside SciPy's Delaunay triangulation of the same points: both structure a million points."""

import math
import tracemalloc
from collections.abc import Iterator

import numpy as np

import tricover as tc
from benchmarks.compare import Row, best_of, power, size, span, timer
from benchmarks.workers import files, worker


def rows() -> Iterator[Row]:
    agents = size(1_000_000)
    points = np.random.default_rng(0).random((4 * agents, 2))
    team = points[:agents]
    for rule in ("fermat", "balanced"):
        tc.build_network(points[:1000], mentee=rule)  # compile
    with worker("peers/points.py") as peer, files(points=team) as paths:
        fermat, balanced, delaunay, larger = best_of(
            timer(lambda: tc.build_network(team, mentee="fermat")),
            timer(lambda: tc.build_network(team, mentee="balanced")),
            lambda: peer.delaunay(**paths),
            timer(lambda: tc.build_network(points, mentee="balanced")),
            goes=3,
        )
    peer = f"{span(delaunay)} Delaunay"
    yield Row(f"network of {power(agents)} agents, fermat", span(fermat), peer, delaunay / fermat, 5)
    yield Row(f"network of {power(agents)} agents, balanced", span(balanced), peer, delaunay / balanced, 10)
    yield Row(
        f"{power(4 * agents)} agents over {power(agents)}, balanced",
        span(larger),
        f"{span(balanced)} for {power(agents)}",
        larger / balanced,
        5,
        at_most=True,
    )
    yield memory(team)
    yield depth(points[:100_000])


def memory(team: np.ndarray) -> Row:
    tracemalloc.start()
    network = tc.build_network(team, mentee="balanced")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    per_agent = peak / len(network)
    return Row("peak memory per agent", f"{per_agent:.0f} bytes", "", per_agent, 200, at_most=True)


def depth(team: np.ndarray) -> Row:
    ours, papers = (tc.build_network(team, mentee=rule).depth for rule in ("balanced", "fermat"))
    bound = 1.35 * math.log(len(team), 3) + 3
    note = f"fermat over balanced is {papers / ours:.3g}"
    return Row("layers for 10⁵ agents, balanced", f"{ours}", f"{papers} fermat", ours, round(bound, 1), True, note)
