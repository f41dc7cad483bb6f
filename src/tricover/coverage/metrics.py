"""How well a team covers the targets: distances from each target to the nearest agent.

With weights w_j, agents r_i and targets d_j, the coverage cost is the weighted mean squared distance

    J = Σ_j w_j min_i |d_j - r_i|² / Σ_j w_j,

which is what Lloyd's algorithm minimises. Sums run in a fixed order: same bits for any number of threads.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.formats.points import checked_positions
from tricover.network import Network
from tricover.targets import Targets, as_targets
from tricover.targets.placing import find_nearest

__all__ = ["Coverage", "assign", "coverage_cost", "has_targets", "measure_coverage", "present_targets"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """Weighted mean squared, weighted mean and largest distance from a target to the nearest agent, in metres.

    ``within`` is the share of the targets' weight within the sensing radius; ``idle`` the share of followers whose
    communication triangle holds no target. Both are None where they were not asked for.
    """

    cost: float
    mean: float
    largest: float
    within: float | None = None
    idle: float | None = None


def has_targets(targets: Targets) -> bool:
    """Whether coverage is defined for still targets: some have weight."""
    return len(targets) > 0 and (targets.weights is None or bool((targets.weights > 0).any()))


def present_targets(targets: Targets) -> tuple[Floats, Floats]:
    """Points (D, 2) and weights (D,) of still targets, without those that have no weight."""
    points, weights = targets.weighed()
    if not len(points):
        raise InputError("there are no targets at this step: coverage is undefined")
    return points, weights


def assign(positions: Floats, points: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Distance (D,) and index (D,) of the agent that is nearest to each point (D, 2)."""
    return find_nearest(positions, points, 1)


def coverage_cost(positions: ArrayLike, targets: Targets | ArrayLike) -> float:
    """Weighted mean squared distance, in square metres, from each target to the nearest of the agents (N, 2).

    >>> coverage_cost([[0, 0], [10, 0]], [[0, 1], [10, 2]])
    2.5
    """
    return measure_coverage(positions, targets).cost


def measure_coverage(
    positions: ArrayLike, targets: Targets | ArrayLike, *, radius: float | None = None, network: Network | None = None
) -> Coverage:
    """Figures of coverage of agents (N, 2), with a sensing ``radius`` and a ``network`` where these are given."""
    agents, targets = checked_positions(positions, dimensions=(2,)), as_targets(targets)
    points, weights = present_targets(targets)
    distances, _ = assign(agents, points)
    total = weights.sum()
    return Coverage(
        cost=float((weights * distances**2).sum() / total),
        mean=float((weights * distances).sum() / total),
        largest=float(distances.max()),
        within=None if radius is None else float(weights[distances <= radius].sum() / total),
        idle=None if network is None else _idle(agents, targets, network),
    )


def _idle(agents: Floats, targets: Targets, network: Network) -> float:
    counts, _ = targets.in_triangles(agents[network.in_neighbors[network.followers]])
    return float(np.mean(counts == 0))
