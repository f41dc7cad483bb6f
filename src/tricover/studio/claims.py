"""A certificate for a page: claim by claim, each with the agent and the step that it speaks of."""

import json
from typing import Any

from tricover.certificates import Certificate

__all__ = ["claims_of"]


def claims_of(certificate: Certificate) -> dict[str, Any]:
    """The verdict on the whole, and all claims in plain values."""
    plain = json.loads(certificate.to_json())
    claims = [{**claim, **_speaks_of(claim)} for claim in plain["claims"]]
    return {"title": certificate.title, "holds": certificate.holds, "claims": claims}


def _speaks_of(claim: dict[str, Any]) -> dict[str, int | None]:
    """Where to look: at the first fault, or at the agent and step among the figures."""
    where = claim["faults"][0] if claim["faults"] else claim["figures"]
    whole = {name: value for name, value in where.items() if isinstance(value, int) and not isinstance(value, bool)}
    agent = next((value for name, value in whole.items() if "agent" in name and name != "agents"), None)
    step = next((value for name, value in whole.items() if "step" in name or name == "settled_at"), None)
    return {"agent": agent, "step": step}
