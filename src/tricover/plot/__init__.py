"""Figures: each function takes a result and optional axes, draws, and computes nothing. Matplotlib loads when drawn."""

from tricover.plot.style import COLUMN, PAGE, figure_style, save_figure

__all__ = ["COLUMN", "PAGE", "figure_style", "save_figure"]
