"""``Mission``: a scenario resolved. Files are read, points are made, networks are built: all that a run depends on.

A mission has *epochs*: a network and what the agents are told, from a step on. A new epoch begins when agents leave or
join, and the network is repaired. Numbers never change their owner: the lost keep theirs, and those who join take the
next ones. All arrays of a run have room for the final roster of N agents; ``present`` says who takes part. Those who
do not take part stand, in the arrays, where they were last seen or where they will join.

Before the first network is used there may be a *launch*, see ``launch``: the flight from the pads. Paths of anchors
begin after it, and agents leave or join no sooner. Targets move by the clock of the run, from step 0 on.

Anchors after a repair: one that has a given place keeps it. An agent that becomes an anchor and has none stays where
it stands at that moment (with no places given at all, or fitted ones, everybody's place is defined anyway).

With the motion ``morph`` networks after an event are built from where the living stand, see ``morphing``. A team that
plans by itself, or polishes its places, has more epochs than events, see ``phases``.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import Memory, Told, memory_of
from tricover.control.hearing import nothing_heard
from tricover.errors import FileFormatError, InputError, shown
from tricover.formats import Projection
from tricover.formats.plain_json import parsed
from tricover.goals.cellplan import Messages
from tricover.network import Network
from tricover.simulation.hearing import listen, no_post
from tricover.simulation.resolve import Ground, ground_of, still_from
from tricover.simulation.scenario import Scenario
from tricover.simulation.state import State
from tricover.simulation.telling import has_phases, homes_of, joins_of, paths_of, roster_of, told_of, tolerance_of
from tricover.simulation.zones import check_zones
from tricover.targets import Targets
from tricover.vehicles import Vehicle, lands, ranges
from tricover.world import KeepApart, Scene, World

if TYPE_CHECKING:
    from tricover.simulation.step import Step

__all__ = [
    "Epoch",
    "Mission",
    "Played",
    "as_mission",
    "epoch_at",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Epoch:
    """A network and what agents are told, from a step on.

    Attributes:
        start: its first step.
        told: the network, and all else that agents are told.
        messages: what was said to agree on it, where it was planned; else None.
    """

    start: int
    told: Told
    messages: Messages | None = None

    def __repr__(self) -> str:
        return f"<Epoch from step {self.start} on: {self.network}>"

    @property
    def network(self) -> Network:
        """Who listens to whom."""
        return self.told.network

    def present(self, agents: int) -> Flags:
        """Which of so many agents take part, (N,)."""
        present = np.zeros(agents, np.bool_)
        present[: len(self.network)] = self.network.layer >= 0
        return present


@dataclass(frozen=True, eq=False)
class Played:
    """What a part of a team is told of the rest: its agents' own numbers, and the ways of those it does not move.

    Attributes:
        numbers: of all rows in the whole team, (N,): by these agents draw their random numbers.
        rows: of agents whose ways are known already, (K,): the corners of the part's cells.
        ways: where they are, (S + 1, K, 2), from step ``first`` on; they stay at the last place.
        first: the step that the ways begin at.
    """

    numbers: NDArray[np.int64]
    rows: NDArray[np.int64]
    ways: Floats
    first: int

    @property
    def last(self) -> int:
        """The step from which on they stay where they are."""
        return self.first + len(self.ways) - 1

    def places(self, step: int) -> Floats:
        """Where they are at a step, (K, 2)."""
        return np.asarray(self.ways[min(step - self.first, len(self.ways) - 1)])


@dataclass(frozen=True, eq=False, repr=False)
class Mission:
    """A scenario resolved; read-only, and it can be pickled.

    Attributes:
        scenario: as it was given.
        ground: the team at the start and the targets, as arrays.
        vehicle: of the final roster.
        epochs: in order; the first begins at step 0.
        world: what lies between the agents and the truth.
        flown: the first steps, where these had to be taken to find the epochs: a cache, nothing follows from it.
        played: where the mission is that of a part of a team, what it is told of the rest; else None.
    """

    scenario: Scenario
    ground: Ground
    vehicle: Vehicle
    epochs: tuple[Epoch, ...]
    world: World = field(default_factory=World)
    flown: "tuple[Step, ...]" = ()
    played: Played | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the cache: steps need not travel."""
        return {**vars(self), "flown": ()}

    def __repr__(self) -> str:
        epochs = "1 epoch" if len(self.epochs) == 1 else f"{len(self.epochs)} epochs"
        return f"<Mission {self.scenario.name!r}: {self.agents} agents, {len(self.targets)} targets, {epochs}>"

    @classmethod
    def of(cls, scenario: Scenario) -> "Mission":
        """Resolve a scenario; what cannot be is an error that names the key."""
        if not isinstance(scenario, Scenario):
            raise InputError(
                f"simulate and steps take a Scenario, not {type(scenario).__name__}: Scenario.load reads a file"
            )
        ground = ground_of(scenario)
        flown: tuple[Step, ...] = ()
        if has_phases(scenario):
            from tricover.simulation.phases import flown_epochs  # here, as it takes steps

            epochs, flown = flown_epochs(scenario, ground)
        else:
            networks = homes_of(scenario, ground)
            used = [(max(start, ground.launch), one) for start, one in networks]
            paths = paths_of(scenario, ground.targets, used)
            parts = zip(networks, paths, strict=True)
            epochs = [Epoch(start, told_of(scenario, one, path, ground)) for (start, one), path in parts]
        joining = [join.places for join in joins_of(scenario)]
        if ground.zones is not None and scenario.control.motion != "morph":
            begin = ground.reference if ground.launch else ground.start
            check_zones([(epoch.start, epoch.told) for epoch in epochs], np.concatenate([begin, *joining]))
        return replace(cls.with_epochs(scenario, epochs, ground), flown=flown)

    @classmethod
    def with_epochs(cls, scenario: Scenario, epochs: Sequence[Epoch], ground: Ground | None = None) -> "Mission":
        """The mission of a scenario whose epochs are known: no network is built."""
        ground = ground or ground_of(scenario)
        team = scenario.vehicle.team(_agents(scenario, ground))
        return cls(scenario, ground, team, tuple(epochs), _world_of(scenario, epochs, team))

    @property
    def agents(self) -> int:
        """N, the final roster."""
        return _agents(self.scenario, self.ground)

    @property
    def launch(self) -> int:
        """K: steps of the flight from the pads, before the network is used; 0 if there is none."""
        return self.ground.launch

    @property
    def pads(self) -> NDArray[np.int64] | None:
        """Row of the pads, as they were given, that each agent of the start has, (N,); None if there are no pads."""
        return self.ground.pads

    @property
    def projection(self) -> Projection | None:
        """The plane of all positions, where they are on earth."""
        return self.ground.projection

    @property
    def targets(self) -> Targets:
        """The targets over time."""
        return self.ground.targets

    @cached_property
    def targets_still_from(self) -> int:
        """The step from which on targets stand still, at the latest the last of the run."""
        return still_from(self.targets, self.scenario.steps)

    def targets_at(self, step: int) -> Targets:
        """The targets as they are at a step."""
        return self.targets.at(min(step, self.targets_still_from))

    def scene_at(self, step: int) -> Scene:
        """The targets as they are at a step, with their numbers."""
        return Scene(step, self.targets_at(step), self.targets.present(min(step, self.targets_still_from)))

    @cached_property
    def exact(self) -> Flags:
        """Which agents (N,) always land in the middle of their reach set: the middle is all they are told."""
        return lands(self.vehicle, self.agents, "centre")

    @cached_property
    def longest_moves(self) -> Floats:
        """Metres (N,) that agents are let go in a step where they keep apart: what they can, and what is allowed."""
        scenario = self.scenario
        speed = np.inf if scenario.control.speed is None else scenario.control.speed
        return np.minimum(ranges(self.vehicle, self.agents, scenario.vehicle.duration), speed)

    @property
    def tolerance(self) -> float:
        """Metres within which an agent counts as at a point: by default nothing where nobody misses."""
        return tolerance_of(self.scenario, self.vehicle)

    @property
    def last_change(self) -> int:
        """The step from which on nothing comes from outside any more: no event, no target or anchor on its way."""
        last = self.epochs[-1]
        played = 0 if self.played is None else self.played.last
        return max(last.start, self.launch + len(last.told.paths) - 1, self.targets_still_from, played)

    @property
    def quiet_steps(self) -> int:
        """For how many steps everybody has to be at its goal before nothing can change any more, but for one.

        A change goes down a layer in a step. Where agents see only so far, what follows from it is reported upwards a
        layer a step, and may change what comes down. With the goal "descent" everybody must have had its turn.
        """
        last = self.epochs[-1].told
        if last.goal == "descent":
            return last.round
        return last.network.depth if self.world.sensor.sees_all else 2 * last.network.depth + 1

    def epoch_at(self, step: int) -> Epoch:
        """The epoch that a step belongs to."""
        return epoch_at(self.epochs, step)

    def present_at(self, step: int) -> Flags:
        """Who takes part from a step on, (N,); after the last step, who took part in it."""
        last = max(self.scenario.steps - 1, 0)
        return self.epoch_at(min(step, last)).present(self.agents)

    def start(self) -> State:
        """Everybody at rest at step 0."""
        joining = [join.places for join in joins_of(self.scenario)]
        positions = np.concatenate([self.ground.start, *joining])
        sent = np.full((self.world.channel.history, self.agents, 2), np.nan)
        memory = self.memory_at(positions)
        post: Memory = {}
        if not self.world.channel.perfect:
            heard, post = listen(self, 0, np.concatenate([positions[None], sent]), memory, no_post(self))
            memory = {**memory, **heard}
        vehicles = self.vehicle.initial_state(positions)
        return State(0, positions, vehicles, self.present_at(0), memory, sent, post)

    def memory_at(self, positions: Floats) -> Memory:
        """What agents at positions (A, 2) remember when an epoch begins: all that any epoch needs."""
        heard = {} if self.world.channel.perfect else nothing_heard(len(positions))
        return heard | {name: rows for epoch in self.epochs for name, rows in memory_of(epoch.told, positions).items()}

    def self_contained(self) -> Scenario:
        """The scenario with all positions in it instead of files and generators."""
        return self.scenario.self_contained(self.ground)

    def to_json(self) -> str:
        """The mission as a JSON text, networks included: what a process on another machine has to be given."""
        epochs = [{"start": epoch.start, "told": json.loads(epoch.told.to_json())} for epoch in self.epochs]
        scenario = self.self_contained().to_dict()
        return json.dumps({"scenario": scenario, "epochs": epochs}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Mission":
        """The mission of a text from ``to_json``: no network is built anew."""
        try:
            plain = parsed(text)
            scenario = Scenario(**plain["scenario"])
            epochs = [Epoch(part["start"], Told.from_json(json.dumps(part["told"]))) for part in plain["epochs"]]
            starts = [epoch.start for epoch in epochs]
            if any(type(start) is not int for start in starts) or starts[:1] != [0] or sorted(set(starts)) != starts:
                raise ValueError(f"its epochs begin at {shown(starts)}: give whole steps, ascending from 0 on")
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise FileFormatError(f"this is not the text of a mission ({type(error).__name__}: {error})") from None
        mission = cls.with_epochs(scenario, epochs)
        roster = roster_of(scenario, mission.ground.reference)
        for epoch in epochs:
            if has_phases(scenario) and (epoch.start or scenario.control.motion != "morph"):
                continue  # networks of where the team stood, or of its own plans
            if not np.array_equal(epoch.network.reference, roster[: len(epoch.network)]):
                raise FileFormatError(f"the network from step {epoch.start} on is not that of the scenario's team")
            if epoch.told.launch != mission.launch:
                raise FileFormatError(f"its agents launch for {epoch.told.launch} steps, the team for {mission.launch}")
        return mission


def _world_of(scenario: Scenario, epochs: Sequence[Epoch], vehicle: Vehicle) -> World:
    """What lies between the agents and the truth. Those who morph are told by their weights to keep apart."""
    told, world = epochs[0].told, World(scenario.world.channel(scenario.seed), scenario.world.sensor(scenario.seed))
    if told.separation is None or told.motion == "morph":
        return world
    return replace(world, clearance=KeepApart(told.separation, together=vehicle.landing != "anywhere"))


def as_mission(given: Scenario | Mission) -> Mission:
    """A mission as it is, or that of a scenario."""
    return given if isinstance(given, Mission) else Mission.of(given)


def epoch_at(epochs: Sequence[Epoch], step: int) -> Epoch:
    """The last of the epochs that has begun by a step."""
    return [epoch for epoch in epochs if epoch.start <= step][-1]


def _agents(scenario: Scenario, ground: Ground) -> int:
    return len(ground.reference) + sum(len(join.reference) for join in scenario.events.join)
