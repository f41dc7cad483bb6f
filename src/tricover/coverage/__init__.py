"""How good the coverage is, Lloyd's algorithm beside it, and formations planned for known targets."""

from tricover.coverage.baselines import Baselines, baselines_of
from tricover.coverage.compare import Comparison, Method, compare_methods
from tricover.coverage.lloyd import LloydResult, lloyd
from tricover.coverage.metrics import Coverage, coverage_cost, has_targets, measure_coverage
from tricover.coverage.plan import Plan, plan_formation, plan_reference
from tricover.coverage.trace import CoverageTrace, coverage_over_time, lloyd_through
from tricover.coverage.voronoi import voronoi_cells

__all__ = [
    "Baselines",
    "Comparison",
    "Coverage",
    "CoverageTrace",
    "LloydResult",
    "Method",
    "Plan",
    "baselines_of",
    "compare_methods",
    "coverage_cost",
    "coverage_over_time",
    "has_targets",
    "lloyd",
    "lloyd_through",
    "measure_coverage",
    "plan_formation",
    "plan_reference",
    "voronoi_cells",
]
