"""Descent: layers move in turn, all below are carried along, and the coverage cost never rises.

Let m_i and c_i be mass and centroid of agent i's Voronoi cell, r_i its place, and w_ki the weight that agent k, which
listens to i, has for it. Every agent sends three numbers up each of its links, from k to i:

    w_ki·A_k and w_ki·H_k,       A_i = m_i (c_i - r_i) + Σ_k w_ki A_k,      H_i = m_i + Σ_k w_ki H_k.

A step belongs to one layer. Its agents go towards the point of their triangles that is closest to r_i + A_i/H_i. All
others keep their weights, and are carried along by those above them (the motion ``morph``).

Anchors have turns, too: the core, every other boundary agent, then those between them. So the two agents beside a
boundary agent and the core rest while it goes straight towards r_i + A_i/H_i, and the areas of its two first cells are
linear in what it has gone. It goes so far that each keeps half of its area, and that none becomes a needle: the polygon
stays a star around the core. For that, boundary agents have to hear the core and those beside them, and the core hears
the boundary.

*Why the cost does not rise.* Let Δ_i be what agent i of the layer moves, and let D_j = Σ_i W_ji Δ_i be what that moves
an agent j, W_ji the products of weights along all links from i down to j, summed up. W_ji ≥ 0 and Σ_i W_ji ≤ 1. If
every target stays with its agent, the sum of squares changes by

    Σ_j m_j (|D_j|² - 2 D_j·(c_j - r_j)) ≤ Σ_i (H_i |Δ_i|² - 2 Δ_i·A_i),

as |D_j|² ≤ Σ_i W_ji |Δ_i|² by Jensen's inequality. To give targets to who is nearest then lowers it further. With x the
point r_i + A_i/H_i and its closest point in the triangle at r_i + δ, δ·A_i ≥ H_i|δ|² (``geometry.closest``), and for a
part of the way, Δ = s·δ with s from 0 to 1, H|Δ|² - 2Δ·A ≤ (s² - 2s)·H|δ|² ≤ 0. So any part of the way will do, as
the speed allows, and the cost falls in every step in which somebody moves.

*The triangle* is inset: weights are at least ε, as with other goals of teams that morph (``goals.nested``), or what
they are now if that is less. Whoever would move by less than a thousandth of the mean spacing keeps its weights. So
there are finitely many moves, and the team comes to rest.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.control.near import own_cells
from tricover.control.rows import Memory
from tricover.control.told import Told
from tricover.control.view import View
from tricover.errors import InputError
from tricover.geometry import combine, volumes
from tricover.geometry.closest import closest_points, inset_triangles
from tricover.geometry.simplices import longest_sides
from tricover.goals.nested import EPSILON, standing_weights
from tricover.network.fan import fan_of

__all__ = ["anchor_places", "descent_weights", "pull", "weights_now"]

Floats = NDArray[np.float64]

_THIN = 1e-3  # areas over squares of longest sides: anchors make no first cell thinner than this
_NEEDLE = 1e-7  # followers keep their weights in triangles that are thinner than this


def weights_now(view: View, memory: Memory) -> Floats:
    """The weights (A, 3) of followers that morph: of their plan, or of where they stand before they have one."""
    weights = memory["weights"].copy()
    opens = np.flatnonzero(np.isnan(weights[:, 0]))
    weights[opens] = standing_weights(view.positions[opens], view.heard[opens])
    return weights


def pull(view: View, told: Told, memory: Memory) -> Floats:
    """What followers send to each of their three in-neighbours, (A, 3, 3): w·A in two numbers, and w·H."""
    return np.asarray(weights_now(view, memory)[:, :, None] * _pulls(view, told)[:, None])


def _pulls(view: View, told: Told) -> Floats:
    """A_i and H_i, (A, 3)."""
    if view.pulled is None:
        raise InputError("descent needs what comes up the links: give View.pulled")
    cells = own_cells(view, told)
    return np.column_stack([cells.moments, cells.masses]) + view.pulled


def descent_weights(view: View, told: Told, memory: Memory) -> Floats:
    """The weights (A, 3) that followers want, in the triangles that were announced."""
    weights = weights_now(view, memory)
    rows = np.flatnonzero(_turns(told)[view.agents] == view.step % told.round)
    if rows.size and not told.comes_to_rest(view.step):
        assert view.announced is not None
        weights[rows] = _moved(view.rows(rows), told, weights[rows])
    return weights


def _turns(told: Told) -> NDArray[np.int64]:
    """In which step of a round each agent of the roster moves, (N,); -1: never."""
    network, count = told.network, len(told.network.boundary)
    turns = np.where(network.layer > 0, network.layer - 1 + told.anchor_turns, -1)
    if told.free:
        turns[network.core] = 0
        turns[network.boundary] = 1 + np.arange(count) % 2
        if count % 2:  # the last is beside the first
            turns[network.boundary[-1]] = 3
    return np.asarray(turns)


def anchor_places(view: View, told: Told) -> Floats:
    """Where anchors go, (A, 2): those whose turn it is, and who hear all the others that their first cells have."""
    places = view.positions.copy()
    for row in np.flatnonzero(_turns(told)[view.agents] == view.step % told.round).tolist():
        places[row] += _way(view.rows(np.array([row])), told)
    return places


def _way(view: View, told: Told) -> Floats:
    """How far one anchor goes, (2,)."""
    near, pulls, agent = view.near, _pulls(view, told)[0], int(view.agents[0])
    assert near is not None
    cells = told.network.anchors[fan_of(told.network)]
    cells = cells[(cells == agent).any(axis=1)]
    rows = np.searchsorted(near.agents, cells)
    heard = np.isin(cells, near.agents).all() and pulls[2] > 0
    way = pulls[:2] / pulls[2] if heard else np.zeros(2)
    length = float(np.hypot(*way))
    if length < told.rest:
        return np.zeros(2)
    way = way * min(1.0, float(told.limits[0]) / length)
    corners = near.positions[rows]
    before, after = volumes(corners), volumes(np.where((cells == agent)[..., None], corners + way, corners))
    least = np.minimum(before, np.maximum(before / 2, _THIN * longest_sides(corners) ** 2))
    shrinks = after < least
    room = np.where(shrinks, before - least, 1.0) / np.where(shrinks, before - after, 1.0)
    return np.asarray(way * min(1.0, float(room.min())))


def _moved(view: View, told: Told, weights: Floats) -> Floats:
    """The weights (A, 3) of agents whose turn it is."""
    assert view.announced is not None
    pulls, places = _pulls(view, told), combine(weights, view.announced)
    mass = pulls[:, 2:]
    wanted = places + np.where(mass > 0, pulls[:, :2] / np.where(mass > 0, mass, 1.0), 0.0)
    least = np.minimum(EPSILON, weights)
    found = closest_points(wanted, inset_triangles(view.announced, least))
    away = found - places
    goes = (away * away).sum(axis=1) >= told.rest * told.rest
    # In a needle, weights of a point are lost in rounding.
    goes &= np.abs(volumes(view.announced)) > _NEEDLE * longest_sides(view.announced) ** 2
    return np.where(goes[:, None], standing_weights(found, view.announced), weights)
