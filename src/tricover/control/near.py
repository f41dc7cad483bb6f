"""Voronoi cells of agents, from what each of them knows: who is near by, and which targets it sees."""

import numpy as np

from tricover.control.told import Told
from tricover.control.view import View
from tricover.errors import InputError
from tricover.goals.voronoi import Cells, voronoi_cells
from tricover.targets import TargetLists

__all__ = ["own_cells"]


def own_cells(view: View, told: Told) -> Cells:
    """The Voronoi cells of agents (A,) among those that they hear of."""
    if view.cells is not None:
        return view.cells
    if view.near is None:
        raise InputError(f"the goal {told.goal!r} needs the agents near by: give View.near, the agent itself included")
    if not isinstance(view.seen, TargetLists):
        return voronoi_cells(view.agents, view.near, view.seen, told.range)
    rows = range(len(view.agents))
    own = [voronoi_cells(view.agents[k : k + 1], view.near, view.seen.targets(k), told.range) for k in rows]
    return Cells(*(np.concatenate(part) for part in zip(*own, strict=True)))
