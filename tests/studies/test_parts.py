"""A team in parts does what the whole team does, to the bit; what was done stays done, and what is damaged is named."""

import json
import os
import shutil

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.network.formations import formations
from tricover.control.records import RECORDS
from tricover.errors import FileFormatError, InputError, StoreError
from tricover.network import first_cells
from tricover.simulation.record import ARRAYS
from tricover.studies import certify_parts, layout, part_work, tiles
from tricover.targets import Targets

EVENTS = {
    "leave": [{"step": 3, "agents": [7, 11]}, {"step": 6, "agents": [0]}],
    "join": [{"step": 5, "reference": [[45.0, 52.0], [30.0, 60.0]]}],
}
MIXED = {
    "kind": "exact",
    "others": [{"agents": list(range(60, 120)), "kind": "anywhere"}, {"agents": [8, 150], "kind": "unicycle"}],
}
POND = [[40.5, 41], [41.5, 41.2], [41, 42.2]]
GUSTY = {"kind": "gusty", "gust": [30.0, 5.0], "chance": 0.3}


def scenario(seed=1, agents=260, **settings):
    rng = np.random.default_rng(seed)
    targets = settings.pop("targets", rng.normal(50, 25, (2 * agents, 2)))
    given = {"reference": rng.random((agents, 2)) * 100, "network": {"mentee": "balanced"}, "seed": seed}
    return tc.Scenario(**{**given, "targets": targets, **settings})


def differences(whole, parts):
    """Names of all in which two runs are not the same, to the bit."""
    found = [name for name in ARRAYS if not np.array_equal(whole.read(name), parts.read(name))]
    facts = ("steps", "settled_at", "converged", "missed", "network", "scenario", "interrupted", "agents")
    found += [name for name in facts if getattr(whole, name) != getattr(parts, name)]
    if not np.array_equal(whole.desired, parts.desired):
        found.append("desired")
    if not np.isclose(whole.largest_error, parts.largest_error, rtol=1e-12, atol=0):
        found.append("largest_error")
    return found


def in_parts(given, folder, most=80, **more):
    return tc.simulate_parts(given, folder / "run", agents_per_part=most, **more)


def moving(steps):
    rng = np.random.default_rng(3)
    return Targets(rng.random((steps, 400, 2)).cumsum(axis=0) * 3)


def weighted():
    rng = np.random.default_rng(4)
    return Targets(rng.random((500, 2)) * 100, weights=rng.choice([0.0, 0.1, 2.5], 500))


SLOWER = [
    {"network": {"core": 100}},
    {"control": {"goal": "rollout"}, "agents": 1400},
    {"control": {"goal": "reference"}, "anchors": "fit"},
    {"control": {"motion": "walk", "resolution": 7}, "steps": 150},
    {"control": {"motion": "walk", "resolution": 5, "kernel": {"slip": 0.2}}, "vehicle": "anywhere", "steps": 25},
    {"control": {"motion": "walk", "resolution": 5, "kernel": "learned"}, "vehicle": GUSTY, "steps": 25},
    {"vehicle": "anywhere", "anchors": "fit", "steps": 40},
    {"vehicle": "anywhere", "control": {"motion": "walk", "resolution": 6}, "steps": 70},
    {"vehicle": "double-integrator", "steps": 12},
    {"vehicle": GUSTY, "steps": 20},
    {"vehicle": {"kind": "gusty", "gust": [5.0, 0.0], "chance": 0.002}, "steps": 40},
    {"targets": moving(9), "steps": 40},
    {"events": EVENTS, "targets": moving(12), "vehicle": MIXED, "steps": 30},
    {"events": EVENTS, "control": {"motion": "walk", "resolution": 6}, "vehicle": "anywhere", "steps": 30},
]
"""Changes of a scenario that are tried with the campaigns."""


QUICK = [
    {},
    {"network": {"mentee": "fermat"}},
    {"network": {"core": [20.0, 70.0]}},
    {"control": {"goal": "predictive"}},
    {"vehicle": MIXED, "steps": 20},
    {"targets": weighted()},
    {"events": EVENTS, "steps": 40},
    {"stop_when_settled": False, "steps": 30},
    {"steps": 3},
    {"steps": 1},
    {"safety": {"zones": [POND]}, "control": {"motion": "walk", "resolution": 12}, "steps": 60},
]


@pytest.mark.parametrize("changes", QUICK, ids=str)
def test_in_parts_as_in_one_piece(tmp_path, changes):
    given = scenario(**changes)
    assert differences(tc.simulate(given), in_parts(given, tmp_path)) == []


@settings(max_examples=12)
@given(formations(most=40), st.sampled_from(["fermat", "balanced"]), st.integers(1, 12), st.integers(1, 9))
def test_degenerate_teams(tmp_path_factory, reference, mentee, most, chunk):
    """Grids, rows, circles and clusters, of all sizes, their targets at the same places, in parts of a few agents."""
    given = tc.Scenario(reference=reference, targets=reference[::2], network={"mentee": mentee}, steps=60)
    try:
        whole = tc.simulate(given)
    except tc.TricoverError:
        return
    folder = tmp_path_factory.mktemp("team")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_cells, "CHUNK", chunk)
        assert differences(whole, in_parts(given, folder, most)) == []
    shutil.rmtree(folder)


def test_agents_that_start_elsewhere(tmp_path):
    rng = np.random.default_rng(2)
    reference = rng.random((200, 2))
    formation = {"positions": reference, "start": rng.permutation(reference) * 3 - 1}
    given = tc.Scenario(formation=formation, targets=rng.random((300, 2)), steps=30)
    assert differences(tc.simulate(given), in_parts(given, tmp_path)) == []


@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
@pytest.mark.parametrize("large", [2, 30])
def test_large_cells_are_split(tmp_path, monkeypatch, mentee, large):
    """Some of them again and again, until none has more followers than may be built in one piece."""
    split_and_run(tmp_path, monkeypatch, mentee, large, even=80, crowded=50, most=80)


def split_and_run(folder, monkeypatch, mentee, large, even, crowded, most):
    monkeypatch.setattr(part_work, "LARGE", large)
    monkeypatch.setattr(layout, "CHUNK", 13)
    rng = np.random.default_rng(9)
    reference = np.concatenate([rng.random((even, 2)), rng.normal(0.3, 0.01, (crowded, 2))])
    formation = {"positions": reference, "start": rng.permutation(reference)}
    given = tc.Scenario(formation=formation, targets=rng.random((300, 2)), network={"mentee": mentee}, steps=200)
    works = []
    run = in_parts(given, folder, most, progress=lambda now: works.append(now.work))
    assert "splitting large cells" in works
    assert differences(tc.simulate(given), run) == []
    assert certify_parts(run).holds


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
def test_who_learns_knows_as_much_as_in_one_piece(tmp_path, vehicle):
    """Also where a part came to rest long before the others, or went on after the run was over."""
    given = scenario(
        control={"motion": "walk", "resolution": 6, "kernel": "learned"}, agents=120, vehicle=vehicle, steps=60
    )
    whole, run = tc.simulate(given), in_parts(given, tmp_path)
    assert differences(whole, run) == []
    followers = whole.network.followers
    for name in RECORDS:
        one, other = (each.record.remembered(name)[followers] for each in (whole, run))
        np.testing.assert_array_equal(one, other)
    for agent in followers[::40].tolist():
        np.testing.assert_array_equal(whole.learned(agent).records, run.learned(agent).records)


@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
def test_two_at_one_place_are_found_when_their_cell_is_split(tmp_path, monkeypatch, mentee):
    """One is the mentee of a split cell, and no child cell has both."""
    monkeypatch.setattr(part_work, "LARGE", 3)
    inner = [[0, 1], [-3, 0.5], [3, 0.5], [1, 0.4], [-1, 0.3], [2, 0.2], [0, 1], [0, 6], [0, 0.2]]
    np.save(tmp_path / "team.npy", np.array([[-10, 0], [10, 0], [0, 10], *inner], float))
    given = tc.Scenario(reference=str(tmp_path / "team.npy"), targets=[[0, 0]], network={"mentee": mentee, "core": 3})
    with pytest.raises(InputError, match="agents 3 and 9 stand at the same point"):
        in_parts(given, tmp_path)


@pytest.mark.parametrize("far", [1e8, 1e17])
def test_a_target_far_away_does_not_matter(tmp_path, far):
    rng = np.random.default_rng(1)
    given = scenario(targets=np.concatenate([rng.random((300, 2)) * 100, [[far, far / 3]]]))
    assert differences(tc.simulate(given), in_parts(given, tmp_path)) == []


def test_small_tiles_and_many_stages_do_not_matter(tmp_path, monkeypatch):
    given = scenario(control={"motion": "walk", "resolution": 6}, steps=90, agents=200)
    whole = tc.simulate(given)
    monkeypatch.setattr(tiles, "TILE", 9)
    monkeypatch.setattr("tricover.studies.part_work._STAGE_BYTES", 1)
    run = in_parts(given, tmp_path)
    assert differences(whole, run) == []
    assert len(run.record.stages) > 2


@pytest.mark.parametrize("kind", ["npy", "zarr"])
def test_teams_on_disk(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(first_cells, "CHUNK", 50)
    monkeypatch.setattr(tiles, "_CHUNK", 70)
    rng, files = np.random.default_rng(6), {}
    for name, count in (("reference", 230), ("targets", 390)):
        files[name] = str(tmp_path / f"{name}.{kind}")
        rows = rng.random((count, 2))
        if kind == "npy":
            np.save(files[name], rows)
        else:
            zarr.create_array(files[name], data=rows, chunks=(64, 2))
    given = tc.Scenario(**files)
    run = in_parts(given, tmp_path)
    assert differences(tc.simulate(given), run) == []
    assert run.scenario == given, "files stay files: the team may be larger than memory"


def test_what_is_done_stays_done(tmp_path, monkeypatch):
    """Ended after every piece of work, begun again, with what is written as it was."""
    monkeypatch.setattr(part_work, "LARGE", 25)
    given = scenario(agents=150, vehicle="anywhere", steps=16)
    whole = tc.simulate(given)
    pieces = []
    in_parts(given, tmp_path / "counted", progress=pieces.append)
    written = {}

    def end_after(count):
        def report(_):
            nonlocal count
            count -= 1
            if count < 0:
                raise KeyboardInterrupt

        return report

    for count in range(0, len(pieces), 3):
        with pytest.raises(KeyboardInterrupt):
            in_parts(given, tmp_path, progress=end_after(count))
        now = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").glob("*s/*/[!.]*/zarr.json")}
        assert written.items() <= now.items(), "what was written is not written again"
        written = now
    assert len(written) > 10
    assert differences(whole, in_parts(given, tmp_path)) == []
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("zarr.json")}
    assert differences(whole, in_parts(given, tmp_path)) == []
    assert finished == {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("zarr.json")}


def test_a_run_opens_again_and_knows_itself(tmp_path):
    run = in_parts(scenario(), tmp_path)
    again = tc.Run.open(tmp_path / "run")
    assert repr(again) == repr(run) == f"<Run of 260 agents: {run.steps} steps, settled at step {run.settled_at}>"
    assert tc.certify(again).holds
    assert again.summary()["converged"]
    np.testing.assert_array_equal(again.to_xarray()["positions"], run.positions)


def test_damage_is_named_and_mended(tmp_path):
    given = scenario()
    run = in_parts(given, tmp_path)
    kept = run.positions
    part = sorted((tmp_path / "run" / "stages" / "0").iterdir())[1]
    chunk = next(path for path in (part / "positions").rglob("c/0/*/*"))
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 4
    chunk.write_bytes(data)
    with pytest.raises(FileFormatError, match=f"{part.name} is damaged .*: remove it, and run the same again"):
        tc.Run.open(tmp_path / "run").read("positions")
    shutil.rmtree(part)
    with pytest.raises(FileFormatError, match=f"{part.name} is not there: all processes have to see the run"):
        tc.Run.open(tmp_path / "run").read("positions")
    document = tmp_path / "run" / "zarr.json"
    assert json.loads(document.read_text())["attributes"]["finished"]
    np.testing.assert_array_equal(in_parts(given, tmp_path).positions, kept)


@pytest.mark.parametrize(
    "name", ["epochs/0/0-0", "epochs/0/top", "epochs/0/top-0", "epochs/0/anchors", "epochs/0/absent"]
)
def test_what_is_removed_is_written_again(tmp_path, name):
    given = scenario()
    kept = in_parts(given, tmp_path).positions
    shutil.rmtree(tmp_path / "run" / name)
    again = in_parts(given, tmp_path)
    np.testing.assert_array_equal(again.positions, kept)
    assert again.network == tc.simulate(given).network
    assert not (tmp_path / "run" / "cells").exists()


def test_killed_before_it_could_say_whose_it_is_and_while_it_wrote(tmp_path):
    """Nothing is in the way of the same call, and no draft stays."""
    given, place = scenario(), tmp_path / "run"
    (place / "epochs" / "0" / ".tricover-0123.part").mkdir(parents=True)
    (place / ".tricover-4567.part").touch()
    (place / "lock").touch()
    shutil.rmtree(place / "epochs")
    assert differences(tc.simulate(given), in_parts(given, tmp_path)) == []
    (place / "epochs" / "0" / ".tricover-0123.part").mkdir()
    in_parts(given, tmp_path)
    assert not list(place.rglob("*.part"))


def test_cells_are_out_of_the_way_before_they_are_removed(tmp_path, monkeypatch):
    """Who is killed while they are removed leaves a draft, and not half of them."""
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    in_parts(scenario(steps=9), tmp_path)
    assert not (tmp_path / "run" / "cells").exists()
    assert len(list((tmp_path / "run").glob("*.part"))) == 1


def test_half_of_the_cells_are_not_taken_for_all(tmp_path):
    given = scenario(steps=9)
    with pytest.raises(KeyboardInterrupt):
        in_parts(given, tmp_path, progress=_end_at("building the network"))
    cell = next((tmp_path / "run" / "cells").glob("*.places"))
    cell.write_bytes(cell.read_bytes()[:-16])
    with pytest.raises(FileFormatError, match=r"cells is damaged .*something is gone"):
        in_parts(given, tmp_path)


def _end_at(work):
    def report(now):
        if now.work == work:
            raise KeyboardInterrupt

    return report


def test_a_document_that_was_changed_is_noticed(tmp_path):
    in_parts(scenario(), tmp_path)
    document = tmp_path / "run" / "zarr.json"
    document.write_text(document.read_text().replace('"agents": 260', '"agents": 259'))
    with pytest.raises(FileFormatError, match="is damaged"):
        tc.Run.open(tmp_path / "run")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"control": {"motion": "morph"}}, "control.motion = 'morph'"),
        ({"control": {"goal": "voronoi"}}, "control.goal = 'voronoi'"),
        ({"control": {"goal": "cellplan"}}, "control.goal = 'cellplan'"),
        ({"control": {"goal": "descent", "motion": "morph"}}, "control.motion = 'morph'"),
        ({"control": {"goal": "tests.studies.small:middle"}}, "control.goal = 'tests.studies.small:middle'"),
        ({"control": {"polish": 3}}, "control.polish"),
        ({"world": {"delay": 1}}, "world"),
        ({"world": {"sight": 3.0}}, "world"),
        ({"safety": {"separation": 0.1}, "agents": 30}, "safety.separation"),
        ({"steps": 0}, "steps = 0"),
    ],
    ids=str,
)
def test_who_has_to_hear_of_other_parts_runs_in_one_piece(tmp_path, changes, key):
    given, works = scenario(**{"agents": 90, "steps": 30, **changes}), []
    run = in_parts(given, tmp_path, progress=lambda now: works.append(now.work))
    assert differences(tc.simulate(given), run) == []
    assert set(works) == {f"in one piece, for {key}"}
    np.testing.assert_array_equal(tc.Run.open(tmp_path / "run").positions, run.positions)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("c/*")}
    np.testing.assert_array_equal(in_parts(given, tmp_path).positions, run.positions)
    assert written == {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("c/*")}, "it was finished"


def test_one_piece_is_gone_on_with_and_keeps_to_its_place(tmp_path):
    given = scenario(agents=60, control={"motion": "morph"}, steps=40)

    def end_at(now):
        if now.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_parts(given, tmp_path, progress=end_at)
    assert tc.Run.open(tmp_path / "run").steps == 9
    assert differences(tc.simulate(given), in_parts(given, tmp_path)) == []
    with pytest.raises(StoreError, match="another scenario"):
        in_parts(given.replace(seed=2), tmp_path)
    with pytest.raises(StoreError, match="run exists: choose another place"):
        in_parts(scenario(agents=60), tmp_path)
    in_parts(scenario(agents=60), tmp_path / "other")
    with pytest.raises(FileFormatError, match="is a run in parts, which simulate_parts goes on with"):
        in_parts(given, tmp_path / "other")


def test_bad_arguments(tmp_path):
    with pytest.raises(InputError, match="simulate_parts takes a Scenario, not list"):
        tc.simulate_parts([], tmp_path / "run")
    with pytest.raises(InputError, match="agents_per_part must be a whole number from 1 on, not 0"):
        in_parts(scenario(), tmp_path, 0)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("mine")
    with pytest.raises(StoreError, match="run exists: choose another place"):
        in_parts(scenario(), tmp_path)
    assert (tmp_path / "run" / "mine").read_text() == "mine"


@pytest.mark.parametrize("other", [{"seed": 2}, {"steps": 7}, {"most": 81}])
def test_a_store_is_of_one_run(tmp_path, other):
    in_parts(scenario(), tmp_path)
    most = other.pop("most", 80)
    with pytest.raises(StoreError, match="is a run of another scenario"):
        in_parts(scenario(**other), tmp_path, most)


def test_files_that_have_changed_are_noticed(tmp_path):
    np.save(tmp_path / "team.npy", np.random.default_rng(1).random((90, 2)))
    given = tc.Scenario(reference=str(tmp_path / "team.npy"), targets=[[0.5, 0.5]])
    in_parts(given, tmp_path)
    os.utime(tmp_path / "team.npy", ns=(1, 1))
    with pytest.raises(StoreError, match="files that have changed"):
        in_parts(given, tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e101])
def test_bad_places_are_named(tmp_path, monkeypatch, bad):
    monkeypatch.setattr(tiles, "_CHUNK", 10)
    rows = np.random.default_rng(1).random((40, 2))
    np.save(tmp_path / "team.npy", rows)
    rows[33, 1] = bad
    np.save(tmp_path / "bad.npy", rows)
    with pytest.raises(InputError, match="target 33 has a coordinate"):
        in_parts(tc.Scenario(reference=str(tmp_path / "team.npy"), targets=str(tmp_path / "bad.npy")), tmp_path)
    with pytest.raises(InputError, match="agent 33 must"):
        in_parts(tc.Scenario(reference=str(tmp_path / "bad.npy"), targets=[[0, 0]]), tmp_path / "other")


def test_two_at_one_place_are_named_by_their_numbers(tmp_path):
    rows = np.random.default_rng(1).random((400, 2))
    rows[333] = rows[77]
    np.save(tmp_path / "team.npy", rows)
    with pytest.raises(InputError, match="agents 77 and 333 stand at the same point"):
        in_parts(tc.Scenario(reference=str(tmp_path / "team.npy"), targets=[[0, 0]]), tmp_path)
