"""Exported maps, read by json and by GDAL, and their places held against PROJ."""

import json
from pathlib import Path

import numpy as np
import pyogrio
import pytest

import tricover as tc
from tests.export.runs import ORIGIN, assert_on_earth, degrees, eventful, interrupted, scenario
from tricover.export import export_run
from tricover.export.geojson import who
from tricover.formats import Points, Projection, write_points


def export(run, tmp_path, **options):
    path = tmp_path / "run.geojson"
    export_run(run, path, **options)
    return path


def features(path, kind):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["type"] == "FeatureCollection"
    found = [feature for feature in document["features"] if feature["properties"]["kind"] == kind]
    return [(feature["properties"], feature["geometry"]) for feature in found]


def unthinned(properties, geometry):
    """The vertex at each step from the first to the last of a path."""
    steps = np.array(properties["steps"])
    at = np.searchsorted(steps, np.arange(steps[0], properties["last_step"] + 1), side="right") - 1
    return np.array(geometry["coordinates"])[at]


@pytest.mark.parametrize(
    "made",
    [lambda: tc.simulate(scenario()), lambda: tc.simulate(eventful()), lambda: interrupted(eventful(), 6)],
    ids=["plain", "eventful", "interrupted"],
)
def test_paths_are_where_the_agents_were(made, tmp_path):
    run = made()
    path = export(run, tmp_path, origin=ORIGIN)
    paths = features(path, "path")
    assert [properties["agent"] for properties, _ in paths] == np.flatnonzero(run.present.any(axis=0)).tolist()
    for properties, geometry in paths:
        there = np.flatnonzero(run.present[:, properties["agent"]])
        assert (properties["steps"][0], properties["last_step"]) == (there[0], there[-1])
        assert geometry["type"] == "LineString"
        assert len(geometry["coordinates"]) >= 2
        assert_on_earth(unthinned(properties, geometry), run.positions[there, properties["agent"]])


def test_ends_links_and_targets(tmp_path):
    run = tc.simulate(eventful())
    path = export(run, tmp_path, origin=ORIGIN)
    network = run.network
    ends = features(path, "position")
    assert_on_earth([geometry["coordinates"] for _, geometry in ends], run.positions[-1])
    assert [properties["present"] for properties, _ in ends] == run.present[-1].tolist()
    for properties, _ in ends:
        agent = properties["agent"]
        follower = network.layer[agent] > 0
        assert properties["in_neighbors"] == (network.in_neighbors[agent].tolist() if follower else None)
        assert properties["layer"] == (None if agent in network.lost else network.layer[agent])
    desired = features(path, "desired")
    assert_on_earth([geometry["coordinates"] for _, geometry in desired], run.desired[[p["agent"] for p, _ in desired]])
    links = features(path, "link")
    assert len(links) == 3 * len(network.followers)
    for properties, geometry in links:
        pair = [properties["in_neighbor"], properties["agent"]]
        assert network.in_neighbors[pair[1], properties["slot"]] == pair[0]
        assert_on_earth(geometry["coordinates"], run.positions[-1, pair])
    targets = features(path, "target")
    assert_on_earth([geometry["coordinates"] for _, geometry in targets], run.targets.points)
    assert [properties["weight"] for properties, _ in targets] == run.targets.weights.tolist()


def test_gdal_reads_it(tmp_path):
    run = tc.simulate(scenario())
    path = export(run, tmp_path, origin=ORIGIN)
    about = pyogrio.read_info(path, force_total_bounds=True)
    assert about["driver"] == "GeoJSON"
    assert about["crs"] == "EPSG:4326"
    assert about["layer_name"] == "team"
    assert about["features"] == 16 + 16 + 16 + 3 * len(run.network.followers) + 60
    corners = degrees([run.positions.min(axis=(0, 1)), run.positions.max(axis=(0, 1))])
    assert about["total_bounds"][0] <= corners[0, 0] + 1e-9
    assert about["total_bounds"][3] >= corners[1, 1] - 1e-9
    names, _, shapes, columns = pyogrio.raw.read(path, where="kind = 'path'")
    named = dict(zip(names["fields"], columns, strict=True))
    assert named["agent"].tolist() == list(range(16))
    for agent, shape in enumerate(shapes):
        kind, count = np.frombuffer(shape[1:9], "<u4")
        assert kind == 2  # a line in well-known binary
        vertices = np.frombuffer(shape[9:], "<f8").reshape(count, 2)
        steps = named["steps"][agent]
        assert_on_earth(vertices[: len(steps)], run.positions[steps, agent])
    follower = int(run.network.followers[0])
    assert named["in_neighbors"][follower].tolist() == run.network.in_neighbors[follower].tolist()


@pytest.mark.parametrize("where", ["targets", "formation", "both"])
def test_files_in_degrees_lead_back_to_degrees(where, tmp_path):
    """The run's own projection is used, also when only one of its files is in degrees, and after it was stored."""
    plane = Projection(*ORIGIN)
    given = scenario()
    for key, positions in (("targets", given.targets.positions), ("formation", given.reference)):
        if where in (key, "both"):
            write_points(tmp_path / f"{key}.geojson", Points(positions, projection=plane))
            given = tc.Scenario(**{**given.values(), key: {"file": tmp_path / f"{key}.geojson"}})
    run = tc.simulate(given, tmp_path / "run.zarr")
    starts = [geometry["coordinates"][0] for _, geometry in features(export(run, tmp_path), "path")]
    if where != "targets":
        assert_on_earth(starts, scenario().reference)
    again = export(tc.Run.open(tmp_path / "run.zarr"), tmp_path)
    assert [geometry["coordinates"][0] for _, geometry in features(again, "path")] == starts
    with pytest.raises(tc.TricoverError, match=r"knows where on earth it is, around .*: leave origin out"):
        export(run, tmp_path, origin=ORIGIN)


def test_lines_do_not_go_around_the_earth(tmp_path):
    run = tc.simulate(scenario())
    path = export(run, tmp_path, origin=(179.9995, -16.5))
    for kind in ("path", "link"):
        for _, geometry in features(path, kind):
            assert np.ptp(geometry["coordinates"], axis=0).max() < 0.01
    longitudes = [geometry["coordinates"][0] for _, geometry in features(path, "position")]
    assert min(longitudes) < -179
    assert max(longitudes) > 179


def test_a_run_in_metres_needs_an_origin(tmp_path):
    run = tc.simulate(scenario(steps=3))
    with pytest.raises(tc.TricoverError, match=r"only metres: give as origin \(--origin LON,LAT\)"):
        export(run, tmp_path)
    for origin, message in (((7, 95), "origin 7 and 95: is no longitude"), ((7, 89.99), "stands at the pole")):
        with pytest.raises(tc.TricoverError, match=message):
            export(run, tmp_path, origin=origin)
    assert not list(tmp_path.iterdir())


def test_agents_know_their_pads():
    run = tc.simulate(tc.Scenario.load(Path(__file__).parents[2] / "examples" / "from-pads.toml"))
    assert [who(run, agent)["pad"] for agent in range(12)] == run.mission.pads.tolist()
    assert "pad" not in who(tc.simulate(scenario()), 0)
