"""Kernel of the sensor: normal deviates, number by number, so that no result depends on what is drawn beside it."""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["deviates"]

Floats = NDArray[np.float64]


@kernel
def deviates(draws: Floats) -> Floats:
    """Two standard normal deviates from each two uniform numbers (L, 2) in [0, 1) (Box and Muller)."""
    found = np.empty(draws.shape)
    for k in range(len(draws)):
        length = math.sqrt(-2.0 * math.log(1.0 - draws[k, 0]))
        found[k, 0] = length * math.cos(2.0 * math.pi * draws[k, 1])
        found[k, 1] = length * math.sin(2.0 * math.pi * draws[k, 1])
    return found
