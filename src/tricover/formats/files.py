"""Point files by their ending: ``.csv``, ``.txt`` and ``.tsv``, ``.npy``, ``.json`` and ``.geojson``."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tricover.errors import FileFormatError, InputError, listed
from tricover.formats.binary import from_npy, to_npy
from tricover.formats.delimited import from_csv, to_csv
from tricover.formats.geojson import from_geojson, is_geojson, to_geojson
from tricover.formats.plain_json import document_of, from_json, to_json
from tricover.formats.points import Points
from tricover.formats.projection import Projection
from tricover.formats.writing import read_whole, write_whole

__all__ = ["read_points", "write_points"]

_WRITERS: dict[str, Callable[[Points], str | bytes]] = {
    ".csv": to_csv,
    ".npy": to_npy,
    ".json": to_json,
    ".geojson": to_geojson,
}
_DELIMITED = (".csv", ".tsv", ".txt")
_ENDINGS = (*_DELIMITED, ".npy", ".json", ".geojson")


def read_points(
    path: str | os.PathLike[str],
    *,
    projection: Projection | None = None,
    density: float | None = None,
    seed: int | None = None,
) -> Points:
    """Read a point file.

    Longitude and latitude are projected to a plane of their own, or to ``projection``: give one file's plane to the
    next, so that both share their metres. Polygons are filled with ``density`` points per square metre, on a square
    grid, or jittered within it by a ``seed``.
    """
    if density is not None and not 0 < density < np.inf:
        raise InputError(f"density must be a positive number of points per square metre, not {density}")
    suffix = Path(path).suffix.lower()
    if suffix not in _ENDINGS and not os.path.isdir(path):  # of a folder, what is read says that it is one
        raise FileFormatError(f"{path}: unknown ending {suffix!r}; expected {listed(_ENDINGS, 9)}")
    data = read_whole(path)
    try:
        if suffix in _DELIMITED:
            return from_csv(data, path, projection)
        if suffix == ".npy":
            return from_npy(data, path, projection)
        document = document_of(data, path)
        if suffix == ".json" and not is_geojson(document):
            return from_json(document, path)
        rng = None if seed is None else np.random.default_rng(seed)
        return from_geojson(document, path, projection, density, rng)
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from error


def write_points(path: str | os.PathLike[str], points: Points) -> None:
    """Write a point file, whole or not at all.

    Points with a projection go back to longitude and latitude in CSV, NPY and GeoJSON; JSON keeps metres and the plane.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise FileFormatError(f"{path}: unknown ending {suffix!r}; expected {listed(_WRITERS)}")
    if suffix == ".geojson" and points.projection is None:
        raise FileFormatError(
            f"{path}: GeoJSON holds longitude and latitude, and these points have no projection; use CSV"
        )
    write_whole(path, _WRITERS[suffix](points))
