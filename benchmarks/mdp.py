"""The local decision process at the paper's resolution: QuantEcon's fastest method, mdpsolver, and decisions a second.

Problems are random triangles and goals with the default reward, prepared beforehand on both sides. All stop at 1e-8 of
the values, or are exact.
"""

import os
from collections.abc import Callable, Iterator

import mdpsolver
import numpy as np
from quantecon.markov import DiscreteDP

import tricover as tc
from benchmarks.compare import Row, against, best_of, span
from tricover import mdp

GRID = tc.CellGrid(35)
PROBLEMS, AGENTS = 12, 100_000


def problems(kernel: mdp.Kernel | None = None) -> list[tc.LocalMDP]:
    rng = np.random.default_rng(35)
    return [
        tc.LocalMDP(GRID, rng.normal(size=(3, 2)), int(rng.integers(len(GRID))), kernel=kernel) for _ in range(PROBLEMS)
    ]


def precision(process: tc.LocalMDP) -> float:
    return 1e-8 * float(np.abs(process.solve().value).max())


def quantecon(processes: list[tc.LocalMDP]) -> tuple[str, Callable[[], object]]:
    """The method that is fastest on these problems."""
    models = [(DiscreteDP(*process.to_quantecon()), precision(process)) for process in processes]

    def run(method: str) -> Callable[[], object]:
        # policy iteration can cycle on ties: a limit guards it
        return lambda: [model.solve(method=method, epsilon=epsilon, max_iter=1000) for model, epsilon in models]

    methods = ("value_iteration", "policy_iteration", "modified_policy_iteration")
    for method in methods:
        run(method)()  # compiles
    times = best_of(*map(run, methods), goes=2)
    fastest = methods[int(np.argmin(times))]
    return fastest, run(fastest)


def mdp_solver(process: tc.LocalMDP) -> "mdpsolver.model":
    transitions, costs = process.to_matrices()
    rows = [[matrix[[cell]] for matrix in transitions] for cell in range(len(GRID))]
    model = mdpsolver.model()
    model.mdp(
        discount=process.gamma,
        rewards=(-costs).tolist(),
        tranMatProbs=[[row.data.tolist() for row in actions] for actions in rows],
        tranMatColumns=[[row.indices.tolist() for row in actions] for actions in rows],
    )
    return model


def solve_rows(name: str, kernel: mdp.Kernel | None, solver: mdp.Solver, wanted: float) -> Iterator[Row]:
    processes = problems(kernel)
    method, peer = quantecon(processes)
    yield against(
        f"{PROBLEMS} solves, {name}",
        lambda: [process.solve(solver) for process in processes],
        peer,
        wanted,
        goes=9,
        note=f"QuantEcon, {method.replace('_', ' ')}",
    )
    process, goes = processes[0], 5
    tolerance, value = precision(process), process.solve()
    # a model of mdpsolver goes on from its last solution, so every go gets a new one
    models = [mdp_solver(process) for _ in range(2 * goes)]
    yield against(
        f"1 solve, {name}, cold",
        lambda: process.solve(solver),
        lambda: models.pop().solve(tolerance=tolerance),
        goes=goes,
        note="mdpsolver, modified policy iteration",
    )
    yield against(
        f"1 solve, {name}, warm",
        lambda: process.solve(solver, start=value),
        lambda: models.pop().solve(tolerance=tolerance, initValueVector=(-value.value).tolist()),
        goes=goes,
        note="mdpsolver, modified policy iteration",
    )


def decisions() -> Row:
    rng = np.random.default_rng(5)
    triangles = rng.normal(size=(AGENTS, 3, 2))
    goals, cells = rng.integers(0, len(GRID), (2, AGENTS))
    before, os.environ["TRICOVER_THREADS"] = os.environ.get("TRICOVER_THREADS"), "1"
    try:
        mdp.next_moves(GRID, triangles, goals, cells)
        (time,) = best_of(lambda: mdp.next_moves(GRID, triangles, goals, cells))
    finally:
        os.environ.pop("TRICOVER_THREADS")
        if before is not None:
            os.environ["TRICOVER_THREADS"] = before
    rate = AGENTS / time
    return Row("next moves, one core", span(time / AGENTS), "10 µs", rate / 1e5, 1, note=f"{rate:,.0f} a second")


def rows() -> Iterator[Row]:
    yield from solve_rows("moves succeed", None, mdp.Exact(), wanted=200)
    yield from solve_rows("10% slip", mdp.slip(GRID, 0.1), mdp.ValueIteration(tolerance=1e-8), wanted=15)
    yield decisions()
