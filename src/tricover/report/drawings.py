"""The figures of a run."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tricover.report.page import Section, figures_html
from tricover.simulation import Run

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["figures_section"]

MOST_AGENTS = 20_000  # whose links still show something


def figures_section(run: Run) -> Section:
    """Figures of the network and of the way."""
    return Section("Figures", figures_html(_figures(run)))


def _figures(run: Run) -> "Iterator[tuple[Drawing, str]]":
    from tricover.plot import plot_layers, plot_network

    yield plot_network(run.network), "The reference formation: every follower and the three agents that it listens to."
    yield plot_layers(run.network), "The network as a neural network: each follower enters in the column of its layer."
