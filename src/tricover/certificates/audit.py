"""The one pass over a log: every check sees every step, once."""

from collections.abc import Iterator

import numpy as np

from tricover.certificates.certificate import Certificate
from tricover.certificates.check import Check, Step
from tricover.certificates.log import Log
from tricover.certificates.margins import Margins
from tricover.certificates.theorem1 import Anchors, Stochastic, Structure
from tricover.certificates.theorem2 import Containment, Products
from tricover.certificates.theorem3 import Convergence
from tricover.certificates.transition import Frame, rows_of

__all__ = ["audit", "steps_of"]


def audit(log: Log, eta: float | None = None, window: int | None = None) -> Certificate:
    """The certificate of a log; ``eta`` and ``window`` are the η and T of condition C2 (see ``certify``)."""
    anchors = Anchors(log)
    products, convergence = Products(log, eta, window), Convergence(log, anchors)
    checks: list[Check] = [
        Structure(),
        anchors,
        Stochastic(log),
        Margins(log),
        products,
        Containment(anchors),
        convergence,
    ]
    for step in steps_of(log):
        for check in checks:
            check.see(step)
    claims = tuple(claim for check in checks for claim in check.claims())
    subject = f"{log.name} ({log.agents} agents, {log.steps} steps)"
    return Certificate(subject, claims, products.contraction, convergence.layers, convergence.neighbourhood)


def steps_of(log: Log) -> Iterator[Step]:
    """The steps of a log, with the rows of Γ."""
    last: Step | None = None
    for index, before, after in log.pairs():
        stretch = log.stretch_at(index)
        carried_on = last is not None and last.stretch is stretch
        frame = last.frame if last is not None and carried_on else Frame(stretch.network)
        if (
            last is not None
            and carried_on
            and np.array_equal(last.after, after)
            and np.array_equal(last.before, before)
        ):
            last = Step(index, before, after, stretch, frame, last.rows, same=True)
        else:
            last = Step(index, before, after, stretch, frame, rows_of(frame, before, after), same=False)
        yield last
