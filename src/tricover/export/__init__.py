"""Runs in the formats of other programs: CSV, GeoJSON, GraphML, MCAP (Foxglove), plans for QGroundControl."""

from tricover.export.exporting import KINDS, export_run, kind_of, plane_of

__all__ = ["KINDS", "export_run", "kind_of", "plane_of"]
