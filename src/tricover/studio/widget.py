"""``view``: a team in a notebook, to be played and dragged, with all that it shows readable from Python.

The map is that of the studio, and the session behind it too: it lives in the notebook's own process, and messages go
through the widget. The front end is one module, made of the studio's at import: there is no build step.
"""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, MissingExtraError, TricoverError
from tricover.network import Network
from tricover.report.page import one_script, resource
from tricover.simulation import Run, Scenario
from tricover.studio.messages import read_message
from tricover.studio.session import Sent, Session, said

if TYPE_CHECKING:
    from anywidget import AnyWidget

__all__ = ["view"]

_DRAWING = ("marks.js", "cells.js", "ground.js")
_MAP = ("gl.js", "team.js", "map.js", "tools.js", "widget.js")
_HEIGHT = 420  # pixels


def view(subject: Scenario | Run | Network) -> "AnyWidget":
    """Show a scenario, a run or a network in a notebook, with dragging.

    The widget has ``scenario``, ``network``, ``positions`` (N, 2), ``step`` and ``chosen``, as they are shown.
    """
    if not isinstance(subject, Scenario | Run | Network):
        raise InputError(f"view takes a Scenario, a Run or a Network, not {type(subject).__name__}")
    made: AnyWidget = _widget()(Session(_shown(subject), Path.cwd()))
    return made


def _shown(subject: Scenario | Run | Network) -> Scenario | Run:
    """A network by itself is a team that stays: its agents' reference positions are its targets."""
    if not isinstance(subject, Network):
        return subject
    if subject.reference.shape[1] != 2:
        raise InputError("view shows networks in the plane, not in space")
    where, rule = subject.reference, {"mentee": subject.mentee, "core": int(subject.core)}
    return Scenario(reference=where, targets=where, network=rule, control={"goal": "reference"})


@cache
def _widget() -> "type[AnyWidget]":
    """The class of the widget, made when anywidget is first needed."""
    try:
        import anywidget
    except ImportError as error:
        raise MissingExtraError(f"views in notebooks need {error.name}: pip install 'tricover[studio]'") from None
    page = files("tricover.studio").joinpath("page")
    texts = [*map(resource, _DRAWING), *(page.joinpath(name).read_text(encoding="utf-8") for name in _MAP)]

    class View(anywidget.AnyWidget):
        """A team in a notebook."""

        _esm = one_script(texts)
        _css = _STYLE

        def __init__(self, session: Session) -> None:
            super().__init__()
            self.session = session
            self.chosen: int | None = None
            self.on_msg(self._hear)

        @property
        def scenario(self) -> Scenario:
            """What is shown, with all that was changed."""
            return self.session.variants[0].scenario

        @property
        def step(self) -> int:
            """The step that is shown."""
            return self.session.step

        @property
        def network(self) -> Network:
            """Who listens to whom at this step."""
            return self.session.variants[0].timeline.epoch(self.step).network

        @property
        def positions(self) -> NDArray[np.float64]:
            """Where everybody is at this step, (N, 2)."""
            return self.session.variants[0].timeline.positions(self.step)

        def _hear(self, _: object, message: dict[str, Any], __: object) -> None:
            """What the front end says."""
            if message.get("do") == "everything":
                return self._tell(self.session.everything())
            if message.get("do") == "choose":
                self.chosen = message.get("agent")
                return None
            try:
                answer = self.session.do(read_message(json.dumps(message)))
            except TricoverError as error:
                return self._tell([said("error", text=str(error), key=None)])
            return self._tell([*answer.everybody, *answer.asker])

        def _tell(self, messages: list[Sent]) -> None:
            """Texts one by one; blocks go along with the state, after it is known."""
            blocks = [message for message in messages if isinstance(message, bytes)]
            texts = [json.loads(message) for message in messages if isinstance(message, str)]
            for text in texts:
                self.send(text, blocks if text["is"] == "state" else None)
            if blocks and not any(text["is"] == "state" for text in texts):
                self.send({"is": "blocks"}, blocks)

    return View


_STYLE = f"""
.tricover-view {{ --sheet-ink: #1a1a1a; --sheet-quiet: #5e6369; font-family: system-ui, sans-serif; }}
.tricover-view .map {{ position: relative; isolation: isolate; height: {_HEIGHT}px; overflow: hidden; }}
.tricover-view .map {{ background: #ffffff; }}
.tricover-view .map canvas {{ position: absolute; inset: 0; width: 100%; height: 100%; touch-action: none; }}
.tricover-view .map .field {{ z-index: -1; }}
.tricover-view .map p {{ position: absolute; top: 4px; left: 8px; margin: 0; color: #5e6369; font-size: 12px; }}
.tricover-view .row {{ display: flex; gap: 10px; align-items: center; margin-top: 6px; }}
.tricover-view input {{ flex: 1; }}
"""
