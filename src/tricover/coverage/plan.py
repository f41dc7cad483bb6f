"""Design a reference formation for known targets, so that the goal ``reference`` covers them almost as well as Lloyd's.

Algorithm 1 puts every follower inside its cell, whatever the formation, and the barycentric coordinates in that cell
are weights that reproduce its place. So Lloyd's optimum is itself the formation: agents that hear three others, and
sense no target, hold the configuration that Lloyd's algorithm needs everybody's position for. What is left to plan:

- where Lloyd's algorithm starts: it stops in the nearest local optimum. Optimal agents have a density like √f, so they
  start at equal steps of the spread Σ_j w_j f_j^{-1/2} along a space-filling curve through the targets. Then those who
  would be missed least are sent where most is left to gain, and Lloyd's algorithm goes on, while that lowers the cost.
  No chance is involved.
- a core: someone must stand inside the hull of the others. In a small team whose optimum has nobody there, the agent
  next to the targets' centroid stays there instead.
- more agents than places to cover: one goes to each, the others between them.
- the resolution: in cells, weights are rounded and the errors add up down the layers. The suggested one is the first of
  a geometric row whose rounding costs no more than 1%; a walk takes longer the finer the cells.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.coverage.lloyd import LloydResult, lloyd
from tricover.coverage.metrics import coverage_cost, find_nearest, present_targets
from tricover.coverage.voronoi import triangulate
from tricover.errors import FormationError, InputError
from tricover.geometry.hull import convex_hull
from tricover.goals import desired_configuration
from tricover.network import Network, build_network
from tricover.network.roster import scaled
from tricover.notebook import facts_as_html
from tricover.targets import Targets, as_targets

__all__ = ["Plan", "plan_formation", "plan_reference"]

Floats = NDArray[np.float64]

_ROUNDING = 1.01
_RESOLUTIONS = (5, 7, 10, 14, 20, 28, 35, 40, 57, 80, 113, 160, 226, 320, 453, 640, 905, 1280)
_CURVE = 16  # levels of the space-filling curve
_CONVERGED = 1e-6  # Lloyd's cost falls by less than this share of itself


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """A formation for known targets: use it with the mentee rule ``balanced`` and the goal ``reference``.

    Attributes:
        reference: reference positions (N, 2), Lloyd's optimum.
        anchors: desired positions of the network's anchors, in its order: their places in the formation.
        resolution: cells per side with which rounding costs no more than 1% (the finest tried where none does).
        network: the balanced network of the formation.
        cost: coverage cost in square metres, exact, and in cells of the resolution.
        cost_in_cells: the same with places rounded to cells.
    """

    reference: Floats
    anchors: Floats
    resolution: int
    network: Network
    cost: float
    cost_in_cells: float

    def __repr__(self) -> str:
        return (
            f"<Plan for {len(self.reference)} agents: {len(self.anchors)} anchors, depth {self.network.depth}, "
            f"resolution {self.resolution}, cost {self.cost:.6g}>"
        )

    def _repr_html_(self) -> str:
        return facts_as_html(
            {
                "agents": len(self.reference),
                "anchors": len(self.anchors),
                "depth": self.network.depth,
                "coverage cost, m²": f"{self.cost:.6g}",
                "resolution": self.resolution,
                "coverage cost in cells of it, m²": f"{self.cost_in_cells:.6g}",
            }
        )


def plan_formation(targets: Targets | ArrayLike, agents: int) -> Plan:
    """A formation of ``agents`` for still targets (of moving ones: ``targets.at(step)``).

    >>> import tricover as tc
    >>> field = tc.Targets([[x, y] for x in range(20) for y in range(20)])
    >>> plan = plan_formation(field, 25)
    >>> desired = tc.desired_configuration(plan.network, field, anchors=plan.anchors, goal="reference")
    >>> bool(np.abs(desired - plan.reference).max() < 1e-9)
    True
    """
    targets = as_targets(targets)
    reference = plan_reference(targets, agents)
    try:
        network = build_network(reference, "balanced")
    except FormationError as error:
        raise InputError(f"these targets have no formation of {agents} agents: {error}") from None
    resolution, rounded = _resolution(network, targets)
    anchors = reference[network.anchors]
    return Plan(reference, anchors, resolution, network, coverage_cost(reference, targets), rounded)


def plan_reference(targets: Targets | ArrayLike, agents: int) -> Floats:
    """The places (agents, 2) of a planned formation alone, without its network and resolution."""
    given: object = agents
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or agents < 4:
        raise InputError(f"agents must be a whole number from 4 on, not {agents!r}: three corners and a core")
    targets = as_targets(targets)
    points, weights = present_targets(targets)
    distinct = np.unique(points, axis=0)
    if not _spans_an_area(distinct):
        raise InputError("the targets stand on one line: a formation needs an area; add targets off the line")
    if len(distinct) <= agents:
        reference = _filled(distinct, agents)
    else:
        start = _start(points, weights, targets, agents)
        reference = _improved(lloyd(start, targets, tolerance=_CONVERGED), targets).positions
    return reference if _has_interior(reference) else _with_core(reference, targets)


def _start(points: Floats, weights: Floats, targets: Targets, agents: int) -> Floats:
    """Targets at equal steps of the spread along the curve, (agents, 2), all different."""
    density = targets.density if targets.weights is None else targets.density[targets.weights > 0]
    places, first = np.unique(points, axis=0, return_inverse=True)
    spread = np.bincount(first.ravel(), weights / np.sqrt(density))
    order = np.argsort(_along_curve(places), kind="stable")
    steps = np.cumsum(spread[order])
    picked = np.searchsorted(steps, (np.arange(agents) + 0.5) * (steps[-1] / agents))
    # Each its own target: push apart those that fell on the same one, forwards and then back from the end.
    row = np.arange(agents)
    picked = np.maximum.accumulate(picked - row) + row
    picked = np.minimum(picked, len(places) - agents + row)
    return np.asarray(places[order[picked]])


def _along_curve(points: Floats) -> NDArray[np.int64]:
    """Position of each point on Hilbert's curve through their bounding square."""
    points = scaled(points)
    low, size = points.min(axis=0), float(np.ptp(points, axis=0).max())
    x, y = ((points - low) * ((2**_CURVE - 1) / size)).astype(np.int64).T
    place = np.zeros(len(points), np.int64)
    for level in range(_CURVE - 1, -1, -1):
        right, up = (x >> level) & 1, (y >> level) & 1
        place = 4 * place + (3 * right ^ up)
        mirrored = (up == 0) & (right == 1)
        x, y = np.where(mirrored, ~x, x), np.where(mirrored, ~y, y)
        x, y = np.where(up == 0, y, x), np.where(up == 0, x, y)
    return place


def _improved(result: LloydResult, targets: Targets) -> LloydResult:
    """Relocate a tenth of the team at a time, and half as many where that does not help."""
    count = len(result.positions) // 10
    while count:
        trial = lloyd(_relocated(result.positions, targets, count), targets, tolerance=_CONVERGED)
        if trial.cost < result.cost:
            result = trial
        else:
            count //= 2
    return result


def _relocated(positions: Floats, targets: Targets, count: int) -> Floats:
    """Agents with the ``count`` least losses go next to those with the most cost, onto their farthest target."""
    points, weights = present_targets(targets)
    distances, nearest = find_nearest(positions, points, 2)
    squares, first = weights[:, None] * distances**2, nearest[:, 0]
    missed = np.bincount(first, squares[:, 1] - squares[:, 0], len(positions))
    costs = np.bincount(first, squares[:, 0], len(positions))
    farthest = np.full(len(positions), -1)
    order = np.argsort(squares[:, 0], kind="stable")
    farthest[first[order]] = order
    leaving = np.argsort(missed, kind="stable")[:count]
    costs[leaving] = -1.0
    crowded = np.argsort(-costs, kind="stable")[:count]
    moved = positions.copy()
    moved[leaving] = points[farthest[crowded]]
    return moved


def _filled(places: Floats, agents: int) -> Floats:
    """One agent at each place, and the others at the middles of the largest gaps between them: triangle by triangle."""
    reference = places
    while len(reference) < agents:
        triangles = triangulate(reference)
        corners = scaled(reference)[triangles]  # areas that do not underflow
        areas = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
        largest = np.argsort(-areas, kind="stable")[: agents - len(reference)]
        reference = np.concatenate([reference, reference[triangles[largest]].mean(axis=1)])
    return reference


def _spans_an_area(points: Floats) -> bool:
    try:
        return len(points) > 2 and len(convex_hull(points).vertices) > 2
    except FormationError:
        return False


def _has_interior(points: Floats) -> bool:
    return _spans_an_area(points) and len(convex_hull(points).vertices) < len(points)


def _with_core(reference: Floats, targets: Targets) -> Floats:
    """The same team with one agent held at the targets' centroid, or in the middle of the others if that is outside."""
    points, weights = present_targets(targets)
    centre = np.average(points, axis=0, weights=weights)
    core = int(np.argmin(((reference - centre) ** 2).sum(axis=1)))
    start = reference.copy()
    start[core] = centre
    held = np.array(lloyd(start, targets, fixed=[core], tolerance=_CONVERGED).positions)
    if not _has_interior(held):
        held[core] = np.delete(held, core, axis=0).mean(axis=0)
    if not _has_interior(held):
        raise InputError(f"{len(reference)} agents would stand on one line over these targets: take more agents")
    return held


def _resolution(network: Network, targets: Targets) -> tuple[int, float]:
    """The first resolution whose rounding costs no more than 1%, and the cost with it."""
    exact = coverage_cost(network.reference, targets)
    rounded = np.inf
    for resolution in _RESOLUTIONS:
        desired = desired_configuration(network, targets, goal="reference", resolution=resolution)
        rounded = coverage_cost(desired, targets)
        if rounded <= _ROUNDING * exact:
            break
    return resolution, float(rounded)
