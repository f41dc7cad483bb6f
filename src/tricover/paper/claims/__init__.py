"""The claims of the paper, in its order: one pure function each, from the study to a row of the table."""

from collections.abc import Callable

from tricover.paper.claims import cells, results, stability, structure, weights
from tricover.paper.claims.claim import DEVIATES, FAILS, HOLDS, Claim, Verdict
from tricover.paper.study import Study

__all__ = ["CLAIMS", "DEVIATES", "FAILS", "HOLDS", "Claim", "Verdict", "check"]

CLAIMS: tuple[Callable[[Study], Claim], ...] = (
    weights.weight_values,
    weights.weight_count,
    weights.weight_sum,
    weights.delaunay,
    structure.example_anchors,
    structure.example_layers,
    structure.example_in_neighbours,
    structure.example_cells,
    structure.three_in_neighbours,
    structure.deterministic,
    structure.one_way,
    structure.layers,
    structure.offsets,
    structure.last_layer,
    structure.mentors,
    structure.empty_cells,
    structure.setpoints,
    cells.kinds,
    cells.actions,
    cells.uncontained,
    cells.goal_cell,
    cells.bellman,
    cells.policy,
    cells.cells_per_side,
    cells.cost_of_state,
    cells.reward,
    stability.stochastic,
    stability.triangular,
    stability.condition_1,
    stability.condition_2,
    stability.contraction,
    stability.containment,
    stability.proposition,
    stability.convergence,
    stability.two_definitions,
    stability.anchors,
    structure.boundary_and_core,
    cells.cell_count,
    results.covers,
    results.desired_positions,
    results.reach_all,
    results.agent_29,
    results.walk_all,
    results.agent_43,
    results.within,
    stability.landing_anywhere,
    results.caption,
    results.optimal,
)


def check(study: Study) -> tuple[Claim, ...]:
    """All claims, measured."""
    return tuple(claim(study) for claim in CLAIMS)
