import json

import numpy as np
import pytest

from tricover.errors import InputError
from tricover.geometry import volumes
from tricover.vehicles import AOCReport, AOCRow, Mixed, check_aoc, inside, vehicle
from tricover.vehicles.aoc import STEPS, walks


def test_walks_go_from_cell_to_cell_across_an_edge():
    size, margin = 0.8, 0.05
    begin, reach_sets = walks(size, 200, 3, margin)
    assert begin.shape == (200, 2)
    assert reach_sets.shape == (STEPS, 200, 3, 2)
    sides = np.linalg.norm(reach_sets - np.roll(reach_sets, 1, axis=2), axis=3)
    np.testing.assert_allclose(sides, size, rtol=1e-12)
    centres = np.concatenate([np.zeros((1, 200, 2)), reach_sets.mean(axis=2)])
    cell = size / (1 - 3 * margin)
    # Two equilateral cells that share an edge have centres a side over √3 apart.
    np.testing.assert_allclose(np.linalg.norm(np.diff(centres, axis=0), axis=2), cell / np.sqrt(3), rtol=1e-12)
    cells = centres[1:, :, None] + (reach_sets - centres[1:, :, None]) / (1 - 3 * margin)
    shared = (np.linalg.norm(cells[1:, :, :, None] - cells[:-1, :, None], axis=4) < 1e-12).sum(axis=(2, 3))
    assert (shared == 2).all()
    assert (np.abs(volumes(cells)) > 0).all()
    assert not inside(begin, reach_sets[0]).any()


def test_the_ideal_vehicles_land_at_any_duration():
    for kind in ("exact", "anywhere"):
        report = check_aoc(vehicle(kind), [0.01, 10], 1.0, starts=50)
        assert report.holds
        assert [row.share for row in report.rows] == [1, 1]
        assert all(row.shortest <= 1 / 1024 for row in report.rows)
        assert "≤ 0.000977" in repr(report)


def test_shortest_duration_of_a_unicycle_is_between_its_analytic_bounds():
    row = check_aoc(vehicle("unicycle", max_speed=0.2, max_turn_rate=2.0), 0.5, 5.0, starts=2000).rows[0]
    cell = 0.5 / (1 - 3 * 0.05)
    # Half a turn and the longest way there is, from a corner of a reach set to the next centre, is always enough;
    # among 2000 starts some turn by nearly half a turn, and then cross at least the gap between the reach sets.
    longest, gap = 0.5 / np.sqrt(3) + cell / np.sqrt(3), 2 * 0.05 * cell * np.sqrt(0.75)
    assert (np.pi - 0.1) / 2 + gap / 0.2 < row.shortest <= (np.pi / 2 + longest / 0.2) * 1.01


def test_shortest_duration_of_a_point_mass_grows_with_the_root_of_the_size():
    rider = vehicle("double-integrator", max_acceleration=1.0, max_speed=100.0)
    small, large = check_aoc(rider, [0.5, 2.0], 4.0, starts=100).rows
    assert large.shortest / small.shortest == pytest.approx(2.0, rel=0.02)


def test_too_short_a_step_is_told_with_its_worst_miss():
    report = check_aoc(vehicle("double-integrator"), [0.5, 5.0], 1.0, starts=100)
    assert not report.holds
    assert report.rows[0].share == 1
    assert report.rows[0].worst_miss == 0
    assert report.rows[1].share == 0
    assert 1 < report.rows[1].worst_miss < 15
    assert report.rows[1].shortest > 1
    again = check_aoc(vehicle("double-integrator"), 5.0, report.rows[1].shortest, starts=100)
    assert again.holds


def test_a_vehicle_that_never_lands_has_no_shortest_duration():
    report = check_aoc(vehicle("quadrotor", wind=(3, 0), integral_gain=0), 0.05, 1.0, starts=3)
    assert report.rows[0].shortest is None
    assert "never" in repr(report)
    assert json.loads(report.to_json())["rows"][0]["shortest"] is None


def test_a_vehicle_of_ones_own_can_be_checked():
    class Lazy:
        kind = "lazy"
        state_size = 2

        def initial_state(self, positions):
            return np.array(positions)

        def output(self, states):
            return states

        def drive(self, states, reach_sets, duration, draws):
            return states

    report = check_aoc(Lazy(), 1.0, 1.0, starts=4)
    assert report.vehicle == {"kind": "lazy"}
    assert report.rows == (AOCRow(1.0, 0.0, report.rows[0].worst_miss, None),)


def test_json_holds_everything_and_a_share_is_never_rounded_up():
    report = AOCReport({"kind": "exact"}, 2.0, 10_000, 0.05, 7, (AOCRow(0.5, 0.9999, 0.01, 2.1),))
    assert json.loads(report.to_json()) == {
        "vehicle": {"kind": "exact"},
        "duration": 2.0,
        "starts": 10_000,
        "margin": 0.05,
        "seed": 7,
        "rows": [{"size": 0.5, "share": 0.9999, "worst_miss": 0.01, "shortest": 2.1}],
        "holds": False,
    }
    assert "99.9%" in repr(report)


def test_same_seed_same_report():
    rider = vehicle("unicycle")
    assert check_aoc(rider, 1.0, 2.0, starts=60, seed=4) == check_aoc(rider, 1.0, 2.0, starts=60, seed=4)
    assert check_aoc(rider, 2.0, 2.0, starts=60, seed=4) != check_aoc(rider, 2.0, 2.0, starts=60, seed=5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": -1}, "sizes must be positive numbers of metres"),
        ({"sizes": []}, "sizes must be positive numbers of metres"),
        ({"sizes": [1, float("nan")]}, "sizes must be positive numbers of metres"),
        ({"duration": 0}, "duration must be a positive number of seconds"),
        ({"starts": 0}, "starts must be at least 1"),
        ({"margin": 0.5}, "margin from 0 to below 1/3"),
        ({"vehicle": Mixed((vehicle("exact"),), (0,))}, "check each of them on its own"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        check_aoc(**{"vehicle": vehicle("exact"), "sizes": 1.0, "duration": 1.0} | arguments)
