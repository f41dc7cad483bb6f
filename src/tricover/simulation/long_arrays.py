"""The long arrays of a scenario, kept as arrays beside its plain values."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.simulation.record import Layout

__all__ = ["joined", "layout_of", "split"]

LONG = 64  # numbers or names beyond which an array of the scenario is kept as an array


def split(value: Any, long: dict[str, NDArray[Any]], name: str = "") -> Any:
    """Plain values. Long arrays go to ``long`` and leave their name; so do long lists of names, as bytes of JSON."""
    if isinstance(value, dict):
        return {key: split(part, long, f"{name}_{key}".lstrip("_")) for key, part in value.items()}
    if isinstance(value, list | tuple):
        if len(value) > LONG and all(isinstance(part, str) for part in value):
            long[name] = np.frombuffer(json.dumps(value).encode(), np.uint8)
            return {"names": name}
        return [split(part, long, f"{name}_{index}") for index, part in enumerate(value)]
    if not isinstance(value, np.ndarray):
        return str(value) if isinstance(value, Path) else value
    if value.size <= LONG:
        return value.tolist()
    long[name] = value.astype(np.float64, copy=False)
    return {"array": name}


def layout_of(name: str, values: NDArray[Any]) -> Layout:
    """The layout of an array of the scenario. Its dimensions are named by what they count."""
    whose = {"formation": "agent", "targets": "target", "anchors": "anchor"}.get(name.split("_")[0], name)
    known = {"paths": (f"{whose}_step", whose, "xy"), "active": (whose, "from_to"), "ids": ("byte",)}
    dimensions = known.get(name.split("_")[-1], (whose, "xy"))[: values.ndim]
    more = tuple(f"{name}_{axis}" for axis in range(len(dimensions), values.ndim))
    return Layout((*dimensions, *more), str(values.dtype))


def joined(value: Any, read: Callable[[str], NDArray[Any]]) -> Any:
    """Values of the scenario with its long arrays in their places, each read by its name: the reverse of ``split``."""
    if isinstance(value, dict):
        if value.keys() == {"array"}:
            return read(value["array"])
        if value.keys() == {"names"}:
            return json.loads(read(value["names"]).tobytes())
        return {key: joined(part, read) for key, part in value.items()}
    return [joined(part, read) for part in value] if isinstance(value, list) else value
