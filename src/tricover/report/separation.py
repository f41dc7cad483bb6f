"""Separation of the run: who came closest to whom, over time and on the map."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tricover.geometry import Separation
from tricover.report.findings import Findings
from tricover.report.markup import Html, definitions, note, paragraph, table
from tricover.report.page import Section, figures_html
from tricover.simulation import Run
from tricover.simulation.run import MEASURED
from tricover.units import length

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["separation_section"]

_TITLE = "Separation"
_SAID = (
    "How close any two agents came to each other, over the whole motion: between two steps each goes straight, all at "
    "the same time. Vehicles may fly otherwise between the positions that are known."
)
_COLUMNS = ("agents", "least distance", "step", "share of the step")
_MOST_ROWS = 20


def separation_section(found: Findings) -> Section:
    """The closest approach, those who came too close or closest, and when and where."""
    run, close = found.run, found.close
    if close is None:
        said = f"Not worked out: there are more than {MEASURED:,} positions, and no separation was asked for."
        return Section(_TITLE, paragraph(said))
    facts = definitions(dict(_facts(run, close)))
    pairs = close.closest_first(_MOST_ROWS)
    rows = [
        (f"{first} and {second}", length(distance), step, f"{share:.2f}")
        for (first, second), distance, step, share in zip(
            pairs.below.tolist(), pairs.distances.tolist(), pairs.steps.tolist(), pairs.shares.tolist(), strict=True
        )
    ]
    left_out = len(close.below) - len(rows)
    remark = note(f"And {left_out:,} more pairs.") if left_out else ""
    listed = table(_COLUMNS, rows, right=_COLUMNS[1:])
    return Section(_TITLE, Html(paragraph(_SAID) + facts + listed + remark + figures_html(_figures(run, close))))


def _facts(run: Run, close: Separation) -> Iterator[tuple[str, object]]:
    wanted = run.scenario.safety.separation
    yield "least distance", close.words
    yield "at the end", length(run.approaches.distances[-1])
    if wanted is not None:
        below = 0 if close.distance >= wanted else len(close.below)
        yield "asked for", length(wanted)
        yield "pairs closer than that", "more than can be listed" if close.crowded else f"{below:,}"


def _figures(run: Run, close: Separation) -> "Iterator[tuple[Drawing, str]]":
    from tricover.plot import plot_approaches, plot_separation

    yield plot_separation(run), "The least distance of any two agents in each step."
    caption = "Closest approaches: where both agents were at that moment, and their ways in that step."
    yield plot_approaches(run, close=close), caption
