"""Figures of messages show the ages that were recorded."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from tests.simulation.test_hearing import late, quiet

import tricover as tc
from tricover.errors import InputError
from tricover.plot import plot_ages, plot_messages
from tricover.plot.kinds import KINDS, Subject
from tricover.plot.style import ACTUAL, FAINT, WANTED


@pytest.fixture(scope="module")
def run():
    return quiet(late({"delay": [0, 2], "loss": 0.3}, events=False))


def test_ages_over_time(run):
    oldest, mean, waiting, settled = plot_ages(run).lines
    ages = np.where(run.ages < 0, np.nan, run.ages)[:, run.network.followers].reshape(run.steps, -1)
    np.testing.assert_array_equal(oldest.get_ydata(), np.nanmax(ages, axis=1))
    np.testing.assert_allclose(mean.get_ydata(), np.nanmean(ages, axis=1))
    assert waiting.get_xdata().tolist() == np.flatnonzero(np.isnan(ages).any(axis=1)).tolist()
    assert settled.get_xdata() == [run.settled_at] * 2


@pytest.mark.parametrize("step", [0, 3, -1])
def test_links_by_age(run, step):
    ax = plot_messages(run, step)
    ages = run.ages[min(step % (run.steps + 1), run.steps - 1), run.network.followers]
    found = {
        mpl.colors.to_hex(lines.get_colors()[0]): len(lines.get_segments())
        for lines in ax.collections
        if isinstance(lines, LineCollection) and len(lines.get_segments())
    }
    counts = {FAINT: (ages == 0).sum(), ACTUAL: (ages > 0).sum(), WANTED: (ages < 0).sum()}
    assert found == {mpl.colors.to_hex(colour): count for colour, count in counts.items() if count}
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"at once: {counts[FAINT]}", f"late: {counts[ACTUAL]}", f"not heard yet: {counts[WANTED]}"]


def test_a_run_without_late_messages_has_no_such_figure():
    perfect = quiet(late({}, events=False, steps=3))
    for name in ("ages", "messages"):
        with pytest.raises(InputError, match="arrives at once"):
            KINDS[name].draw(Subject(perfect))
    nothing = quiet(late({"delay": 1}, events=False, steps=0))
    with pytest.raises(InputError, match="no steps"):
        plot_ages(nothing)


def test_a_matrix_of_one_step_cannot_say_what_was_heard(run):
    with pytest.raises(InputError, match="positions of several steps"):
        KINDS["transition"].draw(Subject(run))
    with pytest.raises(InputError, match="no contraction"):
        tc.plot.plot_contraction(tc.certify(run))
