import json

import numpy as np
import pytest

from tricover.errors import FileFormatError, InputError
from tricover.formats import Projection, read_points

CENTRE = Projection(7.0, 51.0)
SQUARE = np.array([[0, 0], [100, 0], [100, 100], [0, 100], [0, 0]], float)
HOLE = np.array([[20, 20], [20, 60], [60, 60], [60, 20], [20, 20]], float)


def ring(metres):
    return CENTRE.to_degrees(np.asarray(metres, float)).tolist()


def saved(tmp_path, document):
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps(document))
    return path


def feature(kind, coordinates, **properties):
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


def test_points_keep_order_weights_and_names(tmp_path):
    document = {
        "type": "FeatureCollection",
        "features": [
            feature("Point", [7.0, 51.0], weight=2, name="mast"),
            feature("MultiPoint", ring([[10, 20], [30, 40]])),
            {"type": "Feature", "properties": None, "geometry": None},
            {"type": "Feature", "id": 5, "properties": {}, "geometry": {"type": "Point", "coordinates": [7.0, 51.0]}},
        ],
    }
    points = read_points(saved(tmp_path, document), projection=CENTRE)
    np.testing.assert_allclose(points.positions, [[0, 0], [10, 20], [30, 40], [0, 0]], atol=1e-6)
    assert points.weights.tolist() == [2, 1, 1, 1]
    assert points.ids == ("mast", "", "", "5")


def test_polygon_with_a_hole_is_filled_at_the_density(tmp_path):
    document = feature("Polygon", [ring(SQUARE), ring(HOLE)], weight=0.5)
    points = read_points(saved(tmp_path, document), projection=CENTRE, density=0.25)
    x, y = points.positions.T
    assert len(points) == (100 * 100 - 40 * 40) / 4
    assert ((x > 0) & (x < 100) & (y > 0) & (y < 100)).all()
    assert not ((x > 20) & (x < 60) & (y > 20) & (y < 60)).any()
    assert set(points.weights) == {0.5}


def test_filling_follows_the_seed(tmp_path):
    path = saved(tmp_path, {"type": "MultiPolygon", "coordinates": [[ring(SQUARE)], [ring(SQUARE + 200)]]})
    first, again, other = (
        read_points(path, projection=CENTRE, density=0.04, seed=seed).positions for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(first) == 2 * 400


def test_polygon_over_the_antimeridian(tmp_path):
    corners = Projection(180.0, -17.0).to_degrees(SQUARE - 50)
    assert corners[0, 0] * corners[1, 0] < 0
    points = read_points(saved(tmp_path, {"type": "Polygon", "coordinates": [corners.tolist()]}), density=0.01)
    assert len(points) == 100
    assert np.abs(points.positions).max() < 50


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"type": "FeatureCollection", "features": []}, "a.geojson holds no points"),
        ({"type": "FeatureCollection"}, "needs a list of features"),
        ([1, 2], "not a GeoJSON object"),
        (feature("LineString", [[1, 2], [3, 4]]), "a LineString holds no targets"),
        (feature("Point", [1]), "coordinates must be lists of longitude, latitude"),
        (feature("Point", None), "coordinates must be lists"),
        (feature("Point", [1, float("nan")]), "NaN or infinite"),
        (feature("Point", [1, 2], weight=-1), "weight -1 is not a non-negative number"),
        (feature("Point", [1, 90]), "point 0 stands at the pole"),
        (feature("MultiPolygon", None), "a MultiPolygon needs coordinates"),
        (feature("Polygon", []), "needs at least one ring"),
        (feature("Polygon", [ring(SQUARE[:4])]), "the last equal to the first"),
        (feature("Polygon", [ring(SQUARE * [1, 0])]), "polygon without area"),
        (feature("Polygon", [ring(SQUARE), ring(SQUARE)]), "polygon without area"),
        (feature("Polygon", [ring(SQUARE * 0)]), "polygon without area"),
        (feature("Polygon", [ring([[0, 0], [90, 0], [9, 9], [0, 90], [0, 0]])]), "gets no point"),
        (
            {"type": "FeatureCollection", "features": [feature("Point", [7, 51]), feature("Polygon", 3)]},
            r"a.geojson, features\[1\]: a polygon needs",
        ),
        (
            feature("Point", [1, 2]) | {"crs": {"type": "name", "properties": {"name": "EPSG:25832"}}},
            "coordinate system EPSG:25832",
        ),
    ],
)
def test_bad_documents_are_told_where(tmp_path, document, message):
    with pytest.raises(FileFormatError, match=message):
        read_points(saved(tmp_path, document), density=1e-4)


def test_polygon_without_a_density(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"say how many points are to fill .* \(points, --points N\), or give a dens"
    ):
        read_points(saved(tmp_path, feature("Polygon", [ring(SQUARE)])))
    with pytest.raises(InputError, match="density must be a positive number"):
        read_points(saved(tmp_path, feature("Polygon", [ring(SQUARE)])), density=-1)
