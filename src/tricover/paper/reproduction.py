"""``reproduce``: the paper's study from end to end, into one folder (see ``folder``)."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tricover.errors import StoreError
from tricover.formats import write_whole
from tricover.paper.claims import CLAIMS, FAILS, Claim, check
from tricover.paper.figures import FIGURES, Figure
from tricover.paper.folder import FIGURE_ENDINGS, Folder, open_folder
from tricover.paper.page import write_paper
from tricover.paper.study import RUNS, Study, study_of
from tricover.paper.tables import as_json, as_markdown
from tricover.plot import save_figure
from tricover.simulation import Run, Scenario, simulate

if TYPE_CHECKING:
    from tricover.report.svg import Drawing

__all__ = ["Reproduction", "Stage", "reproduce"]


@dataclass(frozen=True)
class Stage:
    """What is being done: stage ``index`` of ``count``."""

    index: int
    count: int
    text: str


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What came out.

    Attributes:
        claims: the table, in the paper's order.
        runs: by name: "reach", "walk", "anywhere".
        files: all that was written, runs as folders.
        report: the page that has it all.
    """

    claims: tuple[Claim, ...]
    runs: Mapping[str, Run]
    files: tuple[Path, ...]
    report: Path

    @property
    def holds(self) -> bool:
        """Whether no claim fails; one that deviates holds in our reading, which its row names."""
        return all(claim.verdict != FAILS for claim in self.claims)

    def __repr__(self) -> str:
        good = sum(claim.verdict != FAILS for claim in self.claims)
        return f"<Reproduction: {good} of {len(self.claims)} claims, {self.report}>"


def reproduce(out: str | os.PathLike[str], progress: Callable[[Stage], None] | None = None) -> Reproduction:
    """Run the paper's study, measure its claims, draw its figures, and write everything into the folder ``out``.

    ``progress`` is called before each stage. A second call with the same folder resumes runs that were cut short,
    computes finished ones again to check them, and writes the rest anew.
    """
    folder, stage = open_folder(out), iter(range(1, len(RUNS) + 3))

    def tell(text: str) -> None:
        if progress is not None:
            progress(Stage(next(stage), len(RUNS) + 2, text))

    def run(name: str, scenario: Scenario) -> Run:
        tell(f"running {name}: motion {scenario.control.motion}, vehicle {scenario.vehicle.kind}")
        scenario.save(folder.place(f"scenarios/{name}.toml"))
        return _stored(scenario, folder.place(f"runs/{name}.zarr"))

    study = study_of(run)
    tell(f"measuring {len(CLAIMS)} claims")
    claims = check(study)
    write_whole(folder.place("claims.json"), as_json(claims))
    write_whole(folder.place("claims.md"), as_markdown(claims))
    tell(f"drawing {len(FIGURES)} figures and writing the report")
    report = write_paper(folder.place("report.html"), study, claims, lambda figure: _drawn(figure, study, folder))
    return Reproduction(claims, study.runs, tuple(folder.files), report)


def _stored(scenario: Scenario, store: Path) -> Run:
    """The run in its store. One that was there before is computed again: it must be the same, to the bit."""
    before = store.exists()
    run = simulate(scenario, store, resume=True)
    if run.interrupted:
        raise KeyboardInterrupt
    if before and not np.array_equal(simulate(scenario).positions, run.positions):
        raise StoreError(f"{store} is not what this version computes: remove it, or choose another folder")
    return run


def _drawn(figure: Figure, study: Study, folder: Folder) -> "Drawing":
    """A figure, drawn and saved."""
    drawing = figure.draw(study)
    for ending in FIGURE_ENDINGS:
        save_figure(drawing, folder.place(f"figures/{figure.name}{ending}"))
    return drawing
