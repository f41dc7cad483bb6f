"""What the table of ratios says about its numbers."""

import numpy as np
import pytest
from benchmarks.compare import Row, amount, best_of, exponent, power, span
from benchmarks.simulation import to_the_limit


@pytest.mark.parametrize("law", [0.0, 0.5, 1.0, 1.1, 2.0])
def test_the_exponent_of_a_power_law_is_found(law):
    sizes = np.array([1e3, 1e4, 3e4, 1e6])
    assert exponent(sizes, 7.5 * sizes**law) == pytest.approx(law, abs=1e-12)


def test_the_exponent_is_that_of_the_least_squares():
    # log values 0, 1, 5 over log sizes 0, 1, 2: slope 5/2, by hand
    assert exponent(np.exp([0, 1, 2]), np.exp([0, 1, 5])) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("ratio", "wanted", "at_most", "bound", "verdict"),
    [
        (5.0, 5, False, "≥ 5", "kept"),
        (4.99, 5, False, "≥ 5", "missed"),
        (1.1, 1.1, True, "≤ 1.1", "kept"),
        (1.11, 1.1, True, "≤ 1.1", "missed"),
        (0.1, None, False, "", "compared"),
        (float("nan"), 5, False, "≥ 5", "missed"),
        (float("nan"), 5, True, "≤ 5", "missed"),
    ],
)
def test_verdicts(ratio, wanted, at_most, bound, verdict):
    row = Row("what", "ours", "peer", ratio, wanted, at_most)
    assert (row.bound, row.verdict) == (bound, verdict)


def test_timers_take_turns_and_the_best_counts():
    order, times = [], iter([5.0, 1.0, 2.0, 3.0])

    def timer(name):
        order.append(name)
        return next(times)

    assert best_of(lambda: timer("a"), lambda: timer("b"), goes=2) == [2.0, 1.0]
    assert order == ["a", "b", "a", "b"]


def test_a_turn_of_short_goes_has_many_of_them():
    """The first follows what others did, and is not what counts."""
    times = iter([0.02, 0.004, 0.005, 0.003, 9.0])
    assert best_of(lambda: next(times), goes=1) == [0.003]
    assert next(times) == 9.0, "the turn was over"


def test_units():
    assert [span(time) for time in (12.34, 0.00123, 4.5e-6, 7e-9)] == ["12.3 s", "1.23 ms", "4.5 µs", "7 ns"]
    assert [amount(count) for count in (2**20, 3 * 2**30)] == ["1 MiB", "3 GiB"]
    assert [power(count) for count in (57, 1000, 400_000, 1_000_000, 12_345)] == ["57", "10³", "4·10⁵", "10⁶", "12,345"]


def test_iterations_to_the_limit_of_a_geometric_series():
    """Costs 1 + q^k: within 1% of the limit 1 from the first k with q^k ≤ 0.01 on."""
    costs = [1 + 0.8**k for k in range(60)]
    needed = next(k for k in range(60) if 0.8**k <= 0.01)
    assert to_the_limit(costs, settled=True) == (needed, False)


def test_a_run_that_was_cut_proves_only_what_it_saw():
    costs = [1 + 0.99**k for k in range(50)]
    proven, cut = to_the_limit(costs, settled=False)
    needed = next(k for k in range(1000) if 0.99**k <= 0.01)
    assert cut
    assert proven < needed
    assert costs[proven - 1] > 1.01 * costs[-1] >= costs[proven]
