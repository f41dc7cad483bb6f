"""What is in a store, and the order in which it is written: whichever write fails, nothing that was kept is lost."""

import json
import pickle
import shutil
from contextlib import suppress

import numpy as np
import pytest
import zarr
from zarr.storage import LocalStore

import tricover as tc
from tests.simulation.stores import change, files, overwrite, stop_at
from tests.simulation.teams import scenario, team
from tricover.errors import FileFormatError, StoreError
from tricover.network import Network
from tricover.simulation import mission as missions
from tricover.simulation import step as one_step
from tricover.simulation import store as stores
from tricover.simulation import telling
from tricover.simulation.long_arrays import LONG
from tricover.simulation.record import ARRAYS
from tricover.simulation.stored import StoreReader

EVENTS = {"leave": [{"step": 2, "agents": [3, 8]}], "join": [{"step": 4, "reference": [[0.4, 0.52]]}]}
WALK = {"motion": "walk", "resolution": 6}


def eventful(**settings):
    return scenario(
        0, agents=20, control=WALK, events=EVENTS, **{"vehicle": "double-integrator", "steps": 9} | settings
    )


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(one.read(name), other.read(name), err_msg=name)


@pytest.mark.parametrize("number", [0, 2, 4, None, "3"])
def test_another_format_is_refused_and_nothing_is_touched(tmp_path, number):
    store, given = tmp_path / "run.zarr", eventful()
    tc.simulate(given, store, progress=stop_at(3))
    change(store, format=number)
    (store / "positions" / "torn.partial").write_text("half of a file")
    before = files(store)
    for opened in (lambda: tc.Run.open(store), lambda: tc.simulate(given, store, resume=True)):
        with pytest.raises(FileFormatError, match=rf"run\.zarr: a run of format {number}, and this") as caught:
            opened()
        assert "\n" not in str(caught.value)
    assert files(store) == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.zarr"]


def test_a_folder_that_is_no_run_of_this_scenario_keeps_its_files(tmp_path):
    """A download that is under way has such a name too."""
    other = tmp_path / "downloads"
    other.mkdir()
    (other / "film.partial").write_text("half of a film")
    with pytest.raises(FileFormatError, match="not the store of a run"):
        tc.simulate(eventful(), other, resume=True)
    store = tmp_path / "run.zarr"
    tc.simulate(eventful(), store, progress=stop_at(3))
    torn = [store / "positions" / f"0.{'0a' * 16}.partial", store / f".tricover-{'0a' * 8}.part"]
    others = [store / "film.partial", store / f"x.{'0a' * 16}.partial.txt", store / "notes.part"]
    for each in (*torn, *others):
        each.write_text("half of a file")
    folder = store / f"1.{'0a' * 16}.partial"
    folder.mkdir()
    before = files(store)
    with pytest.raises(StoreError, match="another scenario"):
        tc.simulate(eventful(steps=8), store, resume=True)
    assert (other / "film.partial").exists()
    assert files(store) == before
    tc.simulate(eventful(), store, resume=True)
    assert not any(each.exists() for each in torn)
    assert all(each.exists() for each in (*others, folder))


def swapped(store):
    """Let a follower of the first network name its in-neighbours in another order."""
    epoch = zarr.open_group(store / "epochs" / "0", mode="r")
    links = epoch["in_neighbors"][...]
    agent = int(np.flatnonzero(epoch["layer"][...] > 0)[-1])
    links[agent] = links[agent][[2, 0, 1]]
    overwrite(store, "epochs/0/in_neighbors", links)
    return agent


def fail(*_, **__):
    raise AssertionError("a network was built")


def test_networks_are_read_and_not_built_again(tmp_path, monkeypatch):
    store = tmp_path / "run.zarr"
    run = tc.simulate(eventful(), store)
    changed = tmp_path / "changed.zarr"
    shutil.copytree(store, changed)
    agent = swapped(changed)
    with monkeypatch.context() as patch:
        patch.setattr(telling, "build_network", fail)
        patch.setattr(Network, "without", fail)
        patch.setattr(Network, "with_agents", fail)
        opened, other = tc.Run.open(store), tc.Run.open(changed)
        assert [epoch.start for epoch in opened.epochs] == [0, 2, 4]
        assert_same(opened, run)
        np.testing.assert_array_equal(opened.desired, run.desired)
    for ours, theirs in zip(opened.epochs, run.epochs, strict=True):
        assert ours.network == theirs.network
        np.testing.assert_array_equal(ours.network.descendants, theirs.network.descendants)
        np.testing.assert_array_equal(ours.told.paths, theirs.told.paths)
    links = run.epochs[0].network.in_neighbors
    np.testing.assert_array_equal(other.epochs[0].network.in_neighbors[agent], links[agent][[2, 0, 1]])
    np.testing.assert_array_equal(np.delete(other.epochs[0].network.in_neighbors, agent, 0), np.delete(links, agent, 0))


def test_a_resumed_run_goes_on_with_the_networks_that_it_had(tmp_path):
    store = tmp_path / "run.zarr"
    whole = tc.simulate(eventful())
    tc.simulate(eventful(), store, progress=stop_at(1))
    agent = swapped(store)
    resumed = tc.simulate(eventful(), store, resume=True)
    # The weights are in the order of the in-neighbours: they tell which network was at work.
    np.testing.assert_allclose(resumed.weights[1, agent], whole.weights[1, agent][[2, 0, 1]], atol=1e-6)
    links = whole.network_at(1).in_neighbors
    np.testing.assert_array_equal(resumed.network_at(1).in_neighbors[agent], links[agent][[2, 0, 1]])


def test_more_than_ten_epochs_come_in_order(tmp_path):
    events = {"leave": [{"step": step, "agents": [10 + step]} for step in range(1, 13)]}
    given = scenario(0, agents=40, events=events, steps=15)
    run = tc.simulate(given, tmp_path / "run.zarr")
    opened = tc.Run.open(tmp_path / "run.zarr")
    assert [epoch.start for epoch in opened.epochs] == list(range(13))
    assert opened.network == run.network


def test_a_network_around_a_given_core_is_the_same_when_opened(tmp_path):
    reference, targets = team(0, agents=20)
    core = int(tc.build_network(reference).followers[0])
    for given in (core, reference[core].tolist()):
        store = tmp_path / f"{type(given).__name__}.zarr"
        made = tc.Scenario(reference=reference, targets=targets, network={"core": given}, events=EVENTS, steps=6)
        run = tc.simulate(made, store)
        assert run.epochs[0].network.core == core
        assert [e.network for e in tc.Run.open(store).epochs] == [e.network for e in run.epochs]


class Failing:
    """A disk that fails in the n-th write from now on, and in all that follow."""

    def __init__(self, monkeypatch, writes):
        self.left, write, write_document = writes, LocalStore._set, stores._write_document

        async def set_or_fail(store, key, value, exclusive=False):
            self.count()
            await write(store, key, value, exclusive)

        def write_document_or_fail(path, document):
            self.count()
            write_document(path, document)

        monkeypatch.setattr(LocalStore, "_set", set_or_fail)
        monkeypatch.setattr(stores, "_write_document", write_document_or_fail)

    def count(self):
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")


def test_whichever_write_fails_what_was_kept_stays(tmp_path, monkeypatch):
    """Every write of a step and of the end, one after another: the run goes on to the same files."""
    given = missions.Mission.of(eventful(steps=4, stop_when_settled=False))
    whole = tc.simulate(given, tmp_path / "whole.zarr")
    begun = tmp_path / "begun.zarr"
    tc.simulate(given, begun, progress=stop_at(3))
    wanted, seen, complete = files(tmp_path / "whole.zarr"), [], False
    while not complete:
        store = tmp_path / f"{len(seen)}.zarr"
        shutil.copytree(begun, store)
        with monkeypatch.context() as patch, suppress(StoreError):
            disk = Failing(patch, len(seen))
            tc.simulate(given, store, resume=True, flush=0.0)
            complete = True
        assert complete or disk.left in (-1, -2)  # after the one that failed nothing is tried; Zarr makes two at once
        part = tc.Run.open(store)
        seen.append(part.steps)
        assert part.interrupted != complete
        np.testing.assert_array_equal(part.positions, whole.positions[: part.steps + 1])
        tc.simulate(given, store, resume=True)
        assert files(store) == wanted
    assert sorted(seen) == seen
    assert {3, 4} == set(seen)


def test_after_a_write_that_failed_nothing_more_is_tried(tmp_path, monkeypatch):
    """With steps still to come: the error of the disk comes up once, as it was."""
    tc.simulate(eventful(), tmp_path / "run.zarr", progress=stop_at(3))
    with monkeypatch.context() as patch:
        disk = Failing(patch, 2)
        with pytest.raises(StoreError, match="the 3 steps before stay readable") as caught:
            tc.simulate(eventful(), tmp_path / "run.zarr", resume=True, flush=0.0)
    assert disk.left == -1
    assert isinstance(caught.value.__cause__, OSError)
    assert not hasattr(caught.value, "run")


def test_slots_are_written_in_turn(tmp_path):
    given, store = eventful(), tmp_path / "run.zarr"
    states = [step.state for step in tc.steps(given)]
    slots = []
    for step in (1, 2, 3, 5):
        tc.simulate(given, store, resume=True, progress=stop_at(step), flush=1e9)
        kept = StoreReader(store)
        slots.append(kept.marker["slot"])
        vehicles = kept.group["resume/vehicles"][...]
        np.testing.assert_array_equal(vehicles[slots[-1]], states[step].vehicles)
        before = 0 if len(slots) == 1 else (1, 2, 3)[len(slots) - 2]
        np.testing.assert_array_equal(vehicles[1 - slots[-1]], states[before].vehicles)
    assert slots == [1, 0, 1, 0]


def test_what_agents_learn_is_kept_by_name_and_resumed(tmp_path, monkeypatch):
    """Agents that count their steps, and remember where they landed, in arrays of their own kinds."""

    def memory_of(told, positions):
        return {"count": np.zeros(len(positions), np.int32), "landed": np.zeros((len(positions), 2, 1))}

    def remembered(mission, state, decisions, landed):
        memory = state.memory
        return {"count": memory["count"] + np.arange(len(landed), dtype=np.int32), "landed": landed[..., None].copy()}

    monkeypatch.setattr(missions, "memory_of", memory_of)
    monkeypatch.setattr(one_step, "remembered", remembered)
    given, store = eventful(stop_when_settled=False), tmp_path / "run.zarr"
    whole = [step.state for step in tc.steps(given)]
    for step in (1, 3, 6, 9):
        tc.simulate(given, store, resume=True, progress=stop_at(step))
        state = StoreReader(store).state()
        assert (state.step, state.memory.keys()) == (step, {"count", "landed"})
        for name, values in state.memory.items():
            assert values.dtype == whole[step].memory[name].dtype
            np.testing.assert_array_equal(values, whole[step].memory[name], err_msg=name)
    begun = max(epoch.start for epoch in missions.Mission.of(given).epochs)
    np.testing.assert_array_equal(state.memory["count"], np.arange(21) * (9 - begun))


def test_how_long_everybody_was_quiet_is_resumed(tmp_path):
    """Slow vehicles that creep to their goals: the run ends after depth + 1 quiet steps, in parts as in one."""
    slow = {"kind": "double-integrator", "max_speed": 0.01}
    given = scenario(0, agents=20, vehicle=slow, steps=400)
    whole = tc.simulate(given)
    states = {step.step: step.state for step in tc.steps(given)}
    assert states[whole.steps].quiet == whole.network.depth + 1
    assert not states[whole.steps].still
    for step in (whole.steps - 2, whole.steps - 1):
        tc.simulate(given, tmp_path / "run.zarr", resume=True, progress=stop_at(step))
        kept = StoreReader(tmp_path / "run.zarr").state()
        assert (kept.quiet, kept.still) == (states[step].quiet, False)
    assert tc.simulate(given, tmp_path / "run.zarr", resume=True).steps == whole.steps
    exact = scenario(0, agents=20)
    end = [step.state for step in tc.steps(exact)][-1]
    tc.simulate(exact, tmp_path / "exact.zarr", progress=stop_at(end.step))
    kept = StoreReader(tmp_path / "exact.zarr")
    assert (kept.finished, kept.state().still) == (False, True)
    assert tc.simulate(exact, tmp_path / "exact.zarr", resume=True).steps == end.step


def test_short_arrays_of_a_scenario_are_readable_and_long_ones_are_arrays(tmp_path):
    for targets in (LONG // 2, LONG // 2 + 1):
        points = np.random.default_rng(0).random((targets, 2))
        store = tmp_path / f"{targets}.zarr"
        tc.simulate(scenario(0, agents=20).replace(targets=points), store)
        kept = StoreReader(store)
        written = kept.group.attrs["scenario"]["targets"]["positions"]
        assert written == (points.tolist() if 2 * targets <= LONG else {"array": "targets_positions"})
        np.testing.assert_array_equal(kept.scenario().targets.positions, points)


@pytest.mark.parametrize(("longest", "most"), [(1, 8 << 20), (3, 8 << 20), (256, 16 * 21 * 2), (256, 1)])
def test_no_length_of_blocks_changes_what_is_stored(tmp_path, monkeypatch, longest, most):
    given = eventful(stop_when_settled=False)
    whole = tc.simulate(given)
    monkeypatch.setattr(stores, "LONGEST_BLOCK", longest)
    monkeypatch.setattr(stores, "CHUNK_BYTES", most)
    for flush in (0.0, 1e9):
        store = tmp_path / f"{flush}.zarr"
        tc.simulate(given, store, progress=stop_at(5), flush=flush)
        tc.simulate(given, store, resume=True, flush=flush)
        assert_same(tc.Run.open(store), whole)
        length = zarr.open_group(store, mode="r")["positions"].chunks[0]
        assert length == max(1, min(longest, most // (16 * 21), given.steps + 1))
    assert files(tmp_path / "0.0.zarr") == files(tmp_path / "1000000000.0.zarr")


@pytest.mark.parametrize(("flush", "longest", "late"), [(0.0, 256, 1), (1e9, 1, 1), (1e9, 3, 5), (1e9, 256, 9)])
def test_steps_are_written_when_a_block_is_full_or_after_a_while(tmp_path, monkeypatch, flush, longest, late):
    """A thread writes while the next block is worked out, so the store may be a block behind, and no more."""
    monkeypatch.setattr(stores, "LONGEST_BLOCK", longest)
    store, behind = tmp_path / "run.zarr", []

    def progress(now):
        kept = json.loads((store / "zarr.json").read_text())["attributes"]["marker"]["step"]
        assert flush == 0.0 or kept % longest == 0
        behind.append(now.step - kept)

    tc.simulate(eventful(stop_when_settled=False), store, flush=flush, progress=progress)
    assert len(behind) == 9
    assert max(behind) <= late
    assert late < 9 or behind == list(range(1, 10))


def test_after_a_while_is_counted_from_the_last_time(tmp_path, monkeypatch):
    """A clock that goes on by a second whenever it is asked: three seconds are over with every third step."""
    now = iter(range(1000))

    class Clock:
        monotonic = staticmethod(lambda: float(next(now)))

    written, write = [], stores.Store._write

    def listen(self, count):
        written.append(count)
        write(self, count)

    monkeypatch.setattr(stores, "time", Clock)
    monkeypatch.setattr(stores.Store, "_write", listen)
    tc.simulate(eventful(stop_when_settled=False), tmp_path / "run.zarr", flush=3.0)
    assert written == [3, 3, 3, 0]


def test_nothing_is_left_beside_a_store_and_nothing_of_others_is_touched(tmp_path, monkeypatch):
    """Neither where its creation fails nor where it succeeds; whatever the names beside it are."""
    others = [tmp_path / "run.zarr.new", tmp_path / f".tricover-{'0a' * 8}.part", tmp_path / "run.zarr.partial"]
    for each in others:
        each.mkdir()
        (each / "half").write_text("of a file")
    with monkeypatch.context() as patch:
        Failing(patch, 3)
        with pytest.raises(StoreError, match=r"No space left on device$"):
            tc.simulate(eventful(), tmp_path / "run.zarr")
    assert set(tmp_path.iterdir()) == set(others)
    tc.simulate(eventful(), tmp_path / "run.zarr")
    assert set(tmp_path.iterdir()) == {*others, tmp_path / "run.zarr"}
    assert all((each / "half").exists() for each in others)


def test_a_copy_in_another_process_only_reads(tmp_path):
    run = tc.simulate(eventful(), tmp_path / "run.zarr")
    again = pickle.loads(pickle.dumps(run.record))
    assert type(again) is StoreReader
    with pytest.raises(ValueError, match="read-only"):
        again.group["positions"][0] = 0.0


def test_a_finished_run_stays_finished_whatever_the_rule_is_now(tmp_path):
    """Marked as finished by a version that counted otherwise."""
    given, store = scenario(0, agents=20, control=WALK), tmp_path / "run.zarr"
    run = tc.simulate(given, store)
    marker = json.loads((store / "zarr.json").read_text())["attributes"]["marker"]
    assert marker == {"step": run.steps, "slot": 0, "quiet": marker["quiet"], "still": True, "finished": True}
    for name in ARRAYS:  # cut to what was taken
        length = zarr.open_group(store, mode="r")[name].shape[0]
        assert length == run.steps + (name in ("positions", "present")), name
    change(store, marker={**marker, "quiet": 0, "still": False})
    before = files(store)
    again = tc.simulate(given, store, resume=True)
    assert (again.steps, again.interrupted) == (run.steps, False)
    assert files(store) == before


def test_a_run_of_points_made_by_rule_is_resumed_with_its_scenario(tmp_path):
    given = tc.Scenario(
        formation={"generator": "square", "agents": 20, "size": 2.0},
        targets={"generator": "clusters", "count": 80, "centres": [[0, 0]], "spread": 0.5},
        control=WALK,
    )
    tc.simulate(given, tmp_path / "run.zarr", progress=stop_at(2))
    assert_same(tc.simulate(given, tmp_path / "run.zarr", resume=True), tc.simulate(given))
    with pytest.raises(StoreError, match="another scenario"):
        tc.simulate(given.replace(seed=1), tmp_path / "run.zarr", resume=True)
