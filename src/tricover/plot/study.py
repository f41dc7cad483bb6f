"""Figures of a study's table: means with intervals over a key, as small multiples, and which keys matter for what."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tricover.errors import InputError, listed, plain
from tricover.plot.style import COLUMN, INK, PAGE, counted, figure_style, layer_colours, new_axes, whole_numbers
from tricover.statistics import Effects, Series, levels_of, means_over, rows_with
from tricover.units import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_effects", "plot_sweep", "words_for"]

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK)  # Okabe and Ito's
_MARKERS = "osD^vPX"
_LARGE = 20.0  # ratio of the largest to the smallest value from which on a scale is logarithmic
_WHOLE = {"agents", "depth", "misses", "settled_at", "steps", "targets"}
_MOST_TICKS = 7  # values of a key that all have a tick
_WIDE = 3  # panels in a row, where each is a measure
_PANEL = 2.1  # inches: height of a row
_SPREAD = 0.18  # of the distance of two categories: how far the series stand from each other
_ROOM = 0.04  # of the height, above the highest mean
_DARK = 0.55  # share of variance from which on a cell is dark, and its number white

#: What an axis says, for measures whose name alone says too little.
_WORDS = {
    "agents": "agents",
    "certificate": "share that the certificate holds for",
    "converged": "share that converged",
    "coverage_cost": "coverage cost, m²",
    "depth": "depth, layers",
    "idle": "followers without targets, share",
    "largest_error": "largest error, m",
    "messages": "messages per agent and step",
    "misses": "missed reach sets",
    "numbers": "numbers sent per agent and step",
    "over_lloyd": "coverage cost over Lloyd's",
    "seconds": "seconds of computing",
    "separation": "least distance, m",
    "settled_at": "settled at step",
    "steps": "steps",
}


def words_for(column: str) -> str:
    """What people call a column of the table.

    >>> words_for("coverage_cost"), words_for("network.mentee"), words_for("my_own")
    ('coverage cost, m²', 'mentee', 'my own')
    """
    return plain(_WORDS.get(column, column.rsplit(".", 1)[-1].replace("_", " ")))


def plot_sweep(
    table: Mapping[str, Any],
    over: str,
    measure: str | Sequence[str],
    by: str | None = None,
    across: str | None = None,
    axes: "Sequence[Axes] | Axes | None" = None,
) -> "list[Axes]":
    """Means of measures over a key, with intervals that hold the mean in 95 of 100 cases.

    Each mean is over all rows with that value of the key, whatever their other keys are: seeds, as a rule.

    Args:
        table: of a study, as ``sweep`` gives it.
        over: the key along the axis.
        measure: one column or several: a row of panels for each, or, without ``across``, a panel.
        by: a key with a line for each of its values.
        across: a key with a panel for each of its values, side by side.
        axes: as many as there are panels, row by row; None: a figure of their own.
    """
    measures = [measure] if isinstance(measure, str) else list(measure)
    if not measures:
        raise InputError("there is nothing to draw: name a measure")
    parts = (
        {None: table}
        if across is None
        else {level: rows_with(table, across, level) for level in levels_of(table, across)}
    )
    panels = [(name, level, means_over(part, over, name, by)) for name in measures for level, part in parts.items()]
    with figure_style():
        own = axes is None
        drawn = _new_panels(len(measures), len(parts)) if axes is None else _given(axes, len(panels))
        for ax, (name, level, series) in zip(drawn, panels, strict=True):
            _draw(ax, series)
            ax.set(xlabel=words_for(over), ylabel=words_for(name))
            if across is not None and name == measures[0]:
                ax.set_title(f"{words_for(across)} {_said(level)}", loc="left")
        for name in measures:
            _same_scale([ax for ax, panel in zip(drawn, panels, strict=True) if panel[0] == name], name in _WHOLE)
        if by is not None:
            _key(drawn[0], words_for(by), own)
    return drawn


def _new_panels(measures: int, levels: int) -> "list[Axes]":
    import matplotlib.pyplot as plt

    columns = levels if levels > 1 else min(measures, _WIDE)
    rows = measures if levels > 1 else -(-measures // columns)
    width = COLUMN if columns == 1 else PAGE
    figure = plt.figure(figsize=(width, rows * _PANEL + 0.4))
    return [figure.add_subplot(rows, columns, place + 1) for place in range(measures * levels)]


def _given(axes: "Sequence[Axes] | Axes", count: int) -> "list[Axes]":
    return counted(np.ravel(np.asarray(axes, dtype=object)).tolist(), count)


def _draw(ax: "Axes", series: list[Series]) -> None:
    """One panel: a line over numbers, points side by side over words."""
    places = list(dict.fromkeys(place for one in series for place in one.places))
    numeric = all(isinstance(place, int | float) and not isinstance(place, bool) for place in places)
    colours = _COLOURS if len(series) <= len(_COLOURS) else [*layer_colours(len(series) - 1)]
    for which, (one, colour) in enumerate(zip(series, colours, strict=False)):
        beside = 0.0 if numeric else _SPREAD * (which - (len(series) - 1) / 2)
        ax.errorbar(
            [place if numeric else places.index(place) + beside for place in one.places],
            one.means,
            yerr=np.nan_to_num(one.halves),
            color=colour,
            marker=_MARKERS[which % len(_MARKERS)],
            markersize=3.5,
            linewidth=1.0 if numeric else 0.0,
            elinewidth=0.8,
            capsize=2,
            label=_said(one.label),
        )
    if numeric:
        _number_axis(ax, sorted(places))
    else:
        ax.set_xticks(range(len(places)), [_said(place) for place in places])
        ax.set_xlim(-0.5, len(places) - 0.5)


def _number_axis(ax: "Axes", places: list[float]) -> None:
    """Ticks at the values of the key where these are few; in equal ratios where they go far."""
    from matplotlib.ticker import NullLocator

    if len(places) > 2 and places[0] > 0 and places[-1] >= _LARGE * places[0]:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
    if len(places) <= _MOST_TICKS:
        ax.set_xticks(places, [number(place) for place in places])
        ax.xaxis.set_minor_locator(NullLocator())


def _same_scale(axes: "list[Axes]", whole: bool) -> None:
    """One scale for all panels of a measure: from zero on, or logarithmic where values go far."""
    from matplotlib.ticker import FuncFormatter

    bars: list[Any] = [bar for ax in axes for bar in ax.containers]
    means = [np.asarray(bar.lines[0].get_ydata(), np.float64) for bar in bars]
    values = np.concatenate([np.empty(0), *means])
    values = values[np.isfinite(values)]
    if not values.size:
        return
    lowest, highest = min(ax.get_ylim()[0] for ax in axes), max(ax.get_ylim()[1] for ax in axes)
    far = values.min() > 0 and values.max() > _LARGE * values.min()
    for ax in axes:
        if far:
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        else:
            room = _ROOM * (highest - min(lowest, 0.0))
            ax.set_ylim(lowest if values.min() < 0 else 0.0, highest + room)
            if whole:
                whole_numbers(ax.yaxis)


def _key(ax: "Axes", title: str, own: bool) -> None:
    """What the lines are, once: above all panels of a figure of our own, else above the first one."""
    marks, labels = ax.get_legend_handles_labels()
    labels = [f"{title} {label}" for label in labels]
    figure = ax.get_figure(root=True)
    if own and figure is not None:
        figure.legend(marks, labels, loc="outside upper left", ncols=min(4, len(labels)))
    else:
        ax.legend(marks, labels, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)


def _said(level: Any) -> str:
    """A value of a key, for people."""
    if isinstance(level, int | float) and not isinstance(level, bool):
        return number(level)
    return plain("none" if level is None else str(level))


def plot_effects(effects: Effects, ax: "Axes | None" = None) -> "Axes":
    """Which keys matter for which measures: the share of the variance that each key explains alone, in per cent."""
    if not effects.keys or not effects.measures:
        raise InputError(f"there is nothing to draw: {listed(['keys', 'measures'])} are needed")
    rows, columns = effects.shares.shape
    with figure_style():
        ax = ax or new_axes(min(PAGE, 1.6 + 0.9 * columns), 0.9 + 0.3 * rows)
        ax.imshow(np.nan_to_num(effects.shares), cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for row, column in np.ndindex(rows, columns):
            share = effects.shares[row, column]
            text = "–" if np.isnan(share) else f"{100 * share:.0f} %"
            ax.text(column, row, text, ha="center", va="center", color="white" if share > _DARK else INK, fontsize=7)
        names = [words_for(measure).split(",")[0].replace(" ", "\n", 1) for measure in effects.measures]
        ax.set_xticks(range(columns), names)
        ax.set_yticks(range(rows), [plain(key) for key in effects.keys])
        ax.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
        ax.spines[:].set_visible(False)
        ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=2)
        ax.tick_params(which="minor", length=0)
    return ax
