"""Many teams as one: a network without links between the teams, told to all agents at once.

Agent i of team b is agent b·N + i of the whole. So ``decide`` takes all agents of all teams in one call, one row each,
as it takes those of one team: rows are independent, and no row sees anything of another team. The goal rule hands the
rows of a team to that team's own rule, with its own targets. Teams with the same network, goal rule and still targets
are asked together: that is what makes a thousand copies of one scenario quick.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tricover.control import Told
from tricover.errors import InputError, shown
from tricover.goals import GoalRule, LocalGoal
from tricover.network import Network
from tricover.rl.knowing import Lists, targets_in
from tricover.simulation import Mission
from tricover.targets import TargetLists, Targets

__all__ = ["Fields", "check_alike", "stacked"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SAME = ("motion", "resolution", "alpha", "beta", "gamma", "margin", "kernel", "window")


def check_alike(missions: Sequence[Mission]) -> None:
    """Refuse teams that cannot be told the same, or that need more than a look and a move."""
    if not missions:
        raise InputError("there are no scenarios: give at least one")
    first = missions[0]
    for place, mission in enumerate(missions):
        why = _differs(first, mission) or _needs_more(mission)
        if why is not None:
            raise InputError(f"scenario {place} {why}")


def _differs(first: Mission, other: Mission) -> str | None:
    """What keeps two teams from being played side by side."""
    if other.agents != first.agents:
        return f"has {other.agents} agents, the first one {first.agents}: play teams of one size together"
    for name in _SAME:
        mine, theirs = (getattr(mission.epochs[0].told, name) for mission in (first, other))
        if mine != theirs:
            return f"has another {name} ({shown(theirs)}) than the first one ({shown(mine)})"
    if (other.scenario.steps, other.scenario.vehicle) != (first.scenario.steps, first.scenario.vehicle):
        return "has another number of steps, or another vehicle, than the first one"
    return None


def _needs_more(mission: Mission) -> str | None:
    world, scenario = mission.world, mission.scenario
    if len(mission.epochs) > 1 or mission.launch:
        return "has agents that leave, join, start from pads or polish their places: play it as a parallel_env"
    if mission.epochs[0].told.hears_near:
        return "has agents that go by their Voronoi cells: play it as a parallel_env"
    if not (world.channel.perfect and world.sensor.sees_all) or world.clearance.apart:
        return "has a world with late messages, limited sight or a separation: play it as a parallel_env"
    if scenario.safety.zones is not None or scenario.vehicle.others or scenario.control.policy is not None:
        return "has zones, more than one kind of vehicle, or a policy of its own: play it as a parallel_env"
    return None


def stacked(missions: Sequence[Mission]) -> Told:
    """What all agents of all teams are told, but for the goal rule."""
    tolds = [mission.epochs[0].told for mission in missions]
    length = max(len(told.paths) for told in tolds)
    ways = [told.paths[np.minimum(np.arange(length), len(told.paths) - 1)] for told in tolds]
    return replace(tolds[0], network=_one_network([told.network for told in tolds]), paths=np.concatenate(ways, axis=1))


def _one_network(networks: Sequence[Network]) -> Network:
    """All teams as one network: its anchors are those of the teams, in their order."""
    size = len(networks[0])
    links = [np.where(one.in_neighbors < 0, -1, one.in_neighbors + b * size) for b, one in enumerate(networks)]
    anchors = np.concatenate([one.anchors + b * size for b, one in enumerate(networks)])
    return Network(
        np.concatenate([one.reference for one in networks]),
        np.concatenate(links).astype(np.int32),
        np.concatenate([one.layer for one in networks]),
        np.concatenate([one.descendants for one in networks]),
        anchors[:-1],
        int(anchors[-1]),
    )


class Fields:
    """Which teams have the same network, goal rule and targets, and hence can be asked together."""

    def __init__(self, missions: Sequence[Mission]) -> None:
        self.missions, self._size = missions, missions[0].agents
        keys: dict[object, int] = {}
        firsts = [keys.setdefault(_field(mission, team), team) for team, mission in enumerate(missions)]
        self._first = np.array(firsts)  # the first team that has the same field as each

    def goals(self, step: int) -> GoalRule:
        """A goal rule that asks each team's own, with the targets that it has at a step."""
        rules = [mission.epochs[0].told.local_goal for mission in self.missions]

        def rule(network: Network) -> LocalGoal:
            def local_goal(agents: Ints, triangles: Floats, _: Targets | TargetLists) -> Floats:
                points = np.empty((len(agents), 2))
                for team, rows in self._rows(agents):
                    targets = self.missions[team].targets_at(step)
                    points[rows] = rules[team](agents[rows] % self._size, triangles[rows], targets)
                return points

            return local_goal

        return rule

    def lists(self, step: int, agents: Ints, triangles: Floats) -> Lists:
        """The targets that agents (A,), ascending, see in their triangles (A, 3, 2), each those of its own team."""
        groups = self._rows(agents)
        parts = [targets_in(triangles[rows], self.missions[team].targets_at(step)) for team, rows in groups]
        if len(parts) == 1:
            return parts[0]
        counts = np.concatenate([np.diff(offsets) for offsets, _, _ in parts])
        points, weights = (np.concatenate([part[column] for part in parts]) for column in (1, 2))
        order = np.concatenate([np.arange(len(agents))[rows] for _, rows in groups])
        return _in_order(np.argsort(order), counts, points, weights)

    def _rows(self, agents: Ints) -> list[tuple[int, Ints]]:
        """The first team of each field that agents (A,) are in, and the rows of those who are."""
        fields = self._first[agents // self._size]
        order = np.argsort(fields, kind="stable")
        teams, starts = np.unique(fields[order], return_index=True)
        cuts = pairwise([*starts.tolist(), len(agents)])
        return [(team, order[first:last]) for team, (first, last) in zip(teams.tolist(), cuts, strict=True)]


def _field(mission: Mission, team: int) -> object:
    """What teams have in common that can be asked together; targets that change are a team's own."""
    told, targets = mission.epochs[0].told, mission.targets
    if not targets.still:
        return team
    weights = None if targets.weights is None else targets.weights.tobytes()
    links = told.network.in_neighbors.tobytes(), told.network.reference.tobytes()
    return told.goal, links, targets.points.tobytes(), weights


def _in_order(order: Ints, counts: Ints, points: Floats, weights: Floats) -> Lists:
    """Lists with so many points each, (A,), in another order."""
    starts, lengths = (np.cumsum(counts) - counts)[order], counts[order]
    offsets = np.append(0, np.cumsum(lengths))
    chosen = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return offsets, points[chosen], weights[chosen]
