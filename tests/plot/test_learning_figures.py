"""Figures of what agents have learned: what they show is what the run recorded."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

import tricover as tc
from tricover.errors import InputError
from tricover.geometry import barycentric
from tricover.plot import plot_evidence, plot_learned, plot_policies, save_figure
from tricover.plot.learning import _draw_lattice, _outlines
from tricover.simulation import evidence_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "learn-the-wind.toml"
DRONE = 5


@pytest.fixture(scope="module")
def run():
    return tc.simulate(tc.Scenario.load(EXAMPLE))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def recount(run):
    """Steps of the drone's moves, and whether each missed: by the cell that holds the place where it landed."""
    grid, found = tc.CellGrid(run.scenario.control.resolution), []
    for step in range(run.steps):
        if run.states[step, DRONE] >= 0:
            triangle = run.positions[step][run.network.in_neighbors[DRONE]]
            ended = grid.locate(barycentric(run.positions[step + 1, DRONE], triangle))
            found.append((step, ended != run.next_cells[step, DRONE]))
    return np.array(found)


def test_evidence_is_what_happened(run):
    found, moves = evidence_of(run, DRONE), recount(run)
    assert found.steps.tolist() == moves[:, 0].tolist()
    assert found.missed.tolist() == moves[:, 1].astype(bool).tolist()
    known = run.learned(DRONE)
    assert len(found.steps) == known.records.sum()
    assert found.hit[-1] == pytest.approx(1 - known.slip)
    low, high = known.slip_interval()
    assert (found.low[-1], found.high[-1]) == pytest.approx((1 - high, 1 - low))
    assert found.trusts.tolist() == [count < 50 for count in range(1, len(found.steps) + 1)]
    assert "does not trust" in repr(found)


def test_evidence_forgets_what_is_older_than_the_window():
    run = tc.simulate(tc.Scenario.load(EXAMPLE).replace(control={"window": 60}, steps=200))
    found, missed = evidence_of(run, DRONE), recount(run)[:, 1]
    for place in (10, 59, 60, 150):
        part = missed[max(0, place - 59) : place + 1]
        assert found.hit[place] == pytest.approx((len(part) - part.sum() + 1) / (len(part) + 2))
    assert found.hit[-1] == pytest.approx(1 - run.learned(DRONE).slip)


def test_the_example_learns_the_wind_and_arrives_sooner(run):
    """Every agent has a new target each 60 steps; whoever knows the gusts is there earlier."""
    taken = []
    for one in (run, tc.simulate(run.scenario.replace(control={"kernel": "certain"}))):
        there = one.states[:, DRONE] == one.goal_cells[:, DRONE]
        jumps = [there[step : step + 60] for step in range(60, 600, 60)]
        taken.append(np.mean([part.argmax() if part.any() else 60 for part in jumps]))
    assert taken[0] < 0.85 * taken[1]
    low, high = run.learned(DRONE).slip_interval()
    assert low < 0.4 < high


def test_learned_has_an_arrow_to_every_end(run):
    panels = plot_learned(run, DRONE)
    pooled = run.learned(DRONE).pooled
    for ax, up in zip(panels, (True, False), strict=True):
        mine = pooled.up == up
        arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
        wind = 0 if up else 1
        assert len(arrows) == (pooled.codes[mine] > 0).sum() + wind
        assert f"{pooled.counts[mine].sum():,} moves" in ax.get_title(loc="left")
        told = [text.get_text() for text in ax.texts if "%" in text.get_text()]
        assert sorted(int(text.split("%")[0]) for text in told) == sorted(np.rint(100 * pooled.chances[mine]))
        # The gust is (3, 1): every arrow points there, within what cells round.
        for text in arrows[: len(arrows) - wind]:
            way = np.array(text.xy) - np.array(text.xyann)
            assert way @ [3.0, 1.0] > 0.7 * np.linalg.norm(way) * np.sqrt(10)
            centres = [path.vertices[:3].mean(axis=0) for path in ax.collections[0].get_paths()]
            assert np.linalg.norm(np.array(centres) - text.xy, axis=1).min() < 1e-9, "it ends in the middle of a cell"
        if wind:
            way = np.array(arrows[-1].xy) - np.array(arrows[-1].xyann)
            np.testing.assert_allclose(way / np.linalg.norm(way), np.array([3.0, 1.0]) / np.sqrt(10))


def test_cells_around_the_intended_one_are_those_of_the_grid():
    grid, triangle = tc.CellGrid(6), np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 4.0]])
    for up in (True, False):
        own = int(np.flatnonzero((grid.up == up) & (grid.degrees == 3))[0])
        for cell in range(len(grid)):
            offset = grid.coordinates[[cell]] - grid.coordinates[[own]]
            found = _outlines(offset, up)[0] / 6 @ triangle + grid.weights[own] @ triangle
            expected = grid.corners(np.array([cell]))[0] @ triangle
            assert sorted(map(tuple, found.round(9).tolist())) == sorted(map(tuple, expected.round(9).tolist()))


@pytest.mark.parametrize("up", [True, False])
def test_the_cells_that_are_drawn_are_those_within_reach(up):
    grid, triangle = tc.CellGrid(12), np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 4.0]])
    own = int(np.flatnonzero((grid.up == up) & (np.abs(grid.weights - 1 / 3).max(axis=1) < 0.1))[0])
    near = np.flatnonzero(grid.moves(np.full(len(grid), own), np.arange(len(grid))) <= 3)
    expected = grid.corners(near) @ triangle - grid.weights[own] @ triangle
    _, ax = plt.subplots()
    _draw_lattice(ax, up, triangle / 12, 3)
    found = [path.vertices[:3] for path in ax.collections[0].get_paths()]
    centres = [sorted(map(tuple, np.mean(cells, axis=1).round(9) + 0.0)) for cells in (found, expected)]
    assert centres[0] == centres[1]


def test_policies_colour_the_cells_that_differ(run):
    first, second = plot_policies(run, DRONE)
    triangle = run.positions[-1][run.network.in_neighbors[DRONE]]
    grid, goal = tc.CellGrid(16), int(run.goal_cells[-1, DRONE])
    certain, learned = (
        tc.LocalMDP(grid, triangle, goal, kernel=kernel).solve().policy for kernel in (None, run.learned(DRONE).kernel)
    )
    differs = certain != learned
    assert differs.any()
    assert f"{differs.sum()} of 256 cells differ" in second.get_title(loc="left")
    for ax in (first, second):
        colours = ax.collections[0].get_facecolor()
        assert ((colours != 1).any(axis=1) == differs).all()
    assert "gusts" in [text.get_text() for text in second.texts]


def test_who_has_no_reason_to_change_its_mind_is_drawn_so():
    still = tc.Scenario.load(EXAMPLE).replace(vehicle={"chance": 0.0}, steps=80)
    run = tc.simulate(still)
    _, second = plot_policies(run, DRONE)
    assert "no reason" in second.get_title(loc="left")
    assert evidence_of(run, DRONE).trusts.all()


def test_who_has_few_records_goes_as_if_moves_succeeded():
    run = tc.simulate(tc.Scenario.load(EXAMPLE).replace(steps=45))
    assert run.learned(DRONE).slip > 0.2
    for ax in plot_policies(run, DRONE):
        assert (ax.collections[0].get_facecolor() == 1).all(), "nothing differs"


def test_evidence_is_drawn_with_its_turning_point(run, tmp_path):
    top, bottom = plot_evidence(run, DRONE)
    found = evidence_of(run, DRONE)
    moves, misses = (line.get_ydata() for line in top.get_lines()[:2])
    assert moves[-1] == len(found.steps)
    assert misses[-1] == found.missed.sum()
    assert bottom.get_lines()[0].get_ydata().tolist() == found.hit.tolist()
    assert bottom.get_lines()[1].get_xdata()[0] == found.steps[49]
    save_figure([top, bottom], tmp_path / "evidence.svg")
    assert "changes its mind" in (tmp_path / "evidence.svg").read_text()


@pytest.mark.parametrize("plot", [plot_learned, plot_policies, plot_evidence])
def test_what_cannot_be_drawn_is_said(run, plot):
    with pytest.raises(InputError, match="nobody learned in this run"):
        plot(tc.simulate(run.scenario.replace(control={"kernel": "certain"}, steps=2)), DRONE)
    with pytest.raises(InputError, match="agent 4 is an anchor"):
        plot(run, 4)


@pytest.mark.parametrize(("plot", "words"), [(plot_policies, "had no goal cell"), (plot_evidence, "made no moves")])
def test_without_a_step_there_is_nothing_to_draw(run, plot, words):
    with pytest.raises(InputError, match=words):
        plot(tc.simulate(run.scenario.replace(steps=0)), DRONE)
