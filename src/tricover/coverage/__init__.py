"""How good the coverage is, and Lloyd's algorithm beside it."""

from tricover.coverage.lloyd import LloydResult, lloyd
from tricover.coverage.metrics import Coverage, coverage_cost, measure_coverage

__all__ = ["Coverage", "LloydResult", "coverage_cost", "lloyd", "measure_coverage"]
