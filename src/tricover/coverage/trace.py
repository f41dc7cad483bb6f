"""Coverage of a run step by step, and Lloyd's algorithm from the same start beside it.

The cost is that of ``metrics``, of the agents that take part at a step, on the targets as they are at that step.
Lloyd's team lives through the same: it starts where the run starts, loses and gains the same agents, sees the same
targets, and moves once in each step; when nothing changes from outside any more it goes on until it has converged.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.coverage.lloyd import LloydResult
from tricover.coverage.lloyd import lloyd as lloyds
from tricover.coverage.metrics import coverage_cost, has_targets
from tricover.simulation import Run
from tricover.targets import Targets

__all__ = ["CONVERGED", "CoverageTrace", "coverage_over_time", "last_change", "lloyd_through"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST_WORK = 100_000_000  # agents and targets times steps: beyond it, steps are left out evenly
CONVERGED = 1e-6  # of its cost: what Lloyd's algorithm may still gain in an iteration


@dataclass(frozen=True, eq=False)
class CoverageTrace:
    """Coverage cost over time, in square metres; NaN where there are no targets.

    Attributes:
        steps: the steps that were measured, (K,): all from 0 to T, or evenly chosen ones of a very large run.
        costs: the team's cost at these steps, (K,).
        lloyd: cost of Lloyd's algorithm at its start and after each iteration, (I+1,); None if not asked for.
        desired: cost of the desired configuration, on the last targets.
    """

    steps: Ints
    costs: Floats
    lloyd: Floats | None
    desired: float

    @property
    def limit(self) -> float | None:
        """Where Lloyd's algorithm ends."""
        return None if self.lloyd is None else float(self.lloyd[-1])


def coverage_over_time(run: Run, lloyd: bool | LloydResult = True, positions: Floats | None = None) -> CoverageTrace:
    """Measure a run's coverage step by step, with Lloyd's algorithm beside it if wanted.

    Args:
        run: finished or not.
        lloyd: whether Lloyd's algorithm runs beside it; or what ``lloyd_through`` has found already.
        positions: all positions of the run, (T+1, N, 2), where they are at hand; None: they are read.

    >>> from tricover.simulation import Scenario, simulate
    >>> square = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    >>> trace = coverage_over_time(simulate(Scenario(reference=square, targets=[[1, 1], [0, 2]])))
    >>> trace.costs.round(9).tolist(), round(trace.desired, 9), round(trace.limit, 9)
    ([1.0, 0.5, 0.5], 0.5, 0.5)
    """
    steps = _measured(run)
    living = np.flatnonzero(run.network.layer >= 0)
    beside = lloyd_through(run) if lloyd is True else lloyd
    return CoverageTrace(
        steps=steps,
        costs=_costs(run, steps, positions),
        lloyd=beside.costs if isinstance(beside, LloydResult) else None,
        desired=_cost(run.desired[living], run.targets),
    )


def last_change(run: Run) -> int:
    """The last step of a run at which the team or the targets become others; 0 if they stay the same."""
    events = [epoch.start for epoch in run.epochs]
    return min(run.steps, max(*events, run.mission.targets_still_from, 0))


def lloyd_through(run: Run) -> LloydResult:
    """Lloyd's algorithm that lives through the same as the run: a move in each step, then until it has converged.

    Costs are NaN where there are no targets; a team that has none at the end has not converged.
    """
    changing = last_change(run)
    agents = np.array(run.read("positions", 0, 1)[0])
    costs: list[float] = []
    for step in range(changing):
        present, targets = _scene(run, step)
        costs.append(_cost(agents[present], targets))
        if np.isfinite(costs[-1]):
            agents[present] = lloyds(agents[present], targets, 1).positions
    present, targets = _scene(run, changing)
    if not has_targets(targets):
        return LloydResult(agents[present], np.array([*costs, np.nan]), converged=False)
    end = lloyds(agents[present], targets, tolerance=CONVERGED)
    return LloydResult(end.positions, np.array([*costs, *end.costs]), end.converged)


def _scene(run: Run, step: int) -> tuple[Flags, Targets]:
    """Who takes part at a step, and the targets."""
    return run.read("present", step, step + 1)[0], run.mission.targets_at(step)


def _measured(run: Run) -> Ints:
    work = len(run.network) + len(run.mission.targets)
    most = max(2, MOST_WORK // work)
    return np.unique(np.linspace(0, run.steps, min(run.steps + 1, most)).round().astype(np.int64))


def _costs(run: Run, steps: Ints, positions: Floats | None) -> Floats:
    """Costs at the steps; measured again only when something has changed."""
    costs = np.empty(len(steps))
    before = np.empty((0, 2))
    since = run.mission.targets_still_from
    for index, (step, agents) in enumerate(_teams(run, steps, positions)):
        same = index > 0 and steps[index - 1] >= since and np.array_equal(agents, before)
        costs[index] = costs[index - 1] if same else _cost(agents, run.mission.targets_at(step))
        before = agents
    return costs


def _teams(run: Run, steps: Ints, positions: Floats | None) -> Iterator[tuple[int, Floats]]:
    """Each of the steps, with the positions of those present."""
    wanted = set(steps.tolist())
    blocks = run.blocks("positions") if positions is None else [(0, positions)]
    for start, block in blocks:
        present = run.read("present", start, start + len(block))
        for offset in range(len(block)):
            if start + offset in wanted:
                yield start + offset, block[offset][present[offset]]


def _cost(agents: Floats, targets: Targets) -> float:
    return coverage_cost(agents, targets) if has_targets(targets) else float("nan")
