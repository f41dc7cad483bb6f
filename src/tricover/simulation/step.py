"""One step of the whole team: everyone decides from the positions at t, then everyone moves, and t+1 begins."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tricover.control import Constants, decide, points_as_sets
from tricover.errors import LostControlError
from tricover.geometry import CellGrid, weights_in
from tricover.goals import goal_cells, prepare
from tricover.network import Network
from tricover.simulation import _kernels
from tricover.simulation.chapters import Chapter, anchor_paths, chapters, roster_positions, which_at
from tricover.simulation.orders import NO_CELL, Orders, heard, near_each_other
from tricover.simulation.scenario import Scenario
from tricover.targets import Targets
from tricover.threads import in_ranges, side_by_side
from tricover.vehicles import Mixed, Vehicle, inside, step_draws
from tricover.vehicles.exact import Exact
from tricover.vehicles.landing import edge_distances

__all__ = ["NO_CELL", "Floats", "Glance", "Plan", "Row", "Stage", "State", "advance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

AT_ONCE = 16384  # agents who decide together: what they need fits into the memory caches
CLOSE = 0.05  # metres: what counts as at a point for vehicles that never quite stand still


@dataclass(frozen=True, eq=False)
class State:
    """What changes from step to step, for the final roster of N agents."""

    step: int
    vehicles: Floats
    """(N, S) states of the vehicles."""
    positions: Floats
    """(N, 2) r_i[t]."""
    present: Flags
    """(N,) who takes part."""
    quiet: int = 0
    """For how many steps everybody has been at its goal, with no change from outside."""
    still: bool = False
    """Whether nothing changed in the last step, so that nothing ever will."""


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
class Row:
    """What a step leaves behind, N agents each: see ``record``. What positions tell is worked out when it is asked for.

    Attributes:
        stage: of which chapter it is.
        positions: r_i[t].
        after: r_i[t+1].
        goal_cells: where positions do not tell them; None where every follower is at its goal point at t+1.
        misses: None where nobody can miss.
        settled: whether everybody was at its goal.
    """

    stage: Stage
    positions: Floats
    after: Floats
    goal_cells: Ints | None
    misses: Floats | None
    settled: bool

    @property
    def present(self) -> Flags:
        """Who takes part."""
        return self.stage.present

    @property
    def state(self) -> Ints:
        """Cells in which the followers stand."""
        own, triangles = self._heard
        return self._spread(self.stage.constants.grid.holding(own, triangles), NO_CELL, np.int32)

    @property
    def goal_cell(self) -> Ints:
        """Cells that hold their goal points."""
        if self.goal_cells is not None:
            return self.goal_cells
        points = self.after[self.stage.network.followers]
        return self._spread(goal_cells(points, self._heard[1], self.stage.constants.grid), NO_CELL, np.int32)

    @property
    def weights(self) -> Floats:
        """α_{i,j}[t] with r_i[t+1] = Σ_j α_{i,j}[t] r_j[t]; a third each where the triangle has no area."""
        return self._spread(weights_in(self.after[self.stage.network.followers], self._heard[1]), 0.0, np.float64)

    @property
    def miss(self) -> Floats:
        """How far from their reach sets agents landed."""
        return np.zeros(len(self.positions)) if self.misses is None else self.misses

    @property
    def _heard(self) -> tuple[Floats, Floats]:
        return _heard_last(self)

    def _spread(self, values: NDArray[Any], otherwise: float, dtype: DTypeLike) -> NDArray[Any]:
        """The followers' values (F, …) as everybody's (N, …)."""
        spread = np.full((len(self.positions), *values.shape[1:]), otherwise, dtype)
        spread[self.stage.network.followers] = values
        return spread


@lru_cache(maxsize=1)
def _heard_last(row: Row) -> tuple[Floats, Floats]:
    """What the followers heard; kept for one row, as several questions to it follow each other."""
    return heard(row.stage.network, row.stage.network.followers, row.positions)


@dataclass(frozen=True, eq=False)
class Plan:
    """What never changes: the scenario, and what follows from it when it is asked for."""

    scenario: Scenario

    @cached_property
    def chapters(self) -> list[Chapter]:
        """The networks, each with the step from which on it is in use."""
        return chapters(self.scenario)

    @cached_property
    def agents(self) -> int:
        """N, the final roster."""
        return len(self.scenario.reference) + sum(len(join.reference) for join in self.scenario.events.join)

    @cached_property
    def vehicle(self) -> Vehicle:
        """The vehicle of the final roster."""
        return self.scenario.vehicle.team(self.agents)

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
    def all_exact(self) -> bool:
        """Whether everybody is always exactly where it is told to be, so that no vehicle has to be driven."""
        return isinstance(self.vehicle, Exact)

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
        present, positions = self.present(which_at(self.chapters, 0)), roster_positions(self.scenario)
        return State(0, self.vehicle.initial_state(positions), positions, present)

    def stage(self, which: int, positions: Floats) -> Stage:
        """A chapter made ready, with everybody's positions (N, 2) at its first step."""
        network, control = self.chapters[which].network, self.scenario.control
        constants = Constants(
            local_goal=prepare(control.goal, network),
            motion=control.motion,
            grid=CellGrid(control.resolution),
            alpha=control.alpha,
            beta=control.beta,
            gamma=control.gamma,
            margin=control.margin,
        )
        paths = anchor_paths(self.scenario, self.chapters, which, positions)
        return Stage(network, self.present(which), constants, paths)

    def orders(self, stage: Stage, positions: Floats) -> Orders:
        """Nobody's orders yet; those who are never asked stay where they are."""
        kept = not (self.all_exact and stage.constants.motion == "reach")
        cells = np.full(self.agents, NO_CELL, np.int32) if kept else None
        sets = None if self.all_exact else points_as_sets(positions)
        followers = near_each_other(stage.network.followers, positions)
        return Orders(stage.network, followers, np.zeros(self.agents), cells, sets)


def advance(plan: Plan, stage: Stage, orders: Orders, targets: Targets, state: State) -> tuple[Row, Glance, State]:
    """From t to t+1: what to keep of step t, how far the team is at t, and the new state."""
    network, places = stage.network, stage.places(state.step)
    setpoints = _decide(plan, stage, orders, targets, state)
    orders.away[network.anchors] = np.linalg.norm(state.positions[network.anchors] - places, axis=1)
    if orders.reach_sets is None:
        vehicles, positions, misses = *_go(stage, state, setpoints), None
    else:
        vehicles, positions = _drive(plan, stage, state, orders.reach_sets)
        misses = np.where(inside(positions, orders.reach_sets), 0.0, edge_distances(positions, orders.reach_sets))
    unsettled = network.layer[orders.away[: len(network)] > plan.tolerance]
    goals = None if orders.goal_cells is None else orders.goal_cells.copy()
    row = Row(stage, state.positions, positions, goals, misses, settled=not unsettled.size)
    glance = Glance(int(unsettled.min(initial=network.depth + 1)), network.depth, float(orders.away.max()))
    settling = state.step >= plan.last_change
    still = settling and (vehicles is state.vehicles or np.array_equal(vehicles, state.vehicles))
    quiet = state.quiet + 1 if settling and not unsettled.size else 0
    return row, glance, State(state.step + 1, vehicles, positions, stage.present, quiet, still)


def _decide(plan: Plan, stage: Stage, orders: Orders, targets: Targets, state: State) -> Floats:
    """Let those decide for whom there is news; returns everybody's setpoints (N, 2), one's own place without news.

    Vehicles that are driven have their reach sets in ``orders``, and no setpoints here.
    """
    before, news = state.positions, orders.news(state.positions, targets)
    if news is None:
        return before
    setpoints = before
    if orders.reach_sets is None:
        setpoints = np.empty_like(before)
        in_ranges(lambda first, last: np.copyto(setpoints[first:last], before[first:last]), len(before))

    def act(first: int, last: int) -> None:
        decision = decide(orders.view(news, first, last), stage.constants)
        orders.take(decision, plan.exact)
        if setpoints is not before:
            _kernels.send(decision.view.agents, decision.setpoints, setpoints)

    everybody = len(orders.followers)
    if everybody <= AT_ONCE or callable(plan.scenario.control.goal):  # a rule of the user's need not be safe in threads
        act(0, everybody)
    else:
        act(0, 0)  # what all share, such as the index of the targets, is made once
        side_by_side(lambda first: act(first, min(first + AT_ONCE, everybody)), range(0, everybody, AT_ONCE))
    return setpoints


def _go(stage: Stage, state: State, setpoints: Floats) -> tuple[Floats, Floats]:
    """Exact vehicles are where they are told to be, and their positions are their states."""
    anchors, places = stage.network.anchors, stage.places(state.step)
    if setpoints is state.positions and np.array_equal(setpoints[anchors], places):
        return state.vehicles, state.positions
    positions = setpoints.copy() if setpoints is state.positions else setpoints
    positions[anchors] = places
    return positions, positions


def _drive(plan: Plan, stage: Stage, state: State, asked: Floats) -> tuple[Floats, Floats]:
    """New vehicle states and positions; those who are not there stay as they are."""
    here = stage.present
    asked[stage.network.anchors] = points_as_sets(stage.places(state.step))
    draws = step_draws(plan.scenario.seed, state.step, plan.agents)
    vehicles, positions = state.vehicles.copy(), state.positions.copy()
    try:
        moved = plan.vehicle.drive(vehicles[here], asked[here], plan.scenario.vehicle.duration, draws[here])
    except LostControlError as error:  # it names rows of the batch
        raise LostControlError(error.kind, np.flatnonzero(here)[list(error.agents)].tolist()) from None
    vehicles[here], positions[here] = moved, plan.vehicle.output(moved)
    return vehicles, positions
