"""Agents in gusts that decide, move and learn as the loop has it, and the exact truth about their gusts.

Each agent has a triangle of its own, far from all others, that does not move. It walks to one goal after another. With
probability ``chance`` a move ends ``gust`` metres off. ``decide`` and ``learn`` are the ones of the loop. What the
gusts do is drawn here.

The truth is worked out without the package's kernels and solvers: ends of moves by linear equations and rounding,
values of policies by sparse linear algebra, the optimum by Howard's policy iteration on these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve

import tricover as tc
from tricover.control import Told, View, decide
from tricover.control.memory import learn, memory_of
from tricover.control.records import learned_from
from tricover.mdp import learned_kernels, next_moves, plan_moves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TEAM = np.array([[0.0, 0.0], [10, 0], [10, 10], [0, 10], [5, 5], [3, 5]])
_APART = 1000.0  # metres between triangles
_MOST = 20  # steps for a move, on average, at most
_STAY = 40  # steps after which goals change


@dataclass(frozen=True, eq=False)
class Weather:
    """Triangles (A, 3, 2), and the gusts in them: how likely (A,), and where to (A, 2), in metres.

    ``spread`` (A,) is the standard deviation of gusts in each direction, in metres. ``uneven`` is the share by which
    gusts are likelier at the first corner than on average; at the opposite side they are half of that less likely.
    """

    triangles: Floats
    chances: Floats
    gusts: Floats
    spread: Floats | float = 0.0
    uneven: float = 0.0

    def chances_at(self, weights: Floats) -> Floats:
        """How likely gusts are in places with barycentric coordinates (A, 3), (A,)."""
        return self.chances * (1 + self.uneven * (1.5 * weights[:, 0] - 0.5))

    def blown(self, weights: Floats, rng: np.random.Generator) -> Floats:
        """Where gusts carry agents at places (A, 3) from where they would have landed, (A, 2)."""
        blown = rng.random(len(self.chances)) < self.chances_at(weights)
        spread = np.broadcast_to(self.spread, len(self.gusts))[:, None]
        gusts = self.gusts + spread * rng.normal(size=self.gusts.shape)
        return np.where(blown[:, None], gusts, 0.0)

    def turned(self, degrees: float) -> "Weather":
        """The same with gusts from elsewhere."""
        angle = np.radians(degrees)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return replace(self, gusts=self.gusts @ turn.T)


class Kept(NamedTuple):
    """Records (A, W, 3), and how many each agent ever made (A,)."""

    records: NDArray[np.integer]
    recorded: Ints


def weather_of(grid: tc.CellGrid, chance: float, cells: float, seeds: Sequence[int]) -> Weather:
    """A random triangle for each seed, and gusts in a random direction; a cell is as long as √(its area)."""
    rngs = [np.random.default_rng([seed, 5]) for seed in seeds]
    triangles = np.array([rng.normal(size=(3, 2)) * 20 for rng in rngs])
    angles = np.array([rng.uniform(0, 2 * np.pi) for rng in rngs])
    first, second = (triangles[:, k] - triangles[:, 0] for k in (1, 2))
    areas = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / 2
    lengths = cells * np.sqrt(areas) / grid.resolution
    gusts = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return Weather(triangles, np.full(len(angles), chance), gusts)


def together(parts: Sequence[Weather]) -> Weather:
    """Several of them as one, one after the other."""
    return Weather(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("triangles", "chances", "gusts"))
    )


def recorded_moves(
    grid: tc.CellGrid,
    weather: Weather,
    marks: Sequence[int],
    later: Weather | None = None,
    turn: int = 0,
    window: int = 1000,
    seed: int = 0,
) -> dict[int, Kept]:
    """What agents have recorded when they have made as many moves as each of ``marks`` says.

    ``later`` is the weather of those who have made ``turn`` moves.
    """
    count, rng = len(weather.chances), np.random.default_rng([seed, 9])
    told = _told(grid, window)
    apart = weather.triangles + _APART * np.arange(count)[:, None, None]
    memory, positions = memory_of(told, apart.mean(axis=1)), apart.mean(axis=1)
    agents = np.full(count, told.network.followers[0])
    found = {mark: Kept(memory["records"].copy(), np.zeros(count, np.int64)) for mark in marks}
    step, seen = 0, tc.Targets(positions)
    while (memory["recorded"] < max(marks)).any():
        assert step < _MOST * max(marks), "these gusts let somebody hardly ever move"
        if step % _STAY == 0:
            goals = rng.integers(len(grid), size=count)
            seen = tc.Targets(np.einsum("ak,akx->ax", grid.weights[goals], apart))
        view = View(step, agents, positions, apart, seen)
        decision = decide(view, told, memory)
        assert decision.cells is not None, "who learns walks"
        blown = weather.blown(grid.weights[decision.cells.next], rng)
        if later is not None:
            turned = memory["recorded"] >= turn
            blown[turned] = later.blown(grid.weights[decision.cells.next], rng)[turned]
        positions = decision.setpoints + blown
        before, memory = memory["recorded"], learn(view, told, memory, decision, positions)
        _keep(found, before, memory)
        step += 1
    return found


def _told(grid: tc.CellGrid, window: int) -> Told:
    network = tc.build_network(_TEAM)
    places = _TEAM[None, network.anchors]
    return Told(network, places, motion="walk", resolution=grid.resolution, kernel="learned", window=window)


def _keep(found: dict[int, Kept], before: Ints, memory: dict[str, NDArray[np.integer]]) -> None:
    """Write down the records of those who have just made so many moves."""
    for mark, kept in found.items():
        rows = np.flatnonzero((before < mark) & (memory["recorded"] >= mark))
        if rows.size:
            records, recorded = learned_from({name: values[rows] for name, values in memory.items()})
            kept.records[rows], kept.recorded[rows] = records, recorded


def learned_policies(grid: tc.CellGrid, weather: Weather, goals: Ints, kept: Kept) -> Ints:
    """The cells (A, M²) to which agents go that know this much, as they plan in the loop."""
    kernels, certain = learned_kernels(grid, *kept)
    nothing = np.zeros((len(goals), len(grid) + 1), np.float32), np.ones(len(goals), np.bool_)
    plans = plan_moves(grid, weather.triangles, goals, kernels, *nothing)
    around = np.column_stack([grid.neighbors, np.arange(len(grid))])
    cells = np.arange(len(grid))
    planned = np.array([around[cells, slots] for slots in plans.policy])
    return np.where(certain[:, None], certain_policies(grid, weather, goals), planned)


def certain_policies(grid: tc.CellGrid, weather: Weather, goals: Ints) -> Ints:
    """The cells (A, M²) to which agents go that believe in success."""
    cells = np.arange(len(grid))
    return np.array(
        [
            next_moves(grid, np.repeat(triangle[None], len(cells), axis=0), np.full(len(cells), goal), cells)
            for triangle, goal in zip(weather.triangles, goals, strict=True)
        ]
    )


@dataclass(frozen=True, eq=False)
class Truth:
    """One agent's decision process as it is: chances (M²+1, M²+1) of ends by the intended cell, and costs (M²+1,)."""

    ends: sparse.csr_array
    costs: Floats
    around: Ints
    """(M²+1, 4) cells to choose from; outside it is the cell around the centroid."""
    gamma: float = 0.95

    def value(self, intended: Ints) -> Floats:
        """(M²+1,) of always going from each state to the intended cells (M²+1,)."""
        moves = sparse.eye_array(len(self.costs)) - self.gamma * self.ends[intended]
        return np.asarray(spsolve(sparse.csc_array(moves), self.costs))

    def best(self, intended: Ints) -> Floats:
        """(M²+1,) the optimal value, by policy iteration from some policy."""
        states = np.arange(len(self.costs))
        while True:
            value = self.value(intended)
            choices = (self.ends @ value)[self.around]
            better = choices.min(axis=1) < choices[states, (self.around == intended[:, None]).argmax(axis=1)] - 1e-9
            if not better.any():
                return value
            intended = np.where(better, self.around[states, choices.argmin(axis=1)], intended)

    def lost(self, policies: Sequence[Ints]) -> list[float]:
        """What policies (M²,) lose of the optimal value, as shares of it, averaged over the cells."""
        whole = [np.append(policy, self.around[-1, 0]) for policy in policies]
        best = self.best(whole[0])
        scale = np.abs(best[:-1]).mean()
        return [float((self.value(policy) - best)[:-1].mean() / scale) for policy in whole]


def truth_of(grid: tc.CellGrid, triangle: Floats, chance: float, gust: Floats, goal: int) -> Truth:
    """The truth about one agent: states are the cells, and outside as the last."""
    cells, centres = len(grid), grid.weights @ triangle
    landed = cells_of_points(grid, triangle, centres + gust)
    # The last row is that of no intention at all: nobody looks at it.
    own = np.append(np.arange(cells), cells)
    ends = sparse.csr_array(
        sparse.coo_array(
            (
                np.repeat([1 - chance, chance], cells + 1),
                (np.tile(own, 2), np.concatenate([own, landed, [cells]])),
            ),
            shape=(cells + 1, cells + 1),
        )
    )
    sides = np.linalg.norm(triangle - np.roll(triangle, 1, axis=0), axis=1)
    costs = np.append(np.linalg.norm(centres - centres[goal], axis=1), sides.max())
    costs[goal] = -tc.LocalMDP(grid, triangle, goal).beta
    back = int(
        grid.locate([1 / 3, 1 / 3, 1 / 3])
    )  # on the edge of several cells where the resolution is a multiple of 3
    around = np.column_stack(
        [np.where(grid.neighbors < 0, np.arange(cells)[:, None], grid.neighbors), np.arange(cells)]
    )
    return Truth(ends, costs, np.vstack([around, np.full(4, back)]))


def cells_of_points(grid: tc.CellGrid, triangle: Floats, points: Floats) -> Ints:
    """The cells (K,) that hold points (K, 2), M² outside: by linear equations and rounding down."""
    rows = np.vstack([triangle.T, np.ones(3)])
    weights = np.linalg.solve(rows, np.vstack([points.T, np.ones(len(points))])).T
    numbers = _numbers(grid)
    wholes = np.floor(weights * grid.resolution).astype(np.int64).tolist()
    return np.array([numbers.get(tuple(whole), len(grid)) for whole in wholes])


def true_measures(grid: tc.CellGrid, weather: Weather, agent: int, draws: int = 20_000) -> Floats:
    """The chances (M², M²+1) of where an agent's moves end, by the intended cell; gusts that spread are drawn."""
    rng, numbers = np.random.default_rng(agent), _numbers(grid)
    spread = float(np.broadcast_to(weather.spread, len(weather.gusts))[agent])
    gusts = weather.gusts[agent] + spread * rng.normal(size=(draws if spread else 1, 2))
    moved = barycentric_moves(weather.triangles[agent], gusts) * grid.resolution
    found = np.zeros((len(grid), len(grid) + 1))
    for up, thirds in ((True, 1), (False, 2)):
        offsets, counts = np.unique(np.floor(moved + thirds / 3).astype(np.int64), axis=0, return_counts=True)
        for cell in np.flatnonzero(grid.up == up):
            chance = float(replace(weather, chances=weather.chances[agent]).chances_at(grid.weights[[cell]])[0])
            found[cell, cell] += 1 - chance
            ends = [numbers.get(tuple(end), len(grid)) for end in (grid.coordinates[cell] + offsets).tolist()]
            np.add.at(found[cell], ends, chance * counts / len(gusts))
    return found


def barycentric_moves(triangle: Floats, moves: Floats) -> Floats:
    """Moves (K, 2) in metres as changes (K, 3) of barycentric coordinates."""
    rows = np.vstack([triangle.T, np.ones(3)])
    return np.linalg.solve(rows, np.vstack([moves.T, np.zeros(len(moves))])).T


def _numbers(grid: tc.CellGrid) -> dict[tuple[int, ...], int]:
    return {tuple(cell): number for number, cell in enumerate(grid.coordinates.tolist())}
