"""Teams that are asked to keep apart, all from a seed."""

import numpy as np

import tricover as tc


def apart(rng, count, distance, size=100.0):
    """Points (N, 2) in a square, no two closer than a distance: by throwing until they fit."""
    points = [rng.uniform(0, size, 2)]
    while len(points) < count:
        point = rng.uniform(0, size, 2)
        if np.linalg.norm(np.array(points) - point, axis=1).min() >= distance:
            points.append(point)
    return np.array(points)


def crowd(seed, motion, separation=None, vehicle="exact", agents=None, steps=400):
    """A scattered team over few, many or a line of targets, with a separation that there is room for."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 50)) if agents is None else agents
    kept = float(rng.choice([0.3, 0.6, 1.0])) if separation is None else separation
    reference = apart(rng, count, 1.5 * kept)
    kind = seed % 4
    targets = rng.uniform(10, 90, (1 if kind == 0 else 4 if kind == 1 else 200, 2))
    if kind == 2:
        targets[:, 1] = 0.3 * targets[:, 0] + 20
    return tc.Scenario(
        reference=reference,
        targets=targets,
        network={"mentee": ["fermat", "balanced"][seed // 4 % 2]},
        control={"motion": motion, "resolution": 15, "goal": ["centroid", "predictive"][seed // 8 % 2]},
        vehicle=vehicle,
        safety={"separation": kept},
        steps=steps,
        seed=seed,
    )
