"""``write_study``: a study as one HTML file: what was run, what matters, means over its keys, what failed."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tricover.errors import listed
from tricover.plot.study import words_for
from tricover.report.markup import Html, code_block, definitions, note, paragraph, table
from tricover.report.page import Section, figures_html, write_page
from tricover.statistics import levels_of, main_effects, means_over, numbers_of
from tricover.units import number

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["StudyView", "write_study"]

_MOST_FAILED = 50  # rows that are listed
_MOST_LEVELS = 12  # values of a key with a table of their own
_MOST_MEASURES = 6  # that a figure has panels for


@dataclass(frozen=True, eq=False)
class StudyView:
    """A study's table, and what is to be shown of it.

    Attributes:
        name: of the study.
        table: as ``sweep`` gives it.
        keys: columns that were varied.
        measures: columns that were measured, those that are numbers.
        over: the key along the axes of figures; None: none of them is worth it.
        by: the key of the lines.
        across: the key of panels side by side.
        drawn: measures that the first figure shows.
        toml: the study's file, to be read; None: it cannot be written down.
    """

    name: str
    table: Mapping[str, Any]
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    over: str | None = None
    by: str | None = None
    across: str | None = None
    drawn: tuple[str, ...] = ()
    toml: str | None = None

    @property
    def runs(self) -> int:
        """How many rows there are."""
        return len(list(self.table["error"]))

    @property
    def failed(self) -> list[tuple[int, str]]:
        """Rows with an error, by number, and the error."""
        return [(row, error) for row, error in enumerate(self.table["error"]) if isinstance(error, str)]


def write_study(view: StudyView, path: str | os.PathLike[str]) -> Path:
    """Write a page about a study, one HTML file that needs nothing else; whole or not at all."""
    failed = len(view.failed)
    verdicts = [(f"{view.runs - failed:,} of {view.runs:,} runs without an error", not failed)]
    what = listed(view.keys) or "nothing"
    runs = "1 run" if view.runs == 1 else f"{view.runs:,} runs"
    return write_page(path, view.name, _sections(view), lead=f"{runs}, over {what}.", verdicts=verdicts)


def _sections(view: StudyView) -> Iterator[Section]:
    yield _summary(view)
    if view.measures and view.keys:
        yield _effects(view)
    if view.over is not None and view.measures:
        yield from _means(view, view.over)
    yield _failures(view)
    yield _settings(view)


def _summary(view: StudyView) -> Section:
    """What was varied, and how the measures spread."""
    varied = {key: _spread_of(view.table, key) for key in view.keys}
    columns = ("measure", "mean", "least", "most", "missing")
    measured = table(columns, [_row(view, measure) for measure in view.measures], right=columns[1:])
    return Section("Summary", Html(definitions({"runs": f"{view.runs:,}", **varied}) + measured))


def _spread_of(of: Mapping[str, Any], key: str) -> str:
    """The values of a key, in a few words."""
    levels = levels_of(of, key)
    if len(levels) > _MOST_LEVELS and all(isinstance(level, int | float) for level in levels):
        return f"{len(levels):,} values from {number(levels[0])} to {number(levels[-1])}"
    return listed([_said(level) for level in levels], most=_MOST_LEVELS)


def _said(level: Any) -> str:
    plain_number = isinstance(level, int | float) and not isinstance(level, bool)
    return number(level) if plain_number else str(level)


def _row(view: StudyView, measure: str) -> tuple[object, ...]:
    values = numbers_of(view.table, measure)
    there = values[np.isfinite(values)]
    found = [number(value) for value in (there.mean(), there.min(), there.max())] if there.size else ["–"] * 3
    return (words_for(measure), *found, f"{len(values) - len(there):,}")


def _effects(view: StudyView) -> Section:
    from tricover.plot import plot_effects

    said = (
        "The share of the variance of each measure that a key explains alone, chance taken off. What is missing to "
        "100 % is chance, and what keys do together. A first look: a key that matters only where another one has a "
        "certain value has a small share here."
    )
    effects = main_effects(view.table, view.keys, view.measures)
    figure = figures_html([(plot_effects(effects), "Which keys matter for which measures.")])
    return Section("What matters", Html(paragraph(said) + figure))


def _means(view: StudyView, over: str) -> Iterator[Section]:
    """The study's own figure, the rest of the measures, and the numbers."""
    said = "Means over all other keys, seeds as a rule, with intervals that hold the mean in 95 of 100 cases."
    drawn = view.drawn or view.measures[:_MOST_MEASURES]
    rest = [measure for measure in view.measures if measure not in drawn]
    figures = list(_drawn(view, over, drawn)) + (list(_drawn(view, over, rest)) if rest else [])
    yield Section(f"Over {words_for(over)}", Html(paragraph(said) + figures_html(figures)))
    yield Section("The same in numbers", _numbers(view, over), level=3)


def _drawn(view: StudyView, over: str, measures: Sequence[str]) -> "Iterator[tuple[Drawing, str]]":
    from tricover.plot import plot_sweep

    caption = f"{', '.join(words_for(measure) for measure in measures)} over {words_for(over)}"
    beside = f", by {words_for(view.by)}" if view.by else ""
    yield plot_sweep(view.table, over, measures, view.by, view.across), f"{caption}{beside}."


def _numbers(view: StudyView, over: str) -> Html:
    """Means with the half widths of their intervals, a row for each value of the two keys."""
    found = {measure: means_over(view.table, over, measure, view.by) for measure in view.measures}
    keys = [words_for(over), *([words_for(view.by)] if view.by else [])]
    columns = [*keys, "runs", *(words_for(measure) for measure in view.measures)]
    rows = []
    for which, one in enumerate(next(iter(found.values()))):
        for place, level in enumerate(one.places):
            cells = [_mean_of(found[measure][which], place) for measure in view.measures]
            most = max(int(found[measure][which].counts[place]) for measure in view.measures)
            rows.append([_said(level), *([_said(one.label)] if view.by else []), f"{most:,}", *cells])
    return table(columns, rows, right=columns[len(keys) :])


def _mean_of(series: Any, place: int) -> str:
    mean, half = series.means[place], series.halves[place]
    if np.isnan(mean):
        return "–"
    return number(mean) + ("" if np.isnan(half) else f" ± {number(half, 2)}")


def _failures(view: StudyView) -> Section:
    """Runs with an error, the first of them one by one."""
    failed = view.failed
    if not failed:
        return Section("Runs that failed", paragraph("None."))
    columns = ("run", *view.keys, "error")
    rows: Iterable[Sequence[object]] = (
        (row, *(_said(list(view.table[key])[row]) for key in view.keys), error) for row, error in failed[:_MOST_FAILED]
    )
    more = note(f"{len(failed) - _MOST_FAILED:,} more are in the table.") if len(failed) > _MOST_FAILED else ""
    return Section("Runs that failed", Html(table(columns, rows) + more))


def _settings(view: StudyView) -> Section:
    """The study's file, and how to run it again."""
    if view.toml is None:
        return Section("Settings", paragraph("The study lives in Python only: it has values that no file can hold."))
    again = "tricover sweep STUDY.toml -o table.parquet"
    said = f"The study as a TOML file; {again} gives the same table, on the same versions."
    return Section("Settings", Html(paragraph(said) + code_block(view.toml)))
