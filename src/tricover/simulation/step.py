"""One step of the whole team: everyone decides from what it knows at t, then everyone moves, and t+1 begins."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control import NO_CELL, Cells, Memory
from tricover.control.hearing import HEARD, unheard
from tricover.control.memory import renewed
from tricover.control.records import RECORDS
from tricover.draws import VEHICLES, uniforms
from tricover.errors import LostControlError
from tricover.geometry import weights_in
from tricover.goals import goal_cells
from tricover.simulation.deciding import Decisions, decide_all, kept_clear, remembered
from tricover.simulation.hearing import listen, nothing_new
from tricover.simulation.mission import Epoch, Mission
from tricover.simulation.state import State
from tricover.vehicles import inside
from tricover.vehicles.landing import edge_distances

__all__ = ["DecideAll", "Step", "Transition", "advance", "begun", "driven", "missed", "same_memory"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

DecideAll: TypeAlias = Callable[[Mission, State], Decisions]


@dataclass(frozen=True, eq=False, repr=False)
class Transition:
    """What the way from t to t+1 leaves behind, N agents each: see ``record``.

    Attributes:
        epoch: in which it was.
        present: who took part, (N,).
        before: r_i[t], (N, 2).
        after: r_i[t+1], (N, 2).
        cells: (N,) each; None where positions tell them, as every follower is at its goal point at t+1.
        misses: how far from their reach sets agents landed, (N,), in metres; None where nobody can miss.
        settled: whether at t everybody was at its goal.
        weights: w_ij[t+1] of those who morph, (N, 3); None where positions tell the weights.
        launching: whether it is part of the flight from the pads, in which nobody listens to anybody.
        heard: what was heard of in-neighbours, (N, 3, 2), ages (N, 3) and the epochs that agents believed in, (N,), by
            name; nothing where every message arrives at once.
        numbers: how many numbers everybody sent, (N,); None where they are not counted, or nobody sent any.
    """

    epoch: Epoch
    present: Flags
    before: Floats
    after: Floats
    cells: Cells | None
    misses: Floats | None
    settled: bool
    weights: Floats | None = None
    launching: bool = False
    heard: Memory = field(default_factory=dict)
    numbers: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return f"<Transition of {len(self.before)} agents, {'settled' if self.settled else 'on their way'}>"

    def arrays(self, names: Iterable[str]) -> dict[str, Any]:
        """Recorded values by name. What positions tell is worked out now, from what the followers heard."""
        wanted = set(names)
        plain: dict[str, Any] = {"positions": self.before, "present": self.present, "settled": self.settled}
        if "miss" in wanted:
            plain["miss"] = np.zeros(len(self.before)) if self.misses is None else self.misses
        plain |= {name: self.heard[name] for name in wanted & self.heard.keys()}
        if "numbers" in wanted:
            plain["numbers"] = np.zeros(len(self.before), np.int64) if self.numbers is None else self.numbers
        if wanted & {"state", "goal_cell", "next_cell", "weights"}:
            plain |= self._of_followers(wanted)
        return {name: plain[name] for name in names}

    def _of_followers(self, wanted: set[str]) -> dict[str, NDArray[Any]]:
        grid = self.epoch.told.grid
        followers, heard = self._triangles()
        landed = self.after[followers]
        found: dict[str, NDArray[Any]] = {}
        if "weights" in wanted:
            found["weights"] = np.zeros((len(self.before), 3))
            planned = self.weights
            found["weights"][followers] = weights_in(landed, heard) if planned is None else planned[followers]
        if self.cells is not None:
            return found | {"state": self.cells.state, "goal_cell": self.cells.goal, "next_cell": self.cells.next}
        if wanted & {"state", "goal_cell", "next_cell"}:
            state, goal = np.full((2, len(self.before)), NO_CELL, np.int32)
            state[followers] = grid.holding(self.before[followers], heard)
            goal[followers] = goal_cells(landed, heard, grid)
            found |= {"state": state, "goal_cell": goal, "next_cell": goal}
        return found

    def _triangles(self) -> tuple[NDArray[np.int64], Floats]:
        """Followers (F,) that decided by their triangles (F, 3, 2): not those who wait for the first messages."""
        network = self.epoch.network
        if self.heard:
            followers = np.flatnonzero(self.present & ~np.isnan(self.heard["heard"][..., 0]).any(axis=1))
            return followers, self.heard["heard"][followers]
        followers = network.followers[:0] if self.launching else network.followers
        return followers, self.before[network.in_neighbors[followers]]


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """The team after a step, and what the step left behind.

    Attributes:
        state: everything that changes, after it.
        transition: how the team got here from the step before; None at the start.
        layers: layers that stood at their goals when they decided, counted from the anchors.
        depth: of the network; there are depth + 1 layers.
        largest_error: largest distance of an agent to its goal when it decided, in metres.
    """

    state: State
    transition: Transition | None = None
    layers: int = 0
    depth: int = 0
    largest_error: float = 0.0

    def __repr__(self) -> str:
        if self.transition is None:
            return f"<Step {self.step}: {len(self.positions)} agents at the start>"
        layers = f"{self.layers} of {self.depth + 1} layers at their goals"
        return f"<Step {self.step}: {len(self.positions)} agents, {layers}, largest error {self.largest_error:.3g} m>"

    @property
    def step(self) -> int:
        """How many steps were taken: 0 is the start."""
        return self.state.step

    @property
    def positions(self) -> Floats:
        """r_i[t], (N, 2), in metres; read-only."""
        return self.state.positions

    @property
    def present(self) -> Flags:
        """Who takes part, (N,)."""
        return self.state.present


def advance(mission: Mission, state: State, decide_all: DecideAll = decide_all) -> Step:
    """From t to t+1. ``decide_all`` may be a shortcut to the same decisions, such as ``Incremental``."""
    state, epoch, step = begun(mission, state), mission.epoch_at(state.step), state.step + 1
    network, present, launching = epoch.network, state.present, state.step < mission.launch
    decisions = kept_clear(mission, state, decide_all(mission, state))
    vehicles, positions, misses = _move(mission, state, decisions, present)
    memory = remembered(mission, state, decisions, positions)
    off = decisions.distances[: len(network)] > mission.tolerance
    if mission.played is not None:
        off[mission.played.rows] = False  # whether these are at their goals, others know
        vehicles, positions = _as_played(mission, step, vehicles, positions)
    if not mission.world.channel.perfect:
        off |= _uninformed(mission, state)
    unsettled = network.layer[off]
    settled = not (launching or unsettled.size)
    settling = state.step >= mission.last_change
    still = settling and not decisions.held and np.array_equal(vehicles, state.vehicles)
    still = still and mission.world.sensor.certain  # else the next look may show something else
    still = still and epoch.told.goal != "descent"  # where it is the turn of others in the next step
    still = still and same_memory(memory, state.memory) and nothing_new(mission, state)
    quiet = state.quiet + 1 if settling and settled else 0
    sent = state.messages[: len(state.sent)]
    heard: Memory = {}
    post: Memory = {}
    if not mission.world.channel.perfect:
        heard, post = listen(mission, step, np.concatenate([positions[None], sent]), memory, state.post)
    return Step(
        State(step, positions, vehicles, mission.present_at(step), {**memory, **heard}, sent, post, quiet, still),
        Transition(
            epoch,
            present,
            state.positions,
            positions,
            decisions.decision.cells,
            misses,
            settled,
            None if launching else memory.get("weights"),
            launching,
            {name: state.memory[name] for name in heard},
            decisions.numbers,
        ),
        0 if launching else int(unsettled.min(initial=network.depth + 1)),
        network.depth,
        float(decisions.distances.max()),
    )


def begun(mission: Mission, state: State) -> State:
    """The state from which everybody decides: where an epoch begins, or a launch is over, with a new memory."""
    if state.step not in (mission.epoch_at(state.step).start, mission.launch):
        return state
    return replace(state, memory=renewed(state.memory, mission.memory_at(state.positions)))


def _uninformed(mission: Mission, state: State) -> Flags:
    """Who of the present network has not heard of it, or not of all its in-neighbours, (N,)."""
    present = mission.epoch_at(state.step)
    network, here = present.network, slice(len(present.network))
    behind = state.memory["believed"][here] < mission.epochs.index(present)
    return np.asarray((network.layer >= 0) & behind | (network.layer > 0) & unheard(state.memory["ages"][here]))


def same_memory(memory: Memory, before: Memory) -> bool:
    """Whether agents remember what they did, but for records of moves that ended as intended."""
    names = [name for name in memory if name not in (*RECORDS, *HEARD) or name == "last_miss"]
    return all(np.array_equal(memory[name], before[name], equal_nan=True) for name in names)


def _as_played(mission: Mission, step: int, vehicles: Floats, positions: Floats) -> tuple[Floats, Floats]:
    """The same, with those whose ways are known where they are at a step."""
    played = mission.played
    assert played is not None, "asked for parts of teams alone"
    places = played.places(step)
    if np.array_equal(positions[played.rows], places):
        return vehicles, positions
    vehicles, positions = vehicles.copy(), positions.copy()
    positions[played.rows] = places
    vehicles[played.rows] = mission.vehicle.initial_state(positions)[played.rows]
    return vehicles, positions


def _move(mission: Mission, state: State, decisions: Decisions, present: Flags) -> tuple[Floats, Floats, Floats | None]:
    """New vehicle states, positions and misses; those who do not take part stay as they are."""
    if decisions.reach_sets is None:  # exact vehicles are where they are told to be, and that is all their state
        return decisions.decision.setpoints, decisions.decision.setpoints, None
    here = np.flatnonzero(present)
    vehicles, positions = state.vehicles.copy(), state.positions.copy()
    vehicles[here], positions[here] = driven(mission, state.step, here, vehicles[here], decisions.reach_sets[here])
    return vehicles, positions, missed(positions, decisions.reach_sets)


def driven(mission: Mission, step: int, agents: Ints, vehicles: Floats, asked: Floats) -> tuple[Floats, Floats]:
    """States (A, S) and positions (A, 2) of agents (A,) after a step in which they were asked for reach sets."""
    agents = agents if mission.played is None else mission.played.numbers[agents]
    draws = uniforms(mission.scenario.seed, VEHICLES, step, agents)
    try:
        moved = mission.vehicle.drive(vehicles, asked, mission.scenario.vehicle.duration, draws)
    except LostControlError as error:  # it names rows of the batch
        raise error.of(agents[list(error.agents)].tolist()) from None
    positions = mission.vehicle.output(moved)
    lost = np.flatnonzero(~np.isfinite(positions).all(axis=1))
    if lost.size:  # a vehicle of the user's own: what is recorded is finite, so nobody need ask again
        raise LostControlError(mission.vehicle.kind, agents[lost].tolist())
    return moved, positions


def missed(positions: Floats, asked: Floats) -> Floats:
    """How far from their reach sets (A, 3, 2) agents at positions (A, 2) are, (A,), in metres."""
    return np.where(inside(positions, asked), 0.0, edge_distances(positions, asked))
