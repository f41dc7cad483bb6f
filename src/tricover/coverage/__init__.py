"""How good the coverage is, Lloyd's algorithm beside it, and formations planned for known targets."""

from tricover.coverage.lloyd import LloydResult, lloyd
from tricover.coverage.metrics import Coverage, coverage_cost, measure_coverage
from tricover.coverage.plan import Plan, plan_formation

__all__ = ["Coverage", "LloydResult", "Plan", "coverage_cost", "lloyd", "measure_coverage", "plan_formation"]
