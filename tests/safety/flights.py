"""Pads, plans and their flights for the tests, and how close agents come by exact arithmetic."""

from fractions import Fraction

import numpy as np
from scipy.optimize import linear_sum_assignment

import tricover as tc


def exact_approach(starts, ends):
    """Least squared distance of any two on a flight: the closest few pairs of all, by rational arithmetic."""
    first, second = np.triu_indices(len(starts), 1)
    u, w = starts[first] - starts[second], ends[first] - ends[second]
    change = w - u
    squared = (change**2).sum(axis=1)
    shares = np.clip(-(u * change).sum(axis=1) / np.where(squared > 0, squared, 1), 0, 1)
    distances = np.hypot(*(u + shares[:, None] * change).T)
    # Differences are taken anew, without rounding: only the candidates come from floating point.
    found = []
    for pair in np.argsort(distances)[:8]:
        i, j = first[pair], second[pair]
        found.append(_exact(*(_difference(points[i], points[j]) for points in (starts, ends))))
    return min(found)


def _difference(one, other):
    return [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(one, other, strict=True)]


def _exact(u, w):
    """Least squared length of a difference that goes straight from u to w."""
    change = [b - a for a, b in zip(u, w, strict=True)]
    squared = sum(c * c for c in change)
    share = min(max(-sum(a * c for a, c in zip(u, change, strict=True)) / squared, 0), 1) if squared else 0
    return sum((a + share * c) ** 2 for a, c in zip(u, change, strict=True))


def apart(points):
    """Least distance of two points, by all pairs."""
    first, second = np.triu_indices(len(points), 1)
    return float(np.hypot(*(points[first] - points[second]).T).min())


def least_distances(starts, places):
    """The wrong way: places by the least sum of distances."""
    ways = starts[:, None] - places
    return linear_sum_assignment(np.hypot(ways[..., 0], ways[..., 1]))[1]


def pads_and_plan(seed):
    """A pad grid, turned and shuffled, beside a field, and a plan for the field's targets: both (N, 2)."""
    rng = np.random.default_rng(seed)
    agents, spacing = int(rng.integers(8, 60)), rng.uniform(1.0, 6.0)
    columns = int(rng.integers(2, 10))
    grid = spacing * np.stack([np.arange(agents) % columns, np.arange(agents) // columns], axis=1)
    angle = rng.uniform(0, np.pi)
    turned = grid @ [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]] + rng.uniform(-200, 200, 2)
    size = rng.uniform(20, 200)
    centres = rng.uniform(0, size, (int(rng.integers(1, 6)), 2))
    targets = rng.choice(centres, 40 * agents) + rng.normal(size=(40 * agents, 2)) * size * rng.uniform(0.05, 0.4)
    return turned[rng.permutation(agents)], tc.plan_formation(targets, agents).reference
