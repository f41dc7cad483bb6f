"""Methods side by side: how well they cover, and how long they take to stand."""

from typing import TYPE_CHECKING

from tricover.coverage import Comparison
from tricover.plot.style import FAINT, INK, PAGE, figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_comparison"]

_COLOURS = {"paper": "#440154", "balanced": "#21918c", "planned": "#d55e00", "Lloyd": FAINT}
_OF_THE_TEAM = "#0072b2"  # goals that are about more than a triangle


def plot_comparison(comparison: Comparison, axes: "tuple[Axes, Axes] | None" = None) -> "tuple[Axes, Axes]":
    """Two rows of bars: coverage cost over converged Lloyd's, and steps until the team stands; shorter is better.

    Args:
        comparison: what ``compare_methods`` found.
        axes: two axes to draw on; None: a figure of page width.
    """
    import matplotlib.pyplot as plt

    names = [method.name for method in comparison.methods]
    colours = [_COLOURS.get(name.split(",")[0].split(":")[0], _OF_THE_TEAM) for name in names]
    with figure_style():
        if axes is None:
            _, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 0.28 * len(names) + 0.7), sharey=True)
        else:
            left, right = axes
        _bars(left, names, [method.ratio for method in comparison.methods], colours, "{:.2f}")
        _bars(right, names, [method.steps for method in comparison.methods], colours, "{:.0f}")
        left.axvline(1.0, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=0)
        left.set_xlabel("coverage cost over converged Lloyd's")
        right.set_xlabel("steps until the team stands")
        left.set_title(f"{comparison.agents} agents, {len(comparison.targets)} targets", loc="left")
    return left, right


def _bars(ax: "Axes", names: list[str], values: list[float], colours: list[str], form: str) -> None:
    bars = ax.barh(names, values, color=colours, height=0.7)
    texts = ax.bar_label(bars, labels=[form.format(value) for value in values], padding=3, fontsize=7)
    for text in texts:
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    ax.margins(x=0.12)
    ax.tick_params(axis="y", length=0)
    if not ax.yaxis_inverted():
        ax.invert_yaxis()
