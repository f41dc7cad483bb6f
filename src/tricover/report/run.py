"""``write_report``: a run as one HTML file."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tricover.certificates import Certificate
from tricover.report.coverage import coverage_section
from tricover.report.drawings import figures_section
from tricover.report.findings import Findings, findings_of
from tricover.report.guarantees import certificate_section
from tricover.report.page import Section, write_page
from tricover.report.player import playback_section
from tricover.report.separation import separation_section
from tricover.report.settings import again_section, settings_section
from tricover.report.summary import lead_of, summary_section, verdicts_of
from tricover.simulation import Run

__all__ = ["run_sections", "write_findings", "write_report"]

Progress = Callable[[str], None]


def run_sections(run: Run, certificate: Certificate | None = None, progress: Progress | None = None) -> list[Section]:
    """All that a report says about a run.

    Args:
        run: the run.
        certificate: its certificate; None: it is certified.
        progress: called with the title of each section before it is made.
    """
    return _sections(_found(run, certificate, progress), progress)


def write_report(
    run: Run,
    path: str | os.PathLike[str],
    certificate: Certificate | None = None,
    *,
    title: str | None = None,
    extra: Iterable[Section] = (),
    progress: Progress | None = None,
) -> Path:
    """Write the report of a run, one HTML file that needs nothing else; whole or not at all.

    Args:
        run: the run, finished or not.
        path: of the HTML file.
        certificate: of the run; None: it is certified.
        title: None: the scenario's name.
        extra: sections of your own, before those of the run.
        progress: called with a word before each section is made.
    """
    found = _found(run, certificate, progress)
    return write_findings(found, path, title=title, extra=extra, progress=progress)


def write_findings(
    found: Findings,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    extra: Iterable[Section] = (),
    progress: Progress | None = None,
) -> Path:
    """Write the report of a run whose findings are known; arguments as in ``write_report``."""
    sections = [*extra, *_sections(found, progress)]
    return write_page(
        path,
        title or found.run.scenario.name,
        sections,
        lead=lead_of(found.run),
        verdicts=verdicts_of(found.run, found.certificate),
    )


def _found(run: Run, certificate: Certificate | None, progress: Progress | None) -> Findings:
    if progress is not None:
        progress("findings")
    return findings_of(run, certificate)


def _sections(found: Findings, progress: Progress | None) -> list[Section]:
    run = found.run
    makers: dict[str, Callable[[], Section]] = {
        "playback": lambda: playback_section(run, positions=found.positions),
        "summary": lambda: summary_section(run),
        "coverage": lambda: coverage_section(found),
        "separation": lambda: separation_section(found),
        "certificate": lambda: certificate_section(found),
        "figures": lambda: figures_section(found),
        "settings": lambda: settings_section(run),
        "run it again": lambda: again_section(run),
    }
    sections = []
    for name, make in makers.items():
        if progress is not None:
            progress(name)
        sections.append(make())
    return sections
