"""Coverage of the run beside the baselines: the mean squared distance of the targets to the nearest agent."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tricover.plot.agents import MOST_DRAWN
from tricover.report.findings import LLOYD, MOST_AGENTS, Covering, Findings, Team
from tricover.report.markup import Html, note, paragraph, table
from tricover.report.page import Section, figures_html
from tricover.simulation import Run
from tricover.units import number

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["coverage_section"]

_COLUMNS = ("team", "mean squared distance, m²", "over Lloyd's", "largest distance, m", "steps or iterations")
_SAID = (
    "How far the targets are from the nearest agent, weighted where targets have weights. Lloyd's algorithm starts "
    "where the team started; it needs everybody's position for everybody, at every step. A planned formation is "
    "designed for targets that are known beforehand."
)


def coverage_section(found: Findings) -> Section:
    """The team at the start and at the end, and the baselines, on the targets of the last step."""
    title, covering = "Coverage", found.covering
    if covering is None:
        return Section(title, paragraph("There were no targets in the last step: coverage is undefined."))
    best = next((team.coverage.cost for team in covering.teams if team.name == LLOYD), None)
    numbers = table(_COLUMNS, [_row(team, best) for team in covering.teams], right=_COLUMNS[1:])
    figures = figures_html(_figures(found.run, covering))
    return Section(title, Html(paragraph(_SAID) + numbers + _left_out(len(found.run.network)) + figures))


def _row(team: Team, best: float | None) -> tuple[object, ...]:
    """A line of the table; ``best`` is the cost of Lloyd's algorithm."""
    cost = team.coverage.cost
    return (
        team.name,
        number(cost, padded=True),
        f"{cost / best:.2f}" if best else "–",
        number(team.coverage.largest, padded=True),
        "–" if team.steps is None else team.steps,
    )


def _left_out(agents: int) -> str:
    """What large teams go without."""
    remarks = ""
    if agents > MOST_AGENTS:
        remarks += note(f"The baselines are left out for teams of more than {MOST_AGENTS:,} agents.")
    if agents > MOST_DRAWN:
        remarks += note(f"Who is nearest to which target is left out for more than {MOST_DRAWN:,} agents.")
    return remarks


def _figures(run: Run, covering: Covering) -> "Iterator[tuple[Drawing, str]]":
    from tricover.plot import plot_coverage, plot_voronoi

    yield plot_coverage(covering.trace), "Coverage step by step, beside Lloyd's algorithm iteration by iteration."
    if len(run.network) <= MOST_DRAWN:
        yield plot_voronoi(run), "Who is nearest to which target at the end."
