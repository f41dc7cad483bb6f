"""Vehicles by name: ``vehicle(kind, **settings)`` makes one, ``settings`` gives back what made it."""

from dataclasses import asdict, fields
from importlib import import_module
from inspect import signature
from typing import Any, cast

from tricover.errors import InputError, advice, listed
from tricover.own import found, is_name
from tricover.vehicles.protocol import Vehicle, check_vehicle

__all__ = ["KINDS", "is_built_in", "settings", "vehicle"]

# The module and the class of each kind; loaded when first asked for.
KINDS = {
    "exact": ("exact", "Exact"),
    "anywhere": ("anywhere", "Anywhere"),
    "gusty": ("gusty", "Gusty"),
    "double-integrator": ("double_integrator", "DoubleIntegrator"),
    "unicycle": ("unicycle", "Unicycle"),
    "quadrotor": ("quadrotor", "Quadrotor"),
    "rotorpy": ("rotorpy", "RotorPy"),
    "mavlink": ("mavlink", "Mavlink"),
}


def vehicle(kind: str, **settings: Any) -> Vehicle:
    """Make a vehicle of a kind; settings are the fields of its class, in SI units.

    >>> vehicle("exact")
    Exact()
    """
    if is_name(kind):
        return _own(kind, settings)
    if kind not in KINDS:
        raise InputError(f"unknown vehicle kind {kind!r}; {advice(kind, KINDS)}")
    home, name = KINDS[kind]
    maker = getattr(import_module(f"tricover.vehicles.{home}"), name)
    known = [field.name for field in fields(maker)]
    for key in settings:
        if key not in known:
            raise InputError(f"vehicle {kind!r} has no setting {key!r}; {advice(key, known)}")
    return cast(Vehicle, maker(**settings))


def _own(kind: str, settings: dict[str, Any]) -> Vehicle:
    """A vehicle of the user's own class, or of a function that makes one."""
    maker = found(kind)
    try:
        signature(maker).bind(**settings)
    except TypeError as error:
        raise InputError(f"vehicle {kind!r} cannot be made with {listed(settings) or 'no settings'}: {error}") from None
    made = maker(**settings)
    check_vehicle(made)
    return cast(Vehicle, made)


def is_built_in(vehicle: Vehicle) -> bool:
    """Whether ``vehicle`` makes it by its kind; a user's own may have any name."""
    home, name = KINDS.get(vehicle.kind, ("", ""))
    return (type(vehicle).__module__, type(vehicle).__name__) == (f"tricover.vehicles.{home}", name)


def settings(vehicle: Vehicle) -> dict[str, Any]:
    """The kind and the settings from which ``vehicle(**settings)`` makes the same vehicle again."""
    if not is_built_in(vehicle):
        raise InputError(f"{vehicle.kind!r} is not a kind that can be written down; known: {listed(KINDS, most=20)}")
    return {"kind": vehicle.kind, **asdict(cast(Any, vehicle))}
