"""Files in degrees and in metres around one origin: team, start and targets share their plane."""

import json

import numpy as np
import pyproj
import pytest

import tricover as tc
from tricover.formats import Points, Projection, write_points
from tricover.simulation.mission import Mission

ORIGIN = (7.21, 51.48)
PLANE = Projection(*ORIGIN)
RNG = np.random.default_rng(8)
TEAM, PADS, SPOTS = RNG.uniform(0, 400, (12, 2)), RNG.uniform(0, 9, (12, 2)), RNG.uniform(0, 400, (50, 2))


def degrees(metres):
    """Longitude and latitude by PROJ."""
    plane = f"+proj=tmerc +lon_0={ORIGIN[0]} +lat_0={ORIGIN[1]} +ellps=WGS84"
    back = pyproj.Transformer.from_crs(plane, "EPSG:4326", always_xy=True)
    return np.stack(back.transform(*metres.T), axis=1)


def table(path, metres, on_earth):
    columns, rows = ("lon,lat", degrees(metres)) if on_earth else ("x,y", metres)
    path.write_text(columns + "\n" + "\n".join(f"{one!r},{two!r}" for one, two in rows.tolist()) + "\n")
    return path


def scenario(folder, on_earth=(True, True, True), **more):
    files = [
        table(folder / f"{name}.csv", metres, earthly)
        for name, metres, earthly in zip(("team", "pads", "spots"), (TEAM, PADS, SPOTS), on_earth, strict=True)
    ]
    formation = {"file": files[0], "start": files[1]}
    return tc.Scenario(formation=formation, targets={"file": files[2]}, steps=3, **more)


@pytest.mark.parametrize("on_earth", [(True,) * 3, (False,) * 3, (True, False, True), (False, True, False)])
def test_an_origin_reaches_team_start_and_targets_alike(tmp_path, on_earth):
    given = scenario(tmp_path, on_earth, origin=ORIGIN)
    ground = Mission.of(given).ground
    for found, metres in ((ground.reference, TEAM), (ground.start, PADS), (ground.targets.points, SPOTS)):
        np.testing.assert_allclose(found, metres, atol=1e-6)
    assert ground.projection == PLANE
    np.testing.assert_allclose(given.reference, TEAM, atol=1e-6)


def test_without_an_origin_all_are_in_the_plane_of_the_targets(tmp_path):
    ground = Mission.of(scenario(tmp_path)).ground
    plane = Projection.around(degrees(SPOTS))
    assert ground.projection == ground.targets.projection
    np.testing.assert_allclose(vars(ground.projection)["longitude"], plane.longitude, atol=1e-12)
    for found, metres in ((ground.reference, TEAM), (ground.start, PADS)):
        np.testing.assert_allclose(plane.to_degrees(found), degrees(metres), atol=1e-9)


def test_degrees_and_metres_need_an_origin(tmp_path):
    for on_earth, culprit in (((False, True, True), "team.csv"), ((True, False, True), "pads.csv")):
        with pytest.raises(tc.TricoverError, match=f"{culprit}: these positions are in metres.*: give the origin"):
            Mission.of(scenario(tmp_path, on_earth))
    with pytest.raises(tc.TricoverError, match=r"pads.csv is in longitude and latitude, and the team in metres: give"):
        Mission.of(scenario(tmp_path, (False, True, False)))


def test_start_is_a_file_wherever_the_scenario_goes(tmp_path):
    given = scenario(tmp_path, origin=ORIGIN)
    given.save(tmp_path / "mine.toml")
    assert 'start = "pads.csv"' in (tmp_path / "mine.toml").read_text()
    assert tc.Scenario.load(tmp_path / "mine.toml") == given
    run = tc.simulate(given, tmp_path / "run.zarr")
    np.testing.assert_allclose(run.positions[0], PADS, atol=1e-6)
    (tmp_path / "pads.csv").unlink()
    again = tc.Run.open(tmp_path / "run.zarr")
    np.testing.assert_array_equal(again.positions, run.positions)
    assert again.mission.projection == PLANE
    alone = run.mission.self_contained()
    assert np.array_equal(alone.formation.start, run.positions[0])
    assert json.loads(Mission.of(alone).to_json())["scenario"]["formation"]["start"] == run.positions[0].tolist()


def test_pads_are_as_many_as_agents_and_on_the_ground(tmp_path):
    given = scenario(tmp_path, origin=ORIGIN)
    table(tmp_path / "pads.csv", PADS[:5], True)
    with pytest.raises(tc.TricoverError, match=r"formation.start, .*pads.csv: 12 agents need as many positions, not 5"):
        Mission.of(given)
    write_points(tmp_path / "pads.csv", Points(np.ones((12, 3)), projection=PLANE))
    with pytest.raises(tc.TricoverError, match="two coordinates, not 3"):
        Mission.of(given)
    (tmp_path / "pads.csv").unlink()
    with pytest.raises(tc.TricoverError, match=r"cannot read .*pads\.csv"):
        Mission.of(given)


def test_polygons_and_maps_in_a_scenario(tmp_path):
    corners = PLANE.to_degrees([[0, 0], [300, 0], [300, 200], [0, 200], [0, 0]]).tolist()
    (tmp_path / "field.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [corners]}))
    given = tc.Scenario(reference=TEAM, targets={"file": tmp_path / "field.geojson", "points": 77}, origin=ORIGIN)
    assert len(Mission.of(given).targets) == 77
    cells = RNG.integers(0, 5, (30, 40)).astype(float)
    np.save(tmp_path / "map.npy", cells)
    section = {"file": tmp_path / "map.npy", "extent": [0, 0, 400, 300], "points": 60}
    given = tc.Scenario(reference=TEAM, targets=section)
    given.save(tmp_path / "map.toml")
    assert tc.Scenario.load(tmp_path / "map.toml") == given
    targets = Mission.of(given).targets
    assert len(targets) <= 60
    assert targets.weights.sum() == cells.sum()
    with pytest.raises(tc.TricoverError, match="points and extent goes with a file that has polygons or"):
        tc.Scenario(reference=TEAM, targets={"positions": SPOTS, "points": 3, "extent": [0, 0, 1, 1]})
    with pytest.raises(tc.TricoverError, match="points and density both say"):
        given.replace(targets={"density": 3})


def test_moving_targets_are_around_the_origin_too(tmp_path):
    np.save(tmp_path / "tracks.npy", np.stack([SPOTS, SPOTS + 1]))
    targets = tc.Targets.from_file(tmp_path / "tracks.npy", origin=ORIGIN)
    assert targets.projection == PLANE
    assert not targets.still
