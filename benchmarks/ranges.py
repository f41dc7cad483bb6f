"""How coverage falls as the range shrinks within which agents hear of each other, for Lloyd in the triangle.

Scattered teams, cost over that of converged Lloyd's, mean of eight teams. Ranges are in mean spacings √(area/N) of the
team on its field: with R an agent hears others within R and counts targets within R/2.
"""

import numpy as np

import tricover as tc
from benchmarks.coverage import FIELDS, SEEDS, field, scenario, team

RANGES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, None)


def ratio(name: str, agents: int, seed: int, goal: str, spacings: float | None) -> float:
    targets = field(name, seed)
    reference = team("scattered", agents, targets, seed)
    area = float(np.prod(np.ptp(targets.points, axis=0)))
    within = {} if spacings is None else {"range": spacings * (area / agents) ** 0.5}
    run = tc.simulate(scenario(reference, targets, {"goal": goal, **within}, None))
    return tc.coverage_cost(run.positions[-1], targets) / tc.lloyd(reference, targets, None).cost


def main() -> None:
    """The table of docs/goals.md."""
    heads = ["as far as it takes" if one is None else f"{one:g}" for one in RANGES]
    print(f"| agents | targets | rule | {' | '.join(heads)} |\n|---|---|---|{'---|' * len(heads)}")
    for agents in (57, 200):
        for name in FIELDS[:2]:
            for goal in ("cellplan", "voronoi"):
                means = [np.mean([ratio(name, agents, seed, goal, one) for seed in SEEDS]) for one in RANGES]
                print(f"| {agents} | {name} | {goal} | {' | '.join(f'{mean:.2f}' for mean in means)} |", flush=True)


if __name__ == "__main__":
    main()
