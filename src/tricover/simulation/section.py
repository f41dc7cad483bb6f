"""What all sections of a scenario share: no unknown keys, no change after checking, equality, arrays as values."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from tricover.errors import InputError, listed
from tricover.formats.points import LARGEST, own_floats

__all__ = [
    "LAST_STEP",
    "AgentList",
    "Extent",
    "FilePath",
    "Floats",
    "Length",
    "Pair",
    "Paths",
    "Points",
    "PointsOrFile",
    "Rows",
    "Section",
    "StepNumber",
    "Steps",
    "Text",
    "Weights",
    "ZonesOrFile",
]

Floats = NDArray[np.float64]

LAST_STEP = 2**53
"""No step has a larger number: up to it, whole numbers and floats are the same."""


class Section(BaseModel):
    """A part of a scenario. Frozen; equal when all values are, arrays included."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, allow_inf_nan=False)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _same(self.values(), other.values())

    __hash__ = None  # type: ignore[assignment]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some keys changed, checked like any other section; values are never shared to be changed."""
        return type(self)(**{**self.values(), **(update or {})})

    def values(self) -> dict[str, Any]:
        """All keys that say something: those that are not left out."""
        given = {name: getattr(self, name) for name in [*type(self).model_fields, *(self.model_extra or {})]}
        return {name: value for name, value in given.items() if value is not None}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _array(shape: str, dimensions: int, last: int | None = None, whole: bool = False, file: bool = False) -> Any:
    """A type for arrays of numbers of that shape; lists come in, read-only arrays are kept. A file may hold them."""

    def check(given: Any) -> NDArray[Any] | Path:
        if file and isinstance(given, str | os.PathLike):
            path: Path = _absolute(given)
            return path
        try:
            array: NDArray[Any] = own_floats(given)
        except (TypeError, ValueError):
            raise InputError(f"give numbers in rows of equal length, shape {shape}") from None
        if array.ndim != dimensions or (last is not None and array.shape[-1] != last) or not array.size:
            raise InputError(f"give numbers of shape {shape}, not {array.shape}")
        broken = np.flatnonzero(~np.isfinite(array).reshape(len(array), -1).all(axis=1))
        if broken.size:
            raise InputError(f"row {listed(broken)} has a number that is NaN or infinite")
        largest = LAST_STEP if whole else LARGEST
        if not np.abs(array).max() <= largest:
            raise InputError(f"numbers must not exceed {largest:g}")
        if whole:
            array = array.astype(np.int64)
            if not np.array_equal(array, given):
                raise InputError(f"give whole numbers of shape {shape}")
        array.flags.writeable = False
        return array

    schema: dict[str, Any] = {"type": "integer" if whole else "number"}
    for axis in reversed(range(dimensions)):
        ends = {"minItems": last, "maxItems": last} if last and axis == dimensions - 1 else {"minItems": 1}
        schema = {"type": "array", "items": schema, **ends}
    schema["description"] = f"numbers of shape {shape}"
    if file:
        schema = {"anyOf": [{"type": "string"}, schema]}
    return Annotated[NDArray[Any], PlainValidator(check), WithJsonSchema(schema)]


Points = _array("(N, 2)", 2, 2)
PointsOrFile = _array("(N, 2)", 2, 2, file=True)
Extent = _array("(4,)", 1, 4)
Weights = _array("(N,)", 1)
Rows = _array("(N,)", 1, whole=True)
Pair = _array("(2,)", 1, 2)
Paths = _array("(K, N, 2)", 3, 2)
Steps = _array("(N, 2)", 2, 2, whole=True)
_CORNERS: TypeAdapter[Any] = TypeAdapter(Points)


def _zones(given: Any) -> tuple[Floats, ...] | Path:
    """Polygons, each with its corners; or a file that holds them."""
    if isinstance(given, str | os.PathLike):
        path: Path = _absolute(given)
        return path
    if not isinstance(given, list | tuple | np.ndarray) or not len(given):
        raise InputError("give polygons as lists of corners [x, y], or a GeoJSON file")
    zones = []
    for number, corners in enumerate(given):
        try:
            zones.append(_CORNERS.validate_python(corners))
        except ValidationError as error:
            raise InputError(f"zone {number}: {error.errors()[0]['msg']}") from None
    return tuple(zones)


_RING = {"type": "array", "minItems": 3, "items": {"type": "array", "items": {"type": "number"}}}
ZonesOrFile = Annotated[
    Any,
    PlainValidator(_zones),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": _RING}]}),
]


def _one_or_many(given: Any) -> Any:
    return [given] if isinstance(given, int) and not isinstance(given, bool) else given


def _plain(given: Any) -> Any:
    return given.tolist() if isinstance(given, np.ndarray | np.generic) else given


def _absolute(given: Any) -> Any:
    if "\0" in str(given):
        raise InputError("there is a null character in the file's name")
    return Path(os.path.abspath(given)) if isinstance(given, str | os.PathLike) else given


def _writable(given: str) -> str:
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{given!r} is no text that can be written to a file: {error.reason}") from None
    return given


Text = Annotated[str, AfterValidator(_writable)]
Length = Annotated[float, Field(gt=0, le=LARGEST)]
StepNumber = Annotated[int, Field(ge=0, le=LAST_STEP)]
AgentNumber = Annotated[int, Field(lt=2**31)]  # networks count agents in 32 bits
AgentList = Annotated[tuple[AgentNumber, ...], BeforeValidator(_one_or_many), BeforeValidator(_plain)]
#: A file; relative paths are taken from the scenario file's folder, or from where Python runs.
FilePath = Annotated[Path, BeforeValidator(_absolute), WithJsonSchema({"type": "string"})]
