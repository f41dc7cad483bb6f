"""``certify``: one verb for runs, logs and scenarios."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.audit import audit
from tricover.certificates.certificate import Certificate
from tricover.certificates.evidence import JITTER
from tricover.certificates.log import Log
from tricover.certificates.prior import foresee
from tricover.certificates.runs import desired_of_run, log_of_run
from tricover.errors import InputError
from tricover.simulation import Run, Scenario

__all__ = ["certify"]


def certify(
    subject: Run | Log | Scenario,
    eta: float | None = None,
    window: int | None = None,
    desired: NDArray[np.float64] | None = None,
    jitter: float = JITTER,
    separation: float | None = None,
) -> Certificate:
    """Which guarantees hold, with which constants, and where one fails and why.

    Args:
        subject: a run or a log, which is checked step by step; or a scenario, for what it promises before it is run.
        eta: η of condition C2. Left out, the best one is found for ``window``, or it is the margin of the reach sets.
        window: T of condition C2. Left out, the smallest one is found for ``eta``.
        desired: the desired configuration (N, 2) of a log, where it is known already. Left out, it is computed.
        jitter: share of a step by which the times of a log may be off.
        separation: metres that agents must keep from each other. Left out, what the scenario asks for.

    >>> import tricover as tc
    >>> team = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    >>> run = tc.simulate(tc.Scenario(reference=team, targets=[[1, 1], [0, 2]]))
    >>> certificate = tc.certify(run)
    >>> certificate.holds, certificate["theorem3"].summary
    (True, 'Settled at step 1; the bound is 1.')
    """
    if isinstance(subject, Scenario):
        if any(argument is not None for argument in (eta, window, desired, separation)):
            raise InputError("eta, window, desired and separation are about a run: a scenario has no steps yet")
        return foresee(subject)
    if isinstance(subject, Run):
        log = _asking(log_of_run(subject), separation)
        return audit(log, eta, window, desired_of_run(subject, log) if desired is None else desired, jitter)
    if isinstance(subject, Log):
        return audit(_asking(subject, separation), eta, window, desired, jitter)
    raise InputError(f"certify takes a Run, a Log or a Scenario, not {type(subject).__name__}")


def _asking(log: Log, separation: float | None) -> Log:
    """The log with the separation that is asked for, if one is."""
    if separation is None:
        return log
    return replace(log, settings=replace(log.settings, separation=separation))
