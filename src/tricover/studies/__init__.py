"""Parameter studies, and huge teams in parts: on one machine or a Dask cluster."""

from tricover.studies.parts import PartsProgress, simulate_parts

__all__ = ["PartsProgress", "simulate_parts"]
