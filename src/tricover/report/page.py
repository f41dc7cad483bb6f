"""The page: sections under a title, in one HTML file that needs nothing else.

Style and script stand in the file itself, figures are inline SVG, and data is base64 text, so the page opens from disk
and asks the network for nothing; a content security policy in its head has the browser enforce that. The same sections
give the same bytes.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from tricover.formats import write_whole
from tricover.report.markup import Html, slug, table, text, verdict
from tricover.report.markup import note as small_print
from tricover.report.svg import inline_svg, with_own_names

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = [
    "Section",
    "figure_section",
    "figures_html",
    "nested",
    "one_script",
    "resource",
    "table_section",
    "write_page",
]

_SCRIPTS = ("cells.js", "run.js", "marks.js", "ground.js", "playback.js")  # in this order
_OF_MODULES = re.compile(r"^((import|/\*\* @import) .*\n|export (?!default))", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading: its HTML, and the level of the heading, 2 or 3 (then not in the contents)."""

    title: str
    html: Html
    level: int = 2


def nested(sections: Iterable[Section]) -> list[Section]:
    """The same sections one level lower, to stand under a section of level 2."""
    return [replace(section, level=section.level + 1) for section in sections]


def table_section(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    right: Sequence[str] = (),
    note: str = "",
) -> Section:
    """A table: cells are text, or ``Html`` as ``verdict`` makes; the columns named in ``right`` are flush right."""
    remark = small_print(note) if note else Html()
    return Section(title, Html(table(columns, rows, right) + remark))


def figure_section(title: str, *figures: "tuple[Drawing, str]", note: str = "") -> Section:
    """Figures that plot functions drew, each with its caption, side by side where there is room. They are closed."""
    remark = small_print(note) if note else Html()
    return Section(title, Html(figures_html(figures) + remark))


def figures_html(figures: "Iterable[tuple[Drawing, str]]") -> Html:
    """Figures with their captions, side by side where there is room."""
    shown = (
        f'<figure><div class="scroll" tabindex="0">{inline_svg(drawing, caption)}</div>'
        f"<figcaption>{text(caption)}</figcaption></figure>\n"
        for drawing, caption in figures
    )
    return Html(f'<div class="figures">{"".join(shown)}</div>')


def write_page(
    path: str | os.PathLike[str],
    title: str,
    sections: Iterable[Section],
    *,
    lead: str = "",
    verdicts: Iterable[tuple[str, bool | None]] = (),
) -> Path:
    """Write a page, whole or not at all.

    Args:
        path: of the HTML file.
        title: over the page, and of its tab.
        sections: in order; each becomes a heading and its HTML.
        lead: a sentence under the title.
        verdicts: words under the title, each good, bad or neither (None).
    """
    shown = list(sections)
    names = _names(shown)
    contents = "".join(
        f'<a href="#{name}">{text(section.title)}</a>'
        for name, section in zip(names, shown, strict=True)
        if section.level == 2
    )
    body = "".join(_section(name, section) for name, section in zip(names, shown, strict=True))
    page = Template(resource("page.html")).substitute(
        title=text(title),
        lead=text(lead),
        verdicts=" ".join(verdict(words, good) for words, good in verdicts),
        contents=contents,
        body=with_own_names(body),
        style=resource("colours.css") + resource("style.css"),
        script='"use strict";\n' + one_script(map(resource, _SCRIPTS)),
    )
    write_whole(path, page)
    return Path(path)


def _section(name: str, section: Section) -> str:
    heading = f"h{section.level}"
    return (
        f'<section id="{name}" class="level{section.level}" aria-labelledby="{name}-title">\n'
        f'<{heading} id="{name}-title">{text(section.title)}</{heading}>\n{section.html}</section>\n'
    )


def _names(sections: Sequence[Section]) -> list[str]:
    """A name for each section to link to, no two alike."""
    names: list[str] = []
    for section in sections:
        name, again = slug(section.title), 2
        while name in names:
            name, again = f"{slug(section.title)}-{again}", again + 1
        names.append(name)
    return names


def one_script(modules: Iterable[str]) -> str:
    """The texts of modules as one script, in this order: it has nothing to import.

    >>> one_script(['export function one() {}\\n', 'import { one } from "./one.js";\\none();\\n'])
    'function one() {}\\none();\\n'
    """
    return "".join(_OF_MODULES.sub("", text) for text in modules)


def resource(name: str) -> str:
    """A file of this folder: HTML, CSS or JavaScript."""
    return files("tricover.report").joinpath(name).read_text(encoding="utf-8")
