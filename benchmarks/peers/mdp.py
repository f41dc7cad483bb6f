"""QuantEcon and mdpsolver on decision processes that are given as arrays; models are built outside the measurement."""

import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import mdpsolver
import numpy as np
from quantecon.markov import DiscreteDP
from scipy import sparse

METHODS = ("value_iteration", "policy_iteration", "modified_policy_iteration")


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


@cache
def _models(folder: str) -> list[tuple[DiscreteDP, float]]:
    """QuantEcon's models of the processes in a folder, each with the precision that is wanted."""
    found = []
    for path in sorted(Path(folder).glob("*.npz")):
        given = np.load(path)
        chances = sparse.csr_matrix((given["data"], given["indices"], given["indptr"]), shape=given["shape"])
        model = DiscreteDP(given["rewards"], chances, float(given["gamma"]), given["states"], given["actions"])
        found.append((model, float(given["precision"])))
    return found


def quantecon(folder: str, method: str) -> float:
    """Seconds to solve all; one core. Policy iteration can cycle on ties: a limit guards it."""
    models = _models(folder)
    return _seconds(lambda: [model.solve(method=method, epsilon=near, max_iter=1000) for model, near in models])


def values(folder: str, method: str) -> list[list[float]]:
    """Values that QuantEcon finds, of all."""
    found = [model.solve(method=method, epsilon=near, max_iter=1000) for model, near in _models(folder)]
    return [solution.v.tolist() for solution in found]


def fastest(folder: str) -> str:
    """The method that is fastest on these problems."""
    for method in METHODS:
        quantecon(folder, method)  # compiles
    return min(METHODS, key=lambda method: min(quantecon(folder, method) for _ in range(2)))


@cache
def _lists(path: str) -> dict[str, list]:
    """mdpsolver's form of a process: per cell and action the chances and where they lead."""
    given, cells = np.load(path), {}
    states, rewards, rows = given["states"].tolist(), given["rewards"].tolist(), pairwise(given["indptr"])
    for cell, reward, ends in zip(states, rewards, rows, strict=True):
        cells.setdefault(cell, []).append((reward, slice(*ends)))
    ordered = [cells[cell] for cell in sorted(cells)]
    return {
        "rewards": [[reward for reward, _ in actions] for actions in ordered],
        "tranMatProbs": [[given["data"][row].tolist() for _, row in actions] for actions in ordered],
        "tranMatColumns": [[given["indices"][row].tolist() for _, row in actions] for actions in ordered],
    }


def mdpsolver_solve(path: str, warm: bool = False) -> float:
    """Seconds of modified policy iteration, from nothing or from the solution; all cores.

    A model goes on from its last solution, so every go gets a new one.
    """
    given, model = np.load(path), mdpsolver.model()
    model.mdp(discount=float(given["gamma"]), **_lists(path))
    start = {"initValueVector": given["value"].tolist()} if warm else {}
    return _seconds(lambda: model.solve(tolerance=float(given["precision"]), **start))
