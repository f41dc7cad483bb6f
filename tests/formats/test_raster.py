"""Maps of cells read as weighted points, held against sums over all cells."""

import sys

import numpy as np
import pyproj
import pytest
import rasterio
from hypothesis import given, settings
from hypothesis import strategies as st
from rasterio.transform import Affine

import tricover as tc
from tricover.errors import FileFormatError, InputError, MissingExtraError
from tricover.formats import Projection, read_points, read_raster

EXTENT = (100.0, -50.0, 220.0, 40.0)


def saved(folder, cells, name="map.npy"):
    np.save(folder / name, cells)
    return folder / name


def centres(shape, extent=EXTENT):
    """Where the middle of each cell is, row by row from the north, (rows, columns, 2)."""
    x0, y0, x1, y1 = extent
    xs = [x0 + (x1 - x0) * (column + 0.5) / shape[1] for column in range(shape[1])]
    ys = [y1 - (y1 - y0) * (row + 0.5) / shape[0] for row in range(shape[0])]
    return np.array([[[x, y] for x in xs] for y in ys])


def test_without_a_number_each_cell_is_a_target(tmp_path):
    cells = np.array([[0, 2, 0], [np.nan, 0, 5.5]])
    points = read_raster(saved(tmp_path, cells), extent=EXTENT)
    assert points.weights.tolist() == [2, 5.5]
    np.testing.assert_allclose(points.positions, [[160, 17.5], [200, -27.5]], rtol=1e-14)
    assert points.projection is None


def test_blocks_keep_weight_and_centre_of_mass(tmp_path):
    """24 points of 40 by 60 cells are 4 by 6 blocks of 10 by 10 cells, each as Python adds it up."""
    cells = np.random.default_rng(5).integers(1, 9, (40, 60))
    points = read_raster(saved(tmp_path, cells), extent=EXTENT, points=24)
    where, found = centres(cells.shape), []
    for row in range(0, 40, 10):
        for column in range(0, 60, 10):
            part = cells[row : row + 10, column : column + 10].ravel().tolist()
            places = where[row : row + 10, column : column + 10].reshape(-1, 2).tolist()
            xs, ys = (sum(w * place[axis] for w, place in zip(part, places, strict=True)) for axis in (0, 1))
            found.append([sum(part), xs / sum(part), ys / sum(part)])
    assert points.weights.tolist() == [weight for weight, _, _ in found]
    np.testing.assert_allclose(points.positions, np.array(found)[:, 1:], rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 400), st.floats(0, 0.95), st.integers(0, 99))
def test_nothing_is_lost_and_no_more_points_than_wanted(tmp_path_factory, rows, columns, wanted, empty, seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, 100, (rows, columns)).astype(float)
    cells[rng.random(cells.shape) < empty] = np.nan
    cells[0, 0] = 7
    path = saved(tmp_path_factory.mktemp("maps"), cells)
    points = read_raster(path, extent=EXTENT, points=wanted)
    weights = np.nan_to_num(cells)
    assert len(points) <= wanted
    assert len(points) >= min(wanted, np.count_nonzero(weights)) / 3
    assert points.weights.sum() == weights.sum()
    moments = (points.weights[:, None] * points.positions).sum(axis=0)
    np.testing.assert_allclose(
        moments, (weights[..., None] * centres(cells.shape)).sum(axis=(0, 1)), rtol=1e-9, atol=1e-6
    )
    low, high = np.array(EXTENT).reshape(2, 2)
    assert (points.positions > low).all()
    assert (points.positions < high).all()


def test_empty_regions_cost_no_points(tmp_path):
    """A small cloud in a large empty map is still told in detail."""
    cells = np.zeros((500, 500))
    cells[100:120, 300:330] = 1.0
    points = read_raster(saved(tmp_path, cells), extent=(0, 0, 500, 500), points=60)
    assert 30 <= len(points) <= 60
    assert points.weights.sum() == 600


def test_blocks_are_as_square_as_cells_allow(tmp_path):
    points = read_raster(saved(tmp_path, np.ones((10, 1000))), extent=(0, 0, 1000, 10), points=100)
    assert len(points) == 100
    np.testing.assert_allclose(np.sort(points.positions[:, 0]), np.arange(100) * 10 + 5)


def test_integers_booleans_and_huge_numbers(tmp_path):
    for cells in (np.eye(4, dtype=bool), np.eye(4, dtype=np.uint8), np.asfortranarray(np.eye(4))):
        assert read_raster(saved(tmp_path, cells), extent=EXTENT, points=2).weights.tolist() == [2, 2]
    large = np.full((4, 4), 1e100)
    large[0, 0] = 1e-100
    found = read_raster(saved(tmp_path, large), extent=EXTENT, points=4)
    assert np.isfinite(found.positions).all()
    np.testing.assert_allclose(found.weights.sum(), 1.5e101, rtol=1e-12)
    for wrong in (1e101, 1e308, 1e-101, 5e-324):
        with pytest.raises(FileFormatError, match=r"row 0, column 0: .* is no weight: a cell must be 0, a number from"):
            read_raster(saved(tmp_path, np.full((4, 4), wrong)), extent=EXTENT, points=1)
    signalling = np.array([[0x7F800001, 0], [0x3F800000, 0]], np.uint32).view(np.float32)  # a NaN, and 1
    assert read_raster(saved(tmp_path, signalling), extent=EXTENT).weights.tolist() == [1]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (np.array([[1, 2], [3, -4.5]]), "map.npy, row 1, column 1: -4.5 is no weight"),
        (np.array([[1, np.inf], [3, 4]]), "map.npy, row 0, column 1: inf is no weight"),
        (np.zeros((3, 3)), "all cells are zero or empty"),
        (np.full((3, 3), np.nan), "all cells are zero or empty"),
        (np.ones(5), r"numbers in rows and columns, not float64 of shape \(5,\)"),
        (np.ones((2, 2), complex), "numbers in rows and columns, not complex128"),
        (np.ones((0, 2)), "numbers in rows and columns"),
        (np.ones((2, 2), [("x", "f8"), ("y", "f8")]), "numbers in rows and columns"),
    ],
)
def test_what_is_no_map_is_told(tmp_path, cells, message):
    with pytest.raises(FileFormatError, match=message):
        read_raster(saved(tmp_path, cells), extent=EXTENT)


@pytest.mark.parametrize("extent", [(0, 0, 0, 1), (0, 1, 1, 0), (0, 0, 1), (0, 0, np.nan, 1), "here", (0, 0, 1e101, 1)])
def test_an_extent_is_a_box(tmp_path, extent):
    with pytest.raises(InputError, match="extent must be x0, y0, x1, y1 in metres"):
        read_raster(saved(tmp_path, np.ones((2, 2))), extent=extent)


def test_only_an_extent_makes_a_map_of_an_array(tmp_path):
    path = saved(tmp_path, np.ones((5, 2)))
    assert len(read_points(path)) == 5
    assert read_points(path).weights is None
    as_map = tc.Targets.from_file(path, extent=EXTENT, points=5)
    assert as_map.weights.sum() == 10
    assert len(as_map) <= 5
    with pytest.raises(FileFormatError, match="goes with polygons in GeoJSON, and a map with its extent"):
        read_points(path, points=5)
    with pytest.raises(FileFormatError, match="a map needs its extent"):
        read_raster(path)
    with pytest.raises(InputError, match="a map is not filled, but thinned"):
        read_points(path, extent=EXTENT, density=1)
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(FileFormatError, match=r"an extent goes with a 2-D NPY, and \.csv is none"):
        read_points(tmp_path / "a.csv", extent=EXTENT)


def test_a_map_without_its_extent_is_told_what_it_needs(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"shape \(5, 7\): expected .*; a map needs its extent, x0,y0,x1,y1 in metres"
    ):
        read_points(saved(tmp_path, np.ones((5, 7))))


def test_an_origin_puts_the_map_on_earth(tmp_path):
    points = read_points(saved(tmp_path, np.ones((2, 2))), extent=EXTENT, origin=(7.2, 51.4))
    assert points.projection == Projection(7.2, 51.4)
    assert points.positions[:, 0].min() == 130


def test_a_map_larger_than_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TRICOVER_MEMORY", "0.0001")
    path = saved(tmp_path, np.ones((100, 90), np.uint8))
    with pytest.raises(InputError, match=r"the 9000 cells of .*map\.npy need about"):
        read_raster(path, extent=EXTENT)


# --- GeoTIFF ---------------------------------------------------------------------------------------------------------


def tiff(folder, cells, **profile):
    path = folder / "map.tif"
    shape = {"height": cells.shape[0], "width": cells.shape[1], "count": 1, "dtype": cells.dtype}
    with rasterio.open(path, "w", driver="GTiff", **shape, **profile) as file:
        file.write(cells, 1)
    return path


UTM = (380_000.0, 5_700_000.0, 380_600.0, 5_700_400.0)


def test_a_geotiff_in_utm(tmp_path):
    """Every cell is where PROJ puts it, and blocks keep weights and centres of mass."""
    cells = np.random.default_rng(2).integers(1, 9, (20, 30)).astype("float32")
    cells[3, 4] = -9999
    path = tiff(tmp_path, cells, crs="EPSG:32632", transform=Affine(20, 0, UTM[0], 0, -20, UTM[3]), nodata=-9999)
    points = read_points(path)
    assert len(points) == 599
    there = centres(cells.shape, UTM).reshape(-1, 2)[np.arange(600) != 3 * 30 + 4]
    to_degrees = pyproj.Transformer.from_crs("EPSG:32632", "EPSG:4326", always_xy=True)
    np.testing.assert_allclose(points.degrees, np.stack(to_degrees.transform(*there.T), axis=1), atol=1e-9)
    thinned = tc.Targets.from_file(path, points=24)
    assert len(thinned) == 24
    cells[3, 4] = 0
    assert thinned.weights.sum() == cells.sum()
    plane = thinned.projection
    moments = thinned.weights @ plane.to_degrees(thinned.points) / thinned.weights.sum()
    mass = (cells[..., None] * centres(cells.shape, UTM)).sum(axis=(0, 1)) / cells.sum()
    np.testing.assert_allclose(moments, to_degrees.transform(*mass), atol=1e-8)


def test_a_geotiff_in_degrees_shares_a_plane(tmp_path):
    there = {"crs": "EPSG:4326", "transform": Affine(0.01, 0, 7.0, 0, -0.01, 51.02)}
    path = tiff(tmp_path, np.ones((2, 2), "uint8"), **there)
    plane = Projection(7.0, 51.0)
    points = read_points(path, projection=plane)
    assert points.projection == plane
    places = [[7.005, 51.015], [7.015, 51.015], [7.005, 51.005], [7.015, 51.005]]
    np.testing.assert_allclose(points.degrees, places, atol=1e-9)


def test_geotiffs_without_a_place(tmp_path):
    cells = np.ones((2, 2), "uint8")
    local = read_points(tiff(tmp_path, cells, transform=Affine(10, 0, 100, 0, -10, 50)))
    assert local.projection is None
    assert local.positions.tolist() == [[105, 45], [115, 45], [105, 35], [115, 35]]
    with pytest.raises(FileFormatError, match="says itself where it is: leave the extent out"):
        read_points(tmp_path / "map.tif", extent=EXTENT)
    with pytest.warns(rasterio.errors.NotGeoreferencedWarning):
        path = tiff(tmp_path, cells)
    with pytest.raises(FileFormatError, match="does not say where it is: give its extent"):
        read_points(path)
    assert read_points(path, extent=EXTENT).positions[0].tolist() == [130, 17.5]


def test_a_geotiff_larger_than_memory_is_refused_by_its_size(tmp_path, monkeypatch):
    there = {"transform": Affine(10, 0, 100, 0, -10, 50), "compress": "deflate"}
    path = tiff(tmp_path, np.ones((300, 300), "uint8"), **there)
    monkeypatch.setenv("TRICOVER_MEMORY", "0.001")
    with pytest.raises(InputError, match=r"the cells of .*map\.tif need about"):
        read_points(path)


def test_a_coordinate_system_that_leads_nowhere_is_told(tmp_path):
    there = {"transform": Affine(10, 0, 100, 0, -10, 50), "crs": 'LOCAL_CS["here",UNIT["metre",1]]'}
    with pytest.raises(FileFormatError, match=r"map\.tif cannot be read as a GeoTIFF: ") as told:
        read_points(tiff(tmp_path, np.ones((2, 2), "uint8"), **there))
    assert "\n" not in str(told.value)


def test_broken_geotiffs(tmp_path):
    path = tmp_path / "map.tif"
    path.write_bytes(b"no map at all")
    with pytest.raises(FileFormatError, match="cannot be read as a GeoTIFF"):
        read_points(path)
    path.unlink()
    with pytest.raises(FileFormatError, match=r"cannot read .*map\.tif: No such file"):
        read_points(path)


def test_a_missing_library_names_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rasterio", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tricover\[raster\]'"):
        read_points(tmp_path / "map.tif")
