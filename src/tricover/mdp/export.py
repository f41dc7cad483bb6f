"""The decision process in the forms that other libraries take, so that anybody can check it with their own solver."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["MatrixForm", "StateActionForm", "matrix_form", "state_action_form"]

Floats = NDArray[np.float64]


class StateActionForm(NamedTuple):
    """Arguments of QuantEcon's ``DiscreteDP``, in its order: rewards are negative costs."""

    R: Floats
    """(L,) rewards of the state-action pairs."""
    Q: "sparse.csr_matrix"
    """(L, S) transition probabilities: S = M² cells, and outside as the last state where the kernel knows it."""
    beta: float
    """QuantEcon's name for the discount factor γ."""
    s_indices: NDArray[np.int64]
    a_indices: NDArray[np.int64]


class MatrixForm(NamedTuple):
    """Lists in the form (A, S, S): one transition matrix per action, and costs (S, A)."""

    transitions: "list[sparse.csr_array]"
    costs: Floats


def state_action_form(matrix: "sparse.csr_array", costs: Floats, gamma: float) -> StateActionForm:
    """Pairs of cell and action that exist, from the rows 4·cell + action of a kernel's matrix."""
    from scipy import sparse

    pairs = np.flatnonzero(np.diff(matrix.indptr))
    states = pairs // 4
    return StateActionForm(-costs[states], sparse.csr_matrix(matrix[pairs]), gamma, states, pairs % 4)


def matrix_form(matrix: "sparse.csr_array", costs: Floats) -> MatrixForm:
    """A full matrix for each of the four actions; one that a cell lacks is taken for staying."""
    from scipy import sparse

    cells = np.arange(len(costs))
    missing = np.diff(matrix.indptr) == 0
    rows = [np.where(missing[4 * cells + action], 4 * cells + 3, 4 * cells + action) for action in range(4)]
    return MatrixForm([sparse.csr_array(matrix[chosen]) for chosen in rows], np.repeat(costs[:, None], 4, axis=1))
