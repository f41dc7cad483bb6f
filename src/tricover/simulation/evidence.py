"""What an agent that learns had to go by, step by step: its moves, the misses among them, and what it made of them.

From the run alone, that is, from where agents stood and what they intended: a move that ends in another cell than the
intended one is a miss. The chance to hit is that of the last W moves, n of them with h hits, as ``mdp.estimate`` has
it: (h + 1)/(n + 2), with the interval of Beta(h + 1, n - h + 1).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.control.records import RECORDS, learned_from
from tricover.errors import InputError
from tricover.network.roster import agent_indices

if TYPE_CHECKING:
    from tricover.mdp import KernelEstimate
    from tricover.simulation.run import Run

__all__ = ["Evidence", "evidence_of", "learned_by"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """The moves of one agent, K of them, and what it knew after each."""

    agent: int
    steps: Ints
    """(K,) when they were made."""
    missed: Flags
    """(K,) whether they ended in another cell than the intended one."""
    hit: Floats
    """(K,) the chance to hit by the moves up to this one."""
    low: Floats
    high: Floats
    """(K,) the 95% interval of that chance."""
    trusts: Flags
    """(K,) whether the agent acts as if moves always succeed."""

    def __repr__(self) -> str:
        if not len(self.steps):
            return f"<Evidence of agent {self.agent}: no moves>"
        moves = f"{len(self.steps)} moves, {self.missed.sum()} missed, {self.hit[-1]:.3f} to hit"
        return f"<Evidence of agent {self.agent}: {moves}, {'trusts' if self.trusts[-1] else 'does not trust'} them>"


def learned_by(run: "Run", agent: int) -> "KernelEstimate":
    """What a follower knows by the end of how its moves end."""
    from tricover.mdp import estimate_records

    told = run.epochs[-1].told
    if not told.learns:
        raise InputError('nobody learned in this run: set control.kernel = "learned", with motion = "walk"')
    agent_indices([agent], len(run.network))
    if run.network.layer[agent] < 1:
        raise InputError(f"agent {agent} is an anchor or lost: only followers learn")
    memory = {name: run.record.remembered(name)[agent : agent + 1] for name in RECORDS}
    (records,), (recorded,) = learned_from(memory)
    return estimate_records(told.grid, records, int(recorded))


def evidence_of(run: "Run", agent: int) -> Evidence:
    """The evidence of a follower in a run whose kernel is "learned"."""
    from tricover.mdp.estimate import beta_interval
    from tricover.mdp.learned import FEW, SELDOM

    run.learned(agent)  # says what is wrong with the run or the agent
    steps, missed = _moves(run, agent)
    window = run.epochs[-1].told.window
    total = np.append(0, np.cumsum(missed))
    made = np.arange(1, len(steps) + 1)
    counts = np.minimum(made, window)
    misses = total[made] - total[made - counts]
    hit = (counts - misses + 1) / (counts + 2)
    low, high = beta_interval(hit, counts + 2.0, 0.95, 0.0)
    trusts = (counts < FEW) | (misses < SELDOM * counts)
    return Evidence(agent, steps, missed, hit, low, high, np.asarray(trusts))


def _moves(run: "Run", agent: int) -> tuple[Ints, Flags]:
    """When (K,) an agent moved by its policy, and whether it missed (K,)."""
    from tricover.mdp import HIT, codes_of

    intended = run.next_cells[:, agent]
    steps = np.flatnonzero((run.states[:, agent] >= 0) & (intended >= 0))
    aimed, landed = intended[steps].astype(np.int64), run.positions[steps + 1, agent]
    codes = codes_of(run.epochs[-1].told.grid, aimed, landed, run.heard(agent)[steps])
    return steps, np.asarray(codes != HIT)
