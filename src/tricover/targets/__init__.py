"""What the team is for: targets with weights that may move, and the index that sums them inside triangles."""

from tricover.targets.targets import Targets

__all__ = ["Targets"]
