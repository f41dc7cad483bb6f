"""Scenarios with zones: read, kept, run, resumed, and who is cut off."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import tricover as tc
from tests.safety.fields import entered, scenario
from tricover.cli.main import app
from tricover.control import Told, decide
from tricover.errors import FileFormatError, InputError
from tricover.formats import Projection
from tricover.report.summary import summary_section
from tricover.simulation import Mission
from tricover.simulation.deciding import view_of

TEAM = [[0, 0], [12, 0], [12, 12], [0, 12], [6, 6], [2, 6], [6, 2], [9, 7], [5, 10]]
ZONES = [[[1, 1], [2, 1], [2, 2]], [[8, 3], [9, 3], [9.5, 4], [8, 4]]]
WALK = {"motion": "walk", "resolution": 9}


def given(zones=ZONES, **more):
    targets = [[1, 1], [3, 8], [8, 3], [9, 9], [5, 5]]
    settings = {"network": {"core": 4}, "control": WALK, "safety": {"zones": zones}, **more}
    return tc.Scenario(reference=TEAM, targets=targets, **settings)


def geojson(plane, rings, kind="Polygon"):
    def degrees(ring):
        closed = np.array([*ring, ring[0]], float)
        return plane.to_degrees(closed).tolist()

    shapes = [{"type": "Polygon", "coordinates": [degrees(ring)]} for ring in rings]
    if kind == "MultiPolygon":
        shapes = [{"type": kind, "coordinates": [shape["coordinates"] for shape in shapes]}]
    return {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": s} for s in shapes]}


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
@pytest.mark.parametrize("seed", range(6))
def test_nobody_enters_a_zone_and_everybody_settles_or_is_named(seed, vehicle):
    """A few of the fields of ``tests/safety``."""
    run = tc.simulate(scenario(np.random.default_rng([seed, 17]), vehicle, 4000 if vehicle == "exact" else 40))
    assert entered(run.positions, run.mission.ground.zones) == []
    if vehicle == "exact":
        assert run.settled_at is not None
        assert run.largest_error < 1e-9
        assert run.converged == (not run.cut_off)


def test_a_scenario_keeps_its_zones_wherever_it_goes(tmp_path):
    made = given()
    made.save(tmp_path / "a.toml")
    assert tc.Scenario.load(tmp_path / "a.toml") == made
    assert made.self_contained().self_contained() == made.self_contained()
    assert pickle.loads(pickle.dumps(made)) == made
    run = tc.simulate(made)
    for other in (made.self_contained(), tc.Scenario.load(tmp_path / "a.toml")):
        assert np.array_equal(tc.simulate(other).positions, run.positions)
    mission = Mission.from_json(run.mission.to_json())
    assert np.array_equal(tc.simulate(mission).positions, run.positions)
    assert all(np.array_equal(a, b) for a, b in zip(mission.ground.zones, run.mission.ground.zones, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(mission.epochs[0].told.zones, mission.ground.zones, strict=True))


def test_a_stored_run_is_the_same_and_can_be_resumed(tmp_path):
    many = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 6.2, 40)]) * 0.4 + [3, 3]
    made = given([*ZONES, many], control={**WALK, "resolution": 12})
    whole = tc.simulate(made)

    def stop(now):
        if now.step == 3:
            raise KeyboardInterrupt

    cut = tc.simulate(made, tmp_path / "run", progress=stop)
    assert cut.interrupted
    again = tc.simulate(made, tmp_path / "run", resume=True)
    assert np.array_equal(again.positions, whole.positions)
    opened = tc.Run.open(tmp_path / "run")
    assert np.array_equal(opened.desired, whole.desired)
    assert opened.cut_off == whole.cut_off
    assert opened.converged == whole.converged
    assert all(
        np.array_equal(a, b) for a, b in zip(opened.mission.ground.zones, whole.mission.ground.zones, strict=True)
    )


@pytest.mark.parametrize("kind", ["Polygon", "MultiPolygon"])
def test_zones_in_longitude_and_latitude_are_projected_as_the_team_is(tmp_path, kind):
    plane = Projection(7.2, 51.5)
    (tmp_path / "zones.geojson").write_text(json.dumps(geojson(plane, ZONES, kind)))
    by_file = given(tmp_path / "zones.geojson", origin=[7.2, 51.5])
    found = Mission.of(by_file).ground.zones
    for ring, expected in zip(found, Mission.of(given()).ground.zones, strict=True):
        nearest = np.linalg.norm(ring[:, None] - expected[None], axis=2).min(axis=1)
        assert nearest.max() < 1e-6
    by_file.save(tmp_path / "here.toml")
    assert 'zones = "zones.geojson"' in (tmp_path / "here.toml").read_text()
    assert tc.Scenario.load(tmp_path / "here.toml") == by_file
    assert isinstance(by_file.self_contained().safety.zones, tuple)


def test_holes_are_not_left_out(tmp_path):
    plane = Projection(7.2, 51.5)
    document = geojson(plane, [[[1, 1], [3, 1], [3, 3], [1, 3]]])
    hole = plane.to_degrees(np.array([[1.5, 1.5], [2.5, 1.5], [2.5, 2.5], [1.5, 1.5]])).tolist()
    document["features"][0]["geometry"]["coordinates"].append(hole)
    (tmp_path / "zones.geojson").write_text(json.dumps(document))
    [ring] = Mission.of(given(tmp_path / "zones.geojson", origin=[7.2, 51.5])).ground.zones
    assert len(ring) == 4
    assert tc.geometry.as_zones([ring]).holding(np.array([[2.0, 2.0]])).tolist() == [0]


def test_zones_take_the_plane_of_the_targets_where_there_is_no_origin(tmp_path):
    plane = Projection(7.2, 51.5)
    targets = geojson(plane, [[[2, 2], [10, 2], [10, 10], [2, 10]]])
    (tmp_path / "targets.geojson").write_text(json.dumps(targets))
    (tmp_path / "zones.geojson").write_text(json.dumps(geojson(plane, ZONES)))
    made = tc.Scenario(
        reference=np.array(TEAM) - 6.0,  # around the middle of the targets, which is the point (0, 0)
        targets={"file": tmp_path / "targets.geojson", "points": 20},
        network={"core": 4},
        control=WALK,
        safety={"zones": tmp_path / "zones.geojson"},
    )
    first = Mission.of(made).ground.zones[0]
    nearest = np.linalg.norm(first[:, None] - (np.array(ZONES[0]) - 6.0)[None], axis=2).min(axis=1)
    assert nearest.max() < 1e-3  # the middle in degrees is not quite that in metres


@pytest.mark.parametrize(
    ("zones", "words"),
    [
        ([[[1, 1], [2, 1]]], "safety.zones: zone 0 has 2 different corners"),
        ([ZONES[0], [[0, 0], [2, 2], [2, 0], [0, 2]]], "safety.zones: zone 1 crosses itself"),
        ([[[5, 5], [7, 5], [6, 7]]], r"agent 4 begins in zone 0, at \(6, 6\)"),
        ([[[1.5, 5], [3, 5], [3, 7]]], None),
        ([ZONES[0], [[1.5, 5.5], [3, 5.5], [3, 7], [1.5, 7]]], r"agent 5 begins in zone 1, at \(2, 6\)"),
    ],
)
def test_zones_that_cannot_be_are_named_before_the_run(zones, words):
    if words is None:
        Mission.of(given(zones))
        return
    with pytest.raises(InputError, match=words):
        Mission.of(given(zones))


def test_files_that_hold_no_zones_are_named(tmp_path):
    plane = Projection(7.2, 51.5)
    file = tmp_path / "zones.geojson"
    point = {"type": "Point", "coordinates": [7.2, 51.5]}
    for content, words in [
        (json.dumps(point), "a point is no polygon"),
        (json.dumps({"type": "FeatureCollection", "features": []}), "holds no polygons"),
        (json.dumps([1, 2]), "not a GeoJSON object"),
        (json.dumps(geojson(plane, [[[0, 0], [2, 2], [2, 0], [0, 2]]])), "zone 0 crosses itself"),
        ("{", "zones.geojson"),
    ]:
        file.write_text(content)
        with pytest.raises(InputError, match=words):
            Mission.of(given(file, origin=[7.2, 51.5]))
    file.write_text(json.dumps(geojson(plane, ZONES)))
    with pytest.raises(InputError, match="give the origin"):
        Mission.of(given(file))
    with pytest.raises(FileFormatError, match="unknown ending"):
        Mission.of(given(tmp_path / "zones.csv", origin=[7.2, 51.5]))
    with pytest.raises(FileFormatError, match=r"(?i)no such file|cannot read"):
        Mission.of(given(tmp_path / "none.geojson", origin=[7.2, 51.5]))


def places_of(**moved):
    places = np.array(TEAM[:5], float)
    for agent, place in moved.items():
        places[int(agent[1:])] = place
    return places


def test_anchors_that_are_sent_through_or_into_a_zone_are_named():
    wall = [[[3, 10], [4, 10], [4, 14], [3, 14]]]
    with pytest.raises(InputError, match=r"anchor 3 is sent through zone 0, from \(0, 12\) to \(6, 12\)"):
        Mission.of(given(wall, anchors=places_of(a3=[6, 12])))
    with pytest.raises(InputError, match="anchor 3 is sent through zone 0"):
        Mission.of(given(wall, anchors=places_of(a3=[3.5, 12])))
    around = [places_of(a3=[2, 9]), places_of(a3=[5, 9]), places_of(a3=[6, 12])]
    Mission.of(given(wall, anchors=around))
    with pytest.raises(InputError, match=r"anchor 3 .*from \(5, 9\) to \(3.5, 11\)"):
        Mission.of(given(wall, anchors=[*around[:2], places_of(a3=[3.5, 11])]))


def test_one_that_joins_in_a_zone_is_named_and_a_new_anchor_looks_for_itself():
    inside = {"join": [{"step": 2, "reference": [[8.5, 3.5]]}]}
    with pytest.raises(InputError, match="agent 9 begins in zone 1"):
        Mission.of(given(events=inside))
    # Agent 3 is lost: others become boundary agents, and stay or go where no zone is between.
    run = tc.simulate(given(events={"leave": [{"step": 2, "agents": [3]}]}, steps=300))
    assert entered(run.positions, run.mission.ground.zones) == []
    assert run.settled_at is not None


WALL = [[3, 4.9], [3.4, 4.9], [3.4, 7.1], [3, 7.1]]  # between the reference position of agent 5 and the core
LOST = {"leave": [{"step": 60, "agents": [3]}]}  # then agent 5 is on the hull, and sent to its reference position


def test_a_new_anchor_holds_where_its_way_would_meet_a_zone():
    made = given([WALL], control={**WALK, "resolution": 16}, events=LOST, steps=200).replace(targets=[[4.6, 6.3]])
    run = tc.simulate(made)
    assert 5 in run.network.anchors
    assert np.linalg.norm(run.positions[60, 5] - [4.6, 6.3]) < 0.4
    assert np.array_equal(run.positions[-1, 5], run.positions[60, 5])
    assert (5, 0, True) in run.cut_off
    assert run.settled_at is not None
    assert not run.converged
    assert run.largest_error < 1e-9  # it is where it can be
    assert entered(run.positions, [WALL]) == []


def test_where_a_new_anchor_will_be_is_not_known_before_the_run():
    """It begins behind the wall, walks around it, and is where it has to be when it becomes an anchor."""
    start = np.array(TEAM, float)
    start[5] = [4.6, 6.3]
    made = given([WALL], control={**WALK, "resolution": 16}, events=LOST, steps=200)
    made = made.replace(formation={"start": start}, targets=[[2, 6]])
    run = tc.simulate(made)
    assert run.positions[-1, 5].tolist() == [2, 6]
    assert entered(run.positions, [WALL]) == []
    assert 5 not in [one.agent for one in run.cut_off]


def test_who_is_cut_off_is_told_with_the_zone(tmp_path):
    wall = [[[20, 20], [21, 20], [21, 21]], [[-1, 5.4], [5, 5.4], [5, 5.6], [-1, 5.6]]]
    made = tc.Scenario(
        name="cut",
        reference=TEAM[:6],
        targets=[[1, 4]],
        network={"core": 4},
        control={"motion": "walk", "resolution": 8},
        safety={"zones": wall},
    )
    run = tc.simulate(made)
    assert run.cut_off == [(5, 1, False)]
    assert run.settled_at is not None
    assert not run.converged
    assert run.positions[-1, 5, 1] > 5.6
    assert run.summary()["cut_off"] == [5]
    assert "agent 5 by zone 1" in summary_section(run).html
    assert run.to_xarray().attrs["cut_off"] == [5]
    made.save(tmp_path / "cut.toml")
    said = CliRunner().invoke(app, ["run", str(tmp_path / "cut.toml")])
    assert said.exit_code == 1
    assert "agent 5 by zone 1" in said.stdout
    facts = json.loads(CliRunner().invoke(app, ["run", str(tmp_path / "cut.toml"), "--json"]).stdout)
    assert facts["cut_off"] == [5]
    assert "cut_off" not in tc.simulate(made.replace(safety={"zones": None})).summary()


def test_the_desired_configuration_is_where_the_team_settles():
    zones = [[[8.5, 8.2], [9.8, 8.2], [9.8, 9.2], [8.5, 9.2]]]  # around the place of agent 7
    run = tc.simulate(given(zones, steps=300))
    assert run.converged
    told: Told = run.epochs[-1].told
    parts = run.network, run.targets, run.anchors, "centroid", 9
    last = run.positions[-1]
    assert np.array_equal(tc.desired_configuration(*parts, zones=told.zones, positions=last), last)
    free = tc.desired_configuration(*parts, zones=told.zones)  # every free cell can be reached here
    assert np.array_equal(free, run.positions[-1])
    plain = tc.desired_configuration(*parts)
    assert not np.array_equal(plain, free)
    assert tc.geometry.as_zones(zones).holding(plain).max() >= 0
    with pytest.raises(InputError, match="resolution"):
        tc.desired_configuration(run.network, run.targets, zones=ZONES)
    with pytest.raises(InputError, match="positions must have the shape"):
        tc.desired_configuration(*parts, zones=ZONES, positions=[[0, 0]])


def test_one_agent_alone_decides_as_in_the_team():
    """With the targets in its own triangle alone, near zones and far from them."""
    made = scenario(np.random.default_rng([3, 17]), "anywhere", 12)
    mission = Mission.of(made)
    told = mission.epochs[0].told
    followers = told.network.followers
    for step in tc.steps(mission):
        whole = decide(view_of(mission, step.state, followers), told, {})
        for row, agent in enumerate(followers):
            view = view_of(mission, step.state, np.array([agent]))
            alone = replace(view, seen=view.seen.within(view.heard[0]))
            one = decide(alone, Told.from_json(told.to_json()) if step.step == 0 else told, {})
            assert [part[0] for part in one.cells] == [part[row] for part in whole.cells]
            assert np.allclose(one.setpoints[0], whole.setpoints[row], rtol=0, atol=1e-9)


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
@pytest.mark.parametrize("seed", range(4))
def test_edges_of_zones_on_edges_of_cells_are_no_loophole(seed, vehicle):
    """Everything on a lattice: agents land on cells' edges (no margin), beside zones that begin there."""
    rng = np.random.default_rng(seed)
    zones = []
    for corner in rng.integers(1, 21, (5, 2)) / 2:
        ring = (
            np.array([[0.0, 0], [1.5, 0], [1.5, 1], [0, 1]])
            if rng.random() < 0.5
            else np.array([[0.0, 0], [1, 1], [0, 2]])
        )
        if tc.geometry.as_zones([ring + corner]).holding(np.array(TEAM, float)).max() < 0:
            zones.append(ring + corner)
    control = {"motion": "walk", "resolution": 12, "margin": 0.0}
    made = given(zones, control=control, vehicle=vehicle, steps=120, seed=seed)
    run = tc.simulate(made.replace(targets=rng.uniform(0, 12, (6, 2))))
    assert entered(run.positions, zones) == []
    assert tc.certify(run)["zones"].verdict == "holds"


def test_a_triangle_without_a_free_cell_has_its_goal_cell_where_nobody_can_be():
    network = tc.build_network(TEAM[:6], core=4)
    whole = [[[-1, 1], [7, 1], [7, 11], [-1, 11]]]
    assert np.array_equal(
        tc.desired_configuration(network, [[1, 6]], resolution=2, zones=whole),
        tc.desired_configuration(network, [[1, 6]], resolution=2),
    )
    there = np.array(TEAM[:6], float)
    there[5] = [0.01, 0.5]  # in the triangle, outside the zone
    held = tc.desired_configuration(network, [[1, 6]], resolution=2, zones=whole, positions=there)
    assert held[5].tolist() == [0.01, 0.5]


def test_reach_does_not_go_around_and_is_judged():
    run = tc.simulate(given(control={"motion": "reach"}))
    plain = tc.simulate(given(control={"motion": "reach"}).replace(safety={"zones": None}))
    assert np.array_equal(run.positions, plain.positions)
    assert run.cut_off == []
