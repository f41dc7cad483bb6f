"""How much memory a file or a setting may ask for.

A few characters in a file can ask for more than any machine has: ten billion agents, a density that fills a field with
a trillion points. Whoever is about to make so many numbers asks ``check_room`` first. The limit is 2 GiB; the
environment variable ``TRICOVER_MEMORY`` sets another one, in GiB.
"""

import os

from tricover.errors import InputError

__all__ = ["GIB", "check_room", "memory_limit"]

GIB = 1 << 30
_VARIABLE = "TRICOVER_MEMORY"
_DEFAULT = 2.0  # GiB: twice what a million agents over a million targets need


def memory_limit() -> float:
    """How many bytes one thing may take."""
    text = os.environ.get(_VARIABLE, "").strip()
    try:
        limit = float(text) if text else _DEFAULT
    except ValueError:
        limit = 0.0
    if not limit > 0:
        raise InputError(f"{_VARIABLE} must be a positive number of GiB, such as 8, not {text!r}")
    return limit * GIB


def check_room(size: float, what: str) -> None:
    """Refuse to make ``what``, which would take ``size`` bytes, if that is more than the limit.

    >>> check_room(8 * 57, "57 numbers")
    >>> check_room(3e12, "100000000000 agents")
    Traceback (most recent call last):
    tricover.errors.InputError: 100000000000 agents need about 2794.0 GiB of memory, and the limit is 2 GiB: \
ask for less, or set TRICOVER_MEMORY to more GiB
    """
    limit = memory_limit()
    if not size <= limit:
        raise InputError(
            f"{what} need about {size / GIB:.1f} GiB of memory, and the limit is {limit / GIB:g} GiB: "
            f"ask for less, or set {_VARIABLE} to more GiB"
        )
