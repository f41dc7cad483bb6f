"""Valid files of every kind, to be broken: some by our own writers, some as people write them."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np

import tricover as tc
from tricover.formats import Points, Projection, write_points
from tricover.simulation.mission import Mission

__all__ = ["COMPANIONS", "TEAM", "seeds"]

TEAM = np.array([[0, 0], [40, 0], [40, 30], [0, 30], [20, 14], [9, 11], [28, 9], [17, 22], [31, 20]], np.float64)
TARGETS = np.array([[3, 4], [11, 8], [18, 19], [25, 6], [33, 21], [12, 25]], np.float64)

CSV = ["x,y\n0,0\n4,0\n4,3\n0,3\n2,1\n1,1.5\n", "# team\nid;lat;lon;w\na;51.5;7.25;1\nb;51.51;7.26;2\nc;51.52;7.2;0\n"]
TABS = ["name\tx\ty\tz\nn 1\t0\t1\t2\nn 2\t3\t-1e3\t4\n", "0 0 5 1\n4 0 5 2\n4 3 5 3\n"]

SQUARE = [[7.2, 51.4], [7.21, 51.4], [7.21, 51.41], [7.2, 51.41], [7.2, 51.4]]
HOLE = [[7.204, 51.404], [7.206, 51.404], [7.206, 51.406], [7.204, 51.404]]
GEOJSON = {
    "type": "FeatureCollection",
    "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
    "features": [
        {
            "type": "Feature",
            "id": 3,
            "properties": {"weight": 2.5},
            "geometry": {"type": "Point", "coordinates": [7.2, 51.4]},
        },
        {
            "type": "Feature",
            "properties": {"name": "wood"},
            "geometry": {"type": "Polygon", "coordinates": [SQUARE, HOLE]},
        },
        {
            "type": "Feature",
            "properties": None,
            "geometry": {
                "type": "GeometryCollection",
                "geometries": [{"type": "MultiPoint", "coordinates": [[7.2, 51.45, 80], [7.22, 51.4, 90]]}],
            },
        },
        {"type": "Feature", "properties": {}, "geometry": {"type": "MultiPolygon", "coordinates": [[SQUARE]]}},
    ],
}

NOTCHED = [[7.202, 51.502], [7.204, 51.502], [7.204, 51.504], [7.203, 51.5025], [7.202, 51.504], [7.202, 51.502]]
ZONES = [
    {"type": "Polygon", "coordinates": [SQUARE, HOLE]},
    {**GEOJSON, "features": [GEOJSON["features"][1], GEOJSON["features"][3]]},
    {"type": "MultiPolygon", "coordinates": [[NOTCHED], [SQUARE]]},
]

SCENARIOS = [
    """
name = "made by rule"
seed = 7
steps = 20
stop_when_settled = false
[formation]
generator = "square"
agents = 12
size = 40.0
[targets]
generator = "polygon"
count = 30
corners = [[0, 0], [18, 0], [6, 15]]
motion = { velocity = [0.5, -0.25], until = 5 }
[network]
mentee = "balanced"
[control]
motion = "walk"
goal = "rollout"
resolution = 6
alpha = 1.0
beta = 50.0
gamma = 0.9
margin = 0.05
tolerance = 0.1
[vehicle]
kind = "double-integrator"
max_speed = 4.0
max_acceleration = 2.5
duration = 2.0
others = [{ agents = [5, 6], kind = "unicycle" }, { agents = 7, kind = "anywhere" }]
""",
    """
origin = [7.21, 51.48]
steps = 5
[formation]
positions = [[0, 0], [40, 0], [40, 30], [0, 30], [20, 14], [9, 11], [28, 9]]
start = [[1, 0], [41, 0], [41, 30], [1, 30], [21, 14], [10, 11], [29, 9]]
[anchors]
paths = [[[0, 0], [40, 0], [40, 30], [0, 30], [20, 14]], [[5, 5], [40, 0], [40, 30], [0, 30], [22, 14]]]
[targets]
positions = [[3, 4], [11, 8], [18, 19]]
weights = [1.0, 2.5, 0.0]
active = [[0, 3], [1, 99], [0, 4]]
[targets.motion]
paths = [[[3, 4], [11, 8], [18, 19]], [[4, 4], [12, 8], [19, 19]]]
[network]
core = [20, 15]
[[events.leave]]
step = 2
agents = [5]
[[events.join]]
step = 3
reference = [[15, 20]]
positions = [[16, 21]]
""",
    """
[formation]
file = "team.csv"
[anchors]
fit = true
[targets]
file = "targets.geojson"
density = 1e-5
[control]
goal = "predictive"
[vehicle]
kind = "quadrotor"
wind = [1.0, 0.5]
""",
    """
[formation]
generator = "disc"
agents = 15
size = 9
[targets]
generator = "clusters"
count = 20
centres = [[0, 0], [3, 2]]
spread = 0.5
[control]
goal = "reference"
[vehicle]
kind = "anywhere"
""",
    """
[formation]
file = "team.csv"
[targets]
file = "targets.csv"
[control]
motion = "walk"
resolution = 6
[vehicle]
kind = "anywhere"
[safety]
separation = 0.5
zones = [[[12, 3], [14, 3], [14.5, 6], [12, 5]], [[1, 20], [2, 20], [1.5, 22]]]
""",
]

FLIGHT = """
[formation]
file = "team.csv"
[targets]
file = "targets.csv"
weights = [1, 2, 3, 4, 5, 6]
[control]
resolution = 6
[vehicle]
duration = 0.5
"""

STUDIES = [
    """
name = "goals"
scenario = "team.toml"
measures = ["settled_at", "coverage_cost", "certificate"]
cases = [{ vehicle = "exact" }, { vehicle = { kind = "anywhere" }, network.core = [20, 15] }]
[over]
control.goal = ["centroid", "reference"]
""",
    """
seeds = [0, 7]
[scenario]
steps = 4
reference = [[0, 0], [40, 0], [40, 30], [0, 30], [20, 14], [9, 11]]
targets = [[3, 4], [11, 8], [18, 19]]
[draws]
count = 3
seed = 5
method = "latin"
[draws.keys]
control.gamma = { uniform = [0.5, 0.9] }
control.resolution = { integers = [3, 6] }
control.alpha = { log = [0.1, 10.0] }
network.mentee = { choice = ["fermat", "balanced"] }
[figure]
over = "control.gamma"
measures = ["steps"]
by = "network.mentee"
""",
    """
seeds = 2
keep = "runs"
[scenario]
steps = 3
[scenario.formation]
generator = "square"
agents = 9
size = 10.0
[scenario.targets]
generator = "clusters"
count = 12
centres = [[0, 0], [3, 2]]
spread = 0.5
[over]
steps = { from = 1, to = 3, step = 1 }
vehicle.wind = [[0, 0], [1, 0.5]]
vehicle.kind = ["quadrotor"]
control.beta = { from = 1.0, to = 100.0, count = 2, log = true }
""",
]

#: Files that lie beside a scenario, a study, a log or a network and are not broken themselves.
COMPANIONS = {
    "team.csv": "x,y\n" + "\n".join(f"{x},{y}" for x, y in TEAM.tolist()) + "\n",
    "targets.geojson": json.dumps(GEOJSON),
    "targets.csv": "x,y\n" + "\n".join(f"{x},{y}" for x, y in TARGETS.tolist()) + "\n",
    "team.toml": '[formation]\nfile = "team.csv"\n[targets]\nfile = "targets.csv"\n',
    "network.json": tc.build_network(TEAM).to_json(),
}


@functools.cache
def seeds(kind: str) -> tuple[bytes, ...]:
    """The files of a kind, by its name in ``subjects``."""
    texts: dict[str, list[str | bytes]] = {
        "csv": [*CSV, *_written("csv")],
        "tsv": [*TABS],
        "txt": [*TABS, *CSV],
        "npy": [*_written("npy"), _npy(TEAM.astype(">f4")), _npy(np.stack([TEAM, TEAM + 1])), _npy(TEAM.T.copy().T)],
        "map": [_npy(np.arange(40.0).reshape(5, 8)), _npy(np.eye(6, dtype=np.uint8))],
        "tif": [_tiff(None), _tiff("EPSG:32632")],
        "json": [*_written("json"), json.dumps(TEAM.tolist()), json.dumps(GEOJSON)],
        "geojson": [*_written("geojson"), json.dumps(GEOJSON)],
        "zones": [json.dumps(zones) for zones in ZONES],
        "toml": [*SCENARIOS],
        "flight": [FLIGHT],
        "study": [*STUDIES],
        "network": [_network("fermat", None), _network("balanced", 5), _repaired(), _in_space()],
        "log": [_log()],
        "mission": [_mission()],
    }
    return tuple(text.encode() if isinstance(text, str) else text for text in texts[kind])


def _written(ending: str) -> list[bytes]:
    """What our own writers make of points with and without weights, names and degrees."""
    plane, count = Projection(7.25, 51.5), len(TEAM)
    ids = [f"mast, {k}" for k in range(count)]
    found = [Points(TEAM, np.arange(count) + 0.5, ids, plane), Points(TEAM, None, ids), Points(TEAM)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        files = []
        for points in found if ending != "geojson" else found[:1]:
            write_points(path, points)
            files.append(path.read_bytes())
    return files


def _npy(array: np.ndarray) -> bytes:
    with tempfile.TemporaryFile() as file:
        np.save(file, array)
        file.seek(0)
        return file.read()


def _tiff(crs: str | None) -> bytes:
    """A map of 5 by 8 cells, somewhere or at a place on earth."""
    from rasterio import Affine
    from rasterio.io import MemoryFile

    place = Affine(10, 0, 4e5, 0, -10, 5.7e6)
    with MemoryFile() as memory:
        how = {"driver": "GTiff", "height": 5, "width": 8, "count": 1, "dtype": "float32", "crs": crs, "nodata": -1}
        with memory.open(transform=place, **how) as file:
            file.write(np.arange(40, dtype=np.float32).reshape(5, 8), 1)
        return bytes(memory.read())


def _network(mentee: str, core: int | None) -> str:
    return tc.build_network(TEAM, mentee, core).to_json()


def _repaired() -> str:
    return tc.build_network(TEAM).without([6]).to_json()


def _in_space() -> str:
    corners = [[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9]]
    return tc.build_network([*corners, [2, 2, 2], [1, 2, 3], [3, 1, 1]]).to_json()


def _log() -> str:
    run = tc.simulate(tc.Scenario(reference=TEAM, targets=TARGETS, steps=6, stop_when_settled=False))
    rows = [
        f"{0.5 * step},{agent},{x!r},{y!r}"
        for step, places in enumerate(run.positions)
        for agent, (x, y) in enumerate(places.tolist())
    ]
    return "\n".join(["time,agent,x,y", *rows]) + "\n"


def _mission() -> str:
    leave = [{"step": 2, "agents": [6]}]
    return Mission.of(tc.Scenario(reference=TEAM, targets=TARGETS, steps=4, events={"leave": leave})).to_json()
