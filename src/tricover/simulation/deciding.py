"""Everybody decides: from the truth, through the world, to what each agent knows, and on to its decision."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control import (
    GAVE_WAY,
    NO_CELL,
    Cells,
    Decision,
    View,
    cells_of,
    decide,
    distances,
    points_as_sets,
    reach_sets_of,
)
from tricover.control.descent import pull
from tricover.control.memory import SIGHTED, Memory, nothing_planned, rows_of
from tricover.control.near import own_cells
from tricover.control.options import Limits, options_of
from tricover.control.planning import Replanned, with_plans
from tricover.control.records import record
from tricover.control.told import Told
from tricover.draws import ASIDE, uniforms
from tricover.goals.voronoi import Cells as VoronoiCells
from tricover.simulation import _kernels
from tricover.simulation.looking import Look, look_around
from tricover.simulation.mission import Mission
from tricover.simulation.state import State
from tricover.vehicles import lands
from tricover.vehicles.exact import Exact
from tricover.world import Request, heard_at_once

__all__ = ["Decide", "Decisions", "asked_sets", "decide_all", "kept_clear", "remembered", "view_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Decide: TypeAlias = Callable[[View, Told, Memory], Decision]
"""How agents decide, from what they know, were told and remember: ``control.decide``, or another way."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What everybody decided at a step, a row for each of N agents; who does not take part stays where it is.

    Attributes:
        decision: of everybody. Its cells are None where positions tell them: if everybody will be at its goal point.
        distances: how far each agent is from its goal, (N,), in metres.
        reach_sets: P_i, (N, 3, 2), where there are vehicles that have to be driven there; else None.
        held: how many were not let go where they decided to go.
        numbers: how many numbers everybody sent, (N,), where the world is not perfect; else None.
        replanned: plans that are new, by agents.
    """

    decision: Decision
    distances: Floats
    reach_sets: Floats | None
    held: int = 0
    replanned: list[Replanned] = field(default_factory=list)
    numbers: Ints | None = None

    @classmethod
    def none_yet(cls, mission: Mission, state: State) -> "Decisions":
        """Nobody has decided: everybody stays."""
        world, agents = mission.world, mission.agents
        # Who is always where it is told to be need not be driven there.
        driven = not (isinstance(mission.vehicle, Exact) and not world.clearance.apart)
        motion = mission.scenario.control.motion
        setpoints = state.positions.copy()
        goals = setpoints if motion == "reach" else setpoints.copy()  # who reaches is asked for its goal point
        told_by_positions = not (driven or motion != "reach" or not world.channel.perfect)
        cells = None if told_by_positions else Cells(*np.full((3, agents), NO_CELL, np.int32))
        sets = points_as_sets(state.positions) if driven else None
        remembered: Memory = nothing_planned(agents) if motion == "morph" else {}
        if not world.sensor.sees_all:
            remembered = {**remembered, **{name: state.memory[name].copy() for name in SIGHTED if name in state.memory}}
        return cls(Decision(goals, setpoints, cells, remembered), np.zeros(agents), sets)

    def copy(self) -> "Decisions":
        """Decisions that can be changed."""
        goals, cells = self.decision.goal_points, self.decision.cells
        setpoints = self.decision.setpoints.copy()
        shared = np.shares_memory(goals, self.decision.setpoints)  # who reaches is asked for its goal point
        goals = setpoints if shared else goals.copy()
        cells = None if cells is None else Cells(*(part.copy() for part in cells))
        sets = None if self.reach_sets is None else self.reach_sets.copy()
        kept = Decision(goals, setpoints, cells, self.decision.remembered)
        return Decisions(kept, self.distances.copy(), sets, numbers=self.numbers)

    def put(self, mission: Mission, view: View, told: Told, decision: Decision) -> None:
        """Write down what some agents decided."""
        agents, all_of = view.agents, self.decision
        away = distances(view, told, decision)
        _kernels.put(agents, decision.setpoints, away, all_of.setpoints, self.distances)
        if told.motion != "reach":
            all_of.goal_points[agents] = decision.goal_points
        if decision.replanned is not None:
            self.replanned.append(Replanned(agents[decision.replanned.rows], decision.replanned.plans))
        for name, values in decision.remembered.items():
            all_of.remembered[name][agents] = values
        if all_of.cells is not None:
            for everybody, some in zip(all_of.cells, cells_of(view, told, decision), strict=True):
                everybody[agents] = some
        if self.reach_sets is not None:
            self.reach_sets[agents] = asked_sets(mission, view, told, decision)


def asked_sets(mission: Mission, view: View, told: Told, decision: Decision) -> Floats:
    """P_i (A, 3, 2) as vehicles are asked for them: who lands in the middle to the bit is told the middle alone."""
    sets = reach_sets_of(view, told, decision)
    centred = np.flatnonzero(mission.exact[view.agents])
    sets[centred] = points_as_sets(decision.setpoints[centred])
    return sets


def view_of(
    mission: Mission, state: State, agents: Ints, following: Floats | None = None, look: Look | None = None
) -> View:
    """What agents (A,) know at a step, by what the world lets them hear and see.

    ``following`` (N, 2) is where everybody above them has announced to be at the next step, for ``morph``; ``look`` is
    what they see, if they have looked already.
    """
    world, told = mission.world, mission.epoch_at(state.step).told
    network = told.network
    if state.step < mission.launch:  # nobody listens to anybody
        nothing = np.full((len(agents), 3, 2), np.nan)
        return View(state.step, agents, state.positions[agents], nothing, mission.targets_at(state.step))
    if world.channel.perfect:
        heard, ages = heard_at_once(state.positions, network.in_neighbors[agents]), None
    else:
        heard, ages = state.memory["heard"][agents], state.memory["ages"][agents]
    announced = None if following is None else following[network.in_neighbors[agents]]
    if announced is not None:
        announced[network.layer[agents] == 0] = np.nan  # anchors hear nobody
    near = None
    if told.hears_near:
        living = np.flatnonzero(network.layer >= 0)
        near = world.sensor.near(agents, living, state.positions, told.range)
    look = look or look_around(mission, state, told, agents)
    if look is None:
        places = state.positions[agents]
        if world.sensor.sees_all:  # nobody asks which targets these are
            return View(state.step, agents, places, heard, mission.targets_at(state.step), ages, near, announced)
        seen = world.sensor.see(mission.scene_at(state.step), agents, places)
        return View(state.step, agents, places, heard, seen, ages, near, announced)
    received = look.received_by(told, state, agents, heard if announced is None else announced)
    seen = look.seen.rows(np.searchsorted(look.agents, agents))
    known = state.positions[agents], heard, seen, ages
    return View(state.step, agents, *known, near, announced, received)


def decide_all(mission: Mission, state: State, decide: Decide = decide) -> Decisions:
    """Everybody who takes part decides anew: by ``decide``, which is asked with all who were told the same."""
    told = mission.epoch_at(state.step).told
    if told.motion == "morph":
        return _down_the_layers(mission, state, told, decide)
    decisions, look = Decisions.none_yet(mission, state), _look(mission, state, told)
    for believed, agents in _by_told(mission, state):
        view = view_of(mission, state, agents, look=look)
        decisions.put(mission, view, believed, decide(view, believed, rows_of(state.memory, agents)))
    return _counted(decisions, state, told, look)


def _look(mission: Mission, state: State, told: Told) -> Look | None:
    """What everybody sees and tells; None if all see everything, or on their way from the pads, where nobody looks."""
    if state.step < mission.launch:
        return None
    return look_around(mission, state, told, np.flatnonzero(told.network.layer >= 0))


def _counted(decisions: Decisions, state: State, told: Told, look: Look | None) -> Decisions:
    """The decisions, with how many numbers were sent."""
    return decisions if look is None else replace(decisions, numbers=look.numbers(told, state))


def _by_told(mission: Mission, state: State) -> Iterator[tuple[Told, Ints]]:
    """Who takes part, by what it was told: who has not heard of a repair acts as it was told before."""
    present = mission.epoch_at(state.step)
    agents = np.flatnonzero(present.network.layer >= 0)
    if mission.world.channel.perfect:
        yield present.told, agents
        return
    believed = state.memory["believed"][agents]
    for which in np.unique(believed):
        yield mission.epochs[which].told, agents[believed == which]


def remembered(mission: Mission, state: State, decisions: Decisions, landed: Floats) -> Memory:
    """What everybody remembers after a step in which it decided this and landed there, (N, 2)."""
    told, decision = mission.epoch_at(state.step).told, decisions.decision
    memory = {**state.memory, **decision.remembered, **with_plans(state.memory, decisions.replanned)}
    if told.learns and decision.cells is not None:
        memory |= record(told, memory, state.step, decision, landed, lambda rows: view_of(mission, state, rows).heard)
    return memory


def kept_clear(mission: Mission, state: State, decisions: Decisions) -> Decisions:
    """The decisions after clearance: some wait, go aside or make room."""
    clearance, asked = mission.world.clearance, decisions.reach_sets
    if asked is None or not clearance.apart or state.step < mission.launch:  # flights from the pads are apart already
        return decisions
    told = mission.epoch_at(state.step).told
    layers = told.network.layer
    living = np.flatnonzero(layers >= 0)
    order = living[np.argsort(layers[living], kind="stable")]
    view = view_of(mission, state, order)
    limits = Limits(clearance.apart, mission.longest_moves[order])
    draws = uniforms(mission.scenario.seed, ASIDE, state.step, order)
    decision = decisions.decision.rows(order)
    options = options_of(view, told, decision, limits, draws)
    within = asked.copy()
    # Who cannot go so far in a step is sent the part of its way that it can go.
    short = (options.points[:, 0] != decision.setpoints).any(axis=1)
    within[order[short]] = points_as_sets(options.points[short, 0])
    sets = clearance.clear(Request(state.positions, within, _radii(mission, within), options, order))
    changed = np.flatnonzero((sets != asked).any(axis=(1, 2)))
    if not changed.size:
        return decisions
    kept = replace(decisions.copy(), held=len(changed), replanned=decisions.replanned)
    assert kept.reach_sets is not None, "there are as many as before"
    kept.reach_sets[changed] = sets[changed]
    if kept.decision.cells is not None:
        kept.decision.cells.next[changed] = GAVE_WAY
    return kept


def _radii(mission: Mission, sets: Floats) -> Floats:
    """How far from the middles of their reach sets (N, 3, 2) agents may land, (N,): those who do not aim at them."""
    farthest = np.linalg.norm(sets - sets.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    return np.where(lands(mission.vehicle, mission.agents, "inside"), farthest, 0.0)


def _down_the_layers(mission: Mission, state: State, told: Told, decide: Decide) -> Decisions:
    """One layer after the other decides, and announces where it will be to those below."""
    decisions = Decisions.none_yet(mission, state)
    look = _look(mission, state, told)
    asked = told.hears_near and not told.comes_to_rest(state.step)
    views = _up_the_layers(mission, state, told, look) if asked else {}
    for layer, agents in enumerate(told.network.layers):
        view = view_of(mission, state, agents, decisions.decision.setpoints, look)
        if asked:
            view = replace(view, cells=views[layer].cells, pulled=views[layer].pulled)
        decisions.put(mission, view, told, decide(view, told, rows_of(state.memory, agents)))
    return _counted(decisions, state, told, look)


def _up_the_layers(mission: Mission, state: State, told: Told, look: Look | None) -> dict[int, View]:
    """What each layer knows of its Voronoi cells and has heard from below, the deepest first: layer and view."""
    living = np.flatnonzero(told.network.layer >= 0)
    cells = own_cells(view_of(mission, state, living, look=look), told)
    pulled, found = np.zeros((mission.agents, 3)), {}
    for layer in range(told.network.depth, -1, -1):
        agents = told.network.layers[layer]
        rows = np.searchsorted(living, agents)
        own = VoronoiCells(*(part[rows] for part in cells))
        view = replace(view_of(mission, state, agents, look=look), cells=own, pulled=pulled[agents])
        if layer and told.goal == "descent":
            sent = pull(view, told, rows_of(state.memory, agents))
            np.add.at(pulled, told.network.in_neighbors[agents], sent)
        found[layer] = view
    return found
