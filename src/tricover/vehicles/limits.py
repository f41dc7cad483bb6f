"""Checks of a vehicle's settings; an error names the setting, its unit and what was given."""

import sys
from collections.abc import Iterable

import numpy as np

from tricover.errors import InputError, shown

__all__ = ["finite_number", "require_at_least_zero", "require_positive", "require_vector"]


def finite_number(value: object) -> bool:
    """Whether a setting is a plain finite number."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and bool(abs(value) <= sys.float_info.max)  # type: ignore[arg-type]


def require_positive(kind: str, unit: str, **settings: object) -> None:
    """Each setting must be a finite number above 0."""
    for name, value in settings.items():
        if not (finite_number(value) and value > 0):  # type: ignore[operator]
            raise InputError(f"vehicle {kind!r}: {name} must be a positive number of {unit}, not {shown(value)}")


def require_at_least_zero(kind: str, unit: str, **settings: object) -> None:
    """Each setting must be a finite number from 0 on."""
    for name, value in settings.items():
        if not (finite_number(value) and value >= 0):  # type: ignore[operator]
            raise InputError(f"vehicle {kind!r}: {name} must be a number of {unit} from 0 on, not {shown(value)}")


def require_vector(kind: str, unit: str, **settings: object) -> None:
    """Each setting must be two finite numbers, east and north."""
    for name, value in settings.items():
        parts = list(value) if isinstance(value, Iterable) else []
        if len(parts) != 2 or not all(map(finite_number, parts)):
            raise InputError(f"vehicle {kind!r}: {name} must be two numbers of {unit}, not {shown(value)}")
