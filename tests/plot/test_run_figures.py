"""Figures of a run show what the run holds: paths, coordinates, the desired formation, portraits, one agent's story."""

import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection, PolyCollection

import tricover as tc
from tricover.coverage import coverage_over_time
from tricover.errors import InputError
from tricover.plot import (
    plot_coordinates,
    plot_coverage,
    plot_desired,
    plot_paths,
    plot_portrait,
    plot_story,
    plot_voronoi,
    save_figure,
    story,
)
from tricover.plot.agents import draw_targets, place_targets, present_targets
from tricover.plot.kinds import KINDS, Subject
from tricover.plot.style import GROUND, WANTED, layer_colours
from tricover.simulation import Mission

RNG = np.random.default_rng(5)
SQUARE = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0]])


def scenario(agents=30, **settings):
    reference = np.append(SQUARE, np.random.default_rng(agents).uniform(5, 95, (agents - 4, 2)), axis=0)
    return tc.Scenario(
        **{
            "reference": reference,
            "targets": np.random.default_rng(1).uniform(0, 100, (200, 2)),
            "anchors": "fit",
            "control": {"motion": "walk", "resolution": 6},
            **settings,
        }
    )


@pytest.fixture(scope="module")
def run():
    return tc.simulate(scenario())


@pytest.fixture(scope="module")
def eventful():
    """Agents leave and join, and the targets drift."""
    events = {"leave": [{"step": 3, "agents": [7, 12]}], "join": [{"step": 6, "reference": [[40.0, 60.0]]}]}
    targets = {"positions": RNG.uniform(0, 100, (80, 2)), "motion": {"velocity": [0.5, 0.2], "until": 10}}
    return tc.simulate(scenario(events=events, targets=targets, steps=20))


def drawn(ax, kind):
    return [artist for artist in ax.collections if isinstance(artist, kind)]


def points(ax):
    """All markers on the axes."""
    return np.concatenate([np.asarray(artist.get_offsets()) for artist in drawn(ax, PathCollection)])


def stops(path):
    """A path without repetitions."""
    return [point for index, point in enumerate(path.tolist()) if index == 0 or point != path[index - 1].tolist()]


@pytest.mark.parametrize("agents", [5, 57, 400])
def test_paths_are_the_positions(agents):
    run = tc.simulate(scenario(agents))
    ax = plot_paths(run)
    [lines] = drawn(ax, LineCollection)
    paths = lines.get_segments()
    assert len(paths) == agents
    for agent, path in enumerate(paths):
        assert path.tolist() == stops(run.positions[:, agent])
    assert ax.get_xlim()[0] <= run.positions[..., 0].min()
    assert ax.get_xlim()[1] >= run.positions[..., 0].max()
    shown = set(map(tuple, points(ax).tolist()))
    assert shown >= set(map(tuple, run.positions[0].tolist()))
    assert shown >= set(map(tuple, run.positions[-1].tolist()))


def test_paths_of_some_agents_in_the_colour_of_their_layer(run):
    chosen = [int(run.network.layers[1][0]), int(run.network.layers[-1][0])]
    [lines] = drawn(plot_paths(run, agents=chosen), LineCollection)
    assert [path[-1].tolist() for path in lines.get_segments()] == run.positions[-1, chosen].tolist()
    expected = layer_colours(run.network.depth)[run.network.layer[chosen]]
    np.testing.assert_array_equal(lines.get_colors()[:, :3], expected[:, :3])


def test_starts_are_hollow_and_ends_filled(run):
    markers = drawn(plot_paths(run, agents=run.network.followers), PathCollection)
    white = [np.asarray(artist.get_offsets()) for artist in markers if (artist.get_facecolors()[:, :3] == 1).all()]
    assert sorted(np.concatenate(white).tolist()) == sorted(run.positions[0, run.network.followers].tolist())


def test_targets_lie_below(run):
    for ax in (plot_paths(run), plot_desired(run), plot_voronoi(run)):
        [ground] = [a for a in drawn(ax, PathCollection) if mpl.colors.to_hex(a.get_facecolors()[0]) == GROUND]
        assert np.array_equal(ground.get_offsets(), run.targets.points)
        assert ground.get_zorder() < min(a.get_zorder() for a in ax.collections if a is not ground)


def test_targets_are_as_large_as_their_weights(run):
    weights = np.random.default_rng(3).uniform(0.5, 1.5, 200)
    weights[:3] = 0, 1e-9, 1e9
    weighted = tc.Targets(run.targets.points, weights)
    ground = draw_targets(plt.subplots()[1], *present_targets(weighted))
    there, sizes = weights[1:], ground.get_sizes()
    np.testing.assert_array_equal(ground.get_offsets(), run.targets.points[1:])
    assert (np.diff(sizes[np.argsort(there)]) >= 0).all()
    assert sizes.max() > 10 * sizes.min() > 0
    place_targets(ground, weighted.points[1:3], weights[1:3])
    np.testing.assert_array_equal(ground.get_offsets(), run.targets.points[1:3])
    assert len(ground.get_sizes()) == 2
    place_targets(ground, weighted.points, None)
    assert len(ground.get_sizes()) == 1


def test_many_and_regular_targets_are_lighter_and_smaller():
    rng, ax = np.random.default_rng(3), plt.subplots()[1]
    lattice = np.stack(np.meshgrid(np.arange(20.0), 0.5 * np.arange(20.0)), -1).reshape(-1, 2)
    triangle = lattice[lattice[:, 0] > 2 * lattice[:, 1]] * 0.1 + 3e5
    looks = []
    for points in (rng.random((50_000, 2)), rng.random((2000, 2)), rng.random((200, 2))):
        dots = draw_targets(ax, points)
        looks.append((dots.get_alpha(), float(dots.get_sizes()[0])))
    assert looks == sorted(looks)
    assert looks[0][0] < looks[1][0] < looks[2][0]
    for regular in (lattice, triangle):
        other = draw_targets(ax, rng.random((len(regular), 2)))
        dots = draw_targets(ax, regular)
        assert dots.get_alpha() < other.get_alpha()
        assert dots.get_sizes()[0] < other.get_sizes()[0]
    assert draw_targets(ax, lattice[:4]).get_alpha() == 1  # a few are no pattern


def test_coordinates_are_the_positions_and_the_desired_ones(run):
    agent = int(run.network.layers[2][0])
    for axis, ax in enumerate(plot_coordinates(run, agent)):
        actual, desired = ax.lines
        assert np.array_equal(actual.get_xdata(), np.arange(run.steps + 1))
        assert np.array_equal(actual.get_ydata(), run.positions[:, agent, axis])
        assert set(desired.get_ydata()) == {run.desired[agent, axis]}
        assert (desired.get_linestyle(), desired.get_color()) == ("--", WANTED)
        assert ax.get_ylim()[0] < run.desired[agent, axis] < ax.get_ylim()[1]


def test_coordinates_go_by_the_callers_name_for_the_agent(run):
    assert plot_coordinates(run, 28)[0].get_title("left") == "agent 28"
    assert plot_coordinates(run, 28, label="agent 29")[0].get_title("left") == "agent 29"


def test_coordinates_only_while_the_agent_is_there(eventful):
    gone, new = plot_coordinates(eventful, 7)[0], plot_coordinates(eventful, 30)[0]
    assert gone.lines[0].get_xdata().tolist() == [0, 1, 2]
    assert new.lines[0].get_xdata()[0] == 6


def test_desired_formation_has_all_links_at_the_desired_places(run):
    [lines] = drawn(plot_desired(run), LineCollection)
    ends = sorted(segment.tolist() for segment in lines.get_segments())
    network = run.network
    expected = [run.desired[[j, i]].tolist() for i in network.followers for j in network.in_neighbors[i]]
    assert ends == sorted(expected)


def test_portrait_of_one_agent_per_layer_ends_at_rest(run):
    left, right = plot_portrait(run)
    orbits = [line for line in left.lines if line.get_label().startswith("agent")]
    assert len(orbits) == min(run.network.depth, 6)
    for line in orbits:
        agent, layer = map(int, line.get_label().removeprefix("agent ").split(", layer "))
        assert run.network.layer[agent] == layer
        offsets = run.positions[:, agent, 0] - run.desired[agent, 0]
        assert np.array_equal(line.get_xdata(), offsets[:-1])
        assert np.array_equal(line.get_ydata(), np.diff(offsets))
        assert np.array_equal(line.get_xydata()[-1], [0, 0])
    assert "m" in left.get_xlabel()
    assert len(right.lines) == len(left.lines)


def test_portrait_of_chosen_agents(run):
    left, _ = plot_portrait(run, agents=[9])
    assert [line.get_label() for line in left.lines if line.get_label().startswith("agent")] == [
        f"agent 9, layer {run.network.layer[9]}"
    ]


def test_coverage_beside_lloyds(run):
    trace = coverage_over_time(run)
    lines = {line.get_label(): line for line in plot_coverage(trace).lines}
    assert np.array_equal(lines["team"].get_ydata(), trace.costs)
    assert np.array_equal(lines["Lloyd, same start"].get_ydata(), trace.lloyd)
    assert set(lines["Lloyd's limit"].get_ydata()) == {trace.limit}
    assert set(lines["desired configuration"].get_ydata()) == {trace.desired}
    alone = plot_coverage(coverage_over_time(run, lloyd=False))
    assert len(alone.lines) == 2


def test_voronoi_has_a_cell_for_each_who_is_there(eventful):
    for step, count in ((0, 30), (4, 28), (-1, 29)):
        ax = plot_voronoi(eventful, step)
        [cells] = drawn(ax, PolyCollection)
        assert len(cells.get_paths()) == count == eventful.present[step].sum()
        corners = np.concatenate([path.vertices for path in cells.get_paths()])
        assert corners.min(axis=0) == pytest.approx([ax.get_xlim()[0], ax.get_ylim()[0]])
        assert corners.max(axis=0) == pytest.approx([ax.get_xlim()[1], ax.get_ylim()[1]])


def test_story(run):
    agent = int(run.network.layers[2][0])
    place, way, decision, arrival = plot_story(run, agent, label="agent A")
    heard = run.network.in_neighbors[agent]
    assert place.get_title("left") == f"agent A, layer 2, listens to {heard[0]}, {heard[1]} and {heard[2]}"
    assert np.array_equal(place.lines[-3].get_xydata(), run.positions[:, agent])
    assert {text.get_text() for text in way.texts} == set(map(str, heard))
    assert len(drawn(way, LineCollection)[0].get_segments()) == 3 * (6 - 1)
    assert len(drawn(way, PolyCollection)[0].get_paths()) == len(set(run.states[:, agent].tolist()) - {-1})
    [values] = drawn(decision, PolyCollection)[:1]
    control, triangle = run.scenario.control, run.positions[-1, heard]
    mdp = tc.LocalMDP(tc.CellGrid(6), triangle, int(run.goal_cells[-1, agent]), gamma=control.gamma)
    assert np.array_equal(values.get_array(), mdp.solve().value)
    away = np.linalg.norm(run.positions[:, agent] - run.desired[agent], axis=1)
    assert np.array_equal(arrival.lines[1].get_ydata(), away)


def test_story_names_the_in_neighbours_where_they_stand_and_aligns_its_titles(run):
    agent = int(run.network.layers[2][0])
    panels = plot_story(run, agent)
    figure, heard = panels[0].figure, run.network.in_neighbors[agent]
    numbers = {text.get_text(): text.xy for text in panels[0].texts}
    assert set(numbers) == set(map(str, heard))
    for other in heard:
        np.testing.assert_array_equal(numbers[str(other)], run.positions[-1, other])
    figure.savefig(io.BytesIO())
    boxes = [ax._left_title.get_window_extent() for ax in panels]
    assert all(box.width > 0 for box in boxes)
    for left, right in ((0, 1), (2, 3)):
        assert boxes[left].y0 == pytest.approx(boxes[right].y0, abs=1)
        assert boxes[left].x0 == pytest.approx(boxes[2 - left].x0, abs=1)


def test_values_in_plain_numbers_with_the_good_end_named(run):
    *_, decision, _ = plot_story(run, int(run.network.layers[2][0]))
    [bar] = [ax for ax in decision.figure.axes if ax.get_label() == "<colorbar>"]
    decision.figure.savefig(io.BytesIO())
    assert "the lower, the better" in bar.get_ylabel()
    ticks = [tick.get_text() for tick in bar.get_yticklabels()]
    assert all(re.fullmatch(r"[-−]?[\d,.]+", tick) for tick in ticks)
    assert bar.yaxis.get_offset_text().get_text() == ""


def test_story_in_the_agents_own_frame(run):
    """The path in the second panel, read back as barycentric coordinates, leads to where the agent was."""
    agent = int(run.network.layers[2][0])
    _, way, _, _ = plot_story(run, agent)
    own = way.lines[-3].get_xydata()
    corners = np.array([[0.5, np.sqrt(0.75)], [0, 0], [1, 0]])
    weights = np.linalg.solve(np.vstack([corners.T, np.ones(3)]), np.vstack([own.T, np.ones(len(own))])).T
    heard = run.positions[:, run.network.in_neighbors[agent]]
    np.testing.assert_allclose(np.einsum("tk,tkd->td", weights, heard), run.positions[:, agent], atol=1e-6)


def test_every_kind_draws_runs_with_events_and_moving_targets(eventful):
    for name, kind in KINDS.items():
        if name in {"settling", "tube", *OF_SOME_RUNS}:  # nothing is claimed where targets move
            continue
        drawing = kind.draw(Subject(eventful, agent=20))
        figure = (drawing if not isinstance(drawing, list | tuple) else drawing[0]).figure
        figure.canvas.draw()


def test_a_run_that_ended_before_somebody_joined(tmp_path):
    """Arrays have room for the one who would have come; figures are of those who were there."""

    def press(now):
        if now.step == 3:
            raise KeyboardInterrupt

    cut = tc.simulate(scenario(events={"join": [{"step": 6, "reference": [[40.0, 60.0]]}]}), progress=press)
    assert (cut.positions.shape[1], len(cut.network), cut.interrupted) == (31, 30, True)
    for name, kind in KINDS.items():
        if name not in OF_SOME_RUNS:
            kind.draw(Subject(cut))
    assert len(drawn(plot_paths(cut), LineCollection)[0].get_segments()) == 30
    with pytest.raises(InputError, match="no agent 30: agents are numbered 0 to 29"):
        plot_coordinates(cut, 30)


def test_a_run_without_steps(run):
    still = tc.simulate(scenario(steps=0))
    for plot in (plot_paths, plot_desired, plot_voronoi):
        assert len(points(plot(still))) >= 30
    assert len(plot_coordinates(still, 3)[0].lines[0].get_xdata()) == 1
    for plot in (plot_portrait, lambda of: plot_story(of, 20), lambda of: KINDS["transition"].draw(Subject(of))):
        with pytest.raises(InputError, match="no steps"):
            plot(still)


def test_triangles_without_area_and_agents_on_one_spot():
    """Everybody starts on one line, followers on one spot, and goes there by anchors that stand on that line."""
    start = np.append(SQUARE * [1, 0], np.full((4, 2), [50.0, 0.0]), axis=0)
    reference = np.append(SQUARE, [[50, 50], [30, 40], [60, 70], [55, 20.0]], axis=0)
    flat = tc.simulate(
        tc.Scenario(
            formation={"positions": reference, "start": start},
            targets=[[10, 10.0]],
            anchors=(start + np.arange(8)[:, None] * [1, 0])[:5],
        )
    )
    for plot in (plot_paths, plot_desired, plot_voronoi, plot_portrait):
        axes = plot(flat)
        (axes if not isinstance(axes, tuple) else axes[0]).figure.canvas.draw()
    with pytest.raises(InputError, match="no area"):
        plot_story(flat, int(flat.network.followers[0]))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda run: plot_paths(run, agents=[3, 99, 44]), "no agents 99 and 44: agents are numbered 0 to 29"),
        (lambda run: plot_paths(run, agents=[]), "agents must be whole numbers from 0 to 29, at least one"),
        (lambda run: plot_portrait(run, agents=[1.5]), "agents must be whole numbers"),
        (lambda run: plot_coordinates(run, 3, plt.subplots(1, 3)[1]), "2 panels need as many axes, not 3"),
        (lambda run: plot_coordinates(run, -1), "no agent -1"),
        (lambda run: plot_story(run, 0), "agent 0 is an anchor: choose a follower, such as"),
        (lambda run: plot_story(run, 20, axes=plt.subplots(1, 2)[1]), "4 panels need as many axes, not 2"),
        (lambda run: plot_voronoi(run, 10**6), "no step 1000000: this run has steps 0 to"),
        (lambda run: Subject(run, agent=30), "no agent 30"),
    ],
)
def test_what_is_not_there_is_named(run, draw, message):
    with pytest.raises(InputError, match=message):
        draw(run)


def test_a_lost_agent_has_no_story(eventful):
    with pytest.raises(InputError, match="agent 7 was lost"):
        plot_story(eventful, 7)


_LEARNS = {"control": {"motion": "walk", "resolution": 8, "kernel": "learned"}}
_LATE = {"world": {"delay": [0, 2]}}
OF_SOME_RUNS = {
    "sight": {"world": {"sight": 20.0, "summary": 8}},
    **dict.fromkeys(("ages", "messages"), _LATE),
    **dict.fromkeys(("learned", "policies", "evidence"), _LEARNS),
}
"""Figures that not every run has, and what a run needs for them."""


@pytest.mark.parametrize("name", KINDS)
def test_vector_files_parse_and_are_the_same_every_time(name, run, tmp_path):
    before = dict(mpl.rcParams)
    if name in OF_SOME_RUNS:
        run = tc.simulate(Mission.of(run.scenario.replace(**OF_SOME_RUNS[name])))
    for copy in "ab":
        for ending in ("svg", "pdf"):
            save_figure(KINDS[name].draw(Subject(run, agent=20)), tmp_path / f"{copy}.{ending}")
    assert dict(mpl.rcParams) == before
    texts = ET.parse(tmp_path / "a.svg").getroot().iter("{http://www.w3.org/2000/svg}text")
    assert any(text.text for text in texts)
    for ending in ("svg", "pdf"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_axes_of_ones_own(run):
    _, ax = plt.subplots()
    assert plot_paths(run, ax) is ax
    assert plot_voronoi(run, ax=plt.subplots()[1]).figure is not ax.figure
    assert plot_coverage(coverage_over_time(run, lloyd=False), ax) is ax
    axes = plt.subplots(1, 2)[1]
    assert plot_coordinates(run, 5, axes) == tuple(axes)
    assert plot_portrait(run, axes=axes) == tuple(axes)
    four = plt.subplots(1, 4)[1]
    assert plot_story(run, 20, axes=four) == list(four)


def test_figures_of_the_network_begin_after_the_launch():
    """Triangles and transitions are those of the network; a run that ends before has none to draw."""
    made = tc.Scenario.load(Path(__file__).parents[2] / "examples" / "from-pads.toml")
    run = tc.simulate(made)
    launch, agent = run.mission.launch, int(run.network.followers[0])
    life = story._life(run, agent, None)
    assert life.steps.tolist() == list(range(launch, run.steps + 1))
    Subject(run, step=launch).draw_transition()
    plt.close("all")
    with pytest.raises(InputError, match=f"the network is used from step {launch} on: there is no transition"):
        Subject(run, step=launch - 1).draw_transition()
    short = tc.simulate(Mission.of(made.replace(steps=3)))
    with pytest.raises(InputError, match="this run has no steps after its launch: there is no story to tell"):
        story._life(short, agent, None)
