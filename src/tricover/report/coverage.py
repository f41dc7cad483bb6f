"""Coverage of the run beside the baselines: the mean squared distance of the targets to the nearest agent."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from tricover.coverage import coverage_over_time, lloyd, measure_coverage, plan_formation
from tricover.errors import InputError
from tricover.plot import plot_coverage, plot_voronoi
from tricover.plot.agents import MOST_DRAWN
from tricover.report.markup import Html, note, paragraph, table
from tricover.report.page import Section, figures_html
from tricover.simulation import Run
from tricover.targets import Targets

__all__ = ["MOST_AGENTS", "coverage_section"]

Floats = NDArray[np.float64]

MOST_AGENTS = 2_000  # beyond which the baselines take longer than a report should
_CONVERGED = 1e-6  # of its cost: what Lloyd's algorithm may still gain in an iteration
_COLUMNS = ("team", "mean squared distance, m²", "over Lloyd's", "largest distance, m", "steps or iterations")


def coverage_section(run: Run) -> Section:
    """The team at the start and at the end, and the baselines, on the targets of the last step."""
    targets, title = run.targets, "Coverage"
    if not len(targets) or (targets.weights is not None and not targets.weights.any()):
        return Section(title, paragraph("There were no targets in the last step: coverage is undefined."))
    teams = list(_teams(run, targets))
    covers = [measure_coverage(positions, targets) for _, positions, _ in teams]
    best = next((cover.cost for (name, _, _), cover in zip(teams, covers, strict=True) if name == _LLOYD), None)
    rows = [
        (
            name,
            f"{cover.cost:#.4g}",
            f"{cover.cost / best:.2f}" if best else "–",
            f"{cover.largest:#.4g}",
            "–" if steps is None else steps,
        )
        for (name, _, steps), cover in zip(teams, covers, strict=True)
    ]
    said = (
        "How far the targets are from the nearest agent, weighted where targets have weights. Lloyd's algorithm starts "
        "where the team started; it needs everybody's position for everybody, at every step. A planned formation is "
        "designed for targets that are known beforehand."
    )
    few = len(run.network) <= MOST_AGENTS
    left_out = "" if few else note(f"The baselines are left out for teams of more than {MOST_AGENTS:,} agents.")
    if len(run.network) > MOST_DRAWN:
        left_out += note(f"Who is nearest to which target is left out for more than {MOST_DRAWN:,} agents.")
    over_time = "Coverage step by step, beside Lloyd's algorithm iteration by iteration."
    at_the_end = "Who is nearest to which target at the end."
    figures = [(plot_coverage(coverage_over_time(run, lloyd=few)), over_time)]
    if len(run.network) <= MOST_DRAWN:
        figures.append((plot_voronoi(run), at_the_end))
    numbers = table(_COLUMNS, rows, right=_COLUMNS[1:])
    return Section(title, Html(paragraph(said) + numbers + left_out + figures_html(figures)))


_LLOYD = "Lloyd's algorithm, converged"


def _teams(run: Run, targets: Targets) -> Iterator[tuple[str, Floats, int | None]]:
    """Names, positions, and after how many steps or iterations they stood there."""
    living = np.flatnonzero(run.network.layer >= 0)
    start, end = (run.read("positions", step, step + 1)[0][living] for step in (0, run.steps))
    yield "this run, at the start", start, 0
    yield "this run, at the end", end, run.steps if run.settled_at is None else run.settled_at
    yield "its desired positions", run.desired[living], None
    if len(run.network) > MOST_AGENTS:
        return
    with suppress(InputError):  # such as targets on one line: there is nothing to plan for
        yield "planned formation", plan_formation(targets, len(living)).reference, None
    held = np.searchsorted(living, run.network.anchors)
    start_held = start.copy()
    start_held[held] = run.anchors
    result = lloyd(start_held, targets, fixed=held, tolerance=_CONVERGED)
    yield "Lloyd's algorithm, anchors held", result.positions, result.iterations
    result = lloyd(start, targets, tolerance=_CONVERGED)
    yield _LLOYD, result.positions, result.iterations
