"""The local step of a follower: from what it knows to what it does, for one agent or for all of them."""

from tricover.control.reach_sets import inset, points_as_sets
from tricover.control.step import MOTIONS, Constants, Decision, View, decide

__all__ = ["MOTIONS", "Constants", "Decision", "View", "decide", "inset", "points_as_sets"]
