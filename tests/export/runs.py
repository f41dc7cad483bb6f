"""Small runs for the tests of exports, and what an independent eye sees in them."""

import numpy as np
import pyproj

import tricover as tc

ORIGIN = (7.21, 51.48)


def scenario(agents=16, **settings):
    rng = np.random.default_rng(3)
    given = {
        "name": "team",
        "reference": rng.uniform(0, 100, (agents, 2)),
        "targets": rng.uniform(0, 100, (60, 2)),
        "control": {"motion": "walk", "resolution": 12},
        "vehicle": {"kind": "exact", "duration": 0.25},
        "steps": 60,
    }
    return tc.Scenario(**{**given, **settings})


def eventful(**settings):
    """Two leave, one of them a boundary agent; two join later; targets drift, and one of them comes late."""
    given = scenario()
    boundary = int(tc.build_network(given.reference).boundary[0])
    follower = int(tc.build_network(given.reference).followers[0])
    events = {
        "leave": [{"step": 4, "agents": [follower, boundary]}],
        "join": [{"step": 9, "reference": [[40.0, 41.0], [55.0, 60.0]]}],
    }
    active = [[0, 100]] * 59 + [[7, 100]]
    targets = {
        "positions": given.targets.positions,
        "weights": np.linspace(1, 2, 60),
        "active": active,
        "motion": {"velocity": [0.5, -0.25], "until": 12},
    }
    return scenario(events=events, targets=targets, **settings)


def interrupted(given, step):
    """The run, stopped after a step."""

    def stop(now):
        if now.step == step:
            raise KeyboardInterrupt

    return tc.simulate(given, progress=stop)


def degrees(metres, origin=ORIGIN):
    """Longitude and latitude by PROJ."""
    plane = f"+proj=tmerc +lon_0={origin[0]!r} +lat_0={origin[1]!r} +ellps=WGS84"
    back = pyproj.Transformer.from_crs(plane, "EPSG:4326", always_xy=True)
    return np.stack(back.transform(*np.asarray(metres, float).reshape(-1, 2).T), axis=-1)


def assert_on_earth(found, metres, origin=ORIGIN):
    """Within a tenth of a millimetre, about 1e-9 of a degree, of where PROJ puts it."""
    np.testing.assert_allclose(found, degrees(metres, origin), atol=1e-9, rtol=0)
