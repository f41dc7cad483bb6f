"""The comparison: its figures recomputed one by one, the table and the figure made of it."""

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import Delaunay
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app
from tricover.coverage import compare_methods
from tricover.plot import plot_comparison
from tricover.units import length

RNG = np.random.default_rng(9)
REFERENCE, TARGETS = RNG.random((40, 2)), tc.Targets(RNG.random((600, 2)))


@pytest.fixture(scope="module")
def comparison():
    return compare_methods(REFERENCE, TARGETS)


def test_rows_are_what_the_methods_give(comparison):
    network = tc.build_network(REFERENCE, "balanced")
    desired = tc.desired_configuration(network, TARGETS, goal="rollout")
    row = comparison["balanced, rollout"]
    assert row.cost == tc.coverage_cost(desired, TARGETS)
    assert row.steps == network.depth
    assert row.messages == 3 * len(network.followers) / 40
    assert row.changes == 0
    best = tc.lloyd(REFERENCE, TARGETS, None).cost
    assert comparison["Lloyd"].cost == pytest.approx(best, rel=1e-3)
    assert comparison["Lloyd"].ratio == 1
    assert row.ratio == pytest.approx(row.cost / comparison["Lloyd"].cost)
    assert comparison["balanced, rollout, fitted"].steps == network.depth + 1
    assert comparison["planned, reference"].ratio <= 1.05


def test_neighbour_changes_of_lloyd_are_those_of_its_delaunay_graphs(comparison):
    def links(positions):
        return {
            frozenset(pair)
            for t in Delaunay(positions).simplices
            for pair in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))
        }

    row = comparison["Lloyd"]
    graphs = [links(tc.lloyd(REFERENCE, TARGETS, step).positions) for step in range(row.steps + 1)]
    fresh = [len(after - before) / len(after) for before, after in pairwise(graphs)]
    assert row.changes == pytest.approx(np.mean(fresh), abs=1e-3)
    assert row.messages == pytest.approx(2 * np.mean([len(graph) for graph in graphs]) / 40, rel=1e-3)


def test_least_distances_are_those_of_the_ways(comparison):
    network = tc.build_network(REFERENCE, "balanced")
    way = [REFERENCE]
    for _ in range(network.depth):  # everybody to its goal point, at the same time
        positions = way[-1].copy()
        positions[network.followers] = tc.goal_points(network, way[-1], TARGETS, goal="rollout")
        way.append(positions)
    row = comparison["balanced, rollout"]
    assert row.least_distance == pytest.approx(tc.separation(way).distance, rel=1e-9)
    assert row.least_distance > 0
    lloyds = comparison["Lloyd"]
    way = [tc.lloyd(REFERENCE, TARGETS, step).positions for step in range(lloyds.steps + 1)]
    assert lloyds.least_distance == pytest.approx(tc.separation(way).distance, rel=1e-9)
    assert comparison["planned, reference"].least_distance is None
    columns, *rows = comparison.table()
    shown = {line[0]: line[columns.index("least distance")] for line in rows}
    assert shown["planned, reference"] == "–"
    assert shown["Lloyd"] == length(lloyds.least_distance)


def test_anchors_given_move_all_methods(comparison):
    fitted = compare_methods(REFERENCE, TARGETS, "fit")
    assert "balanced, rollout, fitted" not in [method.name for method in fitted.methods]
    assert fitted["balanced, rollout"].cost == comparison["balanced, rollout, fitted"].cost


def test_figure_shows_every_method(comparison):
    left, right = plot_comparison(comparison)
    assert [label.get_text() for label in left.get_yticklabels()] == [method.name for method in comparison.methods]
    widths = [bar.get_width() for bar in right.patches]
    assert widths == [method.steps for method in comparison.methods]


@pytest.fixture
def files(tmp_path):
    for name, points in (("targets.csv", TARGETS.points), ("team.csv", REFERENCE)):
        np.savetxt(tmp_path / name, points, delimiter=",", header="x,y", comments="")
    return tmp_path


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], catch_exceptions=False)


def test_compare_command(files, comparison):
    result = run("compare", files / "targets.csv", "--team", files / "team.csv", "--plot", files / "methods.png")
    assert result.exit_code == 0
    assert "balanced, predictive" in result.stdout
    assert f"{comparison['balanced, predictive'].ratio:.2f}" in result.stdout
    assert (files / "methods.png").read_bytes()[:4] == b"\x89PNG"
    document = json.loads(run("compare", files / "targets.csv", "--agents", 20, "--fit", "--json").stdout)
    assert document["agents"] == 20
    assert document["methods"][-1]["name"] == "Lloyd"
    assert document["methods"][-1]["least_distance"] > 0


def test_plan_command(files):
    result = run("plan", files / "targets.csv", "-n", 30, "-o", files / "plan.csv", "--json")
    document = json.loads(result.stdout)
    plan = tc.plan_formation(TARGETS, 30)
    assert document["resolution"] == plan.resolution
    np.testing.assert_allclose(document["reference"], plan.reference)
    assert (files / "plan.csv").exists()
    assert "Suggested resolution" in run("plan", files / "targets.csv", "-n", 30).stdout
