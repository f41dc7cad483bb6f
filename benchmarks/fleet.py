"""Fleets: every agent a process on this machine, over Zenoh, and what signatures cost.

    python -m benchmarks fleet

Teams of 57 and 200 agents fly a given number of steps in lockstep; signed over TLS, and unsigned over TCP, take turns.
A round is a step of all. Agents whose steps take no time say up to eight of them in a message; with the clock ``rate``,
as real vehicles have it, every step is a message of its own. Latencies are from sending to hearing, at the recorder.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import numpy as np

import tricover as tc
from benchmarks.compare import Row, best_of, quick, span, timer
from tricover.fleet.agent import Manners
from tricover.fleet.clock import clock_of
from tricover.fleet.crew import Settings
from tricover.fleet.flight import Flown, fly_fleet
from tricover.fleet.keys import Keys, make_keys
from tricover.simulation import Mission

#: Agents, steps of a flight, and rounds a second that are wanted.
TEAMS = ((57, 400, 30.0), (200, 100, 6.0))
GOES = 3
RATE = 10.0  # steps a second of the team that flies by the clock


def rows() -> Iterator[Row]:
    for agents, steps, wanted in TEAMS:
        mission = mission_of(agents, steps // 4 if quick() else steps)
        pairs = [(fly_fleet(mission), fly_fleet(mission, Settings(signed=False, links="tcp"))) for _ in range(GOES)]
        signed, plain = (max(flights, key=lambda flown: flown.rounds) for flights in zip(*pairs, strict=True))
        slower = median(two.rounds / one.rounds for one, two in pairs)
        what, memory = f"{agents} agents as processes", signed.memory or 0.0
        note = f"unsigned {slower:.2f} times as many (median of {GOES}); {memory:.0f} MB of an agent's own"
        yield Row(f"rounds a second, {what}, signed", rounds(signed), rounds(plain), signed.rounds, wanted, note=note)
    mission = mission_of(57, 20 if quick() else 100)
    yield latencies(fly_fleet(mission, Settings(Manners(clock_of("rate", rate=RATE)))))
    yield from signatures()


def mission_of(agents: int, steps: int) -> Mission:
    """A scattered team over scattered targets, that flies all of its steps."""
    draw = np.random.default_rng(agents)
    team, targets = draw.uniform(0, 100, (agents, 2)), draw.uniform(0, 100, (1000, 2))
    network = {"mentee": "balanced"}
    scenario = tc.Scenario(reference=team, targets=targets, network=network, steps=steps, stop_when_settled=False)
    return Mission.of(scenario)


def rounds(flown: Flown) -> str:
    return f"{flown.rounds:.1f} a second"


def latencies(flown: Flown) -> Row:
    """How old messages are when they are heard, in a team that takes steps by the clock."""
    middle, late = median(flown.latencies), quantiles(flown.latencies, n=100)[98]
    what = f"latency of a message, 57 agents, {RATE:g} steps a second, signed"
    note = f"{len(flown.latencies):,} messages; median beside that of 99 in 100"
    return Row(what, span(middle), span(late), late / middle, note=note)


def signatures() -> Iterator[Row]:
    """To sign and to verify a message of 211 bytes, beside a round of an agent at 30 a second."""
    with tempfile.TemporaryDirectory() as folder:
        make_keys(Path(folder) / "keys", 1)
        keys, data = Keys.load(Path(folder) / "keys" / "agent-0"), os.urandom(147)
    signature = keys.sign(data)
    sign, verify = best_of(timer(lambda: keys.sign(data)), timer(lambda: keys.verify("agent-0", data, signature)))
    yield Row("to sign a message", span(sign), f"{span(verify)} to verify one", verify / sign)
