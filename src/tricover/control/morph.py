"""The motion ``morph``: weights move, positions follow, and nobody ever meets.

An agent i has weights w_ij > 0 with sum 1 for its three in-neighbours j, and its place in the plan is

    r_i[t] = Σ_j w_ij[t] r_j[t],        with the in-neighbours' places of the *same* step.

So everybody is strictly inside its triangle at every step. *Nested triangles do not cross*: if the anchors' polygon is
convex with the core strictly inside, or at least a star around the core (``network.fan``), and every follower is
strictly inside the triangle of its in-neighbours' present places, then all cells have disjoint interiors. No two agents
coincide and no link crosses another. (By induction over the layers: an agent cuts its cell into three.)

Within a step agents decide layer by layer. Each hears from its in-neighbours where they will be (``View.announced``),
asks its goal rule in *that* triangle, and moves its weights towards those of its goal (``goals.nested``: strictly
inside). It remembers its weights and what was announced: that is the plan. Where vehicles really are does not feed
back into it, so that errors of the vehicles cannot undo the nesting.

*The whole way.* Between steps everybody goes straight. Nested at t and at t+1 does not make it so in between, so the
agent looks at its way: for each edge, twice the area between the edge and itself is a quadratic in time
(``geometry.nesting``), and its weight along the way must be at least half of the lesser of w_ik[t] and w_ik[t+1]. Else
it halves its step. To keep its weights is always possible: with the same weights of corners that go straight it goes
straight, and its weights on the way are the same, too.

*Speed.* Let v be the speed and M the depth. An agent of layer l goes at most c_l = v·(1 + l/M)/2 in a step. It can:
without a change of its weights it goes Σ_j w_ij (r_j[t+1] - r_j[t]), no farther than the farthest of its
in-neighbours, hence at most c_{l-1}. So v/2M are left for a step of its own at the least, and v/2 or more where the
in-neighbours rest.

*The first step* of an epoch. Agents may stand on edges then, as on a grid. Anchors wait, and all others keep the
weights of where they stand, brought a hair's breadth off the edges. From there on they are strictly inside.

*At rest.* When the in-neighbours rest, no step is halved (in a still triangle weights on the way are linear), so an
agent is at its goal after at most ⌈d / c_l⌉ steps, where d is the longest side of its triangle.

With a separation S asked for, goals leave that much room where there is any (``goals.room``), and a step is halved,
too, where it would bring the agent closer to an edge than S, than its goal is, and than it gets without a step of its
own. That is *not* a proof that S is kept: a triangle may shrink faster than its agent can go.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.control import _morph
from tricover.control.memory import Memory
from tricover.control.told import Told
from tricover.control.view import View
from tricover.geometry import combine
from tricover.goals.nested import nested_weights, standing_weights
from tricover.threads import in_ranges

__all__ = ["morph", "weights_of_points"]

Floats = NDArray[np.float64]


def weights_of_points(view: View, told: Told, points: Floats) -> Floats:
    """The weights (A, 3) that followers want whose goal rule gave them points (A, 2) in the announced triangles."""
    assert view.announced is not None
    below = told.network.descendants[view.agents]
    return nested_weights(points, view.announced, below, max(told.separation or 0.0, told.floor))


def morph(view: View, told: Told, memory: Memory, goals: Floats) -> tuple[Floats, Floats, Memory]:
    """Goal points (A, 2) and setpoints (A, 2) of followers, and what they remember of this step.

    ``goals`` (A, 3) are the weights that they want, in the triangles that were announced.
    """
    assert view.announced is not None
    following = view.announced
    plan = _plan(view, told, memory, goals)
    weights = np.empty_like(goals)
    in_ranges(lambda first, last: _morph.take_steps(plan, first, last, weights), len(weights))
    return combine(goals, following), combine(weights, following), {"weights": weights, "corners": following}


def _plan(view: View, told: Told, memory: Memory, goals: Floats) -> _morph.Plan:
    """Where agents and their in-neighbours are in the plan, and what they want."""
    weights, now = memory["weights"].copy(), memory["corners"].copy()
    separations = np.full(len(goals), told.separation or 0.0)
    wanted, points = goals.copy(), combine(weights, now)
    opens = np.flatnonzero(np.isnan(weights[:, 0]))  # the first step of an epoch: there is no plan yet
    if opens.size:
        points[opens], now[opens], separations[opens] = view.positions[opens], view.heard[opens], 0.0
        weights[opens] = standing_weights(points[opens], now[opens])
        below = told.network.descendants[view.agents[opens]]
        wanted[opens] = nested_weights(points[opens], now[opens], below, told.floor, 0.0)
    limits = told.limits[told.network.layer[view.agents]]
    assert view.announced is not None
    return _morph.Plan(points, now, view.announced, weights, wanted, limits, separations)
