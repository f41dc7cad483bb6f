"""The section with the playback: the canvas, its controls and its data."""

from string import Template

import numpy as np
from numpy.typing import NDArray

from tricover.report.markup import Html, text
from tricover.report.page import Section, resource
from tricover.report.playback import playback_of
from tricover.simulation import Run

__all__ = ["playback_section"]

_KEYS = (
    "With the canvas in focus: space plays and pauses, ← → step, Home and End jump, ↑ ↓ choose an agent, Escape lets "
    "go, + − 0 zoom, [ ] show fewer or more layers. Drag moves a view that is zoomed in; Ctrl and the wheel zoom too."
)


def playback_section(run: Run, title: str = "Playback", positions: NDArray[np.float64] | None = None) -> Section:
    """The run, to be played; a page may hold several.

    Args:
        run: the run.
        title: of the section.
        positions: all positions of the run, (T+1, N, 2), where they are at hand; None: they are read.
    """
    made = playback_of(run, positions)
    depth = max(epoch.network.depth for epoch in run.epochs)
    remarks = " ".join((*made.remarks, f"Positions here are right to {_rounded_up(made.precision)} m."))
    html = Template(resource("player.html")).substitute(
        label=text(f"Playback of {run.scenario.name}: {len(run.network)} agents, {run.steps} steps. {_KEYS}"),
        caption=text(f"{_KEYS} {remarks}"),
        depth=depth,
        target="target, larger with its weight" if run.mission.targets.weights is not None else "target",
        arrows="; arrows: its policy" if run.scenario.control.motion == "walk" else "",
        last=made.frames - 1,
        most=len(run.network) - 1,
        data=made.json.replace("<", "\\u003c"),
    )
    return Section(title, Html(html))


def _rounded_up(metres: float) -> str:
    """To one digit that is not too small.

    >>> _rounded_up(0.00092), _rounded_up(0.0031), _rounded_up(0.5), _rounded_up(0.0000071)
    ('0.001', '0.004', '0.5', '0.000008')
    """
    unit = 10.0 ** np.floor(np.log10(metres))
    return np.format_float_positional(np.ceil(metres / unit) * unit, precision=1, fractional=False, trim="-")
