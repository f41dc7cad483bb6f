"""Parameter studies, and huge teams in parts: on one machine or a Dask cluster.

``sweep`` runs a scenario in many variants, and ``Study`` says which ones; ``MEASURES`` has what is measured by name.
``simulate_parts`` runs one huge team in parts; ``certify_parts``, ``coverage_of_parts`` and ``separation_of_parts`` are
about such a run, and hold no more than a part of it, too.
"""

from tricover.studies.certificate import certify_parts
from tricover.studies.cluster import own_cluster
from tricover.studies.coverage import coverage_of_parts
from tricover.studies.draws import Draws
from tricover.studies.measures import DEFAULT, MEASURES, Measure
from tricover.studies.parts import PartsProgress, simulate_parts
from tricover.studies.separation import separation_of_parts
from tricover.studies.study import FigureSettings, Study
from tricover.studies.sweeping import StudyProgress, sweep
from tricover.studies.table import read_table, write_table

__all__ = [
    "DEFAULT",
    "MEASURES",
    "Draws",
    "FigureSettings",
    "Measure",
    "PartsProgress",
    "Study",
    "StudyProgress",
    "certify_parts",
    "coverage_of_parts",
    "own_cluster",
    "read_table",
    "separation_of_parts",
    "simulate_parts",
    "sweep",
    "write_table",
]
