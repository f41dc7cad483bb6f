"""Places of a roster: no two at one place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tricover.network.roster import told_apart

PLACES = st.lists(st.tuples(st.sampled_from([0.0, 1.0, -3.5]), st.sampled_from([0.0, 2.0])), min_size=1, max_size=12)


@given(PLACES, st.data())
def test_who_may_move_moves_off_the_places_of_others_and_nobody_else_does(places, data):
    movable = np.array(data.draw(st.lists(st.booleans(), min_size=len(places), max_size=len(places))))
    before = np.array(places)
    after = told_apart(before, movable)
    np.testing.assert_array_equal(after[~movable], before[~movable])
    assert np.abs(after - before).max() < 1e-12
    for row in np.flatnonzero(movable):
        others = np.delete(np.arange(len(after)), row)
        assert not (after[others] == after[row]).all(axis=1).any()


def test_who_stands_alone_stays_to_the_bit():
    places = np.random.default_rng(0).random((20, 2))
    np.testing.assert_array_equal(told_apart(places, np.ones(20, bool)), places)
    twice = np.concatenate([places, places[:3]])
    moved = told_apart(twice, np.ones(23, bool))
    assert (moved != twice).any(axis=1).sum() == 3
