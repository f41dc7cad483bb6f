"""Simplices and barycentric coordinates, convex hulls and their fan of first cells, the cells of a triangle."""

from tricover.geometry.cells import OUTSIDE, CellGrid
from tricover.geometry.simplices import barycentric, combine, flat, volumes, weights_in

__all__ = ["OUTSIDE", "CellGrid", "barycentric", "combine", "flat", "volumes", "weights_in"]
