"""Vehicles: the protocol, one file per kind, teams of several kinds, and the check of anyway output controllability."""

from tricover.vehicles.aoc import AOCReport, AOCRow, check_aoc
from tricover.vehicles.gone import Gone
from tricover.vehicles.landing import inside
from tricover.vehicles.mixed import Mixed, come_down, flies_for_real, lands, take_off
from tricover.vehicles.protocol import LANDINGS, Landing, Piloted, Vehicle, check_vehicle, middles, step_draws
from tricover.vehicles.registry import KINDS, is_built_in, settings, vehicle
from tricover.vehicles.step_lengths import ranges

__all__ = [
    "KINDS",
    "LANDINGS",
    "AOCReport",
    "AOCRow",
    "Gone",
    "Landing",
    "Mixed",
    "Piloted",
    "Vehicle",
    "check_aoc",
    "check_vehicle",
    "come_down",
    "flies_for_real",
    "inside",
    "is_built_in",
    "lands",
    "middles",
    "ranges",
    "settings",
    "step_draws",
    "take_off",
    "vehicle",
]
