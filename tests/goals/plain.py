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


def predicted(place, triangle, below, points, weights, density):
    """What the subtree will cost with its top at ``place``: the formula of the notes."""
    cost = 0.0
    taken = set()
    for k in range(3):
        child = np.array(triangle)
        child[k] = place
        inside = [j for j in range(len(points)) if j not in taken and holds(child, points[j])]
        taken.update(inside)
        if below[k]:
            spread = fsum(weights[j] / sqrt(density[j]) for j in inside)
            cost += 5 / (18 * sqrt(3)) * spread**2 / (below[k] + 0.5)
        else:
            cost += fsum(weights[j] * min(((points[j] - corner) ** 2).sum() for corner in child) for j in inside)
    return cost


def density(points, weights, nearest=12):
    """Weight per square metre from the distance to the 12th nearest target."""
    found = []
    for j in range(len(points)):
        squares = ((points - points[j]) ** 2).sum(axis=1)
        order = [int(k) for k in np.argsort(squares) if k != j][:nearest]
        found.append(weights[order].sum() / (pi * squares[order[-1]]))
    return np.array(found)
