"""Sums in triangles over targets that come piece by piece have the bits of those over all targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.targets.test_exact_sums import EVERYTHING, bits, fields
from tests.targets.test_in_triangles import random_triangles

import tricover as tc
from tricover.targets.pieces import Tally, grids_for, spans_of, words_of


def piece_by_piece(points, weights, triangles, cuts, whole=()):
    """Sums (T, 3), with the targets cut into pieces; some of them are added as a whole where they are inside."""
    pieces = np.split(np.arange(len(points)), cuts)
    spans = None
    for some in pieces:
        spans = spans_of(points[some], None if weights is None else weights[some], spans)
    grids = grids_for(spans, len(points), weights is not None)
    tallies = [Tally(triangles, grids), Tally(triangles, grids)]
    for number, some in enumerate(pieces):
        tally, rows = tallies[number % 2], np.arange(len(triangles))
        masses = None if weights is None else weights[some]
        if number in whole:
            inside = tally.holds(np.repeat(rows, len(some)), np.tile(points[some], (len(rows), 1)))
            held = inside.reshape(len(rows), -1).all(axis=1)
            counts = np.full(held.sum(), len(some))
            tally.add_whole(rows[held], counts, np.tile(words_of(points[some], masses, grids), (held.sum(), 1)))
            rows = rows[~held]
        tally.add(rows[::-1], points[some], masses)
    tallies[0].add_all_of(tallies[1:])
    return tallies[0].sums()


def sums_of_all(points, weights, triangles):
    counts, sums = tc.Targets(points, weights).in_triangles(triangles)
    return np.column_stack([sums, counts])


@pytest.mark.parametrize(("points", "weights"), fields().values(), ids=fields())
def test_bits_of_all_targets(points, weights):
    rng = np.random.default_rng(3)
    middle, half = points.mean(axis=0), np.ptp(points, axis=0) / 2
    triangles = middle + half * random_triangles(rng, 24, -1.5, 1.5)
    triangles[0] = EVERYTHING * 1.1
    triangles[1] = points[:3]
    triangles = np.clip(triangles, -1e100, 1e100)
    wanted = sums_of_all(points, weights, triangles)
    assert wanted[:, 2].max() > 0
    for count in (0, 1, 9):
        cuts = np.sort(rng.integers(1, len(points), count))
        found = piece_by_piece(points, weights, triangles, np.unique(cuts), range(0, count + 1, 3))
        assert bits(found) == bits(wanted)


@given(st.data())
def test_degenerate_triangles_and_targets_on_their_edges(data):
    """Few values, so that many targets stand on corners and edges, and many triangles have no area."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    steps = data.draw(st.sampled_from([1.0, 0.1, 1e-150, 1e90]))
    points = rng.integers(-3, 4, (data.draw(st.integers(1, 60)), 2)) * steps
    triangles = rng.integers(-3, 4, (12, 3, 2)) * steps
    weights = rng.choice([0.1, 3.0], len(points)) if data.draw(st.booleans()) else None
    inner = st.sets(st.integers(1, len(points) - 1), max_size=4) if len(points) > 1 else st.just(set())
    cuts = sorted(data.draw(inner))
    found = piece_by_piece(points, weights, triangles, cuts, (0, 2))
    assert bits(found) == bits(sums_of_all(points, weights, triangles))
