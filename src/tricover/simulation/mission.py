"""``Mission``: a scenario resolved. Files are read, points are made, networks are built: all that a run depends on.

A mission has *epochs*: a network and what the agents are told, from a step on. A new epoch begins when agents leave or
join, and the network is repaired. Numbers never change their owner: the lost keep theirs, and those who join take the
next ones. All arrays of a run have room for the final roster of N agents; ``present`` says who takes part. Those who
do not take part stand, in the arrays, where they were last seen or where they will join.

Before the first network is used there may be a *launch*, see ``launch``: the flight from the pads. Paths of anchors
begin after it, and agents leave or join no sooner. Targets move by the clock of the run, from step 0 on.

Anchors after a repair: one that has a given place keeps it. An agent that becomes an anchor and has none stays where
it stands at that moment (with no places given at all, or fitted ones, everybody's place is defined anyway).

With the motion ``morph`` networks after an event are built from where the living stand, see ``morphing``.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tricover.control import Memory, Told, memory_of
from tricover.control.hearing import nothing_heard
from tricover.control.told import RECALL
from tricover.errors import FileFormatError, InputError, shown
from tricover.formats import Projection
from tricover.formats.plain_json import parsed
from tricover.goals.anchors import anchor_positions
from tricover.network import Network, build_network
from tricover.simulation.hearing import listen, no_post
from tricover.simulation.resolve import Ground, ground_of, still_from
from tricover.simulation.scenario import Scenario
from tricover.simulation.sections import Join
from tricover.simulation.state import State
from tricover.simulation.zones import check_zones
from tricover.targets import Targets
from tricover.vehicles import Vehicle, lands, ranges
from tricover.world import KeepApart, Scene, World

__all__ = ["Epoch", "Mission", "as_mission", "epoch_at", "paths_of", "roster_of", "told_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CLOSE = 0.05
"""Metres within which a vehicle that may miss counts as at a point, unless the scenario says otherwise.

Three times what crazyflies keep: after four steps of 2 s at a goal point up to 2.8 m away, the worst of 200 was within
0.010 m of it in still air, and within 0.016 m in wind of 2 m/s with gusts of 0.5 m/s.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Epoch:
    """A network and what agents are told, from a step on."""

    start: int
    told: Told

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


@dataclass(frozen=True, eq=False, repr=False)
class Mission:
    """A scenario resolved; read-only, and it can be pickled.

    Attributes:
        scenario: as it was given.
        ground: the team at the start and the targets, as arrays.
        vehicle: of the final roster.
        epochs: in order; the first begins at step 0.
        world: what lies between the agents and the truth.
    """

    scenario: Scenario
    ground: Ground
    vehicle: Vehicle
    epochs: tuple[Epoch, ...]
    world: World = field(default_factory=World)

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
        if scenario.control.motion == "morph":
            if not scenario.world.channel(scenario.seed).perfect:
                raise InputError(
                    'world: with motion = "morph" agents announce their next places within a step: leave delay, loss '
                    'and radio out, or take motion = "reach" or "walk"'
                )
            from tricover.simulation.morphing import morph_epochs  # here, as it takes steps

            return cls.with_epochs(scenario, morph_epochs(scenario, ground), ground)
        networks = _networks(scenario, ground)
        used = [(max(start, ground.launch), one) for start, one in networks]
        paths = paths_of(scenario, ground.targets, used)
        parts = zip(networks, paths, strict=True)
        epochs = [Epoch(start, told_of(scenario, one, path, ground)) for (start, one), path in parts]
        joining = [join.places for join in _joins(scenario)]
        if ground.zones is not None:
            begin = ground.reference if ground.launch else ground.start
            check_zones([(epoch.start, epoch.told) for epoch in epochs], np.concatenate([begin, *joining]))
        return cls.with_epochs(scenario, epochs, ground)

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
        return max(last.start, self.launch + len(last.told.paths) - 1, self.targets_still_from)

    @property
    def quiet_steps(self) -> int:
        """For how many steps everybody has to be at its goal before nothing can change any more, but for one.

        A change goes down a layer in a step. Where agents see only so far, what follows from it is reported upwards a
        layer a step, and may change what comes down.
        """
        depth = self.epochs[-1].network.depth
        return depth if self.world.sensor.sees_all else 2 * depth + 1

    def epoch_at(self, step: int) -> Epoch:
        """The epoch that a step belongs to."""
        return epoch_at(self.epochs, step)

    def present_at(self, step: int) -> Flags:
        """Who takes part from a step on, (N,); after the last step, who took part in it."""
        last = max(self.scenario.steps - 1, 0)
        return self.epoch_at(min(step, last)).present(self.agents)

    def start(self) -> State:
        """Everybody at rest at step 0."""
        joining = [join.places for join in _joins(self.scenario)]
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
        """What agents remember when an epoch begins, with everybody at positions (N, 2): all that any epoch needs."""
        heard = {} if self.world.channel.perfect else nothing_heard(self.agents)
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
        for epoch in epochs if scenario.control.motion != "morph" else epochs[:1]:
            if not np.array_equal(epoch.network.reference, roster[: len(epoch.network)]):
                raise FileFormatError(f"the network from step {epoch.start} on is not that of the scenario's team")
            if epoch.told.launch != mission.launch:
                raise FileFormatError(f"its agents launch for {epoch.told.launch} steps, the team for {mission.launch}")
        return mission


def tolerance_of(scenario: Scenario, vehicle: Vehicle) -> float:
    """Metres within which an agent counts as at a point."""
    given = scenario.control.tolerance
    if given is not None:
        return given
    return CLOSE if vehicle.landing == "anywhere" else 0.0


def _world_of(scenario: Scenario, epochs: Sequence[Epoch], vehicle: Vehicle) -> World:
    """What lies between the agents and the truth. Those who morph are told by their weights to keep apart."""
    told, world = epochs[0].told, World(scenario.world.channel(scenario.seed), scenario.world.sensor(scenario.seed))
    if told.separation is None or told.motion == "morph":
        return world
    return replace(world, clearance=KeepApart(told.separation, together=vehicle.landing != "anywhere"))


def _apart(scenario: Scenario) -> float | None:
    """Metres that agents plan to keep: so much more than asked for as two vehicles may miss."""
    asked = scenario.safety.separation
    if asked is None:
        return None
    kinds = [scenario.vehicle.made(), *(group.made() for group in scenario.vehicle.others)]
    return asked + 2 * max(tolerance_of(scenario, kind) for kind in kinds)


def as_mission(given: Scenario | Mission) -> Mission:
    """A mission as it is, or that of a scenario."""
    return given if isinstance(given, Mission) else Mission.of(given)


def epoch_at(epochs: Sequence[Epoch], step: int) -> Epoch:
    """The last of the epochs that has begun by a step."""
    return [epoch for epoch in epochs if epoch.start <= step][-1]


def _agents(scenario: Scenario, ground: Ground) -> int:
    return len(ground.reference) + sum(len(join.reference) for join in scenario.events.join)


def _joins(scenario: Scenario) -> list[Join]:
    """Those who join, in the order in which they get their numbers."""
    return sorted(scenario.events.join, key=lambda join: join.step)


def _networks(scenario: Scenario, ground: Ground) -> list[tuple[int, Network]]:
    """The networks, each with its first step; an event that cannot be is an error that names it."""
    settings, events = scenario.network, scenario.events
    network = build_network(ground.reference, settings.mentee, settings.core)
    found = [(0, network)]
    for step in sorted({leave.step for leave in events.leave} | {join.step for join in events.join}):
        if step < ground.launch:
            raise InputError(
                f"events at step {step}: the team is on its way from the pads until step {ground.launch}: "
                "let agents leave or join from then on"
            )
        try:
            for leave in events.leave:
                network = network.without(leave.agents) if leave.step == step else network
            for join in events.join:
                network = network.with_agents(join.reference) if join.step == step else network
        except InputError as error:
            raise type(error)(f"events at step {step}: {error}") from None
        found.append((step, network))
    return found


def roster_of(scenario: Scenario, reference: Floats) -> Floats:
    """Reference positions of the final roster, (N, 2): those of the start, and of all who join."""
    return np.concatenate([reference, *(join.reference for join in _joins(scenario))])


def told_of(scenario: Scenario, network: Network, paths: Floats, ground: Ground) -> Told:
    """What the agents of a network are told."""
    control = scenario.control
    names = ("goal", "motion", "resolution", "alpha", "beta", "gamma", "margin", "speed", "window", "policy")
    settings = {name: getattr(control, name) for name in names}
    settings["kernel"] = control.kernel["slip"] if isinstance(control.kernel, dict) else control.kernel
    if scenario.world.sight is not None:
        world = scenario.world
        settings |= {"sight": world.sight, "summary": world.summary, "recall": min(RECALL, len(ground.targets))}
    return Told(network, paths, **settings, separation=_apart(scenario), zones=ground.zones, launch=ground.launch)


def paths_of(scenario: Scenario, targets: Targets, networks: Sequence[tuple[int, Network]]) -> list[Floats]:
    """Where the anchors of each network are sent, step by step: (K, A, 2) in the order of its anchors.

    Networks come with the steps from which on they are used. Paths begin with the first of them. NaN: an agent that
    has no given place stays where it stood when it became an anchor.
    """
    section, last = scenario.anchors, still_from(targets, scenario.steps)
    if section is None:
        return [network.reference[None, network.anchors] for _, network in networks]
    if section.fit:
        return [anchor_positions(network, targets.at(min(start, last)), "fit")[None] for start, network in networks]
    given = np.asarray(section.positions)[None] if section.paths is None else np.asarray(section.paths)
    owners = networks[0][1].anchors
    if given.shape[1] != len(owners):
        raise InputError(
            f"anchors: the network has {len(owners)} anchors ({len(owners) - 1} boundary agents and the core), "
            f"but {given.shape[1]} places are given"
        )
    found = []
    for _, network in networks:
        places = np.full((len(given), len(network), 2), np.nan)
        places[:, owners] = given
        found.append(places[:, network.anchors])
    return found
