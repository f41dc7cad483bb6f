"""One line for whatever is wrong with a scenario: the key's path, what is wrong, and the remedy."""

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tricover.errors import InputError, advice, shown

__all__ = ["check_key", "explain"]

Location = tuple[int | str, ...]


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing that is wrong, and how many more there are."""
    problems = error.errors(include_url=False)
    problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")  # a key that is missing may be misspelt
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return _line(problems[0], model) + more


def check_key(key: str, model: type[BaseModel]) -> None:
    """Complain about a key, such as ``control.gama``, that a model does not have; settings of a kind are its own."""
    parts = tuple(key.split("."))
    for depth, part in enumerate(parts):
        owner = _owner(parts[:depth], model)
        if owner.model_config.get("extra") == "allow":
            return
        if part not in owner.model_fields:
            raise InputError(_unknown(parts[: depth + 1], model))
        if depth + 1 < len(parts) and not _leads_on(owner, part):
            raise InputError(f"unknown key {key!r}; {'.'.join(parts[: depth + 1])!r} has no keys of its own")
        if _owner((part,), owner) is owner:  # a value, or a table of a value's own
            return


def _leads_on(owner: type[BaseModel], key: str) -> bool:
    """Whether a key may have keys of its own."""
    kinds = _parts(owner.model_fields[key].annotation)
    return any(kind is Any or (isinstance(kind, type) and issubclass(kind, BaseModel)) for kind in kinds)


def _line(problem: ErrorDetails, model: type[BaseModel]) -> str:
    place, given = problem["loc"], problem["input"]
    if problem["type"] == "extra_forbidden":
        return _unknown(place, model)
    if problem["type"] == "missing":
        return f"{_path(place, model)} is missing"
    message = problem["msg"].removeprefix("Value error, ")
    path = _path(place, model)
    if problem["type"] == "value_error":
        return f"{path}: {message}" if path else message
    message = message.removeprefix("Input ")
    but = "" if isinstance(given, Mapping | list | tuple) else f", not {shown(given)}"
    return f"{path}: {message}{but}"


def _unknown(place: Location, model: type[BaseModel]) -> str:
    *parents, key = place
    keys = _owner(tuple(parents), model).model_fields
    return f"unknown key {_path(place, model)!r}; {advice(str(key), keys)}"


def _owner(place: Location, model: type[BaseModel]) -> type[BaseModel]:
    """The section that a path leads to."""
    for key in place:
        field = model.model_fields.get(str(key))
        if field is not None:
            inner = [
                part for part in _parts(field.annotation) if isinstance(part, type) and issubclass(part, BaseModel)
            ]
            model = inner[0] if inner else model
    return model


def _parts(annotation: Any) -> list[Any]:
    """A type and the types inside it."""
    return [annotation, *(part for inside in get_args(annotation) for part in _parts(inside))]


def _path(place: Location, model: type[BaseModel]) -> str:
    """``control.gamma`` or ``events.leave[0].step``; names of union branches that Pydantic adds are left out."""
    path = ""
    for depth, key in enumerate(place):
        if isinstance(key, int):
            path += f"[{key}]"
        elif depth == len(place) - 1 or key in _owner(place[:depth], model).model_fields:
            path += f".{key}" if path else key
    return path
