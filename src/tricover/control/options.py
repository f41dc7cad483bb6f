"""Where else an agent may go, when it is not safe to go where it decided to: other points, the preferred ones first.

    motion             shorter               aside                                 to make room for others
    reach, anchors,    all, 1/2, 1/4 of      30°, 60°, 90° to the right and left   eight directions
    walk outside       the way               of the way
    walk inside        all of the way        the other cells that share an edge    eight directions

All of the way is the middle of the reach set alone: who may land anywhere in it is told to land just there.

Who is inside its triangle goes aside only within it: its row of Γ stays stochastic. To make room for others, and now
and then where it would wait for ever, an agent may leave it. Nobody goes aside into a zone. It may always stay.

What is beside the way is turned and shortened at random, and cells are in random order: two who go aside in the same
way again and again would go on for ever.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.control.decision import Decision
from tricover.control.told import Told
from tricover.control.view import View
from tricover.geometry import barycentric, flat
from tricover.goals import cell_points
from tricover.goals.zones import TOUCHING

__all__ = ["ASIDE", "OPTIONS", "SHORTER", "Limits", "Options", "options_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SHARES = np.array([1, 1 / 2, 1 / 4])
_TURNS = np.deg2rad([-30, 30, -60, 60, -90, 90])  # the right first: who meets head-on passes left to left
_AROUND = np.deg2rad(np.arange(0, 360, 45))

SHORTER, ASIDE, OPTIONS = 1, 4, 18
"""Columns: the first is the decision, from ``SHORTER`` on come shorter ways, from ``ASIDE`` on points aside, from 10 on
those for making room; there are ``OPTIONS`` in all."""
_ROOM = ASIDE + len(_TURNS)

_LEAVES = 0.1  # chance that an agent whom others do not let pass leaves its triangle for it
_WAITS = 0.4  # up to here the chance that it waits, for others to make room


class Limits(NamedTuple):
    """What agents are to keep ``apart``, in metres, and how far each can go in a step, (A,): ``longest``."""

    apart: float
    longest: Floats


class Options(NamedTuple):
    """Where agents may go.

    Attributes:
        points: (A, OPTIONS, 2); NaN where there is none.
        own: how many of them an agent takes for its own sake, and not to make room for another, (A,).
    """

    points: Floats
    own: Ints


def options_of(view: View, told: Told, decision: Decision, limits: Limits, draws: Floats) -> Options:
    """The options of agents, with draws (A, 2) from 0 to 1.

    Draws go by agent and step, so an agent that decides alone has the same options.
    """
    points = np.full((len(view.agents), OPTIONS, 2), np.nan)
    points[:, 0] = decision.setpoints
    ways = decision.setpoints - view.positions
    points[:, SHORTER:ASIDE] = view.positions[:, None] + _SHARES[:, None] * ways[:, None]
    lengths = np.hypot(ways[:, 0], ways[:, 1])[:, None]
    aside = np.where(lengths > 0, ways / np.where(lengths > 0, lengths, 1.0), np.nan)
    aside *= np.minimum(lengths, 2 * limits.apart) * (1 - 0.9 * draws[:, :1])
    turns = _TURNS + np.deg2rad(30) * (draws[:, 1:] - 0.5)
    points[:, ASIDE:_ROOM] = view.positions[:, None] + _turned(aside, turns)
    right = np.broadcast_to([1.1 * limits.apart, 0.0], ways.shape)
    points[:, _ROOM:] = view.positions[:, None] + _turned(right, _AROUND + turns[:, :1])
    _stay_inside(points, view)
    if told.motion == "walk":
        _in_cells(points, view, told, decision, draws)
    _stay_within(points, view, limits)
    _stay_out(points, view, told)
    own = np.where(draws[:, 0] < _LEAVES, OPTIONS, np.where(draws[:, 0] < _WAITS, ASIDE, _ROOM))
    return Options(points, own)


def _turned(vectors: Floats, angles: Floats) -> Floats:
    """Vectors (A, 2) turned by angles (A, K): (A, K, 2)."""
    cosines, sines = np.cos(angles), np.sin(angles)
    x, y = vectors[:, :1], vectors[:, 1:]
    return np.stack([cosines * x - sines * y, sines * x + cosines * y], axis=-1)


def _stay_inside(points: Floats, view: View) -> None:
    """Take out what is not in the triangle, for who is in it."""
    rows = np.flatnonzero(~np.isnan(view.heard[..., 0]).any(axis=1))
    rows = rows[~flat(view.heard[rows])]
    rows = rows[_inside(view.positions[rows], view.heard[rows])]
    beside = points[rows, ASIDE:_ROOM]
    inside = _inside(beside, view.heard[rows][:, None])
    points[rows, ASIDE:_ROOM] = np.where(inside[..., None], beside, np.nan)


def _inside(points: Floats, triangles: Floats) -> NDArray[np.bool_]:
    return np.asarray(barycentric(points, triangles).min(axis=-1) >= 0)


def _stay_within(points: Floats, view: View, limits: Limits) -> None:
    """Let agents go only so much of each way as they can in a step."""
    ways = points - view.positions[:, None]
    lengths, longest = np.hypot(ways[..., 0], ways[..., 1]), limits.longest[:, None]
    rows, columns = np.nonzero(lengths > longest)
    share = np.broadcast_to(longest, lengths.shape)[rows, columns] / lengths[rows, columns]
    points[rows, columns] = view.positions[rows] + share[:, None] * ways[rows, columns]


def _stay_out(points: Floats, view: View, told: Told) -> None:
    """Take out what zones are in the way of; that the decision is free of them is known."""
    if told.obstacles is None:
        return
    rows, columns = np.nonzero(np.isfinite(points[:, 1:, 0]))
    met = told.obstacles.crossed(view.positions[rows], points[rows, columns + 1], TOUCHING) >= 0
    points[rows[met], columns[met] + 1] = np.nan


def _in_cells(points: Floats, view: View, told: Told, decision: Decision, draws: Floats) -> None:
    """Who walks from cell to cell has the neighbouring cells."""
    assert decision.cells is not None, "who walks has cells"
    state, _, next_cell = decision.cells
    inside = np.flatnonzero(state >= 0)
    points[inside, SHORTER + 1 : _ROOM] = np.nan
    around = told.grid.neighbors[state[inside]]
    for column in range(3):
        # Which is first, and in which direction one goes on from there.
        turn = np.floor(3 * draws[inside, 0]) + np.where(draws[inside, 1] < 0.5, column, -column)
        chosen = np.take_along_axis(around, turn.astype(np.int64)[:, None] % 3, axis=1)[:, 0]
        other = (chosen >= 0) & (chosen != next_cell[inside])
        centres = cell_points(chosen, view.heard[inside], told.grid)
        points[inside, ASIDE + column] = np.where(other[:, None], centres, np.nan)
