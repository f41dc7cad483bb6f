"""The figure of what one agent knows, and what it is drawn from."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.world.plain_sight import holds

import tricover as tc
from tricover.errors import InputError
from tricover.plot import plot_sight

mpl.use("Agg")


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng([3, 57])
    reference, targets = rng.uniform(0, 100, (57, 2)), rng.uniform(0, 100, (400, 2))
    world = {"sight": 12.0, "summary": 300}
    return tc.simulate(tc.Scenario(reference=reference, targets=targets, network={"mentee": "balanced"}, world=world))


@pytest.mark.parametrize("which", [0, 9, 30])
def test_every_target_of_the_triangle_is_known_from_somewhere_or_not_at_all(run, which):
    known = run.known(int(run.network.followers[which]))
    points = [tuple(point) for point in run.targets.points.tolist()]
    inside = {point for point in points if holds([tuple(corner) for corner in known.triangle.tolist()], point)}
    parts = [{tuple(point) for point in part.tolist()} for part in (known.seen, known.remembered, known.told)]
    parts += [{tuple(point) for point in part.tolist()} for part in (known.reported, known.unknown)]
    assert set().union(*parts) == inside
    assert sum(map(len, parts)) == len(inside)
    near = {point for point in inside if np.hypot(*(np.array(point) - known.position)) <= 12.0}
    assert parts[0] == near
    corners = known.triangle[:, None] - np.array(sorted(parts[2])).reshape(1, -1, 2)
    assert len(known.weights) == len(known.reported)
    assert corners.shape[0] == 3


def test_the_figure_shows_what_is_known(run):
    agent = int(max(run.network.followers, key=lambda one: len(run.known(one).reported)))
    known = run.known(agent)
    ax = plot_sight(run, agent)
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"sees", "reported by children", f"agent {agent}"} <= labels
    shown = {part.get_label(): part.get_offsets() for part in ax.collections}
    np.testing.assert_array_equal(shown["sees"], known.seen)
    np.testing.assert_array_equal(shown["reported by children"], known.reported)
    plt.close("all")


def test_who_has_nothing_to_show_is_named(run):
    with pytest.raises(InputError, match="is an anchor or lost"):
        run.known(run.network.core)
    perfect = tc.simulate(run.scenario.replace(world={"sight": None, "summary": None}, steps=2))
    with pytest.raises(InputError, match=r"set world\.sight"):
        plot_sight(perfect, 1)
