"""Targets that are sorted on disk: nobody is lost, nothing is asked for in vain, and sums have the bits of all."""

import numpy as np
import pytest

import tricover as tc
from tests.targets.test_exact_sums import bits
from tests.targets.test_in_triangles import random_triangles
from tricover.errors import FileFormatError
from tricover.studies import tiles
from tricover.studies.regions import Region
from tricover.studies.tiles import TargetsOnDisk, TargetTiles, sort_targets


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    for name, size in (("BLOCK", 32), ("TILE", 40), ("_CHUNK", 90)):
        monkeypatch.setattr(tiles, name, size)


def fields():
    rng = np.random.default_rng(1)
    crowd = np.concatenate([rng.random((400, 2)), rng.normal(0.3, 1e-4, (500, 2))])
    return {
        "even": (rng.random((1000, 2)) * 50 - 9, None),
        "crowded": (crowd, None),
        "weighted": (crowd, rng.choice([0.1, 7.0], len(crowd))),
        "in one place": (np.full((300, 2), 0.1), None),
        "in a row": (np.column_stack([np.full(300, 0.1), rng.random(300)]), rng.random(300)),
        "a single one": (np.array([[3.0, 4.0]]), None),
        "tiny": (rng.random((300, 2)) * 1e-170, None),
        "one far away": (np.concatenate([rng.normal(size=(300, 2)) * 0.01, [[1e17, -3e16]]]), None),
        "huge": (rng.normal(size=(300, 2)) * 1e99, None),
    }


FIELDS = pytest.mark.parametrize(("points", "weights"), fields().values(), ids=fields())


def opened(folder, points, weights):
    sort_targets(points, weights, folder / "targets")
    return TargetTiles(folder / "targets")


def in_order(points, weights):
    """Targets as rows that can be compared."""
    rows = points if weights is None else np.column_stack([points, weights])
    return rows[np.lexsort(rows.T)]


@FIELDS
def test_everybody_is_in_one_block_and_blocks_are_small(tmp_path, points, weights):
    found = opened(tmp_path, points, weights)
    blocks = [found.block(number) for number in range(len(found.boxes))]
    for box, (places, *_) in zip(found.boxes, blocks, strict=True):
        np.testing.assert_array_equal(box, [*places.min(axis=0), *places.max(axis=0)])
        assert 1 <= len(places) <= 32
    columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    again = columns[0], columns[1] if weights is not None else None
    np.testing.assert_array_equal(in_order(*again), in_order(points, weights))
    assert len(found) == len(points)


@FIELDS
def test_sums_have_the_bits_of_all_targets(tmp_path, points, weights):
    found = opened(tmp_path, points, weights)
    rng = np.random.default_rng(2)
    middle, half = points.mean(axis=0), np.ptp(points, axis=0) / 2 + np.abs(points).max() * 1e-3
    triangles = np.clip(middle + half * random_triangles(rng, 60, -1.5, 1.5), -1e100, 1e100)
    triangles[:3] = np.stack([points[rng.integers(0, len(points), 3)] for _ in range(3)])
    on_disk, whole = TargetsOnDisk(found), tc.Targets(points, weights)
    for wanted, here in zip(whole.in_triangles(triangles), on_disk.in_triangles(triangles), strict=True):
        assert bits(here) == bits(wanted)
    assert len(on_disk) == len(points)
    assert bits(on_disk.in_triangles(triangles[:0])[1]) == []


@FIELDS
def test_a_region_gets_what_is_in_its_pieces(tmp_path, points, weights):
    found = opened(tmp_path, points, weights)
    rng = np.random.default_rng(3)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    corners = low + size * rng.uniform(-0.1, 1.1, (2, 3, 2))
    region = Region.along(corners).reaching(np.repeat([0, 1], 3), corners.reshape(-1, 2)).roomy()
    near = found.near(region)
    inside = region.holds(points, np.ones(2, np.bool_))
    wanted = points[inside], None if weights is None else weights[inside]
    np.testing.assert_array_equal(
        in_order(near.points, near.weights if weights is not None else None), in_order(*wanted)
    )
    held, _ = tc.Targets(points).in_triangles(corners)
    assert held.max() <= len(near)


def test_a_box_that_touches_a_piece_is_near_however_large_it_is():
    """Its corner is a corner of the piece; rounding of the box's middle is larger than the piece."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        corners = rng.normal(size=(1, 3, 2)) * 10 ** rng.uniform(-9, 0)
        region = Region.along(corners).reaching(np.zeros(3, np.int64), corners[0])
        touched, size = corners[0, rng.integers(3)], 10 ** rng.uniform(0, 9, 2)
        for low, high in ((touched - size, touched), (touched, touched + size)):
            assert region.near(low[None], high[None]).all()


def test_blocks_far_away_are_not_read(tmp_path, monkeypatch):
    """A small triangle costs the blocks that it crosses; a large one those along its outline."""
    found = opened(tmp_path, np.random.default_rng(4).random((20_000, 2)), None)
    read, plain = [], TargetTiles.block
    monkeypatch.setattr(TargetTiles, "block", lambda self, number: read.append(number) or plain(self, number))
    found.sums_inside(np.array([[[0.5, 0.5], [0.51, 0.5], [0.5, 0.51]]]))
    assert 1 <= len(read) <= 9
    read.clear()
    found.sums_inside(np.array([[[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]]))
    assert read == []
    found.sums_inside(np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]))
    assert 0 < len(read) < len(found.boxes) / 4
    assert len(set(read)) == len(read)


def test_damage_is_noticed(tmp_path):
    found = opened(tmp_path, np.random.default_rng(5).random((500, 2)), None)
    file = tmp_path / "targets" / "points.npy"
    data = bytearray(file.read_bytes())
    data[-20] ^= 1
    file.write_bytes(data)
    with pytest.raises(FileFormatError, match="its targets are not as they were written"):
        found.sums_inside(np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0], [1.0, 0.9]]]))


def test_what_is_not_in_memory_cannot_be_asked_for_one_by_one(tmp_path):
    with pytest.raises(TypeError, match="asked for sums alone"):
        TargetsOnDisk(opened(tmp_path, np.array([[1.0, 2.0]]), None)).points  # noqa: B018
