"""Targets that move: what each rule makes of a drift, of a jump, and of targets that appear and vanish.

57 agents on a field of 100 m, with 2,000 targets, five teams. Lloyd's algorithm begins in its optimum for the targets
at the start, knows everything, and takes one iteration a step. Ours begin where they are settled for the same targets.

- *drift*: all targets go half a metre a step for 80 steps.
- *jump*: at step 20 the left half of the targets is 100 m further to the right, beside the other half.
- *come and go*: a fifth of the targets is there at a time, of five clusters one after the other, 30 steps each.

``cost`` is the mean over all steps of the coverage cost, over that of Lloyd's at the same step; ``end`` the cost at the
end, over that of Lloyd's when it has converged. ``steps``: after the jump, until the cost is within 1.15 of that.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tricover as tc
from benchmarks.compare import Row, quick

Floats = NDArray[np.float64]

AGENTS, TARGETS, STEPS, JUMP = 57, 2000, 150, 20
TEAMS = range(5)
WITHIN = 1.15
#: How the team is told to move.
RULES: dict[str, dict[str, Any]] = {
    "centroid": {"goal": "centroid"},
    "predictive": {"goal": "predictive"},
    "voronoi": {"goal": "voronoi"},
    "cellplan": {"goal": "cellplan"},
    "cellplan, no polish": {"goal": "cellplan", "polish": 0},
    "cellplan, replan never": {"goal": "cellplan", "replan": "never"},
    "cellplan, replan 20": {"goal": "cellplan", "replan": 20},
}


def moving(kind: str, rng: np.random.Generator) -> tc.Targets:
    points = 100 * rng.random((TARGETS, 2))
    if kind == "drift":
        track = points + 0.5 * np.minimum(np.arange(STEPS + 1), 80)[:, None, None] * [1.0, 0.3]
        return tc.Targets(track)
    if kind == "jump":
        track = np.repeat(points[None], JUMP + 1, axis=0)
        track[JUMP, points[:, 0] < 50, 0] += 100
        return tc.Targets(track)
    centres = 15 + 70 * rng.random((5, 2))
    which = rng.integers(5, size=TARGETS)
    active = np.stack([30 * which, np.where(which == 4, STEPS + 1, 30 * which + 30)], axis=1)
    return tc.Targets(centres[which] + 8 * rng.normal(size=(TARGETS, 2)), active=active)


def track(kind: str, seed: int) -> dict[str, Floats]:
    """Cost of each rule, and of Lloyd's, at the steps 0 to STEPS; and Lloyd's at the end, when it has converged."""
    rng = np.random.default_rng(seed)
    reference, targets = 100 * rng.random((AGENTS, 2)), moving(kind, rng)
    first = targets.at(0)
    last = min(STEPS, JUMP) if kind == "jump" else STEPS
    places, lloyds = tc.lloyd(reference, first, None).positions, []
    for step in range(STEPS + 1):
        now = targets.at(min(step, last))
        lloyds.append(tc.coverage_cost(places, now))
        places = tc.lloyd(places, now, 1).positions
    found = {"Lloyd": np.array(lloyds)}
    for name, control in RULES.items():
        how: dict[str, Any] = {"network": {"mentee": "balanced"}, "control": control}
        settled = tc.simulate(tc.Scenario(reference=reference, targets=first, steps=400, **how)).positions[-1]
        formation = {"positions": reference, "start": settled}
        run = tc.simulate(
            tc.Scenario(formation=formation, targets=targets, steps=STEPS, stop_when_settled=False, **how)
        )
        found[name] = np.array(
            [tc.coverage_cost(where, targets.at(min(step, last))) for step, where in enumerate(run.positions)]
        )
    found["end"] = np.array([tc.lloyd(places, targets.at(last), None).cost])
    return found


def study(kind: str) -> dict[str, tuple[float, float, float, float]]:
    """Of each rule, over all teams: mean cost, cost at the end and its worst, and steps after the jump."""
    tracks = [track(kind, seed) for seed in (TEAMS[:2] if quick() else TEAMS)]
    found = {}
    for name in ("Lloyd", *RULES):
        costs = float(np.mean([one[name] / one["Lloyd"] for one in tracks]))
        ends = [one[name][-1] / one["end"][0] for one in tracks]
        within = [one[name][JUMP:] <= WITHIN * one["end"][0] for one in tracks]
        steps = [int(np.argmax(flags)) if flags.any() else np.inf for flags in within]
        found[name] = costs, float(np.mean(ends)), float(np.max(ends)), float(np.mean(steps))
    return found


def rows() -> Iterator[Row]:
    found = study("jump")
    _, end, worst, steps = found["cellplan"]
    note = f"worst {worst:.2f}; within {WITHIN} after {steps:.0f} steps, Lloyd's after {found['Lloyd'][3]:.0f}"
    yield Row("coverage after a jump, cellplan", f"{end:.2f}", "Lloyd 1", end, WITHIN, at_most=True, note=note)


def main() -> None:
    """The table of docs/goals.md."""
    kinds = ("drift", "jump", "come and go")
    found = {kind: study(kind) for kind in kinds}
    print("| rule | drift: cost | end | jump: cost | end | steps | come and go: cost | end |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("Lloyd", *RULES):
        (a, b, _, _), (c, d, worst, steps), (e, f, _, _) = (found[kind][name] for kind in kinds)
        after = "never" if np.isinf(steps) else f"{steps:.0f}"
        print(f"| {name} | {a:.2f} | {b:.2f} | {c:.2f} | {d:.2f} ({worst:.2f}) | {after} | {e:.2f} | {f:.2f} |")


if __name__ == "__main__":
    main()
