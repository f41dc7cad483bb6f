"""The figure of heights shows who flies where, and when."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from tests.export.runs import eventful, scenario

import tricover as tc
from tricover.errors import InputError
from tricover.export import Flight, flights_of
from tricover.plot import plot_heights
from tricover.plot.kinds import KINDS, Subject
from tricover.plot.style import layer_colours
from tricover.simulation import Mission


@pytest.fixture(scope="module")
def flights():
    return flights_of(tc.simulate(eventful()), Flight(clearance=12.0, delay=2.0, stay=10.0))


def drawn(ax, kind):
    return [artist for artist in ax.collections if isinstance(artist, kind)]


def test_paths_have_the_colours_of_their_levels(flights):
    above, _ = plot_heights(flights)
    joined, ways = drawn(above, LineCollection)
    [pads] = drawn(above, PathCollection)
    assert len(joined.get_segments()) == len(flights.near) > 3
    for segment, (one, two) in zip(joined.get_segments(), flights.near.tolist(), strict=True):
        np.testing.assert_allclose(segment, pads.get_offsets()[[one, two]])
    for segment, (_, points) in zip(ways.get_segments(), flights.tracks, strict=True):
        np.testing.assert_allclose(segment, points[:, :2])
    colours = layer_colours(len(flights.heights) - 1)[flights.levels]
    np.testing.assert_allclose(ways.get_colors(), colours)
    np.testing.assert_allclose(pads.get_edgecolors(), colours)


def test_heights_over_time(flights):
    _, over_time = plot_heights(flights)
    assert len(over_time.lines) == len(flights.heights) > 1
    for level, line in enumerate(over_time.lines):
        times, heights = line.get_data()
        assert heights.max() == flights.heights[level]
        assert (times[0], times[-1], heights[0], heights[-1]) == (0, flights.tracks.duration, 0, 0)
    ready, end = flights.sideways
    [shade] = over_time.patches
    assert (shade.get_x(), shade.get_width()) == pytest.approx((ready, end - ready))
    for times, points in flights.tracks:
        moving = np.flatnonzero(np.diff(points[:, :2], axis=0).any(axis=1))
        assert all(ready <= times[leg] and times[leg + 1] <= end + 1e-9 for leg in moving)
    words = [text.get_text() for text in over_time.texts]
    assert words == [f"{n} agents" if n > 1 else "1 agent" for n in np.bincount(flights.levels).tolist()]


def test_many_levels_have_no_names():
    team = tc.simulate(scenario(agents=30, steps=3))
    flights = flights_of(team, Flight(clearance=100.0))
    assert len(flights.heights) > 12
    assert not plot_heights(flights)[1].texts


def test_axes_of_ones_own(flights):
    axes = plt.subplots(1, 2)[1]
    assert plot_heights(flights, axes) == tuple(axes)
    with pytest.raises(InputError, match="2 panels need as many axes, not 1"):
        plot_heights(flights, axes[:1])


def test_the_kind_has_the_separation_asked_for():
    run = tc.simulate(Mission.of(scenario(safety={"separation": 12.0}, steps=5)))
    _, over_time = KINDS["heights"].draw(Subject(run))
    heights = [line.get_ydata().max() for line in over_time.lines]
    assert heights[:2] == [30, 42]
