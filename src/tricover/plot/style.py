"""One look for all figures: print-ready, readable at column width, safe for colour-blind readers, text kept as text.

Nothing global changes: figures are drawn, and saved, inside ``figure_style()``. Widths are those of a two-column
journal, in inches. Layers go from dark to light in viridis, whose lightness rises steadily, so that a figure survives a
grey printer; roles differ in shape as well as in colour.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError, listed
from tricover.formats import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "ACTUAL",
    "COLUMN",
    "FAINT",
    "GROUND",
    "INK",
    "PAGE",
    "ROLES",
    "WANTED",
    "Role",
    "agent_colours",
    "check_ending",
    "counted",
    "figure_of",
    "figure_style",
    "layer_colours",
    "new_axes",
    "new_map",
    "plain_axes",
    "save_figure",
    "subscripted",
    "time_line",
    "whole_numbers",
]

COLUMN, PAGE = 3.5, 7.2  # inches
INK, FAINT = "#1a1a1a", "#b8b8b8"
GROUND = "#93c47d"  # targets
ACTUAL, WANTED = "#0072b2", "#d55e00"  # blue and vermilion, told apart by colour-blind readers; markers differ too
_ENDINGS = (".png", ".svg", ".pdf")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LIGHTEST = 0.88  # of viridis: yellow beyond it is lost on white paper

_SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handletextpad": 0.4,
    "legend.columnspacing": 1.2,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.0,
    "grid.linewidth": 0.4,
    "grid.color": "#dddddd",
    "axes.formatter.limits": (-5, 7),  # plain numbers at the axes
    "axes.formatter.useoffset": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "tricover",
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class Role:
    """How agents of one role are drawn: the word in a legend, marker and colour (None: that of its layer)."""

    name: str
    marker: str
    colour: str | None = None


ROLES = {
    "boundary": Role("boundary", "s", "#440154"),
    "core": Role("core", "D", "#d55e00"),
    "follower": Role("follower", "o"),
    "lost": Role("lost", "x", FAINT),
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw and save inside this context; the user's own Matplotlib settings come back after it."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        yield
        shown_at_once = mpl.is_interactive()
    # The first figure of a notebook turns this on, perhaps just now; else only that one would be shown.
    mpl.interactive(shown_at_once)


def layer_colours(depth: int) -> NDArray[np.float64]:
    """Colours (depth+1, 4) of layers 0 to ``depth``."""
    import matplotlib as mpl

    shades = np.linspace(0.0, _LIGHTEST, depth + 1)
    return np.asarray(mpl.colormaps["viridis"](shades), dtype=np.float64)


def agent_colours(depth: int, layers: NDArray[np.integer]) -> NDArray[np.float64]:
    """Colours (K, 4) of agents of the given layers (K,); those who were lost, of layer -1, are faint."""
    from matplotlib.colors import to_rgba

    return np.asarray(np.vstack([layer_colours(depth), to_rgba(FAINT)])[layers])


def new_axes(width: float = COLUMN, height: float | None = None, **kinds: Any) -> "Axes":
    """Axes on a figure of their own, square unless told; call inside ``figure_style()``."""
    import matplotlib.pyplot as plt

    ax: Axes = plt.figure(figsize=(width, height or width)).add_subplot(**kinds)
    return ax


def new_map(*points: NDArray[np.float64], strip: bool = False) -> "Axes":
    """Axes of column width that are as high as a map of ``points`` (…, 2) needs, with a key and maybe a strip below."""
    everything = np.concatenate(points)
    wide, high = np.maximum(np.ptp(everything, axis=0), np.finfo(np.float64).tiny)
    beside, above = 0.55, 1.2 if strip else 0.75  # inches for labels and keys
    return new_axes(COLUMN, float(np.clip((COLUMN - beside) * high / wide + above, 2.0, 5.0)))


def counted(axes: "Iterable[Axes]", count: int) -> "list[Axes]":
    """The axes as a list; any other number of them is an error."""
    given = list(axes)
    if len(given) != count:
        raise InputError(f"{count} panels need as many axes, not {len(given)}")
    return given


def plain_axes(ax: "Axes") -> None:
    """Only the drawing: equal scales, no frame, no ticks."""
    ax.set_aspect("equal")
    ax.set_axis_off()


def whole_numbers(*axes: "Axis") -> None:
    """Ticks at whole numbers only: steps, layers."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def subscripted(letter: str, index: int) -> str:
    """A letter with an index, as plain text: a figure with dozens of formulas takes twice as long to draw.

    >>> subscripted("V", 12)
    'V₁₂'
    """
    return letter + str(index).translate(_SUBSCRIPTS)


def time_line(steps: int) -> dict[str, Any]:
    """How a value over so many steps is drawn: time is discrete; long and restless lines are thin."""
    return {"drawstyle": "steps-post", "linewidth": 1.0 if steps <= 300 else 0.4}


def check_ending(path: str | os.PathLike[str]) -> str:
    """The path's ending, one that figures can be saved under."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise FileFormatError(f"{path}: unknown ending {ending!r} for a figure; expected {listed(_ENDINGS)}")
    return ending


def figure_of(drawing: "Axes | Figure | Sequence[Axes]") -> "Figure":
    """The figure that a plot function drew on."""
    artist = drawing[0] if isinstance(drawing, Sequence) else drawing
    figure = artist.get_figure(root=True)
    if figure is None:
        raise InputError("these axes are on no figure any more: draw again")
    return figure


def save_figure(drawing: "Axes | Figure | Sequence[Axes]", path: str | os.PathLike[str], dpi: float = 300) -> None:
    """Save the figure that a plot function drew on, as PNG, SVG or PDF by the path's ending.

    Whole or not at all, and the same figure gives the same bytes.
    """
    ending, figure = check_ending(path), figure_of(drawing)
    data = BytesIO()
    dateless: dict[str, dict[str, Any]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with figure_style():
        figure.savefig(data, format=ending[1:], dpi=dpi, metadata=dateless[ending])
    write_whole(path, data.getvalue())
