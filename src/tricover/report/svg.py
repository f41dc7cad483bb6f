"""Matplotlib figures as SVG inside a page.

Text stays text. The width follows the page, up to the figure's own at screen size. Names inside the drawing get a
prefix of its own, so that figures on one page do not mix up their markers and clips; what a page has once (style,
namespaces, metadata) is left out.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

from tricover.plot import figure_style
from tricover.report.markup import Html, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Drawing: TypeAlias = Axes | Figure | Sequence[Axes]

__all__ = ["inline_svg"]

_GROWTH = 1.9  # pixels for a point: figures are set in eight points, pages in sixteen pixels
_WIDE = 400  # points from which on a figure takes the whole width of the page
_SURPLUS = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style[^>]*>.*?</style>", re.DOTALL)
_NUMBERS = re.compile(r'(?<= d=")[^"]*')


def inline_svg(drawing: "Drawing", label: str) -> Html:
    """The figure that a plot function drew on, as an ``<svg>`` element; the figure is closed. ``label`` is read out."""
    import matplotlib.pyplot as plt

    artist = drawing[0] if isinstance(drawing, Sequence) else drawing
    figure = artist.get_figure(root=True)
    assert figure is not None
    data = BytesIO()
    with figure_style():
        figure.savefig(data, format="svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    source = data.getvalue().decode()
    source = _SURPLUS.sub("", source[source.index("<svg") :])
    source = _NUMBERS.sub(_rounded, source)
    prefix = "f" + sha256((label + source).encode()).hexdigest()[:8]
    source = re.sub(r'\bid="', f'id="{prefix}-', source)
    source = re.sub(r'url\(#|xlink:href="#', lambda found: f"{found[0].removeprefix('xlink:')}{prefix}-", source)
    opening, rest = source.split(">", 1)
    return Html(_opening(opening, label) + re.sub(r"\s*\n\s*", "\n", rest))


def _opening(given: str, label: str) -> str:
    """The tag of the drawing: as wide as there is room, at most its own size."""
    box = re.search(r'viewBox="([^"]*)"', given)
    assert box is not None
    width = float(box[1].split()[2])
    wide = ' class="wide"' if width > _WIDE else ""
    size = f'style="max-width: {width * _GROWTH:.0f}px"'
    return f'<svg{wide} viewBox="{box[1]}" role="img" aria-label="{text(label)}" {size}>'


def _rounded(path: "re.Match[str]") -> str:
    """Paths to a hundredth of a point."""
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", re.sub(r"\s+", " ", path[0]))
