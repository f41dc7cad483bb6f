"""``VectorTeam``: thousands of scenarios at once, as arrays, for those who write their own loop.

    team = VectorTeam(scenarios)
    seen = team.reset()
    while not team.over:
        seen, rewards = team.step(policy(seen))          # actions (B, N), or (B, N, 3)

Arrays have a row for each of B scenarios and each of their N agents, anchors included: ``team.followers`` (B, N) says
who acts, and nobody looks at the actions of others. All episodes begin and end together.

Every number is, to the bit, the one of ``parallel_env`` for that scenario alone: agents of all teams look, decide and
move by the same functions, in one batch (``stacking``). What a batch cannot have is refused: agents that leave, join or
start from pads, late messages, limited sight, separations, zones, mixed vehicles.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import Cells, Decision, Memory, View, decide, learn, memory_of, points_as_sets, reach_sets_of
from tricover.draws import VEHICLES, uniforms
from tricover.errors import InputError, LostControlError
from tricover.rl.acting import Masked, acted, check_masked, checked_array, method_actions
from tricover.rl.knowing import MOVES, Lists, Part
from tricover.rl.observing import PARTS, Observer, unit_of
from tricover.rl.parallel import playable
from tricover.rl.rewards import Moment, Reward, check_reward, coverage_of, own_rewards, paper_rewards
from tricover.rl.stacking import Fields, check_alike, stacked
from tricover.simulation import Scenario
from tricover.vehicles.exact import Exact

__all__ = ["Seen", "VectorTeam"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Seen:
    """What all agents of all teams observe.

    Attributes:
        step: of the episode.
        observations: (B, N, K), float32, see ``observing``; zeros for anchors.
        cells: the cells that agents stand in, (B, N); -1 outside, -2 for anchors.
        goal_cells: the cells that hold their goal points, (B, N), alike.
        masks: what they may choose, (B, N, 4), for ``walk``.
    """

    step: int
    observations: NDArray[np.float32]
    cells: Ints
    goal_cells: Ints
    masks: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Crowd(Part):
    """All agents of all teams: ``lists`` gives the targets of each from its own team."""

    lists: Callable[[Ints, Floats], Lists] | None = None

    def targets(self, rows: Ints) -> Lists:
        """The targets that some of the agents know."""
        assert self.lists is not None
        return self.lists(self.view.agents[rows], self.view.heard[rows])


class VectorTeam:
    """B scenarios with teams of N agents, step by step.

    Attributes:
        followers: who acts, (B, N).
        positions: where everybody is, (B, N, 2), in metres.
        over: whether the episode has come to its end.
    """

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        *,
        parts: Sequence[str] = PARTS,
        bins: int = 4,
        reward: Reward = "cost",
        masked: Masked = "error",
    ) -> None:
        """Settings are those of ``parallel_env``."""
        check_reward(reward)
        check_masked(masked)
        self.missions = [playable(scenario) for scenario in scenarios]
        check_alike(self.missions)
        self.observer, self._reward, self._masked = Observer(tuple(parts), bins), reward, masked
        self.teams, self.agents = len(self.missions), self.missions[0].agents
        self.steps, self.walks = scenarios[0].steps, scenarios[0].control.motion == "walk"
        self._told, self._fields = stacked(self.missions), Fields(self.missions)
        self._everybody = np.arange(self.teams * self.agents)
        self.followers = (self._told.network.layer > 0).reshape(self.teams, self.agents)
        self._units = np.repeat([unit_of(one.ground.reference) for one in self.missions], self.agents)
        self._vehicle = self.missions[0].vehicle
        self._centred = np.tile(self.missions[0].exact, self.teams)
        self._still_from = max(mission.targets_still_from for mission in self.missions)
        self._part: Part | None = None
        self._step = 0

    def __repr__(self) -> str:
        motion = "walk" if self.walks else "reach"
        return f"<VectorTeam of {self.teams} scenarios with {self.agents} agents each: {motion}, {self.steps} steps>"

    @property
    def over(self) -> bool:
        """Whether the episode has come to its end."""
        return self._step >= self.steps

    @property
    def positions(self) -> Floats:
        """Where everybody is, (B, N, 2), in metres; a copy."""
        return self._begun().view.positions.reshape(self.teams, self.agents, 2).copy()

    def reset(self, seeds: Sequence[int] | None = None) -> Seen:
        """Begin the episode of every team; ``seeds`` (B,) in place of the scenarios' own."""
        given = [mission.scenario.seed for mission in self.missions] if seeds is None else [int(one) for one in seeds]
        if len(given) != self.teams:
            raise InputError(f"there are {len(given)} seeds for {self.teams} scenarios")
        self._seeds, self._step, self._goals_of = given, 0, -1
        starts = np.concatenate([mission.ground.start for mission in self.missions])
        self._states = self._vehicle.initial_state(starts)
        self._look(starts, memory_of(self._told, starts))
        self._first_costs = self._costs(starts) if self._reward == "coverage" else np.zeros(self.teams)
        return self._seen()

    def step(self, actions: Any) -> tuple[Seen, Floats]:
        """One step of all teams: what they observe then, and rewards (B, N), 0 for anchors."""
        part = self._begun()
        if self.over:
            raise InputError(f"the episode is over after {self._step} steps: call reset")
        chosen = self._checked(part, actions)
        decision = acted(part, chosen)
        landed = self._move(part, decision)
        memory = learn(part.view, self._told, part.memory, decision, landed)
        self._step += 1
        self._look(landed, memory)
        return self._seen(), self._rewards(part, self._begun())

    def method_actions(self) -> NDArray[Any]:
        """What the scenarios' own rules would choose now, (B, N) or (B, N, 3)."""
        return self._rows(method_actions(self._begun()))

    # --- one step --------------------------------------------------------------------------------------------------

    def _begun(self) -> Part:
        if self._part is None:
            raise InputError("there is no episode yet: call reset first")
        return self._part

    def _checked(self, part: Part, actions: Any) -> NDArray[Any]:
        given, tail = np.asarray(actions), () if self.walks else (3,)
        if given.shape != (self.teams, self.agents, *tail):
            raise InputError(f"actions must have the shape {(self.teams, self.agents, *tail)}, not {given.shape}")
        masks = part.masks if self.walks else None
        return checked_array(given.reshape(-1, *tail), self.followers.ravel(), masks, self._masked, self._names)

    def _names(self, rows: Ints) -> list[str]:
        """Agents in a message."""
        return [f"{row % self.agents} of scenario {row // self.agents}" for row in rows.tolist()]

    def _move(self, part: Part, decision: Decision) -> Floats:
        """Where everybody lands, (B·N, 2)."""
        if isinstance(self._vehicle, Exact):
            self._states = decision.setpoints
            return decision.setpoints
        sets = reach_sets_of(part.view, self._told, decision)
        sets[self._centred] = points_as_sets(decision.setpoints[self._centred])
        draws = np.concatenate([uniforms(seed, VEHICLES, self._step, self.agents) for seed in self._seeds])
        duration = self.missions[0].scenario.vehicle.duration
        try:
            self._states = self._vehicle.drive(self._states, sets, duration, draws)
        except LostControlError as error:  # it names rows of the batch
            raise self._lost(error.kind, list(error.agents)) from None
        landed = self._vehicle.output(self._states)
        lost = np.flatnonzero(~np.isfinite(landed).all(axis=1))
        if lost.size:  # a vehicle of the user's own
            raise self._lost(self._vehicle.kind, lost.tolist())
        return landed

    def _lost(self, kind: str, rows: list[int]) -> InputError:
        """What to say of vehicles that lost control: of the first team that has some."""
        team = rows[0] // self.agents
        mine = [row % self.agents for row in rows if row // self.agents == team]
        return InputError(f"scenario {team}: {LostControlError(kind, mine)}")

    def _look(self, positions: Floats, memory: Memory) -> None:
        """Let everybody look, and decide as the method would have it."""
        step = min(self._step, self._still_from)
        if step != self._goals_of:
            self._goals_of, self._told = step, replace(self._told, goal=self._fields.goals(step))
        positions.flags.writeable = False  # rewards of the user's own are handed a part of it
        links = self._told.network.in_neighbors
        heard = np.where(links[..., None] < 0, np.nan, positions[links])
        seen = self.missions[0].targets_at(step)  # of the first team: the goal rule has everybody's
        view = View(self._step, self._everybody, positions, heard, seen)

        def lists(agents: Ints, triangles: Floats) -> Lists:
            return self._fields.lists(step, agents, triangles)

        self._part = _Crowd(view, self._told, memory, decide(view, self._told, memory), lists)

    # --- what comes out --------------------------------------------------------------------------------------------

    def _rows(self, values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(self.teams, self.agents, *values.shape[1:])

    def _seen(self) -> Seen:
        part = self._begun()
        numbers = self.observer.of_part(part, self._units)
        masks = part.masks if self.walks else np.ones((len(self._everybody), MOVES), np.bool_)
        cells = part.cells.state.copy(), part.cells.goal.copy()  # what is handed out is not kept
        return Seen(self._step, *map(self._rows, (numbers, *cells, masks.copy())))

    def _costs(self, positions: Floats) -> Floats:
        """J of every team, (B,), for the targets of this step."""
        parts = zip(self._rows(positions), self.missions, strict=True)
        return np.array([coverage_of(mine, mission.targets_at(self._step)) for mine, mission in parts])

    def _rewards(self, before: Part, after: Part) -> Floats:
        if callable(self._reward):
            return self._own_rewards(before, after)
        if self._reward == "cost":
            return self._rows(paper_rewards(after.view, after.told, after.cells))
        gains = self._costs(before.view.positions) - self._costs(after.view.positions)
        shares = gains / np.where(self._first_costs > 0, self._first_costs, 1.0)
        return np.where(self.followers, shares[:, None], 0.0)

    def _own_rewards(self, before: Part, after: Part) -> Floats:
        assert callable(self._reward)
        rewards = np.zeros((self.teams, self.agents))
        for team in range(self.teams):
            moments = self._moment(before, team, self._step - 1), self._moment(after, team, self._step)
            rewards[team, self.followers[team]] = own_rewards(self._reward, *moments)
        return rewards

    def _moment(self, part: Part, team: int, step: int) -> Moment:
        """One team, as a reward of the user's own sees it."""
        mine, who = slice(team * self.agents, (team + 1) * self.agents), np.flatnonzero(self.followers[team])
        cells = Cells(*(column[mine][who] for column in part.cells))
        positions, heard = part.view.positions[mine], part.view.heard[mine][who]
        targets = self.missions[team].targets_at(step)
        return Moment(step, positions, np.ones(self.agents, np.bool_), targets, who, cells, heard)
