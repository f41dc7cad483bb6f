"""Controls for the settings of a scenario, made from its JSON schema: kind, limits, choices, and help in its own words.

A control has a ``key`` as in the scenario file, a ``kind`` (choice, flag, integer, number or text), ``help``, a
``default``, and where there are some ``least``, ``most`` and ``choices``, which a text need not be one of. Points,
files and events are edited on the map.
"""

from collections.abc import Iterator
from typing import Any

from tricover.own import label_of
from tricover.simulation import Scenario
from tricover.vehicles import KINDS

__all__ = ["controls", "values_of"]

SECTIONS = ("network", "control", "vehicle", "world", "safety")
_OF_RUN = ("seed", "steps", "stop_when_settled")
_ON_MAP = ("network.core", "safety.zones", "vehicle.others", "control.policy")
_FOR_REAL = "mavlink"  # the studio only simulates
_NUMBERS = ("integer", "number")


def controls() -> list[dict[str, Any]]:
    """All controls, in the order of the scenario file."""
    schema = Scenario.model_json_schema()
    whole = schema["properties"]
    found = [_control(key, whole[key], schema) for key in _OF_RUN]
    for section in SECTIONS:
        keys = _section(whole[section], schema)["properties"]
        found += [_control(f"{section}.{name}", keys[name], schema) for name in keys]
    return [control for control in found if control["key"] not in _ON_MAP]


def values_of(scenario: Scenario) -> dict[str, Any]:
    """The values of all controls, by key, where a scenario says something."""
    plain: dict[str, Any] = {key: getattr(scenario, key) for key in _OF_RUN}
    for name in SECTIONS:
        for key, value in getattr(scenario, name).values().items():
            if f"{name}.{key}" not in _ON_MAP:
                plain[f"{name}.{key}"] = label_of(value) if callable(value) else _plain(value)
    return plain


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _control(key: str, field: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in _branches(field, schema) if branch.get("type") != "null"]
    first = branches[0]
    control = {"key": key, "kind": "text", "help": field.get("description", ""), "default": field.get("default")}
    choices = [choice for branch in branches for choice in branch.get("enum", [])]
    if key == "vehicle.kind":
        choices = [kind for kind in KINDS if kind != _FOR_REAL]
    if choices and all("enum" in branch or branch.get("type") == "string" for branch in branches):
        return control | {"kind": "choice", "choices": choices}
    if first.get("type") == "boolean":
        return control | {"kind": "flag"}
    if len(branches) == 1 and first.get("type") in _NUMBERS:
        least, most = (_limit(first, name) for name in ("inimum", "aximum"))
        return control | {"kind": first["type"], "least": least, "most": most}
    return control | {"choices": choices}


def _limit(branch: dict[str, Any], name: str) -> float | None:
    limit: float | None = branch.get(f"m{name}", branch.get(f"exclusiveM{name}"))
    return limit


def _section(field: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return next(branch for branch in _branches(field, schema) if "properties" in branch)


def _branches(field: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a value may be, references followed."""
    if "$ref" in field:
        yield from _branches(schema["$defs"][field["$ref"].rpartition("/")[2]], schema)
    elif "anyOf" in field or "allOf" in field:
        for branch in field.get("anyOf", field.get("allOf", ())):
            yield from _branches(branch, schema)
    else:
        yield field if "enum" in field or "const" not in field else {**field, "enum": [field["const"]]}
