"""Random fields with zones, and what shapely says of a motion over them."""

import numpy as np
import shapely

import tricover as tc
from tricover.errors import InputError
from tricover.geometry.polygons import checked_zone

__all__ = ["entered", "field", "polygon", "scenario"]

SIDE = 100.0


def polygon(rng, centre, size, corners):
    """A simple polygon around a centre: convex or not, with a notch or thin as it comes."""
    while True:
        angles = np.sort(rng.uniform(0, 2 * np.pi, corners))
        radii = size * rng.uniform(0.25, 1.0, corners)
        ring = centre + np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
        try:
            return checked_zone(ring)
        except InputError:
            continue


def wall(rng):
    """A long thin zone across the field, which cuts triangles in two."""
    a, b = rng.uniform(5, SIDE - 5, (2, 2))
    across = np.array([b[1] - a[1], a[0] - b[0]])
    across *= rng.uniform(0.2, 2.0) / max(np.hypot(*across), 1e-9)
    return checked_zone(np.array([a, b, b + across, a + across]))


def field(rng):
    """A team, targets and zones: nobody begins in a zone, the anchors' square is free of them."""
    count = int(rng.integers(1, 6))
    zones = [
        wall(rng)
        if rng.random() < 0.4
        else polygon(rng, rng.uniform(5, 95, 2), rng.uniform(2, 25), rng.integers(3, 10))
        for _ in range(count)
    ]
    # Nothing within a metre of the corners and the core, where the anchors are.
    whole = shapely.union_all([shapely.Polygon(ring) for ring in zones])
    core = SIDE / 2 + rng.uniform(-10, 10, 2)
    anchors = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE], core])
    if shapely.intersects(whole, shapely.points(anchors)).any():
        return field(rng)
    places = rng.uniform(1, SIDE - 1, (400, 2))
    free = places[shapely.distance(whole, shapely.points(places)) > 1e-6]
    if len(free) < 30:
        return field(rng)
    team = np.concatenate([anchors, free[: int(rng.integers(3, 25))]])
    targets = rng.uniform(0, SIDE, (int(rng.integers(1, 200)), 2))
    return team, targets, zones


def scenario(rng, vehicle, steps):
    """A random field as a scenario for ``walk``; resolutions from coarse to fine."""
    team, targets, zones = field(rng)
    network = {"mentee": str(rng.choice(["fermat", "balanced"])), "core": 4}
    control = {
        "motion": "walk",
        "resolution": int(rng.choice([1, 2, 5, 12, 20])),
        "goal": str(rng.choice(["centroid", "reference", "predictive"])),
        "margin": float(rng.choice([0.0, 0.05])),
    }
    parts = {"network": network, "control": control, "vehicle": vehicle, "safety": {"zones": zones}}
    return tc.Scenario(reference=team, targets=targets, steps=steps, seed=int(rng.integers(1000)), **parts)


def entered(positions, zones):
    """Ways (step, agent) that have a point in common with a zone, by shapely."""
    whole = shapely.union_all([shapely.Polygon(ring) for ring in zones])
    shapely.prepare(whole)
    ways = shapely.linestrings(np.stack([positions[:-1], positions[1:]], axis=2))
    places = shapely.points(positions)
    meets = shapely.intersects(whole, ways) | shapely.intersects(whole, places[1:])
    return np.argwhere(meets).tolist() + np.argwhere(shapely.intersects(whole, places[:1])).tolist()
