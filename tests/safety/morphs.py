"""Teams that morph, of many kinds, and an oracle in exact fractions of whether they are nested all the time."""

from fractions import Fraction

import numpy as np

import tricover as tc

KINDS = (
    "uniform",
    "few targets",
    "one target",
    "line",
    "shrinking",
    "leaving",
    "grid",
    "joining",
    "clusters",
    "far off",
)
GOALS = ("centroid", "predictive", "rollout", "reference")


def morphing(seed, **changes):
    """A scenario from a seed: all kinds, both mentee rules, all goal rules, several scales and speeds."""
    rng = np.random.default_rng([17, seed])
    kind = KINDS[seed % len(KINDS)]
    count = int(rng.integers(12, 40))
    places = rng.random((count, 2))
    if kind == "grid":
        side = int(rng.integers(4, 7))
        places = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2) / (side - 1)
    points = rng.uniform(-0.05, 1.05, (int(rng.integers(20, 200)), 2))
    if kind in ("few targets", "leaving"):
        points = points[: int(rng.integers(2, 6))]
    elif kind == "one target":
        points = points[:1] * 0.6 + 0.2
    elif kind == "line":
        points = np.column_stack([points[:, 0], 0.3 + 0.4 * points[:, 0]])
    elif kind == "clusters":
        points = np.concatenate([points[k] + 0.03 * rng.normal(size=(20, 2)) for k in range(3)])
    scale, shift = [(100.0, 0.0), (1e-6, 0.0), (1e4, 3e5), (40.0, -7.0)][seed // len(KINDS) % 4]
    mentee = ("fermat", "balanced")[seed // 2 % 2]
    if kind == "far off":
        shift = shift + 1e5 * scale
    reference, points = np.asarray(places, float) * scale + shift, points * scale + shift
    network = tc.build_network(reference, mentee)
    given = {
        "reference": reference,
        "targets": points,
        "network": {"mentee": mentee},
        "control": {"motion": "morph", "goal": GOALS[seed % 4], "speed": scale * float(rng.choice([0.03, 0.1, 0.4]))},
        "steps": 2000,
    }
    if kind in ("shrinking", "far off"):
        middle, angle = reference[network.core], rng.uniform(-1.5, 1.5)
        turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        around = rng.uniform(0.1, 0.5) * (reference[network.anchors] - middle) @ turned
        given["anchors"] = middle + around + 0.3 * scale * rng.normal(size=2)
    if seed % 7 == 0:
        velocity = (scale * rng.normal(size=2) * 0.03).tolist()
        given["targets"] = {"positions": points, "motion": {"velocity": velocity, "until": 9}}
    if kind in ("leaving", "joining"):
        gone = rng.permutation(count)[: max(1, count // 5)].tolist()
        given["events"] = {"leave": [{"step": int(rng.integers(1, 9)), "agents": gone}]}
    if kind == "joining":
        given["events"]["join"] = [{"step": 12, "reference": (rng.random((3, 2)) * scale + shift).tolist()}]
    return tc.Scenario(**given).replace(**changes)


def faults(run, steps=None):
    """Agents that are not strictly inside, with the step: exactly, at every step and all the way between."""
    found = []
    for step in range(run.steps) if steps is None else steps:
        network = run.network_at(step)
        opens = run.epoch_at(step).start == step
        ways = [_line(*ends) for ends in zip(run.positions[step], run.positions[step + 1], strict=True)]
        boundary, core = network.boundary.tolist(), network.core
        triples = {agent: network.in_neighbors[agent].tolist() for agent in network.followers.tolist()}
        for agent, corners in triples.items():
            for k in range(3):
                if not _left(ways[agent], ways[corners[k]], ways[corners[(k + 1) % 3]], opens):
                    found.append((agent, step))
        for place, corner in enumerate(boundary):
            following = boundary[(place + 1) % len(boundary)]
            if not _left(ways[core], ways[corner], ways[following], False):
                found.append((core, step))
    return found


def _line(start, end):
    (x0, y0), (x1, y1) = ([Fraction(value) for value in place.tolist()] for place in (start, end))
    return x0, y0, x1 - x0, y1 - y0


def _left(p, u, v, opens):
    """Whether p, u, v turn left for all s in [0, 1], by the quadratic; on the very start they may be in line."""
    ax, ay, dax, day = (b - a for a, b in zip(p, u, strict=True))
    bx, by, dbx, dby = (b - a for a, b in zip(p, v, strict=True))
    c = ax * by - ay * bx
    b = ax * dby - ay * dbx + dax * by - day * bx
    a = dax * dby - day * dbx
    if opens and c == 0:  # s·(b + a·s) on (0, 1]
        return b >= 0 and a + b > 0
    if c <= 0 or a + b + c <= 0:
        return False
    return not (a > 0 and 0 < -b < 2 * a) or 4 * a * c > b * b
