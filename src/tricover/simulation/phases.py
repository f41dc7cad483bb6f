"""Epochs that are known only by flying: of teams that plan by themselves, polish their places, or morph.

A team may have *phases* within an epoch of events:

    base     its goal rule. With ``cellplan``: the plan of the living (``goals.cellplan``), which it then holds
    polish   ``control.polish`` steps of Lloyd in the triangle or of descent, from when everybody is at its goal
    hold     everybody keeps the weights with which it stands by then, as with the goal ``reference``

Each is an epoch of its own, with its network, goal and places of anchors. In the polish anchors are free, unless they
have given places, or the team morphs by Lloyd in the triangle. That everybody is at its goal is reported up the layers,
one layer a step: so the polish begins ``depth`` steps later. As long as targets move, it goes on and follows them. In
its last ``depth`` steps everybody stays who is in its triangle, so that all are when the team has come to rest.

*Plans anew.* Agents that leave or join begin a new base. So does, with ``cellplan``, ``control.replan``:

- { cost = ratio }: everybody knows the cost of its own Voronoi cell, and reports the sum of its subtree up the layers.
  So the core knows the coverage cost, ``depth`` steps late. A plan is made where it exceeds the least one since the
  last plan, or what that had promised, by the ratio;
- { share = s }: the highest agent of each first cell of the plan tells the core the spread of its cone. A plan is made
  where these ask for other numbers of followers than then, and a share s of them would go to another first cell;
- a number of steps: so long after the last plan, whatever phase it is, as long as targets move now or later.

Where messages are late or lost, nobody knows when all have arrived, nor the cost. Then there is no polish, and plans
are made at the start, at events and by the clock, from where everybody should be.

Resolving such a scenario takes its steps up to the last epoch. They are kept, so that a run need not take them again.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tricover.control import Told
from tricover.errors import InputError
from tricover.goals.cellplan import cell_plan, followers_wanted, phase_messages
from tricover.network import Network
from tricover.network.roster import told_apart
from tricover.simulation.incremental import Incremental
from tricover.simulation.mission import Epoch, Mission
from tricover.simulation.morphing import AnchorWays, first_network, network_at
from tricover.simulation.resolve import Ground, still_from
from tricover.simulation.scenario import Scenario
from tricover.simulation.state import State
from tricover.simulation.step import Step, advance
from tricover.simulation.telling import homes_of, joins_of, paths_of, polish_of, told_of
from tricover.targets.placing import mean_square

__all__ = ["flown_epochs"]

Floats = NDArray[np.float64]

_BASE, _POLISH, _HOLD = range(3)
KEPT = 1 << 22
"""Steps times agents that are kept to be taken once: 64 MB of positions. Longer flights are flown again by the run."""


def flown_epochs(scenario: Scenario, ground: Ground) -> tuple[list[Epoch], tuple[Step, ...]]:
    """The epochs of a scenario that has phases, or whose team morphs, and the steps up to the last of them."""
    if not scenario.world.channel(scenario.seed).perfect:
        return _by_the_clock(scenario, ground), ()
    flight = _Flight(scenario, ground)
    return flight.epochs, flight.taken()


def _by_the_clock(scenario: Scenario, ground: Ground) -> list[Epoch]:
    """The epochs of a team that plans where messages are late or lost."""
    homes = homes_of(scenario, ground)
    clock, still = scenario.control.replan, still_from(ground.targets, scenario.steps)
    starts = {start for start, _ in homes}
    if isinstance(clock, int):
        starts |= set(range(clock, min(still + clock, scenario.steps), clock))
    epochs: list[Epoch] = []
    places = ground.start
    for step in sorted(starts):
        home = [network for start, network in homes if start <= step][-1]
        joined = home.reference[len(places) :]
        places = np.concatenate([places, joined])
        before = epochs[-1].network if epochs and len(epochs[-1].network) == len(home) else home
        epoch = _planned(scenario, ground, homes, step, before, places)
        places = np.where((home.layer >= 0)[:, None], epoch.network.reference, places)
        epochs.append(epoch)
    return epochs


def _planned(
    scenario: Scenario,
    ground: Ground,
    homes: list[tuple[int, Network]],
    step: int,
    present: Network,
    positions: Floats,
) -> Epoch:
    """The epoch of a cell plan that is made at a step, with everybody at positions (N, 2)."""
    home = [network for start, network in homes if start <= step][-1]
    targets = ground.targets.at(min(step, still_from(ground.targets, scenario.steps)))
    if (present.layer < 0).tolist() != (home.layer < 0).tolist():  # somebody left: the roster says who speaks
        present = home
    given = None
    if scenario.anchors is not None:
        given = paths_of(scenario, ground.targets, [(0, homes[0][1]), (step, home)])[1]
    places = None if given is None else _at(given, step, home)
    if places is not None and len(np.unique(places, axis=0)) < len(places):
        raise InputError(
            "anchors: two of them have the same place, and the goal cellplan puts a cell between every two of them and "
            "the core: give each a place of its own"
        )
    plan = cell_plan(present, home, positions[: len(home)], targets, places)
    paths = plan.network.reference[None, plan.network.anchors] if given is None else given
    return Epoch(step, told_of(scenario, plan.network, paths, ground, goal="reference"), plan.messages)


def _at(paths: Floats, step: int, network: Network) -> Floats:
    """The places (A, 2) of paths (K, A, 2) at a step; of who has none, its reference position."""
    places = paths[min(step, len(paths) - 1)]
    return np.where(np.isnan(places), network.reference[network.anchors], places)


class _Flight:
    """A flight from step 0 on that finds the epochs."""

    def __init__(self, scenario: Scenario, ground: Ground) -> None:
        self.scenario, self.ground = scenario, ground
        self.plans = scenario.control.goal == "cellplan"
        self.morphs = scenario.control.motion == "morph"
        self.rule, self.longest = polish_of(scenario, len(ground.reference))
        self.homes = [] if self.morphs else homes_of(scenario, ground)
        events = scenario.events
        self.events = sorted({leave.step for leave in events.leave} | {join.step for join in events.join})
        self.still_from = still_from(ground.targets, scenario.steps)
        self.state: State
        self.mission: Mission
        self.epochs: list[Epoch] = []
        self.phase, self.due, self.least = _BASE, -1, np.inf
        self._decide = Incremental()
        self._last: Step
        self._steps: list[Step] = []
        self._open()
        while self.state.step < scenario.steps and not self._over():
            self._after(self._step())
            if (len(self._steps) + 1) * self.mission.agents <= KEPT:
                # As in a run that knows from the start that more is to come.
                self._steps.append(replace(self._last, state=replace(self.state, quiet=0, still=False)))
        for step in self.events:
            if step >= scenario.steps:  # what comes after the end is never flown
                self._add(self._after_event(step), _BASE)

    def taken(self) -> tuple[Step, ...]:
        """The steps up to the last epoch, as a run takes them that knows all epochs; none where that would differ."""
        names = self.mission.start().memory.keys()
        steps = [step for step in self._steps if step.step <= self.epochs[-1].start]
        whole = len(steps) == self.epochs[-1].start  # none of them was left out
        return tuple(steps) if whole and all(step.state.memory.keys() == names for step in steps) else ()

    def _step(self) -> Step:
        """The next step; where nothing changes before the next event, the one just before it."""
        ahead = [step for step in self.events if self.state.step < step < self.scenario.steps]
        if self.state.still and self.due < 0 and self.phase != _POLISH and ahead:
            self.state = replace(self.state, step=ahead[0] - 1)
        return advance(self.mission, self.state, self._decide)

    def _open(self) -> None:
        """The first epoch."""
        start = np.concatenate([self.ground.start, *(join.places for join in joins_of(self.scenario))])
        if self.morphs:
            network = first_network(self.scenario, self.ground)
            self.ways = AnchorWays(self.scenario, self.ground, network)
            begin = self.ground.reference if self.scenario.formation.assign else self.ground.start
            paths = self.ways.after(0, network, begin)
            epoch = Epoch(0, told_of(self.scenario, network, paths, self.ground))
        elif self.plans and not self.ground.launch:
            home = self.homes[0][1]
            epoch = _planned(self.scenario, self.ground, self.homes, 0, home, start)
        else:
            epoch = self._of_roster(0, "reference" if self.plans else None)
        mission = Mission.with_epochs(self.scenario, [epoch], self.ground)
        self.state = mission.start()
        self._add(epoch, _BASE)
        if self.morphs and 0 in self.events:
            self._add(self._after_event(0), _BASE)

    def _of_roster(self, step: int, goal: str | None = None) -> Epoch:
        """An epoch with the network of the roster."""
        home = [network for start, network in self.homes if start <= step][-1]
        used = [(0, self.homes[0][1]), (max(step, self.ground.launch), home)]
        paths = paths_of(self.scenario, self.ground.targets, used)[1]
        return Epoch(step, told_of(self.scenario, home, paths, self.ground, goal=goal))

    def _add(self, epoch: Epoch, phase: int) -> None:
        """Go on with another epoch; what was known only of the one before is forgotten."""
        self.epochs = [*self.epochs, epoch]
        self.mission = Mission.with_epochs(self.scenario, self.epochs, self.ground)
        present = self.mission.present_at(self.state.step)
        self.state = replace(self.state, present=present, quiet=0, still=False)
        self.phase, self.due = phase, -1
        if phase == _BASE:
            self.begun, self.least = epoch.start, np.inf
            if self._watches and not self._clock:
                self.plan = epoch.network
                self.least = self._cost(self.plan.reference[self.plan.layer >= 0])
                self.wanted = self._wanted()

    def _over(self) -> bool:
        """Whether no other epoch can come."""
        step = self.state.step
        if any(step < event < self.scenario.steps for event in self.events) or self.due >= 0:
            return False
        if self.plans and step < self.ground.launch:
            return False
        if not self._watches:
            return self.phase == _HOLD or (self.phase == _BASE and not self.longest)
        return not self._clock and self.phase == _HOLD and step > self.still_from

    @property
    def _watches(self) -> bool:
        """Whether a plan may be made anew: targets have moved since the last, or will."""
        return self.plans and self.scenario.control.replan != "never" and self.still_from > self.begun

    @property
    def _clock(self) -> bool:
        return isinstance(self.scenario.control.replan, int)

    @property
    def _depth(self) -> int:
        return self.epochs[-1].network.depth

    def _after(self, step: Step) -> None:
        """Begin another epoch after a step, if there is to be one."""
        self._last, self.state, now = step, step.state, step.step
        assert step.transition is not None
        if now >= self.scenario.steps:
            return
        if now in self.events:
            self._add(self._after_event(now), _BASE)
        elif (self.plans and now == self.ground.launch) or (self._clock and self._replans(now)):
            self._add(self._plan(now), _BASE)
        elif self.due == now:
            self._next_phase(now)
        elif self.due < 0 and self._replans(now):
            self.due, self._next_phase = now + self._depth, lambda at: self._add(self._plan(at), _BASE)
        elif self.due < 0 and self.phase == _BASE and step.transition.settled:
            if self.longest:
                self.due, self._next_phase = now + self._depth, self._begin_polish
            else:
                self.phase = _HOLD
        elif self.phase == _POLISH and now >= self.until + self._depth:
            self._add(self._held(now), _HOLD)

    _next_phase: Callable[[int], None]

    def _plan(self, step: int) -> Epoch:
        network = self.epochs[-1].network
        return _planned(self.scenario, self.ground, self.homes, step, network, self.state.positions)

    def _after_event(self, step: int) -> Epoch:
        """The base epoch of those who live after the events of a step."""
        if not self.morphs:
            return self._plan(step) if self.plans else self._of_roster(step)
        network = self.epochs[-1].network
        try:
            network = network_at(self.scenario, step, network, self.state.positions)
            paths = self.ways.after(self.state.step, network, self.state.positions)
            return Epoch(step, told_of(self.scenario, network, paths, self.ground))
        except InputError as error:
            raise type(error)(f"events at step {step}: {error}") from None

    def _begin_polish(self, step: int) -> None:
        """The epoch in which agents go by their Voronoi cells."""
        self.until = max(step, self.still_from) + self.longest
        told = replace(self.epochs[-1].told, goal=self.rule, free=self._free, until=self.until)
        self._add(Epoch(step, self._standing(told), phase_messages(told.network)), _POLISH)

    @property
    def _free(self) -> bool:
        """Whether anchors have no places of their own in the polish."""
        given = self.scenario.anchors
        return (given is None or given.fit) and (not self.morphs or self.rule == "descent")

    def _standing(self, told: Told) -> Told:
        """With anchors where they stand, unless they have given places."""
        given = self.scenario.anchors
        if given is not None and not given.fit and not self.morphs:
            return told
        return replace(told, paths=self.state.positions[None, told.network.anchors])

    def _held(self, step: int) -> Epoch:
        """The epoch in which everybody keeps the weights with which it stands."""
        told = self.epochs[-1].told
        here = self.state.positions[: len(told.network)]
        network = replace(told.network, reference=told_apart(here, np.ones(len(here), np.bool_)))
        return Epoch(step, self._standing(replace(told, network=network, goal="reference", free=False, until=None)))

    def _replans(self, step: int) -> bool:
        """Whether a plan is to be made anew."""
        replan = self.scenario.control.replan
        if not self._watches:
            return False
        if isinstance(replan, int):
            return step - self.begun >= replan
        assert isinstance(replan, dict)
        if self.phase == _BASE or (self.phase == _HOLD and step > self.still_from + 1):
            return False
        now = self._cost(self.state.positions[self.state.present])
        worse = now > replan.get("cost", np.inf) * self.least
        self.least = min(self.least, now)
        return bool(worse) or self._misplaced() >= replan.get("share", np.inf)

    def _misplaced(self) -> float:
        """The share of the followers who would be of more use in another first cell than when the plan was made."""
        moved = float(np.abs(self._wanted() - self.wanted).sum()) / 2
        return moved / max(float(self.wanted.sum()), 1.0)

    def _wanted(self) -> NDArray[np.int64]:
        """How many followers (H,) the first cells of the last plan ask for now."""
        network, targets = self.plan, self.mission.targets_at(self.state.step)
        anchors = network.reference[network.boundary], network.reference[network.core]
        return followers_wanted(targets, *anchors, len(network.followers))

    def _cost(self, places: Floats) -> float:
        """The coverage cost of agents at places (L, 2) at this step; infinite where there are no targets."""
        points, weights = self.mission.targets_at(self.state.step).weighed()
        return mean_square(places, points, weights) if len(points) else np.inf
