"""The section with the playback: the canvas, its controls and its data."""

from string import Template

from tricover.report.markup import Html, text
from tricover.report.page import Section, resource
from tricover.report.playback import playback_of
from tricover.simulation import Run

__all__ = ["playback_section"]

_KEYS = (
    "With the canvas in focus: space plays and pauses, ← → step, Home and End jump, ↑ ↓ choose an agent, Escape lets "
    "go, + − 0 zoom. Drag moves a view that is zoomed in; Ctrl and the wheel zoom too."
)


def playback_section(run: Run, title: str = "Playback") -> Section:
    """The run, to be played; a page may hold several."""
    made = playback_of(run)
    depth = max(network.depth for _, network in run.networks)
    remarks = " ".join((*made.remarks, f"Positions here are right to {made.precision:.1g} m."))
    html = Template(resource("player.html")).substitute(
        label=text(f"Playback of {run.scenario.name}: {len(run.network)} agents, {run.steps} steps. {_KEYS}"),
        caption=text(f"{_KEYS} {remarks}"),
        depth=depth,
        last=made.frames - 1,
        most=len(run.network) - 1,
        data=made.json.replace("<", "\\u003c"),
    )
    return Section(title, Html(html))
