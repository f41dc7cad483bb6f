"""Pages of sections of one's own: tables, figures, several runs."""

import matplotlib.pyplot as plt
import pytest

import tricover as tc
from tests.report.pages import Page, scenario
from tricover.plot import plot_layers, plot_network
from tricover.report import (
    Html,
    Section,
    figure_section,
    nested,
    playback_section,
    run_sections,
    table_section,
    verdict,
    write_page,
    write_report,
)


@pytest.fixture(scope="module")
def runs():
    return {motion: tc.simulate(scenario(name=motion, control={"motion": motion})) for motion in ("reach", "walk")}


def test_a_page_of_several_runs(runs, tmp_path):
    claims = [("settles", "in < 40 steps", verdict("holds", True)), ("1 < 2", "yes & no", verdict("open", None))]
    sections = [table_section("Claims", ("claim", "measured", "verdict"), claims, right=["measured"], note="a < b")]
    for name, run in runs.items():
        sections += [Section(name, Html("<p>A run.</p>")), *nested(run_sections(run))]
    page = Page(write_page(tmp_path / "page.html", "The paper", sections, verdicts=[("all hold", True)]))
    assert len(page.runs) == 2
    assert [data["steps"][-1] for data in page.runs] == [run.steps for run in runs.values()]
    names = page.attributes("id")
    assert len(names) == len(set(names))
    assert {"claims", "reach", "walk", "playback", "playback-2"} <= set(names)
    contents = [data for tag, data in page.words if tag == "a"]
    assert contents[:3] == ["Claims", "reach", "walk"]
    assert "Playback" not in contents
    for words in ("1 < 2", "yes & no", "in < 40 steps", "a < b", "all hold"):
        assert words in page.text


def test_figures_are_closed_and_do_not_share_names(runs, tmp_path):
    network = runs["reach"].network
    section = figure_section("Figures", (plot_network(network), "one"), (plot_layers(network), "two"))
    again = figure_section("Figures", (plot_network(network), "one more"))
    assert plt.get_fignums() == []
    page = Page(write_page(tmp_path / "page.html", "Figures", [section, again]))
    names = page.attributes("id")
    assert len(names) == len(set(names))
    assert {"figures", "figures-2"} <= set(names)
    assert [given["aria-label"] for tag, given in page.tags if tag == "svg"] == ["one", "two", "one more"]


def test_extra_sections_come_first(runs, tmp_path):
    extra = [Section("Mine", Html("<p>first</p>")), playback_section(runs["reach"], "The other run")]
    page = Page(write_report(runs["walk"], tmp_path / "page.html", title="Both", extra=extra))
    assert [data for tag, data in page.words if tag == "h2"][:3] == ["Mine", "The other run", "Playback"]
    assert len(page.runs) == 2
    assert page.text.strip().startswith("Both")
