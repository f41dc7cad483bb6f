"""Local density of targets: how much weight there is per square metre around each of them.

With r the distance from a target to its 12th nearest, f = W / (π r²), where W is the weight of these twelve. Targets
without weight are nobody's neighbours. Where targets coincide, r is at least a thousandth of the mean spacing.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.threads import workers

__all__ = ["local_density"]

Floats = NDArray[np.float64]

NEIGHBOURS = 12
_SMALLEST_SPACING = 1e-3  # of the mean
_SMALLEST_RADIUS = 1e-100  # metres: the heaviest target over its square is finite


def local_density(points: Floats, weights: Floats | None = None) -> Floats:
    """Weight per square metre (D,) around each of the points (D, 2)."""
    from scipy.spatial import cKDTree

    heavy = np.arange(len(points)) if weights is None else np.flatnonzero(weights)
    if len(heavy) < 2:
        return np.ones(len(points))
    neighbours = min(NEIGHBOURS, len(heavy) - 1)
    tree = cKDTree(points[heavy])
    # The nearest of all is the target itself, unless it has no weight; its distance is zero and adds nothing.
    found = tree.query(points, k=neighbours + 1, workers=workers())
    distances, nearest = (np.asarray(part)[:, 1:] for part in found)
    around = float(neighbours) if weights is None else weights[heavy][nearest].sum(axis=1)
    smallest = max(_SMALLEST_SPACING * _mean_spacing(points[heavy]), _SMALLEST_RADIUS)
    radii = np.maximum(distances[:, -1], smallest)
    return np.asarray(around / (np.pi * radii**2))


def _mean_spacing(points: Floats) -> float:
    """Side of the square that each target has to itself; on a line, the length; one metre where all coincide."""
    width, height = np.sort(np.ptp(points, axis=0))
    spacing = max(np.sqrt(width * height / len(points)), height / len(points))
    return float(spacing) if spacing > 0 else 1.0
