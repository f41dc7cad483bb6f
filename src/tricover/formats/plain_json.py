"""JSON: a list of positions, or an object with ``positions`` and, where there are any, ``weights``, ``ids`` and the
``projection`` (longitude and latitude of its centre, in degrees) that leads back from metres.
"""

import json
from typing import Any

from tricover.errors import FileFormatError, InputError, listed
from tricover.formats.points import Points
from tricover.formats.projection import Projection

__all__ = ["document_of", "from_json", "to_json"]

_KEYS = ("positions", "weights", "ids", "projection")


def document_of(data: bytes, path: object) -> Any:
    """The parsed document; errors name the file, the line and the column."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{path}, line {error.lineno}, column {error.colno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not a text file in UTF-8: {error}") from error


def _check_rows(rows: object, path: object) -> None:
    if not isinstance(rows, list) or not rows:
        raise FileFormatError(f"{path} holds no list of positions")
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) not in (2, 3) or len(row) != len(rows[0]):
            raise FileFormatError(f"{path}, position {index}: {row!r} is not [x, y] or [x, y, z] like the others")
        for axis, value in enumerate(row):
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise FileFormatError(f"{path}, position {index}, coordinate {axis}: {value!r} is not a number")


def from_json(document: Any, path: object) -> Points:
    """Points of a parsed JSON document that is not GeoJSON."""
    if not isinstance(document, dict):
        document = {"positions": document}
    unknown = document.keys() - {*_KEYS}
    if unknown:
        raise FileFormatError(f"{path} has unknown keys {listed(sorted(unknown))}: expected {listed(_KEYS)}")
    _check_rows(document.get("positions"), path)
    plane = document.get("projection")
    try:
        projection = None if plane is None else Projection(float(plane["longitude"]), float(plane["latitude"]))
    except (TypeError, KeyError, ValueError) as error:
        raise FileFormatError(f"{path}: the projection needs a longitude and a latitude in degrees") from error
    try:
        return Points(document["positions"], document.get("weights"), document.get("ids"), projection)
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from error


def to_json(points: Points) -> str:
    """The points in metres, with their projection."""
    document = {
        "positions": points.positions.tolist(),
        "weights": None if points.weights is None else points.weights.tolist(),
        "ids": points.ids,
        "projection": None if points.projection is None else vars(points.projection),
    }
    return json.dumps({key: value for key, value in document.items() if value is not None}) + "\n"
