"""Scenarios, missions, the one loop, runs and their store."""

from tricover.simulation.evidence import Evidence, evidence_of
from tricover.simulation.forecasts import forecast
from tricover.simulation.loop import Progress, simulate, steps
from tricover.simulation.mission import Epoch, Mission
from tricover.simulation.run import Run
from tricover.simulation.scenario import Scenario
from tricover.simulation.state import State
from tricover.simulation.step import Step, Transition, advance

__all__ = [
    "Epoch",
    "Evidence",
    "Mission",
    "Progress",
    "Run",
    "Scenario",
    "State",
    "Step",
    "Transition",
    "advance",
    "evidence_of",
    "forecast",
    "simulate",
    "steps",
]
