"""Certifying a run beside simulating it, and the memory that certifying takes as runs get longer."""

import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tricover as tc
from benchmarks.compare import Row, power, seconds, size, span

STEPS = 50


def rows() -> Iterator[Row]:
    for motion, vehicle in (("reach", "exact"), ("walk", "anywhere")):
        tc.certify(tc.simulate(scenario(50, 10, motion, vehicle)))  # compile
        with tempfile.TemporaryDirectory() as folder:
            yield beside_simulating(motion, vehicle, Path(folder, "run"))
    yield memory()


def scenario(agents: int, steps: int, motion: str, vehicle: str) -> tc.Scenario:
    rng = np.random.default_rng(0)
    return tc.Scenario(
        reference=1000 * rng.random((agents, 2)),
        targets=1000 * rng.random((agents // 5, 2)),
        network={"mentee": "balanced"},
        control={"motion": motion, "resolution": 10},
        vehicle=vehicle,
        steps=steps,
        stop_when_settled=False,
    )


def beside_simulating(motion: str, vehicle: str, store: Path) -> Row:
    agents = size(100_000)
    made = scenario(agents, STEPS, motion, vehicle)
    simulating = seconds(lambda: tc.simulate(made, store))
    run = tc.Run.open(store)
    certifying = min(seconds(lambda: tc.certify(run)) for _ in range(3))
    what = f"certify {power(agents)} agents × {STEPS} steps, {motion}, {vehicle}"
    return Row(what, span(certifying), f"{span(simulating)} to simulate", simulating / certifying, 1)


def memory() -> Row:
    """Peak memory of certifying a stored run, five times as long over as long."""
    agents, peaks = 10_000, []
    for steps in (100, 500):
        with tempfile.TemporaryDirectory() as folder:
            tc.simulate(scenario(agents, steps, "walk", "anywhere"), Path(folder, "run"))
            tracemalloc.start()
            tc.certify(tc.Run.open(Path(folder, "run")))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    ours, peer = (f"{peak / 2**20:.0f} MB" for peak in reversed(peaks))
    what = f"memory of certifying {power(agents)} agents × 500 steps"
    return Row(what, ours, f"{peer} for 100 steps", peaks[1] / peaks[0], 1.1, at_most=True)
