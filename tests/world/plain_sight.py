"""A slow model of agents that see only so far: dictionaries, sets and exact fractions, one agent after another.

It knows the goal ``centroid`` and the motion ``reach``. A target is (x, y, weight, fresh) by its name; a point without
a name stands in a list.
"""

from fractions import Fraction

import numpy as np

from tricover.control.family import family_of


def turn(a, b, c):
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(v) for v in p] for p in (a, b, c))
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def holds(corners, point):
    """Whether a closed triangle holds a point, exactly; one without area is a segment or a point."""
    a, b, c = corners
    sides = [turn(a, b, point), turn(b, c, point), turn(c, a, point)]
    area = turn(a, b, c)
    if area == 0:
        box = all(min(p[k] for p in corners) <= point[k] <= max(p[k] for p in corners) for k in range(2))
        return box and not any(sides)
    return all(side * area >= 0 for side in sides)


def thin(corners):
    """Whether a triangle counts as one without area: where rounding is all that it has of it."""
    longest = max(abs(a[k] - b[k]) for a in corners for b in corners for k in range(2))
    return abs(turn(*corners)) <= 1e-12 * longest**2


def near(one, other, radius):
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 <= radius**2


class Plain:
    """A team step by step."""

    def __init__(self, network, positions, places, sight, summary):
        self.network, self.sight, self.summary = network, sight, summary
        self.family = family_of(network)
        self.positions = {i: tuple(p) for i, p in enumerate(positions.tolist())}
        self.places = dict(zip(network.anchors.tolist(), map(tuple, places.tolist()), strict=True))
        self.links = {int(i): network.in_neighbors[i].tolist() for i in network.followers}
        self.memory = {i: {} for i in self.positions}
        self.reports = {i: ({}, []) for i in self.links}  # by name, and without
        self.sums = dict.fromkeys(self.links, (0, 0, 0))
        self.parents, self.children = {}, {i: [None] * 3 for i in self.links}
        for i, row in self.links.items():
            above = max(row, key=lambda j: network.layer[j])
            if network.layer[above] > 0:
                self.parents[i] = above
                self.children[above][row.index(above)] = i
        self.numbers = {}

    def step(self, targets):
        """Targets (x, y, weight) by name; returns the new positions."""
        self.own = {i: self.look(i, targets) for i in self.positions}
        listened = {j for row in self.links.values() for j in row}
        self.numbers = {i: 2 + 3 * len(self.own[i]) * (i in listened) for i in self.positions}
        for i in self.parents:
            self.numbers[i] += 3 if self.summary == "sums" else 3 * sum(map(len, self.reports[i]))
        if self.summary is None:
            for i in self.links:
                self.numbers[i] = 2 + 3 * len(self.own[i]) * (i in listened)
        new, reports, sums = dict(self.places), {}, {}
        for i, row in self.links.items():
            corners = [self.positions[j] for j in row]
            if self.summary == "sums":
                points, sums[i] = self.by_cells(i, corners)
            else:
                points, reports[i] = self.known(i, corners)
            total = sum(Fraction(w) for _, _, w in points)
            if total > 0 and not thin(corners):
                new[i] = tuple(float(sum(Fraction(p[k]) * Fraction(p[2]) for p in points) / total) for k in range(2))
            else:
                new[i] = tuple(sum(p[k] for p in corners) / 3 for k in range(2))
        self.memory = {i: {n: (*t[:3], False) for n, t in own.items()} for i, own in self.own.items()}
        self.reports, self.sums, self.positions = reports or self.reports, sums or self.sums, new
        return np.array([new[i] for i in sorted(new)])

    def look(self, i, targets):
        here = self.positions[i]
        seen = {n: (*t, True) for n, t in targets.items() if near(t, here, self.sight)}
        kept = {n: t for n, t in self.memory[i].items() if n not in seen and not near(t, here, self.sight)}
        return seen | kept

    def told(self, i, corners):
        """What its in-neighbours tell of its triangle; who sees goes before who remembers, then the order of links."""
        found = {}
        for j in self.links[i]:
            for n, t in self.own[j].items():
                if holds(corners, t[:2]) and (n not in found or (t[3] and not found[n][3])):
                    found[n] = t
        return found

    def known(self, i, corners):
        told, below = self.told(i, corners), {}
        if self.summary is not None:
            for child in self.children[i]:
                for n, t in ({} if child is None else self.reports[child][0]).items():
                    if n not in below or (t[3] and not below[n][3]):
                        below[n] = t
        everything = {}
        for fresh in (True, False):
            for source in (self.own[i], told, below):
                for n, t in source.items():
                    if t[3] == fresh:
                        everything.setdefault(n, t)
        inner = {n: t for n, t in everything.items() if holds(corners, t[:2])}
        report = {}
        if i in self.parents:
            above = self.positions[self.parents[i]]
            others = [self.positions[j] for j in self.links[i] if j != self.parents[i]]
            side = turn(*others, above)
            for n, t in everything.items():
                beyond = n not in inner and turn(*others, t[:2]) * side < 0
                if not near(t, above, self.sight) and n not in told and not beyond:
                    report[n] = t
        return [t[:3] for t in inner.values()], (report, [])

    def by_cells(self, i, corners):
        """Own and told targets in cells without a child, sums for the others; a target on an edge is told once."""
        own = self.own[i]
        told = self.told(i, corners)
        named = dict((told | own).items())
        for n, t in told.items():
            if n in own and t[3] and not own[n][3]:
                named[n] = t
        inside = {n: t for n, t in named.items() if holds(corners, t[:2])}
        points, mine = [], []
        for t in inside.values():
            cells = [self.cell(i, corners, k) for k in range(3)]
            lowest = next((k for k in range(3) if holds(cells[k], t[:2])), None)
            watched = lowest is None or self.children[i][lowest] is None
            above = self.owned(i, t[:2])
            if watched or not above:
                points.append(t[:3])
            if watched and above:
                mine.append(t[:3])
        total = [Fraction(0)] * 3
        for child in self.children[i]:
            w, wx, wy = (0, 0, 0) if child is None else self.sums[child]
            if w and holds_nearly(corners, (float(wx / w), float(wy / w))):
                points.append((wx / w, wy / w, w))
                mine.append((wx / w, wy / w, w))
        for x, y, w in mine:
            total = [a + Fraction(w) * Fraction(b) for a, b in zip(total, (1, x, y), strict=True)]
        return points, tuple(total)

    def cell(self, i, corners, k):
        return [self.positions[i] if j == k else corner for j, corner in enumerate(corners)]

    def owned(self, i, point):
        """Whether a point of its triangle is in the cell of the agent, and not on what that leaves out.

        Which edges and corners these are is checked in ``tests/control/test_sharing.py``, where triangles are nested.
        On the way they are not, and an agent does not know where those above its in-neighbours are.
        """
        corners = [self.positions[j] for j in self.links[i]]
        for k in range(3):
            if tuple(point) == corners[k]:
                return not self.family.corners[i, k]
        for k in range(3):
            if holds([corners[k - 1], corners[k - 1], corners[k - 2]], point):
                return not self.family.edges[i, k]
        return True


def holds_nearly(corners, point):
    """Up to rounding."""
    area = turn(*corners)
    if area == 0:
        return holds(corners, point)
    return all(turn(corners[k - 2], corners[k - 1], point) / area >= -1e-9 for k in range(3))
