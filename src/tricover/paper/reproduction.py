"""``reproduce``: the paper's study from end to end, into one folder (see ``folder``)."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import tricover
from tricover.errors import StoreError
from tricover.formats import write_whole
from tricover.paper.claims import CLAIMS, FAILS, Claim, check
from tricover.paper.figures import FIGURES, Drawing, Figure
from tricover.paper.folder import FIGURE_ENDINGS, open_folder
from tricover.paper.page import write_paper
from tricover.paper.study import RUNS, study_of
from tricover.plot import save_figure
from tricover.simulation import Run, Scenario, simulate

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
    folder, files = open_folder(out), []

    def tell(index: int, text: str) -> None:
        if progress is not None:
            progress(Stage(index, len(RUNS) + 2, text))

    def run(name: str, scenario: Scenario) -> Run:
        tell(list(RUNS).index(name) + 1, f"running {name}: {len(scenario.reference)} agents, {_how(scenario)}")
        scenario.save(folder / "scenarios" / f"{name}.toml")
        files.extend([folder / "scenarios" / f"{name}.toml", folder / "runs" / f"{name}.zarr"])
        return _stored(scenario, files[-1])

    study = study_of(run)
    tell(len(RUNS) + 1, f"measuring {len(CLAIMS)} claims")
    claims = check(study)
    files.append(folder / "claims.json")
    write_whole(files[-1], _document(claims))
    tell(len(RUNS) + 2, f"drawing {len(FIGURES)} figures and writing the report")

    def draw(figure: Figure) -> Drawing:
        drawing = figure.draw(study)
        for ending in FIGURE_ENDINGS:
            files.append(folder / "figures" / f"{figure.name}{ending}")
            save_figure(drawing, files[-1])
        return drawing

    files.append(write_paper(folder / "report.html", study, claims, draw))
    return Reproduction(claims, study.runs, tuple(files), folder / "report.html")


def _how(scenario: Scenario) -> str:
    return f"motion {scenario.control.motion}, vehicle {scenario.vehicle.kind}"


def _stored(scenario: Scenario, store: Path) -> Run:
    """The run in its store. One that was there before is computed again: it must be the same, to the bit."""
    before = store.exists()
    run = simulate(scenario, store, resume=True)
    if run.interrupted:
        raise KeyboardInterrupt
    if before and not np.array_equal(simulate(scenario).positions, run.positions):
        raise StoreError(f"{store} is not what this version computes: remove it, or choose another folder")
    return run


def _document(claims: tuple[Claim, ...]) -> str:
    rows = [asdict(claim) for claim in claims]
    document = {
        "tricover": tricover.__version__,
        "holds": all(claim.verdict != FAILS for claim in claims),
        "claims": rows,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
