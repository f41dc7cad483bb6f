"""What one agent knows of the targets in its triangle by the end of a run, and from where."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.control import knowledge, rows_of
from tricover.control.memory import SIGHTED
from tricover.control.recall import known_by_itself
from tricover.errors import InputError
from tricover.network.roster import agent_indices
from tricover.simulation.deciding import view_of
from tricover.simulation.state import State
from tricover.targets import TargetLists

if TYPE_CHECKING:
    from tricover.simulation.run import Run

__all__ = ["Known", "known_by"]

Floats = NDArray[np.float64]


class Known(NamedTuple):
    """What a follower knows, points (…, 2) in metres.

    Attributes:
        position: where it stands.
        triangle: of its in-neighbours, (3, 2).
        seen: targets in the triangle that it sees.
        remembered: targets there that it has seen before.
        told: targets there that its in-neighbours told it of.
        reported: points there that its children reported.
        weights: of these points.
        unknown: targets there that it does not know by name, and that no point stands for.
    """

    position: Floats
    triangle: Floats
    seen: Floats
    remembered: Floats
    told: Floats
    reported: Floats
    weights: Floats
    unknown: Floats


def known_by(run: "Run", agent: int) -> Known:
    """What a follower knows with everybody where it is at the end of the run."""
    told, step = run.epochs[-1].told, max(run.steps - 1, 0)
    if told.sight is None:
        raise InputError("in this run everybody sees every target: set world.sight")
    agent_indices([agent], len(run.network))
    if run.network.layer[agent] < 1:
        raise InputError(f"agent {agent} is an anchor or lost: only followers ask for targets")
    if step < run.mission.launch:
        raise InputError("the team is still on its way from the pads: nobody has looked yet")
    here = run.read("positions", run.steps, run.steps + 1)[0].copy()
    present = run.epochs[-1].present(run.mission.agents)
    names = [name for name in SIGHTED if told.summary is not None or not name.startswith("report")]
    memory = {name: run.record.remembered(name).copy() for name in names}
    state = State(step, here, np.empty((len(here), 0)), present, memory)
    one = np.array([agent])
    view = view_of(run.mission, state, one)
    known, _ = knowledge(view, told, rows_of(memory, one), view.heard)
    assert view.received is not None
    own = known_by_itself(view, told, rows_of(memory, one))
    return _sorted_out(run, view.heard[0], here[agent], known, own, view.received.told)


def _sorted_out(
    run: "Run", triangle: Floats, position: Floats, known: TargetLists, own: TargetLists, told: TargetLists
) -> Known:
    """Points by where they are known from; what is not known is a matter of the truth."""
    itself, others = np.isin(known.names, own.names[own.names >= 0]), np.isin(known.names, told.names)
    by_sight = np.isin(known.names, own.names[own.fresh])
    below = ~itself & ~others
    targets = run.targets
    _, inside = targets.members(triangle)
    numbers = run.mission.scene_at(max(run.steps - 1, 0)).names[inside]
    hidden = ~np.isin(numbers, known.names)
    # Points without a name stand for others: as many of these, the nearest ones, are not unknown.
    missing = max(int(hidden.sum()) - _meant(known), 0)
    places = targets.points[inside][hidden]
    groups = known.points[known.names < 0]
    if len(groups) and len(places):
        near = np.linalg.norm(places[:, None] - groups, axis=2).min(axis=1)
        places = places[np.argsort(-near, kind="stable")[:missing]]
    return Known(
        position=position,
        triangle=triangle,
        seen=known.points[itself & by_sight],
        remembered=known.points[itself & ~by_sight],
        told=known.points[others & ~itself],
        reported=known.points[below],
        weights=known.weights[below],
        unknown=places,
    )


def _meant(known: TargetLists) -> int:
    """How many targets the points without a name stand for, if all weigh one."""
    return round(float(known.weights[known.names < 0].sum()))
