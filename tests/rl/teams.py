"""Scenarios for the tests of learning environments, all from a seed."""

import numpy as np

import tricover as tc
from tests.simulation.teams import team

GUSTY = {"kind": "gusty", "chance": 0.4, "gust": [0.05, 0.02]}
EVENTS = {"leave": [{"step": 3, "agents": [7, 11]}], "join": [{"step": 5, "reference": [[0.45, 0.52], [0.3, 0.6]]}]}


def given(motion="walk", seed=0, agents=14, resolution=5, steps=12, **settings):
    """A small team that goes on to the last step."""
    reference, targets = team(seed, agents, targets=40)
    control = {"motion": motion, "resolution": resolution, **settings.pop("control", {})}
    whole = {"reference": reference, "targets": targets, "seed": seed, **settings}
    return tc.Scenario(control=control, steps=steps, stop_when_settled=False, **whole)


def eventful(motion="walk", **settings):
    """Agents leave and join."""
    rng = np.random.default_rng(5)
    reference, targets = rng.random((20, 2)), rng.random((60, 2))
    return given(motion, **{"reference": reference, "targets": targets, "events": EVENTS, **settings})


def played(env, seed=None, actions=None):
    """Everybody's positions (T+1, N, 2) in an episode; by the method, if no actions are given."""
    env.reset(seed)
    positions = [env.turn.state.positions]
    while env.agents:
        env.step(env.method_actions() if actions is None else actions(env))
        positions.append(env.turn.state.positions)
    return np.array(positions)


def at_random(rng):
    """Actions drawn among those that the masks allow, or any weights."""

    def actions(env):
        turn = env.turn
        if not turn.walks:
            return {name: rng.random(3).astype(np.float32) for name in env.agents}
        allowed = {name: np.flatnonzero(turn.masks[env.numbers[name]]) for name in env.agents}
        return {name: rng.choice(slots) for name, slots in allowed.items()}

    return actions
