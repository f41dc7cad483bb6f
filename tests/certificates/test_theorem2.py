"""C2, contraction and the finite-time fact against dense matrix products and brute force."""

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tricover.certificates import log_of, transition_matrices
from tricover.certificates.audit import audit
from tricover.errors import InputError


def dense_norms(log, network):
    """Largest ‖Φ(s+k, s)‖∞ for each k from dense products, NaN where no window fits."""
    followers = network.followers
    factors = [matrix.toarray()[np.ix_(followers, followers)] for matrix in transition_matrices(log)]
    norms = np.full(network.depth + 1, np.nan)
    for start in range(len(factors)):
        product = np.eye(len(followers))
        for lag, factor in enumerate(factors[start : start + network.depth], 1):
            product = factor @ product
            norms[lag] = np.fmax(norms[lag], np.abs(product).sum(axis=1).max())
    return norms


@pytest.mark.parametrize("seed", range(24))
def test_measured_norms_are_those_of_dense_products(seed):
    network, positions = team(seed, steps=[3, 8, 20][seed % 3], mentee=["balanced", "fermat"][seed % 2])
    log = log_of(positions, network)
    measured, expected = audit(log).contraction.measured, dense_norms(log, network)
    np.testing.assert_allclose(measured[1:-1], expected[1:-1], rtol=1e-12, atol=0)
    assert measured[-1] == 0
    assert expected[-1] == 0 or len(positions) <= network.depth  # the dense product itself, to the bit


@pytest.mark.parametrize("seed", range(12))
def test_still_steps_are_not_computed_again_and_change_nothing(seed):
    network, positions = team(seed, steps=4)
    still = flight(network, network.depth + 9, least=1 / 3, start=positions[-1])
    assert np.array_equal(still[-1], still[-8])
    again = flight(network, 4, seed, start=still[-1])
    log = log_of(np.concatenate([positions, still[1:], again[1:]]), network)
    expected = dense_norms(log, network)
    assert expected[network.depth] == 0
    np.testing.assert_allclose(audit(log).contraction.measured[1:], expected[1:], rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(12))
def test_smallest_window_and_best_eta_by_brute_force(seed):
    network, positions = team(seed, steps=25, agents=50)
    log = log_of(positions, network)
    norms = dense_norms(log, network)
    for eta in (0.02, 0.3, 0.9):
        smallest = next(lag for lag in range(1, network.depth + 1) if norms[lag] <= 1 - eta)
        claim = audit(log, eta=eta)["C2"]
        assert claim.verdict == "holds"
        assert claim.figures["window"] == claim.figures["smallest_window_for_wanted_eta"] == smallest
    for window in range(1, network.depth + 2):
        claim = audit(log, window=window)["C2"]
        assert claim.figures["best_eta_for_window"] == pytest.approx(1 - norms[min(window, network.depth)], rel=1e-9)


def test_windows_longer_than_the_log_do_not_count():
    network, positions = team(0, steps=1, agents=60, mentee="fermat")
    assert network.depth > 2
    claim = audit(log_of(positions, network), window=2)["C2"]
    assert claim.verdict == "does not apply"
    assert audit(log_of(positions, network), eta=0.999)["C2"].figures["window"] == network.depth


def test_products_do_not_reach_over_a_repair():
    network = tc.build_network(roster(0, 40))
    repaired = network.without([int(network.layers[1][0])])
    before = flight(network, 5, 1)
    after = flight(repaired, 6, 2, start=before[-1])
    log = log_of(np.concatenate([before, after[1:]]), [(0, network), (5, repaired)])
    certificate = audit(log)
    assert certificate.holds
    parts = [dense_norms(log_of(before, network), network), dense_norms(log_of(after, repaired), repaired)]
    depth = max(network.depth, repaired.depth)
    both = np.fmax(*(np.pad(part[1:-1], (0, depth + 1 - len(part))) for part in parts))
    np.testing.assert_allclose(certificate.contraction.measured[1:depth], both, rtol=1e-12)


@pytest.mark.parametrize("constants", [{"eta": 0}, {"eta": 1.0}, {"eta": np.nan}, {"window": 0}])
def test_constants_are_checked(constants):
    network, positions = team(0)
    with pytest.raises(InputError):
        audit(log_of(positions, network), **constants)
