"""Certificates: the theorems of the paper's Section V, checked on the run at hand, on any log, or before a run.

``certify`` is the verb. A ``Log`` is all that it reads: positions over time, the networks, and what the agents were
told.
"""

import sys
from types import ModuleType

from tricover.certify.certificate import FAILS, HOLDS, NOT_APPLICABLE, Certificate, Claim, Fault
from tricover.certify.log import Log, Settings, Stretch, log_of
from tricover.certify.runs import log_of_run, with_scenario
from tricover.certify.subjects import certify
from tricover.certify.tables import read_log
from tricover.certify.transition import transition_matrices, transition_matrix

__all__ = [
    "FAILS",
    "HOLDS",
    "NOT_APPLICABLE",
    "Certificate",
    "Claim",
    "Fault",
    "Log",
    "Settings",
    "Stretch",
    "certify",
    "log_of",
    "log_of_run",
    "read_log",
    "transition_matrices",
    "transition_matrix",
    "with_scenario",
]


class _Verb(ModuleType):
    """Importing this folder makes it ``tricover.certify``, where users expect the verb: so it can be called like it."""

    __call__ = staticmethod(certify)


sys.modules[__name__].__class__ = _Verb
