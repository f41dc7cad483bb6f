"""``tc.view`` from Python: what the front end says is done, and what is shown can be read."""

import sys

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from ipywidgets.widgets.widget import _instances

import tricover as tc
from tests.studio.teams import team
from tests.studio.views import Heard
from tricover.errors import InputError, MissingExtraError

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def shown():
    return Heard(tc.view(team()))


def test_a_new_front_end_is_told_everything(shown):
    shown.say("everything")
    kinds = [text["is"] for text, _ in shown.sent]
    assert kinds == ["controls", "state", "figures"]
    (blocks,) = [blocks for text, blocks in shown.sent if text["is"] == "state"]
    assert len(blocks) == 3


def test_values_can_be_read_from_python(shown):
    view, run = shown.view, tc.simulate(team())
    assert (view.scenario, view.step, view.chosen) == (team(), 0, None)
    np.testing.assert_array_equal(view.network.in_neighbors, run.network.in_neighbors)
    shown.say("seek", step=2)
    assert view.step == 2
    np.testing.assert_array_equal(view.positions, run.positions[2])
    shown.say("choose", agent=7)
    assert view.chosen == 7


def test_a_drag_is_shown_and_a_drop_changes_the_scenario(shown):
    shown.say("drag", agent=5, place=[20, 31])
    text, blocks = shown.sent[-1]
    assert (text["is"], len(blocks)) == ("blocks", 2)
    assert shown.view.scenario == team()
    shown.say("drop", agent=5, place=[20, 31])
    assert shown.view.scenario.reference[5].tolist() == [20, 31]
    np.testing.assert_array_equal(
        shown.view.network.in_neighbors, tc.build_network(shown.view.scenario.reference).in_neighbors
    )


@pytest.mark.parametrize("message", [{"do": "fly"}, {}, {"do": "drop", "agent": 99, "place": [1, 1]}])
def test_what_cannot_be_is_an_error_in_the_view(shown, message):
    shown.view._hear(None, message, [])
    assert shown.sent[-1][0]["is"] == "error"
    assert shown.view.scenario == team()


def test_runs_and_networks_are_shown_as_they_are(tmp_path):
    run = tc.simulate(team(), tmp_path / "run.zarr")
    np.testing.assert_array_equal(tc.view(run).positions, run.positions[0])
    network = tc.build_network(team().reference, mentee="balanced")
    shown = tc.view(network)
    np.testing.assert_array_equal(shown.network.in_neighbors, network.in_neighbors)
    np.testing.assert_array_equal(shown.positions, network.reference)


def displayed(result):
    """By media type, what a cell that ends with a result sends to the notebook's page."""
    data, _ = DisplayFormatter().format(result)
    return data


def test_a_run_at_the_end_of_a_cell_is_a_view_with_its_table_beside(monkeypatch):
    monkeypatch.setattr("tricover.notebook._in_notebook", lambda: True)
    run = tc.simulate(team())
    data = displayed(run)
    shown = _instances[data[VIEW]["model_id"]]
    np.testing.assert_array_equal(shown.positions, run.positions[0])
    assert (data["text/plain"], data["text/html"]) == (repr(run), run._repr_html_())


def test_a_run_is_its_table_without_a_notebook_and_without_the_extra(monkeypatch):
    run = tc.simulate(team())
    plain = {"text/plain": repr(run), "text/html": run._repr_html_()}
    assert displayed(run) == plain
    monkeypatch.setattr("tricover.notebook._in_notebook", lambda: True)
    monkeypatch.setattr("tricover.notebook.find_spec", lambda _: None)
    assert displayed(run) == plain


def test_other_things_are_refused():
    with pytest.raises(InputError, match="view takes a Scenario, a Run or a Network, not list"):
        tc.view([[0, 0], [1, 1]])
    space = tc.build_network([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4], [0.5, 0.5, 0.5]])
    with pytest.raises(InputError, match="in the plane"):
        tc.view(space)


def test_a_missing_library_names_the_extra(monkeypatch):
    from tricover.studio.widget import _widget

    _widget.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtraError, match=r"tricover\[studio\]"):
        tc.view(team())
