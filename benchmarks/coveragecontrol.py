"""One step beside CoverageControl's, whose robots cover a map of importance by variants of Lloyd's algorithm.

The same square kilometre (its default world, a pixel per metre), the same 32 Gaussian features, the same starts. Its
step is deciding, moving and updating what robots sense; ours is sensing, deciding, moving and keeping the step. What
differs:

- it weighs a map's pixels, we sum points. ``points``: 100,000 targets drawn from its map. ``pixels``: every pixel that
  has an importance is a target with that weight, which is its world to the last digit.
- ``ClairvoyantCVT`` knows the whole map and everybody's place. A robot of ``DecentralizedCVT`` knows what it has
  sensed and the robots in range; ours listens to three others and senses its triangle.
- its robots move a few metres a step, limited by a top speed; ours are at their goal after a step, so that a run has
  far fewer of them.

Memory is the peak of each process beyond what it held after its imports. Besides, how well everybody covers, by the
peer's own cost (``covered``). A square of 64 m, which its robots see, has the area of a disc of 36 m, which ours see.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tricover as tc
from benchmarks.compare import Row, Timer, amount, power, quick, span
from benchmarks.workers import alone, files, worker

SIDE, FEATURES, POINTS = 1024, 32, 100_000
GOES, LONGEST = 7, 30.0  # turns, and seconds after which there are no more
CONTROLLERS = ("DecentralizedCVT", "ClairvoyantCVT")
WORLDS = range(8)
#: What is compared by the peer's cost, and the ratio that is wanted.
COVERED = {
    "planned": None,
    "cellplan": 1.10,
    "voronoi": None,
    "rollout, fitted": None,
    "paper": None,
    "DecentralizedCVT": None,
    "voronoi, its limits": None,
}


def rows() -> Iterator[Row]:
    yield from covered()
    for robots, wanted in ((57, 30), (100 if quick() else 1000, 100)):
        for controller in CONTROLLERS:
            yield from compare(controller, robots, wanted)


def covered() -> Iterator[Row]:
    """Coverage by its own cost in its own worlds: 32 robots among 16 features, over that of its ClairvoyantCVT.

    ``its limits``: its robots see a square of 64 m and hear others within 128 m; ours see and hear as far.
    """
    found = [costs(seed) for seed in (range(2) if quick() else WORLDS)]
    for name, wanted in COVERED.items():
        values = np.array([one[name] / one["ClairvoyantCVT"] for one in found])
        note = f"worst of {len(values)}: {values.max():.2f}"
        mean = float(values.mean())
        yield Row(
            f"its cost, 32 agents, {name}", f"{mean:.2f}", "ClairvoyantCVT 1", mean, wanted, at_most=True, note=note
        )


def costs(seed: int) -> dict[str, float]:
    """The peer's cost of each method in a world."""
    rng = np.random.default_rng(seed)
    starts, centres = SIDE * rng.random((32, 2)), SIDE * rng.random((16, 2))
    world = {"centres": centres, "sigmas": rng.uniform(40, 60, 16), "into": np.empty(0)}
    found: dict[str, float] = {}
    with worker("peers/coverage_control.py") as peer:
        with files(robots=starts, **world) as paths:
            for controller in CONTROLLERS:
                found[controller] = peer.cost(controller=controller, side=SIDE, steps=600, **paths)
            density = np.load(paths["into"])
        pixels = np.argwhere(density > 0)
        targets = tc.Targets(pixels.astype(float), density[density > 0].astype(float))
        for name, places in methods(starts, targets).items():
            # Its Voronoi diagram has no room for two at one place, where the paper's rule may leave some.
            inside = np.clip(places, 0.0, SIDE - 1.0) + 1e-3 * np.arange(len(places))[:, None] * [1.0, 0.7]
            with files(robots=inside, **world) as paths:
                found[name] = peer.cost(controller="ClairvoyantCVT", side=SIDE, steps=0, **paths)
    return found


def methods(starts: np.ndarray, targets: tc.Targets) -> dict[str, np.ndarray]:
    """Where ours end."""
    network = tc.build_network(starts, "balanced")
    plan = tc.plan_formation(targets, len(starts))
    found = {
        "paper": tc.desired_configuration(tc.build_network(starts), targets),
        "rollout, fitted": tc.desired_configuration(network, targets, "fit", "rollout"),
        "planned": tc.desired_configuration(plan.network, targets, plan.anchors, "reference"),
    }
    runs = {
        "cellplan": {"control": {"goal": "cellplan"}},
        "voronoi": {"control": {"goal": "voronoi"}},
        "voronoi, its limits": {"control": {"goal": "voronoi", "range": 128.0}, "world": {"sight": 36.0}},
    }
    for name, how in runs.items():
        team = tc.Scenario(reference=starts, targets=targets, network={"mentee": "balanced"}, steps=300, **how)
        found[name] = tc.simulate(team).positions[-1]
    return found


def compare(controller: str, robots: int, wanted: float) -> Iterator[Row]:
    rng = np.random.default_rng(robots)
    starts, centres = SIDE * rng.random((robots, 2)), SIDE * rng.random((FEATURES, 2))
    world = {"robots": starts, "centres": centres, "sigmas": rng.uniform(40, 50, FEATURES), "into": np.empty(0)}
    with worker("peers/coverage_control.py") as peer, files(**world) as paths:
        peer.prepare(controller=controller, side=SIDE, **paths)
        for kind, arrays in as_targets(np.load(paths["into"]), rng).items():
            bounds = (wanted, 10) if kind == "points" else (None, None)
            with files(reference=starts, **arrays) as ours, alone("teams.py") as us:
                used = us.simulate(**ours)["peak"] - us.imported
                mine, theirs = turns(lambda ours=ours, us=us: us.simulate(**ours), peer.step)
            what = f"{power(robots)} agents, {kind}"
            yield Row(f"one step, {what}", span(mine), span(theirs), theirs / mine, bounds[0], note=controller)
            ratio = peer.memory / used
            yield Row(f"memory, {what}", amount(used), amount(peer.memory), ratio, bounds[1], note=controller)


def as_targets(density: np.ndarray, rng: np.random.Generator) -> dict[str, dict[str, np.ndarray]]:
    """Points and their weights: a sample of the map, and the map."""
    pixels = np.argwhere(density > 0)
    weights = density[density > 0].astype(float)
    drawn = rng.choice(len(pixels), POINTS, p=weights / weights.sum())
    sample = {"targets": pixels[drawn] + rng.random((POINTS, 2))}
    return {"points": sample, "pixels": {"targets": pixels + 0.5, "weights": weights}}


def turns(ours: Callable[[], dict[str, Any]], peer: Timer) -> tuple[float, float]:
    """Seconds of our mean step while over half of the team moves, each step the best of its goes; of its best step."""
    runs, theirs, began = [], [], time.monotonic()
    while not runs or (len(runs) < GOES and time.monotonic() - began < LONGEST):
        theirs.append(peer())
        runs.append(ours())
    busy = [step for step, moving in enumerate(runs[0]["moving"]) if moving > 0.5]
    return float(np.mean([min(run["steps"][step] for run in runs) for step in busy])), min(theirs)
