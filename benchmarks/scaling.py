"""Time and memory over the number of agents and of targets, with the exponents of the power laws that fit best.

Every pair of sizes has two processes of its own, for time and for memory. Memory is what a piece of work takes at its
peak beyond what the process held before it; freed memory goes back to the system at once there, so that it is not
counted for what comes next. Exponents are those from 10⁴ on: below, constant costs hide the growth, and a fit over all
sizes comes out lower.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tricover as tc
from benchmarks.compare import Row, amount, exponent, power, quick, seconds, span
from benchmarks.worker import forget_peak, memory
from benchmarks.workers import alone

SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LAW_FROM = 10_000
STEPS = 4
SEEN = 65536  # bytes: smaller pieces of memory may have been there before
NO_HOARDING = {"MALLOC_MMAP_THRESHOLD_": str(SEEN), "MALLOC_TRIM_THRESHOLD_": "0"}  # of the GNU C library
#: Quantities that are shown over agents and over targets, with the bounds for time and for memory.
SHOWN = {
    "agents": {
        "network": (1.1, 1.1),
        "reach step": (1.1, 1.1),
        "walk step": (1.1, 1.1),
        "certificate": (None, None),
        "coverage cost": (None, None),
    },
    "targets": {
        "index": (None, None),
        "reach step": (None, None),
        "walk step": (None, None),
        "coverage cost": (None, None),
    },
}


def rows() -> Iterator[Row]:
    sizes = SIZES[:5] if quick() else SIZES
    most = sizes[-1]
    for over, others in (("agents", {"targets": most}), ("targets", {"agents": most // 10})):
        found = [in_its_own_process(**{over: count}, **others) for count in sizes]
        ((name, count),) = others.items()
        for quantity, (time_bound, memory_bound) in SHOWN[over].items():
            what = f"{quantity} over {over}, {power(count)} {name}"
            curves = {kind: [one[quantity][kind] for one in found] for kind in ("seconds", "bytes")}
            data = {"quantity": quantity, "over": over, "others": f"{power(count)} {name}", "sizes": list(sizes)}
            yield law(f"time, {what}", data, curves, "seconds", time_bound)
            yield law(f"memory, {what}", data, curves, "bytes", memory_bound)
    large = [count for count in sizes if count >= LAW_FROM]
    for motion in ("reach", "walk"):
        yield together(motion, large)


def together(motion: str, sizes: list[int]) -> Row:
    """A step with as many targets as agents: neither hides how the other grows."""
    times = []
    for count in sizes:
        with alone("scaling.py") as us:
            us.step(motion=motion, count=100)  # compiles
            times.append(min(us.step(motion=motion, count=count) for _ in range(3)))
    what = f"time, {motion} step over agents with as many targets"
    data = {"sizes": sizes, "values": times}
    ours = f"{span(times[-1])} at {power(sizes[-1])}"
    note = f"exponent from {power(LAW_FROM)} on"
    return Row(what, ours, "linear: 1", exponent(sizes, times), 1.1, at_most=True, note=note, data=data)


def step(motion: str, count: int) -> float:
    """Seconds of a step in which everybody moves."""
    rng = np.random.default_rng(count)
    return steps(rng.random((count, 2)), tc.Targets(rng.random((count, 2))), motion)[1]["seconds"]


def law(what: str, data: dict[str, Any], curves: dict[str, list[float]], kind: str, wanted: float | None) -> Row:
    """The exponent of one curve; the peer is linear growth."""
    sizes, values = np.array(data["sizes"]), np.array(curves[kind])
    large = sizes >= LAW_FROM
    found = exponent(sizes[large], values[large])
    note = f"exponent from {power(LAW_FROM)} on"
    if kind == "seconds":
        note += f"; {exponent(sizes, values):.2f} from {power(int(sizes[0]))} on"
    ours = (span if kind == "seconds" else amount)(values[-1])
    data = {**data, "kind": kind, "values": values.tolist(), "exponent": found, "fitted_from": LAW_FROM}
    return Row(what, f"{ours} at {power(int(sizes[-1]))}", "linear: 1", found, wanted, True, note, data)


def in_its_own_process(agents: int, targets: int) -> dict[str, dict[str, float]]:
    found = {}
    for kind, settings in {"seconds": {}, "bytes": NO_HOARDING}.items():
        with alone("scaling.py", **settings) as us:
            us.measure(agents=100, targets=100)  # compiles
            answer = us.measure(agents=agents, targets=targets)
        found |= {quantity: {**found.get(quantity, {}), kind: values[kind]} for quantity, values in answer.items()}
    return found


def measure(agents: int, targets: int) -> dict[str, dict[str, float]]:
    """Seconds and bytes of each piece of work; those of a step are a step's, with the memory of a run of four."""
    rng = np.random.default_rng(agents + targets)
    reference, points = rng.random((agents, 2)), rng.random((targets, 2))
    field = tc.Targets(points)
    found = {
        "network": work(lambda: tc.build_network(reference, mentee="balanced"))[1],
        "index": work(lambda: tc.Targets(points).index)[1],
    }
    found["walk step"] = steps(reference, field, "walk")[1]
    run, found["reach step"] = steps(reference, field, "reach")
    found["certificate"] = work(lambda: tc.certify(run))[1]
    found["coverage cost"] = work(lambda: tc.coverage_cost(run.positions[-1], field))[1]
    return found


def steps(reference: np.ndarray, field: tc.Targets, motion: str) -> tuple[tc.Run, dict[str, float]]:
    stamps: list[float] = []
    scenario = tc.Scenario(
        reference=reference,
        targets=field,
        network={"mentee": "balanced"},
        control={"motion": motion, "resolution": 35},
        steps=STEPS,
        stop_when_settled=False,
    )
    run, found = work(
        lambda: tc.simulate(scenario, progress=lambda _: stamps.append(time.perf_counter())), patience=0.0
    )
    return run, found | {"seconds": float(np.diff(stamps).min())}


def work(function: Callable[[], Any], patience: float = 0.5) -> tuple[Any, dict[str, float]]:
    """What a function returns, the best of its times until ``patience`` is over, and its memory at the first go."""
    results: list[Any] = []
    forget_peak()
    before = memory("VmRSS")
    times = [seconds(lambda: results.append(function()))]
    used = max(memory("VmHWM") - before, SEEN)
    while sum(times) < patience and len(times) < 7:
        times.append(seconds(function))
    return results[0], {"seconds": min(times), "bytes": used}
