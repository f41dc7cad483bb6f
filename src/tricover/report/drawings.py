"""The figures of a run, each with its caption; one that this run has not is left out, and said to be."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tricover.errors import InputError
from tricover.report.findings import Findings
from tricover.report.markup import Html, note
from tricover.report.page import Section, figures_html

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["figures_section"]

MOST_LAYERED = 2_000  # agents whose rows can still be told apart


def figures_section(found: Findings) -> Section:
    """The network, the way, the end, and one agent's story."""
    missing: list[str] = []
    figures = figures_html(_drawn(found, missing))
    remarks = note(*(f"Left out: {reason}." for reason in missing)) if missing else ""
    return Section("Figures", Html(figures + remarks))


def _drawn(found: Findings, missing: list[str]) -> "Iterator[tuple[Drawing, str]]":
    """Figures and captions, drawn one by one; why one cannot be is added to ``missing``."""
    for caption, draw in _figures(found).items():
        try:
            yield draw(), caption
        except InputError as error:
            missing.append(str(error))


def _figures(found: Findings) -> "dict[str, Callable[[], Drawing]]":
    """Captions, and what draws the figure."""
    from tricover import plot

    run, network, agent = found.run, found.run.network, found.agent
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
    figures |= _of_its_world(found)
    return figures if len(network) > MOST_LAYERED else {**figures, layers: lambda: plot.plot_layers(network)}


def _of_its_world(found: Findings) -> "dict[str, Callable[[], Drawing]]":
    """Figures of what not every run has: late messages, agents that see only so far, and such that learn."""
    from tricover import plot

    run, agent = found.run, found.agent
    figures: dict[str, Callable[[], Drawing]] = {}
    if not run.mission.world.channel.perfect:
        figures["How old what agents had heard was, step by step."] = lambda: plot.plot_ages(run)
        figures["Which links were late or not heard at the end."] = lambda: plot.plot_messages(run)
    if run.scenario.world.sight is not None:
        figures[f"What agent {agent} knows of the targets in its triangle."] = lambda: plot.plot_sight(run, agent)
    if run.scenario.control.kernel == "learned":
        figures[f"Where the moves of agent {agent} end, as it has learned."] = lambda: plot.plot_learned(run, agent)
        figures[f"How that changed the policy of agent {agent}."] = lambda: plot.plot_policies(run, agent)
        figures[f"The evidence of agent {agent}, move by move."] = lambda: plot.plot_evidence(run, agent)
    return figures
