"""What learning in the loop is worth, and whether its intervals are right.

    python -m benchmarks.learning

prints the tables of docs/learning.md. Agents and the truth about their gusts are those of ``gusty_agents``.

- *Worth.* What the policy that believes in success loses of the optimal value under the true kernel, computed exactly,
  and how much of that the learned policy wins back after so many recorded moves.
- *Intervals.* How many of the 95% intervals hold the true chance, of hundreds of agents in gusts that are alike, that
  spread, and that are likelier in some places than in others.
- *Changes.* How many moves it takes to follow gusts that turn.
- *Jumps.* Whole runs with targets that jump: how many steps until agents are at their new goals.
- *Price.* How much longer a run takes with learning where there is nothing to learn.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tricover as tc
from benchmarks.compare import Row, best_of, quick, span, timer
from benchmarks.gusty_agents import (
    Kept,
    Weather,
    certain_policies,
    learned_policies,
    recorded_moves,
    together,
    true_measures,
    truth_of,
    weather_of,
)
from tricover.mdp import estimate_records

Floats = NDArray[np.float64]

CHANCES, LENGTHS, RESOLUTIONS = (0.3, 0.5), (1, 2, 3, 4), (12, 35)
MARKS = (50, 100, 200, 500, 1000, 2000)
GOALS = 5  # for which policies are compared
TURN = 1000  # moves before gusts turn
#: Spread in cells, and unevenness; see ``Weather``.
WEATHERS = {"alike": (0.0, 0.0), "spread by 0.7 cells": (0.7, 0.0), "likelier at a corner by 60%": (0.0, 0.6)}
JUMP, JUMPS = 100, 8  # steps between jumps, and how many there are
#: Of whole runs: whether anchors stand still, or are in the gusts, too.
TEAMS = {"anchors stand": True, "all in gusts": False}


def seeds(full: int = 20) -> range:
    return range(4 if quick() else full)


@cache
def worth(resolution: int, count: int) -> Floats:
    """Shares of the optimal value that are lost, (conditions, seeds, 1 + marks): by belief in success, and by marks."""
    grid = tc.CellGrid(resolution)
    weather = together([weather_of(grid, *one, range(count)) for one in product(CHANCES, LENGTHS)])
    known = recorded_moves(grid, weather, MARKS)
    lost = [losses(grid, weather, list(known.values()), goal) for goal in range(GOALS)]
    return np.mean(lost, axis=0).reshape(len(CHANCES) * len(LENGTHS), count, -1)


def losses(grid: tc.CellGrid, weather: Weather, known: Sequence[Kept], number: int = 0) -> Floats:
    """What agents lose of the optimal value (A, 1 + K), by belief in success and by what they know; random goals."""
    goals = np.random.default_rng([3, number]).integers(len(grid), size=len(weather.chances))
    policies = [certain_policies(grid, weather, goals), *(learned_policies(grid, weather, goals, k) for k in known)]
    agents = zip(weather.triangles, weather.chances, weather.gusts, goals, strict=True)
    truths = [truth_of(grid, triangle, chance, gust, int(goal)) for triangle, chance, gust, goal in agents]
    return np.array([truth.lost([one[agent] for one in policies]) for agent, truth in enumerate(truths)])


def held(kind: str, agents: int, marks: Sequence[int], resolution: int = 12) -> Floats:
    """Shares (marks,) of the entries whose 95% interval holds the true chance, mean over agents in random gusts."""
    grid, rng = tc.CellGrid(resolution), np.random.default_rng(1)
    spread, uneven = WEATHERS[kind]
    plain = weather_of(grid, 1.0, 1.0, range(agents))
    sizes = np.linalg.norm(plain.gusts, axis=1)
    chances, lengths = rng.uniform(0.05, 0.5, agents), rng.uniform(0.5, 4, agents)
    weather = Weather(plain.triangles, chances, plain.gusts * lengths[:, None], spread * sizes, uneven)
    known = recorded_moves(grid, weather, marks)
    shares = np.empty((len(marks), agents))
    for agent in range(agents):
        truth = true_measures(grid, weather, agent)
        shares[:, agent] = [_held(grid, kept, agent, truth) for kept in known.values()]
    return np.asarray(shares.mean(axis=1))


def _held(grid: tc.CellGrid, kept: Kept, agent: int, truth: Floats) -> float:
    found = estimate_records(grid, kept.records[agent], int(kept.recorded[agent]))
    low, high = found.interval(0.95)
    rows = np.repeat(np.arange(len(grid)), np.diff(found.kernel.measures.indptr))
    chances = truth[rows, found.kernel.measures.indices]
    return float(((low.data <= chances) & (chances <= high.data)).mean())


def followed(count: int, resolution: int = 12, degrees: float = 120.0) -> dict[int, tuple[float, float, float]]:
    """Means after gusts have turned, by moves since: what is lost by belief in success and by what is known, and how
    near the known kernel is to the new one: 1 where it is that, 0 where it is the old one.
    """
    grid = tc.CellGrid(resolution)
    first = together([weather_of(grid, 0.4, length, range(count)) for length in (1, 2, 3)])
    later, since = first.turned(degrees), (0, 50, 100, 200, 300, 400, 500, 600, 800, 1000)
    known = recorded_moves(grid, first, [TURN + moves for moves in since], later, TURN)
    lost = np.mean([losses(grid, later, list(known.values()), goal) for goal in range(GOALS)], axis=0).mean(axis=0)
    near = [np.mean(_nearness(grid, first, later, kept)) for kept in known.values()]
    return {moves: (lost[0], lost[1 + k], float(near[k])) for k, moves in enumerate(since)}


def _nearness(grid: tc.CellGrid, first: Weather, later: Weather, kept: Kept) -> list[float]:
    """Of each agent: how far its kernel is from the old one, as a share of its ways to the old and to the new one."""
    found = []
    for agent in range(len(first.chances)):
        known = estimate_records(grid, kept.records[agent], int(kept.recorded[agent])).kernel.measures.toarray()
        ways = [np.abs(known - true_measures(grid, weather, agent)).sum() for weather in (first, later)]
        found.append(float(ways[0] / sum(ways)))
    return found


def jumping(seed: int, kernel: str, anchors_stand: bool, chance: float = 0.4, gust: float = 2.0) -> tc.Scenario:
    """A team of 12 on 100 m by 100 m whose targets jump; the gusts come from somewhere, by 2 m."""
    rng = np.random.default_rng(seed)
    reference = rng.random((12, 2)) * 100
    clusters = rng.uniform(20, 80, (JUMPS, 1, 2)) + 12 * rng.normal(size=(JUMPS, 40, 2))
    angle = rng.uniform(0, 2 * np.pi)
    vehicle: dict[str, Any] = {"kind": "gusty", "chance": chance}
    vehicle["gust"] = [float(gust * np.cos(angle)), float(gust * np.sin(angle))]
    if anchors_stand:
        anchors = tc.build_network(reference, "balanced").anchors.tolist()
        vehicle["others"] = [{"agents": anchors, "kind": "exact"}]
    return tc.Scenario(
        reference=reference,
        targets=tc.Targets(np.repeat(clusters, JUMP, axis=0)),
        network={"mentee": "balanced"},
        vehicle=vehicle,
        control={"motion": "walk", "kernel": kernel},
        steps=JUMP * JUMPS - 1,
        seed=seed,
        stop_when_settled=False,
    )


def arrival(run: tc.Run) -> tuple[float, float]:
    """Steps from a jump until an agent is in its goal cell, at most those to the next; metres to the goal on average.

    Means over followers and all jumps but the start.
    """
    followers = run.network.followers
    there = run.states[:, followers] == run.goal_cells[:, followers]
    taken = []
    for jump in range(JUMP, run.steps - JUMP + 2, JUMP):
        part = there[jump : jump + JUMP]
        taken.append(np.where(part.any(axis=0), part.argmax(axis=0), len(part)))
    grid = tc.CellGrid(run.scenario.control.resolution)
    triangles = run.positions[JUMP:-1][:, run.network.in_neighbors[followers]]
    weights = grid.weights[np.maximum(run.goal_cells[JUMP:, followers], 0)]
    goals = np.einsum("tfk,tfkx->tfx", weights, triangles)
    away = np.linalg.norm(run.positions[JUMP:-1, followers] - goals, axis=2)
    return float(np.mean(taken)), float(away.mean())


@cache
def arrivals(anchors_stand: bool, count: int) -> Floats:
    """Arrivals (seeds, 2, 2): for belief in success and for learning, steps and metres."""
    kernels = ("certain", "learned")
    return np.array(
        [[arrival(tc.simulate(jumping(seed, kernel, anchors_stand))) for kernel in kernels] for seed in range(count)]
    )


def price(agents: int, goes: int = 7) -> Row:
    """Time of a run with learning over that without, where no move fails."""
    rng = np.random.default_rng(agents)
    team = tc.Scenario(
        reference=rng.random((agents, 2)) * 100,
        targets=tc.Targets(np.repeat(rng.random((4, 4 * agents, 2)) * 100, 50, axis=0)),
        network={"mentee": "balanced"},
        control={"motion": "walk"},
        steps=199,
    )
    learning = team.replace(control={"kernel": "learned"})
    same = np.array_equal(tc.simulate(team).positions, tc.simulate(learning).positions)
    certain, learned = best_of(*(timer(lambda one=one: tc.simulate(one)) for one in (team, learning)), goes=goes)
    words = "same positions to the bit" if same else "POSITIONS DIFFER"
    ratio = learned / certain if same else np.inf
    return Row(f"price of learning, {agents} agents", span(learned), span(certain), ratio, 1.2, True, note=words)


def rows() -> Iterator[Row]:
    count = len(seeds())
    for resolution in RESOLUTIONS:
        lost = worth(resolution, count)
        means = lost.mean(axis=1)
        share = 1 - means[:, -1] / means[:, 0]
        nearer = (lost[:, :, -1] < lost[:, :, 0]).sum(axis=1)
        what, marks = f"resolution {resolution}, {MARKS[-1]} moves", "worst of 8 kinds of gusts"
        belief, known = f"{means[:, 0].mean():.3f} lost", f"{means[:, -1].mean():.4f} lost"
        yield Row(
            f"loss won back, {what}", known, belief, float(share.min()), 0.8, note=f"{marks}; mean {share.mean():.3f}"
        )
        others = lost[:, :, 0][lost[:, :, -1] >= lost[:, :, 0]]
        note = f"{marks}; mean {nearer.mean() / count:.3f}; where not, belief lost {others.max(initial=0):.2g}"
        yield Row(f"nearer to the optimum, {what}", known, belief, float(nearer.min() / count), 0.9, note=note)
    for kind in WEATHERS:
        share = float(held(kind, 40 if quick() else 300, (1000,))[0])
        wanted = None if "likelier" in kind else 0.9
        yield Row(f"95% intervals that hold, gusts {kind}", f"{share:.3f}", "0.95", share, wanted)
    yield _row_of_changes(followed(count))
    for team, stand in TEAMS.items():
        found = arrivals(stand, count)
        (certain, far), (learned, near) = found.mean(axis=0)
        better = int((found[:, 1, 0] < found[:, 0, 0]).sum())
        note = f"sooner in {better} of {count}; {far:.2f} m to the goal, {near:.2f} with learning"
        yield Row(
            f"arrival after jumps, {team}",
            f"{learned:.1f} steps",
            f"{certain:.1f} steps",
            learned / certain,
            1.0,
            True,
            note,
        )
    for agents in (50,) if quick() else (50, 500):
        yield price(agents)


def _row_of_changes(found: dict[int, tuple[float, float, float]]) -> Row:
    moves = next(moves for moves, (_, _, near) in found.items() if near > 0.5)
    belief, known, _ = found[1000]
    note = f"nearer to the new kernel after {moves} moves"
    return Row(
        "gusts that turn, 1000 moves later",
        f"{known:.4f} lost",
        f"{belief:.3f} lost",
        1 - known / belief,
        0.8,
        note=note,
    )


def main() -> None:
    """The tables of docs/learning.md."""
    count = len(seeds())
    print(
        f"| cells a side | chance | length, cells | lost | {' | '.join(f'{mark} moves' for mark in MARKS)} | nearer |"
    )
    print(f"|{'---|' * (5 + len(MARKS))}")
    for resolution in RESOLUTIONS:
        for (chance, length), lost in zip(product(CHANCES, LENGTHS), worth(resolution, count), strict=True):
            means = lost.mean(axis=0)
            shares = " | ".join(f"{100 * (1 - mean / means[0]):.1f}%" for mean in means[1:])
            nearer = int((lost[:, -1] < lost[:, 0]).sum())
            print(f"| {resolution} | {chance} | {length} | {100 * means[0]:.1f}% | {shares} | {nearer} of {count} |")
    marks = (100, 300, 1000, 2000)
    print(f"\n| gusts | {' | '.join(f'{mark} moves' for mark in marks)} |\n|{'---|' * (1 + len(marks))}")
    for kind in WEATHERS:
        shares = held(kind, 40 if quick() else 300, marks)
        print(f"| {kind} | {' | '.join(f'{100 * share:.1f}%' for share in shares)} |", flush=True)
    print(
        f"\n| moves since they turned | lost by belief | lost by learning | nearness to the new kernel |\n|{'---|' * 4}"
    )
    for moves, (belief, known, near) in followed(count).items():
        print(f"| {moves} | {100 * belief:.1f}% | {100 * known:.1f}% | {near:.2f} |", flush=True)
    print(f"\n| team | steps to arrive | with learning | metres to the goal | with learning | sooner |\n|{'---|' * 6}")
    for team, stand in TEAMS.items():
        found = arrivals(stand, count)
        (certain, far), (learned, near) = found.mean(axis=0)
        better = int((found[:, 1, 0] < found[:, 0, 0]).sum())
        print(f"| {team} | {certain:.1f} | {learned:.1f} | {far:.2f} | {near:.2f} | {better} of {count} |", flush=True)


if __name__ == "__main__":
    main()
