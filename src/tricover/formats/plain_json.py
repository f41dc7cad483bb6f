"""JSON: a list of positions, or an object with ``positions`` and, where there are any, ``weights``, ``ids`` and the
``projection`` (longitude and latitude of its centre, in degrees) that leads back from metres.
"""

import json
from typing import Any

from tricover.errors import FileFormatError, InputError, listed, shown
from tricover.formats.points import Points
from tricover.formats.projection import Projection

__all__ = ["document_of", "from_json", "parsed", "to_json"]

_KEYS = ("positions", "weights", "ids", "projection")
_LONGEST = 300  # digits of a whole number: longer ones are no number for NumPy or Python, or none at all


def parsed(text: str) -> Any:
    """The value of a JSON text; an error names the line and the column. Whole numbers of any length are read."""
    try:
        return json.loads(text, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise FileFormatError("lists or objects are nested too deep to be read") from None


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST else float(digits)


def document_of(data: bytes, path: object) -> Any:
    """The parsed document; errors name the file, the line and the column."""
    try:
        return parsed(data.decode("utf-8-sig"))
    except FileFormatError as error:
        raise FileFormatError(f"{path}, {error}") from None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not a text file in UTF-8: {error}") from error


def _check_rows(rows: object, path: object) -> None:
    if not isinstance(rows, list) or not rows:
        raise FileFormatError(f"{path} holds no list of positions")
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) not in (2, 3) or len(row) != len(rows[0]):
            raise FileFormatError(f"{path}, position {index}: {shown(row)} is not [x, y] or [x, y, z] like the others")
        for axis, value in enumerate(row):
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise FileFormatError(f"{path}, position {index}, coordinate {axis}: {shown(value)} is not a number")


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
        reason = f": {error}" if isinstance(error, InputError) else ""
        raise FileFormatError(f"{path}: the projection needs a longitude and a latitude in degrees{reason}") from error
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
