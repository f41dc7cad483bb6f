"""``Findings``: all that a report says about a run, worked out once and handed to the sections and figures.

Sections and figures show findings and compute nothing that another one needs too. Positions are read once if they fit
in memory, and the log that certificates read is made of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tricover.certificates import ArrayReader, Certificate, Log, certify, log_of_run
from tricover.certificates.runs import desired_of_run
from tricover.coverage import (
    Baselines,
    Coverage,
    CoverageTrace,
    baselines_of,
    coverage_over_time,
    has_targets,
    measure_coverage,
)
from tricover.geometry import Separation, volumes
from tricover.simulation import Run
from tricover.simulation.approaching import closest_pairs
from tricover.simulation.run import BLOCK

__all__ = ["LLOYD", "MOST_AGENTS", "Covering", "Findings", "Team", "example_agent", "findings_of"]

Floats = NDArray[np.float64]

MOST_AGENTS = 2_000  # beyond which the baselines take longer than a report should
MOST_PAIRS = 5  # closest approaches that are told of where no separation is asked for
LLOYD = "Lloyd's algorithm, converged"


@dataclass(frozen=True)
class Team:
    """How well one team covers the targets of the last step.

    ``steps``: after how many steps or iterations it stood there; None if that means nothing.
    """

    name: str
    coverage: Coverage
    steps: int | None


@dataclass(frozen=True, eq=False)
class Covering:
    """Coverage of the run: its team beside the baselines, and step by step."""

    teams: tuple[Team, ...]
    trace: CoverageTrace


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found about a run.

    Attributes:
        run: the run itself.
        positions: all its positions, (T+1, N, 2); None if they do not fit in memory.
        log: what the certificate is read from.
        certificate: the theorems on the log.
        covering: coverage; None where the last step has no targets.
        close: the separation, with the pairs that came closest; None where it is not worked out.
        agent: the one that some figures single out.
    """

    run: Run
    positions: Floats | None
    log: Log
    certificate: Certificate
    covering: Covering | None
    close: Separation | None
    agent: int


def findings_of(run: Run, certificate: Certificate | None = None) -> Findings:
    """Work out what a report says about a run; its ``certificate`` too if it is not given."""
    positions = _held(run)
    log = _log(run, positions)
    return Findings(
        run=run,
        positions=positions,
        log=log,
        certificate=certificate or certify(log, desired=desired_of_run(run, log)),
        covering=_covering(run, positions) if has_targets(run.targets) else None,
        close=closest_pairs(run, MOST_PAIRS) if run.measures_separation else None,
        agent=example_agent(run),
    )


def _held(run: Run) -> Floats | None:
    """All positions, if they fit in memory: as many as are read at once."""
    agents = run.desired.shape[0]
    return run.positions if (run.steps + 1) * agents <= BLOCK else None


def _log(run: Run, positions: Floats | None) -> Log:
    """The log of a run, on the positions that are held."""
    log = log_of_run(run)
    return log if positions is None else replace(log, read=ArrayReader(positions))


def _covering(run: Run, positions: Floats | None) -> Covering:
    few = len(run.network) <= MOST_AGENTS
    baselines = baselines_of(run) if few else None
    trace = coverage_over_time(run, baselines.through if baselines else False, positions)
    teams = (Team(name, measure_coverage(places, run.targets), steps) for name, places, steps in _teams(run, baselines))
    return Covering(tuple(teams), trace)


def _teams(run: Run, baselines: Baselines | None) -> Iterator[tuple[str, Floats, int | None]]:
    """Names, positions, and after how many steps or iterations they stood there."""
    living = np.flatnonzero(run.network.layer >= 0)
    start, end = (places[living] for places in _ends(run))
    yield "this run, at the start", start, 0
    yield "this run, at the end", end, run.steps if run.settled_at is None else run.settled_at
    yield "its desired positions", run.desired[living], None
    if baselines is None:
        return
    if baselines.planned is not None:
        yield "planned formation", baselines.planned, None
    yield "Lloyd's algorithm, anchors held", baselines.held.positions, baselines.held.iterations
    yield LLOYD, baselines.free.positions, baselines.free.iterations


def _ends(run: Run) -> list[Floats]:
    """Positions (N, 2) at the start and at the end."""
    return [run.read("positions", step, step + 1)[0] for step in (0, run.steps)]


def example_agent(run: Run) -> int:
    """A follower to tell of: one that went far, and whose triangle at the end is not a sliver; an anchor if need be."""
    start, end = _ends(run)
    gone = np.linalg.norm(end - start, axis=1)
    followers = run.network.followers
    if not followers.size:
        return run.network.core
    triangles = end[run.network.in_neighbors[followers]]
    sides = triangles - np.roll(triangles, 1, axis=1)
    smallest = np.finfo(np.float64).tiny
    roundness = np.abs(volumes(triangles)) / np.maximum((sides**2).sum(axis=(1, 2)), smallest)
    return int(followers[np.argmax((gone[followers] + 1e-9 * gone.max()) * roundness)])
