"""``Certificate``: one entry per claim, with its verdict, its figures, and the equation that it comes from.

A claim *holds*, *fails*, or *does not apply*. One that does not apply says why. One that fails names the agents, the
steps, by how much and why. The certificate holds when a claim holds and none fails.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "FAILS",
    "HOLDS",
    "NOTHING_SEEN",
    "NOT_APPLICABLE",
    "Certificate",
    "Claim",
    "Contraction",
    "Fault",
    "Figure",
    "Layer",
    "Neighbourhood",
    "Verdict",
    "counted",
]

Figure: TypeAlias = int | float | str | bool | dict[str, int] | None
Verdict: TypeAlias = Literal["holds", "fails", "does not apply"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "fails"
NOT_APPLICABLE: Verdict = "does not apply"
NOTHING_SEEN = "There are no steps of followers to look at."

_COLOURS = {HOLDS: "green", FAILS: "red", NOT_APPLICABLE: "yellow"}
_HTML_COLOURS = {HOLDS: "#0a7a2f", FAILS: "#c00020", NOT_APPLICABLE: "#8a6d00"}


@dataclass(frozen=True)
class Fault:
    """Where a claim fails: the agent, the step, by how much, and why.

    The step t is that of Γ[t], or of r[t] for claims on places.
    """

    agent: int
    step: int
    amount: float
    unit: str
    reason: str

    def __str__(self) -> str:
        return f"agent {self.agent}, step {self.step}: {self.reason} ({self.amount:.3g} {self.unit})".replace(" )", ")")


@dataclass(frozen=True)
class Claim:
    """One claim: what is claimed, in which equation, the verdict, a sentence on it, and the figures."""

    key: str
    title: str
    equation: str
    verdict: Verdict
    summary: str
    figures: Mapping[str, Figure] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    """The first places where the claim fails; ``figures`` count all."""

    def to_dict(self) -> dict[str, object]:
        """Everything in plain values."""
        return {**vars(self), "faults": [vars(fault) for fault in self.faults]}


@dataclass(frozen=True, eq=False)
class Contraction:
    """How fast products of A[t] shrink.

    Attributes:
        measured: (depth + 1,) ‖Φ(s+k, s)‖∞ by the lag k, the largest over all s; NaN where the log has no k steps.
        eta: η of condition C2.
        window: T of condition C2.
        depth: of the network, the largest where there are several.
    """

    measured: NDArray[np.float64]
    eta: float
    window: int
    depth: int

    @property
    def bound(self) -> NDArray[np.float64]:
        """The theorem's (1-η)^⌊k/T⌋ for the same lags."""
        return np.asarray((1.0 - self.eta) ** (np.arange(len(self.measured)) // self.window))


@dataclass(frozen=True)
class Layer:
    """When a layer came to rest, and how far it is from where it should be.

    Attributes:
        index: l.
        agents: how many there are.
        settled: the first step from which on all are at their desired positions; None if there is none.
        bound: the step by which this is guaranteed.
        distance: the largest from a desired position, from the bound on, in metres; None if the log ends before.
        radius: the largest distance that is allowed.
    """

    index: int
    agents: int
    settled: int | None
    bound: int | None
    distance: float | None
    radius: float | None


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Desired positions (N, 2), the radius around each (N,), and which radii are more than containment (N,)."""

    desired: NDArray[np.float64]
    radii: NDArray[np.float64]
    proper: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """The guarantees of a run, a log or a scenario. Prints as a table; ``certificate["theorem1"]`` is one claim."""

    subject: str
    claims: tuple[Claim, ...]
    contraction: Contraction | None = None
    layers: tuple[Layer, ...] = ()
    neighbourhood: Neighbourhood | None = None

    @property
    def holds(self) -> bool:
        """Whether a claim holds and none fails."""
        verdicts = [claim.verdict for claim in self.claims]
        return HOLDS in verdicts and FAILS not in verdicts

    def __getitem__(self, key: str) -> Claim:
        for claim in self.claims:
            if claim.key == key:
                return claim
        raise InputError(f"there is no claim {key!r}; there are {', '.join(claim.key for claim in self.claims)}")

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    @property
    def title(self) -> str:
        """The verdict on the whole, on one line."""
        return f"Certificate of {self.subject}: {'holds' if self.holds else 'does not hold'}"

    def to_json(self) -> str:
        """Everything as a JSON text; figures that are no number are null."""
        document = {
            "subject": self.subject,
            "holds": self.holds,
            "claims": [claim.to_dict() for claim in self.claims],
            "layers": [vars(layer) for layer in self.layers],
        }
        return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        width = max(len(claim.title) for claim in self.claims)
        lines = [f"{claim.title:<{width}}  {claim.verdict:<14}  {_detail(claim)}" for claim in self.claims]
        return "\n".join([self.title, *lines])

    def __rich__(self) -> "RenderableType":
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self.title, title_style="bold", title_justify="left", box=box.SIMPLE_HEAD, header_style="")
        table.add_column("claim", max_width=26)
        table.add_column("verdict", no_wrap=True)
        table.add_column("", overflow="fold")
        for claim in self.claims:
            table.add_row(claim.title, Text(claim.verdict, _COLOURS[claim.verdict]), Text(_detail(claim)))
        return table

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td>{escape(claim.title)}</td><td style="color:{_HTML_COLOURS[claim.verdict]}">{claim.verdict}</td>'
            f'<td style="text-align:left">{escape(_detail(claim))}</td>'
            f"<td>{escape(claim.equation)}</td></tr>"
            for claim in self.claims
        )
        head = "<tr><th>claim</th><th>verdict</th><th></th><th>equation</th></tr>"
        return f"<div><b>{escape(self.title)}</b><table>{head}{rows}</table></div>"


def counted(number: int, thing: str) -> str:
    """How many of a thing.

    >>> counted(1, "layer"), counted(2, "layer")
    ('1 layer', '2 layers')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _detail(claim: Claim) -> str:
    return f"{claim.summary} First: {claim.faults[0]}." if claim.faults else claim.summary


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not np.isfinite(value) else value
