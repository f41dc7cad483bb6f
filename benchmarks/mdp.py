"""The local decision process at the paper's resolution: QuantEcon's fastest method, mdpsolver, and decisions a second.

Problems are random triangles and goals with the default reward, prepared beforehand on both sides. All stop at 1e-8 of
the values, or are exact. Ours and QuantEcon solve on one core; mdpsolver may use all.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tricover as tc
from benchmarks.compare import Row, against, best_of, span, timer
from benchmarks.workers import Worker, one_thread, worker
from tricover import mdp

GRID = tc.CellGrid(35)
PROBLEMS, AGENTS = 12, 100_000


def problems(kernel: mdp.Kernel | None = None) -> list[tc.LocalMDP]:
    rng = np.random.default_rng(35)
    return [
        tc.LocalMDP(GRID, rng.normal(size=(3, 2)), int(rng.integers(len(GRID))), kernel=kernel) for _ in range(PROBLEMS)
    ]


def write(process: tc.LocalMDP, path: Path, precision: float | None = None) -> None:
    """The process as arrays, with its value as a warm start (rewards are negative costs) and the precision.

    Without one it is 1e-8 of the largest value.
    """
    rewards, chances, gamma, states, actions = process.to_quantecon()
    value = process.solve().value
    np.savez(
        path,
        rewards=rewards,
        data=chances.data,
        indices=chances.indices,
        indptr=chances.indptr,
        shape=chances.shape,
        gamma=gamma,
        states=states,
        actions=actions,
        value=-value,
        precision=1e-8 * float(np.abs(value).max()) if precision is None else precision,
    )


def solve_rows(peer: Worker, name: str, kernel: mdp.Kernel | None, solver: mdp.Solver, wanted: float) -> Iterator[Row]:
    processes = problems(kernel)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{number:02}.npz") for number in range(PROBLEMS)]
        for process, path in zip(processes, paths, strict=True):
            write(process, path)
        method = peer.fastest(folder=folder)
        yield against(
            f"{PROBLEMS} solves, {name}",
            lambda: [process.solve(solver) for process in processes],
            lambda: peer.quantecon(folder=folder, method=method),
            wanted,
            goes=9,
            note=f"QuantEcon, {method.replace('_', ' ')}",
        )
        process, first = processes[0], str(paths[0])
        value = process.solve()
        for start, warm in (("cold", False), ("warm", True)):
            yield against(
                f"1 solve, {name}, {start}",
                lambda warm=warm: process.solve(solver, start=value if warm else None),
                lambda warm=warm: peer.mdpsolver_solve(path=first, warm=warm),
                note="mdpsolver, modified policy iteration",
            )


def decisions() -> Row:
    rng = np.random.default_rng(5)
    triangles = rng.normal(size=(AGENTS, 3, 2))
    goals, cells = rng.integers(0, len(GRID), (2, AGENTS))
    with one_thread():
        mdp.next_moves(GRID, triangles, goals, cells)
        (time,) = best_of(timer(lambda: mdp.next_moves(GRID, triangles, goals, cells)))
    rate = AGENTS / time
    return Row("next moves, one core", span(time / AGENTS), "10 µs", rate / 1e5, 1, note=f"{rate:,.0f} a second")


def rows() -> Iterator[Row]:
    with worker("peers/mdp.py") as peer:
        yield from solve_rows(peer, "moves succeed", None, mdp.Exact(), wanted=200)
        slip = mdp.slip(GRID, 0.1)
        yield from solve_rows(peer, "10% slip", slip, mdp.ValueIteration(tolerance=1e-8), wanted=15)
    yield decisions()
