"""How good the coverage is, Lloyd's algorithm beside it, and formations planned for known targets."""

from tricover.coverage.compare import Comparison, Method, compare_methods
from tricover.coverage.lloyd import LloydResult, lloyd
from tricover.coverage.metrics import Coverage, coverage_cost, measure_coverage
from tricover.coverage.plan import Plan, plan_formation
from tricover.coverage.trace import CoverageTrace, coverage_over_time
from tricover.coverage.voronoi import voronoi_cells

__all__ = [
    "Comparison",
    "Coverage",
    "CoverageTrace",
    "LloydResult",
    "Method",
    "Plan",
    "compare_methods",
    "coverage_cost",
    "coverage_over_time",
    "lloyd",
    "measure_coverage",
    "plan_formation",
    "voronoi_cells",
]
