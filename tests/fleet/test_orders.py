"""What an order of the operator changes, and that one which cannot be followed is one error."""

from itertools import product

import numpy as np
import pytest

import tricover as tc
from tricover.errors import InputError
from tricover.fleet.orders import FOREVER, with_targets
from tricover.simulation import Mission

OLD, NEW = [[1.0, 1.0], [2.0, 3.0]], [[3.0, 1.0]]


def mission(**targets):
    corners = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    return Mission.of(tc.Scenario(reference=corners, targets={"positions": OLD, **targets}))


def test_new_targets_count_from_a_step_on_and_old_ones_until_then():
    changed = with_targets(mission(weights=[1.0, 2.0]), {"step": 7, "points": NEW, "weights": [5.0]})
    before, after = changed.targets_at(6), changed.targets_at(7)
    assert (before.points.tolist(), before.weights.tolist()) == (OLD, [1.0, 2.0])
    assert (after.points.tolist(), after.weights.tolist()) == (NEW, [5.0])
    again = with_targets(changed, {"step": 9, "points": OLD})
    assert [again.targets_at(step).points.tolist() for step in (6, 8, 9)] == [OLD, NEW, OLD]


def test_targets_that_move_are_not_replaced():
    with pytest.raises(InputError, match="move cannot be replaced"):
        with_targets(mission(motion={"velocity": [0.1, 0.0]}), {"step": 3, "points": NEW})


ODD = (None, True, -1, 1.5, 1e308, 2**53, 2**63, 10**400, "x", "1", [], [[]], {}, [{}], [1, 2], [[1, 2], [3]])
ODD += ([[1, "a"]], [[1, 2, 3]], [[10**400, 1]], [[1e308, 1]], [[None, None]], [-1], [10**400], [None])


@pytest.mark.parametrize("step", [None, True, -1, 1.5, "3", FOREVER, 2**63, 10**400])
def test_steps_that_are_none_are_refused(step):
    with pytest.raises(InputError, match="new targets need the step"):
        with_targets(mission(), {"step": step, "points": NEW})


def test_an_order_that_makes_no_sense_is_one_error():
    """Whatever the operator's program sends, an agent goes on."""
    fine = 0
    for points, weights in product((NEW, *ODD), ODD):
        try:
            changed = with_targets(mission(), {"step": 3, "points": points, "weights": weights})
        except InputError:
            continue
        fine += 1
        assert np.isfinite(changed.targets_at(5).points).all()
    assert fine == 1  # one target, and nothing said of weights
