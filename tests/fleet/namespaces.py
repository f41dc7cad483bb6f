"""Fleets over a real network that breaks: ``python -m tests.fleet.namespaces --repeats 20``. It needs root.

A router, a recorder and the operator in one network namespace, and 12 agents in two others, as the processes that a
user would start, with keys, over TLS or QUIC. The wire to one half of the agents is cut for 10 s, packets are lost, or
both. The router's side must go on in the network of the living; after the cut all must act on the belief that all are
alive, within ``AGREED`` seconds, and settle at the desired configuration of the whole network.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

import tricover as tc
from tests.fleet.campaign import mission_of
from tests.fleet.watched import Watched
from tests.fleet.wires import Wires, why_not_here, wired
from tricover.errors import InputError
from tricover.fleet.keys import make_keys
from tricover.simulation import Mission

AGENTS, CUT, LOSS = 12, 10.0, 30
"""Agents; seconds without a wire; packets in a hundred."""
AGREED = 20.0
"""Seconds after a cut by which all agree again."""
UNDER_LOSS = 100
"""Steps that are flown while packets are lost, before the team is looked at."""
MOST = 240.0
"""Seconds after which anything else is given up: a busy machine takes long to start 14 interpreters."""
COMMAND = (sys.executable, "-c", "from tricover.cli.main import command; command()")
PORT = 7447
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Plan:
    """What breaks, and over which links."""

    links: str
    cuts: bool
    loss: int


PLANS = {
    "partition of 10 s": Plan("tls", True, 0),
    "30% loss": Plan("quic", False, LOSS),
    "partition and loss": Plan("quic", True, LOSS),
}


@dataclass(eq=False)
class Flight:
    """A fleet in namespaces of its own, from the first process to the last."""

    mission: Mission
    plan: Plan
    folder: Path
    wires: Wires
    far: frozenset[int]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def near(self) -> frozenset[int]:
        """Who stays on the router's side."""
        return frozenset(range(self.mission.agents)) - self.far

    def start(self) -> Watched:
        """Start everything; the journal in which its course can be read."""
        self.mission.scenario.save(self.folder / "field.toml")
        if self.plan.loss:
            self.wires.lose(self.plan.loss)
        make_keys(self.folder / "keys", self.mission.agents, hosts=[self.wires.router_for(side) for side in "ab"])
        agents = range(self.mission.agents)
        names = ("recorder", *(f"agent-{agent}" for agent in agents))
        endpoints = {self._endpoint("0.0.0.0", name): None for name in names}
        self._begin("r", "router", "fleet", "route", *endpoints, "--agents", str(len(agents)), "--keys", "keys/router")
        self._begin("r", "recorder", "fleet", "record", "field.toml", "-o", "run.zarr", *self._links("r", "recorder"))
        for agent in agents:
            side, name = "b" if agent in self.far else "a", f"agent-{agent}"
            how = ("--rate", "20", "--grace", "60")
            self._begin(side, name, "agent", "field.toml", "--id", str(agent), *how, *self._links(side, name))
        return Watched(self.folder / "run.zarr.flight", self.mission)

    def _links(self, side: str, name: str) -> tuple[str, ...]:
        router = self._endpoint(self.wires.router_for(side), name)
        return "--router", router, "--keys", f"keys/{name}", "--flight", "one"

    def _endpoint(self, host: str, name: str) -> str:
        """Where a process finds the router. By QUIC each agent has a port of its own: see the documentation."""
        own, number = self.plan.links == "quic", name.removeprefix("agent-")
        if own and number.isdecimal():
            return f"quic/{host}:{PORT + 1 + int(number)}?mixed_rel=1"
        return f"tls/{host}:{PORT}"

    def _begin(self, side: str, name: str, *words: str) -> None:
        python = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "TRICOVER_THREADS": "1", "PYTHONPATH": python}
        with (self.folder / f"{name}.txt").open("wb") as said:
            self.processes[name] = subprocess.Popen(
                self.wires.inside(side, *COMMAND, *words), cwd=self.folder, env=environment, stdout=said, stderr=said
            )

    def end(self) -> None:
        """The operator says that it is over; agents and the recorder end by themselves, and the router when told."""
        order = ("fleet", "order", "end", "field.toml")
        self._begin("r", "operator", *order, *self._links("r", "operator"))
        for name, process in self.processes.items():
            if name != "router":
                process.wait(MOST)
        self.processes["router"].send_signal(signal.SIGTERM)
        self.processes["router"].wait(MOST)

    def disorder(self) -> list[str]:
        """Which processes did not end as they should, and the last that they said."""
        ended = {name: process.poll() for name, process in self.processes.items()}
        return [f"{name} ended with {code}: {self._last_words(name)}" for name, code in ended.items() if code]

    def _last_words(self, name: str) -> str:
        return (self.folder / f"{name}.txt").read_text(errors="replace").strip()[-300:]

    def kill(self) -> None:
        """End what still runs."""
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()


class Cut(NamedTuple):
    """One time that something broke.

    Attributes:
        noticed: seconds until the router's side acted without the other; None: nothing was cut, packets were lost.
        agreed: seconds from the end of the cut until all agreed for good; with loss alone, until all had spoken.
    """

    noticed: float | None
    agreed: float


class Outcome(NamedTuple):
    """What was wrong with a flight (nothing, if all was well), when it broke, steps, and what is not certified.

    Certificates are told, not counted. Who hears of a network before most do leaves its old place as an anchor early,
    and where packets are lost the recorder may miss the last action of somebody.
    """

    faults: list[str]
    cuts: list[Cut]
    steps: int = 0
    uncertified: tuple[str, ...] = ()


def flight(name: str, seed: int, cuts: int = 1) -> Outcome:
    """One flight in which something breaks, so many times, and what came of it."""
    plan, draw = PLANS[name], Random(f"{name}/{seed}")
    mission, broken = mission_of(AGENTS, seed), []
    with ExitStack() as stack:
        wires = stack.enter_context(wired())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tricover-wires-")))
        flown = Flight(mission, plan, folder, wires, _far_side(mission, draw))
        stack.callback(flown.kill)
        watched = stack.enter_context(closing(flown.start()))
        try:
            for _ in range(cuts):
                broken.append(_broken(flown, watched, draw))
            flown.end()
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            return Outcome([str(error), *flown.disorder()], broken)
        run = tc.Run.open(folder / "run.zarr")
        faults = [*_faults_of(flown, run), *flown.disorder()]
        faults += [f"agreed only after {cut.agreed:.1f} s" for cut in broken if cut.agreed > AGREED]
        faults += [f"left running: {wires.running()}"] if wires.running() else []
        fails = (line for line in str(tc.certify(run)).splitlines() if " fails " in line)
        return Outcome(faults, broken, run.steps, tuple(fails))


def _far_side(mission: Mission, draw: Random) -> frozenset[int]:
    """Half of the agents, such that the others have a network: who has none waits, which is no fault."""
    while True:
        far = draw.sample(range(mission.agents), mission.agents // 2)
        alive = np.ones(mission.agents, np.bool_)
        alive[far] = False
        try:
            tc.build_network(mission.ground.reference, alive=alive)
        except InputError:
            continue
        return frozenset(far)


def _broken(flown: Flight, watched: Watched, draw: Random) -> Cut:
    """Break the network, mend it, and wait until the team is at rest again."""
    more = draw.randrange(4, 60) if flown.plan.cuts else UNDER_LOSS
    first = max((said.step for said in watched.last.values()), default=0) + more
    watched.wait_for(lambda: watched.all_past(first), MOST, f"not all have come to step {first}")
    noticed = _cut(flown, watched, draw.random() < 0.5) if flown.plan.cuts else None
    mended = time.time()
    watched.wait_for(lambda: watched.at_rest(mended), MOST, "the team is not at rest")
    agreed = watched.agreed_at(mended)
    assert agreed is not None, "it is at rest"
    return Cut(noticed, agreed - mended)


def _cut(flown: Flight, watched: Watched, pulled: bool) -> float:
    """Cut the far side off for a while: after how many seconds the others had all noticed."""
    wires, near, cut = flown.wires, flown.near, time.time()
    (wires.pull if pulled else wires.jam)("b")
    watched.wait_for(lambda: watched.believe(near, near), CUT, "the router's side has not noticed")
    noticed = watched.since_when(near, near) - cut
    time.sleep(max(cut + CUT - time.time(), 0))  # the fault itself, not a wait for anything
    if pulled:
        wires.plug("b")
    else:
        wires.mend(flown.plan.loss)
    return noticed


def _faults_of(flown: Flight, run: tc.Run) -> list[str]:
    """What is wrong with the recorded run."""
    found, mission = [], flown.mission
    everybody, near = set(range(mission.agents)), set(flown.near)
    epochs = [set(np.flatnonzero(epoch.present(mission.agents)).tolist()) for epoch in run.epochs]
    if flown.plan.cuts and near not in epochs:
        found.append(f"no epoch of the router's side alone: {epochs}")
    if epochs[-1] != everybody:
        found.append(f"the last epoch has only {epochs[-1]}")
    desired = tc.desired_configuration(tc.build_network(mission.ground.reference), mission.targets)
    off = np.abs(run.positions[-1] - desired).max()
    if off > 1e-9 * 100:
        found.append(f"{off:.3g} m off the desired configuration")
    if not run.converged:
        found.append("the recorded run has not converged")
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=20, help="flights of each kind")
    options.add_argument("--cuts", type=int, default=1, help="in each flight, one after another")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="")
    given = options.parse_args()
    reason = why_not_here()
    if reason is not None:
        print(f"Left out, as {reason}: flights over a network that breaks (make namespaces)")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as after Ctrl-C, all is removed
    bad = 0
    for name in (name for name in PLANS if given.only in name):
        outcomes = []
        for seed in range(given.seed, given.seed + given.repeats):
            outcomes.append(flight(name, seed, given.cuts))
            _tell(name, seed, outcomes[-1])
        well = sum(not one.faults for one in outcomes)
        agreed = [cut.agreed for one in outcomes for cut in one.cuts] or [np.nan]
        spread = f"{len(agreed)} times after at most {max(agreed):.1f} s (median {np.median(agreed):.1f})"
        print(f"{name:20} {well} of {given.repeats} flights well; agreed {spread}", flush=True)
        bad += given.repeats - well
    raise SystemExit(bool(bad))


def _tell(name: str, seed: int, outcome: Outcome) -> None:
    noticed = ", ".join("-" if cut.noticed is None else f"{cut.noticed:.1f}" for cut in outcome.cuts)
    agreed = ", ".join(f"{cut.agreed:.1f}" for cut in outcome.cuts)
    print(f"  {name}, seed {seed}: noticed {noticed} s, agreed {agreed} s, {outcome.steps} steps", flush=True)
    for fault in (*outcome.faults, *outcome.uncertified):
        print(f"    {fault}", flush=True)


if __name__ == "__main__":
    main()
