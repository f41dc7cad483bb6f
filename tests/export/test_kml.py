"""Exported KML, read by an XML parser and by GDAL, and its places held against PROJ."""

from datetime import datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pyogrio
import pytest

import tricover as tc
from tests.export.runs import ORIGIN, assert_on_earth, eventful, interrupted, scenario
from tricover.errors import InputError
from tricover.export import export_run

KML, GX = "{http://www.opengis.net/kml/2.2}", "{http://www.google.com/kml/ext/2.2}"
FOLDERS = ["paths", "motion", "positions", "anchors", "desired", "links", "targets"]
# Elements in the order in which the schema of KML 2.2 wants them.
ORDER = {
    "kml": ["Document"],
    "Document": ["name", "Style", "Folder"],
    "Folder": ["name", "Placemark"],
    "Placemark": ["name", "styleUrl", "ExtendedData", "Point", "LineString", "Track"],
    "LineString": ["tessellate", "altitudeMode", "coordinates"],
    "Style": ["IconStyle", "LabelStyle", "LineStyle"],
    "IconStyle": ["color", "scale", "Icon"],
    "LineStyle": ["color", "width"],
    "Track": ["altitudeMode", "when", "coord"],
}


def exported(run, tmp_path, **options):
    export_run(run, tmp_path / "run.kml", **options)
    return ElementTree.parse(tmp_path / "run.kml").getroot()


def placemarks(root, folder):
    """Name, facts and the element of each placemark in a folder."""
    [found] = [each for each in root.iter(f"{KML}Folder") if each.find(f"{KML}name").text == folder]
    for mark in found.iter(f"{KML}Placemark"):
        facts = {data.get("name"): data.find(f"{KML}value").text for data in mark.iter(f"{KML}Data")}
        yield mark.find(f"{KML}name").text, facts, mark


def coordinates(mark):
    return np.array([part.split(",") for part in next(mark.iter(f"{KML}coordinates")).text.split()], float)


@pytest.fixture(params=["plain", "eventful", "interrupted"])
def run(request):
    return {
        "plain": lambda: tc.simulate(scenario()),
        "eventful": lambda: tc.simulate(eventful()),
        "interrupted": lambda: interrupted(eventful(), 6),
    }[request.param]()


def test_elements_stand_as_the_schema_wants_them(run, tmp_path):
    root = exported(run, tmp_path, origin=ORIGIN)
    assert root.tag == f"{KML}kml"
    for element in root.iter():
        name = element.tag.split("}")[1]
        children = [child.tag.split("}")[1] for child in element]
        places = [ORDER[name].index(child) for child in children] if name in ORDER else []
        assert places == sorted(places), name
    assert [each.find(f"{KML}name").text for each in root.iter(f"{KML}Folder")] == FOLDERS
    styles = {style.get("id") for style in root.iter(f"{KML}Style")}
    assert {url.text.removeprefix("#") for url in root.iter(f"{KML}styleUrl")} <= styles


def test_paths_and_motion_are_where_the_agents_were(run, tmp_path):
    root = exported(run, tmp_path, origin=ORIGIN)
    took_part = np.flatnonzero(run.present.any(axis=0)).tolist()
    paths = list(placemarks(root, "paths"))
    assert [name for name, _, _ in paths] == [f"agent {agent}" for agent in took_part]
    for agent, (_, facts, mark) in zip(took_part, paths, strict=True):
        there = np.flatnonzero(run.present[:, agent])
        assert (int(facts["first_step"]), int(facts["last_step"])) == (there[0], there[-1])
        vertices = coordinates(mark)
        assert len(vertices) >= 2
        assert_on_earth(vertices[[0, -1]], run.positions[there[[0, -1]], agent])
    for agent, (_, _, mark) in zip(took_part, placemarks(root, "motion"), strict=True):
        times = [datetime.fromisoformat(when.text.removesuffix("Z")) for when in mark.iter(f"{KML}when")]
        assert all(one < other for one, other in pairwise(times))
        steps = np.array([(time - datetime(2000, 1, 1)) / timedelta(seconds=0.25) for time in times])
        track = np.array([coord.text.split() for coord in mark.iter(f"{GX}coord")], float)
        there = np.flatnonzero(run.present[:, agent])
        between = [np.interp(there, steps, column) for column in track[:, :2].T]  # as a player moves it
        assert_on_earth(np.stack(between, axis=1), run.positions[there, agent])
        assert not track[:, 2].any()


def test_positions_anchors_links_and_targets(run, tmp_path):
    root, network = exported(run, tmp_path, origin=ORIGIN), run.network
    ends = list(placemarks(root, "positions"))
    assert_on_earth(np.vstack([coordinates(mark) for _, _, mark in ends]), run.positions[-1][: len(network)])
    assert [facts["role"] for _, facts, _ in ends] == list(network.roles)
    anchors = list(placemarks(root, "anchors"))
    assert [int(facts["agent"]) for _, facts, _ in anchors] == network.anchors.tolist()
    assert_on_earth(np.vstack([coordinates(mark) for _, _, mark in anchors]), run.desired[network.anchors])
    desired = list(placemarks(root, "desired"))
    assert {int(facts["agent"]) for _, facts, _ in desired} == set(network.followers.tolist())
    links = list(placemarks(root, "links"))
    assert len(links) == 3 * len(network.followers)
    for name, facts, mark in links:
        pair = [int(facts["in_neighbor"]), int(facts["agent"])]
        assert name == f"{pair[0]} to {pair[1]}"
        assert network.in_neighbors[pair[1], int(facts["slot"])] == pair[0]
        assert_on_earth(coordinates(mark), run.positions[-1, pair])
    targets = list(placemarks(root, "targets"))
    assert_on_earth(np.vstack([coordinates(mark) for _, _, mark in targets]), run.targets.points)
    weights = np.ones(len(targets)) if run.targets.weights is None else run.targets.weights
    assert [float(facts["weight"]) for _, facts, _ in targets] == weights.tolist()


def test_names_are_text_whatever_is_in_them(tmp_path):
    names = ["<b>&amp;</b>", 'a "quoted" & <one>', "]]>", "bell\x07", "Mühle 塔", ""]
    given = scenario(name="<script>&'\"", targets={"positions": scenario().targets.positions[:6], "ids": names})
    root = exported(tc.simulate(given), tmp_path, origin=ORIGIN)
    found = [name for name, _, _ in placemarks(root, "targets")]
    assert found == [*names[:3], "bell\\x07", "Mühle 塔", "target 5"]
    assert root.find(f"{KML}Document/{KML}name").text == "<script>&'\""


def test_gdal_reads_it(tmp_path):
    run = tc.simulate(scenario())
    exported(run, tmp_path, origin=ORIGIN)
    path = tmp_path / "run.kml"
    assert [name for name, _ in pyogrio.list_layers(path).tolist()] == FOLDERS
    about = {name: pyogrio.read_info(path, layer=name) for name in FOLDERS}
    assert {each["crs"] for each in about.values()} == {"EPSG:4326"}
    counts = {name: each["features"] for name, each in about.items()}
    followers, anchors = len(run.network.followers), len(run.network.anchors)
    some = {"paths": 16, "motion": 16, "positions": 16, "targets": 60}
    assert counts == {**some, "anchors": anchors, "desired": followers, "links": 3 * followers}
    fields, _, shapes, columns = pyogrio.raw.read(path, layer="positions")
    named = dict(zip(fields["fields"], columns, strict=True))
    assert named["Name"].tolist() == [f"agent {agent}" for agent in range(16)]
    assert named["role"].tolist() == list(run.network.roles)
    places = np.array([np.frombuffer(shape[5:], "<f8")[:2] for shape in shapes])
    assert_on_earth(places, run.positions[-1])


def test_longitudes_stay_within_half_a_turn(tmp_path):
    root = exported(tc.simulate(scenario()), tmp_path, origin=(179.9995, -16.5))
    for element in root.iter(f"{KML}coordinates"):
        longitudes = np.array([part.split(",")[0] for part in element.text.split()], float)
        assert (np.abs(longitudes) <= 180).all()


def test_a_run_without_end_has_no_dates(tmp_path):
    run = tc.simulate(scenario(steps=300, vehicle={"kind": "exact", "duration": 1e9}, stop_when_settled=False))
    with pytest.raises(InputError, match="longer than the calendar of KML"):
        exported(run, tmp_path, origin=ORIGIN)


def test_with_a_flight_paths_and_motion_are_at_its_levels(run, tmp_path):
    plain = (exported(run, tmp_path, origin=ORIGIN), (tmp_path / "run.kml").read_text())[1]
    options = {"origin": ORIGIN, "altitude": 40, "spacing": 8, "clearance": 12}
    root = exported(run, tmp_path, **options)
    test_elements_stand_as_the_schema_wants_them(run, tmp_path)
    heights = plan_heights(run, tmp_path / "plans", options)
    assert len(set(heights.values())) > 1
    for name, _, mark in placemarks(root, "paths"):
        assert mark.find(f".//{KML}altitudeMode").text == "relativeToGround"
        assert set(coordinates(mark)[:, 2]) == {heights[name]}
    for name, _, mark in placemarks(root, "motion"):
        assert mark.find(f".//{KML}altitudeMode").text == "relativeToGround"
        assert {float(coord.text.split()[2]) for coord in mark.iter(f"{GX}coord")} == {heights[name]}
    # Nothing else has changed, and without a flight nothing at all.
    for folder in FOLDERS[2:]:
        assert [mark[1] for mark in placemarks(root, folder)] == [
            mark[1] for mark in placemarks(ElementTree.fromstring(plain.encode()), folder)
        ]


def plan_heights(run, folder, options):
    """The heights of the plans for the same flight."""
    plans = export_run(run, folder, "qgroundcontrol", **options).flown.tracks
    return {
        f"agent {agent}": points[:, 2].max() for agent, (_, points) in zip(plans.agents.tolist(), plans, strict=True)
    }
