"""Parameter studies, and huge teams in parts: on one machine or a Dask cluster."""

from tricover.studies.certificate import certify_parts
from tricover.studies.coverage import coverage_of_parts
from tricover.studies.parts import PartsProgress, simulate_parts
from tricover.studies.separation import separation_of_parts

__all__ = ["PartsProgress", "certify_parts", "coverage_of_parts", "separation_of_parts", "simulate_parts"]
