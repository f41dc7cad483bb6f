"""The one pass over a log: every check sees every step after the launch, once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import Certificate
from tricover.certificates.check import Check, Step
from tricover.certificates.descent import Descent
from tricover.certificates.evidence import JITTER, Evidence
from tricover.certificates.heard import hearing
from tricover.certificates.late import Forgetting, Messages, as_far_as_told
from tricover.certificates.log import Log
from tricover.certificates.margins import Margins
from tricover.certificates.nested import Nested
from tricover.certificates.separation import Separation
from tricover.certificates.theorem1 import Anchors, Stochastic, Structure
from tricover.certificates.theorem2 import Containment, Products
from tricover.certificates.theorem3 import Convergence
from tricover.certificates.transition import framed, rows_of
from tricover.certificates.waiting import as_far_as_they_go
from tricover.certificates.zones import Outside

__all__ = ["audit", "steps_of"]

Floats = NDArray[np.float64]


def audit(
    log: Log,
    eta: float | None = None,
    window: int | None = None,
    desired: Floats | None = None,
    jitter: float = JITTER,
) -> Certificate:
    """The certificate of a log; arguments as in ``certify``."""
    anchors = Anchors(log)
    told = log.late is not None and log.late.told
    products: Products | Forgetting = Forgetting(log) if told else Products(log, eta, window)
    convergence = Convergence(log, anchors, desired)
    checks: list[Check] = [
        Evidence(log, jitter),
        Structure(),
        anchors,
        Stochastic(log),
        Margins(log),
        products,
        Containment(anchors, products if isinstance(products, Forgetting) else None),
        convergence,
        Separation(log),
    ]
    if log.late is not None:
        checks.append(Messages(log))
    if log.settings.motion == "morph":
        checks.append(Nested(log))
    if log.settings.zones is not None:
        checks.append(Outside(log))
    if any(epoch.goal == "descent" for epoch in log.epochs):
        checks.append(Descent(log))
    waited = False
    for step in steps_of(log):
        waited |= step.gave_way is not None and bool(step.gave_way.any())
        for check in checks:
            if step.index >= log.launched or isinstance(check, Separation | Outside):
                check.see(step)
    claims = tuple(claim for check in checks for claim in check.claims())
    if waited:
        claims = as_far_as_they_go(claims)
    if log.late is not None and not told:
        claims = as_far_as_told(claims)
    subject = f"{log.name} ({log.agents} agents, {log.steps} steps)"
    return Certificate(subject, claims, products.contraction, convergence.layers, convergence.neighbourhood)


def steps_of(log: Log) -> Iterator[Step]:
    """The steps of a log, with the rows of Γ."""
    last: Step | None = None
    listen = hearing(log.late) if log.late is not None and log.late.told else None
    for index, frame, before, after in framed(log):
        epoch = log.epoch_at(index)
        same = last is not None and index > epoch.start and _unmoved(last, before, after)
        # Those who morph go by their in-neighbours' next positions.
        corners = after if log.settings.motion == "morph" else before
        heard = None if listen is None else listen(index, frame, before)
        same = same and heard is None  # ages differ, whoever moved
        triangles = None if heard is None else heard.triangles
        rows = last.rows if last is not None and same else rows_of(frame, corners, after, triangles)
        gave_way = None if log.gave_way is None or index < log.launched else log.gave_way(index)
        last = Step(index, before, after, epoch, frame, rows, same, gave_way, heard)
        yield last


def _unmoved(last: Step, before: Floats, after: Floats) -> bool:
    """Whether a step has the positions of the one before it. The rows of a team at rest are computed once."""
    return np.array_equal(last.after, after) and np.array_equal(last.before, before)
