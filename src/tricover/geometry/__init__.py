"""Simplices, convex hulls and their fan of first cells, cells of a triangle, who meets whom, zones."""

from tricover.geometry.approach import Separation, separation
from tricover.geometry.assignment import Assignment, assign_places
from tricover.geometry.cells import OUTSIDE, CellGrid
from tricover.geometry.polygons import Crossing, Zones, as_zones, crossings
from tricover.geometry.simplices import barycentric, combine, flat, volumes, weights_in

__all__ = [
    "OUTSIDE",
    "Assignment",
    "CellGrid",
    "Crossing",
    "Separation",
    "Zones",
    "as_zones",
    "assign_places",
    "barycentric",
    "combine",
    "crossings",
    "flat",
    "separation",
    "volumes",
    "weights_in",
]
