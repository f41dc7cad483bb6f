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

Memory is the peak of each process beyond what it held after its imports.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.compare import Row, amount, power, quick, span
from benchmarks.workers import alone, files, worker

SIDE, FEATURES, POINTS, STEPS = 1024, 32, 100_000, 3
CONTROLLERS = ("DecentralizedCVT", "ClairvoyantCVT")


def rows() -> Iterator[Row]:
    for robots, wanted in ((57, 30), (100 if quick() else 1000, 100)):
        with TemporaryDirectory() as folder:
            yield from compare(robots, wanted, Path(folder))


def compare(robots: int, wanted: float, folder: Path) -> Iterator[Row]:
    rng = np.random.default_rng(robots)
    starts, centres = SIDE * rng.random((robots, 2)), SIDE * rng.random((FEATURES, 2))
    with files(robots=starts, centres=centres, sigmas=rng.uniform(40, 50, FEATURES)) as world:
        theirs = {name: measure(name, world, folder / "map.npy") for name in CONTROLLERS}
    ours = {kind: ours_over(starts, *made) for kind, made in as_targets(np.load(folder / "map.npy"), rng).items()}
    for kind, (mine, used) in ours.items():
        for name, (time, memory) in theirs.items():
            bounds = (wanted, 10) if kind == "points" else (None, None)
            what = f"{power(robots)} agents, {kind}"
            yield Row(f"one step, {what}", span(mine), span(time), time / mine, bounds[0], note=name)
            yield Row(f"memory, {what}", amount(used), amount(memory), memory / used, bounds[1], note=name)


def measure(controller: str, world: dict[str, str], into: Path) -> tuple[float, int]:
    """Seconds of its best step, and its memory."""
    with worker("peers/coverage_control.py") as peer:
        peer.prepare(controller=controller, side=SIDE, **world, into=str(into))
        return min(peer.step() for _ in range(STEPS)), peer.memory


def as_targets(density: np.ndarray, rng: np.random.Generator) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
    """Points and weights: a sample of the map, and the map."""
    pixels = np.argwhere(density > 0)
    weights = density[density > 0].astype(float)
    drawn = rng.choice(len(pixels), POINTS, p=weights / weights.sum())
    return {"points": (pixels[drawn] + rng.random((POINTS, 2)), None), "pixels": (pixels + 0.5, weights)}


def ours_over(starts: np.ndarray, points: np.ndarray, weights: np.ndarray | None) -> tuple[float, int]:
    """Seconds of our mean step while over half of the team moves, and our memory."""
    arrays = {"reference": starts, "targets": points} | ({} if weights is None else {"weights": weights})
    with files(**arrays) as paths, alone("teams.py") as us:
        first, memory = us.simulate(**paths), us.memory
        runs = [first, *(us.simulate(**paths) for _ in range(4))]
    busy = [step for step, moving in enumerate(first["moving"]) if moving > 0.5]
    return float(np.mean([min(run["steps"][step] for run in runs) for step in busy])), memory
