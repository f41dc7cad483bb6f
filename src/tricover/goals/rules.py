"""What a goal rule is, and how its answers are made total.

A rule is called once with the network and hands back the local goal function, which the team calls in every step:

    rule(network) -> local_goal
    local_goal(agents (A,), triangles (A, 3, 2), targets) -> goal points h_i (A, 2)

``agents`` are followers, ``triangles`` the positions of their in-neighbours in the order of ``network.in_neighbors``.
Row by row a local goal may use only what that agent can know: its triangle, the targets inside it, and constants of
the network, which everybody can derive from the roster. So it must choose the same goal if it is handed only the
targets in the triangle (``targets.within``), perhaps none. The same function serves ``desired_configuration`` and every
step of a run; a single agent is a batch of one.

Agents that see only so far know each something else. Then ``targets`` are lists (``TargetLists``), a row for each
agent, with what it knows in its triangle. Built-in rules take them as they are. A rule of the user's own takes
``Targets``, so it is asked agent by agent.

>>> import numpy as np
>>> def incentre(network):
...     def local_goal(agents, triangles, targets):
...         sides = np.linalg.norm(np.roll(triangles, -1, 1) - np.roll(triangles, 1, 1), axis=2, keepdims=True)
...         return (sides * triangles).sum(axis=1) / sides.sum(axis=1)
...     return local_goal
>>> local_goal = prepare(incentre, None)
>>> local_goal(np.array([7]), np.array([[[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]]), None)
array([[1., 1.]])
"""

from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, listed
from tricover.geometry import CellGrid, barycentric, combine, flat, volumes
from tricover.network import Network
from tricover.own import check_form, found, is_name
from tricover.targets import TargetLists, Targets

__all__ = ["RULES", "TEAM_RULES", "GoalRule", "LocalGoal", "cell_points", "goal_cells", "inner_weights", "prepare"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LocalGoal: TypeAlias = Callable[[Ints, Floats, Targets | TargetLists], Floats]
GoalRule: TypeAlias = Callable[[Network], LocalGoal]

#: Names of the built-in rules; each is the function of that name in the module of that name.
RULES = ("centroid", "predictive", "rollout", "reference")
#: Goals that ask for more than a triangle and its targets: the network itself is planned, or agents near by are heard.
TEAM_RULES = ("cellplan", "voronoi", "descent")

# Of the triangle's size: how far outside a goal point may be. Rounding of a weighted mean does 1e-15 or so; points that
# went through a file with ten digits pass, too.
_OUTSIDE_BY = 1e-9


def prepare(goal: str | GoalRule, network: Network) -> LocalGoal:
    """The local goal function of a rule, by name or the user's own, for a network.

    It is total: a triangle without area has no cells and no inside, so its agent goes to the mean of its in-neighbours,
    whatever the rule. A goal of the user's rule outside the triangle would break the guarantee and is an error that
    names the agent.
    """
    own = callable(goal) or is_name(goal)
    local_goal = _own_goal(goal, network) if own else _built_in(goal)(network)
    if goal == "centroid":  # is total already: a few triangles without area shall cost a million others no copies
        return local_goal

    def total(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
        without_area = flat(triangles)
        if not without_area.any():
            return asked(agents, triangles, targets)
        points: Floats = triangles.mean(axis=1)
        proper = np.flatnonzero(~without_area)
        if proper.size:
            known = targets.rows(proper) if isinstance(targets, TargetLists) else targets
            points[proper] = asked(agents[proper], triangles[proper], known)
        return points

    def asked(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
        if own and isinstance(targets, TargetLists):
            rows = range(len(agents))
            return np.concatenate(
                [asked(agents[k : k + 1], triangles[k : k + 1], targets.targets(k)) for k in rows] or [np.empty((0, 2))]
            )
        points = np.asarray(local_goal(agents, triangles, targets), dtype=np.float64)
        if own:
            _check(points, agents, triangles)
        return points

    return total


def _built_in(name: object) -> GoalRule:
    if name in TEAM_RULES:
        raise InputError(f"the goal {name!r} is about more than one triangle: simulate a scenario with it")
    if name not in RULES:
        raise InputError(f"goal must be {', '.join(map(repr, RULES))}, a function or 'module:function', not {name!r}")
    rule: GoalRule = getattr(import_module(f"tricover.goals.{name}"), str(name))
    return rule


def _own_goal(goal: str | GoalRule, network: Network) -> LocalGoal:
    """The local goal function of a user's rule; a rule of the wrong form is an error that tells the right one."""
    rule = found(goal) if isinstance(goal, str) else goal
    check_form(rule, "a goal rule", "network")
    local_goal = rule(network)
    check_form(local_goal, "what a goal rule gives back", "agents", "triangles", "targets")
    return local_goal


def _check(points: Floats, agents: Ints, triangles: Floats) -> None:
    if points.shape != (len(agents), 2):
        raise InputError(f"the goal rule gave points of shape {points.shape} for {len(agents)} agents")
    broken = agents[~np.isfinite(points).all(axis=1)]
    if broken.size:
        raise InputError(f"the goal rule gave agent {listed(broken)} a point that is not finite")
    size = np.ptp(triangles, axis=1).max(axis=1) + np.abs(triangles).max(axis=(1, 2)) * 1e-5
    outside = agents[_distance_outside(points, triangles) > _OUTSIDE_BY * size]
    if outside.size:
        raise InputError(f"the goal rule sent agent {listed(outside)} out of its triangle")


def _distance_outside(points: Floats, triangles: Floats) -> Floats:
    """How far points are beyond a side or the bounding box: unlike barycentric coordinates, good for slivers too."""
    sides = np.roll(triangles, -1, axis=1) - triangles
    away = points[:, None] - triangles
    turns = sides[..., 0] * away[..., 1] - sides[..., 1] * away[..., 0]
    lengths = np.hypot(sides[..., 0], sides[..., 1])
    beyond_side = (-np.sign(volumes(triangles))[:, None] * turns / lengths).max(axis=1)
    beyond_box = np.maximum(triangles.min(axis=1) - points, points - triangles.max(axis=1)).max(axis=1)
    return np.asarray(np.maximum(beyond_side, beyond_box))


def inner_weights(points: Floats, triangles: Floats) -> Floats:
    """Barycentric coordinates (A, 3) of points in their triangles, with what rounding put below zero cut off."""
    weights = np.maximum(barycentric(points, triangles), 0.0)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def goal_cells(points: Floats, triangles: Floats, grid: CellGrid) -> Ints:
    """Goal states g_i (A,): the cells of triangles (A, 3, 2) that hold goal points (A, 2); -1 in a flat triangle."""
    return grid.holding(points, triangles, within=True)


def cell_points(cells: Ints, triangles: Floats, grid: CellGrid) -> Floats:
    """Centres (A, 2) of cells (A,) in triangles (A, 3, 2); the mean of the corners for cell -1."""
    weights = np.where(cells[:, None] < 0, 1 / 3, grid.weights[np.maximum(cells, 0)])
    return combine(weights, triangles)
