"""Zarr groups that are written whole or not at all, with a checksum for each array and a seal for the document.

Unlike the store of a growing run (``store``), nothing of a group changes once it is there.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError
from tricover.formats.writing import draft_of
from tricover.simulation.checksums import checksum, seal_of
from tricover.simulation.record import Layout

__all__ = ["Arrays", "attributes_of", "damaged", "read_group", "write_group"]

Arrays = Mapping[str, NDArray[Any]]


def write_group(place: Path, arrays: Arrays, attributes: Mapping[str, Any] | None = None) -> None:
    """Write arrays as a Zarr group, whole or not at all. If it is there already, another was quicker: that is well."""
    import zarr

    from tricover.simulation.store import new_array  # here, as it takes steps

    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with draft_of(place) as draft:
            group = zarr.open_group(draft, mode="w", zarr_format=3)
            sums = {}
            for name, values in arrays.items():
                layout = Layout(tuple(f"{name}_{axis}" for axis in range(values.ndim)), str(values.dtype))
                new_array(group, name, layout, values.shape, values.shape)[...] = values
                sums[name] = checksum(values)
            document = json.loads((draft / "zarr.json").read_text())
            document["attributes"] = {**(attributes or {}), "checksums": sums}
            document["attributes"]["seal"] = seal_of(document)
            (draft / "zarr.json").write_text(json.dumps(document))
    except FileFormatError:
        if not place.exists():
            raise


def read_group(place: Path, names: tuple[str, ...] | None = None) -> dict[str, NDArray[Any]]:
    """Arrays of a group by name, checked: those that are there, or the named ones that are."""
    import zarr

    attributes = attributes_of(place)
    sums = attributes["checksums"]
    found = {}
    try:
        group: Any = zarr.open_group(place, mode="r", zarr_format=3)
        for name in sums if names is None else [name for name in names if name in sums]:
            values = np.asarray(group[name][...])
            if checksum(values) != sums[name]:
                raise ValueError(f"{name} is not as it was written")
            found[name] = values
    except (KeyError, ValueError, RuntimeError, OSError) as error:
        raise damaged(place, error) from None
    return found


def attributes_of(place: Path) -> dict[str, Any]:
    """The attributes of a group, checked."""
    try:
        document = json.loads((place / "zarr.json").read_text())
        attributes: dict[str, Any] = document["attributes"]
        if attributes["seal"] != seal_of(document):
            raise ValueError("its document is not as it was written")
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise damaged(place, error) from None
    return attributes


def damaged(place: Path, error: Exception) -> FileFormatError:
    """The error that says what to do about a piece of work that is not as it was written, or not there."""
    if not place.exists():
        return FileFormatError(
            f"{place} is not there: all processes have to see the run by this path; if they do, run the same again"
        )
    return FileFormatError(f"{place} is damaged ({error}): remove it, and run the same again: the rest is kept")
