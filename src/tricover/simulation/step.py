"""One step of the whole team: everyone decides from the positions at t, then everyone moves, and t+1 begins."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tricover.control import Constants, Decision, View, decide, points_as_sets, remembering
from tricover.errors import LostControlError
from tricover.geometry import CellGrid, barycentric, flat
from tricover.goals import cell_points, prepare
from tricover.network import Network
from tricover.simulation.chapters import Chapter, anchor_paths, chapters, roster_positions
from tricover.simulation.scenario import Scenario
from tricover.targets import Targets
from tricover.vehicles import Mixed, Vehicle, inside, step_draws
from tricover.vehicles.landing import edge_distances

__all__ = ["NO_CELL", "Floats", "Glance", "Plan", "Row", "Stage", "State", "advance", "plan_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

NO_CELL = -2
"""The cell of agents that have none: anchors, and those who are not there."""
CLOSE = 0.05  # metres: what counts as at a point for vehicles that never quite stand still


@dataclass(frozen=True, eq=False)
class State:
    """What changes from step to step, for the final roster of N agents."""

    step: int
    vehicles: Floats
    """(N, S) states of the vehicles."""
    positions: Floats
    """(N, 2) r_i[t]."""
    quiet: int = 0
    """For how many steps everybody has been at its goal, with no change from outside."""
    still: bool = False
    """Whether nothing changed in the last step, so that nothing ever will."""


@dataclass(frozen=True, eq=False)
class Row:
    """What a step leaves behind, N agents each: see ``record``."""

    positions: Floats
    present: Flags
    state: Ints
    goal_cell: Ints
    weights: Floats
    miss: Floats
    settled: Flags


@dataclass(frozen=True, eq=False)
class Glance:
    """How far the team is: layers that have arrived, counted from the anchors, and the largest distance to a goal."""

    layers: int
    depth: int
    largest_error: float


@dataclass(frozen=True, eq=False)
class Stage:
    """What stays the same during a chapter.

    Attributes:
        network: who listens to whom.
        present: who takes part, (N,).
        constants: what its followers were told.
        paths: where its anchors are sent, step by step from step 0 on, (K, A, 2).
    """

    network: Network
    present: Flags
    constants: Constants
    paths: Floats

    def places(self, step: int) -> Floats:
        """Where the anchors are sent at a step: (A, 2)."""
        return np.asarray(self.paths[min(step, len(self.paths) - 1)])


@dataclass(frozen=True, eq=False)
class Plan:
    """What never changes: the scenario, its chapters, the vehicle of the final roster."""

    scenario: Scenario
    chapters: list[Chapter]
    vehicle: Vehicle

    @property
    def agents(self) -> int:
        """N, the final roster."""
        return len(self.chapters[-1].network)

    @cached_property
    def tolerance(self) -> float:
        """Metres within which an agent counts as at a point: by default nothing for ideal vehicles."""
        kinds = self.vehicle.vehicles if isinstance(self.vehicle, Mixed) else (self.vehicle,)
        ideal = all(vehicle.kind in ("exact", "anywhere") for vehicle in kinds)
        given = self.scenario.control.tolerance
        return (0.0 if ideal else CLOSE) if given is None else given

    @cached_property
    def exact(self) -> Flags:
        """Which agents (N,) are always exactly in the middle of their reach set: the middle is all they are told."""
        if not isinstance(self.vehicle, Mixed):
            return np.full(self.agents, self.vehicle.kind == "exact")
        return np.array([vehicle.kind == "exact" for vehicle in self.vehicle.vehicles])[list(self.vehicle.assignment)]

    @cached_property
    def last_change(self) -> int:
        """The step from which on nothing comes from outside any more: no event, no target or anchor on its way."""
        section = self.scenario.anchors
        paths = 0 if section is None or section.paths is None else len(section.paths) - 1
        return max(self.chapters[-1].start, paths, self.scenario.last_change_of_targets)

    def present(self, which: int) -> Flags:
        """Who takes part in a chapter: (N,)."""
        present, network = np.zeros(self.agents, np.bool_), self.chapters[which].network
        present[: len(network)] = network.layer >= 0
        return present

    def start(self) -> State:
        """Everybody at rest at step 0."""
        positions = roster_positions(self.scenario)
        return State(0, self.vehicle.initial_state(positions), positions)

    def stage(self, which: int, positions: Floats) -> Stage:
        """A chapter made ready, with everybody's positions (N, 2) at its first step."""
        network, control = self.chapters[which].network, self.scenario.control
        constants = Constants(
            local_goal=remembering(prepare(control.goal, network)),
            motion=control.motion,
            grid=CellGrid(control.resolution),
            alpha=control.alpha,
            beta=control.beta,
            gamma=control.gamma,
            margin=control.margin,
        )
        paths = anchor_paths(self.scenario, self.chapters, which, positions)
        return Stage(network, self.present(which), constants, paths)


def plan_of(scenario: Scenario) -> Plan:
    """The plan of a scenario."""
    found = chapters(scenario)
    return Plan(scenario, found, scenario.vehicle.team(len(found[-1].network)))


def advance(plan: Plan, stage: Stage, targets: Targets, state: State) -> tuple[Row, Glance, State]:
    """From t to t+1: what to keep of step t, how far the team is at t, and the new state."""
    network, places = stage.network, stage.places(state.step)
    triangles = state.positions[network.in_neighbors[network.followers]]
    view = View(network.followers, state.positions[network.followers], triangles, targets)
    decision = decide(view, stage.constants)
    asked = points_as_sets(state.positions)
    asked[network.followers], asked[network.anchors] = decision.reach_sets, points_as_sets(places)
    aimed = asked.copy()
    exact = network.followers[plan.exact[network.followers]]
    aimed[exact] = points_as_sets(decision.setpoints[plan.exact[network.followers]])
    vehicles, positions = _drive(plan, stage, state, aimed)
    away = np.zeros(plan.agents)
    away[network.followers] = _to_goals(view, decision, stage.constants)
    away[network.anchors] = np.linalg.norm(state.positions[network.anchors] - places, axis=1)
    unsettled = network.layer[away[: len(network)] > plan.tolerance]
    row = _row(stage, view, decision, state.positions, positions, asked, settled=not unsettled.size)
    glance = Glance(int(unsettled.min(initial=network.depth + 1)), network.depth, float(away.max()))
    settling = state.step >= plan.last_change
    still = settling and bool((vehicles == state.vehicles).all())
    quiet = state.quiet + 1 if settling and not unsettled.size else 0
    return row, glance, State(state.step + 1, vehicles, positions, quiet, still)


def _drive(plan: Plan, stage: Stage, state: State, aimed: Floats) -> tuple[Floats, Floats]:
    """New vehicle states and positions; those who are not there stay as they are."""
    here = stage.present
    draws = step_draws(plan.scenario.seed, state.step, plan.agents)
    vehicles, positions = state.vehicles.copy(), state.positions.copy()
    try:
        moved = plan.vehicle.drive(vehicles[here], aimed[here], plan.scenario.vehicle.duration, draws[here])
    except LostControlError as error:  # it names rows of the batch
        raise LostControlError(error.kind, np.flatnonzero(here)[list(error.agents)].tolist()) from None
    vehicles[here], positions[here] = moved, plan.vehicle.output(moved)
    return vehicles, positions


def _to_goals(view: View, decision: Decision, constants: Constants) -> Floats:
    """Metres (A,) to the goal point (reach), or to the goal cell's centre unless the agent is in that cell (walk)."""
    goals = decision.goal_points
    arrived = np.zeros(len(goals), np.bool_)
    if constants.motion == "walk":
        proper = decision.goal_cells >= 0
        centres = cell_points(decision.goal_cells, view.triangles, constants.grid)
        goals = np.where(proper[:, None], centres, goals)
        arrived = proper & (decision.states == decision.goal_cells)
    return np.where(arrived, 0.0, np.linalg.norm(view.positions - goals, axis=1))


def _row(
    stage: Stage, view: View, decision: Decision, before: Floats, after: Floats, asked: Floats, settled: bool
) -> Row:
    cells = np.full((2, len(before)), NO_CELL, np.int32)
    cells[:, view.agents] = decision.states, decision.goal_cells
    weights = np.zeros((len(before), 3))
    weights[view.agents] = _weights(after[view.agents], view.triangles)
    miss = np.where(inside(after, asked), 0.0, edge_distances(after, asked))
    return Row(before, stage.present, cells[0], cells[1], weights, miss, np.array(settled))


def _weights(positions: Floats, triangles: Floats) -> Floats:
    """α_{i,j}[t] with r_i[t+1] = Σ_j α_{i,j}[t] r_j[t]: (A, 3); a third each where the triangle has no area."""
    weights = np.full((len(positions), 3), 1 / 3)
    proper = ~flat(triangles)
    weights[proper] = barycentric(positions[proper], triangles[proper])
    return weights
