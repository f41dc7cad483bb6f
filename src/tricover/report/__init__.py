"""Reports: one self-contained HTML file for a run, or a page of sections of your own.

``write_report`` is the verb. ``findings_of`` works out, once, what it says about a run. ``write_study`` writes a page
about the table of a study.

A page is a list of ``Section``: those of a run (``run_sections``), tables (``table_section``), figures
(``figure_section``) and playbacks (``playback_section``), also of several runs, in any order, written by
``write_page``.
"""

from tricover.report.findings import Findings, findings_of
from tricover.report.markup import Html, verdict
from tricover.report.page import Section, figure_section, nested, table_section, write_page
from tricover.report.player import playback_section
from tricover.report.run import run_sections, write_findings, write_report
from tricover.report.study import StudyView, write_study

__all__ = [
    "Findings",
    "Html",
    "Section",
    "StudyView",
    "figure_section",
    "findings_of",
    "nested",
    "playback_section",
    "run_sections",
    "table_section",
    "verdict",
    "write_findings",
    "write_page",
    "write_report",
    "write_study",
]
