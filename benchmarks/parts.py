"""A huge team in parts: beside the same team in one piece, on one worker and on two, and ten times as many agents.

Agents and as many targets are uniform in a square; the rule is "balanced". Everything counts, from NPY files to all
positions of all steps on disk and the desired configuration; of one piece the run alone, in memory, on all cores.

A worker computes in one thread, but reads, packs and writes in others: left alone, a single one keeps 1.3 cores busy.
So workers are compared as clusters run them, held to a core each, and as they are on this machine.
"""

import os
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tricover as tc
from benchmarks.compare import Row, seconds, size, span
from tricover.studies.cluster import own_cluster

AGENTS, PART, CHUNK = 1_000_000, 100_000, 1 << 20


def rows() -> Iterator[Row]:
    agents = size(AGENTS)
    with TemporaryDirectory() as name:
        folder = Path(name)
        team, larger = scenario(folder, agents // 10), scenario(folder, agents)
        tc.simulate(team)  # compiles
        whole = seconds(lambda: tc.simulate(larger))
        what = f"{agents:,} agents over as many targets, in parts, two workers"
        (_, one), (_, two) = (timed(team, larger, folder, workers, held=True) for workers in (1, 2))
        yield Row(f"{what}, a core each", span(two), f"{span(one)} one", one / two, 1.5)
        (_, one), (small, two) = (timed(team, larger, folder, workers) for workers in (1, 2))
        yield Row(what, span(two), f"{span(one)} one", one / two)
        yield Row(what, span(two), f"{span(whole)} one piece", whole / two)
        note = f"{small / agents * 1e7:.3g} µs an agent with a tenth of them"
        yield Row("time of ten times as many agents", span(two), span(small), two / small / 10, 1.3, True, note)


def timed(
    team: tc.Scenario, larger: tc.Scenario, folder: Path, workers: int, held: bool = False
) -> tuple[float, float]:
    """Seconds that both teams take with so many workers, which may be held to a core each."""
    with own_cluster(workers) as client, TemporaryDirectory(dir=folder) as name:
        if held:
            addresses = client.scheduler_info(n_workers=-1)["workers"]
            for core, address in zip(cycle(sorted(os.sched_getaffinity(0))), addresses):
                client.run(hold, core, workers=[address])
        place = Path(name)
        in_parts(team, place / "first", client)  # workers load their kernels
        small = seconds(lambda: in_parts(team, place / "small", client))
        return small, seconds(lambda: in_parts(larger, place / "large", client))


def hold(core: int) -> None:
    """Keep this process, with all its threads, on a core."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), {core})


def scenario(folder: Path, agents: int) -> tc.Scenario:
    rng = np.random.default_rng(agents)
    files = {}
    for name in ("reference", "targets"):
        files[name] = str(folder / f"{name}-{agents}.npy")
        rows = np.lib.format.open_memmap(files[name], "w+", np.float64, (agents, 2))
        for first in range(0, agents, CHUNK):  # they may be more than memory holds
            some = rows[first : first + CHUNK]
            some[...] = rng.random(some.shape) * 1000
        rows.flush()
    return tc.Scenario(**files, network={"mentee": "balanced"})


def in_parts(given: tc.Scenario, store: Path, client: object) -> None:
    tc.simulate_parts(given, store, client, agents_per_part=size(PART))
