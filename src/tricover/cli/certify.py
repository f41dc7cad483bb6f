"""``tricover certify``: which guarantees hold for a run, a log or a scenario."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, note, show
from tricover.cli.places import Output, check_output
from tricover.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from tricover.certificates import Certificate, Log
    from tricover.network import Network
    from tricover.simulation import Run, Scenario

__all__ = ["certify"]


def certify(
    subject: Annotated[
        Path,
        typer.Argument(
            help="A run's folder; a log, CSV with columns time, agent, x, y; or a scenario, TOML, before it is run.",
            show_default=False,
        ),
    ],
    network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[STEP:]FILE",
            help="Network of a log, JSON; several with the step from which on each holds.",
            show_default=False,
        ),
    ] = None,
    scenario: Annotated[
        Path | None, typer.Option(help="Scenario of a log, TOML: control, vehicle, targets, anchors.")
    ] = None,
    eta: Annotated[float | None, typer.Option(help="η of condition C2; the smallest T is found for it.")] = None,
    window: Annotated[int | None, typer.Option(help="T of condition C2; the best η is found for it.")] = None,
    arrived: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Step from which on the anchors of a log without a scenario stand still; 0 if left out.",
            show_default=False,
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Metres to which they stand still, for a log without a scenario; 0 if left out.",
            show_default=False,
        ),
    ] = None,
    jitter: Annotated[
        float, typer.Option(help="Share of a step by which the times of a log may be off, less than 0.5.")
    ] = 0.1,
    separation: Annotated[
        float | None,
        typer.Option(
            help="Metres that agents must keep from each other, between steps too; else what the scenario asks for.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a figure: .png, .svg or .pdf."), Output()] = None,
    figure: Annotated[
        Literal["contraction", "settling", "transition", "tube"], typer.Option(help="Which figure.")
    ] = "contraction",
    agent: Annotated[int, typer.Option(help="Agent of the figure 'tube'.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check the theorems on a run, or on the log of a real flight; or say before a run what is guaranteed.

    Exit code 0: every claim that applies holds; 1: a claim fails; 2: bad input.

    [bold]Examples[/bold]

      tricover certify paper-57.zarr

      tricover certify flight.csv --network team.json --scenario flight.toml

      tricover certify flight.csv --network team.json --separation 2

      tricover certify paper-57.toml

      tricover certify paper-57.zarr --figure settling --plot settling.pdf
    """
    if plot is not None:
        from tricover.plot.style import check_ending

        check_ending(plot)
        check_output(plot, [Path(_start_and_file(text)[1]) for text in network or ()], Output())
    load_kernels(quiet)
    from tricover.certificates import certify as find

    source = _source(subject, network, scenario, arrived, tolerance)
    certificate = find(source, eta, window, jitter=jitter, separation=separation)
    if plot is not None:
        _draw(certificate, source, figure, agent, plot)
    if as_json:
        typer.echo(certificate.to_json())
    elif not quiet:
        show(certificate)
    if plot is not None and not quiet:
        note(f"Wrote {plot}")
    raise typer.Exit(0 if certificate.holds else 1)


def _source(
    subject: Path, networks: list[str] | None, scenario: Path | None, arrived: int | None, tolerance: float | None
) -> "Run | Log | Scenario":
    """What the arguments name."""
    from tricover.certificates import Settings, read_log, with_scenario
    from tricover.simulation import Run, Scenario

    if not os.path.exists(subject):  # False too for what no file can be called
        raise FileFormatError(f"cannot read {subject}: there is no such run, log or scenario")
    if subject.is_dir() or subject.suffix == ".toml":
        if networks or scenario is not None:
            raise InputError("--network and --scenario belong to a log: a run or a scenario has its own")
        if not (arrived is tolerance is None):
            raise InputError("--arrived and --tolerance belong to a log: a run or a scenario knows its anchors")
        return Run.open(subject) if subject.is_dir() else Scenario.load(subject)
    if not networks:
        raise InputError(f"{subject} is a log: name its network with --network FILE (tricover network -o writes one)")
    if scenario is not None and not (arrived is tolerance is None):
        raise InputError("--arrived and --tolerance are for a log without a scenario: leave them out")
    settings = Settings(tolerance=tolerance or 0.0)
    log = read_log(subject, [_network(text) for text in networks], settings=settings, arrived=arrived or 0)
    return log if scenario is None else with_scenario(log, Scenario.load(scenario))


def _network(text: str) -> "tuple[int, Network]":
    from tricover.formats import read_whole
    from tricover.network import Network

    start, file = _start_and_file(text)
    data = read_whole(file)
    try:
        return start, Network.from_json(data.decode())
    except ValueError as error:
        raise FileFormatError(f"{file}: {error}") from None


def _start_and_file(text: str) -> tuple[int, str]:
    step, colon, path = text.partition(":")
    return (int(step), path) if colon and step.isdecimal() else (0, text)


def _draw(certificate: "Certificate", source: "Run | Log | Scenario", figure: str, agent: int, path: Path) -> None:
    import matplotlib as mpl

    from tricover.certificates import log_of_run, transition_matrices
    from tricover.plot import plot_contraction, plot_settling, plot_transition, plot_tube, save_figure
    from tricover.simulation import Run, Scenario

    mpl.use("Agg")
    source = log_of_run(source) if isinstance(source, Run) else source
    if figure == "settling":
        save_figure(plot_settling(certificate), path)
    elif figure == "contraction":
        save_figure(plot_contraction(certificate), path)
    elif isinstance(source, Scenario) or not source.steps:
        raise InputError(f"the figure {figure!r} needs the steps of a run or a log")
    elif figure == "tube":
        save_figure(plot_tube(certificate, source, agent), path)
    else:
        save_figure(plot_transition(next(transition_matrices(source)), source.epochs[0].network), path)
