"""Figures: each function takes a result and optional axes, draws, and computes nothing. Matplotlib loads when drawn."""

from tricover.plot.animation import animate
from tricover.plot.certificate import plot_contraction, plot_settling, plot_transition, plot_tube
from tricover.plot.compare import plot_comparison
from tricover.plot.coverage import plot_coverage, plot_voronoi
from tricover.plot.decomposition import plot_cells
from tricover.plot.formation import plot_desired, plot_network
from tricover.plot.heights import plot_heights
from tricover.plot.layers import plot_layers
from tricover.plot.learning import plot_evidence, plot_learned, plot_policies
from tricover.plot.mdp import plot_solution, plot_states, plot_weights
from tricover.plot.messages import plot_ages, plot_messages
from tricover.plot.motion import plot_coordinates, plot_portrait
from tricover.plot.paths import plot_paths
from tricover.plot.separation import plot_approaches, plot_separation
from tricover.plot.sight import plot_sight
from tricover.plot.story import plot_story
from tricover.plot.study import plot_effects, plot_sweep
from tricover.plot.style import COLUMN, PAGE, figure_style, save_figure

__all__ = [
    "COLUMN",
    "PAGE",
    "animate",
    "figure_style",
    "plot_ages",
    "plot_approaches",
    "plot_cells",
    "plot_comparison",
    "plot_contraction",
    "plot_coordinates",
    "plot_coverage",
    "plot_desired",
    "plot_effects",
    "plot_evidence",
    "plot_heights",
    "plot_layers",
    "plot_learned",
    "plot_messages",
    "plot_network",
    "plot_paths",
    "plot_policies",
    "plot_portrait",
    "plot_separation",
    "plot_settling",
    "plot_sight",
    "plot_solution",
    "plot_states",
    "plot_story",
    "plot_sweep",
    "plot_transition",
    "plot_tube",
    "plot_voronoi",
    "plot_weights",
    "save_figure",
]
