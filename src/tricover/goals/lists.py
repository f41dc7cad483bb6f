"""What agents see: for each the list of the targets in its own closed triangle, in a fixed order.

Whatever a goal rule reads of the targets comes from this list. Sums of floats depend on their order, so a list is
sorted by x, then y, then weight: an order that no target outside of the triangle can change. An agent that is handed
only the targets in its triangle finds the same list, and hence the same goal, to the bit.
"""

import numpy as np

from tricover.goals._kernels import Seen
from tricover.goals.rules import Floats
from tricover.targets import TargetLists, Targets

__all__ = ["own_lists"]


def own_lists(triangles: Floats, targets: Targets | TargetLists) -> Seen:
    """The lists of the targets in triangles (A, 3, 2); what each agent knows there is a list already."""
    if isinstance(targets, TargetLists):
        table = np.empty((4, len(targets.weights)))
        table[:2], table[2] = targets.points.T, targets.weights
        return Seen(np.ascontiguousarray(triangles), targets.offsets, table)
    offsets, names = targets.members(triangles)
    # One sort for all lists: the number of the list comes first, the target's place in the order second.
    keys = np.repeat(np.arange(len(triangles)) << 32, np.diff(offsets))
    keys += targets.ranks[names]
    keys.sort()
    chosen = targets.order[keys & 0xFFFFFFFF]
    table = np.empty((4, len(chosen)))
    table[0], table[1] = targets.points[chosen, 0], targets.points[chosen, 1]
    table[2] = 1.0 if targets.weights is None else targets.weights[chosen]
    return Seen(np.ascontiguousarray(triangles), offsets, table)
