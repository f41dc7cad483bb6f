"""The cost of a follower's decision process, its reward at the goal, and the form in which solvers see both.

The paper's cost, with r(s) the centre of cell s and g the goal cell:

    C(s) = α‖r(s) - r(g)‖ for s ≠ g,   C(g) = -β,   V(s) = min_a { C(s) + γ Σ_s' P(s'|s,a) V(s') }.

(The paper writes C(s, a) in the Bellman equation and C(s) in the definition; this is C(s).)

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

For thin triangles no β that grows slower than γ^{-2M} would do: a cell far off in moves can lie as near as you like to
the goal in metres. Where that power overflows (γ below 7.7e-5 at resolution 35), there is no default, and the error
says so.

**Shaping.** Rewards that large would drown the distances near the goal in rounding. Solvers therefore work on

    V'(s) = V(s) + β γ^n(s) / (1-γ),

which obeys the same Bellman equation with the stage cost

    C'(s, a) = α‖r(s) - r(g)‖ + β γ^n(s) Σ_s' P(s'|s,a) (1 - γ^{1+n(s')-n(s)}) / (1-γ)    for s ≠ g,
    C'(g, a) = β γ Σ_s' P(s'|g,a) (1 - γ^n(s')) / (1-γ):

zero extra for a step towards the goal, β γ^n for staying, β γ^n (1+γ) for a step away. With moves that always succeed
0 ≤ V' < α S / (1-γ) whatever β is, so policies are right to the last digit of the distances.
"""

import math
from functools import lru_cache

from tricover.errors import InputError

__all__ = ["default_beta", "sufficient_beta"]


@lru_cache(maxsize=64)
def sufficient_beta(resolution: int, gamma: float) -> float:
    """Σ_{k=0}^{2M-2} γ^{-k}: rewards from here on, in units of α times the longest side, lead by shortest walks.

    >>> sufficient_beta(2, 0.5)
    7.0
    >>> round(sufficient_beta(35, 0.95), 1)
    635.4
    """
    last = 2 * resolution - 2
    return math.fsum(gamma**-power for power in range(last + 1)) if gamma >= _least(resolution) else math.inf


def default_beta(resolution: int, gamma: float) -> float:
    """``sufficient_beta``, or an error where it overflows."""
    beta = sufficient_beta(resolution, gamma)
    if beta == math.inf:
        raise InputError(
            f"gamma {gamma:g} is too small for resolution {resolution}: the default beta overflows; "
            f"take gamma from {_least(resolution):.2g} on, a lower resolution, or a beta of your own"
        )
    return beta


def _least(resolution: int) -> float:
    return float(1e-280 ** (1 / max(2 * resolution - 2, 1)))
