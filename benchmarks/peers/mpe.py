"""MPE's ``simple_spread``, one of PettingZoo's own environments."""

import time
from typing import Any

from mpe2 import simple_spread_v3

_worlds: list[Any] = []


def prepare(agents: int) -> None:
    """Make a world with so many agents and landmarks, and an action for each agent."""
    env = simple_spread_v3.parallel_env(N=agents, max_cycles=10**9)
    env.reset(seed=0)
    actions = {}
    for number, agent in enumerate(env.agents):
        env.action_space(agent).seed(number)
        actions[agent] = env.action_space(agent).sample()
    _worlds[:] = [env, actions]


def step() -> float:
    """Seconds of one step of all agents."""
    env, actions = _worlds
    start = time.perf_counter()
    env.step(actions)
    return time.perf_counter() - start
