"""The certificate: every claim with its verdict and figures, and the layers one by one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tricover.certificates import FAILS, HOLDS, NOT_APPLICABLE, Certificate, Claim, transition_matrices
from tricover.report.findings import Findings
from tricover.report.markup import Html, note, paragraph, table, text, verdict
from tricover.report.page import Section, figures_html
from tricover.units import number

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["certificate_section"]

_GOOD = {HOLDS: True, FAILS: False, NOT_APPLICABLE: None}
_MOST_IN_MATRIX = 400  # agents whose Γ can be seen entry by entry


def certificate_section(found: Findings) -> Section:
    """The claims, what was measured for them, and the figures of the certificate."""
    certificate = found.certificate
    said = f"{certificate.title}. Each claim is checked on the positions of this run."
    claims = table(("claim", "verdict", "finding"), (_claim(claim) for claim in certificate.claims))
    layers = _layers(certificate) if certificate.layers else ""
    return Section("Certificate", Html(paragraph(said) + claims + layers + figures_html(_figures(found))))


def _claim(claim: Claim) -> tuple[Html, Html, Html]:
    figures = "; ".join(
        f"{name.replace('_', ' ')}: {_shown(value)}" for name, value in claim.figures.items() if _says(name, value)
    )
    faults = "".join(f"<li>{text(fault)}</li>" for fault in claim.faults)
    finding = f"{text(claim.summary)}{f'<ul>{faults}</ul>' if faults else ''}{note(figures) if figures else ''}"
    name = f"{text(claim.title)}<br><small>{text(claim.equation)}</small>"
    return Html(name), verdict(claim.verdict, _GOOD[claim.verdict]), Html(finding)


def _says(name: str, value: object) -> bool:
    """Whether a figure says something: not that there are no faults, once more."""
    return value not in (None, {}) and not (name in ("faults", "worst") and not value)


def _shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
    return number(value) if isinstance(value, float) else str(value)


def _layers(certificate: Certificate) -> Html:
    columns = ("layer", "agents", "settled at step", "bound", "largest distance after it, m", "allowed, m")
    rows = (
        (
            layer.index,
            layer.agents,
            *("–" if step is None else step for step in (layer.settled, layer.bound)),
            *("–" if metres is None else number(metres, 3) for metres in (layer.distance, layer.radius)),
        )
        for layer in certificate.layers
    )
    return Html(f"<h3>Layer by layer</h3>{table(columns, rows, right=columns)}")


def _figures(found: Findings) -> "Iterator[tuple[Drawing, str]]":
    from tricover.plot import plot_contraction, plot_settling, plot_transition, plot_tube

    certificate, log, agent = found.certificate, found.log, found.agent
    if certificate.contraction is not None and certificate.contraction.depth:
        yield plot_contraction(certificate), "How much of a past error is left, beside the theorem's bound."
    if any(layer.bound is not None for layer in certificate.layers):
        yield plot_settling(certificate), "When each layer came to rest, beside its bound."
    if log.late is None and log.steps > log.launched and log.agents <= _MOST_IN_MATRIX:
        matrix = next(transition_matrices(log))
        caption = "The entries of the first Γ, agents sorted by layer: followers hear only earlier layers."
        yield plot_transition(matrix, log.epochs[0].network), caption
    if log.steps and certificate.neighbourhood is not None:
        caption = f"How far agent {agent} was from its desired position, and the radius that is claimed for it."
        yield plot_tube(certificate, log, agent), caption
