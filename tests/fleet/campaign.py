"""Flights of real processes in which things go wrong, many times over: ``python -m tests.fleet.campaign --repeats 20``.

After each of them the living must act on the same true belief again, within ``AGREED`` seconds of the last fault, and
settle at the desired configuration of the network of the living, as Algorithm 2 gives it; and nothing is left running.
"""

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

import tricover as tc
from tricover.fleet.agent import Manners
from tricover.fleet.clock import clock_of
from tricover.fleet.crew import Settings
from tricover.fleet.faults import At, Faults, Partition
from tricover.fleet.flight import Flown, fly_fleet
from tricover.fleet.membership import Patience
from tricover.simulation import Mission

AGREED = 30.0
"""Seconds: lease (1 s), patience (0.6 s, twice after the router was gone), to connect again (up to 2 s), and rounds, on
a machine that is busy with other things; on one that is not it takes 1 to 3 s."""
MOST = 240.0
"""Seconds after which a flight is given up."""

Plan = Callable[[int, Random], Settings]


def mission_of(agents: int, seed: int) -> Mission:
    draw = np.random.default_rng([agents, seed])
    scenario = tc.Scenario(
        reference=draw.uniform(0, 100, (agents, 2)), targets=draw.uniform(0, 100, (300, 2)), steps=100_000, seed=seed
    )
    return Mission.of(scenario)


def lossy(agents: int, draw: Random) -> Settings:
    """30% of the messages are lost."""
    return Settings(faults=Faults(loss=0.3, seed=draw.randrange(10**6)), links="quic")


def killed(agents: int, draw: Random) -> Settings:
    """20% of the agents are killed, among them an anchor in most flights, at any moments."""
    names = draw.sample(range(agents), round(agents / 5))
    return Settings(kills=tuple(At((str(name),), draw.uniform(1.0, 5.0), 0.0) for name in names))


def frozen(agents: int, draw: Random) -> Settings:
    """Two agents are frozen for 3 s."""
    names = draw.sample(range(agents), 2)
    return Settings(freezes=tuple(At((str(name),), draw.uniform(1.0, 4.0), 3.0) for name in names))


def unrouted(agents: int, draw: Random) -> Settings:
    """The router is killed, and begins again after a second."""
    return Settings(kills=(At(("router",), draw.uniform(1.0, 4.0), 0.0),))


def parted(agents: int, draw: Random) -> Settings:
    """A part of the agents is cut off from the others for 10 s."""
    group = draw.sample(range(agents), draw.randrange(2, agents - 4))
    start = draw.uniform(1.0, 4.0)
    return Settings(faults=Faults(partitions=(Partition(frozenset(group), start, start + 10.0),)))


def late(agents: int, draw: Random) -> Settings:
    """Two agents begin late, and one that was killed begins again."""
    first, second, again = map(str, draw.sample(range(agents), 3))
    joins = (At((first, second), draw.uniform(3.0, 6.0), 0.0), At((again,), 7.0, 0.0))
    return Settings(kills=(At((again,), 3.0, 0.0),), joins=joins)


def all_at_once(agents: int, draw: Random) -> Settings:
    """Loss, kills, freezes, a partition, and no router for a second."""
    parts = [plan(agents, draw) for plan in (killed, frozen, parted)]
    router = At(("router",), draw.uniform(2.0, 8.0), 0.0)
    dead = {name for at in parts[0].kills for name in at.members}
    freezes = tuple(at for at in parts[1].freezes if at.members[0] not in dead)
    faults = replace(lossy(agents, draw).faults, partitions=parts[2].faults.partitions)
    return Settings(links="quic", faults=faults, kills=(*parts[0].kills, router), freezes=freezes)


PLANS: dict[str, Plan] = {
    "30% loss": lossy,
    "20% killed": killed,
    "frozen for 3 s": frozen,
    "router killed": unrouted,
    "partition of 10 s": parted,
    "late joiners": late,
    "all at once": all_at_once,
}


def faults_of(mission: Mission, flown: Flown, settings: Settings) -> list[str]:
    """What is wrong with a flight; nothing, if all is well."""
    found, joined = [], {name for at in settings.joins for name in at.members}
    dead = {name for at in settings.kills for name in at.members} - {"router"} - joined
    alive = np.ones(mission.agents, np.bool_)
    alive[[int(name) for name in dead]] = False
    network = tc.build_network(mission.ground.reference, alive=alive)
    desired = tc.desired_configuration(network, mission.targets)
    end, living = flown.run.positions[-1], np.flatnonzero(alive)
    off = np.abs(end[living] - desired[living]).max()
    if off > 1e-9 * 100:
        found.append(f"{off:.3g} m off the desired configuration of the living")
    if not flown.run.converged:
        found.append("the recorded run has not converged")
    if flown.report.living != alive.sum() or not flown.report.agreed:
        found.append(f"{flown.report.living} of {alive.sum()} alive, agreed: {flown.report.agreed}")
    faulty = settings.kills or settings.freezes or settings.joins or settings.faults.partitions
    if faulty and (flown.agreed_after is None or flown.agreed_after > AGREED):
        found.append(f"agreed after {flown.agreed_after} s")
    if flown.exits:
        found.append(f"ended in disorder: {flown.exits}")
    return found


def flight(name: str, agents: int, seed: int) -> tuple[Flown, list[str]]:
    """One flight with a kind of fault, and what is wrong with it."""
    # Every other flight takes steps as fast as it can, and says several at once; the others take 50 a second.
    # Who begins late is not waited for as long as usual.
    clock, patience = clock_of("lockstep", rate=50.0 if seed % 2 else None), Patience(grace=5.0)
    manners = Manners(clock, patience if name == "late joiners" else Patience())
    settings = replace(PLANS[name](agents, Random(f"{name}/{agents}/{seed}")), manners=manners, seconds=MOST)
    mission, before = mission_of(agents, seed), children()
    flown = fly_fleet(mission, settings)
    left = children() - before
    return flown, faults_of(mission, flown, settings) + ([f"left running: {left}"] if left else [])


def children() -> set[int]:
    """Processes that this one began and that still run."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return {int(pid) for pid in file.read().split()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--agents", type=int, default=20)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="")
    given = options.parse_args()
    bad = 0
    for name in PLANS:
        if given.only not in name:
            continue
        agreed, took, wrong = [], [], 0
        for seed in range(given.seed, given.seed + given.repeats):
            began = time.monotonic()
            flown, faults = flight(name, given.agents, seed)
            took.append(time.monotonic() - began)
            agreed.append(flown.agreed_after or 0.0)
            wrong += bool(faults)
            if faults:
                print(f"  {name}, seed {seed}: {'; '.join(faults)}", flush=True)
        bad += wrong
        print(
            f"{name:20} {given.repeats - wrong} of {given.repeats} well; agreed after at most {max(agreed):.1f} s "
            f"(median {np.median(agreed):.1f}), flights of {np.median(took):.0f} s",
            flush=True,
        )
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
