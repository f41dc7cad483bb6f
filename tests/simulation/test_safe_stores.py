"""What stores promise: damage is noticed and named, one process writes at a time, a finished run is on the disk."""

import os
import shutil
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import zarr

import tricover as tc
from tests.simulation.stores import files, stop_at
from tests.simulation.teams import eventful, scenario
from tricover.errors import FileFormatError, InputError, LostControlError, StoreError
from tricover.simulation import store as stores
from tricover.simulation.checksums import checksum, extended
from tricover.simulation.record import ARRAYS
from tricover.simulation.stored import StoreReader


@pytest.fixture
def short_chunks(monkeypatch):
    monkeypatch.setattr(stores, "LONGEST_BLOCK", 4)


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("do", [flip, Path.unlink, lambda path: path.write_bytes(b"")])
def test_damage_is_named_with_what_can_still_be_read(tmp_path, short_chunks, do):
    run = tc.simulate(eventful())
    tc.simulate(eventful(), tmp_path / "run.zarr")
    do(tmp_path / "run.zarr" / "weights" / "c" / "1" / "0" / "0")
    opened = tc.Run.open(tmp_path / "run.zarr")
    message = (
        r"run\.zarr is damaged: weights \(entries 4 to 7\); all else can still be read: "
        r"copy the run again, or run its scenario again$"
    )
    with pytest.raises(FileFormatError, match=message):
        opened.read("weights")
    for name in ARRAYS.keys() - {"weights"}:
        np.testing.assert_array_equal(opened.read(name), run.read(name))
    for part in (slice(0, 4), slice(8, 20), slice(9, 10)):
        np.testing.assert_array_equal(opened.read("weights", part.start, part.stop), run.weights[part])
    assert StoreReader(tmp_path / "run.zarr").damage() == {"weights": [(4, 8)]}


def test_several_damages_are_told_at_once(tmp_path, short_chunks):
    tc.simulate(eventful(), tmp_path / "run.zarr", progress=stop_at(10))
    for piece in ("positions/c/0/0/0", "positions/c/2/0/0", "resume/vehicles/c/0/0/0", "resume/vehicles/c/1/0/0"):
        (tmp_path / "run.zarr" / piece).unlink()
    with pytest.raises(
        FileFormatError, match=r"positions \(entries 0 to 3 and 8 to 10\) and resume/vehicles; all else"
    ):
        tc.Run.open(tmp_path / "run.zarr").read("positions")


@pytest.mark.parametrize("piece", ["scenario/targets_positions/c/0/0", "epochs/1/layer/c/0"])
def test_without_its_scenario_or_networks_a_run_is_not_opened(tmp_path, piece):
    tc.simulate(eventful(), tmp_path / "run.zarr")
    flip(tmp_path / "run.zarr" / piece)
    name = piece.split("/c/")[0]
    with pytest.raises(FileFormatError, match=f"damaged: {name}; Zarr and xarray can still read all else: copy"):
        tc.Run.open(tmp_path / "run.zarr")


@pytest.mark.parametrize("piece", ["resume/memory/place", "resume/vehicles", "weights", "state", "present"])
def test_a_damaged_run_is_not_resumed(tmp_path, piece):
    """Not even where what is missing would read as zeros; what is there stays readable."""
    tc.simulate(eventful(), tmp_path / "run.zarr", progress=stop_at(9))
    shutil.rmtree(tmp_path / "run.zarr" / piece / "c")
    before = files(tmp_path / "run.zarr")
    assert len(tc.Run.open(tmp_path / "run.zarr").positions) == 10
    with pytest.raises(FileFormatError, match=rf"run\.zarr is damaged: {piece}"):
        tc.simulate(eventful(), tmp_path / "run.zarr", resume=True)
    assert files(tmp_path / "run.zarr") == before


def test_a_damaged_root_document_is_refused(tmp_path):
    tc.simulate(eventful(), tmp_path / "run.zarr")
    path = tmp_path / "run.zarr" / "zarr.json"
    text = path.read_text()
    for other in (
        text.replace('"seed": 0', '"seed": 4'),
        text.replace('"step": 20', '"step": 19'),
        text.replace('"slot": 0', '"slot": 1'),
        text[:-9],
        text.replace("float64", "float32", 1),
        "[1]",
        "{}",
    ):
        assert other != text
        path.write_text(other)
        with pytest.raises(FileFormatError, match=r"damaged: zarr\.json, without which|not the store of a run"):
            tc.Run.open(tmp_path / "run.zarr")


def test_zarr_itself_notices_a_flipped_bit(tmp_path):
    """Whoever reads a store without us is warned, too."""
    tc.simulate(eventful(), tmp_path / "run.zarr")
    flip(tmp_path / "run.zarr" / "positions" / "c" / "0" / "0" / "0")
    with pytest.raises(ValueError, match="checksum do not match"):
        zarr.open_group(tmp_path / "run.zarr", mode="r")["positions"][...]


def test_an_old_chunk_in_the_place_of_a_new_one_is_noticed(tmp_path, short_chunks):
    """Each is whole by itself."""
    tc.simulate(eventful(), tmp_path / "run.zarr")
    chunks = tmp_path / "run.zarr" / "positions" / "c"
    shutil.copy(chunks / "1" / "0" / "0", chunks / "2" / "0" / "0")
    with pytest.raises(FileFormatError, match=r"positions \(entries 8 to 11\)"):
        tc.Run.open(tmp_path / "run.zarr").read("positions")


@pytest.mark.parametrize("length", [1, 3, 4, 100])
def test_checksums_go_on_as_entries_come(length):
    values = np.random.default_rng(0).random((11, 3, 2))
    whole = [checksum(values[start : start + length]) for start in range(0, 11, length)]
    for cuts in ([0, 11], [0, 1, 2, 3, 11], [0, 4, 8, 11], [0, 5, 5, 6, 11]):
        sums = []
        for start, stop in pairwise(cuts):
            sums = extended(sums, length, start, values[start:stop])
        assert sums == whole


def test_a_checksum_is_of_the_numbers_whatever_their_place_in_memory():
    values = np.arange(24.0).reshape(4, 3, 2)
    assert checksum(np.asfortranarray(values)) == checksum(values) == checksum(np.repeat(values, 2, axis=0)[::2])
    assert checksum(-np.zeros(3)) != checksum(np.zeros(3))
    assert checksum(np.empty((0, 5))) == 0


def test_a_second_writer_is_told_and_the_first_goes_on(tmp_path):
    given, store = eventful(), tmp_path / "run.zarr"
    whole = tc.simulate(given)
    told = []

    def intrude(now):
        if now.step == 5:
            for resume in (False, True):
                with pytest.raises(StoreError) as caught:
                    tc.simulate(given, store, resume=resume)
                told.append(str(caught.value))

    run = tc.simulate(given, store, progress=intrude, flush=0.0)
    assert told[0].endswith("exists: choose another place, or remove, resume or overwrite it")
    assert told[1].endswith("is being written by another process: wait, or choose another place")
    np.testing.assert_array_equal(run.positions, whole.positions)


@pytest.mark.parametrize("end", ["finished", "cut", "step fails", "disk fails"])
def test_whoever_has_ended_lets_others_write(tmp_path, monkeypatch, end):
    given, store = eventful(), tmp_path / "run.zarr"

    def fail(_):
        raise RuntimeError("a rule of the user's own")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        if end == "disk fails":
            tc.simulate(given, store, progress=stop_at(3))
            patch.setattr(stores, "_write_document", full)
            with pytest.raises(StoreError, match="No space left"):
                tc.simulate(given, store, resume=True, flush=0.0)
        elif end == "step fails":
            with pytest.raises(RuntimeError):
                tc.simulate(given, store, progress=fail)
        else:
            tc.simulate(given, store, progress=stop_at(4) if end == "cut" else None)
    np.testing.assert_array_equal(tc.simulate(given, store, resume=True).positions, tc.simulate(given).positions)


@pytest.mark.parametrize("again", [False, True])
def test_a_store_that_is_removed_under_way_is_not_written_into(tmp_path, again):
    """Nor is the one that somebody else made there since."""
    given, store = eventful(), tmp_path / "run.zarr"
    other = eventful(seed=5)

    def remove(now):
        if now.step == 5:
            shutil.rmtree(store)
            if again:
                tc.simulate(other, store)

    with pytest.raises(StoreError, match="was removed or replaced while the run was under way"):
        tc.simulate(given, store, progress=remove, flush=1e9)
    assert store.exists() == again
    if again:
        np.testing.assert_array_equal(tc.Run.open(store).positions, tc.simulate(other).positions)


def test_a_finished_run_needs_no_lock_to_be_resumed(tmp_path):
    given, store = eventful(), tmp_path / "run.zarr"
    tc.simulate(given, store)
    lock = stores.Lock(store)
    assert not tc.simulate(given, store, resume=True).interrupted
    lock.release()


def test_an_empty_folder_is_a_place_for_a_run_and_the_one_we_are_in_is_not(tmp_path, monkeypatch):
    given = scenario(0, agents=20)
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    tc.simulate(given, tmp_path / "link")
    assert tc.Run.open(tmp_path / "empty").converged
    assert (tmp_path / "link").is_symlink()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(StoreError, match=r"^\. is the folder that you are in: name a new one"):
        tc.simulate(given, ".")
    with pytest.raises(StoreError, match=r"^/ exists: choose another place"):
        tc.simulate(given, "/")
    with pytest.raises(StoreError, match=r"^'a\\x00b' is no place for a run: embedded null"):
        tc.simulate(given, "a\0b")


class Disk:
    """What a power cut would leave: contents of files and of folders as they were last synced."""

    def __init__(self, monkeypatch, folder):
        self.folder, self.safe, self.sync = folder, {}, os.fsync
        monkeypatch.setattr(os, "fsync", self.fsync)

    def fsync(self, number):
        self.sync(number)
        path = Path(os.readlink(f"/proc/self/fd/{number}"))
        self.safe[os.fstat(number).st_ino] = self.content(path)
        if path.name == "zarr.json" and '"finished": true' in path.read_text():
            others = {each for each in self.lost() if path.parent not in (each, each.parent)}
            assert not others, f"said to be finished before {others} were safe"

    @staticmethod
    def content(path):
        if path.is_dir():
            return {each.name: each.stat().st_ino for each in path.iterdir()}
        return path.read_bytes()

    def lost(self):
        """Files and folders that would not be as they are."""
        everything = [self.folder, *self.folder.rglob("*")]
        return {each for each in everything if self.safe.get(each.stat().st_ino) != self.content(each)}


def test_a_finished_run_survives_a_power_cut(tmp_path, monkeypatch):
    disk = Disk(monkeypatch, tmp_path / "runs" / "mine")
    tc.simulate(eventful(), tmp_path / "runs" / "mine" / "run.zarr")
    assert disk.lost() == set()
    assert disk.safe[(tmp_path / "runs").stat().st_ino]
    tc.simulate(eventful(), tmp_path / "runs" / "mine" / "cut.zarr", progress=stop_at(5))
    assert disk.lost()  # of an unfinished one that is not promised


def test_a_vehicle_that_loses_itself_is_named_and_nothing_of_it_is_recorded(tmp_path):
    class Lost:
        kind, landing, state_size = "mine", "anywhere", 2

        def initial_state(self, positions):
            return np.array(positions, dtype=float)

        def output(self, states):
            return states

        def drive(self, states, reach_sets, duration, draws):
            landed = reach_sets.mean(axis=1)
            landed[7] = np.nan
            return landed

    with pytest.raises(LostControlError, match="mine of agent 7 lost control") as caught:
        tc.simulate(scenario(0, agents=20).replace(vehicle=Lost()))
    assert caught.value.run.steps == 0
    assert np.isfinite(caught.value.run.positions).all()


def test_a_run_can_be_looked_at_while_it_is_written(tmp_path):
    """From another thread, at any moment: what the marker speaks of is whole."""
    given, store = eventful(steps=40), tmp_path / "run.zarr"
    whole, seen, done = tc.simulate(given), [], threading.Event()

    def look():
        while not done.is_set():
            if (store / "zarr.json").exists():
                reader = StoreReader(store)
                found = reader.read("weights", 0, reader.steps)
                np.testing.assert_array_equal(found, whole.weights[: reader.steps])
                seen.append(reader.steps)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        tc.simulate(given, store, flush=0.0)
    finally:
        done.set()
        looker.join()
    assert seen


def test_overwriting_replaces_a_run_and_nothing_else(tmp_path):
    given, store = eventful(), tmp_path / "run.zarr"
    tc.simulate(given, store)
    other = tc.simulate(eventful(seed=5), store, overwrite=True)
    np.testing.assert_array_equal(other.positions, tc.simulate(eventful(seed=5)).positions)
    tc.simulate(given, tmp_path / "fresh.zarr", overwrite=True)
    tc.simulate(given, store, overwrite=True)
    assert files(store) == files(tmp_path / "fresh.zarr")
    assert {each.name for each in tmp_path.iterdir()} == {"run.zarr", "fresh.zarr"}
    for name in ("positions/notes.txt", f"x.{'0a' * 16}.partial.txt", "c/0.txt", "zarr.json.bak"):
        (store / name).parent.mkdir(exist_ok=True)
        (store / name).write_text("mine")
        before = files(store)
        with pytest.raises(StoreError, match=rf"run\.zarr holds '{name}', which is not part of a run: move it"):
            tc.simulate(given, store, overwrite=True)
        assert files(store) == before
        (store / name).unlink()
    with pytest.raises(InputError, match="choose one of them"):
        tc.simulate(given, store, overwrite=True, resume=True)


@pytest.mark.parametrize("kind", ["folder", "file", "zarr"])
def test_overwriting_refuses_what_is_no_run(tmp_path, kind):
    place = tmp_path / "photos"
    if kind == "file":
        place.write_text("mine")
    elif kind == "zarr":
        zarr.open_group(place, mode="w").create_array("a", data=np.ones(3))
    else:
        (place / "c").mkdir(parents=True)
        (place / "c" / "0").write_text("mine")
    before = files(tmp_path)
    with pytest.raises(FileFormatError, match="photos: this is not the store of a run"):
        tc.simulate(eventful(), place, overwrite=True)
    assert files(tmp_path) == before
    assert [each.name for each in tmp_path.iterdir()] == ["photos"]


def test_a_run_that_is_being_written_is_not_overwritten(tmp_path):
    given, store = eventful(), tmp_path / "run.zarr"

    def intrude(now):
        if now.step == 5:
            with pytest.raises(StoreError, match="is being written by another process"):
                tc.simulate(given, store, overwrite=True)

    assert not tc.simulate(given, store, progress=intrude, flush=0.0).interrupted
