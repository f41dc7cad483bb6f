"""Networks at every scale: formations of extreme and mixed sizes against exact arithmetic.

``TRICOVER_CASES`` sets how many formations are tried, in the plane and, a third as many, in space.
"""

import os
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import tricover as tc
from tests.network import oracle
from tests.network.test_structure import fan_of
from tricover.errors import FormationError

CASES = int(os.environ.get("TRICOVER_CASES", "240"))
SMALLEST_SHARE = Fraction(10) ** -75
LARGEST = Fraction(1e100)


# --- formations ------------------------------------------------------------------------------------------------------


def any_exponents(rng, n):
    """Coordinates of all sizes, zeros among them."""
    span = rng.choice([5, 20, 40, 74])
    points = rng.choice([-1.0, 1.0], (12, n)) * 10.0 ** rng.uniform(-span, 0, (12, n))
    return np.where(rng.random(points.shape) < 0.15, 0.0, points)


def nested_teams(rng, n):
    """A team, the same team some decades smaller inside it, and once more."""
    team = rng.integers(-4, 5, (6, n)) / 4.0
    share = 10.0 ** -rng.integers(1, 37)
    return np.concatenate([team, team * share, team * share * share])


def cluster(rng, n):
    """A tiny cluster at the origin or at some point of an ordinary team."""
    middle = rng.choice([0.0, 0.0, 0.1], n)
    tiny = middle + 10.0 ** -rng.uniform(1, 70) * rng.normal(size=(7, n))
    return np.concatenate([rng.normal(size=(6, n)), tiny])


def lattice(rng, n):
    return rng.integers(-2, 3, (16, n)) * rng.choice([1.0, 0.1, 1 / 3])


def flattened(rng, n):
    """A lattice or a random team with axes of very different scale."""
    team = lattice(rng, n) if rng.random() < 0.5 else rng.normal(size=(12, n))
    return team * 10.0 ** -rng.integers(0, 74, n)


def collinear(rng, n):
    """Agents on a line, as well as rounding lets them, inside a few corners."""
    along = np.outer(rng.integers(-9, 10, 9) / rng.choice([1, 7, 16]), rng.integers(-3, 4, n) / 3)
    return np.concatenate([9 * np.eye(n), -9 * np.eye(n), along + rng.choice([0.0, 0.1])])


def on_a_circle(rng, n):
    """Whole points on one circle or sphere, and some inside at equal distances."""
    ring = np.array([[3, 4], [4, 3], [5, 0], [0, 5], [-3, 4], [4, -3], [-4, -3], [-3, -4], [0, -5], [-5, 0]], float)
    points = np.concatenate([ring, ring[rng.permutation(10)[:6]] * rng.choice([0.5, 0.2])])
    if n == 3:
        points = np.insert(points, rng.integers(3), rng.choice([0.0, 0.0, 1.0, -1.0], len(points)), axis=1)
    return points


def side_by_side(rng, n):
    """Agents that are a few units in the last place apart."""
    points = np.concatenate([lattice(rng, n), rng.normal(size=(3, n))])
    twins = points[rng.integers(0, len(points), 6)]
    return np.concatenate([points, twins + rng.integers(-2, 3, twins.shape) * np.spacing(twins)])


KINDS = [any_exponents, nested_teams, cluster, lattice, flattened, collinear, on_a_circle, side_by_side]


def formation(case, n):
    """One of the kinds, at one of many scales, in any order; sometimes nudged off its lines by a rounding error."""
    rng = np.random.default_rng([case, n])
    points = KINDS[case % len(KINDS)](rng, n)
    if rng.random() < 0.3:
        points = points + rng.integers(-1, 2, points.shape) * np.where(points == 0, 0.0, np.spacing(points))
    if rng.random() < 0.2:
        points = points + rng.choice([1.0, 1e3, 1e9]) * np.abs(points).max()
    points = points * rng.choice([1.0, 10.0 ** rng.integers(-300, 95), 2.0 ** rng.integers(-1000, 300)])
    if rng.random() < 0.95:
        points = np.unique(points, axis=0)
    return points[rng.permutation(len(points))][: 16 if n == 2 else 11]


# --- exact answers ---------------------------------------------------------------------------------------------------


def whole_numbers(points):
    """The points times a power of two that makes whole numbers of them: signs are the same, and quicker."""
    exact = oracle.as_fractions(points)
    scale = max(x.denominator for row in exact for x in row)
    return [tuple(int(x * scale) for x in row) for row in exact]


def rank(rows):
    rows, found = [list(row) for row in rows], 0
    for axis in range(len(rows[0])):
        pivot = next((row for row in rows[found:] if row[axis]), None)
        if pivot is not None:
            rows.remove(pivot)
            rows.insert(found, pivot)
            for row in rows[found + 1 :]:
                factor = row[axis]
                row[:] = [a * pivot[axis] - factor * b for a, b in zip(row, pivot, strict=True)]
            found += 1
    return found


def normal(corners):
    """Coefficients of a plane through n points; all zero if they are on one line."""
    n = len(corners)
    base = oracle.volume([*corners, (0,) * n])
    return [oracle.volume([*corners, tuple(int(k == axis) for k in range(n))]) - base for axis in range(n)]


def extreme_points(exact):
    """Corners of the hull: the points at which planes with everybody on one side have normals that span everything."""
    n = len(exact[0])
    normals = {i: [] for i in range(len(exact))}
    for corners in combinations(range(len(exact)), n):
        plane = normal([exact[c] for c in corners])
        heights = [sum(a * b for a, b in zip(plane, point, strict=True)) for point in exact]
        here = heights[corners[0]]
        if min(heights) != max(heights) and here in (min(heights), max(heights)):
            for c in corners:
                normals[c].append(plane)
    return {i for i, planes in normals.items() if planes and rank(planes) == n}


def why_refused(exact):
    """What is wrong with a formation, as the message has to say it; None if nothing is."""
    if len(exact) < len(exact[0]) + 2:
        return "needs at least"
    sizes = sorted(abs(x) for row in exact for x in row if x)
    if sizes and sizes[-1] > LARGEST:
        return "must not have coordinates beyond"
    if sizes and sizes[0] < SMALLEST_SHARE * sizes[-1]:
        return "must not have a coordinate of"
    if len(set(exact)) < len(exact):
        return "stand at the same point"
    spanned = rank([[a - b for a, b in zip(point, exact[0], strict=True)] for point in exact[1:]])
    if spanned < len(exact[0]):
        return "stand on one line" if spanned < 2 else "stand on one plane"
    return None


def check(points, rule):
    """Whether a network came out; it, or the reason why not, is the exact one."""
    exact, whole = oracle.as_fractions(points), whole_numbers(points)
    reason = why_refused(exact)
    corners = extreme_points(whole) if reason is None else set()
    if len(corners) == len(points):
        reason = "there is no interior agent"
    if reason is not None:
        with pytest.raises(FormationError, match=reason):
            tc.build_network(points, mentee=rule)
        return False
    network = tc.build_network(points, mentee=rule)
    assert set(network.boundary.tolist()) == corners
    interior = sorted(set(range(len(points))) - corners)
    assert network.core == oracle.core_agent(exact, network.boundary.tolist(), interior)
    fan = fan_of(network)
    for cell, members in fan.items():
        assert cell[-1] == network.core
        places = [whole[c] for c in cell]
        assert oracle.volume(places) > 0
        assert min(oracle.volume([*places[:-1], point]) for point in whole) == 0
        for agent in members:
            children = [[*places[:k], whole[agent], *places[k + 1 :]] for k in range(len(cell))]
            assert min(map(oracle.volume, children)) >= 0
    expected = oracle.layers_below(exact, fan, rule, [True] * len(points))
    found = {i: (int(network.layer[i]), tuple(network.in_neighbors[i].tolist())) for i in network.followers.tolist()}
    assert found == expected
    assert len(found) + len(network.anchors) == len(points)
    check_other_scales(points, network)
    return True


def check_other_scales(points, network):
    """Times a power of two that loses no bit, the network is the same."""
    sizes = np.abs(points[points != 0])
    lowest = -1000 - int(np.log2(sizes.min()))
    highest = 330 - int(np.log2(sizes.max()))
    for power in (lowest, highest):
        if sizes.min() > 2.0**-960:  # else bits are lost already
            other = tc.build_network(np.ldexp(points, power), mentee=network.mentee)
            assert np.array_equal(other.in_neighbors, network.in_neighbors)
            assert np.array_equal(other.boundary, network.boundary)
            assert other.core == network.core


@pytest.mark.parametrize("n", [2, 3])
def test_networks_of_extreme_and_mixed_scale_are_exact(n):
    cases = CASES if n == 2 else CASES // 3
    built = sum(check(formation(case, n), ("fermat", "balanced")[case // len(KINDS) % 2]) for case in range(cases))
    assert built > cases // 2
