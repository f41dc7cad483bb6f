"""How results show themselves: tables as plain text, and as HTML or a view that plays in a notebook."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tricover.errors import TricoverError

__all__ = ["as_text", "facts_as_html", "rows_as_html", "view_in_notebook"]


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


def view_in_notebook(result: object) -> dict[str, Any]:
    """The view of a result by media type, for a notebook; nothing where there is no notebook, or no extra ``studio``.

    ``tricover.view`` is looked up by its name, and only here: no result knows of the studio.
    """
    if not _in_notebook() or find_spec("anywidget") is None:
        return {}
    try:
        shown = import_module("tricover").view(result)._repr_mimebundle_()
    except TricoverError:  # it cannot be shown on a map; its table can
        return {}
    return {} if shown is None else dict(shown[0])


def _in_notebook() -> bool:
    """Whether a notebook runs this process: elsewhere a view would be made for nobody."""
    return "ipykernel" in sys.modules
