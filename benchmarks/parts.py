"""A huge team in parts: beside the same team in one piece, on one worker and on two, and ten times as many agents.

Agents and as many targets are uniform in a square; the rule is "balanced". Everything counts, from NPY files to all
positions of all steps on disk and the desired configuration; of one piece the run alone, in memory, on all cores.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tricover as tc
from benchmarks.compare import Row, seconds, size, span
from tricover.studies.cluster import own_cluster

AGENTS, PART = 1_000_000, 100_000


def rows() -> Iterator[Row]:
    agents = size(AGENTS)
    with TemporaryDirectory() as name:
        folder = Path(name)
        team, larger = scenario(folder, agents // 10), scenario(folder, agents)
        tc.simulate(team)  # compiles
        whole = seconds(lambda: tc.simulate(larger))
        (_, one), (small, two) = (timed(team, larger, folder, workers) for workers in (1, 2))
        what = f"{agents:,} agents over as many targets"
        yield Row(f"{what}, in parts, two workers", span(two), f"{span(one)} one", one / two, 1.5)
        yield Row(f"{what}, in parts, two workers", span(two), f"{span(whole)} one piece", whole / two)
        note = f"{small / agents * 1e7:.3g} µs an agent with a tenth of them"
        yield Row("time of ten times as many agents", span(two), span(small), two / small / 10, 1.3, True, note)


def timed(team: tc.Scenario, larger: tc.Scenario, folder: Path, workers: int) -> tuple[float, float]:
    """Seconds that both teams take with so many workers."""
    with own_cluster(workers) as client:
        in_parts(team, folder / f"first-{workers}", client)  # workers load their kernels
        small = seconds(lambda: in_parts(team, folder / f"small-{workers}", client))
        return small, seconds(lambda: in_parts(larger, folder / f"large-{workers}", client))


def scenario(folder: Path, agents: int) -> tc.Scenario:
    rng = np.random.default_rng(agents)
    files = {}
    for name in ("reference", "targets"):
        files[name] = str(folder / f"{name}-{agents}.npy")
        np.save(files[name], rng.random((agents, 2)) * 1000)
    return tc.Scenario(**files, network={"mentee": "balanced"})


def in_parts(given: tc.Scenario, store: Path, client: object) -> None:
    tc.simulate_parts(given, store, client, agents_per_part=size(PART))
