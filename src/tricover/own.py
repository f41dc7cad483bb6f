"""Rules and vehicles of the user's own, by name: ``"module:function"``, so that they can be written down.

A name is looked up when the rule is needed, and not before: a run can be opened and looked at without it. Python's path
is searched, and then the current folder.
"""

import inspect
import re
import sys
from collections.abc import Callable
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tricover.errors import InputError, UnknownNameError

__all__ = ["check_form", "found", "is_name", "label_of", "name_of"]

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_name(given: object) -> bool:
    """Whether it has the form "module:function".

    >>> is_name("mine:halfway"), is_name("my.rules:Rover"), is_name("centroid"), is_name("C:/x")
    (True, True, False, False)
    """
    return isinstance(given, str) and _NAME.fullmatch(given) is not None


def found(name: str) -> Any:
    """What a name stands for.

    >>> found("math:hypot")(3, 4)
    5.0
    """
    module, _, path = name.partition(":")
    try:
        with _current_folder():
            thing: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # one that the user's module asks for
        raise UnknownNameError(
            f"{name}: there is no module {error.name!r} on Python's path or in the current folder; "
            "start from the folder that has it, or set PYTHONPATH"
        ) from None
    for part in path.split("."):
        if not hasattr(thing, part):
            raise UnknownNameError(f"{name}: the module {module!r} has no {path!r}")
        thing = getattr(thing, part)
    return thing


def name_of(thing: object) -> str | None:
    """The name of a function or class, if a module has it; None for those of notebooks, scripts and inner scopes."""
    module, path = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    name = f"{module}:{path}"
    if module in (None, "__main__") or not is_name(name):
        return None
    try:
        return name if found(name) is thing else None
    except (InputError, ImportError):
        return None


def label_of(rule: object) -> str:
    """What to call a rule in front of people: its name, or that of the function."""
    return rule if isinstance(rule, str) else str(getattr(rule, "__name__", "own rule"))


def check_form(function: Callable[..., Any], what: str, *arguments: str) -> None:
    """Refuse a function that cannot be called with these arguments.

    >>> check_form(lambda a: a, "a goal rule", "agents", "targets")
    Traceback (most recent call last):
    tricover.errors.InputError: a goal rule must take (agents, targets); <lambda> takes (a)
    """
    if not callable(function):
        raise InputError(f"{what} must be a function of ({', '.join(arguments)}), not {type(function).__name__}")
    try:
        form = inspect.signature(function)
    except ValueError:  # some functions of C do not tell
        return
    try:
        form.bind(*arguments)
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        raise InputError(f"{what} must take ({', '.join(arguments)}); {name} takes {form}") from None


@contextmanager
def _current_folder() -> Any:
    """The current folder as the last of Python's path, as long as it takes."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)
