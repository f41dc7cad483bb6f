"""Files that ask for too much or hold what nobody expects: one line says what is wrong, and nothing is allocated."""

import json
import tracemalloc

import numpy as np
import pytest

from tricover.errors import FileFormatError, InputError, TricoverError
from tricover.formats import Points, Projection, delimited, read_points, read_whole, write_points, write_whole

LONG, LONGER = "9" * 400, "9" * 5000
DEEP = "[" * 5000 + "]" * 5000


def npy(header, data=b"\0" * 64, version=1):
    text = header if isinstance(header, bytes) else repr(header).encode()
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def plain(shape=(4, 2), descr="<f8", **more):
    return {"descr": descr, "fortran_order": False, "shape": shape, **more}


def refused(path, data, **how):
    """The one line that is said of a file."""
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    with pytest.raises(FileFormatError) as error:
        read_points(path, **how)
    message = str(error.value)
    assert message.isprintable()
    assert str(path) in message
    assert len(message) <= 1000
    return message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2"), "its header cannot be read"),
        (npy(b"(" * 900), "its header cannot be read"),
        (npy(b"-" * 9000 + b"1"), "its header cannot be read"),
        (npy(b"[1, 2]"), "its header cannot be read"),
        (npy({"descr": "<f8", "shape": (4, 2)}), "its header cannot be read"),
        (npy(plain(descr="nonsense")), "its header cannot be read"),
        (npy(plain(descr=[()])), "its header cannot be read"),
        (npy(plain(shape=(10**11, 2))), "too short for an array of shape (100000000000, 2)"),
        (npy(plain(shape=(10**30, 2))), "too short for an array of shape"),
        (npy(plain(shape=(-4, 2))), "it says that it has the shape (-4, 2)"),
        (npy(plain(shape=[4, 2])), "it says that it has the shape [4, 2]"),
        (npy(plain(shape=(True, 2))), "it says that it has the shape (True, 2)"),
        (npy(plain(shape=(10**30, 0))), "is not an NPY file of plain numbers"),
        (npy(plain(shape=(5, 2))), "too short for an array of shape (5, 2)"),
        (npy(plain(descr="|O")), "its entries are no numbers"),
        (npy(plain(shape=(10**15, 2), descr="<U0")), "its entries are no numbers"),
        (npy(plain(shape=(4,), descr=[("x", "|O"), ("y", "<f8")])), "its entries are no numbers"),
        (
            npy(plain(shape=(2,), descr=[("x", "<f8", (2,)), ("y", "<f8")])),
            "column 'x' has more than one entry in a row",
        ),
        (npy(plain(shape=(2,), descr=[("x", [("a", "<f8")]), ("y", "<f8")])), "column 'x' has more than one entry"),
        (
            npy(plain(shape=(2,), descr=[("x", "<U1"), ("y", "<f8")]), b"\xff" * 64),
            "column 'x' holds text of characters that do not",
        ),
        (npy(plain(shape=(4,), descr=[("x", "<M8[s]"), ("y", "<f8")])), "row 0, column 0 (x): datetime.datetime"),
        (npy(plain())[:60], "its header is cut short or too long"),
        (npy(plain(), version=9), "it does not begin as one"),
        (b"\x93NUMPY", "it does not begin as one"),
        (npy(b" " * 20000, version=2), "its header is cut short or too long"),
    ],
)
def test_npy_headers_are_not_believed(tmp_path, data, message):
    assert message in refused(tmp_path / "a.npy", data)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_all_versions_of_npy_are_read(tmp_path, version):
    points = np.arange(8.0).reshape(4, 2)
    (tmp_path / "a.npy").write_bytes(npy(plain(), points.tobytes(), version))
    assert np.array_equal(read_points(tmp_path / "a.npy").positions, points)
    (tmp_path / "a.npy").write_bytes(npy(plain() | {"fortran_order": True}, points.tobytes(order="F"), version))
    assert np.array_equal(read_points(tmp_path / "a.npy").positions, points)


@pytest.mark.parametrize("long_from", [0, delimited.LONG])
@pytest.mark.parametrize("number", [LONG, LONGER, "-" + LONG, "1e400"])
@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("csv", "x,y\n0,1\n2,NUMBER\n"),
        ("csv", "x,y,w\n0,1,1\n2,3,NUMBER\n"),
        ("tsv", "lon\tlat\n0\t1\n2\tNUMBER\n"),
        ("json", "[[0, 1], [2, NUMBER]]"),
        ("json", '{"positions": [[0, 1]], "weights": [NUMBER]}'),
        ("json", '{"positions": [[0, 1]], "projection": {"longitude": NUMBER, "latitude": 0}}'),
        ("geojson", '{"type": "Point", "coordinates": [0, NUMBER]}'),
        ("geojson", '{"type": "Point", "coordinates": [0, 1, NUMBER]}'),
        (
            "geojson",
            '{"type": "Feature", "properties": {"weight": NUMBER}, '
            '"geometry": {"type": "Point", "coordinates": [0, 1]}}',
        ),
    ],
)
def test_numbers_that_are_none_to_a_computer(tmp_path, monkeypatch, long_from, number, ending, text):
    monkeypatch.setattr(delimited, "LONG", long_from)
    refused(tmp_path / f"a.{ending}", text.replace("NUMBER", number))


def test_whole_numbers_that_are_long_but_not_too_long_are_read(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"positions": [[10**30, 1], [2, -(10**99)]], "ids": [2**70, 1]}))
    points = read_points(tmp_path / "a.json")
    assert points.positions.tolist() == [[1e30, 1], [2, -1e99]]
    assert points.ids == (str(2**70), "1")


POINT = {"type": "Point", "coordinates": [7, 51]}


def nested(depth):
    geometry = POINT
    for _ in range(depth):
        geometry = {"type": "GeometryCollection", "geometries": [geometry]}
    return geometry


@pytest.mark.parametrize(
    ("ending", "document", "message"),
    [
        ("json", DEEP, "nested too deep"),
        ("geojson", '{"a":' * 5000, "nested too deep"),
        ("json", '{"positions": [[0, 1]], "ids": 5}', "ids must be a list with a name for each point, not 5"),
        ("json", '{"positions": [[0, 1]], "ids": {"a": 1}}', "ids must be a list"),
        ("json", '{"positions": [[0, 1]], "ids": [[["a"]]]}', "point 0 has the id [['a']]: give text or a number"),
        ("json", '{"positions": [[0, 1]], "ids": [%s]}' % ("[" * 900 + "]" * 900), "point 0 has the id"),
        ("json", '{"positions": [[0, 1]], "ids": ["\\ud800"]}', "point 0 has the id '\\ud800'"),
        ("json", '{"positions": [[0, 1]], "ids": ["a\\u0000"]}', "without null characters"),
        ("json", '{"positions": [[0, 1], %s]}' % ("[" * 900 + "]" * 900), "position 1"),
        ("json", '{"positions": [[0, "%s"]]}' % ("x" * 100000), "is not a number"),
        ("json", '{"positions": [[0, 1]], "%s": 1}' % ("x" * 100000), "unknown keys"),
        ("json", '{"positions": [[0, 1]], "projection": {"longitude": 1e300, "latitude": 0}}', "is no centre"),
        ("json", '{"positions": [[0, 1]], "projection": {"longitude": 0, "latitude": 91}}', "is no centre"),
        ("json", '{"positions": [[0, 1]], "projection": {"longitude": NaN, "latitude": 0}}', "is no centre"),
        ("json", '{"positions": [[0, 1]], "projection": [1, 2]}', "the projection needs a longitude"),
        ("json", '{"positions": [[0, 1.1e7]], "projection": {"longitude": 0, "latitude": 0}}', "no place on earth"),
        ("json", '{"positions": [[0, 1], [1e101, 1]]}', "point 1 has a coordinate beyond 1e+100 metres"),
        ("geojson", {"type": ["Point"], "coordinates": [7, 51]}, "not a GeoJSON object with a known type"),
        ("json", {"type": ["Point"], "coordinates": [7, 51]}, "unknown keys"),
        ("geojson", POINT | {"crs": "x"}, "coordinate system x"),
        ("geojson", POINT | {"crs": {"properties": [1]}}, "coordinate system [1]"),
        ("geojson", {"type": "Feature", "properties": [1], "geometry": POINT}, "properties must be an object, not [1]"),
        ("geojson", {"type": "Feature", "id": [3], "geometry": POINT}, "id or name [3] is neither text nor a number"),
        ("geojson", {"type": "Feature", "id": "\ud800", "geometry": POINT}, "point 0 has the id '\\ud800'"),
        ("geojson", nested(40), "collections are nested more than 16 deep"),
        ("geojson", nested(400), "collections are nested more than 16 deep"),
    ],
)
def test_documents_of_the_wrong_form(tmp_path, ending, document, message):
    text = document if isinstance(document, str) else json.dumps(document)
    assert message in refused(tmp_path / f"a.{ending}", text)


def test_the_older_ways_to_name_wgs84_are_read(tmp_path):
    for crs in (None, {}, {"properties": {}}, {"properties": {"name": "EPSG:4326"}}, "urn:ogc:def:crs:OGC:1.3:CRS84"):
        (tmp_path / "a.geojson").write_text(json.dumps(nested(16) | {"crs": crs}))
        assert len(read_points(tmp_path / "a.geojson")) == 1


SQUARE = [[7.2, 51.4], [7.3, 51.4], [7.3, 51.5], [7.2, 51.5], [7.2, 51.4]]


@pytest.mark.parametrize("density", [10.0, 1e6, 1e300, 1e308])
@pytest.mark.parametrize("seed", [None, 1])
def test_a_density_that_has_no_room_is_refused_before_any_point_is_made(tmp_path, density, seed):
    text = json.dumps({"type": "Polygon", "coordinates": [SQUARE]})
    tracemalloc.start()
    message = refused(tmp_path / "a.geojson", text, density=density, seed=seed)
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()
    assert "points per m² in polygons of 7.73e+07 m² need about" in message
    assert "set TRICOVER_MEMORY to more GiB" in message


def test_a_long_name_is_kept_once_for_all_points_of_its_polygon(tmp_path):
    feature = {"type": "Feature", "id": "x" * 100_000, "geometry": {"type": "Polygon", "coordinates": [SQUARE]}}
    (tmp_path / "a.geojson").write_text(json.dumps(feature))
    tracemalloc.start()
    points = read_points(tmp_path / "a.geojson", density=1e-4)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert len(points) > 7000
    with pytest.raises(InputError, match=r"names of equal length in an NPY file need about 2\.9 GiB"):
        write_points(tmp_path / "a.npy", points)


def test_a_file_that_has_no_room_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x,y\n" + "0,1\n" * 10_000)
    monkeypatch.setenv("TRICOVER_MEMORY", "0.0001")
    with pytest.raises(InputError, match=r"the contents of .*a\.csv need about 0\.0 GiB of memory, and the limit is"):
        read_points(tmp_path / "a.csv")


def test_devices_without_end_are_not_read_to_the_end(monkeypatch):
    with pytest.raises(FileFormatError, match="unknown ending ''"):
        read_points("/dev/zero")
    monkeypatch.setenv("TRICOVER_MEMORY", "0.1")
    with pytest.raises(InputError, match="the contents of /dev/zero need about"):
        read_whole("/dev/zero")


@pytest.mark.parametrize("name", ["a\0b.csv", "a\ud800.csv", "x" * 300 + ".csv"])
def test_names_that_no_file_can_have(tmp_path, name):
    for use in (read_points, read_whole, lambda path: write_whole(path, "text")):
        with pytest.raises(FileFormatError, match=r"cannot (read|write)") as error:
            use(tmp_path / name)
        assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "place", [(0, 91), (0, -90), (361, 0), (-181, 0), (1e300, 0), (float("nan"), 0), (0, float("inf"))]
)
def test_a_plane_is_centred_on_a_place_on_earth(place):
    with pytest.raises(InputError, match="is no centre of a local plane: give its longitude from -180° to 360°"):
        Projection(*place)


def test_points_beyond_the_earth_have_no_degrees():
    plane = Projection(7, 51)
    assert np.isfinite(plane.to_degrees([[1e7, -1e7], [-1e7, 1e7]])).all()
    for far in ([0, 1.01e7], [-1.01e7, 0], [np.nan, 0]):
        with pytest.raises(InputError, match="point 1 is more than 10000 km from the centre of its local plane"):
            plane.to_degrees([[0, 0], far])
    with pytest.raises(InputError, match="no place on earth"):
        Points([[0, 1e8]], projection=plane)


@pytest.mark.parametrize("names", [[" a", "b "], ["a\rb", "c\nd"], ["#1", ""], ['"', "'"], ["a\tb", "\x1b[31m"]])
@pytest.mark.parametrize("ending", ["csv", "npy", "json"])
def test_any_name_comes_back(tmp_path, ending, names):
    write_points(tmp_path / f"a.{ending}", Points([[0, 1], [2, 3]], ids=names))
    assert read_points(tmp_path / f"a.{ending}").ids == tuple(names)


def test_messages_are_one_line_of_bearable_length():
    message = str(TricoverError("begin\n\x1b[31m\u202e" + "x" * 5000 + "end"))
    assert message.startswith(r"begin\n\x1b[31m\u202exxx")
    assert message.endswith("xxxend")
    assert len(message) < 1100
    assert message.isprintable()
