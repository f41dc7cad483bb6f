"""What workers on this machine need, loaded: imported by the process that they are forked from, and by nobody else.

Importing it takes one small run, so that kernels are loaded, too. That is done in one thread, as threads do not survive
a fork.
"""

import os

import distributed.nanny

from tricover.simulation import Scenario, simulate
from tricover.studies import coverage, part_run
from tricover.studies.cluster import PLAIN_PATH
from tricover.studies.measures import DEFAULT, Done, measured
from tricover.threads import in_one_thread

__all__ = ["coverage", "distributed", "part_run"]

if PLAIN_PATH in os.environ:  # the caller's own path was handed over as PYTHONPATH: back to what that really is
    os.environ["PYTHONPATH"] = os.environ.pop(PLAIN_PATH)
    if not os.environ["PYTHONPATH"]:
        del os.environ["PYTHONPATH"]

_TARGETS = [[0, 0], [4, 0], [4, 4], [0, 4]]

with in_one_thread():
    measured(Done(simulate(Scenario(reference=[*_TARGETS, [2, 2], [1, 2]], targets=_TARGETS)), 0.0), DEFAULT)
