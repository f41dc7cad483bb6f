"""A run on disk: the same as in memory, never lost, and readable by others."""

import os
import resource
from contextlib import contextmanager

import numpy as np
import pytest
import xarray

import tricover as tc
from tests.simulation.stores import files, stop_at
from tests.simulation.teams import scenario
from tricover.errors import FileFormatError, InputError, LostControlError, StoreError
from tricover.simulation.record import ARRAYS
from tricover.vehicles.anywhere import Anywhere

WALK = {"motion": "walk", "resolution": 10}


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(one.read(name), other.read(name))
    np.testing.assert_array_equal(one.desired, other.desired)
    assert (one.settled_at, one.converged) == (other.settled_at, other.converged)


def with_events(**settings):
    events = {"leave": [{"step": 4, "agents": [3, 8]}], "join": [{"step": 6, "reference": [[0.4, 0.52]]}]}
    return scenario(0, agents=30, control=WALK, events=events, **settings)


@pytest.mark.parametrize("vehicle", ["exact", "anywhere", "double-integrator"])
def test_a_stored_run_is_the_run_in_memory(tmp_path, vehicle):
    given = with_events(vehicle=vehicle, steps=60)
    run = tc.simulate(given)
    kept = tc.simulate(given, tmp_path / "run.zarr")
    assert_same(run, kept)
    opened = tc.Run.open(tmp_path / "run.zarr")
    assert_same(run, opened)
    assert opened.scenario == given
    assert not opened.interrupted
    assert [epoch.start for epoch in opened.epochs] == [0, 4, 6]
    assert opened.network == run.network
    np.testing.assert_array_equal(opened.read("positions", 2, 5), run.positions[2:5])
    pieces = np.concatenate([piece for _, piece in opened.blocks("weights")])
    np.testing.assert_array_equal(pieces, run.weights)


def test_xarray_opens_the_store_as_it_is(tmp_path):
    run = tc.simulate(scenario(3, agents=20), tmp_path / "run.zarr")
    with xarray.open_zarr(tmp_path / "run.zarr") as data:
        assert data.positions.dims == ("time", "agent", "xy")
        assert data.positions.attrs["units"] == "m"
        assert data.weights.dims == ("step", "agent", "corner")
        assert data.sizes["time"] == run.steps + 1
        np.testing.assert_array_equal(data.positions.isel(time=-1), run.positions[-1])
        assert data.attrs["scenario"]["control"]["motion"] == "reach"


def test_a_run_of_a_file_needs_the_file_no_more(tmp_path):
    team = tmp_path / "team.csv"
    rng = np.random.default_rng(0)
    team.write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in rng.random((12, 2))))
    given = tc.Scenario(
        reference=team, targets={"generator": "clusters", "count": 90, "centres": [[0.2, 0.3]], "spread": 0.2}
    )
    run = tc.simulate(given, tmp_path / "run.zarr")
    team.unlink()
    opened = tc.Run.open(tmp_path / "run.zarr")
    assert_same(run, opened)
    assert opened.scenario == run.mission.self_contained()
    again = tc.simulate(opened.scenario)
    assert_same(run, again)


def test_what_is_there_is_not_overwritten(tmp_path):
    given = scenario(3, agents=20)
    tc.simulate(given, tmp_path / "run.zarr")
    before = files(tmp_path / "run.zarr")
    with pytest.raises(StoreError, match="exists: choose another place, or remove, resume or overwrite it"):
        tc.simulate(given, tmp_path / "run.zarr")
    with pytest.raises(StoreError, match="run of another scenario"):
        tc.simulate(scenario(7, agents=20), tmp_path / "run.zarr", resume=True)
    assert_same(tc.simulate(given, tmp_path / "run.zarr", resume=True), tc.simulate(given))
    assert files(tmp_path / "run.zarr") == before


@pytest.mark.parametrize("content", [None, "empty", "text", "zarr"])
def test_what_is_no_run_is_named(tmp_path, content):
    import zarr

    path = tmp_path / "run.zarr"
    if content == "empty":
        path.mkdir()
    elif content == "text":
        path.write_text("hello")
    elif content == "zarr":
        zarr.open_group(path, mode="w", zarr_format=3)
    with pytest.raises(FileFormatError, match=r"run\.zarr: this is not the store of a run"):
        tc.Run.open(path)


def test_ctrl_c_keeps_what_was_computed_and_the_run_goes_on(tmp_path):
    given = with_events(vehicle="anywhere", steps=40)
    whole = tc.simulate(given, tmp_path / "whole.zarr")

    for step in (3, 5, 6, 21):
        part = tc.simulate(given, tmp_path / "run.zarr", resume=True, progress=stop_at(step))
        assert part.interrupted
        assert part.steps == step
        opened = tc.Run.open(tmp_path / "run.zarr")
        assert opened.interrupted
        np.testing.assert_array_equal(opened.positions, whole.positions[: step + 1])
        with xarray.open_zarr(tmp_path / "run.zarr") as data:
            np.testing.assert_array_equal(data.positions[: step + 1], whole.positions[: step + 1])
    tc.simulate(given, tmp_path / "run.zarr", resume=True)
    assert files(tmp_path / "run.zarr") == files(tmp_path / "whole.zarr")
    short = tc.simulate(given, progress=stop_at(8))
    assert short.interrupted
    np.testing.assert_array_equal(short.positions, whole.positions[:9])


def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path):
    given = scenario(0, agents=60, control=WALK, vehicle="anywhere", steps=60, stop_when_settled=False)
    whole = tc.simulate(given)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"File too large; the \d+ steps before stay readable: resume"):
            tc.simulate(given, tmp_path / "run.zarr", flush=0.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    part = tc.Run.open(tmp_path / "run.zarr")
    assert 0 < part.steps < 60
    assert part.interrupted
    np.testing.assert_array_equal(part.positions, whole.positions[: part.steps + 1])
    assert_same(tc.simulate(given, tmp_path / "run.zarr", resume=True), whole)


@contextmanager
def without_privileges(tmp_path):
    """Permissions mean nothing to root: become nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    for folder in [tmp_path, *tmp_path.parents]:
        if not folder.stat().st_mode & 0o077:  # pytest's own folders are for their owner alone
            folder.chmod(0o755)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_folder_is_told_and_what_is_in_it_stays_readable(tmp_path):
    given = scenario(0, agents=20, control=WALK, vehicle="anywhere", steps=30)

    def stop(now):
        if now.step == 5:
            raise KeyboardInterrupt

    tc.simulate(given, tmp_path / "run.zarr", progress=stop)
    everything = [tmp_path, *tmp_path.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    with without_privileges(tmp_path):
        with pytest.raises(StoreError, match=r"new\.zarr: cannot write the run: Permission denied"):
            tc.simulate(given, tmp_path / "new.zarr")
        with pytest.raises(StoreError, match="Permission denied; the 5 steps before stay readable"):
            tc.simulate(given, tmp_path / "run.zarr", resume=True)
        assert tc.Run.open(tmp_path / "run.zarr").steps == 5
    tmp_path.chmod(0o700)
    with (
        without_privileges(tmp_path.parent),
        pytest.raises(StoreError, match=r"run\.zarr: cannot write the run: Permission denied"),
    ):
        tc.simulate(given, tmp_path / "run.zarr")
    for path in everything:
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(5)
    reference, targets = rng.random((3000, 2)), rng.random((5000, 2))
    runs = []
    for threads in ("1", "2"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        given = tc.Scenario(
            reference=reference,
            targets=targets,
            network={"mentee": "balanced"},
            control={"motion": "walk"},
            vehicle="anywhere",
            steps=12,
        )
        runs.append(tc.simulate(given))
    assert_same(*runs)


def test_a_step_that_fails_keeps_the_steps_before(tmp_path, monkeypatch):
    events = {"leave": [{"step": 2, "agents": [1]}]}
    given = scenario(0, agents=20, control=WALK, vehicle="anywhere", steps=30, events=events)
    whole = tc.simulate(given)
    drive = Anywhere.drive
    calls = iter(range(100))

    def fails_at_nine(self, states, reach_sets, duration, draws):
        if next(calls) == 9:
            raise LostControlError("anywhere", [3])
        return drive(self, states, reach_sets, duration, draws)

    monkeypatch.setattr(Anywhere, "drive", fails_at_nine)
    with pytest.raises(LostControlError, match="anywhere of agent 4 lost control"):
        tc.simulate(given, tmp_path / "run.zarr")
    monkeypatch.undo()
    np.testing.assert_array_equal(tc.Run.open(tmp_path / "run.zarr").positions, whole.positions[:10])
    assert_same(tc.simulate(given, tmp_path / "run.zarr", resume=True), whole)


@pytest.mark.parametrize("count", [5, 200])
def test_names_of_targets_are_kept(tmp_path, count):
    """Whatever they are: of a file, of a ``Targets``, few or many; through a scenario file, too."""
    names = [f"tree {k} 'é\n\u202e\\'" for k in range(count)]
    points = np.random.default_rng(0).random((count, 2))
    tc.Targets(points, ids=names).to_file(tmp_path / "targets.json")
    for targets in (tmp_path / "targets.json", tc.Targets(points, ids=names)):
        given = scenario(0, agents=20).replace(targets=targets)
        store = tmp_path / f"{type(targets).__name__}.zarr"
        run = tc.simulate(given, store)
        assert run.targets.ids == tuple(names)
        assert tc.Run.open(store).targets.ids == tuple(names)
        assert tc.Run.open(store).scenario == given.self_contained()
        given.self_contained().save(tmp_path / "all.toml")
        assert tc.simulate(tc.Scenario.load(tmp_path / "all.toml")).targets.ids == tuple(names)
    with pytest.raises(InputError, match="ids"):
        tc.simulate(scenario(0, agents=20).replace(targets={"positions": points, "ids": names[1:]}))
