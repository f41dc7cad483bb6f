"""Simplices and barycentric coordinates, hulls and their fan of first cells, cells of a triangle; who meets whom."""

from tricover.geometry.approach import Separation, separation
from tricover.geometry.assignment import Assignment, assign_places
from tricover.geometry.cells import OUTSIDE, CellGrid
from tricover.geometry.simplices import barycentric, combine, flat, volumes, weights_in

__all__ = [
    "OUTSIDE",
    "Assignment",
    "CellGrid",
    "Separation",
    "assign_places",
    "barycentric",
    "combine",
    "flat",
    "separation",
    "volumes",
    "weights_in",
]
