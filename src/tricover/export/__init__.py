"""Runs in the formats of other programs: CSV, GeoJSON, KML, GraphML, MCAP (Foxglove), plans for QGroundControl."""

from tricover.export.exporting import KINDS, export_run, kind_of, plane_of
from tricover.export.flight import Flight, flight_of
from tricover.export.flights import Flights, flights_of
from tricover.export.flown import Flown, as_flown
from tricover.export.qgroundcontrol import Plans
from tricover.export.tracks import Approach, Tracks, closest_approach

__all__ = [
    "KINDS",
    "Approach",
    "Flight",
    "Flights",
    "Flown",
    "Plans",
    "Tracks",
    "as_flown",
    "closest_approach",
    "export_run",
    "flight_of",
    "flights_of",
    "kind_of",
    "plane_of",
]
