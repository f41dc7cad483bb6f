"""The paper's study: its settings, which come with the package, and the runs of Section VI.

    reach      Section VI-A: P_i = {h_i}, every follower reaches its goal point in one step
    walk       Section VI-B: cell by cell by the optimal policy, η = 0.05, and agents land on the centres of cells
    anywhere   Section VI-B without that: agents land anywhere in their reach sets (Assumption 3 alone)

The paper's Section VI-B rests on Assumption 3, which lets an agent land anywhere in a triangle within the next cell,
and says that all agents converge to points. Both cannot be: Theorem 3, which it illustrates, lets agents reach the
centre of the next cell. So ``walk`` is its counterpart, and ``anywhere`` shows what Assumption 3 alone gives.

The paper publishes no coordinates. Team, domain and targets are ours; what it says of them is as it says.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file, files
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tricover.certificates import Certificate, Log, certify, log_of_run, transition_matrices
from tricover.formats import read_points
from tricover.geometry import CellGrid
from tricover.network import Network, build_network
from tricover.simulation import Run, Scenario

__all__ = ["FILES", "RUNS", "Study", "example_network", "scenarios", "study_of"]

FILES = ("paper-57.toml", "team-57.csv", "team-13.csv")
RUNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"reach": ("reach", "exact"), "walk": ("walk", "exact"), "anywhere": ("walk", "anywhere")}
)
"""Motion and vehicle of each run."""


@dataclass(frozen=True, eq=False)
class Study:
    """All that the claims are measured on.

    Attributes:
        example: the network of Section III's 13 agents.
        small: cells at resolution 5 (Section II).
        grid: cells at resolution 35 (Section VI).
        reach: the run of Section VI whose agents reach their goal in one step.
        walk: the one whose agents walk from cell to cell.
        anywhere: the one whose agents land anywhere in their reach sets.
    """

    example: Network
    small: CellGrid
    grid: CellGrid
    reach: Run
    walk: Run
    anywhere: Run

    @property
    def network(self) -> Network:
        """Who listens to whom among the 57 agents."""
        return self.reach.network

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by name."""
        return {name: getattr(self, name) for name in RUNS}

    @cached_property
    def logs(self) -> dict[str, Log]:
        """What certificates read of the runs."""
        return {name: log_of_run(run) for name, run in self.runs.items()}

    @cached_property
    def certificates(self) -> dict[str, Certificate]:
        """The theorems on the runs."""
        return {name: certify(log) for name, log in self.logs.items()}

    @cached_property
    def matrices(self) -> dict[str, NDArray[np.float64]]:
        """Γ[t] of each run from positions alone, (T, N, N)."""
        return {
            name: np.stack([matrix.toarray() for matrix in transition_matrices(log)]) for name, log in self.logs.items()
        }


def example_network() -> Network:
    """The network of 13 agents whose layers and in-neighbours are those of the paper's example."""
    with as_file(files("tricover.paper") / "team-13.csv") as path:
        return build_network(read_points(path).positions)


def scenarios() -> dict[str, Scenario]:
    """The scenarios of the runs, with all positions in them."""
    with as_file(files("tricover.paper")) as folder:
        paper = Scenario.load(folder / "paper-57.toml").self_contained()
    return {name: _variant(paper, name, *how) for name, how in RUNS.items()}


def _variant(paper: Scenario, name: str, motion: str, vehicle: str) -> Scenario:
    control = {**paper.control.values(), "motion": motion}
    return Scenario(**{**paper.values(), "name": f"paper-57-{name}", "control": control, "vehicle": vehicle})


def study_of(run: Callable[[str, Scenario], Run]) -> Study:
    """The study, with ``run`` called for each scenario by name."""
    found = {name: run(name, scenario) for name, scenario in scenarios().items()}
    resolution = found["walk"].scenario.control.resolution
    return Study(example_network(), CellGrid(5), CellGrid(resolution), **found)
