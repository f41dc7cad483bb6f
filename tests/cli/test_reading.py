"""Polygons, maps and places on earth on the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app
from tricover.coverage import compare_methods
from tricover.formats import Projection, read_points

PLANE = Projection(7.2, 51.4)


def tricover(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("fields")
    corners = np.array([[0, 0], [400, 0], [400, 300], [0, 300], [0, 0]])
    rings = [PLANE.to_degrees(corners).tolist(), PLANE.to_degrees(corners / 4 + 500).tolist()]
    polygons = [{"type": "Polygon", "coordinates": [ring]} for ring in rings]
    features = [{"type": "Feature", "properties": {}, "geometry": polygon} for polygon in polygons]
    (place / "field.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    rng = np.random.default_rng(3)
    np.save(place / "map.npy", rng.integers(0, 9, (30, 40)))
    tc.Targets(rng.uniform(0, 400, (80, 2))).to_file(place / "metres.csv")
    tc.Targets(rng.uniform(0, 400, (12, 2)), projection=PLANE).to_file(place / "team.geojson")
    return place


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_polygons_become_as_many_targets_as_asked_for():
    result = tricover("plan", "field.geojson", "--points", 300, "-n", 12)
    assert "field.geojson: 300 targets" in result.stderr
    middle = read_points("field.geojson", points=300).projection
    assert f"Point (0, 0): lon {middle.longitude:.9f}, lat {middle.latitude:.9f}" in result.stdout
    facts = json.loads(tricover("plan", "field.geojson", "--points", 300, "-n", 12, "--json").stdout)
    assert facts["targets"] == 300
    assert facts["origin"] == [middle.longitude, middle.latitude]
    facts = json.loads(tricover("plan", "field.geojson", "--density", "0.002", "-n", 12, "--json").stdout)
    assert facts["targets"] == 240 + 15
    quiet = tricover("plan", "field.geojson", "--points", 300, "-n", 12, "--quiet")
    assert quiet.output == ""


def test_compare_and_network_take_polygons_too():
    facts = json.loads(tricover("compare", "field.geojson", "--points", 150, "--agents", 8, "--json").stdout)
    assert facts["targets"] == 150
    result = tricover("network", "field.geojson", "--points", 40)
    assert "field.geojson: 40 agents" in result.stderr
    assert "Network of 40 agents" in result.stdout
    assert "Point (0, 0): lon 7.2" in result.stdout
    facts = json.loads(tricover("network", "field.geojson", "--points", 40, "--json").stdout)
    assert facts["agents"] == 40
    assert len(facts["origin"]) == 2
    assert tc.Network.from_json(json.dumps(facts)).depth == facts["depth"]
    assert json.loads(tricover("network", "metres.csv", "--json").stdout)["origin"] is None


def test_the_origin_can_be_given():
    facts = json.loads(
        tricover("plan", "field.geojson", "--points", 90, "-n", 8, "--origin", "7.2,51.4", "--json").stdout
    )
    assert facts["origin"] == [7.2, 51.4]
    assert np.array(facts["reference"]).min() > -1
    tricover("plan", "metres.csv", "-n", 8, "--origin", "-7.2,51.4", "-o", "out.geojson")
    assert read_points("out.geojson").degrees[:, 0].max() < -7.19
    facts = json.loads(tricover("network", "team.geojson", "--origin", "7.2,51.4", "--json").stdout)
    assert facts["origin"] == [7.2, 51.4]
    assert np.array(facts["reference"]).min() >= 0


def test_a_team_is_compared_in_the_plane_of_the_targets():
    """The team stands in the south-west of the field: in a plane of its own it would stand around its middle."""
    facts = json.loads(tricover("compare", "field.geojson", "--points", 90, "--team", "team.geojson", "--json").stdout)
    targets = tc.Targets.from_file("field.geojson", points=90)
    team = read_points("team.geojson", projection=targets.projection).positions
    ours = compare_methods(team, targets)
    for method, expected in zip(facts["methods"], ours.methods, strict=True):
        assert method["ratio"] == pytest.approx(expected.ratio)


def test_a_map_is_thinned():
    result = tricover("plan", "map.npy", "--extent", "0,-50,400,250", "--points", 100, "-n", 10, "--json")
    facts = json.loads(result.stdout)
    assert 50 <= facts["targets"] <= 100
    assert facts["origin"] is None
    said = tricover("plan", "map.npy", "--extent", "-10,-50,400,250", "--points", 100, "-n", 10).stderr
    assert "map.npy: " in said


def test_launch_pads_are_not_written_over(complaint, tmp_path):
    given = tc.Scenario(
        reference={"file": "team.geojson", "start": "team.geojson"}, targets="metres.csv", origin=[7, 51]
    )
    tc.Targets(np.ones((12, 2)), projection=PLANE).to_file(tmp_path / "pads.geojson")
    given.replace(formation={"start": str(tmp_path / "pads.geojson")}).save(tmp_path / "mine.toml")
    said = complaint("export", tmp_path / "mine.toml", "-o", tmp_path / "pads.geojson")
    assert "read here: choose another place to write to" in said


def test_a_run_says_where_it_is(tmp_path):
    given = tc.Scenario(reference="team.geojson", targets="metres.csv", origin=[7.2, 51.4], steps=300)
    given.save(tmp_path / "mine.toml")
    shown = CliRunner().invoke(app, ["run", str(tmp_path / "mine.toml")]).stdout
    assert "lon 7.200000000, lat 51.400000000" in shown
    facts = json.loads(CliRunner().invoke(app, ["run", str(tmp_path / "mine.toml"), "--json"]).stdout)
    assert facts["origin"] == [7.2, 51.4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "field.geojson"], "say how many points are to fill the polygons (points, --points N)"),
        (["plan", "field.geojson", "--points", "1"], "1 points are too few for 2 polygons"),
        (["plan", "field.geojson", "--points", "9", "--density", "1"], "points and density both say"),
        (["plan", "metres.csv", "--points", "9"], "metres.csv holds points already"),
        (["plan", "map.npy", "--extent", "0,0,1"], "--extent must be x0, y0, x1 and y1 in metres, such as 0,0,400,300"),
        (["plan", "map.npy", "--extent", "0,0,-1,1"], "extent must be x0, y0, x1, y1 in metres, with x0 < x1"),
        (["plan", "metres.csv", "--origin", "7"], "--origin must be longitude and latitude, such as 7.21,51.48"),
        (["network", "team.geojson", "--origin", "7,99"], "origin 7.0 and 99.0: is no longitude and latitude"),
        (["compare", "metres.csv", "--team", "team.geojson"], "and the targets in metres: give --origin LON,LAT"),
        (["compare", "field.geojson", "--points", "90", "--team", "metres.csv"], "these positions are in metres"),
        (["network", "field.geojson"], "say how many points are to fill"),
    ],
)
def test_what_cannot_be_is_one_line(complaint, arguments, message):
    assert message in complaint(*arguments)
