import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

import tricover as tc
from tricover.plot import plot_solution, plot_states, plot_weights


def test_cells_carry_the_papers_weights():
    axes = plot_weights(tc.CellGrid(5))
    texts = [text.get_text() for text in axes.texts]
    assert len(axes.collections[0].get_paths()) == 25
    assert "0.867\n0.067\n0.067" in texts
    assert "0.333\n0.333\n0.333" in texts
    printed = {value for text in texts if "\n" in text for value in text.split("\n")}
    assert len(printed) == 9


@pytest.mark.parametrize(("size", "counts"), [(1, (0, 0, 1)), (2, (1, 0, 3)), (5, (13, 9, 3))])
def test_states_are_coloured_by_their_neighbours(size, counts):
    axes = plot_states(tc.CellGrid(size))
    colours = [tuple(colour) for colour in axes.collections[0].get_facecolor()]
    keys = [tuple(patch.get_facecolor()) for patch in axes.get_legend().legend_handles]
    assert tuple(colours.count(key) for key in keys) == counts
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["interior", "boundary", "nodal"]


def test_solution_shows_value_policy_and_path(tmp_path):
    grid = tc.CellGrid(8)
    solution = tc.LocalMDP(grid, [[0, 0], [4, 0.5], [1, 3]], 20).solve()
    figure, ax = plt.subplots()
    axes = plot_solution(solution, start=60, ax=ax)
    assert axes is ax
    cells, arrows = axes.collections
    assert np.array_equal(cells.get_array(), solution.value)
    assert arrows.N == 63  # the goal stays
    path = next(line for line in axes.lines if line.get_label() == "path").get_xydata()
    centres = grid.weights @ np.array([[0, 0], [4, 0.5], [1, 3]])
    np.testing.assert_allclose(path[[0, -1]], centres[[60, 20]])
    assert len(path) == grid.moves(60, 20) + 1
    figure.savefig(tmp_path / "solution.png")


def test_one_cell_can_be_drawn():
    plot_weights(tc.CellGrid(1))
    plot_solution(tc.LocalMDP.outside([[0, 0], [4, 0.5], [1, 3]]).solve())
