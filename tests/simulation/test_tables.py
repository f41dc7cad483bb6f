"""Runs as datasets and tables of other libraries."""

import sys

import numpy as np
import pytest
import xarray

import tricover as tc
from tests.simulation.teams import eventful, scenario
from tricover.errors import MissingExtraError
from tricover.simulation.record import ARRAYS


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return tc.simulate(eventful(vehicle={"kind": "anywhere", "duration": 0.5}), tmp_path_factory.mktemp("a") / "r.zarr")


def test_a_dataset_has_all_arrays_with_coordinates_and_units(run):
    data = run.to_xarray()
    for name, layout in ARRAYS.items():
        assert data[name].dims == layout.dimensions
        assert data[name].attrs.get("units") == layout.unit
        np.testing.assert_array_equal(data[name], run.read(name))
    assert data.time.values.tolist() == [0.5 * step for step in range(21)]
    assert data.time.attrs["units"] == "s"
    assert data.step.values.tolist() == list(range(20))
    np.testing.assert_array_equal(data.layer, run.network.layer)
    assert data.role.values.tolist() == run.network.roles
    np.testing.assert_array_equal(data.positions.sel(xy="y", agent=7), run.positions[:, 7, 1])
    np.testing.assert_array_equal(data.desired, run.desired)
    assert data.desired.attrs["units"] == "m"
    assert set(data.coords) == {"time", "step", "agent", "layer", "role", "xy", "corner"}
    followers = data.positions.where(data.role == "follower", drop=True)
    assert followers.sizes["agent"] == len(run.network.followers)
    assert (data.attrs["seed"], data.attrs["vehicle"], data.attrs["steps"]) == (0, "anywhere", 20)
    assert data.attrs["source"].startswith("tricover ")
    assert 'motion = "walk"' in data.attrs["scenario"]


def test_the_store_opens_in_xarray_alike(run):
    with xarray.open_zarr(run.record.path) as stored:
        xarray.testing.assert_equal(stored.load(), run.to_xarray())
        assert stored.time.attrs["units"] == "s"


def test_parts_of_the_store_have_dimensions_with_names_that_say_what_they_count(tmp_path):
    rng = np.random.default_rng(0)
    team, targets = rng.random((40, 2)), rng.random((50, 2))
    anchors = team[tc.build_network(team).anchors] + rng.normal(0, 0.01, (12, 1, 2))
    given = tc.Scenario(
        reference=team,
        targets={
            "positions": targets,
            "weights": rng.random(50) + 1,
            "active": np.tile([0, 9], (50, 1)),
            "ids": [f"t{k}" for k in range(50)],
            "motion": {"paths": targets + rng.normal(0, 0.01, (7, 1, 2))},
        },
        anchors=anchors,
        events={"join": [{"step": 2, "reference": rng.random((35, 2))}, {"step": 3, "reference": rng.random((36, 2))}]},
        steps=4,
    )
    run = tc.simulate(given, tmp_path / "run.zarr")
    with xarray.open_zarr(tmp_path / "run.zarr", group="scenario") as part:
        assert dict(part.targets_positions.sizes) == {"target": 50, "xy": 2}
        assert part.targets_active.dims == ("target", "from_to")
        assert part.targets_motion_paths.dims == ("target_step", "target", "xy")
        assert part.anchors_paths.dims == ("anchor_step", "anchor", "xy")
        assert dict(part.formation_positions.sizes) == {"agent": 40, "xy": 2}
    with xarray.open_zarr(tmp_path / "run.zarr", group="epochs/2") as part:
        assert part.in_neighbors.dims == ("agent", "corner")
    with xarray.open_zarr(tmp_path / "run.zarr") as data:
        assert set(map(str, data.dims)) == {"time", "step", "agent", "xy", "corner"}
    assert tc.Run.open(tmp_path / "run.zarr").scenario == run.mission.self_contained()


def test_a_dataset_can_be_written_to_other_files(run, tmp_path):
    data = run.to_xarray()
    data.to_zarr(tmp_path / "copy.zarr", zarr_format=2)
    with xarray.open_zarr(tmp_path / "copy.zarr") as copy:
        np.testing.assert_array_equal(copy.positions, run.positions)


def test_a_table_has_a_row_for_each_step_and_agent(run):
    table = run.to_pandas()
    assert table.index.names == ["step", "agent"]
    assert len(table) == 21 * 31
    row = table.loc[(3, 12)]
    assert (row.x, row.y) == tuple(run.positions[3, 12])
    assert row.time == 1.5
    assert row.state == run.states[3, 12]
    assert row.layer == run.network_at(3).layer[12]
    assert row.role == run.network_at(3).roles[12]
    assert table.loc[(20, 12)].isna().to_dict() == {name: name in LAST for name in table.columns}
    assert table.loc[(3, 30)].role == "still to come"
    assert table.loc[(3, 30)].layer == -1
    assert table.loc[(6, 30)].role != "still to come"
    lost = run.scenario.events.leave[0].agents[0]
    assert (table.loc[(3, lost)].present, table.loc[(4, lost)].present) == (True, False)
    assert table.loc[(4, lost)].role == "lost"
    assert (run.states == -1).any()  # outside of its triangle is somewhere, too
    np.testing.assert_array_equal(table.state.fillna(-2).to_numpy()[: 20 * 31], run.states.ravel())
    anchors = table.xs(5).query("layer == 0")
    assert anchors.state.isna().all()
    assert sorted(anchors.index) == sorted(run.network_at(5).anchors)
    assert table.groupby("step").present.sum().tolist() == run.present.sum(axis=1).tolist()
    np.testing.assert_array_equal(table.miss.to_numpy()[: 20 * 31], run.misses.ravel())


LAST = {"state", "goal_cell", "next_cell", "miss"}


def test_desired_positions_are_kept_in_the_store(tmp_path, monkeypatch):
    desired = tc.simulate(scenario(0, agents=20)).desired
    tc.simulate(scenario(0, agents=20), tmp_path / "run.zarr")
    monkeypatch.setattr("tricover.simulation.run.settled_configuration", None)
    opened = tc.Run.open(tmp_path / "run.zarr")
    np.testing.assert_array_equal(opened.desired, desired)
    assert opened.converged


@pytest.mark.parametrize(("name", "convert"), [("xarray", "to_xarray"), ("pandas", "to_pandas")])
def test_a_missing_library_is_named_with_the_extra(run, monkeypatch, name, convert):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"need the library {name}: pip install 'tricover\[notebook\]'"):
        getattr(run, convert)()
