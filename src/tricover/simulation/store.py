"""A run on disk: a Zarr 3 group that grows step by step, survives a kill at any moment, and opens in xarray.

    positions, present, …   the arrays of ``record``, chunked by time
    resume/                 what a resumed run needs besides: states of the vehicles, messages that may come late
    resume/memory/          what the agents remember, by name
    scenario/               the scenario's long arrays
    epochs/0/, epochs/1/ …  each epoch's network, and the paths of its anchors
    attributes              the format, the scenario (self-contained, but for its long arrays) and the *marker*

The arrays of ``record`` are made at full length at the start; they are cut when the run ends early. What is in
``resume`` is of the last step that was kept, in two slots written in turn, (2, N, …). A block of steps is written in
this order: chunks, ``resume``, marker. Each file is written whole beside its place and then moved there. So whatever
happens, the marker speaks only of what is there, and what it speaks of is whole. On resuming, everything after the
marker is written again, with the same bits.

Networks are stored and not built again: what a run did does not depend on the version that opens it.
"""

import shutil
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tricover.control import Told
from tricover.errors import FileFormatError, StoreError
from tricover.network import Network
from tricover.network.core import as_choice
from tricover.network.structure import count_descendants
from tricover.simulation.mission import Epoch, Mission, roster_of, told_of
from tricover.simulation.record import ARRAYS, Layout, entries
from tricover.simulation.resolve import Ground, ground_of
from tricover.simulation.scenario import Scenario
from tricover.simulation.state import State
from tricover.simulation.step import Step, Transition

__all__ = ["FORMAT", "Store", "StoreReader", "open_store"]

FORMAT = 2
"""What this version writes and reads. A store of another format is refused."""
CHUNK_BYTES = 8 << 20
LONGEST_BLOCK = 256
LONG = 64  # numbers beyond which an array of the scenario is kept as an array


class StoreReader:
    """A stored run, open for reading; nothing is read before it is asked for."""

    def __init__(self, path: Path, mode: Literal["r", "r+"] = "r") -> None:
        import zarr

        self.path = path
        try:
            self.group: Any = zarr.open_group(path, mode=mode, zarr_format=3)
            self.marker: Any = self.group.attrs["marker"]
        except (OSError, KeyError, ValueError) as error:
            raise FileFormatError(f"{path}: this is not the store of a run ({type(error).__name__})") from None
        written = self.group.attrs.get("format")
        if written != FORMAT:
            raise FileFormatError(f"{path}: a run of format {written}, and this version reads {FORMAT}: run it again")
        try:
            self._check_pieces()
        except KeyError as error:
            raise FileFormatError(f"{path}: {error} is missing: copy the run again") from None

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process opens the same folder, for reading."""
        return StoreReader, (self.path,)

    def _check_pieces(self) -> None:
        """What should be there is: of a copy that broke off, Zarr would read the missing pieces as zeros."""
        wholes = [self.group["scenario"], *(part for _, part in self.group["epochs"].groups())]
        missing = {
            "positions": -(-(self.steps + 1) // self.group["positions"].chunks[0])
            - self.group["positions"].nchunks_initialized,
            **{array.path: 1 - array.nchunks_initialized for part in wholes for _, array in part.arrays()},
        }
        for name, count in missing.items():
            if count > 0:
                raise FileFormatError(f"{self.path}: {count} pieces of {name!r} are missing: copy the run again")

    @property
    def steps(self) -> int:
        """T: how many steps were taken."""
        return int(self.marker["step"])

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return bool(self.marker["finished"])

    def read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Entries ``start`` to ``stop`` of an array."""
        try:
            return np.asarray(self.group[name][start:stop])
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            raise FileFormatError(f"{self.path}: {name} cannot be read ({error}); run its scenario again") from error

    def scenario(self) -> Scenario:
        """The scenario, with its long arrays."""
        try:
            return Scenario(**_joined(dict(self.group.attrs["scenario"]), self.group["scenario"]))
        except (OSError, KeyError, RuntimeError) as error:
            raise FileFormatError(f"{self.path}: the scenario of this run cannot be read ({error})") from error

    def mission(self) -> Mission:
        """The mission, with the networks that the run had."""
        scenario = self.scenario()
        ground = ground_of(scenario)
        return Mission.with_epochs(scenario, self.epochs(scenario, ground), ground)

    def epochs(self, scenario: Scenario, ground: Ground) -> tuple[Epoch, ...]:
        """The epochs of the run, with the networks that it had."""
        roster = roster_of(scenario, ground.reference)
        try:
            parts = sorted(self.group["epochs"].groups(), key=lambda part: int(part[0]))
            return tuple(Epoch(int(part.attrs["start"]), _told(scenario, roster, part)) for _, part in parts)
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            raise FileFormatError(f"{self.path}: the networks of this run cannot be read ({error})") from error

    def state(self) -> State:
        """The state after the last step that was kept."""
        step, marker = self.steps, self.marker
        resume, slot = self.group["resume"], marker["slot"]
        vehicles, sent = (np.asarray(resume[name][slot]) for name in ("vehicles", "sent"))
        memory = {name: np.asarray(array[slot]) for name, array in resume["memory"].arrays()}
        positions, present = (self.read(name, step, step + 1)[0] for name in ("positions", "present"))
        return State(step, positions, vehicles, present, memory, sent, marker["quiet"], marker["still"])


class Store(StoreReader):
    """A stored run that grows. Steps are written in blocks, at the latest ``flush`` seconds after the last ones.

    A thread of its own writes, so that the run does not wait for the disk; it waits where the disk is a block behind.
    """

    def __init__(self, path: Path, block: int, flush: float) -> None:
        super().__init__(path, "r+")
        self.block, self.flush = block, flush
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

    def close(self, finished: bool) -> None:
        """Write what is left; at the end of the run cut the arrays, and leave nothing that tells how it was written."""
        self._wait()
        self._write(len(self._waiting))
        self._writer.shutdown()
        if finished:
            with _errors_named(self.path, self.steps):
                for name, layout in ARRAYS.items():
                    array = self.group[name]
                    array.resize((self.steps + layout.by_time, *array.shape[1:]))
                resume = self.group["resume"]
                for _, kept in [*resume.arrays(), *resume["memory"].arrays()]:
                    kept[1 - self.marker["slot"]] = kept[self.marker["slot"]]
                self.group = _consolidate(self.path)
                self._mark({**self.marker, "slot": 0, "finished": True})

    def _wait(self) -> None:
        """Until the steps before are written; what went wrong there comes up here."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _write(self, count: int) -> None:
        """Write the first ``count`` of the steps that are kept; they are kept until they are written."""
        if not count:
            return
        taken, state = [transition for transition, _ in self._waiting[:count]], self._waiting[count - 1][1]
        begin, slot = self.steps, 1 - self.marker["slot"]
        with _errors_named(self.path, begin):
            for name, values in entries(ARRAYS, taken, state).items():
                known = int(name == "positions")  # where the steps before ended, these begin
                self.group[name][begin + known : begin + len(values)] = values[known:]
            for name, values in _resumed(state).items():
                self.group["resume"][name][slot] = values
            marker = {"step": state.step, "slot": slot, "quiet": state.quiet, "still": state.still, "finished": False}
            self._mark(marker)
        del self._waiting[:count]

    def _mark(self, marker: dict[str, Any]) -> None:
        self.group.attrs.put({**self.group.attrs.asdict(), "marker": marker})
        self.marker = marker


def open_store(path: Path, mission: Mission, state: State, resume: bool, flush: float) -> Store:
    """A store to write to: a new one, or with ``resume`` the one that is there, if it is of the same scenario."""
    agents = len(state.positions)
    block = max(1, min(LONGEST_BLOCK, CHUNK_BYTES // (16 * agents)))
    with _errors_named(path, None):
        taken = path.exists() and any(path.iterdir() if path.is_dir() else [path])
    if taken:
        if not resume:
            raise StoreError(f"{path} exists: choose another place, remove it, or resume it")
        store = Store(path, block, flush)
        if store.scenario() != mission.self_contained():
            raise StoreError(f"{path} is a run of another scenario: resume it with its own, or choose another place")
        with _errors_named(path, store.steps):
            for torn in path.rglob("*.partial"):
                torn.unlink()
        return store
    contents = mission.self_contained().to_dict(arrays=True)
    half = path.with_name(path.name + ".new")
    try:
        with _errors_named(path, None):
            half.parent.mkdir(parents=True, exist_ok=True)
            _create(half, contents, mission, state, block)
            half.replace(path)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return Store(path, block, flush)


def _create(path: Path, contents: dict[str, Any], mission: Mission, state: State, block: int) -> None:
    import zarr

    group: Any = zarr.open_group(path, mode="w", zarr_format=3)
    for name, layout in ARRAYS.items():
        shape = layout.shape(mission.scenario.steps + layout.by_time, len(state.positions))
        chunks = tuple(max(1, size) for size in (min(block, shape[0]), *shape[1:]))
        _array(group, name, layout, shape, chunks)
    group["positions"][0], group["present"][0] = state.positions, state.present
    resume = group.create_group("resume")
    resume.create_group("memory")
    for name, values in _resumed(state).items():
        layout = Layout(("slot", *(f"axis_{axis}" for axis in range(values.ndim))), str(values.dtype))
        chunks = tuple(max(1, size) for size in values.shape)
        _array(resume, name, layout, (2, *values.shape), (1, *chunks))[0] = values
    for which, epoch in enumerate(mission.epochs):
        _keep_epoch(group.create_group(f"epochs/{which}"), epoch)
    group.attrs.put(
        {
            "tricover": version("tricover"),
            "format": FORMAT,
            "scenario": _split(contents, group.create_group("scenario")),
            "marker": {"step": 0, "slot": 0, "quiet": 0, "still": False, "finished": False},
        }
    )
    _consolidate(path)


def _resumed(state: State) -> dict[str, NDArray[Any]]:
    """What a resumed run needs besides the recorded positions: arrays by name."""
    memory = {f"memory/{name}": values for name, values in state.memory.items()}
    return {"vehicles": state.vehicles, "sent": state.sent, **memory}


def _keep_epoch(group: Any, epoch: Epoch) -> None:
    """A network, and where its anchors are sent."""
    network, paths = epoch.network, epoch.told.paths
    group.attrs.put({"start": epoch.start, "core": network.core})
    whole = {
        "in_neighbors": Layout(("agent", "corner"), "int32"),
        "layer": Layout(("agent",), "int32"),
        "boundary": Layout(("corner_agent",), "int64"),
    }
    for name, layout in whole.items():
        values = getattr(network, name)
        _array(group, name, layout, values.shape, values.shape)[...] = values
    _array(group, "paths", Layout(("step", "anchor", "xy"), "float64", "m"), paths.shape, paths.shape)[...] = paths


def _told(scenario: Scenario, roster: NDArray[np.float64], group: Any) -> Told:
    """What the agents of a stored epoch were told."""
    arrays = {name: np.asarray(array[...]) for name, array in group.arrays()}
    paths, layer, links = arrays.pop("paths"), arrays["layer"], arrays["in_neighbors"]
    network = Network(
        reference=roster[: len(layer)].copy(),
        descendants=count_descendants(links, layer),
        core=int(group.attrs["core"]),
        mentee=scenario.network.mentee,
        core_choice=as_choice(scenario.network.core, len(layer), 2),
        **arrays,
    )
    return told_of(scenario, network, paths)


def _array(group: Any, name: str, layout: Layout, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Any:
    attributes = {"units": layout.unit} if layout.unit else {}
    settings: dict[str, Any] = {"chunks": chunks, "dimension_names": layout.dimensions, "attributes": attributes}
    if shape == chunks:  # written once and whole: a piece that is not there is missing, and no array of zeros
        settings["config"] = {"write_empty_chunks": True}
    return group.create_array(name, shape=shape, dtype=layout.dtype, fill_value=0, compressors=_codec(), **settings)


def _codec() -> Any:
    """Neighbouring numbers share leading bits: shuffled bit by bit, fast compression does about as well as slow."""
    from zarr.codecs import BloscCodec

    return BloscCodec(cname="lz4", clevel=1, shuffle="bitshuffle")


def _split(value: Any, group: Any, name: str = "") -> Any:
    """Plain values; long arrays go to the group and leave their name."""
    if isinstance(value, dict):
        return {key: _split(part, group, f"{name}_{key}".lstrip("_")) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_split(part, group, f"{name}_{index}") for index, part in enumerate(value)]
    if not isinstance(value, np.ndarray):
        return str(value) if isinstance(value, Path) else value
    if value.size <= LONG:
        return value.tolist()
    dimensions = tuple(f"{name}_{axis}" for axis in range(value.ndim))
    _array(group, name, Layout(dimensions, "float64"), value.shape, value.shape)[...] = value
    return {"array": name}


def _joined(value: Any, group: Any) -> Any:
    """The reverse of ``_split``."""
    if isinstance(value, dict):
        if value.keys() == {"array"}:
            return np.asarray(group[value["array"]][...])
        return {key: _joined(part, group) for key, part in value.items()}
    return [_joined(part, group) for part in value] if isinstance(value, list) else value


def _consolidate(path: Path) -> Any:
    """One file that lists all arrays: xarray asks for it."""
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that this is not yet part of the Zarr 3 specification
        return zarr.consolidate_metadata(path)


@contextmanager
def _errors_named(path: Path, steps: int | None) -> Iterator[None]:
    """Errors of the file system as ours, with what is left and what to do."""
    try:
        yield
    except OSError as error:
        kept = "" if steps is None else f"; the {steps} steps before stay readable: resume when this is put right"
        raise StoreError(f"{path}: cannot write the run: {error.strerror or error}{kept}") from error
