"""Options of all commands that fly agents: when these take a step, and for how long they wait for what."""

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from tricover.errors import InputError

if TYPE_CHECKING:
    from tricover.fleet.agent import Manners

__all__ = ["USUAL", "Clock", "Grace", "Homing", "Limit", "Patience", "Rate", "Silence", "Timing", "manners_of"]

Clocks = Literal["lockstep", "rate", "fast"]
Clock = Annotated[
    Clocks,
    typer.Option(
        help="When agents take a step. lockstep: when they have heard from all to whom they listen, or after --limit. "
        "rate: by the clock. fast: as lockstep, without a limit."
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(metavar="HZ", help="Steps per second, at most. With --clock rate: just so many, 10 if not said."),
]
Limit = Annotated[
    float | None,
    typer.Option(metavar="S", help="Seconds that an agent waits for others in a step, at most; 0.5 if not said."),
]
Patience = Annotated[
    float,
    typer.Option(metavar="S", help="Seconds that another has to be missed, or back, before an agent believes it."),
]
Grace = Annotated[float, typer.Option(metavar="S", help="Seconds at the start in which all are taken for alive.")]
Silence = Annotated[
    float, typer.Option(metavar="S", help="Seconds without a word from anybody after which an agent stays where it is.")
]
Homing = Annotated[
    float, typer.Option(metavar="S", help="Seconds of further silence after which it goes home and lands.")
]


class Timing(NamedTuple):
    """What these options say; as it stands here if nothing is said."""

    clock: Clocks = "lockstep"
    rate: float | None = None
    limit: float | None = None
    patience: float = 0.6
    grace: float = 15.0
    silence: float = 10.0
    homing: float = 30.0


USUAL = Timing()


def manners_of(timing: Timing) -> "Manners":
    """How agents behave, by the options of the command."""
    from tricover.fleet.agent import Manners
    from tricover.fleet.clock import clock_of
    from tricover.fleet.membership import Patience

    silence, homing = timing.silence, timing.homing
    if not (silence > 0 and homing >= 0):
        raise InputError(
            f"--silence {silence:g} --homing {homing:g}: give a positive number of seconds, and one from 0 on"
        )
    clock = clock_of(timing.clock, timing.rate, timing.limit)
    return Manners(clock, Patience(timing.patience, timing.grace), silence=silence, homing=homing)
