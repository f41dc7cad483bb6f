"""Maps of cells, read as weighted points: a 2-D NPY with its extent, or a GeoTIFF.

A cell's value is its weight w ≥ 0; NaN and no-data count as nothing. The cells are cut into blocks, as square as they
can be, and each block with a weight becomes one point,

    W = Σ w,   position = Σ w·c / W    over the cells of the block, with centres c in the coordinates of the map,

so the weights sum to that of the map, and no block's centre of mass moves. Blocks are as small as they can be with at
most the wanted number of points. The first row is the north edge, as in images and GeoTIFFs.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError, MissingExtraError, TricoverError, shown
from tricover.formats.binary import npy_array
from tricover.formats.points import LARGEST, Points, check_count
from tricover.formats.projection import Projection
from tricover.formats.writing import read_whole
from tricover.limits import check_room

__all__ = ["RASTERS", "read_raster"]

Floats = NDArray[np.float64]

RASTERS = (".tif", ".tiff")
"""Endings of GeoTIFFs."""

_CELL_BYTES = 60  # of a cell while the map is read and summed, and of a target where each becomes one
_GEOGRAPHIC = "EPSG:4326"  # WGS84 longitude and latitude


def read_raster(
    path: str | os.PathLike[str],
    *,
    extent: Sequence[float] | None = None,
    points: int | None = None,
) -> Points:
    """Read a map as at most so many ``points`` with weights; None: one for each cell that has a weight.

    ``extent`` (x0, y0, x1, y1), in metres, is the box of a 2-D NPY: west, south, east, north. A GeoTIFF brings its own,
    and if it says where on earth it is, the points have the plane around them.
    """
    check_count(points)
    box = None if extent is None else _checked_extent(extent)
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        if box is None:
            raise FileFormatError(f"{path}: a map needs its extent, x0,y0,x1,y1 in metres")
        cells = _weights(npy_array(read_whole(path), path), path)
        return _points(cells, _within(box, cells.shape), points)
    if suffix not in RASTERS:
        raise FileFormatError(f"{path}: an extent goes with a 2-D NPY, and {suffix} is none: leave it out")
    return _from_tiff(path, box, points)


def _checked_extent(extent: Sequence[float]) -> Floats:
    try:
        box = np.array(extent, dtype=np.float64)
    except (TypeError, ValueError):
        box = np.empty(0)
    if box.shape != (4,) or not (np.abs(box) <= LARGEST).all() or not (box[:2] < box[2:]).all():
        raise InputError(f"extent must be x0, y0, x1, y1 in metres, with x0 < x1 and y0 < y1, not {shown(extent)}")
    return box


def _weights(cells: NDArray[Any], path: object) -> Floats:
    """Weights (rows, columns) of cells, zero where there are none."""
    if cells.ndim != 2 or cells.dtype.kind not in "biuf" or not cells.size:
        kind = f"{cells.dtype} of shape {cells.shape}"
        raise FileFormatError(f"{path}: a map needs numbers in rows and columns, not {kind}")
    check_room(_CELL_BYTES * float(cells.size), f"the {cells.size} cells of {path}")
    with np.errstate(invalid="ignore"):  # some NaN complain when they are converted
        weights = np.nan_to_num(cells.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    # As for targets: then no sum overflows, and no share of the largest vanishes.
    wrong = np.argwhere((weights != 0) & ~((weights >= 1 / LARGEST) & (weights <= LARGEST)))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise FileFormatError(
            f"{path}, row {row}, column {column}: {weights[row, column]:g} is no weight: "
            f"a cell must be 0, a number from {1 / LARGEST:g} to {LARGEST:g}, or NaN where there is nothing"
        )
    if not weights.any():
        raise FileFormatError(f"{path}: all cells are zero or empty: there is nothing to cover")
    return weights


def _within(box: Floats, shape: tuple[int, ...]) -> Callable[[Floats], Floats]:
    """From places (N, 2) in columns and rows, counted from the north-west corner, to metres in the box."""
    size = (box[2:] - box[:2]) / [shape[1], shape[0]]
    corner = np.array([box[0], box[3]])
    return lambda places: np.clip(corner + places * size * [1, -1], box[:2], box[2:])


def _points(cells: Floats, place: Callable[[Floats], Floats], points: int | None) -> Points:
    weights, places = _blocks(cells, points)
    return Points(place(places), weights)


def _blocks(cells: Floats, points: int | None) -> tuple[Floats, Floats]:
    """Weight (N,) and centre of mass (N, 2), in columns and rows, of each block that has a weight."""
    filled = np.count_nonzero(cells)
    if points is None or points >= filled:
        rows, columns = np.nonzero(cells)
        return cells[rows, columns], np.asarray(np.stack([columns, rows], axis=1) + 0.5)
    # Many blocks may be empty. If so look, by halving, for the smallest ones of which not too many have a weight.
    few, many = float(points), float(cells.size)
    if _count(cells, few) == np.prod([len(edges) for edges in _edges(cells.shape, few)]):
        many = few
    while many > 1.01 * few + 1:
        middle = np.sqrt(few * many)
        few, many = (middle, many) if _count(cells, middle) <= points else (few, middle)
    return _sums(cells, *_edges(cells.shape, few))


def _edges(shape: tuple[int, ...], blocks: float) -> list[NDArray[np.int64]]:
    """First rows and first columns of about so many blocks of square cells, never more."""
    rows, columns = shape
    down = int(np.clip(np.sqrt(blocks * rows / columns), 1, rows))
    across = int(np.clip(blocks / down, 1, columns))
    down = int(np.clip(blocks / across, 1, rows))
    return [np.arange(count) * length // count for count, length in ((down, rows), (across, columns))]


def _added(values: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    return np.asarray(np.add.reduceat(np.add.reduceat(values, rows, axis=0), columns, axis=1))


def _count(cells: Floats, blocks: float) -> int:
    return int(np.count_nonzero(_added(cells, *_edges(cells.shape, blocks))))


def _sums(cells: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[Floats, Floats]:
    weights = _added(cells, rows, columns)
    largest = cells.max()
    shares = cells / largest  # a weight times the number of a row may overflow
    down, across = ((np.arange(length) + 0.5) for length in cells.shape)
    kept = weights > 0
    masses = _added(shares, rows, columns)[kept]
    moments = [_added(shares * across, rows, columns)[kept], _added(shares * down[:, None], rows, columns)[kept]]
    return weights[kept], np.asarray(np.stack(moments, axis=1) / masses[:, None])


def _from_tiff(path: str | os.PathLike[str], box: Floats | None, points: int | None) -> Points:
    """The first band of a GeoTIFF."""
    rasterio = _library()
    data = read_whole(path)  # by us: to GDAL a name may mean much else, such as an address
    with _telling(path), rasterio.MemoryFile(data) as memory, memory.open(driver="GTiff") as file:
        check_room(_CELL_BYTES * float(file.width) * file.height, f"the cells of {path}")
        band = file.read(1, masked=True)
        affine, system = file.transform, file.crs
    if band.dtype.kind not in "biuf":
        raise FileFormatError(f"{path}: a map needs numbers, not {band.dtype}")
    cells = _weights(np.where(np.ma.getmaskarray(band), np.nan, band.data), path)
    if system is None and affine.is_identity:
        if box is None:
            raise FileFormatError(f"{path} does not say where it is: give its extent, x0,y0,x1,y1 in metres")
        return _points(cells, _within(box, cells.shape), points)
    if box is not None:
        raise FileFormatError(f"{path} says itself where it is: leave the extent out")

    def on_map(places: Floats) -> Floats:
        turned = [[affine.a, affine.d], [affine.b, affine.e]]
        return np.asarray(places @ turned + [affine.c, affine.f])

    if system is None:
        return _points(cells, on_map, points)
    found = _points(cells, on_map, points)
    with _telling(path):
        degrees = np.stack(import_module("rasterio.warp").transform(system, _GEOGRAPHIC, *found.positions.T), axis=1)
    if not np.isfinite(degrees).all():
        raise FileFormatError(f"{path}: some of its cells are no place on earth in {system}")
    plane = Projection.around(degrees)
    return Points(plane.to_metres(degrees), found.weights, projection=plane)


@contextmanager
def _telling(path: object) -> Iterator[None]:
    """Errors of the library, and of GDAL below it, as ours; a file that says little is no reason for a warning."""
    rasterio = _library()
    strange = (rasterio.errors.RasterioError, import_module("rasterio._err").CPLE_BaseError, ValueError)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except TricoverError:
        raise
    except strange as error:
        reason = " ".join(str(error).split())[:200]
        raise FileFormatError(f"{path} cannot be read as a GeoTIFF: {reason}") from error


def _library() -> Any:
    try:
        return import_module("rasterio")
    except ImportError as error:
        raise MissingExtraError("GeoTIFFs need the library rasterio: pip install 'tricover[raster]'") from error
