"""Figures inside a page are what Matplotlib itself saves, whichever way they are drawn."""

from io import StringIO

import matplotlib.pyplot as plt
import pytest

import tricover as tc
from tests.report.pages import scenario
from tricover import plot
from tricover.coverage import coverage_over_time
from tricover.plot.style import figure_of, figure_style
from tricover.report import svg

DRAWINGS = {
    "a strip and a key": plot.plot_desired,
    "a key outside": lambda run: plot.plot_coverage(coverage_over_time(run)),
    "formulas": lambda run: plot.plot_contraction(tc.certify(run)),
    "four panels": lambda run: plot.plot_story(run, run.network.followers[-1]),
    "numbers in markers": lambda run: plot.plot_layers(run.network),
}


@pytest.fixture(scope="module")
def run():
    return tc.simulate(scenario())


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_one_drawing_is_as_good_as_two(run, draw):
    saved, figure = StringIO(), figure_of(draw(run))
    with figure_style():
        figure.savefig(saved, format="svg", transparent=True, metadata={"Date": None})
    assert svg._drawn(figure_of(draw(run))) == saved.getvalue()
    plt.close("all")
