"""What a study measures of each run, by name; and measures of the user's own.

``MEASURES`` has all names. A measure is a function of a run that gives one plain value: a number, a truth value, a
text, or None where there is none, such as the step at which a team settled that did not. One of the user's own is a
function of a run that gives a dictionary of such values: several columns at once. It stands in a file as
``"module:function"``.

A measure that cannot be taken, such as coverage where there are no targets, is missing, and the column ``error`` says
why. The other measures of that run are there. Everything but ``seconds`` is the same in every run of a scenario.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tricover.certificates import certify
from tricover.coverage import coverage_cost, lloyd, measure_coverage
from tricover.errors import InputError, advice, shown
from tricover.own import check_form, found, is_name, label_of
from tricover.simulation import Run

__all__ = ["DEFAULT", "MEASURES", "Done", "Measure", "Own", "check_measures", "measured", "plain_value"]

_CONVERGED = 1e-6  # of the cost: Lloyd's algorithm has converged where it falls by less, as in a comparison

Own: TypeAlias = Callable[[Run], Mapping[str, Any]]


class Done(NamedTuple):
    """A run, and how many seconds it took."""

    run: Run
    seconds: float


class Measure(NamedTuple):
    """One plain value of a run: its unit ("" where it has none), what it is, and how it is found."""

    unit: str
    about: str
    of: Callable[[Done], Any]


def _final(run: Run) -> Any:
    """Where everybody who takes part stands in the end, (A, 2)."""
    there = run.read("present", run.steps, run.steps + 1)[0]
    return run.read("positions", run.steps, run.steps + 1)[0][there]


def _cost(run: Run) -> float:
    return coverage_cost(_final(run), run.targets)


def _over_lloyd(run: Run) -> float:
    """The yardstick is Lloyd's algorithm with everybody free to move."""
    start = run.read("positions", 0, 1)[0][run.read("present", 0, 1)[0]]
    best = lloyd(start, run.targets, tolerance=_CONVERGED).cost
    return _cost(run) / best if best else 1.0


def _idle(run: Run) -> float | None:
    positions = run.read("positions", run.steps, run.steps + 1)[0][: len(run.network)]
    return measure_coverage(positions, run.targets, network=run.network).idle


def _messages(run: Run) -> float:
    """Epoch by epoch: three positions for each follower of its network."""
    ends = [*(epoch.start for epoch in run.epochs[1:]), run.steps]
    heard = sum(
        3 * len(epoch.network.followers) * (end - epoch.start) for epoch, end in zip(run.epochs, ends, strict=True)
    )
    there = sum(int(part[: run.steps - start].sum()) for start, part in run.blocks("present"))
    return heard / there if there else 0.0


MEASURES: Mapping[str, Measure] = {
    "settled_at": Measure(
        "steps", "the step from which on the team stands; none if it does not", lambda done: done.run.settled_at
    ),
    "converged": Measure("", "whether it settled where it should", lambda done: done.run.converged),
    "steps": Measure("steps", "how many steps were taken", lambda done: done.run.steps),
    "depth": Measure("layers", "layers of the network below the anchors", lambda done: done.run.network.depth),
    "coverage_cost": Measure(
        "m²", "mean squared distance of the targets to the nearest agent, in the end", lambda done: _cost(done.run)
    ),
    "separation": Measure(
        "m", "least distance of any two agents on their way", lambda done: done.run.separation.distance
    ),
    "misses": Measure("", "how often an agent landed outside its reach set", lambda done: done.run.missed),
    "over_lloyd": Measure(
        "", "coverage cost over that of Lloyd's algorithm from the same start", lambda done: _over_lloyd(done.run)
    ),
    "certificate": Measure("", "whether the certificate holds", lambda done: certify(done.run).holds),
    "largest_error": Measure(
        "m", "largest distance of an agent to its desired position, in the end", lambda done: done.run.largest_error
    ),
    "idle": Measure(
        "", "share of the followers whose triangle holds no target, in the end", lambda done: _idle(done.run)
    ),
    "messages": Measure(
        "", "positions heard through the network, per agent and step", lambda done: _messages(done.run)
    ),
    "numbers": Measure(
        "",
        "numbers sent of targets, per agent and step, where agents see only so far",
        lambda done: done.run.summary().get("numbers"),
    ),
    "agents": Measure("", "agents that take part in the end", lambda done: len(_final(done.run))),
    "targets": Measure("", "targets, whenever they are there", lambda done: len(done.run.mission.targets)),
    "seconds": Measure(
        "s", "of computing the run, on the machine that did it; never twice the same", lambda done: done.seconds
    ),
}
"""All measures by name."""

DEFAULT = ("settled_at", "converged", "steps", "depth", "coverage_cost", "separation", "misses")
"""What is measured unless told."""


def check_measures(measures: Iterable[str | Own]) -> None:
    """Complain about what is no measure; those by name of the user's own are looked up."""
    for each in measures:
        if isinstance(each, str) and each in MEASURES:
            continue
        if isinstance(each, str) and not is_name(each):
            raise InputError(f"there is no measure {each!r}; {advice(each, MEASURES)}, or 'module:function'")
        check_form(found(each) if isinstance(each, str) else each, "a measure", "run")


def measured(done: Done, measures: Iterable[str | Own]) -> tuple[dict[str, Any], str | None]:
    """What the measures say of a run, column by column, and what went wrong: None where nothing did."""
    row: dict[str, Any] = {}
    errors = []
    for each in measures:
        try:
            row |= _one(done, each)
        except Exception as error:  # noqa: BLE001 - a measure of the user's own may raise anything: the row says so
            errors.append(f"{label_of(each)}: {type(error).__name__}: {error}")
    return row, "; ".join(errors) or None


def _one(done: Done, measure: str | Own) -> dict[str, Any]:
    if isinstance(measure, str) and measure in MEASURES:
        return {measure: plain_value(MEASURES[measure].of(done))}
    own: Own = found(measure) if isinstance(measure, str) else measure
    given = own(done.run)
    if not _is_named(given):
        raise InputError(f"a measure gives a dictionary of names and values, not {shown(given)}")
    return {name: plain_value(value) for name, value in given.items()}


def _is_named(given: Any) -> bool:
    return isinstance(given, Mapping) and all(isinstance(name, str) for name in given)


def plain_value(value: Any) -> Any:
    """A number, a truth value, a text or None as Python has it; anything else is an error."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"a measure is a number, a truth value, a text or None, not {shown(value)}")
