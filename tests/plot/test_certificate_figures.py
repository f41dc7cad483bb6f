"""The figures of a certificate show the numbers that it holds."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.certificates.flights import team

import tricover as tc
from tricover.certificates import log_of, log_of_run, transition_matrix
from tricover.errors import InputError
from tricover.plot import plot_contraction, plot_settling, plot_transition, plot_tube


@pytest.fixture(scope="module")
def flown():
    rng = np.random.default_rng(1)
    control = {"motion": "walk", "resolution": 4}
    made = tc.Scenario(
        reference=rng.random((30, 2)), targets=rng.random((90, 2)), control=control, vehicle="anywhere", steps=70
    )
    run = tc.simulate(made)
    return run, tc.certify(run)


def test_contraction(flown):
    _, certificate = flown
    bound, measured = plot_contraction(certificate).lines
    found = certificate.contraction
    assert np.array_equal(measured.get_ydata()[: len(found.measured)], found.measured)
    assert not np.any(measured.get_ydata()[found.depth :])
    assert np.array_equal(bound.get_ydata()[: len(found.bound)], found.bound)


def test_contraction_that_fails_stays_in_view(flown):
    found = flown[1].contraction
    large = replace(found, measured=np.where(np.arange(len(found.measured)) == 1, 20.0, found.measured))
    ax = plot_contraction(replace(flown[1], contraction=large))
    assert ax.get_ylim()[1] > 20
    ax.figure.draw_without_rendering()  # a layout that fails is a warning, and warnings are errors


def test_settling(flown):
    bounds, *_ = plot_settling(flown[1]).lines
    assert bounds.get_ydata().tolist() == [row.bound for row in flown[1].layers]


def test_transition_is_below_the_diagonal():
    network, positions = team(3, agents=40)
    matrix = transition_matrix(network, positions[0], positions[1])
    dots = plot_transition(matrix, network).collections[0].get_offsets()
    columns, rows = np.asarray(dots).T
    anchors = len(network.anchors)
    assert len(dots) == matrix.nnz
    assert np.array_equal(rows[rows < anchors], columns[rows < anchors])
    assert (columns[rows >= anchors] < rows[rows >= anchors]).all()


def test_transition_has_a_key_to_its_sizes():
    network, positions = team(3, agents=40)
    matrix = transition_matrix(network, positions[0], positions[1])
    ax = plot_transition(matrix, network)
    names, handles = ax.get_legend().get_texts(), ax.get_legend().legend_handles
    keys = {text.get_text(): key for text, key in zip(names, handles, strict=True)}
    entries, areas = np.abs(matrix.tocoo().data), ax.collections[0].get_sizes()
    assert areas[entries == 1][0] == pytest.approx(keys["1"].get_markersize() ** 2)
    halves = np.argmin(np.abs(entries - 0.5))
    assert areas[halves] / entries[halves] * 0.5 == pytest.approx(keys["0.5"].get_markersize() ** 2)
    assert areas[entries < 0.15][0] == pytest.approx(keys["0.15 or less"].get_markersize() ** 2)
    ax.figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    places = ax.transData.transform(ax.collections[0].get_offsets())
    assert not box.count_contains(places)


def test_tube(flown):
    run, certificate = flown
    agent = int(run.network.layers[1][0])
    ax = plot_tube(certificate, log_of_run(run), agent)
    away = ax.lines[-1].get_ydata()
    expected = np.linalg.norm(run.positions[:, agent] - certificate.neighbourhood.desired[agent], axis=1)
    assert np.array_equal(away, expected)
    assert f"{certificate.neighbourhood.radii[agent]:.3g} m, from cells" in ax.get_legend().get_texts()[0].get_text()


def test_axes_of_ones_own(flown):
    _, ax = plt.subplots()
    assert plot_contraction(flown[1], ax) is ax
    assert plot_settling(flown[1], ax) is ax


def test_what_a_certificate_does_not_have():
    network, positions = team(0)
    log = log_of(positions, network)
    certificate = tc.certify(log)
    with pytest.raises(InputError, match="theorem3"):
        plot_settling(certificate)
    with pytest.raises(InputError, match="desired"):
        plot_tube(certificate, log, 3)
    with pytest.raises(InputError, match="contraction"):
        plot_contraction(tc.certify(tc.Scenario(reference=network.reference, targets=[[0, 0]])))
