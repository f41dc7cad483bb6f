"""Checks of a vehicle's settings; an error names the setting, its unit and what was given."""

from collections.abc import Iterable
from math import ceil

import numpy as np

from tricover.errors import InputError, shown

__all__ = [
    "control_periods",
    "finite_number",
    "require_at_least_zero",
    "require_chance",
    "require_positive",
    "require_vector",
]

SMALLEST, LARGEST = 1e-9, 1e9
"""Of settings in SI units: beyond these a typing error is likelier than a vehicle, and products could overflow."""

_MOST_PERIODS = 200_000  # of control in a step: a quarter of an hour of flight


def finite_number(value: object) -> bool:
    """Whether a setting is a plain number, not beyond ±``LARGEST``."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and bool(abs(value) <= LARGEST)  # type: ignore[arg-type]


def require_positive(kind: str, unit: str, **settings: object) -> None:
    """Each setting must be a number above 0, from ``SMALLEST`` to ``LARGEST``."""
    for name, value in settings.items():
        if not (finite_number(value) and value >= SMALLEST):  # type: ignore[operator]
            within = f", from {SMALLEST:g} to {LARGEST:g}" if isinstance(value, int | float) and value > 0 else ""
            raise InputError(
                f"vehicle {kind!r}: {name} must be a positive number of {unit}{within}, not {shown(value)}"
            )


def require_at_least_zero(kind: str, unit: str, **settings: object) -> None:
    """Each setting must be a number from 0 to ``LARGEST``."""
    for name, value in settings.items():
        if not (finite_number(value) and value >= 0):  # type: ignore[operator]
            raise InputError(f"vehicle {kind!r}: {name} must be a number of {unit} from 0 on, not {shown(value)}")


def require_chance(kind: str, **settings: object) -> None:
    """Each setting must be a number from 0 to 1."""
    for name, value in settings.items():
        if not (finite_number(value) and 0 <= value <= 1):  # type: ignore[operator]
            raise InputError(f"vehicle {kind!r}: {name} must be a probability from 0 to 1, not {shown(value)}")


def require_vector(kind: str, unit: str, **settings: object) -> None:
    """Each setting must be two numbers within ±``LARGEST``, east and north."""
    for name, value in settings.items():
        parts = list(value) if isinstance(value, Iterable) else []
        if len(parts) != 2 or not all(map(finite_number, parts)):
            raise InputError(f"vehicle {kind!r}: {name} must be two numbers of {unit}, not {shown(value)}")


def control_periods(kind: str, duration: float, period: float) -> int:
    """How often a vehicle is controlled in a step of ``duration`` seconds."""
    if duration / period > _MOST_PERIODS:
        raise InputError(
            f"vehicle {kind!r}: a step of {duration:g} s with a control_period of {period:g} s takes more than "
            f"{_MOST_PERIODS} periods: give a shorter duration"
        )
    return ceil(duration / period)
