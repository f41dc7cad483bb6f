import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tricover.errors import FileFormatError, InputError
from tricover.formats import Points, Projection, delimited, read_points, write_points, write_whole

METRES = st.floats(-1e100, 1e100)


@pytest.fixture(scope="module", params=[delimited.LONG, 0], ids=["by fields", "as numbers"], autouse=True)
def long_from(request):
    """Both ways to read a table: what one of them gives, the other gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "LONG", request.param)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("points")


def same(left, right):
    np.testing.assert_array_equal(left.positions, right.positions)
    assert (left.weights is None) == (right.weights is None)
    if left.weights is not None:
        np.testing.assert_array_equal(left.weights, right.weights)
    assert left.ids == right.ids


@pytest.mark.parametrize("ending", ["csv", "npy", "json"])
@given(data=st.data())
def test_metres_are_written_and_read_bit_for_bit(folder, ending, data):
    count = data.draw(st.integers(1, 5))
    positions = data.draw(arrays(np.float64, (count, data.draw(st.sampled_from([2, 3]))), elements=METRES))
    weights = data.draw(st.none() | arrays(np.float64, count, elements=st.floats(1e-300, 1e300)))
    names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)
    ids = data.draw(st.none() | st.lists(names, min_size=count, max_size=count))
    points = Points(positions, weights, ids)
    write_points(folder / f"a.{ending}", points)
    same(points, read_points(folder / f"a.{ending}"))


@pytest.mark.parametrize("ending", ["csv", "npy", "json", "geojson"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_degrees_come_back_to_a_tenth_of_a_millimetre(tmp_path, ending, dimension):
    rng = np.random.default_rng(3)
    metres = np.hstack([rng.uniform(-1e5, 1e5, (50, 2)), rng.uniform(0, 100, (50, dimension - 2))])
    points = Points(metres, rng.random(50), [f"mast {i}" for i in range(50)], Projection(179.9, 61.0))
    write_points(tmp_path / f"a.{ending}", points)
    back = read_points(tmp_path / f"a.{ending}", projection=None if ending == "json" else points.projection)
    np.testing.assert_allclose(back.positions, points.positions, atol=1e-4, rtol=0)
    np.testing.assert_array_equal(back.weights, points.weights)
    assert back.ids == points.ids
    assert back.projection == points.projection


@pytest.mark.parametrize(
    ("text", "positions", "weights", "ids"),
    [
        ("0,1\n2,3\n", [[0, 1], [2, 3]], None, None),
        ("0 1\n2 3", [[0, 1], [2, 3]], None, None),
        ("0;1;2\n3;4;5\n", [[0, 1, 2], [3, 4, 5]], None, None),
        ("1,2,3,0.5\n", [[1, 2, 3]], [0.5], None),
        ("\ufeffX, Y\n0, 1\n\n2, 3\n", [[0, 1], [2, 3]], None, None),
        ("# team\nid,y,x,w,colour\nn1,1,0,5,red\n", [[0, 1]], [5], ("n1",)),
        ("name\tx\ty\nn, 1\t0\t1\n", [[0, 1]], None, ("n, 1",)),
        ('id,x,y\n"a ""b"", c",0,1e3\n', [[0, 1000]], None, ('a "b", c',)),
    ],
)
def test_csv_dialects(tmp_path, text, positions, weights, ids):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    points = read_points(tmp_path / "a.csv")
    assert points.positions.tolist() == positions
    assert (None if points.weights is None else points.weights.tolist()) == weights
    assert points.ids == ids


@pytest.mark.parametrize("header", ["lon,lat", "Latitude,Longitude", "lng,latitude"])
def test_csv_degrees_by_their_names(tmp_path, header):
    row = "51.5,7.25" if header.startswith("Lat") else "7.25,51.5"
    (tmp_path / "a.csv").write_text(f"{header}\n{row}\n")
    points = read_points(tmp_path / "a.csv")
    assert points.projection == Projection(7.25, 51.5)
    assert points.positions.tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "a.csv is empty"),
        ("a.csv", " \n\n", "a.csv is empty"),
        ("a.csv", "x,y\n", "a.csv holds no points"),
        ("a.csv", "# nothing\n", "a.csv holds no points"),
        ("a.csv", "x,y\n1,2\n\n3,oops\n", r"a.csv, line 4, column 2 \(y\): 'oops' is not a number"),
        ("a.csv", "x,y\n1,2\nnan,3\n", r"a.csv, line 3, column 1 \(x\): 'nan' is not a number"),
        ("a.csv", "x,y\n1,inf\n", r"a.csv, line 2, column 2 \(y\): 'inf' is not a number"),
        ("a.csv", "x,y\n1,\n", r"a.csv, line 2, column 2 \(y\): '' is not a number"),
        ("a.csv", "x,y,weight\n1,2,-1\n", r"a.csv, line 2, column 3 \(weight\): '-1' is not a weight"),
        ("a.csv", "x,y,weight\n1,2,0\n", "a.csv: all weights are zero"),
        ("a.csv", "x,y\n1,2\n3\n", "a.csv, line 3: 1 fields where 2 are expected"),
        ("a.csv", "1,2,3,4,5\n", "a.csv has 5 columns and no header"),
        (
            "a.csv",
            "east,north\n1,2\n",
            "a.csv has no columns x and y, or longitude and latitude; it has east and north",
        ),
        ("a.csv", "x,y,lon,lat\n1,2,3,4\n", "both x and y and longitude and latitude"),
        ("a.csv", "lon,lat\n10,90\n", "a.csv: point 0 stands at the pole"),
        ("a.json", "[[1, 2],\n [3, }", "a.json, line 2, column 6"),
        ("a.json", "[]", "a.json holds no list of positions"),
        ("a.json", "[[1, 2], [3]]", "a.json, position 1"),
        ("a.json", '[[1, 2], [3, "4"]]', "a.json, position 1, coordinate 1: '4' is not a number"),
        ("a.json", "[[1, NaN]]", "a.json: point 0 has a coordinate that is NaN"),
        ("a.json", '{"positions": [[1, 2]], "weight": [1]}', "unknown keys weight"),
        ("a.json", '{"positions": [[1, 2]], "weights": [1, 2]}', r"weights of shape \(1,\), not \(2,\)"),
        ("a.json", '{"positions": [[1, 2]], "projection": 7}', "projection needs a longitude and a latitude"),
        ("a.npy", "not numpy", "a.npy is not an NPY file"),
        ("a.shp", "x", "a.shp: unknown ending '.shp'"),
    ],
)
def test_bad_files_are_told_where(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_points(tmp_path / name)


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(FileFormatError, match=r"cannot read .*nowhere.csv: No such file"):
        read_points(tmp_path / "nowhere.csv")
    with pytest.raises(FileFormatError, match=r"cannot write .*a.csv: No such file"):
        write_points(tmp_path / "gone" / "a.csv", Points([[0, 0]]))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 3, 2)), r"shape \(2, 3, 2\)"),
        (np.zeros((0, 2)), "holds no points"),
        (np.array([[0.0, 1.0], [np.nan, 2.0]]), r"row 1, column 0 \(x\)"),
        (np.array([[0, 1], [2, 3]], dtype=np.complex128), r"row 0, column 0 \(x\): 0j is not a number"),
    ],
)
def test_bad_arrays_are_told_where(tmp_path, array, message):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(FileFormatError, match=message):
        read_points(tmp_path / "a.npy")


def test_pickled_arrays_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"x": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError, match=r"a.npy is not an NPY file of plain numbers"):
        read_points(tmp_path / "a.npy")


def test_json_that_is_geojson_is_read_as_such(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"type": "Point", "coordinates": [7.0, 51.0]}))
    assert read_points(tmp_path / "a.json").projection == Projection(7.0, 51.0)


def test_writing_refuses_what_a_format_cannot_hold(tmp_path):
    with pytest.raises(FileFormatError, match="no projection"):
        write_points(tmp_path / "a.geojson", Points([[0, 0]]))
    with pytest.raises(FileFormatError, match=r"unknown ending '.xyz'"):
        write_points(tmp_path / "a.xyz", Points([[0, 0]]))


def test_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_whole(path, "old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(FileFormatError, match=r"cannot write .*a.txt: No space left on device"):
        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0], [1, np.inf]],), "point 1 has a coordinate that is NaN or infinite"),
        (([[0, 0]], [-1]), "point 0 has a weight that is negative"),
        (([[0, 0]], [np.nan]), "point 0 has a weight that is negative, NaN"),
        (([[0, 0]], None, ["a", "b"]), "1 points need as many ids, not 2"),
        ((np.zeros((0, 2)),), "there are no points"),
        (([1, 2, 3],), r"shape \(N, 2\) or \(N, 3\), not \(3,\)"),
        (([[1, 2], [3]],), "numbers in rows of equal length"),
    ],
)
def test_points_are_checked(arguments, message):
    with pytest.raises(InputError, match=message):
        Points(*arguments)


def test_points_in_metres_have_no_degrees():
    with pytest.raises(InputError, match="no projection"):
        _ = Points([[0, 0]]).degrees
