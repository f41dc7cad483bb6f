"""A small study, and the plain loop that it must agree with, to the bit."""

import itertools

import tricover as tc

TEAM = [[0, 0], [8, 0], [8, 8], [0, 8], [4, 4], [2, 3], [6, 2], [5, 6], [2, 6], [3, 1]]


def scenario(**changes):
    """Ten agents over forty targets, that land anywhere in their reach sets."""
    corners = [[0, 0], [8, 0], [8, 8]]
    plain = tc.Scenario(
        name="small",
        reference=TEAM,
        targets={"generator": "polygon", "count": 40, "corners": corners},
        control={"motion": "walk", "resolution": 4},
        vehicle="anywhere",
        steps=12,
    )
    return plain.replace(**changes)


def facts(run):
    """A measure of one's own."""
    return {"sum": float(run.positions.sum()), "last": run.steps}


def combinations(over):
    """What a grid means."""
    return [dict(zip(over, values, strict=True)) for values in itertools.product(*over.values())]


def plain_loop(given, over):
    """The default measures, run by run, by the public interface alone; None where there is none."""
    found = []
    for row in combinations(over):
        nested = {}
        for key, value in row.items():
            section, _, name = key.partition(".")
            nested = {**nested, section: {**nested.get(section, {}), name: value}} if name else {**nested, key: value}
        run = tc.simulate(given.replace(**nested))
        found.append(
            {
                **row,
                "settled_at": run.settled_at,
                "converged": run.converged,
                "steps": run.steps,
                "depth": run.network.depth,
                "coverage_cost": tc.coverage_cost(run.positions[-1], run.targets),
                "separation": tc.separation(run.positions).distance,
                "misses": run.missed,
                "error": None,
            }
        )
    return found


def values(table):
    """The rows of a table as plain values, None where there is none: floats to the bit."""
    columns = {
        name: [
            None if missing else value for value, missing in zip(table[name].tolist(), table[name].isna(), strict=True)
        ]
        for name in table
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def middle(network):
    """A goal rule: everybody goes to the middle of its triangle."""
    return lambda agents, triangles, targets: triangles.mean(axis=1)
