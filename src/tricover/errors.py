"""All errors that Tricover raises on purpose.

    TricoverError            root: catch this one
    ├── InputError           data or a setting that cannot be used as it is
    │   ├── FormationError   reference positions from which no network can be built
    │   ├── FileFormatError  a file that cannot be read or written as asked
    │   ├── UnknownNameError a rule or vehicle of the user's own that cannot be found
    │   └── LostControlError vehicles whose motion did not stay finite
    │       └── AutopilotError     an autopilot that refused or fell silent
    │           └── TakenOverError an autopilot that somebody else flies now
    ├── StoreError           a run that cannot be written where it should be
    ├── ClusterError         machines that are to work together, and are not there
    └── MissingExtraError    an optional library is not installed

    SafetyWarning            said before a run: what it asks for that cannot be kept

A message names the culprit and the remedy, on one line, whatever is in the data that it speaks of.
"""

import reprlib
from collections.abc import Iterable, Sequence
from typing import Self

__all__ = [
    "AutopilotError",
    "ClusterError",
    "FileFormatError",
    "FormationError",
    "InputError",
    "LostControlError",
    "MissingExtraError",
    "SafetyWarning",
    "StoreError",
    "TakenOverError",
    "TricoverError",
    "UnknownNameError",
    "advice",
    "agents",
    "listed",
    "plain",
    "shown",
]


class TricoverError(Exception):
    """Root of all errors that Tricover raises on purpose."""

    def __str__(self) -> str:
        text = super().__str__()
        return plain(text if len(text) <= _LONGEST else f"{text[:_HEAD]} … {text[-_TAIL:]}")


class InputError(TricoverError, ValueError):
    """Data or a setting that cannot be used as it is."""


class FormationError(InputError):
    """Reference positions from which no network can be built."""


class FileFormatError(InputError):
    """A file that cannot be read or written as asked."""


class UnknownNameError(InputError):
    """A rule or vehicle of the user's own, by a name that cannot be found."""


class LostControlError(InputError):
    """Vehicles whose motion did not stay finite; ``agents`` are their rows in the batch that was driven."""

    def __init__(
        self, kind: str, agents: Sequence[int], why: str = "lost control; try less wind or a shorter control period"
    ) -> None:
        super().__init__(f"{kind} of agent {listed(agents)} {why}")
        self.kind, self.agents, self.why = kind, agents, why

    def of(self, agents: Sequence[int]) -> Self:
        """The same error of agents by other numbers, such as by their places in the whole team."""
        return type(self)(self.kind, agents, self.why)


class AutopilotError(LostControlError):
    """An autopilot that refused what it was asked for, or fell silent."""


class TakenOverError(AutopilotError):
    """An autopilot that left our control, by itself or by its pilot; control is never taken back."""


class StoreError(TricoverError, OSError):
    """A run that cannot be written where it should be."""


class ClusterError(TricoverError, OSError):
    """Machines that are to work together, and are not there, or not there any more."""


class MissingExtraError(TricoverError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""


class SafetyWarning(UserWarning):
    """What a run asks for that cannot be kept, said before it starts."""


def shown(value: object) -> str:
    """A value for a message: in full where it is short, else its beginning and its end.

    >>> shown([1, "x"]), shown(10**5000)
    ("[1, 'x']", 'a whole number of 16610 bits')
    """
    return _SHORT.repr(value)


class _Short(reprlib.Repr):
    """Values from a file may be long, or nested deeper than Python can spell out."""

    def repr_int(self, value: int, level: int) -> str:
        return repr(value) if value.bit_length() <= 64 else f"a whole number of {value.bit_length()} bits"


_HEAD, _TAIL, _LONGEST = 700, 250, 1000  # characters of a message
_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = 80
_SHORT.maxlevel = 4


def listed(items: Iterable[object], most: int = 6) -> str:
    """Join items for a message: all of them, or the first ``most`` and how many more there are.

    >>> listed([4, 17])
    '4 and 17'
    >>> listed(range(100), most=3)
    '0, 1, 2 and 97 more'
    """
    names = [str(item) for item in items]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def advice(given: str, known: Iterable[str]) -> str:
    """What to say of a name that is not known: the nearest one that is, or all of them.

    >>> advice("gama", ["alpha", "gamma"]), advice("zzz", ["alpha", "gamma"])
    ("did you mean 'gamma'?", 'known: alpha and gamma')
    """
    from difflib import get_close_matches  # here: only those who err wait for it

    names = list(known)
    close = get_close_matches(given, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {listed(names, most=20)}" if names else "there are none"


def agents(indices: Iterable[object]) -> str:
    """Name agents in a message.

    >>> agents([4]), agents([4, 17])
    ('agent 4', 'agents 4 and 17')
    """
    names = list(indices)
    return f"agent{'s' if len(names) > 1 else ''} {listed(names)}"


def plain(text: str, keep: str = "") -> str:
    """Text without what a terminal or a figure would obey: control characters and the like become visible.

    >>> plain("a\\x1b[31m\\u202eb\\n")
    'a\\\\x1b[31m\\\\u202eb\\\\n'
    """
    if text.isprintable():
        return text
    from unicodedata import category  # here: most texts are printable

    return "".join(
        sign if sign.isprintable() or sign in keep or category(sign) == "Zs" else _spelt_out(sign) for sign in text
    )


def _spelt_out(sign: str) -> str:
    return sign.encode("unicode_escape").decode()
