"""How far from its desired position an agent can be, once its in-neighbours are within their own radii.

An agent that may land anywhere in its reach set cannot converge to a point. Let ρ_j be the radii of its in-neighbours.
There are two bounds, and the certificate says for each agent which one is claimed.

*Proper radius.* Let the goal cell g stay the same, and let the agent stay in it. Then it lands at weights α from the
reach set of g. With ŵ the centre of g and p_i = Σ ŵ_j p_j,

    |r_i - p_i| ≤ max over the corners α of the reach set of   Σ_j α_j ρ_j + |Σ_j (α_j - ŵ_j) p_j|.

The first term are the weighted radii of the in-neighbours, the second is one cell of its own. The expression is convex
in α, so corners suffice.

- The goal cell stays the same if its weights do not depend on targets (goal ``reference``), or if the triangle does not
  move at all (all ρ_j = 0).
- The agent stays in it if the triangle's motion cannot carry it over the margin η around the reach set. Between two
  steps in-neighbour j moves by at most 2 ρ_j, so the point with weights α moves by at most δ = Σ_j 2 α_j ρ_j. A
  weight changes by at most δ/h, where h is the smallest height that the triangle can have. A cell is 1/M wide, so
  M·δ/h ≤ η is enough.
- At resolution 1 there is only one cell, and the agent cannot leave it.

*Containment.* Else all that is sure is that the agent lands in its triangle: |r_i - p_i| ≤ max_j |p_j - p_i| + ρ_j, and
never beyond the farthest anchor.

*Zones.* A goal cell that touches a zone is replaced by another one, and which cells touch one changes as the triangle
moves. So near a zone a proper radius is claimed only where the triangle does not move. An agent that holds then stays:
its radius is 0. Where it moves, an agent may hold outside of it, and nothing is claimed of it and of those below it:
the radius is infinite.

Deviation: adding up radii through all layers for the goal ``reference`` alone is not enough. In-neighbours that move by
more than the margin of its cells carry an agent into another cell, and the walk follows only one cell a step.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import Neighbourhood
from tricover.certificates.log import Settings
from tricover.formats.points import LARGEST
from tricover.geometry import CellGrid, as_zones, barycentric, flat, volumes
from tricover.goals import goal_cells
from tricover.network import Network

__all__ = ["neighbourhood"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FAR = 4 * LARGEST  # farther apart than any two positions can be


def neighbourhood(network: Network, desired: Floats, settings: Settings, exact: Flags, ideal: Flags) -> Neighbourhood:
    """Radii (N,) around desired positions (N, 2), layer by layer.

    ``exact`` and ``ideal`` (N,) are as in ``Settings``. Anchors may be off by the tolerance; the lost have radius 0.
    """
    radii, proper = np.zeros(len(desired)), np.ones(len(desired), np.bool_)
    radii[network.anchors] = settings.tolerance
    for agents in network.layers[1:]:
        corners = network.in_neighbors[agents]
        own, around, theirs = desired[agents], desired[corners], radii[corners]
        tight, stays = _landing(own, around, theirs, settings, exact[agents], ideal[agents])
        proper[agents], radii[agents] = stays, tight
        loose = np.flatnonzero(~stays)
        if loose.size:
            to_corners = np.linalg.norm(around[loose] - own[loose, None], axis=2)
            contained = (to_corners + theirs[loose]).max(axis=1)
            farthest = _farthest(own[loose], desired[network.anchors]) + settings.tolerance
            radii[agents[loose]] = np.minimum(contained, farthest)
        if settings.around is not None:
            near, held = _near_zones(own, around, theirs, settings)
            unknown = near & (theirs > 0).any(axis=1)  # whoever hears one that may be anywhere has zones near, too
            radii[agents[held]] = 0.0
            radii[agents[unknown]] = _FAR
            proper[agents] = np.where(near, ~unknown, proper[agents])
    return Neighbourhood(desired, np.where(radii >= _FAR, np.inf, radii), proper)


def _near_zones(own: Floats, around: Floats, radii: Floats, settings: Settings) -> tuple[Flags, Flags]:
    """Which agents (K,) have a zone near them or near their triangles, and which of these hold, or have no cells."""
    assert settings.around is not None
    zones, reach = as_zones(settings.around), radii.max(axis=1)[:, None]
    low = np.minimum(own, around.min(axis=1)) - reach
    high = np.maximum(own, around.max(axis=1)) + reach
    boxes = zones.field.boxes
    near: Flags = np.any([((box[2:] >= low) & (box[:2] <= high)).all(axis=1) for box in boxes], axis=0)
    held, grid = np.zeros(len(own), np.bool_), CellGrid(settings.resolution)
    for row in np.flatnonzero(near):
        here = slice(row, row + 1)
        [cell] = grid.holding(own[here], around[here])
        held[row] = cell < 0 or zones.cells(around[here], grid)[0, cell]
    return near, held


def _farthest(points: Floats, others: Floats) -> Floats:
    """Largest distance (K,) of points (K, 2) to any of the others."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, others).max(axis=1))


def _landing(
    own: Floats, around: Floats, radii: Floats, settings: Settings, exact: Flags, ideal: Flags
) -> tuple[Floats, Flags]:
    """Proper radii (K,), and for which agents they are sure, from desired positions and in-neighbours' radii (K, 3)."""
    tight, stays = np.full(len(own), np.inf), np.zeros(len(own), np.bool_)
    places = np.flatnonzero(~flat(around))
    if not places.size:
        return tight, stays
    own, around, radii = own[places], around[places], radii[places]
    weights, middle, margin = _reach_sets(own, around, settings, exact[places])
    weighted = np.vecdot(weights, radii[:, None])  # Σ_j α_j ρ_j at each corner of the reach set
    own_cell = np.linalg.norm((weights - middle[:, None]) @ around, axis=2)
    tight[places] = (weighted + own_cell).max(axis=1)
    fixed = (radii == 0).all(axis=1) | (settings.goal == "reference")
    if settings.motion == "walk":
        motion = 2 * weighted.max(axis=1)
        longest = np.linalg.norm(around - np.roll(around, 1, axis=1), axis=2).max(axis=1)
        # The smallest height is the triangle's least width: it shrinks by no more than two corners move.
        heights = np.abs(volumes(around)) / longest - 2 * radii.max(axis=1)
        one_cell = settings.resolution == 1
        stays[places] = one_cell | (fixed & (settings.resolution * motion <= margin * heights))
    else:
        stays[places] = fixed & ideal[places]
    return tight, stays


def _reach_sets(own: Floats, around: Floats, settings: Settings, exact: Flags) -> tuple[Floats, Floats, Floats]:
    """Weights of the corners of reach sets (K, 3, 3) and of their middles (K, 3), and the margin around them (K,)."""
    if settings.motion != "walk":
        middle = barycentric(own, around)
        return np.repeat(middle[:, None], 3, axis=1), middle, np.zeros(len(own))
    grid = CellGrid(settings.resolution)
    cells = goal_cells(own, around, grid)
    middle, margin = grid.weights[cells], np.where(exact, 1 / 3, settings.margin)
    shrink = (1 - 3 * margin)[:, None, None]
    corners = middle[:, None] + shrink * (grid.corners(cells) - middle[:, None])
    return corners, middle, margin
