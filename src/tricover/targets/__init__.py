"""What the team is for: targets with weights that may move, and the index that sums them inside triangles."""

from tricover.targets.lists import TargetLists
from tricover.targets.targets import Targets, as_targets

__all__ = ["TargetLists", "Targets", "as_targets"]
