"""Parameter studies, and huge teams in parts: on one machine or a Dask cluster.

``sweep`` runs a scenario in many variants, and ``Study`` says which ones; ``MEASURES`` has what is measured by name.
"""

from tricover.studies.draws import Draws
from tricover.studies.measures import DEFAULT, MEASURES, Measure
from tricover.studies.study import FigureSettings, Study
from tricover.studies.sweeping import StudyProgress, sweep
from tricover.studies.table import read_table, write_table

__all__ = [
    "DEFAULT",
    "MEASURES",
    "Draws",
    "FigureSettings",
    "Measure",
    "Study",
    "StudyProgress",
    "read_table",
    "sweep",
    "write_table",
]
