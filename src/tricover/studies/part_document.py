"""The root document of a run in parts: whose run it is, and how far it is; and the right to write to its folder."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tricover.errors import StoreError
from tricover.formats.writing import DRAFTS, make_folder, write_whole
from tricover.simulation import Scenario
from tricover.simulation.checksums import seal_of
from tricover.simulation.groups import write_group
from tricover.simulation.in_parts import FORMAT, TOP, Stage
from tricover.simulation.lock import Lock
from tricover.simulation.long_arrays import joined, split
from tricover.simulation.parts_reader import PartsReader, is_in_parts
from tricover.simulation.store import place_for_run
from tricover.simulation.telling import joins_of
from tricover.studies.ground import Sources

__all__ = ["Document", "all_there", "opened"]


class Document(dict[str, Any]):
    """What the root document of a run in parts says."""

    long: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, scenario: Scenario, sources: Sources, most: int) -> "Document":
        """Of a run that has not begun."""
        kept = scenario if sources.ground is None else scenario.self_contained(sources.ground)
        long: dict[str, NDArray[Any]] = {}
        plain = split(kept.to_dict(arrays=True), long)
        joining = sum(len(join.reference) for join in joins_of(scenario))
        document = cls(
            tricover=version("tricover"),
            parts=FORMAT,
            scenario=plain,
            files={str(file): _looks(file) for file in (kept.formation.file, kept.targets.file) if file is not None},
            most=most,
            agents=len(sources.reference) + joining,
            epochs=[],
            stages=[],
            steps=0,
            finished=False,
            known={},
            checksums={},
        )
        document.long = long
        return document

    def write(self, path: Path) -> None:
        """Write it, whole or not at all."""
        document: dict[str, Any] = {"zarr_format": 3, "node_type": "group", "attributes": dict(self)}
        document["attributes"]["seal"] = seal_of(document)
        write_whole(path / "zarr.json", json.dumps(document, indent=1))


def _looks(file: Path) -> list[int]:
    """Size and time of a file: whether it is still the same."""
    facts = Path(file).stat()
    return [facts.st_size, facts.st_mtime_ns]


@contextmanager
def opened(path: Path, new: Document) -> Iterator[Document]:
    """The root document of a run, new or as it was left, while nobody else writes to it."""
    if not is_in_parts(path) and not _killed_at_once(path):
        place_for_run(path, may_be_taken=False)
        make_folder(path)
    lock = Lock(path)
    try:
        for depth in ("", "*/", "*/*/"):
            for draft in path.glob(depth + DRAFTS):  # of those who were killed while they wrote
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink()
        if not is_in_parts(path):
            if new.long:
                write_group(path / "scenario", new.long)
            new.write(path)
        found = PartsReader(path)
        same = found.scenario() == _with_long(new) and all(
            found.attributes[key] == new[key] for key in ("files", "most")
        )
        if not same:
            raise StoreError(
                f"{path} is a run of another scenario, of files that have changed, or with other parts: give it what "
                "it was begun with, or choose another place"
            )
        yield Document(found.attributes)
    finally:
        lock.release()


def _killed_at_once(path: Path) -> bool:
    """Whether a run was begun at a place, and killed before it could say whose it is."""
    names = {each.name for each in path.iterdir()} if path.is_dir() else set()
    return "lock" in names and all(name in ("lock", "scenario") or fnmatch(name, DRAFTS) for name in names)


def all_there(path: Path, document: Mapping[str, Any]) -> bool:
    """Whether all groups of a finished run are there: who removed a damaged one wants it again."""
    stages = [Stage(*each) for each in document["stages"]]
    names = [(TOP, *epoch["parts"]) for epoch in document["epochs"]]
    known = [(*some, "anchors", "absent") for some in names]
    who = [path / "epochs" / str(which) / name for which, some in enumerate(known) for name in some]
    what = [path / "stages" / str(stage.number) / name for stage in stages for name in names[stage.epoch]]
    ends = [path / "desired" / name for name in names[-1]]
    return all(place.exists() for place in (*who, *what, *ends, path / "flags"))


def _with_long(document: Document) -> Scenario:
    return Scenario(**joined(document["scenario"], document.long.__getitem__))
