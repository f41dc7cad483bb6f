"""The motions side by side: how close agents come to each other, how far they go, and how long it takes.

    python -m benchmarks.motions

The paper's 57 agents, and random teams of 57 over 1,000 uniform targets and of 40 over 4, on a square of 100 m.
``morph`` goes 5 m in a step at most; ``reach`` and ``walk`` know no limit. Figures of random teams are means over ten
of them, and the least distance also the least of all. ``start`` and ``end`` are least distances before and after: with
``reach`` and ``walk`` several agents may end on one place.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tricover as tc

SPEED = 5.0
TEAMS = 10
MOTIONS: dict[str, dict[str, Any]] = {
    "reach": {"motion": "reach"},
    "walk": {"motion": "walk"},
    "morph": {"motion": "morph", "speed": SPEED},
}


def paper(_: int) -> tc.Scenario:
    return tc.Scenario.load("examples/paper-57.toml")


def uniform(seed: int) -> tc.Scenario:
    rng = np.random.default_rng(seed)
    return tc.Scenario(reference=rng.uniform(0, 100, (57, 2)), targets=rng.uniform(0, 100, (1000, 2)))


def few(seed: int) -> tc.Scenario:
    rng = np.random.default_rng(seed)
    return tc.Scenario(reference=rng.uniform(0, 100, (40, 2)), targets=rng.uniform(20, 80, (4, 2)))


CASES: dict[str, tuple[Callable[[int], tc.Scenario], int]] = {
    "the paper's 57": (paper, 1),
    "57 over 1,000 targets": (uniform, TEAMS),
    "40 over 4 targets": (few, TEAMS),
}


def measured(scenario: tc.Scenario) -> dict[str, float]:
    """Least distances, travel and steps of a run."""
    run = tc.simulate(scenario)
    gone = np.linalg.norm(np.diff(run.positions, axis=0), axis=2)
    straight = np.linalg.norm(run.positions[-1] - run.positions[0], axis=1)
    return {
        "least": run.separation.distance,
        "start": tc.separation(run.positions[:1]).distance,
        "end": tc.separation(run.positions[-1:]).distance,
        "travel": float(gone.sum(axis=0).mean()),
        "straight": float(straight.mean()),
        "longest": float(gone.max()),
        "steps": float("nan") if run.settled_at is None else run.settled_at,
    }


def rows() -> Iterator[tuple[str, str, str, list[dict[str, float]]]]:
    """Case, mentee rule, motion, and what was measured of each team."""
    for case, (made, teams) in CASES.items():
        for mentee in ("fermat", "balanced"):
            for motion, control in MOTIONS.items():
                changes: dict[str, Any] = {"control": control, "network": {"mentee": mentee}, "steps": 2000}
                yield case, mentee, motion, [measured(made(seed).replace(**changes)) for seed in range(teams)]


def main() -> None:
    """The table of docs/safety.md."""
    columns = "least distance, m (of all)", "start", "end", "travel, m", "straight", "longest step", "steps"
    print(f"| team | mentee | motion | {' | '.join(columns)} |\n|{'---|' * 10}")
    for case, mentee, motion, found in rows():
        means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        worst = min(one["least"] for one in found)
        print(
            f"| {case} | {mentee} | {motion} | {means['least']:.3f} ({worst:.4f}) | {means['start']:.2f} "
            f"| {means['end']:.3f} | {means['travel']:.1f} | {means['straight']:.1f} | {means['longest']:.1f} "
            f"| {means['steps']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
