"""Figures of a study's table: what is drawn is what is in it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from tricover.errors import InputError
from tricover.plot import plot_effects, plot_sweep, save_figure
from tricover.report import StudyView, write_study
from tricover.statistics import main_effects, means_over

TABLE = {
    "agents": [10, 10, 100, 100, 1000, 1000] * 2,
    "rule": ["a"] * 6 + ["b"] * 6,
    "depth": [3, 4, 8, 9, 20, 22, 2, 3, 4, 4, 7, 8],
    "cost": [1.0, 1.1, 3.0, 2.0, 90.0, 80.0, None, 1.0, 1.2, 1.3, 2.0, 2.1],
    "error": [None] * 12,
}


def test_points_are_the_means_over_numbers_in_equal_ratios():
    [ax] = plot_sweep(TABLE, "agents", "depth", by="rule")
    for series, bar in zip(means_over(TABLE, "agents", "depth", "rule"), ax.containers, strict=True):
        x, y = bar.lines[0].get_data()
        assert list(x) == list(series.places)
        assert list(y) == series.means.tolist()
        heights = [np.ptp(segment[:, 1]) / 2 for segment in bar.lines[2][0].get_segments()]
        assert heights == pytest.approx(series.halves.tolist())
    assert ax.get_xscale() == "log"
    assert ax.get_ylim()[0] == 0
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["rule a", "rule b"]


def test_a_panel_for_each_measure_or_for_each_value_of_a_key():
    axes = plot_sweep(TABLE, "agents", ["depth", "cost"])
    assert [ax.get_ylabel() for ax in axes] == ["depth, layers", "cost"]
    assert [ax.get_yscale() for ax in axes] == ["linear", "log"]
    axes = plot_sweep(TABLE, "agents", ["depth", "cost"], across="rule")
    assert [ax.get_title(loc="left") for ax in axes] == ["rule a", "rule b", "", ""]
    assert axes[0].get_ylim() == axes[1].get_ylim()


def test_words_stand_side_by_side_and_own_axes_are_used():
    _, ax = plt.subplots()
    assert plot_sweep(TABLE, "rule", "depth", by="agents", axes=ax) == [ax]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]
    places = [bar.lines[0].get_xdata()[0] for bar in ax.containers]
    assert places == sorted(set(places))
    with pytest.raises(InputError, match="2 panels need as many axes, not 1"):
        plot_sweep(TABLE, "rule", ["depth", "cost"], axes=ax)
    with pytest.raises(InputError, match="no column 'dept'; did you mean 'depth'"):
        plot_sweep(TABLE, "rule", "dept")


def test_effects_are_written_into_their_cells():
    effects = main_effects(TABLE, ["agents", "rule"], ["depth", "cost"])
    ax = plot_effects(effects)
    assert [text.get_text() for text in ax.texts] == [f"{100 * share:.0f} %" for share in effects.shares.ravel()]


@given(st.lists(st.tuples(st.sampled_from([None, 1, 2.5, "x"]), st.sampled_from([None, 0, -3, 1e9, True])), min_size=1))
@settings(max_examples=15)
def test_any_table_can_be_drawn_and_written(tmp_path_factory, rows):
    table = {"k": [key for key, _ in rows], "x": [value for _, value in rows], "error": [None] * len(rows)}
    plot_sweep(table, "k", "x", by="k")[0].figure.draw_without_rendering()
    plt.close("all")
    place = tmp_path_factory.mktemp("page") / "page.html"
    write_study(StudyView("<b>", table, ("k",), ("x",), "k", None), place)
    assert "&lt;b&gt;" in place.read_text()


def test_the_page_says_what_failed(tmp_path):
    table = {**TABLE, "error": [*TABLE["error"][:-1], "InputError: no"]}
    view = StudyView(
        "mine", table, ("agents", "rule"), ("depth", "cost"), "agents", "rule", drawn=("depth",), toml="seeds = 1"
    )
    page = write_study(view, tmp_path / "page.html").read_text()
    assert "11 of 12 runs without an error" in page
    assert "InputError: no" in page
    assert "seeds = 1" in page
    save_figure(plot_sweep(table, "agents", "depth"), tmp_path / "f.png")
