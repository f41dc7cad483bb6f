"""``tricover reproduce``: the paper's results, end to end, as a table, a folder of files and one page."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, new_table, note, show
from tricover.cli.places import Output
from tricover.errors import plain

if TYPE_CHECKING:
    from rich.table import Table

    from tricover.paper import Claim, Reproduction

__all__ = ["reproduce"]


def reproduce(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="A folder for the report, claims, figures, scenarios and runs."),
        Output("folder", shared=True),
    ] = Path("out/paper"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper: run its study, measure its claims, draw its figures, write a report.

    Runs of an earlier, unfinished call in the same folder are resumed. Nothing else in the folder is touched.

    Exit code 0: every claim holds, or deviates as the table says; 1: one does not hold; 2: bad input; 130: interrupted.

    Example: [bold]tricover reproduce -o out/paper[/bold]
    """
    load_kernels(quiet)
    import matplotlib as mpl

    from tricover.paper import reproduce as make

    mpl.use("Agg")
    try:
        result = make(output, None if quiet else lambda stage: note(f"{stage.index}/{stage.count} {stage.text} …"))
    except KeyboardInterrupt:
        if not quiet:
            note(f"Interrupted. Go on with: tricover reproduce -o {quote(str(output))}")
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(_document(result), indent=2))
    elif not quiet:
        show(*tables(result.claims), summary(result.claims))
        typer.echo(plain(f"Report: {result.report}"))
    raise typer.Exit(0 if result.holds else 1)


def _document(result: "Reproduction") -> dict[str, object]:
    return {
        "holds": result.holds,
        "report": str(result.report),
        "files": [str(path) for path in result.files],
        "claims": [asdict(claim) for claim in result.claims],
    }


def tables(claims: "Iterable[Claim]") -> "tuple[Table, Table]":
    """Where the paper contradicts itself and what we do; and apart from that, its claims."""
    from rich.text import Text

    from tricover.paper import DEVIATES, FAILS

    title = "Where the paper contradicts itself or is wrong as printed"
    odd = new_table(title, where="left", **{"the paper": "left", "measured, and what we do": "left"})
    even = new_table("The paper's claims", where="left", claim="left", measured="left", verdict="left")
    for claim in claims:
        where, statement = Text(claim.where), Text(claim.statement)
        if claim.verdict == DEVIATES:
            odd.add_row(where, statement, Text(f"{_sentence(claim.measured)} {claim.note}"))
        else:
            colour = "red" if claim.verdict == FAILS else "green"
            even.add_row(where, statement, Text(claim.measured), Text(claim.verdict, colour))
    for table in (odd, even):
        table.columns[0].max_width = 13
        table.row_styles = ["", "dim"]
    even.columns[3].no_wrap = True
    return odd, even


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def summary(claims: "Iterable[Claim]") -> str:
    """The verdicts in a sentence or two."""
    from tricover.certificates.certificate import counted
    from tricover.paper import DEVIATES, HOLDS

    verdicts = [claim.verdict for claim in claims]
    good, odd = verdicts.count(HOLDS), verdicts.count(DEVIATES)
    text = f"{good} of {len(verdicts) - odd} claims hold."
    if odd:
        places = counted(odd, "place")
        text += f" In {places} the paper contradicts itself or is wrong as printed: there our reading holds."
    return text
