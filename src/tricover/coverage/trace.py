"""Coverage of a run step by step, and Lloyd's algorithm from the same start beside it.

The cost is that of ``metrics``, of the agents that take part at a step, on the targets as they are at that step.
Lloyd's team lives through the same: it starts where the run starts, loses and gains the same agents, sees the same
targets, and moves once in each step; when nothing changes from outside any more it goes on until it has converged.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.coverage.lloyd import lloyd as lloyds
from tricover.coverage.metrics import coverage_cost
from tricover.simulation import Run
from tricover.targets import Targets

__all__ = ["CoverageTrace", "coverage_over_time"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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


def coverage_over_time(run: Run, lloyd: bool = True) -> CoverageTrace:
    """Measure a run's coverage step by step, with Lloyd's algorithm beside it if wanted.

    >>> from tricover.simulation import Scenario, simulate
    >>> square = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    >>> trace = coverage_over_time(simulate(Scenario(reference=square, targets=[[1, 1], [0, 2]])))
    >>> trace.costs.round(9).tolist(), round(trace.desired, 9), round(trace.limit, 9)
    ([1.0, 0.5, 0.5], 0.5, 0.5)
    """
    steps = _measured(run)
    living = np.flatnonzero(run.network.layer >= 0)
    return CoverageTrace(
        steps=steps,
        costs=_costs(run, steps),
        lloyd=_lloyds_costs(run) if lloyd else None,
        desired=_cost(run.desired[living], run.targets),
    )


def _measured(run: Run) -> Ints:
    work = len(run.network) + len(run.mission.targets)
    most = max(2, MOST_WORK // work)
    return np.unique(np.linspace(0, run.steps, min(run.steps + 1, most)).round().astype(np.int64))


def _costs(run: Run, steps: Ints) -> Floats:
    """Costs at the steps; measured again only when something has changed."""
    costs = np.empty(len(steps))
    before: tuple[Floats, Targets] | None = None
    for index, (agents, targets) in enumerate(_scenes(run, steps)):
        same = before is not None and targets is before[1] and np.array_equal(agents, before[0])
        costs[index] = costs[index - 1] if same else _cost(agents, targets)
        before = agents, targets
    return costs


def _scenes(run: Run, steps: Ints) -> Iterator[tuple[Floats, Targets]]:
    """Positions of those present, and the targets, at each of the steps."""
    wanted = set(steps.tolist())
    for (start, positions), (_, present) in zip(run.blocks("positions"), run.blocks("present"), strict=True):
        for offset in range(len(positions)):
            if start + offset in wanted:
                yield positions[offset][present[offset]], run.mission.targets_at(start + offset)


def _cost(agents: Floats, targets: Targets) -> float:
    there = len(targets) > 0 and (targets.weights is None or bool((targets.weights > 0).any()))
    return coverage_cost(agents, targets) if there else float("nan")


def _lloyds_costs(run: Run) -> Floats:
    events = [epoch.start for epoch in run.epochs]
    changing = min(run.steps, max(*events, run.mission.targets_still_from, 0))
    agents = np.array(run.read("positions", 0, 1)[0])
    costs: list[float] = []
    for step in range(changing):
        present, targets = run.read("present", step, step + 1)[0], run.mission.targets_at(step)
        costs.append(_cost(agents[present], targets))
        if np.isfinite(costs[-1]):
            agents[present] = lloyds(agents[present], targets, 1).positions
    present, targets = run.read("present", changing, changing + 1)[0], run.mission.targets_at(changing)
    if np.isnan(_cost(agents[present], targets)):
        return np.array([*costs, np.nan])
    return np.array([*costs, *lloyds(agents[present], targets, tolerance=CONVERGED).costs])
