"""The folder of a reproduction: what is in it, and whose it is.

    README.md            says what the folder is; written first, so that the folder is known again
    report.html          everything on one page
    claims.json, .md     the table of claims
    figures/NAME.png     the figures, also as .pdf
    scenarios/NAME.toml  what was run, and the formations
    runs/NAME.zarr       the runs

Files are written whole or not at all, so a run that is killed leaves nothing torn, and running again goes on:
unfinished runs are resumed, everything else is written anew under the same names. Nothing is ever deleted. A folder
with other things in it is used only if none of our names is taken.
"""

import os
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from tricover.errors import FileFormatError
from tricover.formats import make_folder, write_whole
from tricover.paper.figures import FIGURES
from tricover.paper.study import FILES, RUNS

__all__ = ["FIGURE_ENDINGS", "Folder", "open_folder"]

FIGURE_ENDINGS = (".png", ".pdf")
_MARK = "# The paper, reproduced by Tricover"
_README = f"""{_MARK}

`tricover reproduce` wrote this folder; running it again writes it anew. The results are those of H. Rastgoftar,
*Finite-State Decentralized Policy-Based Control With Guaranteed Ground Coverage*. The paper publishes no coordinates:
team, domain and targets are ours.

- `report.html`: everything on one page; opens in a browser, needs no network
- `claims.json`, `claims.md`: each claim of the paper, what was measured, and the verdict
- `figures/`: the counterparts of the paper's figures, and some more
- `scenarios/`: what was run: `tricover run scenarios/walk.toml`
- `runs/`: the runs: `tricover certify runs/walk.zarr`
"""


@dataclass(frozen=True)
class Folder:
    """The folder, and what was written into it so far."""

    path: Path
    files: list[Path] = field(default_factory=list)

    def place(self, name: str) -> Path:
        """Where to write something, remembered."""
        self.files.append(self.path / name)
        return self.files[-1]


def open_folder(out: str | os.PathLike[str]) -> Folder:
    """Make the folder, or take the one that is there if it is ours or none of our names is taken in it."""
    folder = Folder(Path(out))
    if not _is_ours(folder.path):
        taken = [name for name in _names() if os.path.lexists(folder.path / name)]
        if taken:
            raise FileFormatError(
                f"{folder.path / taken[0]} exists and is not of an earlier tricover reproduce: choose another folder"
            )
    try:
        for name in ("", "figures", "scenarios", "runs"):
            make_folder(folder.path / name)
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror or error
        raise FileFormatError(f"cannot write to the folder {folder.path}: {reason}") from error
    write_whole(folder.place("README.md"), _README)
    for name in FILES:
        write_whole(folder.place(f"scenarios/{name}"), (files("tricover.paper") / name).read_bytes())
    return folder


def _is_ours(folder: Path) -> bool:
    try:
        return (folder / "README.md").read_text(encoding="utf-8").startswith(_MARK)
    except (OSError, UnicodeDecodeError):
        return False


def _names() -> list[str]:
    figures = [f"figures/{figure.name}{ending}" for figure in FIGURES for ending in FIGURE_ENDINGS]
    scenarios = [f"scenarios/{name}" for name in (*FILES, *(f"{run}.toml" for run in RUNS))]
    return [
        "README.md",
        "report.html",
        "claims.json",
        "claims.md",
        *figures,
        *scenarios,
        *(f"runs/{name}.zarr" for name in RUNS),
    ]
