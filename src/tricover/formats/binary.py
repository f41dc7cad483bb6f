"""NPY: a plain array of x, y[, z[, weight]], or a structured one with named columns. Never pickled."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError
from tricover.formats.columns import NAMELESS, from_columns, roles, to_columns
from tricover.formats.points import Points
from tricover.formats.projection import Projection

__all__ = ["from_npy", "npy_array", "to_npy"]


def npy_array(data: bytes, path: object) -> NDArray[Any]:
    """The array of an NPY file."""
    try:
        return np.asarray(np.lib.format.read_array(io.BytesIO(data), allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise FileFormatError(f"{path} is not an NPY file of plain numbers: {error}") from error


def from_npy(data: bytes, path: object, projection: Projection | None = None) -> Points:
    """Points of an NPY file; errors name the file, the row and the column."""
    array = npy_array(data, path)
    if array.dtype.names:
        names, columns = list(array.dtype.names), [array[name].ravel() for name in array.dtype.names]
    elif array.ndim == 2 and array.shape[1] in NAMELESS:
        names, columns = list(NAMELESS[array.shape[1]]), list(array.T)
    else:
        raise FileFormatError(f"{path} holds an array of shape {array.shape}: expected (N, 2), (N, 3) or (N, 4)")
    if not array.size:
        raise FileFormatError(f"{path} holds no points")
    which = roles(names, path)
    return from_columns(
        {role: columns[index].tolist() for role, index in which.items()},
        lambda role, row: f"{path}, row {row}, column {which[role]} ({names[which[role]]})",
        projection,
    )


def to_npy(points: Points) -> bytes:
    """A plain array where the points are nothing but positions, else a structured one with named columns."""
    array: NDArray[Any] = points.positions
    if points.weights is not None or points.ids is not None or points.projection is not None:
        columns = {role: np.asarray(column) for role, column in to_columns(points).items()}
        array = np.empty(len(points), dtype=[(role, column.dtype) for role, column in columns.items()])
        for role, column in columns.items():
            array[role] = column
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()
