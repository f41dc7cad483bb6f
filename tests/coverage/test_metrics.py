import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tricover as tc
from tricover.coverage import measure_coverage
from tricover.errors import InputError

COORDINATES = st.floats(-1e3, 1e3)


@given(data=st.data())
def test_all_distances_agree_with_all_pairs(data):
    agents = data.draw(arrays(np.float64, (data.draw(st.integers(1, 8)), 2), elements=COORDINATES))
    points = data.draw(arrays(np.float64, (data.draw(st.integers(1, 12)), 2), elements=COORDINATES))
    weights = data.draw(arrays(np.float64, len(points), elements=st.floats(0.1, 10)))
    nearest = np.hypot(*(points[:, None] - agents).transpose(2, 0, 1)).min(axis=1)
    found = measure_coverage(agents, tc.Targets(points, weights), radius=100.0)
    assert found.cost == pytest.approx(np.average(nearest**2, weights=weights))
    assert found.mean == pytest.approx(np.average(nearest, weights=weights))
    assert found.largest == pytest.approx(nearest.max())
    assert found.within == pytest.approx(np.average(nearest <= 100, weights=weights))
    assert found.idle is None
    assert tc.coverage_cost(agents, tc.Targets(points, weights)) == found.cost


def test_targets_without_weight_are_not_covered():
    found = measure_coverage([[0, 0]], tc.Targets([[1, 0], [100, 0]], [1, 0]), radius=5)
    assert (found.cost, found.largest, found.within) == (1, 1, 1)


def test_share_of_followers_without_targets():
    reference = np.array([[0.0, 0], [8, 0], [8, 8], [0, 8], [4, 4], [4, 1], [4, 7]])
    network = tc.build_network(reference)
    targets = tc.Targets([[4.0, 0.5], [4.0, 2.0]])
    assert network.followers.tolist() == [5, 6]
    assert measure_coverage(reference, targets, network=network).idle == 0.5


def test_coverage_needs_targets_that_stand_still():
    with pytest.raises(InputError, match=r"ask targets.at\(step\) first"):
        tc.coverage_cost([[0, 0]], tc.Targets(np.zeros((2, 3, 2))))
    with pytest.raises(InputError, match="no targets at this step"):
        tc.coverage_cost([[0, 0]], tc.Targets([[0, 0]], active=[[1, 2]]).at(0))
    with pytest.raises(InputError, match="no targets at this step"):
        tc.coverage_cost([[0, 0]], tc.Targets([[0, 0], [1, 1]], [0, 1], active=[[0, 2], [1, 2]]).at(0))
    with pytest.raises(InputError, match=r"shape \(N, 2\), not \(1, 3\)"):
        tc.coverage_cost([[0, 0, 0]], tc.Targets([[0, 0]]))
