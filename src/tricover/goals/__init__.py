"""Where each follower should go (paper, Section V): goal rules, one file each, and the desired configuration.

``prepare(goal, network)`` gives the local goal function of a rule, by name or the user's own; see ``rules``:

    local_goal = prepare("centroid", network)
    points = local_goal(agents, triangles, targets)         # (A,), (A, 3, 2), Targets -> (A, 2)
    cells = goal_cells(points, triangles, CellGrid(35))     # (A,) goal states; -1 in a flat triangle
"""

from tricover.goals.anchors import anchor_positions
from tricover.goals.desired import desired_configuration, settled_configuration
from tricover.goals.points import goal_points
from tricover.goals.rules import RULES, GoalRule, LocalGoal, cell_points, goal_cells, prepare

__all__ = [
    "RULES",
    "GoalRule",
    "LocalGoal",
    "anchor_positions",
    "cell_points",
    "desired_configuration",
    "goal_cells",
    "goal_points",
    "prepare",
    "settled_configuration",
]
