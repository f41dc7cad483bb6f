"""Certificates: the theorems of the paper's Section V, checked on the run at hand, on any log, or before a run.

``certify`` is the verb. A ``Log`` is all that it reads: positions over time, the networks, and what the agents were
told.
"""

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, Certificate, Claim, Fault
from tricover.certificates.log import ArrayReader, Log, LoggedEpoch, Settings, log_of
from tricover.certificates.runs import log_of_run, with_scenario
from tricover.certificates.subjects import certify
from tricover.certificates.tables import read_log
from tricover.certificates.transition import transition_matrices, transition_matrix

__all__ = [
    "FAILS",
    "HOLDS",
    "NOT_APPLICABLE",
    "ArrayReader",
    "Certificate",
    "Claim",
    "Fault",
    "Log",
    "LoggedEpoch",
    "Settings",
    "certify",
    "log_of",
    "log_of_run",
    "read_log",
    "transition_matrices",
    "transition_matrix",
    "with_scenario",
]
