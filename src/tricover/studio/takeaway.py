"""What can be taken away: the scenario, the stored run, the report, a figure and a film of what is shown."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tricover.errors import InputError
from tricover.simulation import Run, simulate
from tricover.simulation.record import MemoryRecord

__all__ = ["KINDS", "made"]

KINDS = {
    "scenario.toml": "application/toml",
    "run.zip": "application/zip",
    "report.html": "text/html",
    "figure.svg": "image/svg+xml",
    "film.gif": "image/gif",
}
"""Names of what there is, and their media types."""


def made(what: str, run: Run) -> bytes:
    """The content of one of them, of a run as far as it is known."""
    makers: dict[str, Callable[[Run, Path], object]] = {
        "scenario.toml": lambda run, path: run.scenario.save(path),
        "run.zip": _store,
        "report.html": _report,
        "figure.svg": _figure,
        "film.gif": _film,
    }
    if what not in makers:
        raise InputError(f"there is no {what}: there are {', '.join(makers)}")
    with TemporaryDirectory() as folder:
        path = Path(folder, what)
        makers[what](run, path)
        return path.read_bytes()


def _store(run: Run, path: Path) -> None:
    """The run's folder in one file; it is run once more to its end, which gives the same bits."""
    if not isinstance(run.record, MemoryRecord):
        raise InputError("this run is stored already: copy its folder")
    folder = path.with_suffix(".zarr")
    simulate(run.mission, folder)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:  # what is in it is compressed already
        for part in sorted(folder.rglob("*")):
            packed.write(part, Path("run.zarr", part.relative_to(folder)))


def _report(run: Run, path: Path) -> None:
    from tricover.report import write_report

    _headless()
    write_report(run, path)


def _figure(run: Run, path: Path) -> None:
    _headless()
    from matplotlib import pyplot as plt

    from tricover.plot import plot_paths, save_figure

    save_figure(plot_paths(run), path)
    plt.close("all")


def _film(run: Run, path: Path) -> None:
    from tricover.plot import animate

    _headless()
    animate(run, path)


def _headless() -> None:
    """Draw without a window: a server has none."""
    import matplotlib as mpl

    mpl.use("Agg")
