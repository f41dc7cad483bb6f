"""``Member``: one agent of a fleet, without network and clock. What it has heard, decides, does and says.

It knows what the simulator lets an agent know, and decides by the same functions: ``decide`` and ``learn``. Positions
of its in-neighbours come in messages. At step t it acts on the newest one of each that is of step t or before. So what
it does follows from the messages alone, and a fleet in which none is late does what ``simulate`` does.

Where the scenario has late or lost messages (``world.delay``, ``world.loss``), these are played as the simulator does:
what has come over the bus is taken for what was sent. An agent that was told to hold stays where it is, and so does one
whose network cannot be: too few are alive, or those who morph lost somebody.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import (
    NO_CELL,
    Decision,
    Received,
    Told,
    View,
    cells_of,
    decide,
    distances,
    learn,
    points_as_sets,
    report,
    rows_of,
    tell,
)
from tricover.control.hearing import NOTHING
from tricover.control.memory import Memory, memory_of, renewed
from tricover.control.view import Near
from tricover.errors import InputError
from tricover.fleet.flyable import cells_follow, check_flyable
from tricover.fleet.mailbox import Mailbox, PlayedLate
from tricover.fleet.messages import Action, Intent, Memories, Place
from tricover.fleet.networks import Networks
from tricover.simulation import Mission, State
from tricover.simulation.deciding import asked_sets
from tricover.simulation.looking import told_in
from tricover.simulation.step import driven, missed
from tricover.targets import TargetLists, Targets
from tricover.vehicles import Mixed, Piloted
from tricover.vehicles.exact import Exact

__all__ = ["Member", "Plan"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plan:
    """What an agent is about to do.

    Attributes:
        asked: the reach set that its vehicle is to be driven into, (1, 3, 2).
        setpoint: its middle, (2,).
        action: what it will say of it, but for the miss.
        view: what it knew; None if it holds.
        told: what it was told.
        decision: what it decided.
    """

    asked: Floats
    setpoint: Floats
    action: Action
    view: View | None = None
    told: Told | None = None
    decision: Decision | None = None


class Member:
    """One agent of a fleet: it hears, decides, moves and speaks; see the module."""

    def __init__(self, mission: Mission, agent: int, begin: State | None = None) -> None:
        check_flyable(mission)
        if not 0 <= agent < mission.agents:
            raise InputError(f"there is no agent {agent}: agents are numbered 0 to {mission.agents - 1}")
        present = [which for which, epoch in enumerate(mission.epochs) if epoch.present(mission.agents)[agent]]
        if not present:
            raise InputError(f"agent {agent} takes part in no epoch of this mission")
        begin = begin or mission.start()
        self.mission, self.agent, self.networks = mission, agent, Networks(mission)
        self.row = np.array([agent])
        self.step = mission.epochs[present[0]].start
        gone = [epoch.start for epoch in mission.epochs[present[-1] + 1 :]]
        self.end = min([mission.scenario.steps, *gone])
        """The step at which it is over for this agent."""
        self.position: Floats = begin.positions[agent].copy()
        self.home: Floats = self.position.copy()
        self.vehicle: Floats = begin.vehicles[self.row].copy()
        self.memory: Memory = rows_of(begin.memory, self.row)
        self.seen_alive: Flags = np.ones(mission.agents, np.bool_)
        self.acted_on: Flags = self.seen_alive
        """Whom it took for alive when it acted last, (N,)."""
        self.last = Action()
        self.holding: Floats | None = None
        """Where it was told to stay, (2,), if it was."""
        self.mail = Mailbox()
        self._late = None if mission.world.channel.perfect else PlayedLate(mission, begin)
        self._key = self.networks.key(self.step, self.seen_alive)
        self._listen()

    @property
    def pilot(self) -> Any | None:
        """Its vehicle, if it is a real one: it takes off and lands, and its steps take time."""
        ride = self.mission.vehicle
        own = ride.vehicles[ride.assignment[self.agent]] if isinstance(ride, Mixed) else ride
        return own if isinstance(own, Piloted) else None

    # What it believes and listens to

    def believe(self, alive: Flags) -> None:
        """Take these for alive, (N,); a new network begins with a new memory, but for what outlasts it."""
        before, self.seen_alive = self._key, alive
        self._key = self.networks.key(self.step, alive)
        if self._key != before or self.step == self.mission.launch:
            here, told = self.position[None], self.told
            new = self.mission.memory_at(here)
            self.memory = renewed(self.memory, new if told is None else {**new, **memory_of(told, here)})
            self._listen()

    def _listen(self) -> None:
        """Work out to whom it listens now, and who listens to it."""
        told, launching = self.told, self.step < self.mission.launch
        links = [] if told is None or launching else self._links_in(told)
        if self._late is not None:  # it may have to go by an epoch that is over
            links += [link for epoch in self.mission.epochs for link in self._links_in(epoch.told)]
        living = self.living
        self.senders: list[int] = sorted({other for other in links if other >= 0 and living[other]})
        """To whom it listens: its in-neighbours, and everybody where the goal asks for those near by."""
        found = self.networks.listeners(self._key, self.agent)
        self.listeners: list[int] = [] if launching or told is None else self._paced_by(found, told)
        """Who listens to it; for an anchor to whom nobody listens another one, with whom it keeps pace."""

    @property
    def told(self) -> Told | None:
        """What it was told, by whom it takes for alive; None: there is no network of them."""
        return self.networks.told(self._key)

    @property
    def living(self) -> Flags:
        """Who takes part, as far as it knows, (N,)."""
        return self.networks.living(self.step, self.seen_alive)

    def coming(self, steps: int) -> list[int]:
        """To whom it will listen within so many steps, as the mission says."""
        links = {link for told in self._coming(steps) for link in self._links_in(told)}
        return sorted(link for link in links if link >= 0)

    def coming_listeners(self, steps: int) -> list[int]:
        """Who will listen to it within so many steps, as the mission says."""
        found: set[int] = set()
        for told in self._coming(steps):
            links = (told.network.in_neighbors == self.agent).any(axis=1)
            found.update(self._paced_by(np.flatnonzero(links), told))
        return sorted(found)

    def _paced_by(self, listeners: Ints, told: Told) -> list[int]:
        """Those who listen to it, or another anchor."""
        if len(listeners) or any(link >= 0 for link in self._links_in(told)):
            return [int(other) for other in listeners]
        network = told.network
        return [int(network.boundary[0] if self.agent == network.core else network.core)]

    def _coming(self, steps: int) -> list[Told]:
        """What the mission tells within so many steps."""
        return [epoch.told for epoch in self.mission.epochs if self.step < epoch.start <= self.step + steps]

    def _links_in(self, told: Told) -> list[int]:
        """To whom it listens by what it is told; -1: to nobody."""
        network = told.network
        if self.agent >= len(network) or network.layer[self.agent] < 0:
            return []
        if told.hears_near:
            return [int(other) for other in np.flatnonzero(network.layer >= 0) if other != self.agent]
        reporters = told.family.children[self.agent].tolist() if told.summary is not None else []
        return [*network.in_neighbors[self.agent].tolist(), *reporters]

    def use(self, mission: Mission) -> None:
        """Go on with a mission that was changed on the way."""
        self.mission, self.networks = mission, Networks(mission)
        self.believe(self.seen_alive)

    # What it hears

    @property
    def informed(self) -> bool:
        """Whether it has heard all that it needs for this step."""
        senders = self.senders
        if any(self.mail.newest(sender) < self.step for sender in senders):
            return False
        morphs = self.mission.scenario.control.motion == "morph"
        return not morphs or all(self._has_announced(sender) for sender in senders)

    def _has_announced(self, sender: int) -> bool:
        """Whether another said where it goes in this step, or has gone there: then what it said is lost."""
        return self.mail.announced(self.step, sender) is not None or self.mail.newest(sender) > self.step

    @property
    def keeps_up(self) -> bool:
        """Whether it may leave out steps: not where late messages are played, which come step by step."""
        return self._late is None

    def skip_to(self, step: int) -> None:
        """Go on at a later step; in those between it did nothing."""
        self.step = min(step, self.end)
        self.believe(self.seen_alive)

    # What it does

    def plan(self) -> Plan:
        """What it does in this step."""
        self.acted_on, told = self.seen_alive, self._told_of_epoch()
        if self.holding is not None or told is None or not self._announced_in_time(told):
            return self._stay(self.position if self.holding is None else self.holding)
        view = self._view(told)
        decision = decide(view, told, self.memory)
        off = float(distances(view, told, decision)[0])
        cells = None if self._cells_follow else np.concatenate(cells_of(view, told, decision))
        ages = (NOTHING,) * 3 if view.ages is None else tuple(view.ages[0].tolist())
        waits = bool(told.network.layer[self.agent] > 0 and min(ages) < 0 and self.step >= self.mission.launch)
        settled = off <= self.mission.tolerance and not waits and not self._behind and self.step >= self.mission.launch
        weights = decision.remembered.get("weights", np.zeros((1, 3)))[0]
        action = Action(
            self.step,
            ages,
            (NO_CELL,) * 3 if cells is None else tuple(cells.tolist()),
            0.0,
            off,
            tuple(0.0 if weight != weight else weight for weight in weights.tolist()),
            settled,
        )
        return Plan(asked_sets(self.mission, view, told, decision), decision.setpoints[0], action, view, told, decision)

    @property
    def _cells_follow(self) -> bool:
        """Whether its cells follow from where it is and was: then they need not be said."""
        return cells_follow(self.mission)

    def intent(self, plan: Plan) -> Intent | None:
        """What it announces of a plan, if it morphs."""
        if plan.told is None or plan.told.motion != "morph" or self.step < self.mission.launch:
            return None
        return Intent((float(plan.setpoint[0]), float(plan.setpoint[1])))

    def drive(self, plan: Plan) -> tuple[Floats, Floats]:
        """Drive the vehicle: its new state (1, S) and position (2,). This may take as long as a step does."""
        if isinstance(self.mission.vehicle, Exact):
            return plan.setpoint[None].copy(), plan.setpoint.copy()
        vehicle, positions = driven(self.mission, self.step, self.row, self.vehicle, plan.asked)
        return vehicle, positions[0]

    def land(self, plan: Plan, vehicle: Floats, position: Floats) -> None:
        """The step is over: keep what there is to keep of it."""
        if plan.view is not None and plan.told is not None and plan.decision is not None:
            self.memory = learn(plan.view, plan.told, self.memory, plan.decision, position[None])
        miss = 0.0 if isinstance(self.mission.vehicle, Exact) else float(missed(position[None], plan.asked)[0])
        self.last = plan.action._replace(miss=miss)
        self.vehicle, self.position = vehicle, position
        self.step += 1
        if self.step < self.end:
            self.believe(self.seen_alive)

    def place(self) -> Place:
        """What it says of itself at this step."""
        told, point = self.told, self._point
        if told is None or told.sight is None or self.step < self.mission.launch or self.step >= self.end:
            return Place(point, self.last, self.acted_on)
        view = View(self.step, self.row, self.position[None], np.full((1, 3, 2), np.nan), self._seen())
        reports = None if told.summary is None else report(told, self.memory)
        return Place(point, self.last, self.acted_on, tell(view, told, self.memory), reports)

    @property
    def _point(self) -> tuple[float, float]:
        return float(self.position[0]), float(self.position[1])

    def memories(self) -> Memories:
        """What it remembers."""
        return Memories(self.memory)

    def _stay(self, where: Floats) -> Plan:
        action = Action(self.step, cells=(NO_CELL,) * 3, holds=True)
        return Plan(points_as_sets(where[None]), np.array(where), action)

    def _told_of_epoch(self) -> Told | None:
        """What it goes by: where messages are played late, the epoch that it has heard of."""
        if self._late is None or not self._as_planned:
            return self.told
        self.memory = {**self.memory, **self._late.hear(self.mission, self.mail, self.agent, self._point, self.step)}
        return self.mission.epochs[int(self.memory["believed"][0])].told

    @property
    def _as_planned(self) -> bool:
        """Whether nobody is missing who should be there."""
        return self.networks.as_planned(self._key)

    @property
    def _behind(self) -> bool:
        """Whether it has not heard of a repair that is played late."""
        if self._late is None or not self._as_planned:
            return False
        return int(self.memory["believed"][0]) < self.networks.epoch(self.step)

    # What it knows

    def _view(self, told: Told) -> View:
        step, here = self.step, self.position[None]
        if step < self.mission.launch:
            return View(step, self.row, here, np.full((1, 3, 2), np.nan), self.mission.targets_at(step))
        if self._late is not None and self._as_planned:
            heard, ages = self.memory["heard"], self.memory["ages"]
        else:
            heard, ages = self._from_in_neighbors(told)
        seen, near, announced = self._seen(), self._near(told), self._announced(told)
        view = View(step, self.row, here, heard, seen, ages, near, announced)
        if told.sight is None:
            return view
        return replace(view, received=self._received(told, heard if announced is None else announced))

    def _from_in_neighbors(self, told: Told) -> tuple[Floats, Ints]:
        """The newest positions (1, 3, 2) of in-neighbours by this step, and their ages (1, 3)."""
        heard, ages = np.full((1, 3, 2), np.nan), np.full((1, 3), NOTHING)
        for slot, sender in enumerate(told.network.in_neighbors[self.agent].tolist()):
            step = self.mail.step_by(self.step, sender)
            if step is not None:
                heard[0, slot], ages[0, slot] = self.mail.places[sender][step].position, self.step - step
        return heard, ages

    def _seen(self) -> Targets | TargetLists:
        sensor = self.mission.world.sensor
        return sensor.see(self.mission.scene_at(self.step), self.row, self.position[None])

    def _near(self, told: Told) -> Near | None:
        """Where those near by are, itself included."""
        if not told.hears_near:
            return None
        places = np.full((self.mission.agents, 2), np.nan)
        for sender in self.mail.places:
            heard = self.mail.last_by(self.step, sender)
            if heard is not None and told.network.layer[sender] >= 0:
                places[sender] = heard.position
        places[self.agent] = self.position
        known = np.flatnonzero(~np.isnan(places[:, 0]))
        return self.mission.world.sensor.near(self.row, known, places, told.range)

    def _announced_in_time(self, told: Told) -> bool:
        """Whether it knows where its in-neighbours will be, if it has to: it must not go by what they meant before."""
        if told.motion != "morph" or self.step < self.mission.launch:
            return True
        links = told.network.in_neighbors[self.agent].tolist()
        return all(self.mail.announced(self.step, link) is not None for link in links if link >= 0)

    def _announced(self, told: Told) -> Floats | None:
        if told.motion != "morph":
            return None
        found = np.full((1, 3, 2), np.nan)
        for slot, sender in enumerate(told.network.in_neighbors[self.agent].tolist()):
            if sender >= 0:
                found[0, slot] = self.mail.intents[sender][self.step]
        return found

    def _received(self, told: Told, triangle: Floats) -> Received:
        """What it was told of targets by those to whom it listens, and by its children."""
        nothing = TargetLists.empty(1)
        links = told.network.in_neighbors[self.agent].tolist()
        tells = [self._said(sender, "tells") or nothing for sender in links]
        senders = np.array([[0, 1, 2] if min(links) >= 0 else [-1] * 3])
        points, slots = told_in(_stacked(tells), senders, triangle)
        children = told.family.children[self.agent].tolist() if told.summary is not None else []
        said = [(self._said(child, "reports") or nothing) for child in children]
        reports = _stacked(said) if said else TargetLists.empty(0)
        whole = TargetLists.of(
            np.array([len(reports.names)]), reports.names, reports.points, reports.weights, reports.fresh
        )
        return Received(points, slots, whole, reports.owners)

    def _said(self, sender: int, what: str) -> TargetLists | None:
        heard = self.mail.last_by(self.step, sender)
        return None if heard is None else getattr(heard, what)


def _stacked(lists: list[TargetLists]) -> TargetLists:
    """Lists of one row each as one with as many rows."""
    names = ("names", "points", "weights", "fresh")
    columns = [np.concatenate([getattr(part, name) for part in lists]) for name in names]
    return TargetLists.of(np.array([len(part.names) for part in lists]), *columns)
