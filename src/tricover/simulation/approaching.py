"""Pairs of a run that came close, for figures and reports; ``run.separation`` has the closest of all."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tricover.geometry.approach import Separation, separation_of

if TYPE_CHECKING:
    from tricover.simulation.run import Run

__all__ = ["MOST_PAIRS", "closer_than", "closest_pairs"]

MOST_PAIRS = 1_000_000
"""Pairs that are listed for a step; more are a crowd."""


def closer_than(run: "Run", limit: float) -> Separation:
    """The separation of a run, with all pairs that came closer than so many metres."""
    return separation_of(run.moments(), limit, MOST_PAIRS)


def closest_pairs(run: "Run", most: int) -> Separation:
    """The separation of a run, with the pairs that came closer than the scenario asks for.

    Where there are none, or nothing is asked for, with at most so many that came closest; in a crowd with those that
    came closest in a step.
    """
    wanted = run.scenario.safety.separation
    close = None if wanted is None else closer_than(run, wanted)
    if close is not None and len(close.below):
        return close
    each = run.approaches
    steps = each.closest(most)
    if not len(steps):
        return run.separation
    # At least so many pairs came no farther apart than the last of these did.
    found = close if close is not None and close.crowded else closer_than(run, _beyond(each.distances[steps[-1]]))
    if not found.crowded:
        return found.closest_first(most)
    return replace(
        found, below=each.agents[steps], distances=each.distances[steps], steps=steps, shares=each.shares[steps]
    )


def _beyond(distance: float) -> float:
    """The next larger number."""
    return float(np.nextafter(distance, np.inf))
