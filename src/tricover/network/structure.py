"""Algorithm 1 on arrays: from the roster and who is alive to layers and in-neighbours.

The structure is a pure function of the roster and of who is alive. Boundary and core are taken among the living. Each
cell ranks its roster members by the mentee rule and takes the best one alive; the rest fall into its child cells. So
agents that agree on who is alive agree on the network without talking, and losing a follower changes nothing outside
the cell that it was the mentee of.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FormationError, InputError
from tricover.geometry.hull import Hull, convex_hull, fan_cones, inside_hull
from tricover.network import _kernels
from tricover.network._kernels import Links, Members, Room, Stack
from tricover.network.core import Choice, choose_core
from tricover.network.mentees import RULES, MenteeRule
from tricover.network.roster import scaled
from tricover.own import check_form, found
from tricover.threads import in_ranges, work_off

__all__ = [
    "Structure",
    "build_structure",
    "by_layer",
    "children_of",
    "count_descendants",
    "fill_structure",
    "parents_and_slots",
    "repair_structure",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Indices = NDArray[np.int64]
Alive = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)

_BUDGET = 1_000_000  # members handled before a thread shares what is left of its stack
_ROOM = 256  # more than n·log₂N cells for any N


@dataclass(frozen=True)
class Structure:
    """Boundary agents, core, and for each agent in-neighbours, layer (-1: lost) and descendants below each child."""

    boundary: Indices
    core: int
    in_neighbors: Ints
    layer: Ints
    descendants: Ints


@dataclass(frozen=True)
class _Cells:
    """Cells to be filled: corner agents (C, n+1), layer of the mentee (C,), and members from cuts[c] to cuts[c+1]."""

    corners: Ints
    layers: Ints
    members: Indices
    cuts: Indices


def build_structure(reference: Floats, alive: Alive, mentee: str | MenteeRule, core: Choice) -> Structure:
    """Algorithm 1 from the hull down."""
    places = scaled(reference)
    hull = _hull_of(places, np.flatnonzero(alive))
    core_agent = choose_core(reference, places, hull.vertices, alive, core)
    structure = _nobody_below(hull.vertices, core_agent, reference, alive)
    belongs = alive.copy()
    belongs[hull.vertices] = belongs[core_agent] = False
    belongs[_inside(places, hull, np.flatnonzero(~alive))] = True
    agents = np.flatnonzero(belongs)
    cones = fan_cones(places, hull, core_agent, agents)
    fan = _fan(hull, core_agent)
    _fill(structure, reference, places, alive, mentee, _grouped(agents, cones, fan, np.ones(len(fan), np.int32)))
    return structure


def fill_structure(
    reference: Floats, alive: Alive, mentee: str | MenteeRule, boundary: Indices, core: int, first_cells: Indices
) -> Structure:
    """Algorithm 1 from given first cells down, in the plane.

    Cell h lies between boundary agents h and h+1 and the core. ``first_cells`` (N,) says to which of them each living
    follower belongs.
    """
    structure = _nobody_below(boundary, core, reference, alive)
    belongs = alive.copy()
    belongs[boundary] = belongs[core] = False
    agents = np.flatnonzero(belongs)
    fan = np.column_stack([boundary, np.roll(boundary, -1), np.full(len(boundary), core)]).astype(np.int32)
    cells = _grouped(agents, first_cells[agents], fan, np.ones(len(fan), np.int32))
    _fill(structure, reference, scaled(reference), alive, mentee, cells)
    return structure


def _nobody_below(boundary: Indices, core: int, reference: Floats, alive: Alive) -> Structure:
    """A structure of anchors alone, with room for everybody."""
    count, corners = len(reference), reference.shape[1] + 1
    return Structure(
        boundary,
        core,
        np.full((count, corners), -1, np.int32),
        np.where(alive, 0, -1).astype(np.int32),
        np.zeros((count, corners), np.int32),
    )


def repair_structure(
    before: Structure, reference: Floats, alive: Alive, mentee: str | MenteeRule, core: Choice
) -> Structure:
    """The structure of those still alive, from the structure before: only subtrees that lost their top are redone.

    Equal to ``build_structure`` with the same arguments.
    """
    lost = (before.layer >= 0) & ~alive
    if lost[before.boundary].any() or lost[before.core]:
        return build_structure(reference, alive, mentee, core)
    places = scaled(reference)
    after = Structure(
        before.boundary, before.core, before.in_neighbors.copy(), before.layer.copy(), before.descendants.copy()
    )
    tops = _topmost(before, lost)
    dead = np.flatnonzero(before.layer < 0)
    deepest = _deepest_cells(before, places, dead)
    tops[dead] = np.where(deepest >= 0, tops[deepest], -1)
    members = np.flatnonzero(tops >= 0)
    redone, group = np.unique(tops[members], return_inverse=True)
    after.in_neighbors[members] = -1
    after.layer[members] = -1
    cells = _grouped(members, group, before.in_neighbors[redone], before.layer[redone])
    _fill(after, reference, places, alive, mentee, cells)
    after.descendants[:] = count_descendants(after.in_neighbors, after.layer)
    return after


def _topmost(structure: Structure, lost: Alive) -> Indices:
    """For each agent the highest lost mentee at or above it, -1 if there is none."""
    parents, _ = parents_and_slots(structure.in_neighbors, structure.layer)
    tops = np.where(lost, np.arange(len(lost)), -1)
    for followers in by_layer(structure.layer)[1:]:
        inherited = np.where(parents[followers] >= 0, tops[parents[followers]], -1)
        tops[followers] = np.where(inherited >= 0, inherited, tops[followers])
    return tops


def _deepest_cells(structure: Structure, places: Floats, agents: Indices) -> Ints:
    """For each agent that is not in the structure the mentee of the deepest cell that holds it, or -1."""
    mentees = np.full(len(agents), -1, np.int32)
    if not agents.size:
        return mentees
    hull = _hull_of(places, np.append(structure.boundary, structure.core))
    inside = np.isin(agents, _inside(places, hull, agents))
    first = {tuple(structure.in_neighbors[i].tolist()): i for i in np.flatnonzero(structure.layer == 1).tolist()}
    cell_mentees = np.array([first.get(tuple(row), -1) for row in _fan(hull, structure.core).tolist()], np.int32)
    mentees[inside] = cell_mentees[fan_cones(places, hull, structure.core, agents[inside])]
    parents, slots = parents_and_slots(structure.in_neighbors, structure.layer)
    children = np.full(structure.in_neighbors.shape, -1, np.int32)
    deeper = np.flatnonzero(parents >= 0)
    children[parents[deeper], slots[deeper]] = deeper
    _kernels.descend((0,) * places.shape[1], places, structure.in_neighbors, children, agents, mentees)
    return mentees


def parents_and_slots(in_neighbors: Ints, layer: Ints) -> tuple[Ints, Indices]:
    """For each agent the mentee of the cell above its own (-1 in layers 0 and 1), and which child of it the cell is.

    The parent is the in-neighbour of the highest layer, and it stands where the corner was that it replaced.
    """
    slots = np.argmax(layer[in_neighbors], axis=1)
    parents = np.where(layer > 1, in_neighbors[np.arange(len(layer)), slots], -1)
    return parents.astype(np.int32), slots


def children_of(in_neighbors: Ints, layer: Ints) -> Indices:
    """The mentee of each child cell, (N, n+1); -1 where it has none. Child k has the agent in the place of corner k."""
    parents, slots = parents_and_slots(in_neighbors, layer)
    children = np.full(in_neighbors.shape, -1, np.int64)
    deeper = np.flatnonzero(parents >= 0)
    children[parents[deeper], slots[deeper]] = deeper
    return children


def count_descendants(in_neighbors: Ints, layer: Ints) -> Ints:
    """Followers below each child cell, (N, n+1), from the deepest layer up."""
    parents, slots = parents_and_slots(in_neighbors, layer)
    descendants = np.zeros(in_neighbors.shape, np.int32)
    for followers in by_layer(layer)[:1:-1]:
        descendants[parents[followers], slots[followers]] = 1 + descendants[followers].sum(axis=1)
    return descendants


def by_layer(layer: Ints) -> list[Indices]:
    """Agents of each layer, ascending: V_0, V_1, …, V_M."""
    living = np.flatnonzero(layer >= 0)
    order = living[np.argsort(layer[living], kind="stable")]
    return np.split(order, np.searchsorted(layer[order], np.arange(1, int(layer.max()) + 1)))


def _hull_of(places: Floats, living: Indices) -> Hull:
    if len(living) < places.shape[1] + 2:
        raise FormationError(f"only {len(living)} agents are left: a network needs at least {places.shape[1] + 2}")
    hull = convex_hull(places[living])
    return Hull(living[hull.vertices], living[hull.facets].astype(np.int32), hull.across)


def _inside(places: Floats, hull: Hull, agents: Indices) -> Indices:
    return agents[inside_hull(places, hull, agents)]


def _fan(hull: Hull, core: int) -> Ints:
    return np.column_stack([hull.facets, np.full(len(hull.facets), core, np.int32)])


def _grouped(agents: Indices, group: NDArray[np.integer], corners: Ints, layers: Ints) -> _Cells:
    """Cells with the agents of each group, ascending."""
    if len(corners) < 2**16:
        group = group.astype(np.uint16)  # sorts in linear time
    order = np.argsort(group, kind="stable")
    cuts = np.searchsorted(group[order], np.arange(len(corners) + 1))
    return _Cells(corners, layers, agents[order], cuts)


def _fill(
    structure: Structure, reference: Floats, places: Floats, alive: Alive, mentee: str | MenteeRule, todo: _Cells
) -> None:
    """Fill in everybody below the given cells."""
    own = _own_rule(mentee)
    members, size, n = todo.members, len(todo.members), places.shape[1]
    axes = (0,) * n
    ids, buffers = np.empty((2, size), np.int32), np.empty((2, n, size))

    def lay_out(first: int, last: int) -> None:
        some = members[first:last]
        ids[0, first:last] = np.where(alive[some], some, ~some)
        buffers[0, :, first:last] = places.take(some, axis=0).T

    in_ranges(lay_out, size)
    everybody = Members(ids, buffers, np.empty(size, np.int8), np.empty(size))
    links = Links(structure.in_neighbors, structure.layer, structure.descendants)
    planes, sizes = np.empty((n + 1, n + 1, 2 * n + 1)), np.empty((3, n + 1), np.int64)

    def grow(given: Stack) -> list[Stack]:
        waiting = len(given.cells)
        cells, spans = stack = Stack(_with_room(given.cells), _with_room(given.spans))
        if own is None:
            waiting = _kernels.grow(axes, RULES[str(mentee)], places, everybody, stack, waiting, _BUDGET, links)
        while own is not None and waiting:
            chosen = _user_choice(own, reference, ids, cells[waiting - 1], spans[waiting - 1])
            room = Room(places[cells[waiting - 1]], planes, sizes)
            waiting = _kernels.place(axes, everybody, stack, waiting, chosen, room, links)
        return [Stack(cells[part:waiting:2], spans[part:waiting:2]) for part in range(min(waiting, 2))]

    spans = np.column_stack([todo.cuts[:-1], todo.cuts[1:], np.zeros(len(todo.layers), np.int64), todo.layers])
    living = np.diff(np.append(0, np.cumsum(alive[members]))[todo.cuts])
    work_off(grow, [Stack(todo.corners[living > 0], spans[living > 0])])


def _with_room(rows: NDArray[Number]) -> NDArray[Number]:
    return np.concatenate([rows, np.empty((_ROOM, rows.shape[1]), rows.dtype)])


def _own_rule(mentee: str | MenteeRule) -> MenteeRule | None:
    """A rule of the user's own, of the right form; None for one of ours."""
    if isinstance(mentee, str) and mentee in RULES:
        return None
    rule: MenteeRule = found(mentee) if isinstance(mentee, str) else mentee
    check_form(rule, "a mentee rule", "corners", "members")
    return rule


def _user_choice(rule: MenteeRule, reference: Floats, ids: Ints, cell: Ints, span: Indices) -> int:
    """Position of the living member that a user's rule scores least."""
    start, stop, side, _ = span
    marked = ids[side, start:stop]
    members = np.where(marked < 0, ~marked, marked)
    scores = np.asarray(rule(reference[cell], reference[members]), dtype=np.float64)
    name = getattr(rule, "__name__", "given")
    if scores.shape != members.shape:
        raise InputError(f"mentee rule {name!r} gave scores of shape {scores.shape} for {len(members)} members")
    if np.isnan(scores).any():
        raise InputError(f"mentee rule {name!r} gave no number for agent {members[np.isnan(scores)][0]}")
    living = np.flatnonzero(marked >= 0)
    return int(start + living[np.argmin(scores[living])])
