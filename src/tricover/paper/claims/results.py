"""Section VI and the abstract: what the runs of the 57 agents show."""

import numpy as np

from tricover.coverage import coverage_cost, lloyd
from tricover.paper.claims.claim import Claim, at_most, judged
from tricover.paper.measure import arrival, centroids, inside, triangles_of, weights_in
from tricover.paper.study import Study
from tricover.simulation import Run
from tricover.units import length

__all__ = [
    "agent_29",
    "agent_43",
    "caption",
    "covers",
    "desired_positions",
    "optimal",
    "reach_all",
    "walk_all",
    "within",
]

_DOMAIN = np.array([[0.0, 0.0], [120.0, 0.0], [60.0, 100.0]])
_POINT = 1e-9  # metres


def covers(study: Study) -> Claim:
    """The triangular domain."""
    targets = study.walk.targets.points
    held = int(inside(targets, _DOMAIN).sum())
    ends = [int(inside(run.positions[-1], _DOMAIN).sum()) for run in study.runs.values()]
    return Claim(
        "domain",
        "VI; Fig. 6",
        "The team covers a triangular domain, where the targets are.",
        f"{held} of {len(targets)} targets and, at the end, {min(ends)} of {len(study.network)} agents in the triangle",
        judged(held == len(targets) and min(ends) == len(study.network)),
        "Domain and targets are ours: uniform in a triangle with base 120 m and height 100 m.",
    )


def desired_positions(study: Study) -> Claim:
    """Eq. (31), from scratch."""
    run, network = study.reach, study.network
    found = centroids(run.targets.points, triangles_of(network, run.desired))
    off = float(np.abs(found - run.desired[network.followers]).max())
    return Claim(
        "desired-positions",
        "V, eq. (31); Fig. 6",
        "p_i of a follower is the centroid of the targets in its desired triangle, or of that triangle.",
        f"{len(found)} followers, to {at_most(off)} m",
        judged(off <= _POINT),
    )


def _all(run: Run) -> tuple[int | None, float]:
    """The first step from which on everybody is at p_i, and how far they are at the end."""
    steps = [arrival(run.positions[:, agent], run.desired[agent]) for agent in range(run.positions.shape[1])]
    last = None if None in steps else max(step for step in steps if step is not None)
    return last, float(np.linalg.norm(run.positions[-1] - run.desired, axis=1).max())


def reach_all(study: Study) -> Claim:
    """Fig. 7."""
    last, error = _all(study.reach)
    return Claim(
        "reach-all",
        "VI-A; Fig. 7",
        "With single-step reachability of h_i all agents converge to p_i.",
        f"all {len(study.network)} stand at p_i from step {last} on (largest distance {length(error)})",
        judged(last is not None and error <= _POINT),
        f"After depth + 1 = {study.network.depth + 1} steps at the latest: one for the anchors, one per layer.",
    )


def agent_29(study: Study) -> Claim:
    """Fig. 8: fewer than 40 steps."""
    run, network = study.reach, study.network
    step = arrival(run.positions[:, 28], run.desired[28])
    return Claim(
        "agent-29",
        "VI-A; Fig. 8",
        "Agent 29 reaches p_29 in fewer than 40 time steps.",
        f"at step {step}; the whole team at step {_all(run)[0]}",
        judged(step is not None and step < 40),
        f"Our agent 29 is in layer {network.layer[28]} of {network.depth}; the paper does not say where its own is.",
    )


def walk_all(study: Study) -> Claim:
    """Fig. 9."""
    last, error = _all(study.walk)
    return Claim(
        "walk-all",
        "VI-B; Fig. 9",
        "With the policy's walk from cell to cell and η = 0.05 all agents converge to p_i.",
        f"all {len(study.network)} stand at p_i from step {last} on (largest distance {length(error)})",
        judged(last is not None and error <= _POINT),
        "The paper names no number of steps here. An agent moves one cell a step, so this takes longer than VI-A.",
    )


def agent_43(study: Study) -> Claim:
    """Fig. 10."""
    run = study.walk
    step = arrival(run.positions[:, 42], run.desired[42])
    return Claim(
        "agent-43",
        "VI-B; Fig. 10",
        "The x and y of agent 43 converge to p_43.",
        f"at p_43 from step {step} on",
        judged(step is not None),
    )


def within(study: Study) -> Claim:
    """Every follower in its own triangle, at all times."""
    network, least, count = study.network, np.inf, 0
    for run in (study.walk, study.anywhere):
        for before, after in zip(run.positions[:-1], run.positions[1:], strict=True):
            weights = weights_in(after[network.followers], triangles_of(network, before))
            least, count = min(least, float(weights.min())), count + len(weights)
    return Claim(
        "walk-contained",
        "VI-B",
        "The closed-loop motion is spatially contained: r_i[t+1] lies in T_i[t].",
        f"{count} landings, least weight {least:.4f}",
        judged(least > 0),
    )


def optimal(study: Study) -> Claim:
    """Optimal in which sense?"""
    run, targets = study.reach, study.reach.targets
    cost, best = coverage_cost(run.desired, targets), lloyd(run.positions[0], targets).cost
    local = desired_positions(study).verdict == "holds"
    return Claim(
        "optimal",
        "Abstract",
        "The desired configuration optimally represents the targets. The paper names no measure.",
        f"mean squared distance {cost:.1f} m², {cost / best:.2f} times Lloyd's algorithm from the same start",
        judged(printed=cost <= best, ours=local),
        "Optimal only for each agent alone: p_i has the least squared distance to the targets in its own triangle.",
    )


def caption(study: Study) -> Claim:
    """A caption that is printed twice."""
    moved = np.linalg.norm(study.reach.desired - study.network.reference, axis=1)
    return Claim(
        "caption-6",
        "Fig. 6 against VI",
        "Fig. 6 shows the initial formation (its caption, that of Fig. 4); it shows the desired one (text).",
        f"initial and desired positions differ for {int((moved > _POINT).sum())} of {len(moved)} agents",
        judged(printed=float(moved.max()) <= _POINT, ours=float(moved.max()) > _POINT),
        "Ours shows the desired formation with the targets.",
    )
