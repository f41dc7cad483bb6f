"""Section II: the weight set W_i, and what DNN stands for."""

from fractions import Fraction
from itertools import product

import numpy as np

from tricover.paper.claims.claim import Claim, judged
from tricover.paper.study import Study

__all__ = ["delaunay", "weight_count", "weight_sum", "weight_values"]

_PRINTED = ("0.067", "0.133", "0.267", "0.333", "0.467", "0.533", "0.667", "0.733", "0.867")


def _formula(resolution: int) -> set[Fraction]:
    """Eq. (2) as printed: {(3a - b)/3M : a = 1 … M, b = 1, 2}."""
    return {Fraction(3 * a - b, 3 * resolution) for a in range(1, resolution + 1) for b in (1, 2)}


def _usable(values: set[Fraction]) -> set[Fraction]:
    """Those values that occur in a triple of values that sums to one."""
    return {first for first, second in product(values, repeat=2) if 1 - first - second in values}


def weight_values(study: Study) -> Claim:
    """The list that the paper prints for M_i = 5."""
    found = tuple(f"{value:.3f}" for value in study.small.weight_set)
    return Claim(
        "weights-values",
        "II, below eq. (2); Fig. 1",
        f"For M_i = 5, W_i = {{{', '.join(_PRINTED)}}}.",
        "the same nine values" if found == _PRINTED else f"{{{', '.join(found)}}}",
        judged(found == _PRINTED),
    )


def weight_count(study: Study) -> Claim:
    """2M values by the equation, 2M - 1 in the list."""
    resolution = study.small.resolution
    formula, used = (
        _formula(resolution),
        {Fraction(int(third), 3 * resolution) for third in np.unique(study.small.thirds)},
    )
    spare = sorted(formula - used)
    return Claim(
        "weights-count",
        "II, eq. (2)",
        "W_i has the 2M_i values of eq. (2); the printed list has 2M_i - 1.",
        f"eq. (2): {len(formula)} values; W_i: {len(used)}, without {', '.join(map(str, spare))}",
        judged(printed=used == formula, ours=used == _usable(formula)),
        "(3M-1)/3M is in no triple of these values that sums to one, so no cell can have it. We use the list.",
    )


def weight_sum(study: Study) -> Claim:
    """Eq. (3), in whole numbers."""
    grid, unit = study.grid, 3 * study.grid.resolution
    values = {Fraction(int(third), unit) for third in np.unique(grid.thirds)}
    sound = bool((grid.thirds.sum(axis=1) == unit).all()) and values <= _formula(grid.resolution)
    return Claim(
        "weights-sum",
        "II, eq. (3)",
        "Weights are in W_i, strictly positive, and the three of a follower sum to one.",
        f"{len(grid)} triples at M_i = {grid.resolution}, sums exactly 1, smallest weight {min(values)}",
        judged(sound and min(values) > 0),
        "The paper calls the values uniformly distributed; their gaps are 1/3M and 2/3M in turn.",
    )


def delaunay(study: Study) -> Claim:
    """Two meanings of DNN."""
    from scipy.spatial import Delaunay

    network = study.network
    corners = np.sort(Delaunay(network.reference).simplices, axis=1)
    edges = {(int(row[i]), int(row[j])) for row in corners for i, j in ((0, 1), (0, 2), (1, 2))}
    links = {(int(a), int(b)) for a in network.followers for b in network.in_neighbors[a]}
    shared = sum((min(link), max(link)) in edges for link in links)
    return Claim(
        "dnn",
        "II; abstract",
        "DNN is a Delaunay neighbour network (II) and a deep neural network (everywhere else).",
        f"{shared} of {len(links)} links are edges of the Delaunay triangulation",
        judged(printed=shared == len(links), ours=len(links) == 3 * len(network.followers)),
        "The links come from Algorithm 1, not from Delaunay. We say network.",
    )
