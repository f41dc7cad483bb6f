"""Inside one agent at a step: all that it acts on, and what comes out of it, in plain values.

Its communication triangle as it has heard of it, its goal point and cells, the decision process with value and policy,
its barycentric weights now and after the step (its row of Γ), whom it hears and how old that is, what it has learned.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.geometry import flat, weights_in
from tricover.mdp import LocalMDP
from tricover.simulation import Epoch
from tricover.studio.timeline import Timeline

__all__ = ["MOST_CELLS", "look_inside"]

Floats = NDArray[np.float64]

MOST_CELLS = 80
"""Cells per side of a triangle up to which they are shown: finer ones cannot be told apart."""
NAMES = ("state", "goal_cell", "next_cell", "weights", "ages", "miss")


def look_inside(timeline: Timeline, agent: int, step: int) -> dict[str, Any]:
    """What an agent is about at a step, in plain values; lengths in metres, ages in steps."""
    epoch, positions = timeline.epoch(step), timeline.positions(step)
    network = epoch.network
    if not 0 <= agent < len(network):
        raise InputError(f"there is no agent {agent} at step {step}: they have the numbers 0 to {len(network) - 1}")
    layer = int(network.layer[agent])
    plain: dict[str, Any] = {
        "agent": agent,
        "step": step,
        "layer": layer,
        "role": _role(epoch, agent),
        "position": positions[agent].tolist(),
        "descendants": network.descendants[agent].tolist(),
    }
    return plain | (_of_anchor(epoch, agent, step) if layer < 1 else _of_follower(timeline, agent, step))


def _role(epoch: Epoch, agent: int) -> str:
    network = epoch.network
    if network.layer[agent] < 0:
        return "lost"
    if agent == network.core:
        return "core"
    return "boundary" if network.layer[agent] == 0 else "follower"


def _of_anchor(epoch: Epoch, agent: int, step: int) -> dict[str, Any]:
    """Where it is sent. Its row of Γ is that of the identity."""
    network = epoch.network
    place = epoch.told.places(step)[network.anchors == agent]
    goal = None if not len(place) or np.isnan(place).any() else place[0].tolist()
    return {"goal": goal, "row": {str(agent): 1.0}}


def _of_follower(timeline: Timeline, agent: int, step: int) -> dict[str, Any]:
    positions = timeline.positions(step)
    hears = timeline.epoch(step).network.in_neighbors[agent]
    left = timeline.left_behind(step, NAMES) or {}
    heard = timeline.heard(step, agent) if left else None
    triangle = positions[hears] if heard is None else heard
    plain: dict[str, Any] = {"hears": hears.tolist()}
    if "ages" in left:
        plain["ages"] = left["ages"][agent].tolist()
    if np.isnan(triangle).any():
        return plain | {"note": "It waits for the first messages."}
    plain["triangle"] = triangle.tolist()
    if flat(triangle[None])[0]:
        return plain | {"note": "Its triangle has no area: it goes to the middle of its in-neighbours."}
    plain["weights"] = weights_in(positions[agent][None], triangle[None])[0].tolist()
    if not left:
        return plain | {"note": "The run ends here: nothing is decided any more."}
    row = left["weights"][agent].tolist()
    plain |= {"becomes": row, "row": dict(zip(map(str, hears.tolist()), row, strict=True))}
    plain["miss"] = float(left["miss"][agent])
    return plain | _cells(timeline, agent, step, triangle, left) | _learned(timeline, agent, step)


def _cells(
    timeline: Timeline, agent: int, step: int, triangle: Floats, left: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """The grid and the decision process in it. With the motion "reach" it is what a walk would go by."""
    told = timeline.epoch(step).told
    state, goal, coming = (int(left[name][agent]) for name in ("state", "goal_cell", "next_cell"))
    plain: dict[str, Any] = {
        "motion": told.motion,
        "resolution": told.resolution,
        "cell": state,
        "goal_cell": goal,
        "next_cell": coming,
    }
    if goal < 0:
        return plain
    plain["goal"] = (told.grid.weights[goal] @ triangle).tolist()
    if told.resolution > MOST_CELLS:
        return plain
    blocked = None if told.obstacles is None else told.obstacles.cells(triangle[None], told.grid)[0]
    kernel = None if told.kernel == "certain" else timeline.run(step).kernel_of(agent)
    mdp = LocalMDP(told.grid, triangle, goal, told.alpha, told.beta, told.gamma, kernel, blocked)
    solution = mdp.solve()
    return plain | {"value": solution.value.tolist(), "policy": solution.policy.tolist()}


def _learned(timeline: Timeline, agent: int, step: int) -> dict[str, Any]:
    """How often its moves end elsewhere, as far as it knows."""
    if timeline.epoch(step).told.kernel != "learned":
        return {}
    estimate = timeline.run(step).learned(agent)
    return {
        "learned": {
            "slip": float(estimate.slip),
            "deviation": float(estimate.slip_deviation),
            "records": int(estimate.records.sum()),
            "certain": bool(estimate.certain),
        }
    }
