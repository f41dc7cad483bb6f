"""What is wrong with a table of a flight, found by exact arithmetic and none of the code of the certificates.

Coordinates are integers, in units of 2⁻²⁰⁰ m: doubles are such numbers, and sums and products of them are exact.

Only what is certainly wrong is named. Within a few times the rounding that the certificates state, nothing is.

    doubled     an agent has two positions at one time
    missing     an agent of the network has none
    nothing     no step, or no follower
    time        two times that follow each other are not one step apart
    anchor      an anchor that should stand is elsewhere
    landing     a follower landed outside the triangle of its in-neighbours
    cell        a follower of a walk landed in none of the cells that it can have been sent to
    desired     a team that lands on points is not at its desired positions, long after it should be
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median

__all__ = ["Told", "desired_of", "exact", "settled", "wrongs"]

_UNITS = 2**200  # in a metre
_FEW = 4 * 16 * Fraction(1, 2**52)  # four times the rounding that is stated
_NEAR = Fraction(1, 10**7)  # of a cell, or of the field: clear of all rounding


@dataclass(frozen=True)
class Told:
    """What a certificate is told beside the table.

    Attributes:
        networks: first steps and networks.
        arrived: the step from which on anchors must stand; None: from when on they are at their places.
        tolerance: metres to which they stand.
        scenario: None if it is not told.
        jitter: share of a step.
    """

    networks: list
    arrived: int | None = 0
    tolerance: float = 0.0
    scenario: object = None
    jitter: float = 0.1

    def network_at(self, step):
        """The network of a step."""
        return [network for start, network in self.networks if start <= step][-1]


def wrongs(rows, told):
    """Names of all that is wrong with rows (time, agent, x, y)."""
    table = defaultdict(dict)
    for time, agent, x, y in rows:
        if agent in table[time]:
            return {"doubled"}
        table[time][agent] = (exact(x), exact(y))
    times = sorted(table)
    places = [table[time] for time in times]
    if _missing(places, told):
        return {"missing"}
    if len(times) < 2 or not any(len(told.network_at(step).followers) for step in range(len(times) - 1)):
        return {"nothing"}
    found = {"time"} if _uneven(times, told) else set()
    found |= {"anchor"} if _off(places, told) else set()
    for step in range(len(places) - 1):
        found |= _landings(places[step], places[step + 1], told.network_at(step), told.scenario)
    if told.scenario is not None and _long(places, told):
        found |= set() if settled(places, told) in (True, None) else {"desired"}
    return found


def exact(metres):
    """A coordinate in units."""
    top, bottom = float(metres).as_integer_ratio()
    assert bottom <= _UNITS
    return top * (_UNITS // bottom)


def _missing(places, told):
    for step, here in enumerate(places):
        networks = {id(n): n for n in (told.network_at(max(step - 1, 0)), told.network_at(step))}
        if step == len(places) - 1:
            networks = {0: told.network_at(max(step - 1, 0))}
        for network in networks.values():
            if any(layer >= 0 and agent not in here for agent, layer in enumerate(network.layer.tolist())):
                return True
    return False


def _uneven(times, told):
    moments = [Fraction(time) for time in times]
    steps = [after - before for before, after in pairwise(moments)]
    duration = median(steps) if told.scenario is None else Fraction(told.scenario.vehicle.duration)
    slack = _FEW * max(map(abs, moments))
    return any(abs(step - duration) > Fraction(told.jitter) * duration + slack for step in steps)


def _off(places, told):
    """Whether an anchor of some epoch stands elsewhere: where it stood first, or where the scenario sends it."""
    last = len(places) - 1
    starts = [start for start, _ in told.networks if start < last]
    for start, stop in zip(starts, [*starts[1:], last], strict=True):
        anchors = told.network_at(start).anchors.tolist()
        home = _homes(told, start, anchors)
        if told.scenario is not None and home is None:
            continue
        due = start if told.arrived is None else max(start, told.arrived)
        seen = range(due, stop + 1)
        if told.scenario is not None:
            seen = [step for step in seen if all(_near(places[step][a], home[a], told) for a in anchors)][:1]
            seen = range(seen[0], stop + 1) if seen else ()
            if not seen and stop > start + _steps_on_paths(told.scenario):
                return True
        elif len(seen):
            home = places[seen[0]]
        if any(not _near(places[step][agent], home[agent], told) for step in seen for agent in anchors):
            return True
    return False


def _homes(told, start, anchors):
    if told.scenario is None:
        return None
    section, network = told.scenario.anchors, told.network_at(start)
    first = told.networks[0][1]
    if section is not None and (first.lost.size or anchors != first.anchors.tolist()):
        return None  # who becomes an anchor has no place of its own
    if section is None:
        places = network.reference[network.anchors]
    else:
        places = section.positions if section.paths is None else section.paths[-1]
    return {agent: (exact(x), exact(y)) for agent, (x, y) in zip(anchors, places, strict=True)}


def _steps_on_paths(scenario):
    return 0 if scenario.anchors is None or scenario.anchors.paths is None else len(scenario.anchors.paths)


def _near(one, other, told):
    return _square(one, other) <= (exact(told.tolerance) * (1 + _NEAR)) ** 2


def _cross(a, b, p):
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def _landings(before, after, network, scenario):
    found = set()
    walks = scenario is not None and scenario.control.motion == "walk"
    for agent in network.followers.tolist():
        corners, point = [before[j] for j in network.in_neighbors[agent].tolist()], after[agent]
        area = _cross(*corners)
        if _flat(area, corners):
            continue
        if _outside(point, corners, area):
            found.add("landing")
        elif walks and _no_cell(_weights(before[agent], corners, area), _weights(point, corners, area), scenario):
            found.add("cell")
    return found


def _flat(area, corners):
    """Whether a triangle has no area but for rounding: it has no cells, and the points of its edges are all it has."""
    a, b, c = (_square(*pair) for pair in (corners[:2], corners[1:], corners[::2]))
    return area**2 <= _FEW**2 * max(a * b, b * c, c * a)


def _square(a, b):
    return (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2


def _outside(point, corners, area):
    """Whether a point is beyond a side of a triangle, by more than rounding."""
    largest = max(abs(value) for place in (point, *corners) for value in place)
    for k in range(3):
        a, b = corners[k], corners[(k + 1) % 3]
        beyond = -_cross(a, b, point) * (1 if area > 0 else -1)
        if beyond > 0 and beyond**2 > (_FEW * largest) ** 2 * _square(a, b):
            return True
    return False


def _weights(point, corners, area):
    a, b, c = corners
    return tuple(Fraction(_cross(*side, point), area) for side in ((b, c), (c, a), (a, b)))


def _cell(weights, resolution):
    """The cell of weights: three integers, and whether it points up; None close to an edge."""
    scaled = [resolution * weight for weight in weights]
    if min(weights) < 0 or any(abs(value - round(value)) < _NEAR for value in scaled):
        return None
    floors = tuple(int(value) for value in scaled)
    return floors, sum(floors) == resolution - 1


def _margin(weights, cell, resolution):
    floors, up = cell
    offsets = [resolution * weight - floor for weight, floor in zip(weights, floors, strict=True)]
    return min(offsets) if up else min(1 - offset for offset in offsets)


def _no_cell(standing, landing, scenario):
    """Whether a landing keeps the margin in neither the cell of the agent nor one that shares an edge with it."""
    resolution, margin = scenario.control.resolution, Fraction(scenario.control.margin)
    if min(standing) < -_NEAR:
        return min(landing) < margin - _NEAR
    cell = _cell(standing, resolution)
    if cell is None:
        return False
    floors, up = cell
    step = -1 if up else 1
    around = [(tuple(f + step * (k == j) for j, f in enumerate(floors)), not up) for k in range(3)]
    cells = [cell, *(other for other in around if min(other[0]) >= 0)]
    return max(_margin(landing, one, resolution) for one in cells) < margin - _NEAR


def desired_of(network, homes, scenario):
    """Desired positions by agent, layer by layer; None if a goal is too close to an edge to say."""
    found = dict(homes)
    targets = [(exact(x), exact(y)) for x, y in scenario.targets.positions]
    for agent in [agent for layer in network.layers[1:] for agent in layer.tolist()]:
        corners = [found[j] for j in network.in_neighbors[agent].tolist()]
        area = _cross(*corners)
        if not area:
            return None
        inside = [target for target in targets if _inside(target, corners, area)]
        goal = _mean(inside or corners)
        if scenario.control.motion == "walk":
            cell = _cell(_weights(goal, corners, area), scenario.control.resolution)
            if cell is None:
                return None
            floors, up = cell
            shares = [3 * f + (1 if up else 2) for f in floors]
            goal = tuple(
                sum(share * corner[axis] for share, corner in zip(shares, corners, strict=True))
                // (3 * scenario.control.resolution)
                for axis in range(2)
            )
        found[agent] = goal
    return found


def _inside(point, corners, area):
    a, b, c = corners
    return all(_cross(*side, point) * area >= 0 for side in ((b, c), (c, a), (a, b)))


def _mean(points):
    return tuple(sum(point[axis] for point in points) // len(points) for axis in range(2))


def _on_points(scenario):
    return scenario.vehicle.kind == "exact" and not scenario.vehicle.others and scenario.control.goal == "centroid"


def settled(places, told):
    """Whether the team ends at its desired positions; None where this is not claimed of points, or hard to say."""
    scenario, network = told.scenario, told.networks[-1][1]
    if scenario is None or not _on_points(scenario) or scenario.targets.motion is not None:
        return None
    homes = _homes(told, told.networks[-1][0], network.anchors.tolist())
    desired = None if homes is None else desired_of(network, homes, scenario)
    if desired is None:
        return None
    extent = max(abs(value) for place in desired.values() for value in place)
    last = places[-1]
    return all(
        abs(last[agent][axis] - desired[agent][axis]) <= _NEAR / 100 * extent
        for agent in network.followers.tolist()
        for axis in range(2)
    )


def _long(places, told):
    """Whether a log is long enough to demand that the team is at rest."""
    start, network = told.networks[-1]
    control = told.scenario.control
    pace = 1 if control.motion == "reach" else 2 * control.resolution - 1
    return len(places) - 1 >= start + 1 + _steps_on_paths(told.scenario) + pace * network.depth
