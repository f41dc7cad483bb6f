"""The figures of a run, each with its caption; one that this run has not is left out, and said to be."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from tricover.errors import InputError
from tricover.geometry import volumes
from tricover.report.markup import Html, note
from tricover.report.page import Section, figures_html
from tricover.simulation import Run

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["example_agent", "figures_section"]

MOST_LAYERED = 2_000  # agents whose rows can still be told apart


def figures_section(run: Run) -> Section:
    """The network, the way, the end, and one agent's story."""
    missing: list[str] = []
    figures = figures_html(_drawn(run, missing))
    remarks = note(*(f"Left out: {reason}." for reason in missing)) if missing else ""
    return Section("Figures", Html(figures + remarks))


def _drawn(run: Run, missing: list[str]) -> "Iterator[tuple[Drawing, str]]":
    """Figures and captions, drawn one by one; why one cannot be is added to ``missing``."""
    for caption, draw in _figures(run).items():
        try:
            yield draw(), caption
        except InputError as error:
            missing.append(str(error))


def example_agent(run: Run) -> int:
    """A follower to tell of: one that went far, and whose triangle at the end is not a sliver; an anchor if need be."""
    ends = [run.read("positions", step, step + 1)[0] for step in (0, run.steps)]
    gone = np.linalg.norm(ends[1] - ends[0], axis=1)
    followers = run.network.followers
    if not followers.size:
        return run.network.core
    triangles = ends[1][run.network.in_neighbors[followers]]
    sides = triangles - np.roll(triangles, 1, axis=1)
    roundness = np.abs(volumes(triangles)) / np.maximum((sides**2).sum(axis=(1, 2)), np.finfo(np.float64).tiny)
    return int(followers[np.argmax((gone[followers] + 1e-9 * gone.max()) * roundness)])


def _figures(run: Run) -> "dict[str, Callable[[], Drawing]]":
    """Captions, and what draws the figure."""
    from tricover import plot

    network, agent = run.network, example_agent(run)
    heard = "The reference formation: every follower and the three agents that it listens to."
    moves = "Offsets from the desired position against their change in a step, for some agents."
    story = f"The story of agent {agent}: its triangle, its cells, what it decides by, and how it comes to rest."
    layers = "The network as a neural network: each follower enters in the column of its layer."
    figures: dict[str, Callable[[], Drawing]] = {
        heard: lambda: plot.plot_network(network),
        "The desired formation, its links, and the targets.": lambda: plot.plot_desired(run),
        "Where everybody went, from hollow to filled.": lambda: plot.plot_paths(run),
        f"x and y of agent {agent} over time.": lambda: plot.plot_coordinates(run, agent),
        moves: lambda: plot.plot_portrait(run),
        story: lambda: plot.plot_story(run, agent),
    }
    return figures if len(network) > MOST_LAYERED else {**figures, layers: lambda: plot.plot_layers(network)}
