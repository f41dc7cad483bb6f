"""Pieces of HTML. All text is escaped on its way in; what is HTML already says so by its type, ``Html``."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from tricover.errors import plain

__all__ = ["Html", "code_block", "definitions", "note", "paragraph", "slug", "table", "text", "verdict"]


class Html(str):
    """Text that is HTML already; any other string is escaped."""

    __slots__ = ()


def text(value: object) -> Html:
    """A value as HTML.

    >>> text("</script>"), text(Html("<b>bold</b>"))
    ('&lt;/script&gt;', '<b>bold</b>')
    """
    return value if isinstance(value, Html) else Html(escape(plain(str(value), keep="\n\t")))


def slug(title: str) -> str:
    """A title as part of a name for files, links and shells: letters, digits and hyphens only.

    >>> slug("Paper 57: reach"), slug("</script>"), slug("…")
    ('paper-57-reach', 'script', 'run')
    """
    return "-".join(re.findall(r"[a-z0-9]+", title.lower())) or "run"


def verdict(words: str, good: bool | None) -> Html:
    """A word in a pill: good, bad, or (None) neither. Its sign says the same as its colour."""
    kind, sign = {True: ("good", "✓"), False: ("bad", "✗"), None: ("open", "–")}[good]
    return Html(f'<span class="verdict {kind}"><span aria-hidden="true">{sign}</span> {text(words)}</span>')


def paragraph(*sentences: object) -> Html:
    """Sentences in a paragraph."""
    return Html(f"<p>{' '.join(map(text, sentences))}</p>")


def note(*sentences: object) -> Html:
    """A remark in small print."""
    return Html(f'<p class="note">{" ".join(map(text, sentences))}</p>')


def definitions(facts: Mapping[str, object]) -> Html:
    """Names and values in a grid."""
    pairs = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in facts.items())
    return Html(f'<dl class="facts">{pairs}</dl>')


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> Html:
    """A table; the columns named in ``right`` hold numbers and are set flush right.

    One of numbers only stays a table on a phone; in others each row becomes a block, with names before the numbers.
    """
    kind = "compact" if set(right) == set(columns) else "stacked"
    sides = [' class="number"' if name in right else "" for name in columns]
    head = "".join(f'<th scope="col"{side}>{text(name)}</th>' for name, side in zip(columns, sides, strict=True))
    named = [f'{side} data-name="{text(name)}"' if side else "" for name, side in zip(columns, sides, strict=True)]
    body = "".join(
        "<tr>" + "".join(f"<td{given}>{text(cell)}</td>" for cell, given in zip(row, named, strict=True)) + "</tr>\n"
        for row in rows
    )
    inside = f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>"
    return Html(f'<div class="scroll" tabindex="0"><table class="{kind}">{inside}</table></div>\n')


def code_block(code: str) -> Html:
    """Text to be read or copied as it is."""
    return Html(f'<pre tabindex="0"><code>{text(code)}</code></pre>\n')
