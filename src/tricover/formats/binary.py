"""NPY: a plain array of x, y[, z[, weight]], or a structured one with named columns. Never pickled.

Zarr: a plain array of x, y[, z], which can be read in pieces, see ``zarr_array``.

The header says what the file holds, and is believed only as far as the file's length bears it out.
"""

import ast
import io
import math
import os
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError, shown
from tricover.formats.columns import NAMELESS, from_columns, roles, to_columns
from tricover.formats.points import Points
from tricover.formats.projection import Projection
from tricover.limits import check_room

__all__ = ["from_npy", "from_zarr", "npy_array", "to_npy", "zarr_array"]

_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}  # of the header's length, by the format's version
_LONGEST = 10_000  # characters of a header: more is slow to read, and no point file needs them


class _Header(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    end: int


def npy_array(data: bytes, path: object) -> NDArray[Any]:
    """The array of an NPY file."""
    try:
        header = _header(data)
        count = math.prod(header.shape)
        if header.dtype.hasobject or not header.dtype.itemsize:
            raise ValueError("its entries are no numbers")
        if count * header.dtype.itemsize > len(data) - header.end:
            raise ValueError(f"it is too short for an array of shape {shown(header.shape)}")
        flat = np.frombuffer(data, header.dtype, count, header.end)
        return flat.reshape(header.shape, order="F" if header.fortran else "C")
    except ValueError as error:
        raise FileFormatError(f"{path} is not an NPY file of plain numbers: {error}") from error


def _header(data: bytes) -> _Header:
    """What the array is, and where its header ends; a ValueError says what is wrong with it."""
    size = _LENGTH_BYTES.get(data[6] if len(data) > 8 and data.startswith(_MAGIC) else 0)
    if size is None:
        raise ValueError("it does not begin as one")
    end = 8 + size + int.from_bytes(data[8 : 8 + size], "little")
    if end > min(len(data), _LONGEST):
        raise ValueError("its header is cut short or too long")
    try:
        fields = ast.literal_eval(data[8 + size : end].decode("utf-8" if data[6] == 3 else "latin1").strip())
        dtype = np.lib.format.descr_to_dtype(fields["descr"])
        shape, fortran = fields["shape"], fields["fortran_order"]
    except (SyntaxError, TypeError, ValueError, KeyError, IndexError, OverflowError, RecursionError, MemoryError):
        raise ValueError("its header cannot be read") from None
    if not isinstance(shape, tuple) or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"it says that it has the shape {shown(shape)}")
    return _Header(dtype, shape, bool(fortran), end)


def from_npy(data: bytes, path: object, projection: Projection | None = None) -> Points:
    """Points of an NPY file; errors name the file, the row and the column."""
    array = npy_array(data, path)
    if array.dtype.names:
        names, columns = list(array.dtype.names), [array[name] for name in array.dtype.names]
    elif array.ndim == 2 and array.shape[1] in NAMELESS:
        names, columns = list(NAMELESS[array.shape[1]]), list(array.T)
    else:
        more = "; a map needs its extent, x0,y0,x1,y1 in metres" if array.ndim == 2 else ""
        raise FileFormatError(f"{path} holds an array of shape {array.shape}: expected (N, 2), (N, 3) or (N, 4){more}")
    if not array.size:
        raise FileFormatError(f"{path} holds no points")
    which, rows = roles(names, path), array.size if array.dtype.names else len(array)
    return from_columns(
        {role: _values(columns[index], rows, f"{path}, column {names[index]!r}") for role, index in which.items()},
        lambda role, row: f"{path}, row {row}, column {which[role]} ({names[which[role]]})",
        projection,
    )


def _values(column: NDArray[Any], rows: int, where: str) -> list[object]:
    """The entries of a column, one for each row: numbers or text, or whatever else can be named in an error."""
    if column.dtype.names or column.size != rows:
        raise FileFormatError(f"{where} has more than one entry in a row")
    flat = np.ascontiguousarray(column).ravel()
    if column.dtype.kind == "U" and (flat.view(f"{column.dtype.str[0]}u4") > sys.maxunicode).any():
        raise FileFormatError(f"{where} holds text of characters that do not exist")
    values: list[object] = flat.tolist()
    return values


def zarr_array(path: str | os.PathLike[str]) -> Any:
    """A Zarr array of pairs or triples of floats; nothing of it is read yet."""
    import zarr

    try:
        array = zarr.open_array(os.fspath(path), mode="r")
    except (OSError, ValueError, KeyError, RuntimeError) as error:  # what Zarr raises for what it cannot make out
        raise FileFormatError(f"{path}: this is not a Zarr array ({type(error).__name__})") from None
    if array.dtype != np.float64 or len(array.shape) != 2 or array.shape[1] not in (2, 3) or not array.shape[0]:
        raise FileFormatError(f"{path} holds {array.dtype} of shape {array.shape}: expected float64, (N, 2) or (N, 3)")
    return array


def from_zarr(path: str | os.PathLike[str]) -> Points:
    """All points of a Zarr array."""
    array = zarr_array(path)
    check_room(16.0 * array.shape[0] * array.shape[1], f"{array.shape[0]} points")
    try:
        return Points(np.asarray(array[...]))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise FileFormatError(f"{path} is damaged: {error}") from None


def to_npy(points: Points) -> bytes:
    """A plain array where the points are nothing but positions, else a structured one with named columns."""
    array: NDArray[Any] = points.positions
    if points.weights is not None or points.ids is not None or points.projection is not None:
        # Every name takes as much room as the longest one.
        check_room(4.0 * len(points) * max(map(len, points.ids or ("",))), "names of equal length in an NPY file")
        columns = {role: np.asarray(column) for role, column in to_columns(points).items()}
        array = np.empty(len(points), dtype=[(role, column.dtype) for role, column in columns.items()])
        for role, column in columns.items():
            array[role] = column
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()
