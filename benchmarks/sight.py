"""Agents that see only so far: how many end where full sight puts them, what it costs in coverage, what they send.

Random teams on a field of 100 by 100 metres with 800 targets, all uniform; the mentee rule is ``balanced``. Cost is the
coverage cost in the end over that of the configuration that full sight leads to. A team that does not settle in 100
steps goes on in a cycle; how long it is, is found by looking for the last positions among those before, to the bit.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

import tricover as tc
from benchmarks.compare import Row, quick

SIDE, TARGETS, STEPS = 100.0, 800, 100
SIZES = (57, 200)
GOALS = ("centroid", "predictive", "rollout")
AT_PLACE = 1e-6  # metres


class Outcome(NamedTuple):
    """How a team ended.

    Attributes:
        there: how many agents are where full sight puts them.
        cost: coverage cost over that of full sight.
        settled_at: None if it did not settle.
        period: steps of the cycle that it is in, 1 if it stands still; None if none was found.
        numbers: that an agent sent in a step, on average.
    """

    there: int
    cost: float
    settled_at: int | None
    period: int | None
    numbers: float


def scenario(agents: int, seed: int, goal: str, sight: float, summary: int | str | None) -> tc.Scenario:
    """A random team; ``sight`` is a share of the field's side."""
    rng = np.random.default_rng([seed, agents])
    world = {"sight": sight * SIDE, "summary": summary}
    return tc.Scenario(
        reference=rng.uniform(0, SIDE, (agents, 2)),
        targets=rng.uniform(0, SIDE, (TARGETS, 2)),
        network={"mentee": "balanced"},
        control={"goal": goal},
        world={key: value for key, value in world.items() if value is not None},
        steps=STEPS,
        seed=seed,
    )


def outcome(given: tc.Scenario) -> Outcome:
    """How a team ends."""
    run = tc.simulate(given)
    last = run.positions[-1]
    apart = np.abs(last - run.desired).max(axis=1)
    same = (step for step in range(1, run.steps + 1) if np.array_equal(run.positions[-1 - step], last))
    cost = tc.coverage_cost(last, run.targets) / tc.coverage_cost(run.desired, run.targets)
    return Outcome(int((apart < AT_PLACE).sum()), cost, run.settled_at, next(same, None), run.summary()["numbers"])


def outcomes(teams: int, goal: str, sight: float, summary: int | str | None) -> dict[int, list[Outcome]]:
    """How so many teams of each size end."""
    return {size: [outcome(scenario(size, seed, goal, sight, summary)) for seed in range(teams)] for size in SIZES}


def told(found: dict[int, list[Outcome]]) -> str:
    """What there is to say of teams besides, for people."""
    every = [one for some in found.values() for one in some]
    settled = [one.settled_at for one in every if one.settled_at is not None]
    periods = sorted(one.period or 0 for one in every if one.settled_at is None)
    sent = ", ".join(f"{np.mean([one.numbers for one in some]):.0f}" for some in found.values())
    cycles = f"; periods {', '.join(str(period or '?') for period in periods)}" if periods else ""
    steps = f"{min(settled)} to {max(settled)}" if settled else "no"
    return (
        f"{len(periods)} of {len(every)} teams did not settle{cycles}; the others in {steps} steps; "
        f"numbers per agent and step: {sent}"
    )


def rows() -> Iterator[Row]:
    """Shares of agents at the places of full sight, and costs over full sight, with what is sent."""
    for summary, many in ((64, 50), (None, 50), ("sums", 5)):
        teams = 4 if quick() else many
        found = outcomes(teams, "centroid", 0.2, summary)
        shares = [sum(one.there for one in some) / (size * teams) for size, some in found.items()]
        share = sum(one.there for some in found.values() for one in some) / (sum(SIZES) * teams)
        each = " and ".join(f"{part:.1%}" for part in shares)
        what = f"sight of 20%, summary {summary}: agents where full sight puts them ({2 * teams} teams of 57 and 200)"
        yield Row(what, each, "full sight", share, 0.95 if summary == 64 else None, note=told(found))
    for goal, summary, many in [*product(GOALS, (64,), (25,)), ("centroid", None, 25), ("centroid", "sums", 5)]:
        teams = 4 if quick() else many
        found = outcomes(teams, goal, 0.1, summary)
        each = " and ".join(f"{np.mean([one.cost for one in some]):.3f}" for some in found.values())
        cost = float(np.mean([one.cost for some in found.values() for one in some]))
        worst = max(one.cost for some in found.values() for one in some)
        what = f"sight of 10%, {goal}, summary {summary}: coverage cost over full sight"
        limit = 1.05 if summary == 64 else None
        yield Row(what, each, "full sight", cost, limit, True, f"worst {worst:.2f}; {told(found)}")


if __name__ == "__main__":
    for row in rows():
        print(f"{row.what}: {row.ratio:.4f} ({row.ours}) {row.bound} {row.verdict}. {row.note}", flush=True)
