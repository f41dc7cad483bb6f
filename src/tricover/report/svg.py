"""Matplotlib figures as SVG inside a page.

Text stays text. The width follows the page, up to the figure's own at screen size. What a page has once (style,
namespaces, metadata) is left out. ``with_own_names`` numbers the figures of a page and puts the number before all names
inside them, so that they do not mix up their markers and clips.
"""

import re
from collections.abc import Sequence
from io import StringIO
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from tricover.plot.style import figure_of, figure_style
from tricover.report.markup import Html, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Drawing: TypeAlias = Axes | Figure | Sequence[Axes]

__all__ = ["inline_svg", "with_own_names"]

_GROWTH = 1.9  # pixels for a point: figures are set in eight points, pages in sixteen pixels
_WIDE = 400  # points from which on a figure takes the whole width of the page
_SURPLUS = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style[^>]*>.*?</style>", re.DOTALL)
# Runs of elements that differ in their places only: said once, thousands of links and targets take a tenth of the room.
_LINES = re.compile(r'<path d="[^"]*"(?P<looks>[^<>]*fill: none[^<>]*)/>(?:\n<path d="[^"]*"(?P=looks)/>)+')
_MARKERS = re.compile(
    r'(?P<use><use href="[^"]*") [^<>]* style="(?P<looks>[^"]*)"/>(?:\n(?P=use) [^<>]* style="(?P=looks)"/>)+'
)
_SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)
_NAMES = re.compile(r'(?:\sid="|url\(#|\shref="#)(?=[^<>]*>)')  # in tags, not in text
_NUMBERS = re.compile(r'(?<=\s[dxy]=")[^"]*(?=[^<>]*>)')
_LONG = re.compile(r"-?\d+\.\d{3,}")
_SPACES = re.compile(r"\s+")


def inline_svg(drawing: "Drawing", label: str) -> Html:
    """The figure that a plot function drew on, as an ``<svg>`` element; the figure is closed. ``label`` is read out."""
    import matplotlib.pyplot as plt

    figure = figure_of(drawing)
    source = _drawn(figure)
    plt.close(figure)
    source = _SURPLUS.sub("", source[source.index("<svg") :])
    source = _NUMBERS.sub(_rounded, source)
    opening, rest = source.replace("xlink:href=", "href=").split(">", 1)
    rest = _LINES.sub(_as_one_path, _MARKERS.sub(_under_one_style, re.sub(r"\s*\n\s*", "\n", rest)))
    return Html(_opening(opening, label) + rest)


def _drawn(figure: "Figure") -> str:
    """The figure as an SVG file, without a background.

    ``savefig`` would draw everything twice, the first time for the layout alone. The layout is found at the beginning
    of a drawing anyway.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = StringIO()
    canvas: Any = FigureCanvasSVG(figure)
    for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    with figure_style():
        canvas.print_svg(file, metadata={"Date": None})
    return file.getvalue()


def with_own_names(page: str) -> str:
    """The page with the names inside each of its figures made its own.

    >>> with_own_names('<svg><a id="x"/><b style="clip: url(#x)"/></svg><svg><a id="x"/>id="x"</svg>')
    '<svg><a id="f1-x"/><b style="clip: url(#f1-x)"/></svg><svg><a id="f2-x"/>id="x"</svg>'
    """
    number = count(1)
    return _SVG.sub(lambda svg: _NAMES.sub(rf"\g<0>f{next(number)}-", svg[0]), page)


def _as_one_path(run: "re.Match[str]") -> str:
    """Lines that look alike, in a row, as one path."""
    lines = " ".join(re.findall(r' d="([^"]*)"', run[0]))
    return f'<path d="{lines}"{run["looks"]}/>'


def _under_one_style(run: "re.Match[str]") -> str:
    """Markers that look alike, in a row, in a group that says how."""
    bare = run[0].replace(f' style="{run["looks"]}"', "")
    return f'<g style="{run["looks"]}">{bare}</g>'


def _opening(given: str, label: str) -> str:
    """The tag of the drawing: as wide as there is room, at most its own size."""
    box = re.search(r'viewBox="([^"]*)"', given)
    assert box is not None
    width = float(box[1].split()[2])
    wide = ' class="wide"' if width > _WIDE else ""
    size = f'style="max-width: {width * _GROWTH:.0f}px"'
    return f'<svg{wide} viewBox="{box[1]}" role="img" aria-label="{text(label)}" {size}>'


def _rounded(path: "re.Match[str]") -> str:
    """Paths and places to a hundredth of a point."""
    return _LONG.sub(_shorter, _SPACES.sub(" ", path[0]))


def _shorter(number: "re.Match[str]") -> str:
    return f"{float(number[0]):.2f}"
