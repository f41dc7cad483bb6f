"""The table of claims for files: JSON for programs, Markdown for people."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import tricover
from tricover.paper.claims import DEVIATES, FAILS, Claim

__all__ = ["as_json", "as_markdown"]

_HEAD = "| where | claim of the paper | measured | verdict |\n|---|---|---|---|\n"
_BETWEEN = "Where the paper contradicts itself or is wrong as printed:"
_ODD = "| where | what the paper says | measured | what we do |\n|---|---|---|---|\n"


def as_json(claims: Sequence[Claim]) -> str:
    """All rows with all their fields."""
    rows, good = [asdict(claim) for claim in claims], all(claim.verdict != FAILS for claim in claims)
    document = {"tricover": tricover.__version__, "holds": good, "claims": rows}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_markdown(claims: Sequence[Claim]) -> str:
    """Two tables: the claims, and where the paper contradicts itself or is wrong as printed."""
    plain = [(c.where, c.statement, c.measured, c.verdict) for c in claims if c.verdict != DEVIATES]
    odd = [(c.where, c.statement, c.measured, c.note) for c in claims if c.verdict == DEVIATES]
    return f"{_HEAD}{_rows(plain)}\n{_BETWEEN}\n\n{_ODD}{_rows(odd)}"


def _rows(rows: Sequence[Sequence[str]]) -> str:
    cells = ([cell.replace("|", r"\|").replace("_", r"\_").replace("~", r"\~") for cell in row] for row in rows)
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)
