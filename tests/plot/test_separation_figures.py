"""Figures of separation show the distances that were measured, and where they were."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import EllipseCollection, LineCollection

import tricover as tc
from tricover.plot import plot_approaches, plot_separation
from tricover.plot.kinds import KINDS, Subject
from tricover.plot.style import ACTUAL, WANTED
from tricover.simulation import Mission
from tricover.simulation.approaching import closer_than


def a_run(**changes):
    rng = np.random.default_rng(2)
    control = {"motion": "walk", "resolution": 6}
    reference, targets = rng.uniform(0, 50, (30, 2)), rng.uniform(0, 50, (300, 2))
    return tc.simulate(Mission.of(tc.Scenario(reference=reference, targets=targets, control=control, **changes)))


@pytest.fixture(scope="module")
def run():
    return a_run()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def segments(ax, colour):
    """Lines of a colour, pair after pair."""
    found = [lines for lines in ax.collections if isinstance(lines, LineCollection)]
    [lines] = [lines for lines in found if mpl.colors.to_hex(lines.get_colors()[0]) == colour]
    return np.array(lines.get_segments())


def test_distances_over_time(run):
    ax = plot_separation(run)
    line, dot = ax.lines
    assert line.get_xdata().tolist() == list(range(run.steps + 1))
    assert line.get_ydata().tolist() == run.approaches.distances.tolist()
    least = run.separation
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (least.step + least.share, least.distance)
    assert legend(ax) == [f"least: {least.words.split(', step')[0]}"]
    assert ax.get_ylim()[0] == 0


def test_what_was_asked_for_is_a_line():
    run = a_run(safety={"separation": 30.0}, steps=3)
    ax = plot_separation(run)
    assert ax.lines[2].get_ydata() == [30.0, 30.0]
    assert legend(ax)[1] == "asked for: 30 m"
    assert ax.get_ylim()[1] > 30


def test_closest_approaches_where_they_were(run):
    ax = plot_approaches(run)
    ways = segments(ax, ACTUAL).reshape(-1, 2, 2, 2)
    assert len(ways) == len(legend(ax)) == 5
    least = run.separation
    assert legend(ax)[0] == f"1: {least.words}"
    assert ways[0].tolist() == run.positions[least.step : least.step + 2, list(least.agents)].swapaxes(0, 1).tolist()
    pairs = segments(ax, "#1a1a1a")
    distances = np.hypot(*(pairs[:, 0] - pairs[:, 1]).T)
    assert distances[0] == pytest.approx(least.distance, rel=1e-9)
    assert (np.diff(distances) >= 0).all()
    numbers = [text for text in ax.texts if text.get_text() in "12345"]
    np.testing.assert_allclose([text.xy for text in numbers], pairs.mean(axis=1))


def test_the_five_are_the_closest_of_all_pairs(run):
    found = tc.separation(run.positions, limit=60.0)
    assert len(found.below) == 30 * 29 // 2
    order = np.argsort(found.distances, kind="stable")[:5]
    for text, pair in zip(legend(plot_approaches(run)), order, strict=True):
        assert text.endswith("agents {} and {}, step {}".format(*found.below[pair], found.steps[pair]))


def test_all_who_came_too_close_are_drawn_in_another_colour(run):
    wanted = 6.0
    asking = a_run(safety={"separation": wanted}, steps=2, stop_when_settled=False)
    close = closer_than(asking, wanted)
    assert len(close.below) > 5
    ax = plot_approaches(asking, close=close)
    assert len(segments(ax, WANTED)) == 2 * len(close.below)
    assert ax.get_legend().get_title().get_text() == f"closest approaches, and {len(close.below) - 5} more"
    [discs] = [artist for artist in ax.collections if isinstance(artist, EllipseCollection)]
    assert set(np.concatenate([discs.get_widths(), discs.get_heights()])) == {wanted}
    assert len(discs.get_offsets()) == 2 * len(close.below)


def test_without_steps_everybody_stands_where_it_starts():
    run = a_run(steps=0)
    assert plot_separation(run).lines[0].get_ydata().tolist() == [tc.separation(run.positions).distance]
    assert legend(plot_approaches(run))[0] == f"1: {run.separation.words}"


@pytest.mark.parametrize("kind", ["separation", "approaches"])
def test_kinds(run, kind):
    assert KINDS[kind].draw(Subject(run)).get_xlabel() in ("step", "x, m")
