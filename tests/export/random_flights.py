"""Random teams as flown: what the levels promise, checked on the plans that were written."""

import json

import numpy as np

import tricover as tc
from tests.export.runs import ORIGIN
from tricover.export import export_run


def random_run(rng):
    """A team of any size and motion, perhaps from pads, over many targets or few, perhaps with gusts."""
    agents = int(rng.integers(5, 40))
    team = rng.uniform(0, 80, (agents, 2))
    team[0] = team[1:].mean(axis=0)  # somebody must be inside
    formation = {"positions": team}
    if rng.random() < 0.5:  # from pads in rows
        rows = np.indices((7, 7)).reshape(2, -1).T[rng.permutation(49)[:agents]]
        formation["start"] = rng.uniform(2, 6) * rows + rng.uniform(-50, 50, 2)
    targets = rng.uniform(0, 80, (int(rng.choice([1, 4, 60])), 2))
    control = {"motion": str(rng.choice(["reach", "walk"])), "resolution": 8}
    kinds = [{"kind": "exact"}, {"kind": "anywhere"}, {"kind": "double-integrator", "max_speed": 6.0}]
    vehicle = {**kinds[rng.integers(3)], "duration": float(rng.choice([0.5, 3.0, 10.0]))}
    return tc.simulate(
        tc.Scenario(
            formation=formation,
            targets=targets,
            control=control,
            vehicle=vehicle,
            steps=int(rng.integers(1, 40)),
            seed=int(rng.integers(1000)),
        )
    )


def check_random_team(seed, folder):
    """Plans of a random team: never nearer than clearance, spacing, pads and landing places allow; all in one time."""
    rng = np.random.default_rng(seed)
    run = random_run(rng)
    clearance, spacing, speed = float(rng.uniform(0.5, 8)), float(rng.uniform(1, 8)), float(rng.uniform(0.5, 12))
    landing, delay = str(rng.choice(["pad", "place"])), float(rng.choice([0.0, 0.5, 4.0]))
    still, stay = float(rng.choice([0.0, 0.05, 0.4])), float(rng.choice([0.0, 12.0]))
    plans = export_run(
        run,
        folder,
        "qgroundcontrol",
        origin=ORIGIN,
        clearance=clearance,
        spacing=spacing,
        speed=speed,
        landing=landing,
        delay=delay,
        still=still,
        stay=stay,
    )
    tracks = plans.flown.tracks
    ends = [np.array([points[row] for _, points in tracks]) for row in (0, -1)]
    on_ground = min(tc.separation(places[None, :, :2]).distance for places in ends)
    assert plans.flown.approach.distance >= min(clearance, spacing, on_ground) - 1e-6
    assert max(float(times[-1] - times[-2]) for times, _ in tracks) < 1e-5
    check_speeds(folder, speed)
    check_places(run, plans, still)
    return plans


def check_speeds(folder, speed):
    for path in folder.iterdir():
        for item in json.loads(path.read_text())["mission"]["items"]:
            if item["command"] == 178:
                assert 0.1 - 1e-9 <= item["params"][1] <= speed * (1 + 1e-9)


def check_places(run, plans, still):
    """Everybody is where it was in the run at every step, at the stretched time."""
    flight, tracks, duration = plans.flights.flight, plans.flown.tracks, run.scenario.vehicle.duration
    ready = plans.flights.heights[-1] / flight.climb + 2 * flight.delay
    for step, where in enumerate(run.positions):
        found = tracks.at(ready + step * duration * plans.flights.stretch)
        assert np.linalg.norm(found[:, :2] - where, axis=1).max() <= still + 0.02
        np.testing.assert_allclose(found[:, 2], plans.flights.heights[plans.flights.levels], atol=1e-9)
