"""Condition C1 against landings whose cell and margin are known by construction, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

import tricover as tc
from tricover.certificates import Settings, log_of
from tricover.certificates.audit import audit

EPS = float(np.finfo(np.float64).eps)
NETWORK = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])  # one follower, 5
CORNERS = NETWORK.in_neighbors[5]
TRIANGLE = NETWORK.reference[CORNERS]  # (0, 4), (0, 0), (2, 2): whole numbers, so that few bits are lost

OUTSIDE = (Fraction(-1, 4), Fraction(5, 8), Fraction(5, 8))


def point(weights):
    return [float(sum(w * Fraction(x) for w, x in zip(weights, TRIANGLE[:, axis], strict=True))) for axis in (0, 1)]


def in_cell(resolution, cell, own):
    """Weights of the point with coordinates ``own`` in a cell."""
    corners = tc.CellGrid(resolution).corners(cell)
    exact = [[Fraction(round(x * resolution), resolution) for x in row] for row in corners.tolist()]
    return [sum(Fraction(u) * row[k] for u, row in zip(own, exact, strict=True)) for k in range(3)]


def claim(standing, landing, margin, resolution, still=0):
    positions = np.repeat(NETWORK.reference[None], 2 + still, axis=0)
    positions[0, 5] = point(standing)
    positions[1:, 5] = point(landing)
    return audit(log_of(positions, NETWORK, settings=Settings("walk", "centroid", resolution, margin)))["C1"]


MIDDLE = [Fraction(1, 3)] * 3


def with_margin(margin, corner=0):
    """Coordinates in a cell of which one is the margin, the smallest."""
    own = [Fraction(margin)] * 3
    own[corner] = 1 - 2 * Fraction(margin)
    return own


@pytest.mark.parametrize("resolution", [1, 2, 5])
@pytest.mark.parametrize("corner", range(3))
def test_every_cell_that_can_be_meant_and_its_margin(resolution, corner):
    grid, margin = tc.CellGrid(resolution), Fraction(3, 16)
    for cell in range(resolution**2):
        standing = in_cell(resolution, cell, MIDDLE)
        for meant in [cell, *(other for other in grid.neighbors[cell].tolist() if other >= 0)]:
            for change, verdict in ((Fraction(1, 10**9), "holds"), (-Fraction(1, 10**9), "fails")):
                landing = in_cell(resolution, meant, with_margin(margin + change, corner))
                found = claim(standing, landing, float(margin), resolution)
                assert found.verdict == verdict
                assert found.figures["smallest_margin"] == pytest.approx(float(margin + change), abs=1e-13)
                if verdict == "fails":
                    (fault,) = found.faults
                    assert (fault.agent, fault.step, fault.unit) == (5, 0, "of a cell")
                    assert fault.amount == pytest.approx(1e-9, rel=1e-3)


def test_a_cell_that_cannot_be_meant():
    grid = tc.CellGrid(4)
    for cell in range(16):
        near = {cell, *grid.neighbors[cell].tolist()}
        standing = in_cell(4, cell, MIDDLE)
        for other in range(16):
            verdict = claim(standing, in_cell(4, other, MIDDLE), 0.05, 4).verdict
            assert verdict == ("holds" if other in near else "fails")


@pytest.mark.parametrize("resolution", [1, 3])
@pytest.mark.parametrize("corner", range(3))
def test_from_outside_the_whole_triangle_is_meant(resolution, corner):
    margin = Fraction(1, 8)
    for change, verdict in ((Fraction(1, 10**9), "holds"), (-Fraction(1, 10**9), "fails")):
        found = claim(OUTSIDE, with_margin(margin + change, corner), float(margin), resolution)
        assert found.verdict == verdict
        assert found.figures["smallest_margin"] == pytest.approx(float(margin + change), abs=1e-13)


def test_from_inside_the_whole_triangle_is_not_meant():
    standing = in_cell(8, 0, MIDDLE)
    assert claim(standing, MIDDLE, 0.05, 8).verdict == "fails"


@pytest.mark.parametrize("resolution", [2, 3, 6])
def test_on_an_edge_between_cells_both_may_be_meant(resolution):
    """Two cells that share the edge on which the agent stands; beyond the second there is a third one for each."""
    grid = tc.CellGrid(resolution)
    for cell in range(resolution**2):
        for slot, other in enumerate(grid.neighbors[cell].tolist()):
            if other < 0:
                continue
            own = [Fraction(1, 2)] * 3
            own[slot] = Fraction(0)
            standing = in_cell(resolution, cell, own)
            for meant in {cell, other, *grid.neighbors[cell].tolist(), *grid.neighbors[other].tolist()} - {-1}:
                assert claim(standing, in_cell(resolution, meant, MIDDLE), 0.05, resolution).verdict == "holds"


def test_on_the_outline_the_triangle_may_be_meant_too():
    standing = [Fraction(0), Fraction(1, 2), Fraction(1, 2)]
    assert claim(standing, MIDDLE, 0.05, 8).verdict == "holds"
    just_inside = [Fraction(1, 10**6), Fraction(1, 2), Fraction(1, 2) - Fraction(1, 10**6)]
    assert claim(just_inside, MIDDLE, 0.05, 8).verdict == "fails"


def test_rounding_is_that_of_positions_seen_from_the_triangle():
    """Twice 16 ε of the largest coordinate (4), over the smallest height (2), in cells of a triangle of M a side."""
    resolution, margin = 4, Fraction(1, 8)
    cell = 6
    slack = resolution * 2 * 16 * EPS * 4 / 2
    for factor, verdict in ((0.8, "holds"), (1.2, "fails")):
        landing = in_cell(resolution, cell, with_margin(margin - Fraction(slack * factor)))
        assert claim(in_cell(resolution, cell, MIDDLE), landing, float(margin), resolution).verdict == verdict


def test_every_bad_step_counts_also_while_nobody_moves():
    standing = in_cell(8, 0, MIDDLE)
    found = claim(standing, MIDDLE, 0.05, 8, still=3)
    assert found.figures["faults"] == 1  # from then on it stands in the cell in which it lands
    within = in_cell(8, 20, with_margin(Fraction(1, 100)))
    found = claim(within, within, 0.05, 8, still=3)
    assert found.figures["faults"] == 4
    assert [fault.step for fault in found.faults] == [0, 1, 2, 3]
    assert found.summary == "4 landings outside reach sets, the worst by 0.04 of a cell."
    assert found.figures["worst"] == pytest.approx(0.04, abs=1e-12)


@pytest.mark.parametrize(
    ("motion", "verdict"), [("walk", "fails"), ("reach", "does not apply"), (None, "does not apply")]
)
def test_only_walks_have_cells(motion, verdict):
    positions = np.repeat(NETWORK.reference[None], 2, axis=0)
    positions[1, 5] = point([Fraction(1, 1000), Fraction(1, 2), Fraction(499, 1000)])
    found = audit(log_of(positions, NETWORK, settings=Settings(motion, "centroid", 1, 0.05)))
    assert found["C1"].verdict == verdict


def test_triangles_without_area_have_no_cells():
    positions = np.repeat(NETWORK.reference[None], 3, axis=0)
    positions[:, CORNERS] = [[0, 0], [2, 0], [4, 0]]
    positions[:, 5] = [3, 0]
    found = audit(log_of(positions, NETWORK, settings=Settings("walk", "centroid", 4, 0.05)))
    assert found["C1"].verdict == "does not apply"
    assert found["theorem1"].figures["flat"] == found["theorem1"].figures["rows"] == 2


def test_from_outside_no_cell_is_meant():
    landing = [Fraction(1, 24), Fraction(23, 48), Fraction(23, 48)]  # well inside a cell on the near side
    for margin, verdict in ((1 / 32, "holds"), (1 / 16, "fails")):
        found = claim(OUTSIDE, landing, margin, 8)
        assert found.verdict == verdict
        assert found.figures["smallest_margin"] == pytest.approx(1 / 24, abs=1e-13)
