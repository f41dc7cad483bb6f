"""What a run is compared with: Lloyd's algorithm and a planned formation, on the targets of the run's last step.

Lloyd's algorithm starts where the team started. It runs three times at most: with the anchors at their places, with
everybody free, and through the run's own changes. Where nothing changes from outside, the last two are one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.coverage.lloyd import LloydResult, lloyd
from tricover.coverage.plan import plan_reference
from tricover.coverage.trace import CONVERGED, last_change, lloyd_through
from tricover.errors import InputError
from tricover.simulation import Run

__all__ = ["Baselines", "baselines_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Baselines:
    """Teams that cover the targets of a run's last step, or lived through the same as the run.

    Attributes:
        planned: a formation designed for these targets, (N, 2); None where there is nothing to plan for.
        held: Lloyd's algorithm with the anchors held at their places.
        free: Lloyd's algorithm with everybody free.
        through: Lloyd's algorithm that lives through the changes of the run.
    """

    planned: Floats | None
    held: LloydResult
    free: LloydResult
    through: LloydResult


def baselines_of(run: Run) -> Baselines:
    """The baselines of a run that has targets in its last step."""
    living = np.flatnonzero(run.network.layer >= 0)
    start = run.read("positions", 0, 1)[0][living]
    anchors = np.searchsorted(living, run.network.anchors)
    with_anchors = start.copy()
    with_anchors[anchors] = run.anchors
    through = lloyd_through(run)
    return Baselines(
        planned=_planned(run, len(living)),
        held=lloyd(with_anchors, run.targets, fixed=anchors, tolerance=CONVERGED),
        free=lloyd(start, run.targets, tolerance=CONVERGED) if last_change(run) else through,
        through=through,
    )


def _planned(run: Run, agents: int) -> Floats | None:
    try:
        return plan_reference(run.targets, agents)
    except InputError:  # such as targets on one line
        return None
