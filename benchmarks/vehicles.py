"""Our compiled quadrotor beside RotorPy on the same flight: same plan, control period, airframe and controller."""

from collections.abc import Iterator

import numpy as np

from benchmarks.compare import Row, best_of, span, timer
from tricover.vehicles import step_draws, vehicle

AGENTS, SECONDS = 400, 1.0


def rows() -> Iterator[Row]:
    ours = vehicle("quadrotor", control_period=0.01, integral_gain=0.0)
    peer = vehicle("rotorpy", control_period=0.01)
    goals = np.repeat(np.random.default_rng(0).uniform(-0.5, 0.5, (AGENTS, 1, 2)), 3, axis=1)
    starts, draws = np.zeros((AGENTS, 2)), step_draws(0, 0, AGENTS)
    team, one = ours.initial_state(starts), peer.initial_state(starts[:1])
    mine = ours.drive(team, goals, SECONDS, draws)
    theirs = peer.drive(one, goals[:1], SECONDS, draws[:1])
    apart = float(np.hypot(*(ours.output(mine[:1]) - peer.output(theirs))[0]))
    team_time, one_time = best_of(
        timer(lambda: ours.drive(team, goals, SECONDS, draws)),
        timer(lambda: peer.drive(one, goals[:1], SECONDS, draws[:1])),
    )
    yield Row(
        "a second of quadrotor flight, per agent",
        span(team_time / AGENTS),
        span(one_time),
        one_time * AGENTS / team_time,
        wanted=100,
        note=f"RotorPy; {AGENTS} agents against one; they end {apart * 1e6:.2g} µm apart",
    )
