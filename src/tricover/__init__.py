"""Tricover: decentralised deployment of agent teams over ground targets, with a guarantee.

Every public name is listed in ``__all__`` and loaded when it is first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tricover.errors import TricoverError as TricoverError

__version__ = "0.1.0"

_HOME = {
    "TricoverError": "errors",
}

__all__ = ["TricoverError"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'tricover' has no attribute {name!r}")
    value: object = getattr(import_module(f"tricover.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
