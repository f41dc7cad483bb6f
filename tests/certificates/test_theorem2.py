"""C2, contraction and the finite-time fact against dense matrix products and brute force."""

from dataclasses import replace

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


# Followers 5, 6 and 7 of the layers 1, 2 and 3; 6 listens to 3, 0 and 5, and 7 to 3, 0 and 6.
CHAIN = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [0.5, 2.1], [0.4, 2.3]])


def chain(first, second):
    """A log in which 6 lands with weights ``first`` on 5, and 7 with weights ``second`` on 6; all to the bit."""
    positions = np.repeat(CHAIN.reference[None], len(first) + 1, axis=0)
    positions[:, 6:] = [[0.5, 2.0], [0.25, 2.0]]
    for step, (one, other) in enumerate(zip(first, second, strict=True)):
        positions[step + 1, 6, 0] = one * positions[step, 5, 0]
        positions[step + 1, 7, 0] = other * positions[step, 6, 0]
    return log_of(positions, CHAIN)


FIRST, SECOND = [1 / 2, 1 / 2, 5 / 8, 1 / 2, 1 / 2, 1 / 4], [3 / 4, 1 / 2, 3 / 4, 7 / 8, 3 / 4, 3 / 4]


def test_norms_of_a_chain_are_products_of_its_weights():
    found = audit(chain(FIRST, SECOND)).contraction
    lags = [1, max(FIRST + SECOND), max(b * a for a, b in zip(FIRST, SECOND[1:], strict=False)), 0]
    assert lags == [1, 7 / 8, 35 / 64, 0]
    assert found.measured.tolist() == lags
    assert (found.eta, found.window, found.depth) == (1 / 8, 1, 3)
    assert found.bound.tolist() == [1, 7 / 8, (7 / 8) ** 2, (7 / 8) ** 3]


@pytest.mark.parametrize(
    ("eta", "window", "found_eta", "found_window"),
    [
        (None, None, 1 / 8, 1),  # the margin, 0.05, asks for one step; these have a share of 1/8
        (1 / 8, None, 1 / 8, 1),
        (1 / 4, None, 29 / 64, 2),
        (1 / 2, None, 1, 3),
        (None, 2, 29 / 64, 2),
        (None, 5, 1, 5),
        (1 / 8, 1, 1 / 8, 1),
        (29 / 64, 2, 29 / 64, 2),
    ],
)
def test_constants_of_a_chain(eta, window, found_eta, found_window):
    found = audit(chain(FIRST, SECOND), eta, window)
    claim = found["C2"]
    assert claim.verdict == found["theorem2"].verdict == "holds"
    assert (claim.figures["eta"], claim.figures["window"]) == (found_eta, found_window)
    assert claim.figures["best_eta_for_window"] == [0, 1 / 8, 29 / 64, 1, 1, 1][found_window]
    assert claim.figures["wanted_eta"] == (eta or 0.05)
    assert ("every η < 1" in claim.summary) == (found_eta == 1)
    assert found["theorem2"].figures["measured_at_window"] == 1 - claim.figures["best_eta_for_window"]
    assert found["theorem2"].figures["windows"] == 3


def test_constants_that_a_chain_does_not_keep():
    found = audit(chain(FIRST, SECOND), 1 / 4, 1)
    (fault,) = found["C2"].faults
    assert (fault.agent, fault.step, fault.amount) == (7, 3, 1 / 8)
    assert fault.reason == "anchors have a share of only 0.125"
    assert found["C2"].summary == "T = 1 is too short for η = 0.25."
    (fault,) = found["theorem2"].faults  # 7/8 > 3/4, but 35/64 < 9/16
    assert (fault.agent, fault.step, fault.amount) == (7, 3, 7 / 8)
    assert fault.reason == "‖Φ(4, 3)‖∞ exceeds its bound"
    found = audit(chain(FIRST, SECOND), 30 / 64, 2)
    (fault,) = found["C2"].faults
    assert (fault.agent, fault.step, fault.amount) == (7, 2, 1 / 64)
    found = audit(chain(FIRST, SECOND), 15 / 16, 1)["theorem2"]
    assert [(fault.agent, fault.step) for fault in found.faults] == [(7, 3), (7, 2)]
    assert found.summary == "‖Φ‖∞ exceeds the bound at 2 of the lags."


def test_a_chain_that_forgets_in_three_steps():
    claim = audit(chain(FIRST, SECOND))["finite-time"]
    assert claim.figures == {"depth": 3, "norm": 0.0}
    assert claim.summary == "What happened 3 steps ago is forgotten, to the bit."
    short = audit(chain(FIRST[:1], SECOND[:1]))
    assert short["finite-time"].verdict == "holds"  # a fact about the network
    assert short["theorem2"].figures["windows"] == 2  # one step, and the three after which nothing is left
    assert audit(chain(FIRST[:1], SECOND[:1]), window=2)["C2"].verdict == "does not apply"


def test_a_team_that_stands_still_through_a_repair_has_new_rows():
    network = tc.build_network(roster(0, 40))
    repaired = network.without([int(network.layers[1][0])])
    positions = np.repeat(network.reference[None], 7, axis=0)
    log = log_of(positions, [(0, network), (3, repaired)])
    found = audit(log)
    assert found["theorem1"].figures["rows"] == 3 * len(network.followers) + 3 * len(repaired.followers)
    parts = [audit(log_of(positions[:4], one)) for one in (network, repaired)]
    smallest = [part["theorem1"].figures["smallest_weight"] for part in parts]
    assert found["theorem1"].figures["smallest_weight"] == min(smallest)
    norms = [part.contraction.measured for part in parts]
    for lag in range(1, min(len(norm) for norm in norms) - 1):
        assert found.contraction.measured[lag] == np.fmax(norms[0][lag], norms[1][lag])


@pytest.mark.parametrize("place", [0, 1, -1])
def test_norms_where_an_agent_hears_itself(place):
    network = tc.build_network(roster(0, 20))
    agent = int(np.concatenate(network.layers[1:])[place])
    wrong = network.in_neighbors.copy()
    wrong[agent, 0] = agent
    listening = replace(network, in_neighbors=wrong)
    log = log_of(flight(listening, network.depth + 3, 1, least=0.1), listening)
    expected = dense_norms(log, listening)
    assert expected[-1] > 0
    np.testing.assert_allclose(audit(log).contraction.measured[1:], expected[1:], rtol=1e-12, atol=0)
