"""Quadrotors in wind: agents record misses, and what they learn points downwind."""

import numpy as np
import pytest

import tricover as tc
from tricover.mdp.offsets import FARTHER, shifts

CORNERS = [[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0], [3.1, 2.9]]
FOLLOWERS = [[1.4, 3.1], [4.5, 3.3], [2.9, 4.8]]
RESOLUTION = 16


def flown(wind, gain=0.0, gust=0.0):
    """A small team of Crazyflies without anything in the controller against wind; targets jump every 40 steps."""
    rng = np.random.default_rng(2)
    targets = np.repeat(rng.uniform(1, 5, (5, 6, 2)), 40, axis=0)
    vehicle = {"kind": "quadrotor", "wind": wind, "gust": gust, "integral_gain": gain}
    others = [{"agents": list(range(len(CORNERS))), "kind": "exact"}]
    return tc.simulate(
        tc.Scenario(
            reference=CORNERS + FOLLOWERS,
            targets=tc.Targets(targets),
            vehicle=vehicle | {"others": others},
            control={"motion": "walk", "resolution": RESOLUTION, "kernel": "learned"},
            steps=200,
            seed=4,
            stop_when_settled=False,
        )
    )


def landed_off(run, agent):
    """How far (K, 2) the moves of an agent ended from the centres of the cells that they intended, in metres."""
    grid, steps = tc.CellGrid(RESOLUTION), np.flatnonzero((run.states[:, agent] >= 0) & (run.next_cells[:, agent] >= 0))
    triangles = run.positions[steps][:, run.network.in_neighbors[agent]]
    centres = np.einsum("tk,tkx->tx", grid.weights[run.next_cells[steps, agent]], triangles)
    return run.positions[steps + 1, agent] - centres


def learned_drift(run, agent):
    """The mean offset of an agent's moves by what it has learned, in metres of its triangle as it stands in the end."""
    pooled = run.learned(agent).pooled
    assert (pooled.codes < FARTHER).all()
    triangle = run.positions[-1][run.network.in_neighbors[agent]]
    moved = shifts(pooled.codes, pooled.up) / (3 * RESOLUTION) @ triangle
    return np.average(moved, axis=0, weights=pooled.counts)


@pytest.mark.parametrize("wind", [[4.0, 0.0], [-2.5, 3.0]])
def test_what_is_learned_points_downwind(wind):
    run = flown(wind, gust=1.0)
    way = np.array(wind) / np.linalg.norm(wind)
    assert len(run.network.followers) == len(FOLLOWERS)
    for agent in run.network.followers.tolist():
        known, off = run.learned(agent), landed_off(run, agent)
        assert not known.certain
        assert known.slip > 0.05
        assert off.mean(axis=0) @ way > 0.95 * np.linalg.norm(off.mean(axis=0)), "the truth is downwind"
        drift = learned_drift(run, agent)
        assert drift @ way > 0.8 * np.linalg.norm(drift) > 0
        # Offsets are those of whole cells: they round what the drone is off, by less than half a cell on average.
        assert abs(drift @ way - off.mean(axis=0) @ way) < 0.5 * np.sqrt(18 / RESOLUTION**2)


def test_a_controller_that_takes_the_wind_out_leaves_nothing_to_learn():
    run = flown([2.0, 0.0], gain=4.0)
    for agent in run.network.followers.tolist():
        known = run.learned(agent)
        assert known.certain
        assert known.slip < 0.02
