"""Algorithm 2 and the goal rules as plain loops over agents and targets, written from the paper and its notes."""

from fractions import Fraction
from math import fsum, pi, sqrt

import numpy as np

import tricover as tc


def holds(triangle, point):
    """Whether the closed triangle holds the point, in rational arithmetic; a flat one is a segment."""
    a, b, c, p = ([Fraction(float(x)) for x in corner] for corner in (*triangle, point))

    def turn(u, v, w):
        return (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0])

    box = all(min(a[k], b[k], c[k]) <= p[k] <= max(a[k], b[k], c[k]) for k in range(2))
    turns = [turn(a, b, p), turn(b, c, p), turn(c, a, p)]
    return box and (all(t >= 0 for t in turns) or all(t <= 0 for t in turns))


def centroid(triangle, points, weights):
    inside = [j for j in range(len(points)) if holds(triangle, points[j])]
    total = fsum(weights[j] for j in inside)
    if total == 0:
        return np.mean(triangle, axis=0)
    return np.array([fsum(weights[j] * points[j][k] for j in inside) / total for k in range(2)])


def in_cells(point, triangle, resolution):
    grid = tc.CellGrid(resolution)
    matrix = np.vstack([np.transpose(triangle), np.ones(3)])
    cell = grid.locate(np.linalg.solve(matrix, [*point, 1.0]))
    return grid.weights[int(cell)] @ triangle


def desired(network, points, weights, anchors=None, resolution=None):
    """Algorithm 2 with the paper's rule."""
    places = {}
    for index, agent in enumerate(network.anchors):
        places[int(agent)] = network.reference[agent] if anchors is None else anchors[index]
    for layer in range(1, network.depth + 1):
        for agent in range(len(network)):
            if network.layer[agent] == layer:
                triangle = np.array([places[int(j)] for j in network.in_neighbors[agent]])
                goal = centroid(triangle, points, weights)
                places[agent] = goal if resolution is None else in_cells(goal, triangle, resolution)
    return np.array([places[agent] for agent in range(len(network))])


def own_list(triangle, points, weights):
    """Points and weights of the targets in the closed triangle, sorted by x, y and weight."""
    inside = [j for j in range(len(points)) if holds(triangle, points[j])]
    rows = sorted((*points[j], weights[j]) for j in inside)
    table = np.array(rows).reshape(-1, 3)
    return table[:, :2], table[:, 2]


def coordinates(triangle, points):
    """Barycentric coordinates (L, 3) by a linear system."""
    matrix = np.vstack([np.transpose(triangle), np.ones(3)])
    return np.linalg.solve(matrix, np.vstack([np.transpose(points), np.ones(len(points))])).T


def area(triangle):
    (ax, ay), (bx, by), (cx, cy) = triangle
    return abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2


def cells_of(triangle, points):
    """The cell of each target in a grid with about six targets in a cell, and how many cells a side has."""
    side = min(64, max(1, int(sqrt(len(points) / 6))))
    found = np.maximum(coordinates(triangle, points), 0)
    return tc.CellGrid(side).locate(found / found.sum(axis=1, keepdims=True)), side


def densities(triangle, points, weights):
    """Weight per square metre in the cell of each target."""
    cells, side = cells_of(triangle, points)
    return np.bincount(cells, weights)[cells] / (area(triangle) / side**2)


def summary(triangle, points, weights):
    """Centroid, weight and density of each cell that has weight."""
    cells, side = cells_of(triangle, points)
    rows = []
    for cell in np.unique(cells[weights > 0]):
        inside = cells == cell
        weight = weights[inside].sum()
        rows.append([*np.average(points[inside], axis=0, weights=weights[inside]), weight])
    table = np.array(rows)
    return table[:, :2], table[:, 2], table[:, 2] / (area(triangle) / side**2)


def child_of(places, triangle, points):
    """Which child holds each target, (P, L): the one with the least ratio of the target's coordinate to the place's."""
    return np.argmin(coordinates(triangle, points) / np.asarray(places)[:, None], axis=2)


def predicted(places, triangle, below, points, weights, density):
    """What the subtree will cost with its top at each place (P, 3), given as weights: the formula of the notes."""
    places = np.asarray(places)
    costs, own = np.zeros(len(places)), places @ triangle
    children = child_of(places, triangle, points)
    counts = weights > 0
    spread = np.zeros(len(weights))
    spread[counts] = weights[counts] / np.sqrt(density[counts])
    for k in range(3):
        inside = children == k
        if below[k]:
            costs += 5 / (18 * sqrt(3)) * (inside * spread).sum(axis=1) ** 2 / (below[k] + 0.5)
        else:
            squares = [((points - triangle[c]) ** 2).sum(axis=1)[None] for c in range(3) if c != k]
            nearest = np.minimum(*squares)
            nearest = np.minimum(nearest, ((points - own[:, None]) ** 2).sum(axis=2))
            costs += (inside * weights * nearest).sum(axis=1)
    return costs


RING = [np.array(move) for move in ([1, -1, 0], [1, 0, -1], [0, 1, -1], [-1, 1, 0], [-1, 0, 1], [0, -1, 1])]


INSET = 0.01


def best_of(places, costs, best):
    """The first of the places, none with a weight below INSET, that costs least, if less than the best so far."""
    allowed = [place for place in places if min(place) >= INSET]
    for place, found in zip(allowed, costs(allowed) if allowed else [], strict=True):
        if found < best[0]:
            best = found, place
    return best


def predictive(triangle, below, points, weights):
    """The predictive place, as weights: 36 cells, then rings of six with steps 1/12, 1/24, 1/48 and 1/96."""
    if not weights.sum() > 0:
        return np.full(3, 1 / 3)
    if len(points) > 4096:
        data = summary(triangle, points, weights)
    else:
        data = points, weights, densities(triangle, points, weights)

    def costs(places):
        return predicted(places, triangle, below, *data)

    best = best_of(tc.CellGrid(6).weights, costs, (np.inf, None))
    for step in (12, 24, 48, 96):
        best = best_of([best[1] + move / step for move in RING], costs, best)
    return best[1]


def children(network, agent):
    """The mentee of each child cell: whose in-neighbours are this agent's, with itself in the place of one; or None."""
    corners = [int(j) for j in network.in_neighbors[agent]]
    found = []
    for k in range(3):
        cell = {*corners[:k], *corners[k + 1 :], int(agent)}
        found += [next((i for i in network.followers if {int(j) for j in network.in_neighbors[i]} == cell), None)]
    return found


def subtree(network, agent, family):
    """The agent and all below it, as {agent: mentees of its child cells}."""
    if agent is not None:
        family[agent] = children(network, agent)
        for child in family[agent]:
            subtree(network, child, family)
    return family


def play_out(agent, place, triangle, points, weights, family, below):
    """Places of the agent and all below it: itself at ``place``, the others predictively."""
    own = place @ triangle
    team, inside = [own], child_of([place], triangle, points)[0]
    for k, child in enumerate(family[agent]):
        if child is not None:
            cell = np.array(triangle)
            cell[k] = own
            seen = points[inside == k], weights[inside == k]
            team += play_out(child, predictive(cell, below[child], *seen), cell, *seen, family, below)
    return team


def rollout(network, agent, triangle, points, weights, rings=None):
    """The rollout's place, as weights; ``rings`` None: as many as the rule has for a subtree of this size."""
    family, below = subtree(network, agent, {}), network.descendants
    best, followers = predictive(triangle, below[agent], points, weights), len(family) - 1
    stride = max(1, -(-len(points) // (128 * len(family))))
    points, weights = points[::stride], weights[::stride]

    def cost(place):
        team = np.array([*triangle, *play_out(agent, place, triangle, points, weights, family, below)])
        squares = ((points[:, None] - team) ** 2).sum(axis=2)
        return fsum(weights * squares.min(axis=1))

    if rings is None:
        rings = 0 if followers == 0 or followers > 1024 else 2 if followers <= 256 else 1
    found = (cost(best), best)
    for step in (8, 16)[:rings]:
        found = best_of([found[1] + move / step for move in RING], lambda places: map(cost, places), found)
    return found[1]


def rays_of(points, core, spread, shares, turn):
    """Angles of the rays from the core: the first at ``turn``, between two of them their share of the spread."""
    angles = (np.arctan2(*(points - core).T[::-1]) - turn + 1e-9) % (2 * pi)
    passed, marks = 0.0, []
    for j in np.argsort(angles):
        marks.append(((passed + spread[j] / 2) / spread.sum(), angles[j]))
        passed += spread[j]
    cuts = np.interp(np.cumsum(shares)[:-1] / np.sum(shares), *zip(*marks, strict=True))
    gaps, count = np.diff([0, *cuts, 2 * pi]), len(shares)
    even, narrowest, blend = 2 * pi / count, min(0.05, pi / count), 0.0
    if max(gaps) > 2.6:
        blend = (max(gaps) - 2.6) / (max(gaps) - even)
    if min(gaps) < narrowest:
        blend = max(blend, (narrowest - min(gaps)) / (even - min(gaps)))
    return turn + np.cumsum([0.0, *((1 - blend) * gaps + blend * even)[:-1]])


def polygon_on(rays, rim):
    """Corners on the rays, as large inverse distances as the hull's corners ``rim`` and convexity allow."""
    from scipy.optimize import linprog

    count, rows, limits = len(rays), [], []
    for x, y in rim:
        angle = rays[0] + (np.arctan2(y, x) - rays[0]) % (2 * pi)
        h = max(k for k in range(count) if rays[k] <= angle)
        after = rays[h + 1] if h + 1 < count else rays[0] + 2 * pi
        row = np.zeros(count)
        row[h], row[(h + 1) % count] = np.sin(after - angle), np.sin(angle - rays[h])
        rows.append(row * np.hypot(x, y) / np.sin(after - rays[h]))
        limits.append(1)
    for h in range(count):
        before, after = rays[h] - rays[h - 1], rays[(h + 1) % count] - rays[h]
        row = np.zeros(count)
        row[h], row[h - 1], row[(h + 1) % count] = np.sin(before + after), -np.sin(after), -np.sin(before)
        rows.append(row)
        limits.append(0)
    found = linprog(-np.ones(count), rows, limits, bounds=(1e-3, None)).x
    found = found / max(1, (np.array(rows[: len(rim)]) @ found).max())
    return np.column_stack([np.cos(rays), np.sin(rays)]) / found[:, None]


def polygon_area(corners):
    return sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)) / 2


def fitted(network, points, weights):
    """The fitted anchors, turn by turn: the smallest polygons, up to 5%, and of these the nearest."""
    from scipy.spatial import ConvexHull

    core, hull = np.average(points, axis=0, weights=weights), points[ConvexHull(points).vertices]
    size, edge = np.ptp(points, axis=0).max(), list(map(int, network.boundary))
    shares = np.ones(len(edge))
    for top in network.layers[1]:
        corners = set(map(int, network.in_neighbors[top]))
        h = next(h for h in range(len(edge)) if {edge[h], edge[(h + 1) % len(edge)]} <= corners)
        shares[h] += 1 + network.descendants[top].sum()
    spread = weights / np.sqrt(density(points, weights))
    trials = []
    for turn in range(48):
        rays = rays_of(points, core, spread, shares, turn * 2 * pi / 48)
        corners = core + size * polygon_on(rays, (hull - core) / size)
        trials.append((polygon_area(corners), corners))
    smallest = min(trials, key=lambda trial: trial[0])[0]
    small = [corners for area, corners in trials if area <= 1.05 * smallest]
    return min(small, key=lambda corners: ((corners - network.reference[edge]) ** 2).sum()), core


def density(points, weights, nearest=12):
    """Weight per square metre from the distance to the 12th nearest target."""
    found = []
    for j in range(len(points)):
        squares = ((points - points[j]) ** 2).sum(axis=1)
        order = [int(k) for k in np.argsort(squares) if k != j][:nearest]
        found.append(weights[order].sum() / (pi * squares[order[-1]]))
    return np.array(found)
