"""What a run says of itself, against the same facts worked out plainly from its arrays."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import scenario, team
from tricover.simulation import Mission, run
from tricover.simulation.record import ARRAYS
from tricover.world import World

WALK = {"motion": "walk", "resolution": 6}
SLOW = {"kind": "double-integrator", "max_speed": 0.01}


@dataclass(frozen=True)
class Beside:
    """An agent is let land only a little beside where it wants to."""

    agent: int
    by: float
    apart = 1e-9

    def clear(self, request):
        moved = request.reach_sets.copy()
        moved[self.agent, :, 0] += self.by
        return moved


def standing_beside(given, by):
    """A run that ends with one agent, heard by nobody, beside its desired position."""
    mission = Mission.of(given)
    network = mission.epochs[0].network
    agent = int(np.setdiff1d(network.followers, network.in_neighbors)[0])
    found = tc.simulate(replace(mission, world=World(clearance=Beside(agent, by))))
    np.testing.assert_array_equal(found.positions[-1], found.positions[-2])
    np.testing.assert_allclose(found.largest_error, abs(by), rtol=1e-3)
    assert found.missed == 0  # it landed where it was let
    return found


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_a_team_that_stands_still_elsewhere_has_not_converged(motion):
    given = scenario(3, agents=30, control={"motion": motion, "resolution": 6})
    extent = np.ptp(given.reference, axis=0).max()
    for by in (1e-2, 1e-6, 3e-9):
        assert not standing_beside(given, by * extent).converged
    assert standing_beside(given, 1e-11 * extent).converged  # rounding
    assert tc.simulate(given).largest_error == 0


def test_what_rounding_leaves_far_from_the_origin_counts_as_converged():
    reference, targets = team(0, agents=30)
    reference, targets = reference * 1e-3 + 1e6, targets * 1e-3 + 1e6
    given = tc.Scenario(reference=reference, targets=targets)
    assert standing_beside(given, np.spacing(1e6)).converged


def settled_at(found):
    """By the definition, from the whole arrays: the first step of a standstill, or of a quiet end."""
    positions, settled = found.read("positions"), found.read("settled")
    if (positions[-1] == positions[-2]).all():
        return next(t for t in range(len(positions)) if (positions[t:] == positions[-1]).all())
    first = next(t for t in range(len(settled) + 1) if settled[t:].all())
    return first if found.steps - first > found.network.depth else None


@pytest.mark.parametrize(
    "settings",
    [
        {"control": WALK},
        {"control": WALK, "stop_when_settled": False, "steps": 60},
        {"vehicle": SLOW, "steps": 400},
        {"vehicle": SLOW, "steps": 7},
        {"control": WALK, "vehicle": "anywhere", "steps": 12},
    ],
)
def test_no_block_changes_what_a_run_says(monkeypatch, tmp_path, settings):
    given = scenario(0, agents=20, **settings)
    whole = tc.simulate(given, tmp_path / "run.zarr")
    facts = whole.summary()
    assert facts["settled_at"] == settled_at(whole)
    assert facts["misses"] == np.count_nonzero(whole.misses)
    for steps in (1, 2, 3, 7, 8, whole.steps - 1, whole.steps, whole.steps + 1, whole.steps + 2):
        monkeypatch.setattr(run, "BLOCK", 20 * max(1, steps))
        again = tc.Run.open(tmp_path / "run.zarr")
        assert again.summary() == facts
        for name in ARRAYS:
            starts, pieces = zip(*again.blocks(name), strict=True)
            lengths = [len(piece) for piece in pieces]
            assert max(lengths) <= max(1, steps)
            assert list(starts) == [0, *np.cumsum(lengths)[:-1]]
            np.testing.assert_array_equal(np.concatenate(pieces), whole.read(name))
    monkeypatch.setattr(run, "BLOCK", 1)  # a team of more agents than a block has room for
    assert tc.Run.open(tmp_path / "run.zarr").summary() == facts


def test_a_run_is_quiet_for_more_steps_than_there_are_layers():
    given = scenario(0, agents=20, vehicle=SLOW, steps=400)
    whole = tc.simulate(given)
    depth = whole.network.depth
    assert not np.array_equal(whole.positions[-1], whole.positions[-2])
    assert whole.settled_at == whole.steps - depth - 1
    assert whole.converged
    short = tc.simulate(given.replace(steps=whole.steps - 1))
    assert short.steps == whole.steps - 1
    assert short.settled_at is None
    assert short.read("settled")[-depth:].all()


def test_a_run_that_was_cut_speaks_of_its_last_step():
    """An event, a place or a target of the step after the last one has not come yet."""
    reference, targets = team(0, agents=20)
    network = tc.build_network(reference)
    paths = reference[network.anchors] * (1 + np.arange(9.0)[:, None, None] / 10)
    moving = {"positions": targets, "motion": {"velocity": [0.01, 0.0]}}
    events = {"leave": [{"step": 5, "agents": network.followers[:1]}]}
    given = tc.Scenario(reference=reference, targets=moving, anchors=paths, events=events, steps=5)
    found = tc.simulate(given)
    assert (found.steps, len(found.epochs)) == (5, 1)
    assert found.network == network
    np.testing.assert_array_equal(found.anchors, paths[4])
    np.testing.assert_allclose(found.targets.points, targets + np.array([0.04, 0.0]), atol=1e-12)
    wanted = tc.desired_configuration(network, found.targets, paths[4])
    np.testing.assert_array_equal(found.desired, wanted)
    errors = np.hypot(*(found.positions[-1] - wanted).T)
    np.testing.assert_allclose(found.largest_error, errors.max(), rtol=1e-12)
    longer = tc.simulate(given.replace(steps=6))
    assert len(longer.epochs) == 2
    np.testing.assert_array_equal(longer.anchors, paths[5][np.isin(network.anchors, longer.network.anchors)])


def test_who_was_lost_is_desired_where_it_was_last_seen():
    reference, targets = team(0, agents=20)
    lost = tc.build_network(reference).followers[:2]
    found = tc.simulate(
        tc.Scenario(reference=reference, targets=targets, events={"leave": [{"step": 2, "agents": lost}]})
    )
    np.testing.assert_array_equal(found.desired[lost], found.positions[2, lost])
    assert np.isfinite(found.desired).all()
    assert found.converged


def test_a_run_of_no_steps_is_not_settled():
    found = tc.simulate(scenario(0, agents=20, steps=0))
    assert found.settled_at is None
    assert found.missed == 0
    assert [start for start, _ in found.blocks("positions")] == [0]
    assert list(found.blocks("weights")) == []


def test_goal_cells_hold_the_goal_points_wherever_vehicles_land():
    """The first step of slow vehicles and of exact ones has the same goals, and other landings."""
    quick, slow = (tc.simulate(scenario(0, agents=30, vehicle=vehicle, steps=1)) for vehicle in ("exact", SLOW))
    assert not np.array_equal(quick.positions[1], slow.positions[1])
    for name in ("state", "goal_cell", "next_cell"):
        np.testing.assert_array_equal(quick.read(name), slow.read(name), err_msg=name)


@pytest.mark.parametrize("duration", [0.5, 4.0])
def test_vehicles_drive_for_as_long_as_a_step_lasts(duration):
    """Slow vehicles with a long way to go: nobody gets further than its speed allows, and the furthest gets as far."""
    vehicle = {"kind": "double-integrator", "max_speed": 0.001, "max_acceleration": 100.0, "duration": duration}
    found = tc.simulate(scenario(0, agents=30, vehicle=vehicle, steps=2))
    ways = np.linalg.norm(np.diff(found.positions, axis=0), axis=2)
    np.testing.assert_allclose(ways.max(axis=1), 0.001 * duration, rtol=1e-3)
