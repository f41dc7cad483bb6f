"""Simplices and barycentric coordinates, convex hulls and their fan of first cells, cells of a triangle, separation."""

from tricover.geometry.approach import Separation, separation
from tricover.geometry.cells import OUTSIDE, CellGrid
from tricover.geometry.simplices import barycentric, combine, flat, volumes, weights_in

__all__ = [
    "OUTSIDE",
    "CellGrid",
    "Separation",
    "barycentric",
    "combine",
    "flat",
    "separation",
    "volumes",
    "weights_in",
]
