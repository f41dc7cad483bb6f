"""The report of the reproduction: one page with claims, figures, a run to be played, and how to do it all again."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tricover.paper.claims import DEVIATES, FAILS, HOLDS, Claim
from tricover.paper.figures import FIGURES, Figure
from tricover.paper.study import Study
from tricover.report import Section, playback_section, table_section, verdict, write_page
from tricover.report.markup import Html, code_block, paragraph, text
from tricover.report.page import figures_html
from tricover.units import number

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["write_paper"]

_LEAD = (
    "H. Rastgoftar, Finite-State Decentralized Policy-Based Control With Guaranteed Ground Coverage: its study run end "
    "to end, its claims measured, its figures drawn. The paper publishes no coordinates, so team and targets are ours."
)
_GOOD = {HOLDS: True, DEVIATES: None, FAILS: False}
_AGAIN = """tricover reproduce -o paper               # this folder
tricover run scenarios/walk.toml          # one of its runs
tricover certify runs/walk.zarr           # the theorems, on that run
tricover report runs/walk.zarr            # a report of that run alone
"""


def write_paper(path: Path, study: Study, claims: Sequence[Claim], draw: "Callable[[Figure], Drawing]") -> Path:
    """Write the page; ``draw`` draws a figure, which is closed when it is on the page."""
    verdicts = [claim.verdict for claim in claims]
    plain, odd = len(verdicts) - verdicts.count(DEVIATES), verdicts.count(DEVIATES)
    words = [
        (f"{verdicts.count(HOLDS)} of {plain} claims hold", FAILS not in verdicts),
        (f"{odd} contradictions, settled", None),
    ]
    return write_page(path, "The paper, reproduced", _sections(study, claims, draw), lead=_LEAD, verdicts=words)


def _sections(study: Study, claims: Sequence[Claim], draw: "Callable[[Figure], Drawing]") -> Iterator[Section]:
    yield _playback(study)
    yield table_section(
        "Claims",
        ("where", "claim of the paper", "measured", "verdict"),
        (_row(claim) for claim in claims if claim.verdict != DEVIATES),
        note="Sections, equations, figures and agents are numbered as in the paper, agents from 1.",
    )
    yield table_section(
        "Contradictions",
        ("where", "what the paper says", "measured, and what we do", "verdict"),
        (_row(claim) for claim in claims if claim.verdict == DEVIATES),
        note="Where the paper contradicts itself or is wrong as printed. Each of our readings is measured too.",
    )
    yield _figures("Figures", (figure for figure in FIGURES if figure.number is not None), draw)
    yield _figures("More figures", (figure for figure in FIGURES if figure.number is None), draw)
    yield _runs(study)
    yield Section("Again", Html(paragraph("All of it is in the folder of this page.") + code_block(_AGAIN)))


def _playback(study: Study) -> Section:
    played = playback_section(study.walk, "Section VI-B, played")
    said = "57 agents walk from cell to cell. Agents are numbered from 0 here: the paper's agent 43 is 42."
    return Section(played.title, Html(paragraph(said) + played.html))


def _row(claim: Claim) -> tuple[object, ...]:
    remark = f'<br><small class="note">{_symbols(claim.note)}</small>' if claim.note else ""
    measured = Html(_symbols(claim.measured) + remark)
    return claim.where, _symbols(claim.statement), measured, verdict(claim.verdict, _GOOD[claim.verdict])


def _symbols(sentence: str) -> Html:
    """Indices of the paper's symbols below or above the line.

    >>> _symbols("S_i^C and R_0,1, M_i²")
    'S<sub>i</sub><sup>C</sup> and R<sub>0,1</sub>, M<sub>i</sub>²'
    """
    lowered = re.sub(r"_([A-Za-z0-9]+(?:,[A-Za-z0-9]+)*)", r"<sub>\1</sub>", text(sentence))
    return Html(re.sub(r"\^([CU])", r"<sup>\1</sup>", lowered))


def _figures(title: str, figures: Iterable[Figure], draw: "Callable[[Figure], Drawing]") -> Section:
    return Section(title, figures_html((draw(figure), figure.caption) for figure in figures))


def _runs(study: Study) -> Section:
    names = ("name", "motion", "vehicle", "steps", "settled_at", "largest_error")
    rows = [[run.summary()[name] for name in names] for run in study.runs.values()]
    shown = [(*row[:4], "never" if row[4] is None else row[4], number(row[5], 3)) for row in rows]
    columns = ("run", "motion", "vehicle", "steps", "settled at step", "largest distance to p at the end, m")
    return table_section("Runs", columns, shown, right=columns[3:])
