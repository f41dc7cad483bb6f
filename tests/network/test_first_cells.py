"""A team that is looked at chunk by chunk, and cell by cell, has the network that it has as a whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tricover as tc
from tests.network.formations import formations
from tricover.errors import FormationError, InputError
from tricover.network import first_cells as module
from tricover.network.core import as_choice
from tricover.network.first_cells import cell_structure, first_cells, frame_of


def cell_by_cell(reference, mentee="fermat", core=None):
    """In-neighbours, layers and descendants, from first cells that are built one by one."""
    reference = np.asarray(reference, dtype=np.float64)
    frame = frame_of(reference, as_choice(core, *reference.shape))
    links = np.full((len(reference), 3), -1)
    layer, below = np.zeros(len(reference), int), np.zeros((len(reference), 3), int)
    chunks = list(first_cells(reference, frame))
    numbers, cells, places = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    np.testing.assert_array_equal(places, reference[numbers])
    count = len(frame.boundary)
    for cell in range(count):
        some = numbers[cells == cell]
        everybody = np.concatenate([[frame.boundary[cell], frame.boundary[(cell + 1) % count], frame.core], some])
        built = cell_structure(everybody, reference[everybody], mentee)
        links[some] = everybody[built.in_neighbors[3:]]
        layer[some], below[some] = built.layer[3:], built.descendants[3:]
    return frame, links, layer, below


def check(reference, mentee="fermat", core=None):
    network = tc.build_network(reference, mentee, core)
    frame, links, layer, below = cell_by_cell(reference, mentee, core)
    np.testing.assert_array_equal(frame.boundary, network.boundary)
    assert frame.core == network.core
    np.testing.assert_array_equal(links, network.in_neighbors)
    np.testing.assert_array_equal(layer, network.layer)
    followers = network.followers
    np.testing.assert_array_equal(below[followers], network.descendants[followers])


@pytest.mark.parametrize("chunk", [1, 7, 100, 10_000])
@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
@pytest.mark.parametrize("core", [None, 9, (0.2, 0.7)])
def test_chunks_do_not_matter(monkeypatch, chunk, mentee, core):
    monkeypatch.setattr(module, "CHUNK", chunk)
    reference = np.random.default_rng(4).random((150, 2))
    if isinstance(core, int):
        core = int(tc.build_network(reference).followers[core])
    check(reference, mentee, core)


@given(formations(), st.sampled_from(["fermat", "balanced"]), st.integers(1, 40))
def test_degenerate_formations(reference, mentee, chunk):
    """Grids, rows, circles and clusters; what is refused as a whole is refused in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        try:
            tc.build_network(reference, mentee)
        except FormationError:
            with pytest.raises(FormationError):
                cell_by_cell(reference, mentee)
            return
        check(reference, mentee)


@pytest.mark.parametrize(
    "broken",
    [
        [[0, 0], [1, 0], [0, 1]],
        [[0, 0], [1, 0], [0, 1], [1, 1]],
        [[0, 0], [1, 1], [2, 2], [3, 3], [5, 5]],
        [[0, 0], [4, 0], [0, 4], [1, 1], [1, 1]],
        [[0, 0], [4, 0], [0, 4], [1, 1], [np.nan, 1]],
        [[0, 0], [4, 0], [0, 4], [1, 1], [1e-90, 1]],
        [[0, 0], [4, 0], [0, 4], [1, 1], [1e101, 1]],
    ],
)
def test_refused_as_a_whole_and_in_parts_alike(monkeypatch, broken):
    monkeypatch.setattr(module, "CHUNK", 2)
    with pytest.raises(FormationError) as whole:
        tc.build_network(broken)
    with pytest.raises(FormationError) as parts:
        cell_by_cell(broken)
    assert str(parts.value) == str(whole.value)


def test_a_core_on_the_boundary_is_refused():
    reference = [[0, 0], [4, 0], [0, 4], [1, 1], [1, 2]]
    with pytest.raises(InputError, match="core agent 1 is a boundary agent"):
        cell_by_cell(reference, core=1)
