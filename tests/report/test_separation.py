"""The section on separation says who came closest to whom, and shows it."""

import pytest

import tricover as tc
from tests.report.pages import Page, scenario, with_events
from tricover.report import findings_of, run_sections, write_report
from tricover.simulation import Mission
from tricover.units import length


def section(run):
    [found] = [one for one in run_sections(run) if one.title == "Separation"]
    return found.html


@pytest.mark.parametrize("made", [scenario, with_events])
def test_the_closest_pairs_are_listed_and_drawn(made, tmp_path):
    run = tc.simulate(made())
    page = Page(write_report(run, tmp_path / "page.html"))
    found = findings_of(run).close
    assert 2 < len(found.below) <= 5
    for (first, second), distance in zip(found.below.tolist(), found.distances.tolist(), strict=True):
        assert f"{first} and {second} {length(distance)}" in page.text
    assert f"least distance of any two {run.separation.words}" in page.text
    assert f"at the end {length(run.approaches.distances[-1])}" in page.text
    labels = [attributes.get("aria-label", "") for tag, attributes in page.tags if tag == "svg"]
    assert any(label.startswith("The least distance of any two") for label in labels)
    assert any(label.startswith("Closest approaches") for label in labels)
    assert "asked for" not in section(run)


def test_pairs_below_what_was_asked_for_are_counted(monkeypatch):
    run = tc.simulate(Mission.of(scenario(safety={"separation": 20.0})))
    count = len(tc.separation(run.positions, 20.0).below)
    html = section(run)
    assert count > 20
    assert f"<dt>pairs closer than that</dt><dd>{count}</dd>" in html
    assert "<dt>asked for</dt><dd>20 m</dd>" in html
    assert f"And {count - 20} more pairs." in html
    monkeypatch.setattr("tricover.simulation.approaching.MOST_PAIRS", 20)
    assert "<dd>more than can be listed</dd>" in section(run)


def test_nobody_below_is_none_below():
    run = tc.simulate(scenario())
    asking = tc.simulate(scenario(safety={"separation": run.separation.distance / 3}))
    assert "<dt>pairs closer than that</dt><dd>0</dd>" in section(asking)


def test_what_would_take_long_is_left_out_unless_it_was_asked_for(monkeypatch):
    monkeypatch.setattr("tricover.simulation.run.MEASURED", 10)
    run = tc.simulate(scenario())
    assert findings_of(run).close is None
    assert "Not worked out: there are more than 1,000,000 positions" in section(run)
    assert findings_of(tc.simulate(scenario(safety={"separation": 0.1}))).close is not None
