"""``Watching``: a fleet in the air as a studio shows it. Pure Python: no page, no server, no bus.

    Tower ─▶ see ─▶ Watching ─▶ messages ─▶ pages
                        └─▶ Controls ─▶ the flight's own loop

The flight's loop calls ``see`` now and then, which only keeps what there is: the fleet is not to be slowed by who
watches it. What pages are told is made of it in the studio's own thread, ``speed`` times a second at most. What they
ask for goes to ``Controls``, and is done by the flight's loop.

*Beliefs.* Everybody says whom it took for alive when it acted. Who acted on another belief than most does not agree.
Everybody is shown in the network of its own belief: of a team that was cut in two, both halves have their links.

*The end.* A flight of this program says itself that it is over. Of one that is anywhere, nobody is there any more for
``SILENT`` seconds; should somebody come back, it goes on.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.fleet.controls import Controls
from tricover.fleet.faults import members_of
from tricover.fleet.networks import Networks
from tricover.fleet.tower import Report, Tower
from tricover.network import Network
from tricover.simulation import Mission, Run
from tricover.studio.beliefs import Belief, beliefs_of, links_among
from tricover.studio.messages import Message, pack_links, pack_positions, pack_targets
from tricover.studio.seen import Seen, last_words, role_of, says_of
from tricover.studio.session import Answer, Sent, Session, done_by, said
from tricover.studio.variant import box_of, map_facts

__all__ = ["FROZEN", "SILENT", "Watching"]

FROZEN = 3.0
"""Seconds that an agent is frozen for."""
RECENT = 5.0
"""Seconds over which rounds are counted."""
SILENT = 5.0
"""Seconds without anybody after which a flight that is anywhere is over."""
MOST_SHOWN = 8
"""Beliefs that have a network of their own on the map."""


@dataclass(eq=False)
class Watching:
    """A fleet that is watched, of a mission that is flown.

    Attributes:
        mission: as it was when the flight began.
        controls: what can be asked for.
        folder: for the studio that opens the recorded run.
        now: a clock, in seconds.
    """

    mission: Mission
    controls: Controls
    folder: Path
    now: Callable[[], float] = time.monotonic
    playing: bool = True
    loss: float = 0.0
    apart: str = ""
    _over: tuple[list[str], Run | None] | None = None
    _alone_since: float | None = None
    _was_settled: bool = False
    _steps: deque[tuple[float, int]] = field(default_factory=deque)
    _told: list[Sent] = field(default_factory=list)
    _taken_for_dead: list[int] = field(default_factory=list)

    speed: ClassVar[float] = 10.0
    """Frames per second, at most."""

    def __post_init__(self) -> None:
        self._networks = Networks(self.mission)
        self._start = self.mission.start().positions
        self._low, self._high = box_of([(self.mission, self._start)])
        self._network = self.mission.epochs[0].network
        self._links = links_among(self._network, self.mission.agents, [])
        nothing = Report(-1, -1, 0, 0, 0, False, 0, {}, (0.0, 0.0), False)
        self._seen = Seen(nothing, frozenset(), {}, None, frozenset(), frozenset())

    # --- what the flight says ---

    def see(self, report: Report, tower: Tower) -> None:
        """How far the flight is: kept as it is, to be looked into when a page wants to know."""
        controls, now = self.controls, self.now()
        who = frozenset(tower.living)
        self._seen = Seen(report, who, tower.said(), tower.ordered, controls.running, controls.frozen)
        self._look_for_the_end(now)
        if tower.tracks.mission is not self._networks.mission:  # new targets
            self._networks = Networks(tower.tracks.mission)
        self._steps.append((now, report.step))
        while self._steps[0][0] < now - RECENT:
            self._steps.popleft()

    def _look_for_the_end(self, now: float) -> None:
        """Whether those who flew somewhere are still there."""
        seen = self._seen
        if seen.living:
            self._alone_since, self._was_settled = None, seen.report.done
        elif self._alone_since is None:
            self._alone_since = now
        if self.controls.processes:
            return
        alone = self._alone_since is not None and now - self._alone_since >= SILENT
        most = self._networks.mission.scenario.steps
        self._over = (last_words(seen, self._was_settled, most), None) if alone and seen.said else None

    def end(self, says: list[str], run: Run | None) -> None:
        """The flight is over: sentences that say how, and its run if it was recorded."""
        self._over = says, run

    # --- what pages are told ---

    def everything(self) -> list[Sent]:
        """All that a new page has to know."""
        return [*self._scene(), *self._frame()]

    def tick(self) -> list[Sent]:
        """What has changed since the last time."""
        before, mission = self._links, self._networks.mission
        frame = self._frame()
        changed = self._scene() if not self._links.are(before) or mission.targets_still_from else []
        told, self._told = self._told, frame
        return [*changed, *frame] if changed or frame != told else []

    def _scene(self) -> list[Sent]:
        """What changes seldom: who it is, the network, targets."""
        mission = self._networks.mission
        step = max(self._seen.report.step, 0)
        links, targets = self._links, mission.targets_at(step)
        facts = map_facts(mission, links.depth, links.boundary, links.cores, self._low)
        fleet = said(
            "fleet",
            name=mission.scenario.name,
            corner=self._low.tolist(),
            size=(self._high - self._low).tolist(),
            orders=self.controls.orders,
            processes=self.controls.processes,
            frozen_for=FROZEN,
            **facts,
        )
        return [
            fleet,
            pack_links(0, step, links.heard, links.layer),
            pack_targets(0, step, targets, self._low),
        ]

    def _frame(self) -> list[Sent]:
        """What changes with every step."""
        seen = self._seen
        beliefs = self._beliefs(seen)
        self._network = self._network_of(seen, beliefs)
        self._links = links_among(self._network, self.mission.agents, self._others(seen, beliefs))
        positions = np.array(self._start)
        for agent, (_, place) in seen.said.items():
            positions[agent] = place.position
        return [pack_positions(0, max(seen.report.step, 0), positions, self._low), self._flight(seen, beliefs)]

    def _flight(self, seen: Seen, beliefs: list[Belief]) -> str:
        report = seen.report
        over = None if self._over is None else {"says": self._over[0], "opens": self._over[1] is not None}
        return said(
            "flight",
            step=report.step,
            fastest=report.fastest,
            rounds=self._rounds(),
            living=sorted(seen.living),
            running=sorted(seen.running),
            frozen=sorted(seen.frozen),
            missed=self._missed(seen, beliefs),
            apart=sorted(agent for belief in beliefs[1:] for agent in belief.held_by),
            beliefs=len(beliefs),
            agreed=report.agreed,
            settled=report.settled,
            done=report.done,
            latency=list(report.latency),
            messages=report.messages,
            refused=dict(report.refused),
            ordered=seen.ordered,
            faults={"loss": self.loss, "apart": self.apart},
            says=says_of(seen, self.mission.agents, self._who_is_gone(seen, beliefs)) if over is None else [],
            over=over,
        )

    def _beliefs(self, seen: Seen) -> list[Belief]:
        """Beliefs of those who are alive and have spoken, that of most first."""
        return beliefs_of({agent: seen.said[agent][1].living for agent in seen.living & seen.said.keys()})

    def _network_of(self, seen: Seen, beliefs: list[Belief]) -> Network:
        """The network on which most act; while there is none, the last one."""
        found = self._acted_on(seen, beliefs[0]) if beliefs else None
        return self._network if found is None else found

    def _acted_on(self, seen: Seen, belief: Belief) -> Network | None:
        """The network of a belief; None: there is none of those who are left."""
        told = self._networks.told(self._networks.key(max(seen.report.step, 0), belief.living))
        return None if told is None else told.network

    def _others(self, seen: Seen, beliefs: list[Belief]) -> list[tuple[Belief, Network]]:
        """Beliefs that most do not hold, with their networks."""
        found = ((belief, self._acted_on(seen, belief)) for belief in beliefs[1:MOST_SHOWN])
        return [(belief, network) for belief, network in found if network is not None]

    def _missed(self, seen: Seen, beliefs: list[Belief]) -> list[int]:
        """Whom most take for dead, of those who should be there; when nobody is left, as it was before."""
        if beliefs:
            self._taken_for_dead = self._gone(seen.report.step, beliefs[0].living)
        return self._taken_for_dead

    def _gone(self, step: int, living: NDArray[np.bool_]) -> list[int]:
        """Who should be there at a step and is not among the living."""
        there = self._networks.mission.present_at(max(step, 0))
        return [int(agent) for agent in np.flatnonzero(there & ~living)]

    def _who_is_gone(self, seen: Seen, beliefs: list[Belief]) -> list[tuple[Belief, list[int]]]:
        """Beliefs, each with those whom it takes for dead."""
        return [(belief, self._gone(seen.report.step, belief.living)) for belief in beliefs]

    def _rounds(self) -> float | None:
        """Rounds per second of late."""
        steps = [one for one in list(self._steps) if one[1] >= 0]
        if len(steps) < 2 or steps[-1][0] <= steps[0][0]:
            return None
        return max(steps[-1][1] - steps[0][1], 0) / (steps[-1][0] - steps[0][0])

    # --- what pages ask for ---

    def do(self, message: Message) -> Answer:
        """Do what a message asks for; what cannot be is an error, and nothing has changed."""
        return done_by(self, message, "a fleet is watched here: nothing is edited while it flies")

    def _do_files(self, _: Any) -> Answer:
        return Answer()  # what a page asks for when it comes: there are none to be opened here

    def _do_inside(self, message: Any) -> Answer:
        return Answer(asker=[said("member", **self.member(message.agent))])

    def _do_kill(self, message: Any) -> Answer:
        self._running(message.agent)
        return self._asked("kill", f"Agent {message.agent} is killed.", agent=message.agent)

    def _do_freeze(self, message: Any) -> Answer:
        if message.agent in self._running(message.agent).frozen:
            raise InputError(f"agent {message.agent} is frozen already")
        text = f"Agent {message.agent} is frozen for {FROZEN:g} s."
        return self._asked("freeze", text, agent=message.agent, seconds=FROZEN)

    def _do_join(self, message: Any) -> Answer:
        if message.agent in self._local(message.agent).running:
            raise InputError(f"the process of agent {message.agent} runs")
        return self._asked("join", f"Agent {message.agent} begins again.", agent=message.agent)

    def _do_disturb(self, message: Any) -> Answer:
        self._local()
        text = message.apart.strip()
        members = members_of(text, f"cut off {text!r}", self.mission.agents) if text else ()
        self.loss, self.apart = message.loss, text
        says = f"{100 * self.loss:.0f} % of the messages are lost, and {text or 'nobody'} cut off."
        return self._asked("faults", says, loss=self.loss, apart=sorted(map(int, members)))

    def _do_order(self, message: Any) -> Answer:
        if not self.controls.orders:
            raise InputError("orders need the operator's keys: these only let you watch")
        self._flying()
        text = message.agents.strip()
        if not text:
            return self._asked("order", f"Sent to all: {message.word}.", word=message.word, values={})
        members = members_of(text, f"to {text!r}", self.mission.agents)
        agents = sorted(map(int, set(members)))
        return self._asked("order", f"Sent to {text}: {message.word}.", word=message.word, values={"agents": agents})

    def _do_flown(self, _: Any) -> Answer:
        if self._over is None or self._over[1] is None:
            raise InputError("there is no recorded run to open")
        return Answer(instead=Session(self._over[1], self.folder))

    def member(self, agent: int) -> dict[str, Any]:
        """All that is known of an agent, in plain values; ages in steps."""
        seen = self._seen
        self._known(agent)
        step, place = seen.said.get(agent, (-1, None))
        plain: dict[str, Any] = {
            "agent": agent,
            "step": step,
            "alive": agent in seen.living,
            "running": agent in seen.running,
            "frozen": agent in seen.frozen,
            "position": (self._start[agent] if place is None else np.array(place.position)).tolist(),
        }
        if place is None:
            return plain | {"gone": [], "hears": [], "agrees": True, "role": "has not spoken yet"}
        told = self._networks.told(self._networks.key(max(step, 0), place.living))
        network = self._network if told is None else told.network
        ages = zip(network.in_neighbors[agent].tolist(), place.last.ages, strict=True)
        beliefs = self._beliefs(seen)
        return plain | {
            "role": role_of(network, agent),
            "gone": self._gone(step, place.living),
            "agrees": not beliefs or np.array_equal(beliefs[0].living, place.living),
            "hears": [[other, age] for other, age in ages if other >= 0],
            "settled": place.last.settled,
            "holds": place.last.holds,
            "off": place.last.off,
        }

    def _asked(self, what: str, text: str, **values: Any) -> Answer:
        self.controls.ask(what, **values)
        return Answer(asker=[said("done", text=text)])

    def _known(self, agent: int) -> None:
        if agent >= self.mission.agents:
            raise InputError(f"there is no agent {agent}: they have the numbers 0 to {self.mission.agents - 1}")

    def _flying(self) -> None:
        if self._over is not None:
            raise InputError("the flight is over")

    def _local(self, agent: int = 0) -> Seen:
        """What is known, if the agents are processes of this program that fly."""
        if not self.controls.processes:
            raise InputError("these agents are not processes of this program: it cannot kill, freeze or begin them")
        self._flying()
        self._known(agent)
        return self._seen

    def _running(self, agent: int) -> Seen:
        seen = self._local(agent)
        if agent not in seen.running:
            raise InputError(f"the process of agent {agent} does not run")
        return seen
