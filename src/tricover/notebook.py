"""How results show themselves: tables as plain text, and as HTML in a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["as_text", "facts_as_html", "rows_as_html"]


def as_text(title: str, rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal, the columns as wide as they need to be.

    >>> print(as_text("t", [["a", "b"], ["1", "22"]]))
    t
    a   b
    1  22
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([title, *lines])


def facts_as_html(facts: Mapping[str, object]) -> str:
    """A table of names and values.

    >>> facts_as_html({"a & b": 1})
    '<table><tr><th>a &amp; b</th><td>1</td></tr></table>'
    """
    rows = (f"<tr><th>{escape(name)}</th><td>{escape(str(fact))}</td></tr>" for name, fact in facts.items())
    return f"<table>{''.join(rows)}</table>"


def rows_as_html(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a title and a header.

    >>> rows_as_html("t", ["a"], [[1]])
    '<div><b>t</b><table><tr><th>a</th></tr><tr><td>1</td></tr></table></div>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div><b>{escape(title)}</b><table><tr>{head}</tr>{body}</table></div>"
