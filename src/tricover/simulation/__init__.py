"""Scenarios, the one loop, runs and their store."""

from tricover.simulation.loop import Progress, simulate
from tricover.simulation.run import Run
from tricover.simulation.scenario import Scenario

__all__ = ["Progress", "Run", "Scenario", "simulate"]
