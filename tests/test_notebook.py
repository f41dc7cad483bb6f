"""What results look like in a notebook: tables and pictures, never pages of arrays."""

import re

import matplotlib as mpl
import numpy as np
import pytest

import tricover as tc
from tricover.coverage import compare_methods
from tricover.plot import plot_network
from tricover.plot.style import figure_style


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    team, targets = rng.random((20, 2)), rng.random((100, 2))
    run = tc.simulate(tc.Scenario(reference=team, targets=targets, name="<b>mine</b>"))
    return {
        "run": run,
        "scenario": run.scenario,
        "network": run.network,
        "certificate": tc.certify(run),
        "plan": tc.plan_formation(tc.Targets(targets), 12),
        "comparison": compare_methods(team, targets),
        "aoc": tc.check_aoc(tc.vehicle("unicycle"), [0.5, 2.0], 2.5, starts=20),
    }


@pytest.mark.parametrize("name", ["run", "scenario", "network", "certificate", "plan", "comparison", "aoc"])
def test_results_are_short_as_text_and_a_table_or_picture_in_a_notebook(results, name):
    result = results[name]
    assert len(repr(result)) < 2000
    assert "array(" not in repr(result)
    html = result._repr_html_()
    assert re.search("<(table|svg|pre)", html)
    assert "array(" not in html
    assert "<b>mine</b>" not in html


def test_a_comparison_shows_every_method_with_its_figures(results):
    comparison = results["comparison"]
    for shown in (repr(comparison), comparison._repr_html_()):
        assert "20 agents, 100 targets" in shown
        for method in comparison.methods:
            assert method.name.split(",")[0] in shown
            assert f"{method.ratio:.2f}" in shown


def test_a_plan_shows_its_costs(results):
    plan = results["plan"]
    assert f"<td>{plan.cost_in_cells:.6g}</td>" in plan._repr_html_()


def test_a_scenario_with_a_function_of_the_notebook_shows_itself():
    def mine(network):
        return lambda agents, triangles, targets: triangles.mean(axis=1)

    given = tc.Scenario(reference=[[0, 0], [4, 0], [0, 4], [1, 1]], targets=[[1, 1]], control={"goal": mine})
    assert "goal mine" in repr(given)
    assert "goal mine" in given._repr_html_()


@pytest.mark.parametrize("on", [False, True])
def test_the_first_figure_of_a_notebook_is_not_the_last_that_is_shown(results, monkeypatch, on):
    """Its backend turns on that figures are shown when it is first needed: within our style."""
    monkeypatch.setitem(mpl.rcParams, "interactive", not on)
    size = mpl.rcParams["font.size"]
    with figure_style():
        mpl.interactive(on)
    assert mpl.is_interactive() == on
    assert mpl.rcParams["font.size"] == size
    plot_network(results["network"])
    assert mpl.is_interactive() == on
