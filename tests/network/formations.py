"""Formations for property tests: random ones and every degenerate kind that a user may bring."""

import numpy as np
from hypothesis import strategies as st

KINDS = ["random", "grid", "turned grid", "circle", "collinear", "rounded line", "clusters", "few values", "near line"]


@st.composite
def formations(draw, n=2, most=24):
    """Distinct positions (N, n) of one of many kinds, at ordinary, huge and tiny scales, in any order."""
    kind = draw(st.sampled_from(KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(n + 4, most))
    if kind == "random":
        points = rng.random((count, n))
    elif "grid" in kind:
        side = draw(st.integers(3, 5 if n == 2 else 3))
        points = np.stack(np.meshgrid(*[np.arange(side)] * n), -1).reshape(-1, n).astype(float)
        if kind == "turned grid":  # rows that are straight but for rounding
            points = points @ np.linalg.qr(rng.normal(size=(n, n)))[0]
    elif kind == "circle":
        points = rng.normal(size=(count, n))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points[: n + 1] *= 0.3
    elif kind == "collinear":
        points = np.concatenate([np.eye(n) * 9, -np.eye(n) * 9, np.outer(np.linspace(-3, 3, count), np.ones(n))])
    elif kind == "rounded line":
        along = np.concatenate([np.linspace(-3, 3, count), rng.integers(-30, 30, count) / 7])
        points = np.concatenate([np.eye(n) * 9, -np.eye(n) * 9, np.outer(along, rng.random(n)) + rng.random(n)])
    elif kind == "clusters":
        points = np.concatenate([rng.normal(size=(count // 2, n)) * 1e-6, rng.random((count, n)) - 0.5])
    elif kind == "few values":
        points = rng.integers(0, 4, (4 * count, n)).astype(float) / draw(st.sampled_from([1, 3, 10]))
    else:
        points = rng.random((count, n))
        points[:, -1] *= 1e-9
    points = points * draw(st.sampled_from([1.0, 0.1, 1e6, 1e-6, 1e96, 1e-150, 1e-290]))
    points = points + draw(st.sampled_from([0.0, 0.0, 1.0, 1e3])) * np.abs(points).max()
    points = np.unique(points, axis=0)
    return points[rng.permutation(len(points))][: 2 * most]
