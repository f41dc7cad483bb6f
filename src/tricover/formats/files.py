"""Files by their ending: points in ``.csv``, ``.txt``, ``.tsv``, ``.npy``, ``.json``, ``.geojson``; maps in TIFF.

A folder ``.zarr`` is a Zarr array of points, for teams that are larger than memory elsewhere.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tricover.errors import FileFormatError, InputError, listed
from tricover.formats.binary import from_npy, from_zarr, to_npy
from tricover.formats.delimited import from_csv, to_csv
from tricover.formats.filling import Filling
from tricover.formats.geojson import from_geojson, is_geojson, polygons_of, to_geojson
from tricover.formats.plain_json import document_of, from_json, to_json
from tricover.formats.points import Floats, Points
from tricover.formats.projection import Projection
from tricover.formats.raster import RASTERS, read_raster
from tricover.formats.writing import read_whole, write_whole

__all__ = ["read_points", "read_polygons", "write_points"]

_WRITERS: dict[str, Callable[[Points], str | bytes]] = {
    ".csv": to_csv,
    ".npy": to_npy,
    ".json": to_json,
    ".geojson": to_geojson,
}
_DELIMITED = (".csv", ".tsv", ".txt")
_ENDINGS = (*_DELIMITED, ".npy", ".json", ".geojson")
_FOLDER = ".zarr"
_POLYGONS = (".geojson", ".json")


def read_points(
    path: str | os.PathLike[str],
    *,
    projection: Projection | None = None,
    origin: Sequence[float] | None = None,
    points: int | None = None,
    density: float | None = None,
    seed: int | None = None,
    extent: Sequence[float] | None = None,
) -> Points:
    """Read a point file, polygons or a map.

    Longitude and latitude are projected to a plane of their own, or to ``projection``: give one file's plane to the
    next, so that both share their metres. ``origin`` is the longitude and latitude of the point (0, 0): degrees are
    projected around it, and a file in metres is taken to be in its plane.

    Polygons are filled with exactly so many ``points`` in all, by their areas, or with ``density`` points per square
    metre; evenly, or jittered by a ``seed``. A map is read by ``read_raster``: a GeoTIFF, or with its ``extent``
    (x0, y0, x1, y1) in metres a 2-D NPY; it becomes at most so many ``points``, with weights.
    """
    plane = _plane(projection, origin)
    filling = Filling(points, density, seed)
    suffix = Path(path).suffix.lower()
    known = (*_ENDINGS, _FOLDER, *RASTERS)
    if suffix not in known and not os.path.isdir(path):  # of a folder, what is read says that it is one
        raise FileFormatError(f"{path}: unknown ending {suffix!r}; expected {listed(known, 10)}")
    is_map = suffix in RASTERS or extent is not None
    if is_map and (density is not None or seed is not None):
        raise InputError("a map is not filled, but thinned: give points instead of density and seed")
    try:
        found = read_raster(path, extent=extent, points=points) if is_map else _found(path, suffix, plane, filling)
        return _in_plane(found, plane, metres_too=origin is not None)
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from error


def read_polygons(path: str | os.PathLike[str], projection: Projection) -> list[Floats]:
    """The polygons of a GeoJSON file, corners (K, 2) each, in the plane; holes are left out."""
    suffix = Path(path).suffix.lower()
    if suffix not in _POLYGONS and not os.path.isdir(path):
        raise FileFormatError(f"{path}: unknown ending {suffix!r}; polygons are read from {listed(_POLYGONS)}")
    document = document_of(read_whole(path), path)
    if not isinstance(document, dict):
        raise FileFormatError(f"{path}: not a GeoJSON object")
    try:
        return polygons_of(document, path, projection)
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from error


def _plane(projection: Projection | None, origin: Sequence[float] | None) -> Projection | None:
    if origin is None:
        return projection
    if projection is not None:
        raise InputError("projection and origin both say where the metres are: give one of the two")
    return Projection.at(origin)


def _found(path: str | os.PathLike[str], suffix: str, plane: Projection | None, filling: Filling) -> Points:
    """What is in a point file, in the plane if it is in degrees, and in its own else."""
    if suffix == _FOLDER:
        return from_zarr(path)
    data = read_whole(path)
    document = None if suffix in (*_DELIMITED, ".npy") else document_of(data, path)
    if document is not None and (suffix == ".geojson" or is_geojson(document)):
        return from_geojson(document, path, plane, filling)
    if filling.points is not None:
        more = ", and a map with its extent" if suffix == ".npy" else ""
        raise FileFormatError(f"{path} holds points already: --points (points) goes with polygons in GeoJSON{more}")
    if suffix in _DELIMITED:
        return from_csv(data, path, plane)
    return from_npy(data, path, plane) if suffix == ".npy" else from_json(document, path)


def _in_plane(found: Points, plane: Projection | None, metres_too: bool) -> Points:
    """The points in the plane that is asked for."""
    if plane is None or found.projection == plane:
        return found
    if found.projection is None:
        if not metres_too:
            raise InputError(
                "these positions are in metres, and those that they belong to in longitude and latitude: "
                "give the origin, the longitude and latitude of the point (0, 0)"
            )
        return Points(found.positions, found.weights, found.ids, plane)
    degrees = found.degrees
    metres = np.hstack([plane.to_metres(degrees[:, :2]), degrees[:, 2:]])
    return Points(metres, found.weights, found.ids, plane)


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
