"""Our side of the comparisons that need a process of their own: whole runs, timed step by step, and their memory.

Arrays come as .npy files. A small run at import loads the compiled code, as a peer's is after its import.
"""

import os
import time
from typing import Any

import numpy as np

import tricover as tc
from benchmarks.worker import memory


def scenario(reference: np.ndarray, targets: Any, start: np.ndarray | None = None, **how: Any) -> tc.Scenario:
    """A scenario, with the balanced network unless ``how`` says otherwise."""
    formation = {"positions": reference} if start is None else {"positions": reference, "start": start}
    return tc.Scenario(formation=formation, targets=targets, **{"network": {"mentee": "balanced"}, **how})


def simulate(
    reference: str,
    targets: str,
    weights: str | None = None,
    settled: bool = False,
    threads: int | None = None,
    **how: Any,
) -> dict[str, Any]:
    """Run a team; ``settled`` starts it where it will settle.

    ``seconds`` are those from arrays to the last step, network and index included; ``steps`` those of each step but the
    first, which has the preparations in it, each with the share of agents that moved in it (``moving``).
    """
    if threads is not None:
        os.environ["TRICOVER_THREADS"] = str(threads)
    places, points = np.load(reference), np.load(targets)
    masses = None if weights is None else np.load(weights)
    began, stamps = time.perf_counter(), []
    field = tc.Targets(points, masses)
    start = _settled(places, field, how) if settled else None
    run = tc.simulate(scenario(places, field, start, **how), progress=lambda _: stamps.append(time.perf_counter()))
    spent, peak = time.perf_counter() - began, memory("VmHWM")
    moving = [float((run.positions[step + 1] != run.positions[step]).any(axis=1).mean()) for step in range(run.steps)]
    return {
        "seconds": spent,
        "peak": peak,
        "steps": np.diff(stamps).tolist(),
        "moving": moving[1:],
        "followers": len(run.network.followers),
        "depth": run.network.depth,
        "settled_at": run.settled_at,
        "cost": tc.coverage_cost(run.positions[-1], field),
    }


def _settled(reference: np.ndarray, targets: tc.Targets, how: dict[str, Any]) -> np.ndarray:
    """Where the team settles by the motion ``walk``."""
    network = tc.build_network(reference, mentee="balanced")
    return tc.desired_configuration(network, targets, resolution=how["control"]["resolution"])


_SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [0.4, 0.5], [0.6, 0.4]])
for _motion in ("reach", "walk"):
    tc.simulate(scenario(_SQUARE, _SQUARE, control={"motion": _motion, "resolution": 3}))
    tc.simulate(scenario(_SQUARE, tc.Targets(_SQUARE, np.ones(6)), control={"motion": _motion, "resolution": 3}))
