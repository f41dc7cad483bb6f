"""A run on disk: a Zarr 3 group that grows step by step, survives a kill at any moment, and opens in xarray.

    positions, present, …   the arrays of ``record``, chunked by time
    resume/                 what a resumed run needs besides: states of the vehicles, messages that may come late
    resume/memory/          what the agents remember, by name
    scenario/               the scenario's long arrays
    epochs/0/, epochs/1/ …  each epoch's network, and the paths of its anchors
    lock                    an empty file, locked while a process writes, see ``lock``
    zarr.json               the root document: how all arrays are stored, the format, the scenario (self-contained, but
                            for its long arrays), the *marker*, and the ``checksums``

The arrays of ``record`` are made at full length at the start; they are cut when the run ends early. What is in
``resume`` is of the last step that was kept, in two slots written in turn, (2, N, …). A block of steps is written in
this order: chunks, ``resume``, root document with the marker. Each file is written whole beside its place and then
moved there. So whatever happens, the marker speaks only of what is there, and what it speaks of is whole. On resuming,
everything after the marker is written again, with the same bits.

A new store is made beside its place and then moved there, which at most one of several processes can do.

Before a run is marked as finished, all its files are written through to the disk: then a power cut costs nothing. An
unfinished run is in the hands of the operating system; what a power cut damages there is noticed by the checksums.

Networks are stored and not built again: what a run did does not depend on the version that opens it.
"""

import errno
import json
import re
import shutil
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import StoreError
from tricover.formats.writing import make_folder, new_draft, sync, sync_folder
from tricover.simulation.checksums import checksum, extended, packed, seal_of
from tricover.simulation.lock import Lock
from tricover.simulation.long_arrays import layout_of, split
from tricover.simulation.mission import Epoch, Mission
from tricover.simulation.record import LAYOUTS, Labels, Layout, entries, recorded
from tricover.simulation.state import State
from tricover.simulation.step import Step, Transition
from tricover.simulation.stored import FORMAT, StoreReader, check_is_store
from tricover.simulation.tables import LABELS
from tricover.simulation.telling import has_phases

__all__ = ["Store", "new_array", "open_store", "place_for_run"]

CHUNK_BYTES = 8 << 20
LONGEST_BLOCK = 256

_TORN = re.compile(r".*\.[0-9a-f]{32}\.partial|\.tricover-[0-9a-f]{16}\.part")
"""Names of files that Zarr and we write before they take their place. Only a killed process leaves some behind."""
_OURS = re.compile(r"lock|(.*/)?zarr\.json|.*/c(/\d+)*")
"""Paths of the files in a store."""


class Store(StoreReader):
    """A stored run that grows. Steps are written in blocks, at the latest ``flush`` seconds after the last ones.

    A thread of its own writes, so that the run does not wait for the disk; it waits where the disk is a block behind.
    """

    def __init__(self, path: Path, block: int, flush: float, lock: Lock) -> None:
        super().__init__(path, "r+")
        self.block, self.flush = block, flush
        self._lock = lock
        self._waiting: list[tuple[Transition, State]] = []
        self._written = time.monotonic()
        self._writer = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def add(self, step: Step) -> None:
        """Keep a step."""
        assert step.transition is not None, "the start is no step"
        self._waiting.append((step.transition, step.state))
        if step.step % self.block == 0 or time.monotonic() - self._written >= self.flush:
            self._wait()
            self._writing = self._writer.submit(self._write, len(self._waiting))
            self._written = time.monotonic()

    def close(self, labels: Labels | None) -> None:
        """Write what is left; at the end of the run cut the arrays, and leave nothing that tells how it was written."""
        self._wait()
        with self._errors_named():
            self._write(len(self._waiting))
            if labels is not None:
                self._finish(labels())
        self._give_up()

    def _wait(self) -> None:
        """Until the steps before are written; what went wrong there comes up here."""
        writing, self._writing = self._writing, None
        if writing is not None:
            with self._errors_named():
                writing.result()

    def _write(self, count: int) -> None:
        """Write the first ``count`` of the steps that are kept; they are kept until they are written."""
        if not count:
            return
        self._lock.check(self.path)
        taken, state = [transition for transition, _ in self._waiting[:count]], self._waiting[count - 1][1]
        begin, slot, sums = self.steps, 1 - self.marker["slot"], dict(self._sums)
        for name, values in entries(self.arrays, taken, state).items():
            known = int(LAYOUTS[name].by_time)  # where the steps before ended, these begin
            start, array = begin + known, self.group[name]
            array[start : begin + len(values)] = values[known:]
            sums[name] = extended(sums[name], array.chunks[0], start, values[known:])
        for name, values in _resumed(state).items():
            self.group[name][slot] = values
            sums[name] = [checksum(values)]
        marker = {"step": state.step, "slot": slot, "quiet": state.quiet, "still": state.still, "finished": False}
        self._mark(marker, sums)
        del self._waiting[:count]

    def _finish(self, labels: dict[str, NDArray[Any]]) -> None:
        """Cut the arrays, label them, make both slots alike, and write everything through to the disk."""
        known, sums = self._document["consolidated_metadata"]["metadata"], dict(self._sums)
        for name in self.arrays:
            array, length = self.group[name], self._entries(name)
            array.resize((length, *array.shape[1:]))
            known[name]["shape"][0] = length
        for name, values in labels.items():
            layout = LABELS[name]
            new_array(self.group, name, layout, values.shape, values.shape)[...] = values
            known[name] = json.loads((self.path / name / "zarr.json").read_text())
        if "desired" in labels:
            sums["desired"] = [checksum(labels["desired"])]
        slot = self.marker["slot"]
        for name in self._sums:
            if name.startswith("resume/"):
                self.group[name][1 - slot] = self._whole(name)
        sync(self.path)
        self._document["attributes"]["coordinates"] = " ".join(sorted(LABELS.keys() & labels.keys() - {"desired"}))
        self._mark({**self.marker, "slot": 0, "finished": True}, sums)
        super().__init__(self.path)  # as it is now
        sync(self.path / "zarr.json")
        sync_folder(self.path)

    def _mark(self, marker: dict[str, Any], sums: dict[str, list[int]]) -> None:
        """Say what is kept from now on."""
        attributes = {**self._document["attributes"], "marker": marker, "checksums": _packed(sums)}
        _write_document(self.path, {**self._document, "attributes": attributes})
        self.marker, self._sums = marker, sums

    def _give_up(self) -> None:
        """Write no more, and let others write."""
        self._writer.shutdown()
        self._lock.release()

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        """After an error nothing more is tried."""
        try:
            with _errors_named(self.path, self.steps):
                yield
        except BaseException:
            self._give_up()
            raise


def open_store(
    path: Path, mission: Mission, state: State, resume: bool, flush: float, overwrite: bool = False
) -> StoreReader:
    """A store to write to: a new one, or with ``resume`` the one that is there, if it is of the same scenario.

    A run that is finished is opened for reading. With ``overwrite`` a new store takes the place of one that is there.
    """
    block = max(1, min(LONGEST_BLOCK, CHUNK_BYTES // (16 * len(state.positions))))
    place, taken = place_for_run(path, resume or overwrite)
    if taken and resume:
        return _opened_again(path, mission, block, flush)
    half = new_draft(place.parent)
    with _errors_named(path, None):
        make_folder(half)
        lock = Lock(half)
    try:
        with _errors_named(path, None):
            _create(half, mission, state, block)
            if taken:
                _remove(place)
            half.replace(place)  # which fails if somebody else was quicker
            sync_folder(place.parent)
        return Store(path, block, flush, lock)
    except BaseException as error:
        lock.release()
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return open_store(path, mission, state, resume, flush, overwrite)
        raise
    finally:
        shutil.rmtree(half, ignore_errors=True)


def place_for_run(path: Path, may_be_taken: bool) -> tuple[Path, bool]:
    """The folder that a path means, and whether something is in it; complains if nothing may be."""
    with _errors_named(path, None):
        place = _checked_place(path)
        taken = place.exists() and any(place.iterdir() if place.is_dir() else [place])
    if taken and not may_be_taken:
        raise StoreError(f"{path} exists: choose another place, or remove, resume or overwrite it")
    return place, taken


def _checked_place(path: Path) -> Path:
    """The folder that a path means, links followed; not the one we are in, which would be replaced."""
    try:
        place = path.resolve()
    except (ValueError, RuntimeError) as error:  # no file can have this name; links in a circle
        raise StoreError(f"{str(path)!r} is no place for a run: {error}") from None
    if place == Path.cwd():
        raise StoreError(f"{path} is the folder that you are in: name a new one for the run")
    return place


def _remove(place: Path) -> None:
    """Remove a store that nobody is writing to; a folder that is something else, or holds anything else, stays."""
    check_is_store(place)
    lock = Lock(place)
    try:
        for each in place.rglob("*"):
            inside = each.relative_to(place).as_posix()
            if not each.is_dir() and not _OURS.fullmatch(inside) and not _TORN.fullmatch(each.name):
                raise StoreError(f"{place} holds {inside!r}, which is not part of a run: move it, or remove {place}")
        gone = new_draft(place.parent)
        place.replace(gone)
        shutil.rmtree(gone)
    finally:
        lock.release()


def _opened_again(path: Path, mission: Mission, block: int, flush: float) -> StoreReader:
    """The store that is there, ready to go on; nothing is touched if it is not ours, or not of this scenario."""
    found = StoreReader(path)
    if found.scenario() != mission.self_contained():
        raise StoreError(f"{path} is a run of another scenario: resume it with its own, or choose another place")
    if found.finished:
        return found
    with _errors_named(path, found.steps):
        lock = Lock(path)
        try:
            store = Store(path, block, flush, lock)  # with what the last writer left
            store.state()
            for name, layout in store.arrays.items():  # the last chunks, to which more is added
                end = store.steps + layout.by_time
                store.read(name, max(0, end - 1), end)
            for each in path.rglob("*"):
                if _TORN.fullmatch(each.name) and each.is_file():
                    each.unlink()
        except BaseException:
            lock.release()
            raise
    return store


def _create(path: Path, mission: Mission, state: State, block: int) -> None:
    """A new store, with the state at the start."""
    import zarr

    group: Any = zarr.open_group(path, mode="a", zarr_format=3)
    arrays = recorded(mission.world)
    sums: dict[str, list[int]] = {name: [] for name in arrays}
    for name, layout in arrays.items():
        shape = layout.shape(mission.scenario.steps + layout.by_time, len(state.positions))
        array = new_array(group, name, layout, shape, (min(block, shape[0]), *shape[1:]))
        if layout.by_time:
            array[0] = getattr(state, name)
            sums[name] = [checksum(getattr(state, name))]
    group.create_group("resume/memory")
    for name, values in _resumed(state).items():
        layout = Layout(("slot", *(f"axis_{axis}" for axis in range(values.ndim))), str(values.dtype))
        new_array(group, name, layout, (2, *values.shape), (1, *values.shape))[0] = values
        sums[name] = [checksum(values)]
    long: dict[str, NDArray[Any]] = {}
    scenario = split(mission.self_contained().to_dict(arrays=True), long)
    group.create_group("scenario")
    whole = {f"scenario/{name}": (layout_of(name, values), values) for name, values in long.items()}
    planned = has_phases(mission.scenario)
    for which, epoch in enumerate(mission.epochs):
        group.create_group(f"epochs/{which}", attributes=_epoch_attributes(epoch, planned))
        whole |= {f"epochs/{which}/{name}": kept for name, kept in _epoch_arrays(epoch, planned).items()}
    for name, (layout, values) in whole.items():
        kept = np.asarray(values, layout.dtype)
        new_array(group, name, layout, kept.shape, kept.shape)[...] = kept
        sums[name] = [checksum(kept)]
    attributes = {
        "tricover": version("tricover"),
        "format": FORMAT,
        "scenario": scenario,
        "marker": {"step": 0, "slot": 0, "quiet": 0, "still": False, "finished": False},
        "checksums": _packed(sums),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one list of all arrays is not yet part of Zarr 3; xarray asks for it
        zarr.consolidate_metadata(path)
    _write_document(path, json.loads((path / "zarr.json").read_text()) | {"attributes": attributes})


def _resumed(state: State) -> dict[str, NDArray[Any]]:
    """What a resumed run needs besides the recorded positions: arrays by name."""
    memory = {f"resume/memory/{name}": values for name, values in state.memory.items()}
    post = {f"resume/post/{name}": values for name, values in state.post.items()}
    return {"resume/vehicles": state.vehicles, "resume/sent": state.sent, **memory, **post}


def _epoch_attributes(epoch: Epoch, planned: bool) -> dict[str, Any]:
    """When an epoch begins, its core and, in a phase, what its agents are told to go by."""
    goal, free, until = epoch.told.goal, epoch.told.free, epoch.told.until
    phase = {"goal": goal, "free": free, "until": until} if planned and isinstance(goal, str) else {}
    return {"start": epoch.start, "core": epoch.network.core, **phase}


def _epoch_arrays(epoch: Epoch, planned: bool) -> dict[str, tuple[Layout, NDArray[Any]]]:
    """A network, and where its anchors are sent."""
    network = epoch.network
    # Places of a plan, or where the team stood: a network need not be that of the roster.
    own = {"reference": (Layout(("agent", "xy"), "float64", "m"), network.reference)}
    said = {"messages": (Layout(("message_part", "message"), "int64"), np.array(epoch.messages or np.empty((4, 0))))}
    return {
        **(own if planned else {}),
        **(said if epoch.messages is not None else {}),
        "in_neighbors": (Layout(("agent", "corner"), "int32"), network.in_neighbors),
        "layer": (Layout(("agent",), "int32"), network.layer),
        "boundary": (Layout(("corner_agent",), "int64"), network.boundary),
        "paths": (Layout(("step", "anchor", "xy"), "float64", "m"), epoch.told.paths),
    }


def new_array(group: Any, name: str, layout: Layout, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Any:
    """An array of a group, compressed, with checksums of its chunks."""
    from zarr.codecs import BloscCodec, Crc32cCodec

    # Neighbouring numbers share leading bits: shuffled bit by bit, fast compression does about as well as slow.
    compressors = [BloscCodec(cname="lz4", clevel=1, shuffle="bitshuffle"), Crc32cCodec()]
    return group.create_array(
        name,
        shape=shape,
        chunks=tuple(max(1, size) for size in chunks),
        dtype=str if layout.dtype == "str" else layout.dtype,
        fill_value="" if layout.dtype == "str" else 0,
        compressors=compressors,
        dimension_names=layout.dimensions,
        attributes={"units": layout.unit} if layout.unit else {},
        overwrite=True,  # a process that was killed may have begun with it
    )


def _packed(sums: dict[str, list[int]]) -> dict[str, str]:
    return {name: packed(each) for name, each in sums.items()}


def _write_document(path: Path, document: dict[str, Any]) -> None:
    """Write the root document, sealed: into a file beside it, which then takes its place."""
    document["attributes"]["seal"] = seal_of(document)
    draft = new_draft(path)
    draft.write_text(json.dumps(document, indent=2))
    draft.replace(path / "zarr.json")


@contextmanager
def _errors_named(path: Path, steps: int | None) -> Iterator[None]:
    """Errors of the file system as ours, with what is left and what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        kept = "" if steps is None else f"; the {steps} steps before stay readable: resume when this is put right"
        raise StoreError(f"{path}: cannot write the run: {error.strerror or error}{kept}") from error
