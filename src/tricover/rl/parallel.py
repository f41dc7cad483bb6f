"""``parallel_env``: a scenario as a PettingZoo environment, in which somebody else decides for the followers.

Truth, knowledge and motion are those of ``simulate``: each step is the loop's own (``simulation.advance``), with the
decisions of some agents replaced. An episode has as many steps as the scenario, and is then cut off. It does not end
before: a team that stands still may be sent on.

*Who acts.* The followers of the network in use, by name: ``follower_7`` is agent 7 of the roster. When agents leave or
join the network is repaired. Who leaves is done (terminated), and so is a follower that becomes an anchor; who joins
as a follower, or was an anchor before, acts from then on. Nobody comes back.

*Seeds.* The first episode has the scenario's own seed. ``reset(seed=s)`` plays what ``simulate`` plays with that seed,
for positions that do not come from a generator: these stay as they are. Every other reset draws the next seed.

*Nothing is shared* between two environments, and nothing that is handed out is kept.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from tricover.errors import InputError, shown
from tricover.rl.acting import Masked, check_masked, checked_by_name
from tricover.rl.observing import PARTS, Observer
from tricover.rl.rewards import Reward, check_reward, own_rewards
from tricover.rl.spaces import action_space, observation_space, observations_of, state_of, state_space
from tricover.rl.turn import Turn
from tricover.simulation import Mission, Run, Scenario, Transition
from tricover.simulation.record import MemoryRecord
from tricover.simulation.telling import roster_of

__all__ = ["TeamEnv", "parallel_env", "playable", "with_seed"]

RENDER_MODES = ("human", "rgb_array")
_SEEDS = 2**63


def parallel_env(
    scenario: Scenario,
    *,
    parts: Sequence[str] = PARTS,
    bins: int = 4,
    reward: Reward = "cost",
    masked: Masked = "error",
    max_cycles: int | None = None,
    render_mode: str | None = None,
) -> "TeamEnv":
    """A scenario as a PettingZoo ParallelEnv whose agents are the followers.

    Args:
        scenario: with the motion ``walk``, where actions are cells, or ``reach``, where they are weights.
        parts: what agents observe, see ``observing``.
        bins: the histogram has bins² cells.
        reward: "cost" (the paper's), "coverage", or a function of two ``Moment``; see ``rewards``.
        masked: what an action that the mask forbids is: an "error", or to "stay", for libraries that know no masks.
        max_cycles: steps of an episode; None: the scenario's.
        render_mode: "rgb_array", "human" (a window), or None.

    >>> import tricover as tc
    >>> team = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
    >>> env = parallel_env(tc.Scenario(reference=team, targets=[[1, 1], [3, 2]], control={"motion": "walk"}))
    >>> observations, infos = env.reset()
    >>> env.agents, observations["follower_5"]["observation"].shape
    (['follower_5', 'follower_6'], (33,))
    """
    return TeamEnv(scenario, Observer(tuple(parts), bins), reward, masked, max_cycles, render_mode)


class TeamEnv(ParallelEnv[str, dict[str, Any], Any]):  # type: ignore[misc]
    """The environment of ``parallel_env``.

    Attributes:
        agents: who acts now, by name.
        possible_agents: who acts at some time.
        max_cycles: steps of an episode.
        render_mode: what ``render`` does.
    """

    def __init__(
        self,
        scenario: Scenario,
        observer: Observer,
        reward: Reward,
        masked: Masked,
        max_cycles: int | None,
        render_mode: str | None,
    ) -> None:
        check_reward(reward)
        check_masked(masked)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise InputError(f"render_mode must be one of {', '.join(RENDER_MODES)}, not {shown(render_mode)}")
        self._mission = playable(scenario if max_cycles is None else scenario.replace(steps=max_cycles))
        self.metadata = {"name": "tricover_v0", "render_modes": list(RENDER_MODES), "render_fps": 4}
        self.max_cycles, self.render_mode = self._mission.scenario.steps, render_mode
        self._observer, self._reward, self._masked = observer, reward, masked
        self._numbers = {f"follower_{agent}": agent for agent in _ever_following(self._mission)}
        self.possible_agents: list[str] = list(self._numbers)
        self.agents: list[str] = []
        walks, resolution = scenario.control.motion == "walk", scenario.control.resolution
        self.observation_spaces = {name: observation_space(observer, resolution, walks) for name in self._numbers}
        self.action_spaces = {name: action_space(walks) for name in self._numbers}
        self.state_space = state_space(self._mission.agents)
        self._seeds = np.random.default_rng(self._mission.scenario.seed)
        self._turn: Turn | None = None
        self._window: Any = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent observes, see ``spaces``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent can do, see ``acting``."""
        return self.action_spaces[agent]

    # --- episodes --------------------------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Begin an episode: observations and empty infos by agents' names. There are no options."""
        if seed is not None:
            self._mission = with_seed(self._mission, seed)
            self._seeds = np.random.default_rng(seed)
        elif self._turn is not None:
            self._mission = with_seed(self._mission, int(self._seeds.integers(_SEEDS)))
        self._turn = turn = Turn.at(self._mission, self._mission.start())
        self._taken: list[Transition] = []
        self._gone: set[int] = set()
        self._first_cost = turn.coverage(0) if self._reward == "coverage" else 0.0
        self.agents = _names(self._acting())
        return self._observe(self.agents), {name: {} for name in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, dict[str, Any]], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        """One step of the team: observations, rewards, who is done, who is cut off, and infos, by agents' names.

        They are for all who acted in this step, and for those who have joined.
        """
        before = self.turn
        if before.state.step >= self.max_cycles:
            raise InputError(f"the episode is over after {before.state.step} steps: call reset")
        acting = {name: self._numbers[name] for name in self.agents}
        rest = before.method_actions()  # for followers that do not act any more
        chosen = checked_by_name(actions, acting, self._numbers, rest, before.masks, self._masked)
        self._take(before, chosen)
        self._gone |= {*acting.values()} - {*self._following()}
        rewards = self._rewards(before, self.turn)
        over = self.turn.state.step >= self.max_cycles
        named = _names(sorted({*acting.values(), *self._acting()}))
        done = {name: self._numbers[name] in self._gone for name in named}
        self.agents = [] if over else _names(self._acting())
        if self.render_mode == "human":
            self.render()
        return (
            self._observe(named),
            {name: float(rewards[self._numbers[name]]) for name in named},
            done,
            {name: over and not done[name] for name in named},
            {name: {} for name in named},
        )

    def _take(self, before: Turn, chosen: NDArray[Any]) -> None:
        """Let everybody move, and look again."""
        step = before.taken(chosen)
        assert step.transition is not None, "only the start has none"
        self._taken.append(step.transition)
        self._turn = Turn.at(self._mission, step.state)

    def state(self) -> NDArray[np.float32]:
        """The whole team, for critics that see all: see ``spaces``."""
        mission, state = self._mission, self.turn.state
        reference = roster_of(mission.scenario, mission.ground.reference)
        over = min(state.step / max(self.max_cycles, 1), 1.0)
        return state_of(reference, state.positions, state.present, mission.targets_at(state.step), over)

    # --- what there is to look at ----------------------------------------------------------------------------------

    @property
    def turn(self) -> Turn:
        """The team as it is: what everybody knows, and what the method would have it do."""
        if self._turn is None:
            raise InputError("there is no episode yet: call reset first")
        return self._turn

    @property
    def run(self) -> Run:
        """The episode so far, as a run: it can be plotted, filmed, certified and reported as any other."""
        return Run(self._mission, MemoryRecord(self.turn.state, list(self._taken)))

    @property
    def numbers(self) -> dict[str, int]:
        """The number on the roster of everybody who acts at some time."""
        return dict(self._numbers)

    @property
    def layout(self) -> dict[str, slice]:
        """Where in an observation each part is."""
        return dict(self._observer.layout)

    def method_actions(self) -> dict[str, Any]:
        """What the scenario's own rules would choose now, by agents' names."""
        chosen = self.turn.method_actions()
        return {name: chosen[self._numbers[name]] for name in self.agents}

    def render(self) -> NDArray[np.uint8] | None:
        """The picture of this step, (height, width, 3); None where it goes to a window, or nowhere."""
        run = self.run
        if self.render_mode is None:
            return None
        from tricover.rl.rendering import Window, picture

        pixels = picture(run)
        if self.render_mode == "rgb_array":
            return pixels
        self._window = self._window or Window()
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # --- who, and what it gets -------------------------------------------------------------------------------------

    def _following(self) -> list[int]:
        """The followers of the network in use; after the last step, of the one that was."""
        step = min(self.turn.state.step, max(self._mission.scenario.steps - 1, 0))
        followers: list[int] = self._mission.epoch_at(step).network.followers.tolist()
        return followers

    def _acting(self) -> list[int]:
        return [agent for agent in self._following() if agent not in self._gone]

    def _observe(self, names: list[str]) -> dict[str, dict[str, Any]]:
        turn = self.turn
        numbers = turn.observations(self._observer)
        everybody = observations_of(self._observer, numbers, turn.cells, turn.masks, turn.walks)
        return {name: {key: values[self._numbers[name]] for key, values in everybody.items()} for name in names}

    def _rewards(self, before: Turn, after: Turn) -> NDArray[np.float64]:
        """Rewards of everybody, (N,); 0 for those who do not act any more."""
        rewards, agents = np.zeros(self._mission.agents), self._acting()
        if callable(self._reward):
            rewards[agents] = own_rewards(self._reward, before.moment(agents), after.moment(agents))
        elif self._reward == "cost":
            rewards[agents] = after.paper_rewards()[agents]
        else:
            step = after.state.step
            gain = before.coverage(step) - after.coverage(step)
            rewards[agents] = gain / self._first_cost if self._first_cost else gain
        return rewards


def _names(agents: list[int]) -> list[str]:
    return [f"follower_{agent}" for agent in agents]


def playable(scenario: Scenario) -> Mission:
    """The mission of a scenario whose followers can be played by somebody else."""
    mission = Mission.of(scenario)
    if scenario.control.motion == "morph":
        raise InputError('with motion = "morph" agents announce their moves down the layers: take "walk" or "reach"')
    if not _ever_following(mission):
        raise InputError("all agents of this team are anchors: there is nobody to play")
    return mission


def with_seed(mission: Mission, seed: int) -> Mission:
    """The same mission with another seed of all that is drawn on the way; points that were made stay as they are."""
    return Mission.with_epochs(mission.scenario.replace(seed=seed), mission.epochs, mission.ground)


def _ever_following(mission: Mission) -> list[int]:
    """Who is a follower at some time, ascending."""
    found: list[int] = np.unique(np.concatenate([epoch.network.followers for epoch in mission.epochs])).tolist()
    return found
