"""Gymnasium's interfaces: every follower of every scenario as an environment of its own, and one follower alone.

``vector_env`` is for libraries that train one policy for all agents (parameter sharing). Its sub-environments are the
followers of all scenarios, scenario by scenario; they move at the same time, in a ``VectorTeam``. All episodes end
together, and the next step begins new ones (``AutoresetMode.NEXT_STEP``).

``follower_env`` is one follower; all others do what the scenario's own rules say.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tricover.control import Cells
from tricover.errors import InputError, advice
from tricover.rl.parallel import TeamEnv, parallel_env
from tricover.rl.spaces import action_space, observation_space, observations_of
from tricover.rl.vector_team import Seen, VectorTeam
from tricover.simulation import Scenario

__all__ = ["FollowerEnv", "FollowersEnv", "follower_env", "vector_env"]

Flags = NDArray[np.bool_]
Observations = dict[str, Any]


def vector_env(scenarios: Sequence[Scenario], **settings: Any) -> "FollowersEnv":
    """Scenarios as a Gymnasium VectorEnv whose sub-environments are their followers; settings as for ``VectorTeam``."""
    return FollowersEnv(VectorTeam(scenarios, **settings))


def follower_env(scenario: Scenario, agent: int, **settings: Any) -> "FollowerEnv":
    """One follower as a Gymnasium environment; settings as for ``parallel_env``."""
    return FollowerEnv(parallel_env(scenario, **settings), agent)


class FollowersEnv(VectorEnv[Observations, NDArray[Any], NDArray[Any]]):
    """The environment of ``vector_env``.

    Attributes:
        team: whose followers they are.
        places: scenario and agent of each sub-environment, (num_envs, 2).
    """

    def __init__(self, team: VectorTeam) -> None:
        self.team = team
        self.places = np.argwhere(team.followers)
        self.num_envs = len(self.places)
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        resolution = team.missions[0].scenario.control.resolution
        self.single_observation_space = observation_space(team.observer, resolution, team.walks)
        self.single_action_space = action_space(team.walks)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin all episodes. The first ones have the scenarios' own seeds, unless a seed is given."""
        super().reset(seed=seed)
        own = seed is None and not self._begun
        seeds = None if own else self.np_random.integers(2**63, size=self.team.teams).tolist()
        self._begun = True
        return self._observe(self.team.reset(seeds)), {}

    def step(self, actions: NDArray[Any]) -> tuple[Observations, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """One step of all followers; after the last one of an episode, the next call begins new ones."""
        nobody, scenario, agent = np.zeros(self.num_envs, np.bool_), *self.places.T
        if self.team.over:
            return self.reset()[0], np.zeros(self.num_envs), nobody, nobody.copy(), {}
        given = np.asarray(actions)
        if given.shape != self.action_space.shape:
            raise InputError(f"actions must have the shape {self.action_space.shape}, not {given.shape}")
        everybody = np.zeros((self.team.teams, self.team.agents, *given.shape[1:]), given.dtype)
        everybody[scenario, agent] = given
        seen, rewards = self.team.step(everybody)
        return self._observe(seen), rewards[scenario, agent], nobody, np.full(self.num_envs, self.team.over), {}

    def _observe(self, seen: Seen) -> Observations:
        scenario, agent = self.places.T
        cells = Cells(*(part[scenario, agent] for part in (seen.cells, seen.goal_cells, seen.cells)))
        parts = seen.observations[scenario, agent], cells, seen.masks[scenario, agent]
        return observations_of(self.team.observer, *parts, self.team.walks)


class FollowerEnv(gymnasium.Env[Observations, Any]):
    """The environment of ``follower_env``."""

    def __init__(self, env: TeamEnv, agent: int) -> None:
        self._env, self._name = env, f"follower_{agent}"
        if self._name not in env.possible_agents:
            raise InputError(f"there is no {self._name}; {advice(self._name, env.possible_agents)}")
        self.metadata, self.render_mode = env.metadata, env.render_mode
        self.observation_space: spaces.Space[Observations] = env.observation_space(self._name)
        self.action_space = env.action_space(self._name)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        observations, infos = self._env.reset(seed, options)
        if self._name not in observations:
            raise InputError(f"{self._name} is not there from the start: it cannot be played alone")
        return observations[self._name], infos[self._name]

    def step(self, action: Any) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """One step, in which all others do what the scenario's own rules say."""
        name = self._name
        seen, rewards, done, cut, infos = self._env.step({**self._env.method_actions(), name: action})
        return seen[name], rewards[name], done[name], cut[name], infos[name]

    def render(self) -> Any:
        """The picture of the team."""
        return self._env.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._env.close()
