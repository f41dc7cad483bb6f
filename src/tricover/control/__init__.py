"""All that an agent is: what it was told, what it knows, what it remembers, and what it decides.

    decide(view, told, memory) -> Decision     a function of knowledge alone; one row per agent, rows independent
    learn(view, told, memory, decision, landed) -> memory     what an agent keeps of the step it has taken
    tell(view, told, memory), report(told, memory)     what it tells others of targets, where agents see only so far

A simulator calls these with all agents, a process on a drone with one: the functions are the same.
"""

from tricover.control.arrival import distances
from tricover.control.decision import GAVE_WAY, HOLD, NO_CELL, Cells, Decision, cells_of, decide
from tricover.control.gathering import knowledge
from tricover.control.memory import Memory, learn, memory_of, rows_of
from tricover.control.reach_sets import inset, points_as_sets, reach_sets_of
from tricover.control.sharing import report, tell
from tricover.control.told import MOTIONS, Motion, Told
from tricover.control.view import Near, Received, View
from tricover.control.zones import CutOff, cut_off, named_by_zone

__all__ = [
    "GAVE_WAY",
    "HOLD",
    "MOTIONS",
    "NO_CELL",
    "Cells",
    "CutOff",
    "Decision",
    "Memory",
    "Motion",
    "Near",
    "Received",
    "Told",
    "View",
    "cells_of",
    "cut_off",
    "decide",
    "distances",
    "inset",
    "knowledge",
    "learn",
    "memory_of",
    "named_by_zone",
    "points_as_sets",
    "reach_sets_of",
    "report",
    "rows_of",
    "tell",
]
