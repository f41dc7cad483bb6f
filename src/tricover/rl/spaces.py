"""The spaces of one follower: what it observes, and what it can do; and that of the whole team's state.

    observation      Box (K,)           float32, see ``observing``
    cell             Discrete (M² + 1)  the cell that it stands in, counted from 1 on; 0: outside, or without cells
    goal_cell        Discrete (M² + 1)  the cell that holds its goal point, alike; only with that part
    action_mask      Box (4,)           int8, 1 for the actions that it may choose; only with the motion ``walk``

    action, walk     Discrete (4)       see ``acting``
    action, reach    Box (3,)           float32, weights from 0 to 1

The state of the team, for critics that see all: a Box of float32 numbers.

    2 N   positions of all agents, from the middle of the box around the reference positions, over its longer side
    N     1 for those who take part, else 0
    1     how much of the episode is over, from 0 to 1
    64    shares of the targets' weight in 8 × 8 squares of that box, row by row from below; those outside do not count
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tricover.control import Cells
from tricover.rl.knowing import MOVES
from tricover.rl.observing import CELLS, Observer, unit_of
from tricover.targets import Targets

__all__ = ["action_space", "observation_space", "observations_of", "state_of", "state_space"]

Floats = NDArray[np.float64]

SQUARES = 8


def observation_space(observer: Observer, resolution: int, walks: bool) -> spaces.Dict:
    """What one follower observes, with so many cells per side of its triangle."""
    low, high = observer.bounds
    cells = resolution**2 + 1
    parts: dict[str, spaces.Space[Any]] = {"observation": spaces.Box(low, high, dtype=np.float32)}
    for name in CELLS:
        if name in observer.parts:
            parts[name] = spaces.Discrete(cells)
    if walks:
        parts["action_mask"] = spaces.Box(0, 1, (MOVES,), np.int8)
    return spaces.Dict(parts)


def action_space(walks: bool) -> spaces.Space[Any]:
    """What one follower can do."""
    return spaces.Discrete(MOVES) if walks else spaces.Box(0.0, 1.0, (3,), np.float32)


def observations_of(
    observer: Observer, numbers: NDArray[np.float32], cells: Cells, masks: NDArray[np.bool_], walks: bool
) -> dict[str, Any]:
    """Observations of agents (A, …), by the names of the space: of one agent, or of many."""
    found: dict[str, Any] = {"observation": numbers}
    for name, which in zip(CELLS, (cells.state, cells.goal), strict=True):
        if name in observer.parts:
            found[name] = np.maximum(which, -1) + 1
    if walks:
        found["action_mask"] = masks.astype(np.int8)
    return found


def state_space(agents: int) -> spaces.Box:
    """The state of a team of so many agents."""
    low = np.zeros(3 * agents + 1 + SQUARES**2, np.float32)
    high = np.ones(len(low), np.float32)
    low[: 2 * agents], high[: 2 * agents] = -np.inf, np.inf
    return spaces.Box(low, high, dtype=np.float32)


def state_of(
    reference: Floats, positions: Floats, present: NDArray[np.bool_], targets: Targets, over: float
) -> NDArray[np.float32]:
    """The state of a team with reference positions (N, 2); ``over`` is how much of the episode is."""
    low, high = reference.min(axis=0), reference.max(axis=0)
    places = (positions - (low + high) / 2) / unit_of(reference)
    return np.concatenate([places.ravel(), present, [over], _squares(targets, low, high)]).astype(np.float32)


def _squares(targets: Targets, low: Floats, high: Floats) -> Floats:
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    along = (targets.points - low) / np.maximum(high - low, 1e-300)
    inside = ((along >= 0) & (along <= 1)).all(axis=1)
    column, row = np.minimum((SQUARES * along[inside]).astype(np.int64), SQUARES - 1).T
    sums = np.bincount(SQUARES * row + column, weights[inside], minlength=SQUARES**2)
    return np.asarray(sums / max(weights.sum(), 1e-300))
