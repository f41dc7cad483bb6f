"""The figures of the paper, each by its counterpart, and some more.

In the counterparts agents are numbered from 1, as in the paper. It publishes no coordinates: the formations are ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tricover import plot
from tricover.coverage import coverage_over_time
from tricover.network import Network
from tricover.paper.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from tricover.report.svg import Drawing

__all__ = ["FIGURES", "Figure"]

_OURS = "The formation is ours: the paper publishes no coordinates."


@dataclass(frozen=True)
class Figure:
    """A figure: the name of its files, the paper's figure that it stands for (None: one more), and how it is drawn."""

    name: str
    number: int | None
    text: str
    draw: "Callable[[Study], Drawing]"

    @property
    def caption(self) -> str:
        """What it shows, and which figure of the paper it stands for."""
        return self.text if self.number is None else f"For Fig. {self.number} of the paper. {self.text}"


def _numbers(network: Network) -> range:
    return range(1, len(network) + 1)


def _certificate(study: Study) -> "Canvas":
    import matplotlib.pyplot as plt

    with plot.figure_style():
        figure = plt.figure(figsize=(plot.PAGE, 0.42 * plot.PAGE))
        left, right = figure.subplots(1, 2)
    plot.plot_contraction(study.certificates["walk"], left)
    plot.plot_settling(study.certificates["walk"], right)
    return figure


FIGURES = (
    Figure(
        "weights",
        1,
        "The cells of a triangle for M = 5, with the weights of their centres for the in-neighbours i_1, i_2, i_3.",
        lambda study: plot.plot_weights(study.small),
    ),
    Figure(
        "cells",
        2,
        f"13 agents: cell by cell, Algorithm 1 finds the mentees of each layer. {_OURS}",
        lambda study: plot.plot_cells(study.example, labels=_numbers(study.example)),
    ),
    Figure(
        "states",
        3,
        "Interior, boundary and nodal states have three, two and one neighbours; all outside is one state more.",
        lambda study: plot.plot_states(study.small),
    ),
    Figure(
        "formation",
        4,
        f"The initial formation of the 57 agents, and who listens to whom. {_OURS}",
        lambda study: plot.plot_network(study.network, labels=_numbers(study.network)),
    ),
    Figure(
        "layers",
        5,
        f"The network of the 57 agents, layer by layer. {_OURS}",
        lambda study: plot.plot_layers(study.network, labels=_numbers(study.network)),
    ),
    Figure(
        "desired",
        6,
        f"The desired formation over the triangular domain, and the targets in it. {_OURS}",
        lambda study: plot.plot_desired(study.reach, labels=_numbers(study.network)),
    ),
    Figure(
        "paths-reach",
        7,
        f"Paths with single-step reachability (VI-A). {_OURS}",
        lambda study: plot.plot_paths(study.reach),
    ),
    Figure(
        "agent-29",
        8,
        "x and y of agent 29 over time (VI-A), actual and desired.",
        lambda study: plot.plot_coordinates(study.reach, 28, label="agent 29"),
    ),
    Figure(
        "paths-walk",
        9,
        f"Paths with the policy's walk from cell to cell, η = 0.05 (VI-B). {_OURS}",
        lambda study: plot.plot_paths(study.walk),
    ),
    Figure(
        "agent-43",
        10,
        "x and y of agent 43 over time (VI-B), actual and desired.",
        lambda study: plot.plot_coordinates(study.walk, 42, label="agent 43"),
    ),
    Figure(
        "paths-anywhere",
        None,
        "The same walk when agents land anywhere in their reach sets (Assumption 3 alone): neighbourhoods, not points.",
        lambda study: plot.plot_paths(study.anywhere),
    ),
    Figure(
        "coverage",
        None,
        "Mean squared distance of targets to the nearest agent (VI-B), beside Lloyd's algorithm from the same start.",
        lambda study: plot.plot_coverage(coverage_over_time(study.walk)),
    ),
    Figure(
        "story",
        None,
        "The story of agent 48, counted from 0 as in the interface: its triangle, its way through the cells, value and "
        "policy, and how it comes to rest (VI-B). In the paper's count it is agent 49.",
        lambda study: plot.plot_story(study.walk, 48),
    ),
    Figure(
        "certificate",
        None,
        "How much of a past error is left, beside the bound of Theorem 2, and when each layer came to rest (VI-B).",
        _certificate,
    ),
)
