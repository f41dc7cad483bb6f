"""Compiled kernels of flights: fewer waypoints for a motion, boxes around tracks, and how near two tracks come."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel

__all__ = ["Flat", "boxes", "least_distances", "simplify"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PARALLEL = 1e-12  # of the squared speeds: below it two directions count as one


class Flat(NamedTuple):
    """Tracks one after another: those of agent i are the rows starts[i] to starts[i + 1]."""

    starts: Ints
    """(A + 1,)"""
    times: Floats
    """(S,) ascending within each track."""
    points: Floats
    """(S, 3)"""


@kernel
def simplify(path: Floats, still: float, slowest: float, steps: Ints, places: Floats) -> int:
    """Waypoints of a path (T + 1, 2) such that straight motion between them is within ``still`` of it at every step.

    A leg stands where it is, or is longer than ``still``; if it takes several steps it goes at least ``slowest`` metres
    a step. Writes the steps and places of the waypoints, and returns how many there are.
    """
    last = len(path) - 1
    steps[0], places[0] = 0, path[0]
    count = 1
    here = 0
    while here < last:
        x, y = places[count - 1]
        # How long it can be said to stand.
        hold = here
        while hold < last and np.hypot(path[hold + 1, 0] - x, path[hold + 1, 1] - y) <= still:
            hold += 1
        # How much further it can be said to fly straight, at one speed.
        fly = here
        for end in range(hold + 1, last + 1):
            far_x, far_y = path[end, 0] - x, path[end, 1] - y
            fits = True
            for between in range(here + 1, end):
                share = (between - here) / (end - here)
                off = np.hypot(x + share * far_x - path[between, 0], y + share * far_y - path[between, 1])
                if not off <= still:
                    fits = False
                    break
            if not fits:
                break
            length = np.hypot(far_x, far_y)
            if length > still and (end == here + 1 or length >= slowest * (end - here)):
                fly = end
        if fly > hold:
            here = fly
            places[count] = path[fly]
        else:
            here = hold
            places[count, 0], places[count, 1] = x, y
        steps[count] = here
        count += 1
    return count


@kernel
def _grow(tracks: Flat, row: int, last: int, time: float, low: Floats, high: Floats) -> None:
    """Make a box hold where a track is at a time, on the leg that begins with a row; beyond its ends it stands."""
    share = 0.0
    if row < last and tracks.times[row + 1] > tracks.times[row]:
        share = (time - tracks.times[row]) / (tracks.times[row + 1] - tracks.times[row])
        share = min(max(share, 0.0), 1.0)
    for axis in range(3):
        value = tracks.points[row, axis]
        if share > 0.0:
            value += share * (tracks.points[row + 1, axis] - value)
        low[axis], high[axis] = min(low[axis], value), max(high[axis], value)


@kernel
def boxes(tracks: Flat, start: float, stop: float, low: Floats, high: Floats) -> None:
    """The boxes (A, 3) that hold each track from one time to another."""
    low[:], high[:] = np.inf, -np.inf
    for agent in range(len(low)):
        first, last = tracks.starts[agent], tracks.starts[agent + 1] - 1
        row = first + max(np.searchsorted(tracks.times[first : last + 1], start, side="right") - 1, 0)
        _grow(tracks, row, last, start, low[agent], high[agent])
        while row < last and tracks.times[row + 1] < stop:
            row += 1
            _grow(tracks, row, last, tracks.times[row], low[agent], high[agent])
        _grow(tracks, row, last, stop, low[agent], high[agent])


@inlined
def _on_edge(gap: Floats, change: Floats, low: float, high: float) -> tuple[float, float]:
    """Least length of gap + s·change for s from low to high, and that s; infinite if there is none."""
    if not low <= high:
        return np.inf, 0.0
    squared = change[0] ** 2 + change[1] ** 2 + change[2] ** 2
    s = low
    if squared > 0.0:
        along = -(gap[0] * change[0] + gap[1] * change[1] + gap[2] * change[2])
        s = min(max(along / squared, low), high)
    x, y, z = gap[0] + s * change[0], gap[1] + s * change[1], gap[2] + s * change[2]
    return np.sqrt(x * x + y * y + z * z), s


@kernel
def _two_legs(gap: Floats, u: Floats, v: Floats, spans: Floats, early: float, lag: float, best: Floats) -> None:
    """Least length of gap + τ·u - σ·v for 0 ≤ τ ≤ spans[0], 0 ≤ σ ≤ spans[1], |τ + early - σ| ≤ lag.

    The length is convex and the area a polygon: the least is on one of six edges, or where the gradient vanishes.
    ``best`` holds the least so far with its τ and σ, and is replaced by less.
    """
    a, b = spans[0], spans[1]
    change = np.empty(3)
    other = np.empty(3)
    for edge in range(6):
        # On an edge τ = p + s·q and σ = m + s·n.
        if edge == 0:
            p, q, m, n, low, high = 0.0, 0.0, 0.0, 1.0, max(0.0, early - lag), min(b, early + lag)
        elif edge == 1:
            p, q, m, n, low, high = a, 0.0, 0.0, 1.0, max(0.0, a + early - lag), min(b, a + early + lag)
        elif edge == 2:
            p, q, m, n, low, high = 0.0, 1.0, 0.0, 0.0, max(0.0, -early - lag), min(a, lag - early)
        elif edge == 3:
            p, q, m, n, low, high = 0.0, 1.0, b, 0.0, max(0.0, b - early - lag), min(a, b - early + lag)
        elif edge == 4:
            p, q, m, n, low, high = 0.0, 1.0, early - lag, 1.0, max(0.0, lag - early), min(a, b - early + lag)
        else:
            p, q, m, n, low, high = 0.0, 1.0, early + lag, 1.0, max(0.0, -early - lag), min(a, b - early - lag)
        for axis in range(3):
            other[axis] = gap[axis] + p * u[axis] - m * v[axis]
            change[axis] = q * u[axis] - n * v[axis]
        distance, s = _on_edge(other, change, low, high)
        if distance < best[0]:
            best[0], best[1], best[2] = distance, p + s * q, m + s * n
    uu, vv, uv, uc, vc = 0.0, 0.0, 0.0, 0.0, 0.0
    for axis in range(3):
        uu += u[axis] * u[axis]
        vv += v[axis] * v[axis]
        uv += u[axis] * v[axis]
        uc += u[axis] * gap[axis]
        vc += v[axis] * gap[axis]
    determinant = uu * vv - uv * uv
    if determinant > _PARALLEL * uu * vv:
        t = (uv * vc - vv * uc) / determinant
        s = (uu * vc - uv * uc) / determinant
        if 0.0 <= t <= a and 0.0 <= s <= b and abs(t + early - s) <= lag:
            total = 0.0
            for axis in range(3):
                total += (gap[axis] + t * u[axis] - s * v[axis]) ** 2
            if np.sqrt(total) < best[0]:
                best[0], best[1], best[2] = np.sqrt(total), t, s


@kernel
def _leg_at(tracks: Flat, agent: int, time: float) -> int:
    """The row with which the first leg of a track begins that is not over before a time; or its last leg."""
    first, last = tracks.starts[agent], tracks.starts[agent + 1] - 1
    row = first + np.searchsorted(tracks.times[first : last + 1], time) - 1
    return int(min(max(row, first), last - 1))


@kernel
def least_distances(tracks: Flat, pairs: Ints, lag: float, start: float, stop: float, found: Floats) -> None:
    """Least distance of each pair (P, 2) at times no more than ``lag`` apart, and both times: found (P, 3).

    Only legs from ``start`` to ``stop`` are looked at.
    """
    u, v, gap, spans, best = np.empty(3), np.empty(3), np.empty(3), np.empty(2), np.empty(3)
    for pair in range(len(pairs)):
        one, two = pairs[pair, 0], pairs[pair, 1]
        found[pair, 0] = np.inf
        first = _leg_at(tracks, two, start)
        for i in range(_leg_at(tracks, one, start), tracks.starts[one + 1] - 1):
            if tracks.times[i] > stop:
                break
            # Legs of the other that are over before this one begins are over for all that follow.
            while first < tracks.starts[two + 1] - 2 and tracks.times[first + 1] < tracks.times[i] - lag:
                first += 1
            j = first
            while j < tracks.starts[two + 1] - 1 and tracks.times[j] <= min(tracks.times[i + 1] + lag, stop):
                spans[0] = tracks.times[i + 1] - tracks.times[i]
                spans[1] = tracks.times[j + 1] - tracks.times[j]
                far, way = 0.0, 0.0
                for axis in range(3):
                    gap[axis] = tracks.points[i, axis] - tracks.points[j, axis]
                    step, other = (
                        tracks.points[i + 1, axis] - tracks.points[i, axis],
                        tracks.points[j + 1, axis] - tracks.points[j, axis],
                    )
                    u[axis] = step / spans[0] if spans[0] > 0.0 else 0.0
                    v[axis] = other / spans[1] if spans[1] > 0.0 else 0.0
                    far += gap[axis] ** 2
                    way += abs(step) + abs(other)
                # Legs that are too far away to matter need no closer look.
                if np.sqrt(far) - way < found[pair, 0]:
                    best[0] = found[pair, 0]
                    _two_legs(gap, u, v, spans, tracks.times[i] - tracks.times[j], lag, best)
                    if best[0] < found[pair, 0]:
                        found[pair, 0] = best[0]
                        found[pair, 1] = tracks.times[i] + best[1]
                        found[pair, 2] = tracks.times[j] + best[2]
                j += 1
