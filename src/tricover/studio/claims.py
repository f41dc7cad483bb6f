"""A certificate for a page: claim by claim, each with the agent and the step that it speaks of."""

import json
from typing import Any

from tricover.certificates import Certificate

__all__ = ["claims_of"]

_STEPS = ("step", "settled", "since", "arrived")  # among the figures of claims


def claims_of(certificate: Certificate) -> dict[str, Any]:
    """The verdict on the whole, and all claims in plain values."""
    plain = json.loads(certificate.to_json())
    claims = [{**claim, **_speaks_of(claim)} for claim in plain["claims"]]
    return {"title": certificate.title, "holds": certificate.holds, "claims": claims}


def _speaks_of(claim: dict[str, Any]) -> dict[str, int | None]:
    """Where to look: at the first fault, or at the step from which on the claim is true."""
    where = claim["faults"][0] if claim["faults"] else claim["figures"]
    return {"agent": _whole(where, ("agent",)), "step": _whole(where, _STEPS)}


def _whole(where: dict[str, Any], names: tuple[str, ...]) -> int | None:
    """The first of these that is a whole number."""
    return next((where[name] for name in names if type(where.get(name)) is int), None)
