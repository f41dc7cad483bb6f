"""From what was said in a flight to a ``Run``: what a recorder that only listened knows.

Every agent says where it is at each step, what it did in the step before, how old what it heard was, and whom it took
for alive. That is all a run records. Steps of which an agent did not speak, as it was frozen, not yet there or gone:
it is taken to have stayed where it was last.

*Epochs.* What most of those who acted at a step were told is the present network of that step, and of the steps before
in which some went by it already. A belief that only some had is an epoch, too, so that ``believed`` can name it; the
present one then begins anew in the same step.

*Messages.* In a flight in which every message came in time, and nobody believed anything else than the mission says,
the run is one of a perfect world. Otherwise its world is one in which messages are late, by as many steps as they were.
Where the mission itself plays late messages, who has heard of which repair follows from the mission's draws.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import NO_CELL, Cells, Memory, Told
from tricover.control.hearing import HEARD, NOTHING
from tricover.control.sharing import PER_POINT, PER_POSITION
from tricover.errors import InputError
from tricover.fleet.flyable import cells_follow
from tricover.fleet.messages import Action, Command, Header, Memories, Message, Place
from tricover.fleet.networks import Key, Networks
from tricover.fleet.orders import with_targets
from tricover.simulation import Epoch, Mission, Run, State, Step, Transition
from tricover.simulation.hearing import listen, senders_of
from tricover.simulation.record import MemoryRecord
from tricover.simulation.store import Store, open_store
from tricover.simulation.tables import labels_of

__all__ = ["Tracks", "run_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


SLOWER = 32
"""Steps that somebody may be behind the fastest: each listener those of a lead."""


@dataclass(eq=False)
class Tracks:
    """What was said, sorted by agent and step.

    Attributes:
        mission: what is flown.
        places: the position at each step, by agent.
        actions: what each agent did at each step, and whom it took for alive, as bytes of (N,) truth values.
        told: how many points it told and reported at a step, by agent and step.
        memories: what agents remember in the end.
        told_to_end: the last step that each agent had spoken of when all were told to end. Who ends first is missed by
            the others, who then act in another network: that is no part of the flight any more.
    """

    mission: Mission
    places: dict[int, dict[int, tuple[float, float]]] = field(default_factory=dict)
    actions: dict[int, dict[int, tuple[Action, bytes]]] = field(default_factory=dict)
    told: dict[int, dict[int, tuple[int, int]]] = field(default_factory=dict)
    memories: dict[int, Memory] = field(default_factory=dict)
    told_to_end: dict[int, int] = field(default_factory=dict)

    def add(self, header: Header, message: Message) -> None:
        """Keep what a member said."""
        if isinstance(message, Command):
            if message.word == "targets":
                with suppress(InputError):  # agents do not follow it either
                    self.mission = with_targets(self.mission, message.values)
            if message.word in ("land", "end") and message.values.get("agents") is None and not self.told_to_end:
                self.told_to_end = {agent: self.last_step(agent) for agent in self.places}
        elif isinstance(message, Memories):
            self.memories[header.sender] = message.memory
        elif isinstance(message, Place):
            self._add(header.sender, header.step, message)

    def _add(self, agent: int, step: int, place: Place) -> None:
        places, living = self.places.setdefault(agent, {}), place.living.tobytes()
        for when, position, last in (*place.earlier, (step, place.position, place.last)):
            places[when] = position
            if last.step >= 0:
                self.actions.setdefault(agent, {})[last.step] = last, living
                places.setdefault(last.step + 1, position)  # it was there since, if it skipped some steps
        if place.tells is not None:
            reports = 0 if place.reports is None else len(place.reports.names)
            self.told.setdefault(agent, {})[step] = len(place.tells.names), reports

    def last_step(self, agent: int) -> int:
        """The last step that an agent has spoken of; -1: none."""
        return max(self.places.get(agent, {-1: None}))

    @property
    def steps(self) -> int:
        """How many steps are known of all who were still there in the end."""
        last = [self.last_step(agent) for agent in range(self.mission.agents)]
        newest = max(last, default=-1)
        if newest < 1:
            return 0
        # Who said farewell was there. Of the others, who has not said a word in the last quarter was gone: there was
        # time to notice. So is whom most of those who spoke had noticed to be gone, and who left as planned.
        expected = self.mission.present_at(newest - 1)
        latest = newest - max(newest // 4, SLOWER)
        spoke = [agent for agent, step in enumerate(last) if agent in self.memories or step >= latest]
        missed = self._missed_by_most(spoke)
        here = [agent for agent in spoke if agent in self.memories or not missed[agent]]
        there = [agent for agent in here if expected[agent] or last[agent] == newest]
        ends = [min(self._acted(agent), self.told_to_end.get(agent, newest)) for agent in there]
        end = max(min([*ends, self.mission.scenario.steps]), 0)
        # Where somebody was in the last steps may be lost. A record that ends a little earlier then knows of all.
        spoken = {agent: sorted(self.places[agent]) for agent in there}
        known = (
            step
            for step in range(end, max(end - SLOWER, 0), -1)
            if all(self._knows_place(agent, step, spoken[agent]) for agent in there)
        )
        return next(known, end)

    def _knows_place(self, agent: int, step: int, spoken: list[int]) -> bool:
        """Whether it is known where an agent was: it said so, or stood still between two steps of which it spoke.

        Who skips steps to catch up does stand still. It need not be taken for one whose words were lost.
        """
        places, after = self.places[agent], bisect_left(spoken, step)
        if step in places:
            return True
        return 0 < after < len(spoken) and places[spoken[after - 1]] == places[spoken[after]]

    def _missed_by_most(self, agents: list[int]) -> NDArray[np.bool_]:
        """Who is gone by what most of some agents believed last, (N,)."""
        last = [self.actions[agent][max(self.actions[agent])][1] for agent in agents if agent in self.actions]
        beliefs = np.frombuffer(b"".join(last), np.bool_).reshape(len(last), self.mission.agents)
        return np.asarray(2 * (~beliefs).sum(axis=0) > len(last))

    def _acted(self, agent: int) -> int:
        """The step up to which it is known what an agent did: its last words may say where it is, and no more."""
        return max(self.actions.get(agent, {-1: None})) + 1

    def positions(self, steps: int) -> Floats:
        """Where everybody was, (T + 1, N, 2)."""
        found = np.repeat(self.mission.start().positions[None], steps + 1, axis=0)
        for agent, places in self.places.items():
            spoken = sorted(places)
            for step, until in zip(spoken, [*spoken[1:], steps + 1], strict=True):
                found[step:until, agent] = places[step]
        return found


def run_of(tracks: Tracks, store: str | PathLike[str] | None = None, overwrite: bool = False) -> Run:
    """The run of a flight, in memory or stored."""
    steps = tracks.steps
    if not steps:
        raise InputError("nobody took a step: there is no run to record")
    positions = tracks.positions(steps)
    told, believed = _epochs(tracks, positions, steps)
    ages = _of_actions(tracks, steps, lambda action: action.ages, NOTHING, (3,), np.int32)
    mission = _recorded_mission(tracks, told, believed, ages, steps)
    flight = _Flight(tracks, mission, positions, ages, believed)
    begin = mission.start()
    if store is None:
        record: Any = MemoryRecord(begin)
    else:
        record = open_store(Path(store), mission, begin, False, 2.0, overwrite)
        assert isinstance(record, Store), "a new store"
    for step in flight.steps(begin):
        record.add(step)
    run = Run(mission, record)
    record.close(lambda: labels_of(run))
    return run


def _epochs(tracks: Tracks, positions: Floats, steps: int) -> tuple[list[Epoch], NDArray[np.int32]]:
    """The epochs of a flight, and which one everybody went by, (T, N)."""
    networks = Networks(tracks.mission)
    keys = [_keys_at(tracks, networks, step) for step in range(steps)]
    planned = [(which, one.present(tracks.mission.agents).tobytes()) for which, one in enumerate(tracks.mission.epochs)]
    played = _played(tracks.mission, positions, steps)
    found: list[tuple[int, Key]] = []
    believed = np.zeros((steps, tracks.mission.agents), np.int32)
    before = None
    for step, (known, present) in enumerate(zip(keys, _present(keys, networks), strict=True)):
        others = sorted(set(known.values()) - {present} - {key for _, key in found})
        found += [(step, key) for key in others]
        if others or present != before:
            found.append((step, present))
        before = present
        latest = {key: which for which, (_, key) in enumerate(found)}
        believed[step] = latest[present]
        for agent, key in known.items():
            believed[step, agent] = latest[key]
            if played is not None and networks.as_planned(key):
                believed[step, agent] = latest.get(planned[played[step, agent]], latest[key])
    return [_epoch(tracks, networks, which, one, positions, believed) for which, one in enumerate(found)], believed


def _present(keys: list[dict[int, Key]], networks: Networks) -> list[Key]:
    """The present network of each step: what most of those who acted were told; of equally many, what was before.

    It begins with the first who went on by it. The others heard of it late, as in a world with late messages.
    """
    present = networks.key(0, np.ones(networks.mission.agents, np.bool_))
    found: list[Key] = []
    for step, known in enumerate(keys):
        before, counts = present, Counter(known.values())
        present = max(counts, key=lambda key: (counts[key], key == before)) if counts else before
        found.append(present)
        while present != before and step and found[step - 1] == before and present in keys[step - 1].values():
            step -= 1
            found[step] = present
    return found


def _played(mission: Mission, positions: Floats, steps: int) -> NDArray[np.int32] | None:
    """The epoch of the mission that each agent had heard of, (T, N), where messages are played late; else None."""
    if mission.world.channel.perfect:
        return None
    begin = mission.start()
    memory = {name: begin.memory[name] for name in HEARD}
    post = begin.post
    sent = np.full((mission.world.channel.history + 1, mission.agents, 2), np.nan)
    found = np.zeros((steps, mission.agents), np.int32)
    for step in range(steps):
        sent = np.concatenate([positions[step][None], sent[:-1]])
        if step > 0:  # the start knows what was heard at step 0
            memory, post = listen(mission, step, sent, memory, post)
        found[step] = memory["believed"]
    return found


def _keys_at(tracks: Tracks, networks: Networks, step: int) -> dict[int, Key]:
    """What each agent that acted at a step was told, as far as there was a network."""
    found = {}
    for agent, actions in tracks.actions.items():
        if step in actions:
            key = networks.key(step, np.frombuffer(actions[step][1], np.bool_))
            if networks.told(key) is not None:
                found[agent] = key
    return found


def _epoch(
    tracks: Tracks, networks: Networks, which: int, one: tuple[int, Key], positions: Floats, believed: NDArray[np.int32]
) -> Epoch:
    """An epoch as it was flown. Anchors without a given place stayed where they were when they heard of it."""
    start, key = one
    own = tracks.mission.epochs[key[0]]
    told = networks.told(key)
    assert told is not None
    if networks.as_planned(key) and start == own.start:
        return own
    if np.isnan(told.paths).any():
        stood = positions[start].copy()
        for agent in told.network.anchors:
            heard = np.flatnonzero(believed[:, agent] == which)
            stood[agent] = positions[heard[0] if heard.size else start, agent]
        told = replace(told, paths=told.paths_from(stood))
    return Epoch(start, told)


def _recorded_mission(
    tracks: Tracks, epochs: list[Epoch], believed: NDArray[np.int32], ages: NDArray[np.int32], steps: int
) -> Mission:
    """The mission as it was flown: with the epochs that there were, and late messages if some were."""
    mission = tracks.mission
    scenario = mission.scenario
    oldest = max(int(ages.max(initial=0)), _longest_wait(mission, ages))
    planned = [epoch for epoch in mission.epochs if epoch.start < steps]
    as_planned = len(epochs) == len(planned) and all(
        mine.start == own.start and mine.told is own.told for mine, own in zip(epochs, planned, strict=True)
    )
    if as_planned:
        epochs = list(mission.epochs)
    in_time = as_planned and _all_in_time(mission, ages, believed)
    if mission.world.channel.perfect and not in_time:
        with suppress(InputError):  # a run with this motion or sight has no late messages: who heard nothing held
            scenario = scenario.replace(world={"delay": [0, max(oldest, 1)]})
    return Mission.with_epochs(scenario, epochs, mission.ground)


def _longest_wait(mission: Mission, ages: NDArray[np.int32]) -> int:
    """For how many steps in a row somebody who listens to others did not act on what it heard."""
    waited = np.zeros(ages.shape[1:], np.int64)
    longest = 0
    for step, age in enumerate(ages):
        network = mission.epoch_at(step).network
        listens = np.zeros(len(age), np.bool_)
        listens[network.followers] = step >= mission.launch
        waited = np.where((age == NOTHING) & listens[:, None], waited + 1, 0)
        longest = max(longest, int(waited.max(initial=0)))
    return longest


def _all_in_time(mission: Mission, ages: NDArray[np.int32], believed: NDArray[np.int32]) -> bool:
    """Whether every follower acted on messages of the same step, in the network of that step."""
    for step, (age, belief) in enumerate(zip(ages, believed, strict=True)):
        network = mission.epoch_at(step).network
        now = max(which for which, epoch in enumerate(mission.epochs) if epoch.start <= step)
        followers = network.followers if step >= mission.launch else network.followers[:0]
        if age[followers].any() or (belief[network.layer.nonzero()[0]] != now).any():
            return False
    return True


def _of_actions(tracks: Tracks, steps: int, value: Any, missing: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A value of all actions as an array (T, N, …)."""
    found = np.full((steps, tracks.mission.agents, *shape), missing, dtype)
    for agent, actions in tracks.actions.items():
        for step, (action, _) in actions.items():
            if step < steps:
                found[step, agent] = value(action)
    return found


@dataclass(eq=False)
class _Flight:
    """Arrays of a flight, and the steps that they make up."""

    tracks: Tracks
    mission: Mission
    positions: Floats
    ages: NDArray[np.int32]
    believed: NDArray[np.int32]

    def steps(self, begin: State) -> Iterable[Step]:
        """The steps of the run, from its beginning on."""
        tracks, mission = self.tracks, self.mission
        count = len(self.ages)
        cells = _of_actions(tracks, count, lambda action: action.cells, NO_CELL, (3,), np.int32)
        misses = _of_actions(tracks, count, lambda action: action.miss, 0.0, (), np.float64)
        weights = _of_actions(tracks, count, lambda action: action.weights, np.nan, (3,), np.float64)
        settled = _of_actions(tracks, count, lambda action: action.settled, False, (), np.bool_)
        offs = _of_actions(tracks, count, lambda action: action.off, 0.0, (), np.float64)
        follow = cells_follow(tracks.mission)
        morphs = mission.scenario.control.motion == "morph"
        memory = self._memory(begin)
        for step in range(count):
            epoch = mission.epoch_at(step)
            present = epoch.present(mission.agents)
            launching = step < mission.launch
            arrived = bool(settled[step, present].all()) and not launching
            cell = None if follow else Cells(*(cells[step, :, which].copy() for which in range(3)))
            transition = Transition(
                epoch,
                present,
                self.positions[step],
                self.positions[step + 1],
                cell,
                misses[step],
                arrived,
                weights[step] if morphs and not launching else None,
                launching,
                {} if mission.world.channel.perfect else self._heard(step),
                self._numbers(step, epoch.told) if mission.world.counted else None,
            )
            state = State(
                step + 1,
                self.positions[step + 1],
                begin.vehicles,
                mission.present_at(step + 1),
                memory,
                begin.sent,
                begin.post,
            )
            depth = epoch.network.depth
            waiting = epoch.network.layer[np.flatnonzero(present & ~settled[step])[: len(epoch.network)]]
            yield Step(state, transition, int(waiting.min(initial=depth + 1)), depth, float(offs[step].max()))

    def _heard(self, step: int) -> Memory:
        """What everybody had heard, by what it said of how old that was."""
        mission, ages = self.mission, self.ages[step]
        senders = senders_of(mission, step, self.believed[step])
        known = (senders >= 0) & (ages != NOTHING)
        places = self.positions[np.where(known, step - ages, 0), np.where(known, senders, 0)]
        heard = np.where(known[..., None], places, np.nan)
        return {"heard": heard, "ages": np.where(senders >= 0, ages, NOTHING), "believed": self.believed[step]}

    def _numbers(self, step: int, told: Told) -> Ints:
        """How many numbers everybody sent."""
        found = np.zeros(self.mission.agents, np.int64)
        for agent, counts in self.tracks.told.items():
            if step in counts and agent < len(told.network) and told.network.layer[agent] >= 0:
                tells, reports = counts[step]
                heard, parent = told.family.heard[agent], told.family.parents[agent] >= 0
                reports = 1 if told.summary == "sums" else reports
                points = tells * heard + (reports * parent if told.summary is not None else 0)
                found[agent] = PER_POSITION + PER_POINT * points
        return found

    def _memory(self, begin: State) -> Memory:
        """What everybody remembers in the end, as far as it said so."""
        found = {name: rows.copy() for name, rows in begin.memory.items()}
        for agent, memory in self.tracks.memories.items():
            for name, rows in memory.items():
                if name in found and rows.shape == found[name][agent : agent + 1].shape:
                    found[name][agent] = rows[0]
        return found
