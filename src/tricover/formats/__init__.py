"""Point files in and out: CSV, NPY, JSON, GeoJSON; maps in: NPY, GeoTIFF; longitude and latitude to metres and back."""

from tricover.formats.files import read_points, read_polygons, write_points
from tricover.formats.points import Points
from tricover.formats.projection import Projection
from tricover.formats.raster import read_raster
from tricover.formats.writing import draft_of, make_folder, read_whole, sync_file, sync_folder, write_whole

__all__ = [
    "Points",
    "Projection",
    "draft_of",
    "make_folder",
    "read_points",
    "read_polygons",
    "read_raster",
    "read_whole",
    "sync_file",
    "sync_folder",
    "write_points",
    "write_whole",
]
