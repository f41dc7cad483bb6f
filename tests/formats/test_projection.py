import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tricover.errors import InputError
from tricover.formats import Projection


def peer(projection):
    """PROJ's transverse Mercator with the same centre."""
    plane = f"+proj=tmerc +lon_0={projection.longitude!r} +lat_0={projection.latitude!r} +ellps=WGS84"
    return pyproj.Transformer.from_crs("EPSG:4326", plane, always_xy=True)


def spread(longitude, latitude, reach, seed=0):
    offsets = np.random.default_rng(seed).uniform(-reach, reach, (200, 2))
    return np.stack(
        [(longitude + offsets[:, 0] + 180) % 360 - 180, np.clip(latitude + offsets[:, 1], -89, 89)], axis=-1
    )


@pytest.mark.parametrize(
    ("longitude", "latitude"), [(2.3, 48.8), (179.9, -16.5), (-70.0, -54.0), (0.0, 0.0), (15.0, 78.0)]
)
def test_agrees_with_proj_to_a_micrometre(longitude, latitude):
    degrees = spread(longitude, latitude, 8.0)
    projection = Projection.around(degrees)
    expected = np.stack(peer(projection).transform(*degrees.T), axis=-1)
    np.testing.assert_allclose(projection.to_metres(degrees), expected, atol=1e-6, rtol=0)


@given(longitude=st.floats(-180, 180), latitude=st.floats(-88, 88), reach=st.floats(1e-6, 1.0))
def test_there_and_back_to_a_micrometre(longitude, latitude, reach):
    degrees = spread(longitude, latitude, reach)
    projection = Projection.around(degrees)
    metres = projection.to_metres(degrees)
    np.testing.assert_allclose(projection.to_metres(projection.to_degrees(metres)), metres, atol=1e-6, rtol=0)


def test_the_antimeridian_is_no_edge():
    degrees = np.array([[179.5, 10.0], [-179.5, 10.0]])
    projection = Projection.around(degrees)
    assert abs(projection.longitude) == 180
    metres = projection.to_metres(degrees)
    assert metres[1, 0] == pytest.approx(-metres[0, 0])
    assert 54_000 < metres[1, 0] < 55_000
    np.testing.assert_allclose(projection.to_degrees(metres), degrees, atol=1e-12)


def test_axes_point_east_and_north():
    projection = Projection(7.0, 51.0)
    assert projection.to_metres([[7.0, 51.0]]).tolist() == [[0.0, 0.0]]
    (east, up), (across, north) = projection.to_metres([[7.1, 51.0], [7.0, 51.1]])
    assert 6_900 < east < 7_100
    assert abs(up) < 10
    assert across == 0
    assert 11_100 < north < 11_140


@pytest.mark.parametrize(
    ("degrees", "message"),
    [
        ([[10.0, 90.0], [11.0, 80.0]], "point 0 stands at the pole"),
        ([[10.0, -89.95]], "point 0 stands at the pole"),
        ([[10.0, 50.0], [400.0, 50.0]], "point 1 is no longitude and latitude"),
        ([[10.0, 95.0]], "point 0 is no longitude and latitude"),
        ([[np.nan, 5.0]], "point 0 is no longitude and latitude"),
        ([[-100.0, 40.0], [10.0, 50.0]], "spread over 110° of longitude"),
    ],
)
def test_points_without_a_local_plane_are_named(degrees, message):
    with pytest.raises(InputError, match=message):
        Projection.around(degrees)


def test_point_far_from_a_given_plane_is_named():
    with pytest.raises(InputError, match="point 1 is more than 45° of longitude away"):
        Projection(0.0, 0.0).to_metres([[1.0, 1.0], [60.0, 1.0]])
