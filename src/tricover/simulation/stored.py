"""Reading the store of a run; ``store`` has what is in it and writes it.

Every array is checked when it is read, see ``checksums``. What is damaged is named, and so is what can still be read.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, UnknownNameError, listed
from tricover.goals.cellplan import Messages
from tricover.network import Network
from tricover.network.core import as_choice
from tricover.network.structure import count_descendants
from tricover.simulation.checksums import checksum, chunks_of, seal_of, unpacked
from tricover.simulation.long_arrays import joined
from tricover.simulation.mission import Epoch, Mission
from tricover.simulation.record import LAYOUTS
from tricover.simulation.resolve import Ground, ground_of
from tricover.simulation.scenario import Scenario
from tricover.simulation.state import State
from tricover.simulation.telling import roster_of, told_of
from tricover.vehicles import Gone

__all__ = ["FORMAT", "StoreReader", "check_is_store"]

FORMAT = 3
"""What this version writes and reads. A store of another format is refused."""


class StoreReader:
    """A stored run, open for reading; nothing is read before it is asked for, and what is read is checked."""

    def __init__(self, path: Path, mode: Literal["r", "r+"] = "r") -> None:
        import zarr

        self.path = path
        self._document = _document_of(path)
        self.group: Any = zarr.open_group(path, mode=mode, zarr_format=3)
        self.marker: Any = self._document["attributes"]["marker"]
        packed: dict[str, str] = self._document["attributes"]["checksums"]
        self._sums = {name: unpacked(text) for name, text in packed.items()}
        self.arrays = {name: layout for name, layout in LAYOUTS.items() if name in self._sums}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process opens the same folder, for reading."""
        return StoreReader, (self.path,)

    @property
    def steps(self) -> int:
        """T: how many steps were taken."""
        return int(self.marker["step"])

    known: ClassVar[Mapping[str, Any]] = {}

    @property
    def agents(self) -> int:
        """N, the final roster."""
        return int(self.group["positions"].shape[1])

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return bool(self.marker["finished"])

    def read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Entries ``start`` to ``stop`` of an array over time."""
        length = self.group[name].chunks[0]
        first, end = start // length * length, min(-(-stop // length) * length, self._entries(name))
        values = self._checked(name, first, max(first, end))
        if values is None:
            raise self._damaged()
        return values[start - first : stop - first]

    @property
    def desired(self) -> NDArray[np.float64] | None:
        """The desired configuration (N, 2) of a finished run."""
        return self._whole("desired") if "desired" in self._sums else None

    def scenario(self) -> Scenario:
        """The scenario, with its long arrays."""
        plain = self._document["attributes"]["scenario"]
        return Scenario(**joined(plain, lambda name: self._whole(f"scenario/{name}")))

    def mission(self) -> Mission:
        """The mission, with the networks that the run had."""
        scenario = self.scenario()
        ground = ground_of(scenario)
        try:
            return Mission.with_epochs(scenario, self.epochs(scenario, ground), ground)
        except UnknownNameError as error:
            vehicle = Gone(str(scenario.vehicle.kind), str(error))
            return Mission(scenario, ground, vehicle, self.epochs(scenario, ground))

    def epochs(self, scenario: Scenario, ground: Ground) -> tuple[Epoch, ...]:
        """The epochs of the run, with the networks that it had."""
        roster = roster_of(scenario, ground.reference)
        parts = sorted(self.group["epochs"].groups(), key=lambda part: int(part[0]))
        return tuple(self._epoch(scenario, ground, roster, part) for _, part in parts)

    def state(self) -> State:
        """The state after the last step that was kept."""
        step, marker = self.steps, self.marker
        vehicles, sent = self._whole("resume/vehicles"), self._whole("resume/sent")
        memory = {name: self._whole(f"resume/memory/{name}") for name, _ in self.group["resume/memory"].arrays()}
        positions, present = (self.read(name, step, step + 1)[0] for name in ("positions", "present"))
        names = [name for name in self._sums if name.startswith("resume/post/")]
        post = {name.removeprefix("resume/post/"): self._whole(name) for name in names}
        return State(step, positions, vehicles, present, memory, sent, post, marker["quiet"], marker["still"])

    def remembered(self, name: str) -> NDArray[Any]:
        """What everybody remembers by the last step that was kept, (N, …)."""
        return self._whole(f"resume/memory/{name}")

    def damage(self) -> dict[str, list[tuple[int, int]]]:
        """All arrays that are not as they were written, each with its damaged entries: from, to."""
        found = {}
        for name, sums in self._sums.items():
            length, count = (self.group[name].chunks[0], self._entries(name)) if name in LAYOUTS else (1, len(sums))
            chunks = [(first, end) for _, first, end in chunks_of(length, 0, count)]
            bad = [chunk for chunk in chunks if self._checked(name, *chunk) is None]
            if bad:
                found[name] = bad
        return found

    def _entries(self, name: str) -> int:
        """How many entries of an array over time there are."""
        return self.steps + LAYOUTS[name].by_time

    def _whole(self, name: str) -> NDArray[Any]:
        """An array that is not over time; of one with two slots, the one in use."""
        values = self._checked(name, 0, 1)
        if values is None:
            raise self._damaged()
        return values

    def _checked(self, name: str, start: int, stop: int) -> NDArray[Any] | None:
        """Entries of an array that begin and end with its chunks; None if they are not as they were written."""
        over_time, sums = name in LAYOUTS, self._sums[name]
        try:
            array = self.group[name]
            which = slice(start, stop) if over_time else self.marker["slot"] if name.startswith("resume/") else ...
            values = np.asarray(array[which])
        except OSError as error:
            raise FileFormatError(f"{self.path}: cannot read {name}: {error.strerror or error}") from error
        except (KeyError, ValueError, RuntimeError):  # what Zarr and its codecs raise for what they cannot make out
            return None
        if not over_time:
            return values if [checksum(values)] == sums else None
        chunks = chunks_of(array.chunks[0], start, stop)
        whole = all(checksum(values[first - start : end - start]) == sums[chunk] for chunk, first, end in chunks)
        return values if whole else None

    def _damaged(self) -> FileFormatError:
        """What is damaged, and what can still be read."""
        damage = self.damage()
        if not damage:  # it was a fault of the moment, or another process is at work here
            return FileFormatError(f"{self.path} could not be read: try again")
        places = {name: listed([f"{first} to {end - 1}" for first, end in bad], 3) for name, bad in damage.items()}
        named = [f"{name} (entries {places[name]})" if name in LAYOUTS else name for name in damage]
        needed = any(name.startswith(("scenario/", "epochs/")) for name in damage)
        left = "Zarr and xarray can still read all else" if needed else "all else can still be read"
        return FileFormatError(
            f"{self.path} is damaged: {listed(named)}; {left}: copy the run again, or run its scenario again"
        )

    def _epoch(self, scenario: Scenario, ground: Ground, roster: NDArray[np.float64], group: Any) -> Epoch:
        """A stored epoch: what its agents were told, and what was said before."""
        arrays = {name: self._whole(f"{group.path}/{name}") for name, _ in group.arrays()}
        paths, layer, links = arrays.pop("paths"), arrays["layer"], arrays["in_neighbors"]
        said = arrays.pop("messages", None)
        reference = arrays.pop("reference", roster[: len(layer)])
        network = Network(
            reference=reference.copy(),
            descendants=count_descendants(links, layer),
            core=int(group.attrs["core"]),
            mentee=scenario.network.mentee,
            core_choice=as_choice(scenario.network.core, len(layer), 2),
            **arrays,
        )
        phase = (group.attrs.get(name) for name in ("goal", "free", "until"))
        told = told_of(scenario, network, paths, ground, *phase)
        return Epoch(int(group.attrs["start"]), told, None if said is None else Messages(*said))


def check_is_store(path: Path) -> None:
    """Refuse what is no store of ours, of whatever format."""
    _parsed(path)


def _document_of(path: Path) -> dict[str, Any]:
    """The root document of a store, sound and of our format."""
    document = _parsed(path)
    written = document["attributes"].get("format")
    if written != FORMAT:
        raise FileFormatError(f"{path}: a run of format {written}, and this version reads {FORMAT}: run it again")
    if document["attributes"].get("seal") != seal_of(document):
        raise _document_damaged(path)
    return document


def _parsed(path: Path) -> dict[str, Any]:
    """The root document of a store of ours, as it is."""
    try:
        text = (path / "zarr.json").read_text()
    except (OSError, ValueError) as error:
        raise FileFormatError(f"{path}: this is not the store of a run ({type(error).__name__})") from None
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise _document_damaged(path) from None
    attributes = document.get("attributes") if isinstance(document, dict) else None
    if isinstance(attributes, dict) and "parts" in attributes:
        raise FileFormatError(f"{path} is a run in parts, which simulate_parts goes on with: choose another place")
    if not isinstance(attributes, dict) or "marker" not in attributes:
        raise FileFormatError(f"{path}: this is not the store of a run")
    return dict(document)


def _document_damaged(path: Path) -> FileFormatError:
    return FileFormatError(f"{path} is damaged: zarr.json, without which nothing can be read: copy the run again")
