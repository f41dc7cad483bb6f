"""The cost of a follower's decision process, its reward at the goal, and the form in which solvers see both.

The paper's cost, with r(s) the centre of cell s and g the goal cell:

    C(s) = α‖r(s) - r(g)‖ for s ≠ g,   C(g) = -β,   V(s) = min_a { C(s) + γ Σ_s' P(s'|s,a) V(s') }.

(The paper writes C(s, a) in the Bellman equation and C(s) in the definition; this is C(s).) Terrain adds a cost
c(s) ≥ 0 of its own to each cell but the goal.

**Unit.** Costs are divided by α times the longest side S of the triangle: results do not change under rotation and
translation, and scale with the triangle.

**Default reward.** With β too small for γ and the triangle's shape, an agent can do best by staying put short of the
goal. The default is the least power sum that rules this out for every triangle, goal and γ:

    β = α S Σ_{k=0}^{2M-2} γ^{-k}.

*Claim: with this β or a larger one, and moves that always succeed, every optimal walk is a shortest walk to the goal,
hence at most 2M-2 moves long.* Let n(s) be the moves from s to g and w(s) the least discounted cost Σ_t γ^t α‖·‖ over
shortest walks, so that walking is worth V(s) = w(s) - β γ^n(s) / (1-γ). Being at g is best, as only g pays. Elsewhere,
let s' be the next cell of the best shortest walk from s, n = n(s). Compared with it, staying once costs β γ^n + γ
(w(s) - w(s')) more and moving away, to s'', β γ^n (1+γ) + γ (w(s'') - w(s')) more. A walk from s' pays less than α S
in each of n-1 steps, so γ w(s') < α S (γ + … + γ^{n-1}), while β γ^n ≥ α S (1 + γ + … + γ^n) since n ≤ 2M-2. Both
differences exceed α S: the policy is greedy for its own value, hence optimal, and it is far from a tie. ∎

**Forbidden cells and terrain.** Cells that must not be entered are taken out of the cell graph, and n(s) are the moves
in what is left: up to L of them, where L may be as large as M² - 2 instead of 2M - 2. A step costs less than U = α S +
max c. The proof above asks for nothing else: two neighbours differ by one in n (cells point up and down by turns, so a
walk between two of them is always odd or always even), and β γ^n ≥ U (1 + γ + … + γ^n) for n ≤ L. So with

    β = U Σ_{k=0}^{L} γ^{-k},   L = max(2M - 2, largest n(s)),

every optimal walk is a shortest one around the forbidden cells, and every cell that has a walk to the goal takes it.
Terrain then chooses among shortest walks; with a smaller β an agent may take a longer one around rough cells, or stay.
Cells that no walk leads from to the goal, forbidden ones among them, have one action: to stay, which costs C(s)/(1-γ).
They are not shaped.

For thin triangles no β that grows slower than γ^{-2M} would do: a cell far off in moves can lie as near as you like to
the goal in metres. Where that power overflows (γ below 7.7e-5 at resolution 35), there is no default, and the error
says so.

**Shaping.** Rewards that large would drown the distances near the goal in rounding. Solvers therefore work on

    V'(s) = V(s) + β γ^n(s) / (1-γ),

which obeys the same Bellman equation with the stage cost

    C'(s, a) = α‖r(s) - r(g)‖ + β γ^n(s) Σ_s' P(s'|s,a) (1 - γ^{1+n(s')-n(s)}) / (1-γ)    for s ≠ g,
    C'(g, a) = β γ Σ_s' P(s'|g,a) (1 - γ^n(s')) / (1-γ):

zero extra for a step towards the goal, β γ^n for staying, β γ^n (1+γ) for a step away. With moves that always succeed
0 ≤ V' < α S / (1-γ) whatever β is, so policies are right to the last digit of the distances. For a kernel of any reach
the quotient is a sum of n(s') - n(s) + 1 powers of γ. Ends that are k > 2 moves nearer to the goal are counted from
there, as -β γ^{1+n(s')} (1 + γ + … + γ^{k-2}), since γ^{-k} alone may overflow.

**Outside.** Where the kernel knows the uncontained state, being there costs U a step: α S, at least what any cell
costs, and the most that terrain adds. An agent outside has no choice but to go to around the centroid of its triangle,
hence to end as if it intended the cell c that holds it:

    V(out) = (U + γ Σ_{e ≠ out} μ_c(e) V(e)) / (1 - γ μ_c(out)).

Shaping leaves the optimum alone whatever n is, so outside gets n(out) = n(c) + 1: coming back is a step to the goal.
"""

import math
from functools import lru_cache

from tricover.errors import InputError

__all__ = ["default_beta", "sufficient_beta"]


@lru_cache(maxsize=64)
def sufficient_beta(resolution: int, gamma: float, farthest: int = 0) -> float:
    """Σ_{k=0}^{L} γ^{-k}: rewards from here on, in units of a step's cost, lead by shortest walks.

    L is 2M-2, or the moves of the cell that is ``farthest`` from the goal if that is more. A step costs α times the
    longest side, and what terrain adds.

    >>> sufficient_beta(2, 0.5)
    7.0
    >>> round(sufficient_beta(35, 0.95), 1)
    635.4
    """
    last = max(2 * resolution - 2, farthest)
    return math.fsum(gamma**-power for power in range(last + 1)) if gamma >= _least(last) else math.inf


def default_beta(resolution: int, gamma: float, farthest: int = 0) -> float:
    """``sufficient_beta``, or an error where it overflows."""
    beta = sufficient_beta(resolution, gamma, farthest)
    if beta == math.inf:
        raise InputError(
            f"gamma {gamma:g} is too small for resolution {resolution}: the default beta overflows; "
            f"take gamma from {_least(max(2 * resolution - 2, farthest)):.2g} on, a lower resolution, "
            "or a beta of your own"
        )
    return beta


def _least(moves: int) -> float:
    return float(1e-280 ** (1 / max(moves, 1)))
