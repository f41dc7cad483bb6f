"""Scenarios: TOML and Python are the same thing, and what is wrong is named with its remedy."""

import json
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tricover.errors import FileFormatError, InputError
from tricover.simulation import Mission
from tricover.simulation.resolve import targets_of
from tricover.targets.motion import Drift
from tricover.vehicles import Mixed

TEAM = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
number = st.floats(-1e6, 1e6)
points = st.lists(st.tuples(number, number), min_size=1, max_size=5)


def maybe(strategy):
    return st.none() | strategy


def section(**keys):
    """Tables with these keys; one that comes as None is left out."""
    tables = st.fixed_dictionaries(keys)
    return tables.map(lambda made: {key: value for key, value in made.items() if value is not None})


drifts = section(velocity=st.tuples(number, number), until=maybe(st.integers(0, 99)))
target_sections = st.one_of(
    section(positions=points, motion=maybe(drifts)),
    points.map(lambda row: {"positions": row, "motion": {"paths": [row, row]}}),
    section(generator=st.just("polygon"), count=st.integers(1, 9), corners=st.just([[0, 0], [1, 0], [0, 1]])),
    section(generator=st.just("clusters"), count=st.integers(1, 9), centres=points, spread=st.floats(1e-3, 10)),
)
formations = st.one_of(
    st.just({"positions": TEAM}),
    section(generator=st.just("disc"), agents=st.integers(4, 9), size=st.floats(0.1, 9)),
)
scenarios = section(
    name=st.text(max_size=9),
    seed=st.integers(0, 2**63 - 1),
    steps=st.integers(0, 10**6),
    stop_when_settled=maybe(st.booleans()),
    formation=formations,
    anchors=maybe(section(positions=points) | section(paths=points.map(lambda row: [row])) | st.just({"fit": True})),
    targets=target_sections,
    network=section(
        mentee=st.sampled_from(["fermat", "balanced"]), core=maybe(st.integers(0, 5) | st.tuples(number, number))
    ),
    control=section(
        motion=st.sampled_from(["reach", "walk"]),
        goal=st.sampled_from(["centroid", "predictive", "rollout", "reference"]),
        resolution=st.integers(1, 4096),
        beta=maybe(st.floats(0.1, 10)),
        gamma=st.floats(0.01, 0.99),
        margin=st.floats(0, 0.33),
    ),
    vehicle=st.sampled_from(
        [
            {"kind": "anywhere"},
            {"kind": "unicycle", "max_speed": 2.5, "duration": 0.75},
            {"kind": "exact", "others": [{"agents": [3, 4], "kind": "quadrotor", "wind": [1.0, -0.5]}]},
        ]
    ),
    events=section(
        leave=st.lists(section(step=st.integers(0, 9), agents=st.lists(st.integers(0, 5), min_size=1)), max_size=2),
        join=st.lists(section(step=st.integers(0, 9), reference=points), max_size=2),
    ),
)


@settings(max_examples=100)
@given(data=scenarios)
def test_a_saved_scenario_is_the_same(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("toml") / "scenario.toml"
    scenario = tc.Scenario(**data)
    scenario.save(path)
    assert tc.Scenario.load(path) == scenario
    assert tc.Scenario(**tomllib.loads(path.read_text())) == scenario
    assert tc.Scenario(**json.loads(json.dumps(scenario.to_dict()))) == scenario
    assert scenario.self_contained().self_contained() == scenario.self_contained()


def test_scenarios_differ_when_anything_does():
    scenario = tc.Scenario(reference=TEAM, targets=[[1, 1], [2, 2]])
    assert scenario == tc.Scenario(reference=np.array(TEAM, float), targets=tc.Targets([[1, 1], [2, 2]]))
    assert scenario != tc.Scenario(reference=TEAM, targets=[[1, 1], [2, 2.0000001]])
    assert scenario != tc.Scenario(reference=TEAM, targets=[[1, 1], [2, 2]], seed=1)
    assert scenario != "scenario"


def test_short_forms_are_the_long_ones(tmp_path):
    np.save(tmp_path / "team.npy", np.array(TEAM, float))
    robot = {"kind": "unicycle", "max_speed": 1.0, "max_turn_rate": 2.0}
    long = {
        "formation": {"file": tmp_path / "team.npy"},
        "targets": {"positions": [[1, 1]], "weights": [2]},
        "anchors": {"paths": [[[0, 0]] * 5]},
        "vehicle": {"kind": "exact", "others": [{"agents": [2], **robot}]},
    }
    mixed = Mixed((tc.vehicle("exact"), tc.vehicle("unicycle")), (0, 0, 1, 0, 0, 0))
    short = tc.Scenario(
        reference=tmp_path / "team.npy", targets=tc.Targets([[1, 1]], [2]), anchors=[[[0, 0]] * 5], vehicle=mixed
    )
    assert short == tc.Scenario(**long)
    assert short.vehicle.team(6) == mixed
    assert tc.Scenario(**{**long, "anchors": "fit"}).anchors.fit


def test_files_are_found_from_the_scenario_wherever_it_is_saved(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "team.csv").write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in TEAM))
    (tmp_path / "a" / "s.toml").write_text('[formation]\nfile = "team.csv"\n[targets]\npositions = [[1, 1]]\n')
    scenario = tc.Scenario.load(tmp_path / "a" / "s.toml")
    scenario.save(tmp_path / "b" / "c" / "s.toml")
    assert 'file = "../../a/team.csv"' in (tmp_path / "b" / "c" / "s.toml").read_text()
    monkeypatch.chdir("/")
    again = tc.Scenario.load(tmp_path / "b" / "c" / "s.toml")
    assert again == scenario
    np.testing.assert_array_equal(again.reference, TEAM)


def test_files_in_degrees_share_one_plane(tmp_path):
    (tmp_path / "team.csv").write_text(
        "longitude,latitude\n" + "\n".join(f"{10 + x / 1000},{50 + y / 1000}" for x, y in TEAM)
    )
    (tmp_path / "targets.csv").write_text("longitude,latitude\n10.001,50.001\n10.003,50.002\n")
    scenario = tc.Scenario(reference=tmp_path / "team.csv", targets=tmp_path / "targets.csv")
    plane = Mission.of(scenario).projection
    np.testing.assert_allclose(plane.to_degrees(scenario.reference)[1], [10.004, 50.0], atol=1e-9)
    inside = scenario.self_contained()
    np.testing.assert_array_equal(inside.origin, [plane.longitude, plane.latitude])
    assert Mission.of(inside).projection == plane


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stepps": 3}, "unknown key 'stepps'; did you mean 'steps'?"),
        ({"control": {"gama": 0.9}}, "unknown key 'control.gama'; did you mean 'gamma'?"),
        ({"control": {"zzzz": 1}}, "unknown key 'control.zzzz'; known: motion, goal, resolution, alpha"),
        ({"events": {"leave": [{"stp": 1, "agents": [1]}]}}, "unknown key 'events.leave[0].stp'; did you mean 'step'?"),
        (
            {"targets": {"positions": [[1, 1]], "motion": {"velocty": [1, 2]}}},
            "unknown key 'targets.motion.velocty'; did",
        ),
        ({"steps": -1}, "steps: should be greater than or equal to 0, not -1"),
        ({"steps": "many"}, "steps: should be a valid integer"),
        ({"control": {"gamma": 1.5}}, "control.gamma: should be less than 1, not 1.5"),
        ({"control": {"margin": 0.4}}, "control.margin: should be less than 0.333"),
        ({"control": {"resolution": 0}}, "control.resolution: should be greater than or equal to 1, not 0"),
        ({"control": {"alpha": float("nan")}}, "control.alpha: should be"),
        ({"control": {"goal": "centriod"}}, "control.goal: must be 'centroid', 'predictive', 'rollout', 'reference'"),
        ({"control": 3}, "control: should be a valid dictionary"),
        ({"network": {"core": "a"}}, "network.core: must be an agent's index or a point [x, y], not 'a'"),
        ({"vehicle": "unicycel"}, "vehicle: unknown vehicle kind 'unicycel'; did you mean 'unicycle'?"),
        ({"vehicle": {"kind": "unicycle", "max_sped": 1}}, "has no setting 'max_sped'; did you mean 'max_speed'?"),
        ({"vehicle": {"others": [{"kind": "exact"}]}}, "vehicle.others[0].agents is missing"),
        ({"anchors": "fti"}, "anchors must be positions, paths or 'fit', not 'fti'"),
        ({"anchors": {}}, "anchors: exactly one of positions, paths, fit is needed, and none is"),
        ({"targets": {}}, "targets: exactly one of file, positions, generator is needed, and none is"),
        ({"targets": [[1, float("nan")]]}, "targets.positions: row 0 has a number that is NaN or infinite"),
        ({"targets": [[1, 2, 3]]}, "targets.positions: give numbers of shape (N, 2), not (1, 3)"),
        ({"targets": [["a", "b"]]}, "targets.positions: give numbers in rows of equal length"),
        ({"targets": {"positions": [[1, 2]], "count": 3}}, "targets: count means nothing here: leave it out"),
        ({"targets": {"generator": "polygon", "count": 3}}, "targets: generator 'polygon' needs corners"),
        ({"targets": {"positions": [[1, 2]], "density": 3}}, "targets: density goes with a file that has polygons"),
        ({"targets": {"positions": [[1, 2]], "active": [[0.5, 2]]}}, "targets.active: give whole numbers"),
        (
            {"targets": {"positions": [[1, 2]], "motion": {"paths": [[[1, 2]]], "until": 3}}},
            "targets.motion: until goes with",
        ),
        ({"formation": {"positions": TEAM}}, "reference is short for formation: give one of them"),
        (
            {"events": {"join": [{"step": 1, "reference": [[1, 2]], "positions": [[1, 2], [3, 4]]}]}},
            "1 agents join, but 2",
        ),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        tc.Scenario(**{"reference": TEAM, "targets": [[1, 1]], **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ({"targets": {"positions": [[1, 1]], "weights": [1, 2]}}, "1 points need weights"),
        (
            {"targets": {"positions": [[1, 1]], "motion": {"paths": [[[1, 2], [3, 4]]]}}},
            "1 targets need as many paths, not 2",
        ),
        ({"targets": {"generator": "polygon", "count": 1, "corners": [[0, 0], [1, 1]]}}, "polygon has no area"),
        ({"targets": "nowhere.csv"}, "nowhere.csv"),
        ({"formation": {"positions": TEAM, "start": [[0, 0]]}}, "6 agents need as many positions, not 1"),
        ({"formation": {"generator": "square", "agents": 5, "size": 1}}, "at least 6 agents, not 5"),
        ({"vehicle": {"others": [{"agents": 9, "kind": "anywhere"}]}}, "agent 9 is not on the roster of 6 agents"),
    ],
)
def test_what_only_shows_when_it_is_run_is_named_too(scenario, message):
    data = {"formation": {"positions": TEAM}, "targets": [[1, 1]], **scenario}
    with pytest.raises(InputError, match=message):
        tc.simulate(tc.Scenario(**data))


def test_a_file_that_is_no_scenario_is_named(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("steps = = 3")
    with pytest.raises(FileFormatError, match=r"s\.toml: not a TOML file: .*line 1"):
        tc.Scenario.load(path)
    path.write_text("[formation]\npositions = [[1, 2]]\n[targets]\npositions = [[1, 1]]\n[contrl]\n")
    with pytest.raises(FileFormatError, match=r"s\.toml: unknown key 'contrl'; did you mean 'control'\?"):
        tc.Scenario.load(path)
    with pytest.raises(FileFormatError, match=r"nothing\.toml"):
        tc.Scenario.load(tmp_path / "nothing.toml")
    with pytest.raises(InputError, match=r"simulate and steps take a Scenario, not str: Scenario\.load reads a file"):
        tc.simulate(str(path))


def test_functions_run_but_cannot_be_written(tmp_path):
    def nearest_corner(network):
        return lambda agents, triangles, targets: triangles[:, 0]

    field = Drift(np.array([[1.0, 1.0], [2.0, 3.0]]), lambda positions, time: 0.01 * positions)
    scenario = tc.Scenario(reference=TEAM, targets=[[1, 1]], control={"goal": nearest_corner})
    assert tc.simulate(scenario).converged
    with pytest.raises(InputError, match=r"a function \(nearest_corner\) of a script or notebook cannot"):
        scenario.save(tmp_path / "s.toml")
    moving = tc.Scenario(reference=TEAM, targets=tc.Targets(field.start, motion=field), steps=4)
    np.testing.assert_array_equal(tc.simulate(moving).targets.points, field.at(3))
    with pytest.raises(InputError, match="targets that move by a function cannot be written down"):
        tc.simulate(moving, tmp_path / "run.zarr")
    assert not list(tmp_path.iterdir())


def test_the_json_schema_describes_every_key():
    schema = tc.Scenario.model_json_schema()
    assert set(schema["properties"]) == set(tc.Scenario.model_fields)
    assert schema["additionalProperties"] is False
    control = schema["$defs"]["Control"]["properties"]
    assert control["gamma"]["exclusiveMaximum"] == 1
    names, own = control["goal"]["anyOf"]
    assert names["enum"] == ["centroid", "predictive", "rollout", "reference", "cellplan", "voronoi", "descent"]
    assert re.match(own["pattern"], "mine:halfway")
    assert not re.match(own["pattern"], "halfway")
    assert all("description" in key or "$ref" in str(key) for key in control.values())
    json.dumps(schema)


def test_generators():
    square = tc.Scenario(reference={"generator": "square", "agents": 57, "size": 10}, targets=[[1, 1]], seed=3)
    assert tc.build_network(square.reference).boundary.tolist() == [0, 1, 2, 3]
    assert np.abs(square.reference).max() == 5
    polygon = {"generator": "polygon", "count": 4000, "corners": [[0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]]}
    scenario = tc.Scenario(reference=TEAM, targets=polygon)
    x, y = targets_of(scenario).points.T
    assert len(x) == 4000
    assert (((x <= 1) | (y <= 1)) & (x >= 0) & (y >= 0) & (x <= 4) & (y <= 4)).all()
    assert abs(((x > 1) & (y <= 1)).mean() - 3 / 7) < 0.03
    other = tc.Scenario(reference=TEAM, targets=polygon, seed=1)
    assert not np.array_equal(targets_of(other).points, targets_of(scenario).points)


def test_pydantic_and_zarr_load_when_needed():
    code = (
        "import sys, tricover; from tricover.cli.main import app; "
        "print(sorted({'pydantic', 'zarr', 'numba', 'rich'} & set(sys.modules))); tricover.Scenario; "
        "print('pydantic' in sys.modules, 'zarr' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "zarr" not in shown
    assert "pydantic" not in shown.splitlines()[0]
    assert shown.splitlines()[1] == "True False"


def test_large_arrays_are_not_copied_again_and_nobody_can_change_them():
    """What Targets keep is read-only, so a scenario may share it; a view of something writeable may change."""
    given = np.random.default_rng(0).random((20, 2))
    targets = tc.Targets(given, np.ones(20))
    made = tc.Scenario(reference=TEAM, targets=targets)
    assert np.shares_memory(targets_of(made).points, targets.points)
    assert np.shares_memory(targets_of(made).weights, targets.weights)
    assert not np.shares_memory(targets.points, given)
    view = given[:]
    view.flags.writeable = False
    assert not np.shares_memory(tc.Targets(view).points, given)


def test_a_text_for_reading_leaves_long_arrays_out():
    made = tc.Scenario(reference=TEAM, targets=np.random.default_rng(0).random((2000, 2)))
    text = made.to_toml(longest=6)
    odd = tc.Scenario(name="[ … 3 rows ]", reference=TEAM, targets=[[1, 1]])
    assert tomllib.loads(odd.to_toml())["name"] == odd.name
    assert "positions = [ … 2,000 rows ]" in text
    assert (
        tomllib.loads(made.to_toml())["formation"] == tomllib.loads(text.replace("[ … 2,000 rows ]", "[]"))["formation"]
    )
