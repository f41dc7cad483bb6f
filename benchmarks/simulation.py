"""Whole runs: settling a team beside Lloyd's algorithm and k-means from the same start, and the cost of a step.

Two starts. *Packed*: the team stands in the middle half of the field and is to spread over all of it, its four corners
and its core sent to the field's. *All over*: it stands anywhere in the field already; with as many targets as agents
Lloyd's algorithm has then next to nothing to do, since it stops where every agent is in the middle of its one or two
targets, and it is the better tool.

Lloyd's limit is that of a run until the cost falls by less than 10⁻⁴ in ten iterations, with the rest extrapolated.
Where the run is cut for time, the iterations that were still more than 1% above the *last* cost are counted: the true
number is larger, and so is the ratio. It gets twice the time that the bound needs, and eight minutes at most.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.compare import Row, amount, best_of, power, size, span
from benchmarks.workers import Worker, alone, files, worker

GIB = 2**30
CORNERS = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]])
HOW = {"anchors": {"positions": CORNERS.tolist()}, "network": {"mentee": "balanced", "core": 4}}
SIDES = {"packed": 0.5, "all over": 1.0}
PATIENCE = 480  # seconds for Lloyd's algorithm


def rows() -> Iterator[Row]:
    with worker("peers/points.py") as peer:
        million = size(1_000_000)
        yield from settling(peer, million, million, "packed", wanted=30)
        yield from settling(peer, million // 10, million, "all over")
        yield from settling(peer, million, million, "all over")
        yield from clusters(peer)
    yield from walking(size(100_000))


def field(agents: int, targets: int, side: float = 1.0) -> dict[str, np.ndarray]:
    """Targets in the unit square; a team in a square of that side in its middle, five of them at corners and centre."""
    rng = np.random.default_rng(0)
    team = rng.random((agents, 2))
    team[:5] = CORNERS
    return {"reference": 0.5 + side * (team - 0.5), "targets": rng.random((targets, 2))}


def settling(peer: Worker, agents: int, targets: int, start: str, wanted: float | None = None) -> Iterator[Row]:
    with files(**field(agents, targets, SIDES[start])) as paths, alone("teams.py") as us:
        ours = [us.simulate(**paths, **HOW)]
        patience = min(size(PATIENCE), 60 * ours[0]["seconds"])
        trace = peer.lloyd(**names(paths), most=1000, change=1e-4, patience=patience)
        ours.append(us.simulate(**paths, **HOW))
        what = f"{power(agents)} agents over {power(targets)} targets, {start}"
        yield from settled_rows(what, ours, trace, wanted)
        if (start, agents) == ("all over", targets):
            yield from step_rows(peer, agents, paths, ours)


def names(paths: dict[str, str]) -> dict[str, str]:
    return {"agents": paths["reference"], "targets": paths["targets"]}


def settled_rows(what: str, ours: list[dict], trace: dict, wanted: float | None) -> Iterator[Row]:
    iterations, cut = to_the_limit(trace["costs"], trace["settled"])
    theirs = sum(trace["seconds"][:iterations])
    mine = min(run["seconds"] for run in ours)
    least = "at least " if cut else ""
    note = f"Lloyd, KD-tree: {least}{iterations} iterations; ours {ours[0]['settled_at']} steps"
    data = {"lloyd": trace, "ours": ours}
    yield Row(f"settling {what}", span(mine), f"{least}{span(theirs)}", theirs / mine, wanted, note=note, data=data)
    costs = ours[0]["cost"], trace["costs"][-1]
    peer = f"{costs[1]:.3g} Lloyd{' when cut' if cut else ''}"
    yield Row(f"coverage cost then, {what}", f"{costs[0]:.3g}", peer, costs[0] / costs[1])
    peak = ours[0]["peak"]
    if wanted is not None:
        yield Row(f"peak memory of the process, {what}", amount(peak), "3 GiB", peak / (3 * GIB), 1, at_most=True)


def to_the_limit(costs: list[float], settled: bool) -> tuple[int, bool]:
    """Iterations until the cost is within 1% of its limit, and whether there are more of them than that."""
    if not settled:
        return int(np.sum(np.array(costs) > 1.01 * costs[-1])), True
    last, before = costs[-11] - costs[-1], costs[-21] - costs[-11] if len(costs) > 20 else np.inf
    rest = last * last / (before - last) if last < before else 0.0  # what a geometric series has left
    return int(np.sum(np.array(costs) > 1.01 * (costs[-1] - rest))), False


def step_rows(peer: Worker, agents: int, paths: dict[str, str], ours: list[dict]) -> Iterator[Row]:
    """One step in which nearly everybody moves, beside an iteration from the same positions."""
    iteration = names(paths)
    plain, in_order = best_of(
        lambda: peer.lloyd_iteration(**iteration), lambda: peer.lloyd_iteration(**iteration, in_order=True), goes=3
    )
    busy = [step for step, moving in enumerate(ours[0]["moving"]) if moving > 0.8]
    steps = [min(run["steps"][step] for run in ours) for step in busy]
    mine, dearest = float(np.mean(steps)), max(steps)
    what = f"one reach step, {power(agents)} agents and targets"
    note = f"Lloyd iteration; mean of {len(steps)} steps in which over 80% move, the dearest {span(dearest)}"
    yield Row(what, span(mine), span(plain), plain / mine, 5, note=note, data={"steps": ours[0]["steps"]})
    note = "Lloyd iteration with agents and targets sorted by place beforehand"
    yield Row(what, span(mine), span(in_order), in_order / mine, note=note)


def clusters(peer: Worker) -> Iterator[Row]:
    """k-means compares every target with every agent, so teams are small."""
    for agents, targets in ((57, size(1_000_000)), (1000, size(100_000))):
        with files(**field(agents, targets)) as paths, alone("teams.py") as us:
            theirs = peer.kmeans(**names(paths))
            ours = [us.simulate(**paths, **HOW) for _ in range(2)]
        mine = min(run["seconds"] for run in ours)
        what = f"settling {power(agents)} agents over {power(targets)} targets, all over"
        worse = ours[0]["cost"] / theirs["cost"]
        note = f"scikit-learn KMeans, {theirs['iterations']} iterations; our cost over its {worse:.2f}"
        yield Row(what, span(mine), span(theirs["seconds"]), theirs["seconds"] / mine, note=note)


def walking(agents: int) -> Iterator[Row]:
    """Whole steps of the walk, from sensing to keeping, while everybody moves and when nobody does."""
    control = {"motion": "walk", "resolution": 35}
    how = {"control": control, "stop_when_settled": False, "steps": 6}
    with files(**field(agents, agents)) as paths, alone("teams.py") as us:
        moving = us.simulate(**paths, **how, threads=1)
        still = us.simulate(**paths, **how, threads=1, settled=True)
    busy = [time for time, share in zip(moving["steps"], moving["moving"], strict=True) if share > 0.8]
    idle = [time for time, share in zip(still["steps"], still["moving"], strict=True) if share == 0]
    rate = moving["followers"] / min(busy)
    what = f"walk, {power(agents)} agents, resolution 35, one core"
    least = min(share for share in moving["moving"] if share > 0.8)
    note = f"{rate:,.0f} decisions a second in whole steps in which {least:.0%} or more move"
    yield Row(f"{what}: a decision", span(min(busy) / moving["followers"]), "10 µs", rate / 1e5, 1, note=note)
    ratio = min(busy) / min(idle)
    yield Row(f"{what}: a settled step", span(min(idle)), f"{span(min(busy))} moving", ratio, 20)
