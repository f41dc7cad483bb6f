"""Runs in the formats of other programs: CSV, GeoJSON, KML, GraphML, MCAP (Foxglove), plans for QGroundControl."""

from tricover.export.exporting import KINDS, export_run, kind_of, plane_of
from tricover.export.qgroundcontrol import Flight, flight_of

__all__ = ["KINDS", "Flight", "export_run", "flight_of", "kind_of", "plane_of"]
