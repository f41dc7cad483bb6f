"""Agents that know or learn that moves may fail, at the paper's resolution: plans, whole steps, and their memory.

A plan is the policy of an agent's own process. *Cold* it is made from nothing, *warm* after the corners of its triangle
have moved by some 0.3%. Peers solve the same processes, to the precision that the values of plans are known to have. In
whole steps everybody moves, or the team stands where it settles.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tricover as tc
from benchmarks.compare import Row, amount, best_of, own_timer, power, size, span, timer
from benchmarks.mdp import GRID, PROBLEMS, write
from benchmarks.simulation import field
from benchmarks.workers import Worker, alone, files, one_thread, worker
from tricover import mdp
from tricover.mdp.gusts import gusts

AGENTS = 120
MOVED = 0.003
SURE = 4e-4  # of 1 + the largest value: within this of the optimum are the values of a plan, and so are the peers'
COLD, WARM = 3500, 10_000  # plans a second


class Team:
    """Agents with triangles, goal cells and kernels, and their plans."""

    def __init__(self, kernels: list[mdp.Kernel], triangles: np.ndarray, goals: np.ndarray) -> None:
        self.kernels, self.triangles, self.goals = kernels, triangles, goals
        self.batch = mdp.kernel_batch(kernels[0]) if len(kernels) == 1 else joined(kernels)
        self.none = np.full((len(goals), len(GRID) + 1), np.nan, np.float32)
        self.known = self.plans(triangles, self.none).values

    def plans(self, triangles: np.ndarray, values: np.ndarray) -> mdp.Plans:
        return mdp.plan_moves(GRID, triangles, self.goals, self.batch, values, np.isnan(values[:, 0]))

    @property
    def moved(self) -> np.ndarray:
        noise = np.random.default_rng(1).normal(size=self.triangles.shape)
        return self.triangles + MOVED * noise * np.abs(self.triangles).max(axis=(1, 2), keepdims=True)

    def process(self, agent: int, triangles: np.ndarray) -> tc.LocalMDP:
        kernel = self.kernels[agent % len(self.kernels)]
        return tc.LocalMDP(GRID, triangles[agent], int(self.goals[agent]), kernel=kernel)


def joined(kernels: list[mdp.Kernel]) -> mdp.KernelBatch:
    """Kernels of single agents as one batch."""
    parts = [mdp.kernel_batch(kernel) for kernel in kernels]
    starts = np.cumsum([0, *(len(part.indices) for part in parts[:-1])])
    indptr = np.concatenate([part.indptr + start for part, start in zip(parts, starts, strict=True)])
    return mdp.KernelBatch(indptr, *(np.concatenate(rows) for rows in list(zip(*parts, strict=True))[1:]))


def slipping() -> Team:
    rng = np.random.default_rng(35)
    return Team([mdp.slip(GRID, 0.1)], rng.normal(size=(AGENTS, 3, 2)), rng.integers(0, len(GRID), AGENTS))


def gusty() -> Team:
    """Gusts of one to four cells, chance 0.3 and 0.5, in all directions."""
    rng = np.random.default_rng(36)
    triangles, kernels = rng.normal(size=(AGENTS, 3, 2)), []
    for agent, corners in enumerate(triangles):
        cell = np.sqrt(abs(np.linalg.det(corners[1:] - corners[0])) / 2) / GRID.resolution
        way, length = rng.uniform(0, 2 * np.pi), 1 + agent % 4
        gust = length * cell * np.array([np.cos(way), np.sin(way)])
        kernels.append(gusts(GRID, corners, (0.3, 0.5)[agent // 4 % 2], gust))
    return Team(kernels, triangles, rng.integers(0, len(GRID), AGENTS))


def plan_rows(name: str, team: Team, cold: int | None, warm: int | None) -> Iterator[Row]:
    """How long plans take on one core."""
    starts = {
        "cold": (team.triangles, team.none, cold),
        "warm": (team.moved, team.known, warm),
        "nothing changed": (team.triangles, team.known, None),
    }
    for start, (triangles, values, wanted) in starts.items():
        with one_thread():
            (time,) = best_of(own_timer(lambda t=triangles, v=values: team.plans(t, v)))
        each, sweeps = time / AGENTS, team.plans(triangles, values).sweeps.mean()
        bound = wanted or COLD
        note = f"{1 / each:,.0f} a second; {sweeps:.1f} sweeps"
        kept = None if wanted is None else 1
        yield Row(f"plan, {name}, {start}, one core", span(each), span(1 / bound), 1 / each / bound, kept, note=note)


def peer_rows(peer: Worker, name: str, team: Team, wanted: float | None) -> Iterator[Row]:
    """The same processes in QuantEcon and mdpsolver; first that all find the same values."""
    processes = [team.process(agent, team.triangles) for agent in range(PROBLEMS)]
    some = team.known[:PROBLEMS, :-1].astype(float)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{number:02}.npz") for number in range(PROBLEMS)]
        for process, path, shaped in zip(processes, paths, some, strict=True):
            write(process, path, SURE * (1 + np.abs(shaped).max()) * process.problem.unit)
        method = peer.fastest(folder=folder)
        theirs = np.array(peer.values(folder=folder, method=method))[:, : len(GRID)]
        off = max(
            np.abs(process.problem.shaped(-value)[: len(GRID)] - shaped).max() / (1 + np.abs(shaped).max())
            for process, value, shaped in zip(processes, theirs, some, strict=True)
        )
        yield Row(f"values differ by: plans, {name}", f"{off:.1e}", f"QuantEcon, {method}", off, SURE, at_most=True)
        with one_thread():
            first = Team(team.kernels[:PROBLEMS], team.triangles[:PROBLEMS], team.goals[:PROBLEMS])
            ours = timer(lambda: first.plans(first.triangles, first.none))
            single = lambda: peer.mdpsolver_solve(path=str(paths[0]))  # noqa: E731
            mine, other, alone_ = best_of(ours, lambda: peer.quantecon(folder=folder, method=method), single)
        note = f"QuantEcon, {method.replace('_', ' ')}"
        yield Row(f"{PROBLEMS} plans, {name}, cold, one core", span(mine), span(other), other / mine, wanted, note=note)
        each = mine / PROBLEMS
        note = "mdpsolver, modified policy iteration, all cores, the first of them"
        yield Row(f"1 plan, {name}, cold, one core", span(each), span(alone_), alone_ / each, note=note)


def step_rows(agents: int) -> Iterator[Row]:
    """Whole steps of a team of agents that learn, or know a slip, on one core: moving and settled; and its memory."""
    for name, kernel in (("learned", "learned"), ("10% slip", {"slip": 0.1})):
        control = {"motion": "walk", "resolution": 35, "kernel": kernel}
        how = {"control": control, "stop_when_settled": False, "threads": 1}
        with files(**field(agents, agents)) as paths:
            with alone("teams.py") as us:
                moving = us.simulate(**paths, **how, steps=8)
                peak = us.peak
            with alone("teams.py") as us:
                still = us.simulate(**paths, **how, steps=70, settled=True)
        busy = [time for time, share in zip(moving["steps"], moving["moving"], strict=True) if share > 0.8]
        idle = [time for time, share in zip(still["steps"], still["moving"], strict=True) if share == 0]
        what, mean = f"walk, {power(agents)} agents, {name}, one core", float(np.mean(idle))
        rate = moving["followers"] / min(busy)
        yield Row(f"{what}: a step", span(min(busy)), "", rate, note="decisions a second, as the ratio")
        note = f"mean of {len(idle)}, the dearest {span(max(idle))}"
        yield Row(f"{what}: a settled step", span(mean), f"{span(min(busy))} moving", min(busy) / mean, 10, note=note)
        yield Row(f"{what}: peak memory of the process", amount(peak), "1 GiB", peak / 2**30, 1, at_most=True)


def rows() -> Iterator[Row]:
    with worker("peers/mdp.py") as peer:
        slip, gust = slipping(), gusty()
        yield from plan_rows("10% slip", slip, COLD, WARM)
        yield from peer_rows(peer, "10% slip", slip, 5)
        yield from plan_rows("gusts", gust, None, WARM)
    yield from step_rows(size(10_000))
