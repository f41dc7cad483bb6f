"""Decisions that stand are those that everybody would take anew: the shortcut changes no bit."""

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import team
from tricover.control import View, decide
from tricover.simulation import orders as orders_module
from tricover.simulation.orders import Orders, heard, near_each_other
from tricover.simulation.record import ARRAYS

EVENTS = {"leave": [{"step": 3, "agents": [7, 11]}], "join": [{"step": 5, "reference": [[0.45, 0.52], [0.3, 0.6]]}]}
MIXED = {"kind": "exact", "others": [{"agents": [6, 9], "kind": "anywhere"}, {"agents": [8], "kind": "unicycle"}]}


def forgetful(monkeypatch):
    """Everybody decides anew in every step."""
    news = Orders.news

    def everything(self, positions, targets):
        news(self, positions, targets)
        return np.ones(len(self.network), np.bool_)

    monkeypatch.setattr(Orders, "news", everything)


def moving(targets, steps):
    return {"positions": targets, "motion": {"velocity": [0.01, -0.02], "until": steps}}


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("vehicle", ["exact", "anywhere", "double-integrator", MIXED])
@pytest.mark.parametrize("still", [True, False])
@pytest.mark.parametrize("events", [None, EVENTS])
def test_standing_decisions_change_no_bit(monkeypatch, motion, vehicle, still, events):
    rng = np.random.default_rng(5)
    reference, targets = rng.random((40, 2)), rng.random((120, 2))
    given = tc.Scenario(
        formation={"positions": reference, "start": reference + rng.normal(size=reference.shape) * 0.01},
        targets=targets if still else moving(targets, 4),
        network={"mentee": "balanced"},
        control={"motion": motion, "resolution": 6},
        vehicle=vehicle,
        events=events or {},
        steps=30,
        seed=3,
    )
    run = tc.simulate(given)
    cut = tc.simulate(given.model_copy(update={"steps": 9}))
    with monkeypatch.context() as patch:
        forgetful(patch)
        plain = tc.simulate(given)
    for name in ARRAYS:
        np.testing.assert_array_equal(run.read(name), plain.read(name), err_msg=name)
    np.testing.assert_array_equal(cut.positions, run.positions[: cut.steps + 1])


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("agents", [100, 1_000, 20_000])
def test_a_sample_of_agents_decides_on_its_own_what_the_team_does(monkeypatch, agents, motion):
    rng = np.random.default_rng(agents)
    reference, targets = rng.random((agents, 2)), tc.Targets(rng.random((agents, 2)))
    settings = {"network": {"mentee": "balanced"}, "control": {"motion": motion}, "steps": 12}
    runs = []
    for threads in ("1", "2"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        runs.append(tc.simulate(tc.Scenario(reference=reference, targets=targets, **settings)))
    run = runs[0]
    for name in ARRAYS:
        np.testing.assert_array_equal(run.read(name), runs[1].read(name), err_msg=name)
    constants = run._plan.stage(0, reference).constants
    for step in range(run.steps):
        before = run.positions[step]
        for agent in rng.choice(run.network.followers, 12, replace=False):
            corners = before[run.network.in_neighbors[agent]][None]
            decision = decide(View(np.array([agent]), before[agent][None], corners, targets), constants)
            np.testing.assert_array_equal(decision.setpoints[0], run.positions[step + 1, agent])
            assert decision.states[0] == run.states[step, agent]
            assert decision.goal_cells[0] == run.goal_cells[step, agent]


def test_only_those_decide_whose_view_has_changed():
    reference, points = team(3, agents=60)
    network, targets = tc.build_network(reference), tc.Targets(points)
    orders = Orders(network, near_each_other(network.followers, reference), np.zeros(60))

    def view(positions, targets):
        news = orders.news(positions, targets)
        return None if news is None else orders.view(news, 0, len(network.followers))

    assert sorted(view(reference, targets).agents) == network.followers.tolist()
    assert view(reference, targets) is None
    assert view(reference.copy(), targets) is None
    after = reference.copy()
    after[network.followers[4]] += 1e-12
    listeners = np.flatnonzero((network.in_neighbors == network.followers[4]).any(axis=1))
    seen = view(after, targets)
    assert sorted(seen.agents) == sorted([network.followers[4], *listeners])
    np.testing.assert_array_equal(seen.positions, after[seen.agents])
    np.testing.assert_array_equal(seen.triangles, after[network.in_neighbors[seen.agents]])
    moved = after.copy()
    moved[network.anchors[0]] += 1e-12
    listeners = np.flatnonzero((network.in_neighbors == network.anchors[0]).any(axis=1))
    assert sorted(view(moved, targets).agents) == listeners.tolist()
    assert len(view(moved, tc.Targets(points)).agents) == len(network.followers)


def test_neighbours_come_one_after_another():
    positions = np.random.default_rng(0).random((5000, 2))
    agents = np.arange(10, 5000)
    ordered = near_each_other(agents, positions)
    assert sorted(ordered) == agents.tolist()
    jumps = np.linalg.norm(np.diff(positions[ordered], axis=0), axis=1)
    assert np.median(jumps) < 2 * np.sqrt(2) / orders_module.TILES
    own, triangles = heard(tc.build_network(positions), ordered[:0], positions)
    assert (own.shape, triangles.shape) == ((0, 2), (0, 3, 2))
