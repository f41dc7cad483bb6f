"""Design a reference formation for known targets, so that the goal ``reference`` covers them almost as well as Lloyd's.

Algorithm 1 puts every follower inside its cell, whatever the formation, and the barycentric coordinates in that cell
are weights that reproduce its place. So Lloyd's optimum is itself the formation: agents that hear three others, and
sense no target, hold the configuration that Lloyd's algorithm needs everybody's position for. What is left to plan:

- where Lloyd's algorithm starts, and how it leaves the nearest local optimum for a better one: ``targets.placing``.
- a core: someone must stand inside the hull of the others. In a small team whose optimum has nobody there, the agent
  next to the targets' centroid stays there instead.
- more agents than places to cover: one goes to each, the others between them.
- the resolution: in cells, weights are rounded and the errors add up down the layers. The suggested one is the first of
  a geometric row whose rounding costs no more than 1%; a walk takes longer the finer the cells.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.coverage.lloyd import lloyd
from tricover.coverage.metrics import coverage_cost, present_targets
from tricover.coverage.voronoi import triangulate
from tricover.errors import FormationError, InputError
from tricover.geometry.hull import convex_hull
from tricover.goals import desired_configuration
from tricover.network import Network, build_network
from tricover.network.roster import scaled
from tricover.notebook import facts_as_html
from tricover.targets import Targets, as_targets
from tricover.targets.placing import improved, settle, start_places

__all__ = ["Plan", "plan_formation", "plan_reference"]

Floats = NDArray[np.float64]

_ROUNDING = 1.01
_RESOLUTIONS = (5, 7, 10, 14, 20, 28, 35, 40, 57, 80, 113, 160, 226, 320, 453, 640, 905, 1280)
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
        density = targets.density if targets.weights is None else targets.density[targets.weights > 0]
        start = start_places(points, weights / np.sqrt(density), agents)
        found = settle(start, points, weights, tolerance=_CONVERGED)
        reference = improved(found, points, weights, tolerance=_CONVERGED).places
    return reference if _has_interior(reference) else _with_core(reference, targets)


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
