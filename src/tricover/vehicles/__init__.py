"""Vehicles: the protocol, one file per kind, teams of several kinds, and the check of anyway output controllability."""

from tricover.vehicles.aoc import AOCReport, AOCRow, check_aoc
from tricover.vehicles.landing import inside
from tricover.vehicles.mixed import Mixed
from tricover.vehicles.protocol import DRAWS, Vehicle, goal_points, step_draws
from tricover.vehicles.registry import KINDS, settings, vehicle

__all__ = [
    "DRAWS",
    "KINDS",
    "AOCReport",
    "AOCRow",
    "Mixed",
    "Vehicle",
    "check_aoc",
    "goal_points",
    "inside",
    "settings",
    "step_draws",
    "vehicle",
]
