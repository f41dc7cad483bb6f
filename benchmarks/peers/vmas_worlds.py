"""VMAS's environments: many worlds at once, in PyTorch, on all cores."""

import time
from typing import Any

import torch
import vmas

_worlds: list[Any] = []


def prepare(scenario: str, agents: int, worlds: int) -> None:
    """Make so many worlds, and an action for each agent in each of them."""
    env = vmas.make_env(scenario=scenario, num_envs=worlds, device="cpu", seed=0, n_agents=agents)
    env.reset()
    _worlds[:] = [env, [env.get_random_action(agent) for agent in env.agents]]
    step()


def step() -> float:
    """Seconds of one step of all agents in all worlds."""
    env, actions = _worlds
    start = time.perf_counter()
    with torch.no_grad():
        env.step(actions)
    return time.perf_counter() - start
