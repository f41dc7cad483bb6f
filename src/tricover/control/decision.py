"""The decision of an agent from what it knows (paper, Section IV-B and Section VI).

A *follower* knows its own position, the positions of its three in-neighbours, the targets inside the triangle that
these form, and what it was told. From that follow its state s_i (a cell, or outside), the goal point h_i, the goal
cell g_i that holds it, the next cell π_i*(s_i), and the setpoint c_i, the middle of the reach set P_i:

    motion   agent                   next cell               reach set
    reach    anywhere                the goal cell           the goal point itself: P_i = {h_i}
    walk     inside its triangle     by the optimal policy   within the next cell, with margin η
    walk     inside, own policy      by that policy          within the next cell, with margin η
    walk     outside                 none (resolution 1)     within the triangle, around its centroid, with margin η
    both     triangle without area   none                    the mean of the in-neighbours
    morph    anywhere                none                    a point of its own, nested at every step: see ``morph``

A follower that has not heard of all its in-neighbours yet *waits*: it stays where it is. An *anchor* goes where it was
told to go. It has no cells.

With zones, ``walk`` goes around them. Cells that touch one are forbidden, and a goal cell that is, or that no walk over
free cells leads to, is replaced by the one that can be reached and whose centre is nearest to the goal point. Who is
not in a free cell (its triangle moved, its cells are too coarse, it is outside) goes to a free cell only if the way is
free: to the goal cell, else to the nearest. If there is none it *holds*: it stays where it is, and so does an anchor
whose way would meet a zone. (One that is in a zone, blown there, goes to the nearest free cell, to get out.)

Before all that is the *launch*, of K = ``told.launch`` steps: everybody flies straight from where it stood at step 0,
which it remembers, to its reference position. At step k it is to be at the share k/K of its way. Nobody has cells then.

``decide`` takes a batch of agents, one row each, and no row looks at another: a real agent calls it with one row, a
simulator with all. A goal point on a cell's edge belongs to one cell, by the rule of ``CellGrid.locate``.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.control.gathering import knowledge, looked_around
from tricover.control.hearing import unheard
from tricover.control.memory import SIGHTED, Memory, nothing_planned, rows_of
from tricover.control.near import own_cells
from tricover.control.planning import Replanned, moves_by_plan
from tricover.control.told import Told
from tricover.control.view import View
from tricover.errors import InputError
from tricover.geometry import OUTSIDE
from tricover.goals import cell_points, goal_cells
from tricover.goals.voronoi import within_triangles
from tricover.goals.zones import HELD, TOUCHING, UNTOUCHED
from tricover.targets import TargetLists

__all__ = ["GAVE_WAY", "HOLD", "NO_CELL", "Cells", "Decision", "cells_of", "decide"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_CELL = -2
"""The cell of agents that have none: anchors, and those who do not take part."""
HOLD = -3
"""The goal cell and the next cell of agents that stay where they are.

Every way would meet a zone, or they have not heard of all their in-neighbours yet.
"""
GAVE_WAY = -4
"""The next cell of agents that were not let go where they decided to, or not in one step.

They waited, went aside or made room, to keep apart.
"""


_FOLLOWS, _ANCHORS, _WAITS = range(3)


class Cells(NamedTuple):
    """Cells of a decision, (A,) each: -1 outside the triangle or where it has no area, -2 for anchors, -3 who holds.

    Attributes:
        state: s_i, the cell in which the agent stands.
        goal: g_i, the cell that holds its goal point.
        next: π*(s_i), the cell that it goes to; -1 where there is no policy to ask.
    """

    state: Ints
    goal: Ints
    next: Ints


@dataclass(frozen=True, eq=False)
class Decision:
    """What agents do, one row each.

    Attributes:
        goal_points: h_i, (A, 2), in metres; an anchor's place.
        setpoints: c_i, (A, 2), the middle of the reach set.
        cells: None for the motions ``reach`` and ``morph``, which ask for no cell; ``cells_of`` works them out.
        remembered: what agents keep of it, arrays (A, …) by name.
        replanned: plans that are new, where moves may fail; None: none is.
    """

    goal_points: Floats
    setpoints: Floats
    cells: Cells | None
    remembered: Memory = field(default_factory=dict)
    replanned: Replanned | None = None

    def rows(self, rows: Ints) -> "Decision":
        """What some of the agents do."""
        cells = None if self.cells is None else Cells(*(part[rows] for part in self.cells))
        return Decision(self.goal_points[rows], self.setpoints[rows], cells, rows_of(self.remembered, rows))


def decide(view: View, told: Told, memory: Memory) -> Decision:
    """What each agent does next: a function of what it knows, was told and remembers."""
    if view.step < told.launch:
        return _fly_to_place(view, told, memory)
    if told.hears_near and view.cells is None and not told.comes_to_rest(view.step):
        view = replace(view, cells=own_cells(view, told))
    kinds = _kinds(view, told)
    for kind, decide_alike in enumerate((_follow, _go_to_place, _wait)):
        if (kinds == kind).all():
            return decide_alike(view, told, memory)
    return _together(view, told, memory, kinds)


def _kinds(view: View, told: Told) -> NDArray[np.int8]:
    """What each agent is, (A,): one that follows, an anchor, or a follower that waits."""
    kinds = np.asarray(told.network.layer[view.agents] == 0).view(np.int8)
    if view.ages is not None:
        kinds[(kinds == _FOLLOWS) & unheard(view.ages)] = _WAITS
    return kinds


def _fly_to_place(view: View, told: Told, memory: Memory) -> Decision:
    pads, places = memory["place"], told.network.reference[view.agents]
    taken = view.step + 1
    # The last step ends at the place to the bit.
    setpoints = places if taken == told.launch else pads + taken / told.launch * (places - pads)
    cells = _no_cells(len(places)) if told.motion == "walk" else None
    return Decision(places, setpoints, cells, nothing_planned(len(places)) if told.motion == "morph" else {})


def _wait(view: View, told: Told, memory: Memory) -> Decision:
    here, count = view.positions, len(view.agents)
    cells = Cells(np.full(count, OUTSIDE), *np.full((2, count), HOLD)) if told.motion == "walk" else None
    return Decision(here, here, cells)


def _follow(view: View, told: Told, memory: Memory) -> Decision:
    if told.motion == "morph":
        return _morph(view, told, memory)
    goals, learned = _goals(view, told, memory, view.heard)
    if told.motion == "reach":
        return Decision(goals, goals, None, learned)
    cells, plans = _walk(view, told, memory, goals)
    if told.obstacles is not None:
        cells = _around(view, told, goals, cells)
    # As ``desired_configuration`` computes them: a team at rest and its desired positions agree to the bit.
    setpoints = cell_points(cells.next, view.heard, told.grid)
    without_area = cells.goal == OUTSIDE
    setpoints[without_area] = goals[without_area]
    if told.obstacles is not None:
        held = np.flatnonzero(cells.next == HOLD)
        setpoints[held] = view.positions[held]
    return Decision(goals, setpoints, cells, learned, plans)


def _goals(view: View, told: Told, memory: Memory, triangles: Floats) -> tuple[Floats, Memory]:
    """Goal points (A, 2) of followers in triangles (A, 3, 2), and what they remember of what they know."""
    if told.goal == "voronoi":
        rests = told.comes_to_rest(view.step)
        wanted = view.positions if rests else own_cells(view, told).centroids(view.positions)
        points = within_triangles(wanted, triangles, view.positions, told.rest)
        return told.with_room(points, view.agents, triangles), _looked(view, told, memory)
    if not isinstance(view.seen, TargetLists):
        return told.local_goal(view.agents, triangles, view.seen), {}
    known, learned = knowledge(view, told, memory, triangles)
    return told.local_goal(view.agents, triangles, known), learned


def _morph(view: View, told: Told, memory: Memory) -> Decision:
    from tricover.control.descent import descent_weights  # here, as others need not load it
    from tricover.control.morph import morph, weights_of_points

    if view.announced is None:
        raise InputError("morph needs what the in-neighbours announce: give View.announced, layer by layer")
    if told.goal == "descent":
        wanted, learned = descent_weights(view, told, memory), _looked(view, told, memory)
    else:
        points, learned = _goals(view, told, memory, view.announced)
        wanted = weights_of_points(view, told, points)
    goals, setpoints, remembered = morph(view, told, memory, wanted)
    return Decision(goals, setpoints, None, {**remembered, **learned})


def _walk(view: View, told: Told, memory: Memory, goals: Floats) -> tuple[Cells, Replanned | None]:
    """One move of the optimal policy; whoever is outside its triangle has none. And plans that are new."""
    from tricover.mdp import next_moves  # here, as a team that only reaches need not load it

    states = told.grid.holding(view.positions, view.heard)
    wanted = goal_cells(goals, view.heard, told.grid)
    if told.local_moves is not None:
        return Cells(states, wanted, told.local_moves(view, states, wanted)), None
    if told.plans:
        moves, plans = moves_by_plan(view, told, memory, states, wanted)
        return Cells(states, wanted, moves), plans
    moves = np.full(len(states), OUTSIDE, np.int64)
    inside = np.flatnonzero(states != OUTSIDE)
    if inside.size:
        parts = view.heard[inside], wanted[inside], states[inside]
        moves[inside] = next_moves(told.grid, *parts, alpha=told.alpha, beta=told.beta, gamma=told.gamma)
    return Cells(states, wanted, moves), None


def _around(view: View, told: Told, goals: Floats, cells: Cells) -> Cells:
    """The cells of agents near zones, who go around them; all others keep theirs."""
    from tricover.mdp import moves_around

    assert told.obstacles is not None
    parts = told.obstacles, told.grid, view.positions, view.heard, goals
    found = moves_around(*parts, alpha=told.alpha, beta=told.beta, gamma=told.gamma)
    touched, held = found.status != UNTOUCHED, found.status == HELD
    goal, following = np.where(held, HOLD, found.goal), np.where(held, HOLD, found.next)
    return Cells(cells.state, np.where(touched, goal, cells.goal), np.where(touched, following, cells.next))


def _looked(view: View, told: Told, memory: Memory) -> Memory:
    """What agents remember of what they see; nothing where they see everything."""
    return looked_around(view, told, memory) if isinstance(view.seen, TargetLists) else {}


def _go_to_place(view: View, told: Told, memory: Memory) -> Decision:
    setpoints, learned = _places(view, told, memory), _looked(view, told, memory)
    if told.motion != "walk":
        plan = nothing_planned(len(setpoints)) if told.motion == "morph" else {}
        return Decision(setpoints, setpoints, None, {**plan, **learned})
    cells = _no_cells(len(setpoints))
    if told.obstacles is None:
        return Decision(setpoints, setpoints, cells, learned)
    held = told.obstacles.crossed(view.positions, setpoints, TOUCHING) >= 0
    cells.goal[held] = cells.next[held] = HOLD
    return Decision(setpoints, np.where(held[:, None], view.positions, setpoints), cells, learned)


def _places(view: View, told: Told, memory: Memory) -> Floats:
    """Where anchors go, (A, 2): to their places, or by their Voronoi cells."""
    if told.free and told.comes_to_rest(view.step):
        return view.positions
    if told.free and told.goal == "descent":
        from tricover.control.descent import anchor_places

        return anchor_places(view, told)
    if told.free:
        centroids = own_cells(view, told).centroids(view.positions)
        moves = centroids - view.positions
        few = (moves * moves).sum(axis=1) < told.rest * told.rest
        return np.where(few[:, None], view.positions, centroids)
    places = np.empty((len(told.network), 2))
    places[told.network.anchors] = told.places(view.step)
    sent = places[view.agents]
    return np.where(np.isnan(sent), memory["place"], sent) if told.some_stay else sent


def _no_cells(count: int) -> Cells:
    return Cells(*np.full((3, count), NO_CELL))


def _together(view: View, told: Told, memory: Memory, kinds: NDArray[np.int8]) -> Decision:
    """Anchors and followers in one batch: each kind decides its own rows."""
    goals, setpoints = np.empty((2, len(kinds), 2))
    cells = _no_cells(len(kinds)) if told.motion == "walk" else None
    remembered: dict[str, NDArray[Any]] = nothing_planned(len(kinds)) if told.motion == "morph" else {}
    if isinstance(view.seen, TargetLists):
        remembered |= {name: np.array(memory[name]) for name in SIGHTED if name in memory}
    replanned = None
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind)
        part = decide(view.rows(rows), told, rows_of(memory, rows))
        goals[rows], setpoints[rows] = part.goal_points, part.setpoints
        if cells is not None and part.cells is not None:
            for whole, some in zip(cells, part.cells, strict=True):
                whole[rows] = some
        for name, values in part.remembered.items():
            remembered[name][rows] = values
        if part.replanned is not None:
            replanned = Replanned(rows[part.replanned.rows], part.replanned.plans)
    return Decision(goals, setpoints, cells, remembered, replanned)


def cells_of(view: View, told: Told, decision: Decision) -> Cells:
    """The cells of a decision, whatever the motion."""
    if decision.cells is not None:
        return decision.cells
    cells = _no_cells(len(view.agents))
    if view.step < told.launch:
        return cells
    kinds = _kinds(view, told)
    waits, rows = np.flatnonzero(kinds == _WAITS), np.flatnonzero(kinds == _FOLLOWS)
    cells.state[waits], cells.goal[waits], cells.next[waits] = OUTSIDE, HOLD, HOLD
    cells.state[rows] = told.grid.holding(view.positions[rows], view.heard[rows])
    ahead = view.heard if view.announced is None else view.announced  # the triangle in which it decided
    cells.goal[rows] = goal_cells(decision.goal_points[rows], ahead[rows], told.grid)
    cells.next[rows] = cells.goal[rows]
    if told.motion == "morph":
        cells.next[rows] = goal_cells(decision.setpoints[rows], ahead[rows], told.grid)
    return cells
