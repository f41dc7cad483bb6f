"""The paper's study from end to end: its settings, its runs, its claims measured, its figures, and one report.

``reproduce`` is the verb.
"""

from tricover.paper.claims import DEVIATES, FAILS, HOLDS, Claim, check
from tricover.paper.reproduction import Reproduction, Stage, reproduce
from tricover.paper.study import Study, scenarios, study_of

__all__ = [
    "DEVIATES",
    "FAILS",
    "HOLDS",
    "Claim",
    "Reproduction",
    "Stage",
    "Study",
    "check",
    "reproduce",
    "scenarios",
    "study_of",
]
