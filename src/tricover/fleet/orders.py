"""What an order of the operator changes in a mission: new targets."""

from dataclasses import replace
from typing import Any

import numpy as np

from tricover.errors import InputError, shown
from tricover.simulation import Mission
from tricover.simulation.resolve import ground_of
from tricover.targets import Targets

__all__ = ["with_targets"]

FOREVER = 2**53 - 1


def with_targets(mission: Mission, order: dict[str, Any]) -> Mission:
    """The mission with new targets from a step on: ``{"step": t, "points": [[x, y], …], "weights": […] or None}``.

    Networks and places of anchors stay as they are. Targets that move cannot be replaced: their ways are known to all.
    """
    step, old = order.get("step"), mission.targets
    if type(step) is not int or not 0 <= step < FOREVER:
        raise InputError(f"new targets need the step from which on they count, not {shown(step)}")
    if old.motion is not None:
        raise InputError("targets that move cannot be replaced")
    new = Targets(order.get("points", ()), order.get("weights"))
    before = np.tile([0, FOREVER], (len(old), 1)) if old.active is None else np.array(old.active)
    before[:, 1] = np.clip(before[:, 1], before[:, 0] + 1, max(step, 1))
    section = {
        "positions": np.concatenate([old.points, new.points]),
        "weights": np.concatenate(
            [np.ones(len(part)) if part.weights is None else part.weights for part in (old, new)]
        ),
        "active": np.concatenate([before, np.tile([max(step, 1), FOREVER], (len(new), 1))]),
        "ids": None,
    }
    scenario = mission.self_contained().replace(targets=section)
    return replace(mission, scenario=scenario, ground=ground_of(scenario), flown=())
