"""Everybody decides: from the truth, through the world, to what each agent knows, and on to its decision."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.control import NO_CELL, Cells, Decision, View, cells_of, decide, distances, points_as_sets, reach_sets_of
from tricover.control.memory import rows_of
from tricover.control.told import Told
from tricover.simulation import _kernels
from tricover.simulation.mission import Mission
from tricover.simulation.state import State
from tricover.vehicles.exact import Exact

__all__ = ["Decisions", "decide_all", "view_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Decisions:
    """What everybody decided at a step, a row for each of N agents; who does not take part stays where it is.

    Attributes:
        decision: of everybody. Its cells are None where positions tell them: if everybody will be at its goal point.
        distances: how far each agent is from its goal, (N,), in metres.
        reach_sets: P_i, (N, 3, 2), where there are vehicles that have to be driven there; else None.
    """

    decision: Decision
    distances: Floats
    reach_sets: Floats | None

    @classmethod
    def none_yet(cls, mission: Mission, state: State) -> "Decisions":
        """Nobody has decided: everybody stays."""
        world, agents = mission.world, mission.agents
        # Who is always where it is told to be need not be driven there.
        driven = not (isinstance(mission.vehicle, Exact) and world.clearance.always)
        walking = mission.scenario.control.motion == "walk"
        setpoints = state.positions.copy()
        goals = setpoints.copy() if walking else setpoints  # who reaches is asked for its goal point
        told_by_positions = not (driven or walking or world.channel.history)
        cells = None if told_by_positions else Cells(*np.full((3, agents), NO_CELL, np.int32))
        sets = points_as_sets(state.positions) if driven else None
        return cls(Decision(goals, setpoints, cells), np.zeros(agents), sets)

    def copy(self) -> "Decisions":
        """Decisions that can be changed."""
        goals, cells = self.decision.goal_points, self.decision.cells
        setpoints = self.decision.setpoints.copy()
        shared = np.shares_memory(goals, self.decision.setpoints)  # who reaches is asked for its goal point
        goals = setpoints if shared else goals.copy()
        cells = None if cells is None else Cells(*(part.copy() for part in cells))
        sets = None if self.reach_sets is None else self.reach_sets.copy()
        return Decisions(Decision(goals, setpoints, cells), self.distances.copy(), sets)

    def put(self, mission: Mission, view: View, told: Told, decision: Decision) -> None:
        """Write down what some agents decided."""
        agents, all_of = view.agents, self.decision
        away = distances(view, told, decision)
        _kernels.put(agents, decision.setpoints, away, all_of.setpoints, self.distances)
        if told.motion == "walk":
            all_of.goal_points[agents] = decision.goal_points
        if all_of.cells is not None:
            for everybody, some in zip(all_of.cells, cells_of(view, told, decision), strict=True):
                everybody[agents] = some
        if self.reach_sets is not None:
            sets = reach_sets_of(view, told, decision)
            # Who lands in the middle to the bit is told the middle alone.
            centred = np.flatnonzero(mission.exact[agents])
            sets[centred] = points_as_sets(decision.setpoints[centred])
            self.reach_sets[agents] = sets


def view_of(mission: Mission, state: State, agents: Ints) -> View:
    """What agents (A,) know at a step, by what the world lets them hear and see."""
    world, network = mission.world, mission.epoch_at(state.step).network
    if state.step < mission.launch:  # nobody listens to anybody
        nothing = np.full((len(agents), 3, 2), np.nan)
        return View(state.step, agents, state.positions[agents], nothing, mission.targets_at(state.step))
    heard, ages = world.channel.hear(state.step, state.messages, network.in_neighbors[agents])
    seen = world.sensor.see(mission.targets_at(state.step), agents, state.positions)
    return View(state.step, agents, state.positions[agents], heard, seen, ages)


def decide_all(mission: Mission, state: State) -> Decisions:
    """Everybody who takes part decides anew."""
    told = mission.epoch_at(state.step).told
    agents = np.flatnonzero(told.network.layer >= 0)
    view = view_of(mission, state, agents)
    decisions = Decisions.none_yet(mission, state)
    decisions.put(mission, view, told, decide(view, told, rows_of(state.memory, agents)))
    return decisions
