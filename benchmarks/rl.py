"""Learning environments: steps of 57 agents, one scenario and a thousand, beside MPE's and VMAS's environments.

Actions are drawn once and given in every step; everything else of a step counts: deciding what is allowed, moving,
observing and rewarding all agents. What differs:

- MPE (``mpe2``, PettingZoo's own) has agents that push each other and see everybody: ``simple_spread`` with as many
  landmarks as agents. Ours listen to three others, and see the targets between them: 200 in all.
- VMAS is MPE's idea for many worlds at once, in PyTorch: ``dispersion``, in which agents go to food, and
  ``simple_spread``. It is measured where ``TRICOVER_VMAS`` names a Python that has it: with PyTorch it is too large for
  the environment of the peers.

Of our 57 agents 44 act; the others are anchors, and move by themselves. Small teams have 6 that act and 5 anchors,
beside 6 of theirs. A thousand scenarios are copies of one with seeds of their own, as in VMAS; then a thousand that
have nothing in common but their size.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import tricover as tc
from benchmarks.compare import Row, best_of, power, size, span, timer
from benchmarks.workers import Worker, worker
from tricover.rl import VectorTeam, parallel_env

AGENTS, TARGETS, STEPS = 57, 200, 10**6
FEW = 6  # agents that act in a small team
CORNERS = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]])
GOES = 3


def rows() -> Iterator[Row]:
    with worker("peers/mpe.py") as mpe:
        yield from beside_mpe(mpe)
    if "TRICOVER_VMAS" in os.environ:
        with worker("peers/vmas_worlds.py", Path(os.environ["TRICOVER_VMAS"])) as vmas:
            yield from beside_vmas(vmas)


def beside_mpe(mpe: Worker) -> Iterator[Row]:
    for agents, motion in ((FEW, "walk"), (AGENTS, "walk"), (AGENTS, "reach")):
        mpe.prepare(agents=agents)
        single = alone(agents, motion)
        single()
        mine, theirs = best_of(timer(single), mpe.step, goes=GOES)
        note = "PettingZoo's simple_spread"
        yield Row(f"one step of {agents} agents, {motion}", span(mine), span(theirs), theirs / mine, note=note)
    many = size(1000)
    for kind, make in (("copies", copies), ("different", different)):
        together = side_by_side(make(AGENTS, many))
        together()
        mine, theirs = best_of(timer(together), mpe.step, goes=GOES)
        what = f"one step of {AGENTS} agents, of {power(many)} at once ({kind})"
        yield Row(what, span(mine / many), span(theirs), many * theirs / mine, note="PettingZoo's simple_spread")


def beside_vmas(vmas: Worker) -> Iterator[Row]:
    for scenario, agents, worlds in (
        ("dispersion", AGENTS, 1),
        ("dispersion", AGENTS, size(1000)),
        ("simple_spread", AGENTS, size(100)),
        ("dispersion", FEW, size(10_000)),
    ):
        vmas.prepare(scenario=scenario, agents=agents, worlds=worlds)
        together = side_by_side(copies(agents, worlds))
        together()
        mine, theirs = best_of(timer(together), vmas.step, goes=GOES)
        what = f"one step of {agents} agents, of {power(worlds)} at once"
        yield Row(what, span(mine / worlds), span(theirs / worlds), theirs / mine, note=f"VMAS's {scenario}")


def alone(agents: int, motion: str) -> Callable[[], object]:
    """A step of one environment, by agents' names; what is masked means to stay."""
    env, rng = parallel_env(scenario(agents, 0, motion), masked="stay"), np.random.default_rng(0)
    env.reset()
    names = env.possible_agents
    chosen = rng.integers(0, 4, len(names)) if motion == "walk" else rng.random((len(names), 3), np.float32)
    actions = dict(zip(names, chosen, strict=True))
    return lambda: env.step(actions)


def side_by_side(scenarios: list[tc.Scenario]) -> Callable[[], object]:
    """A step of many scenarios, as arrays."""
    team = VectorTeam(scenarios, masked="stay")
    team.reset()
    actions = np.random.default_rng(0).integers(0, 4, (team.teams, team.agents))
    return lambda: team.step(actions)


def scenario(agents: int, seed: int, motion: str = "walk") -> tc.Scenario:
    rng = np.random.default_rng(seed)
    team, targets = rng.random((agents, 2)), rng.random((TARGETS, 2))
    if agents == FEW:
        team = np.concatenate([CORNERS, team])
    control = {"motion": motion, "resolution": 8}
    return tc.Scenario(reference=team, targets=targets, seed=seed, steps=STEPS, control=control)


def copies(agents: int, count: int) -> list[tc.Scenario]:
    one = scenario(agents, 0)
    return [one.replace(seed=seed) for seed in range(count)]


def different(agents: int, count: int) -> list[tc.Scenario]:
    return [scenario(agents, seed) for seed in range(count)]
