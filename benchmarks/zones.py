"""Decisions of ``walk`` a second, on one core, with zones: far from all of them, and near one.

A team of 100,000 agents at the paper's resolution over a field with a thousand zones of eight corners. Near are those
whose own triangle a zone touches, so that they forbid cells, and walk around them.
"""

from collections.abc import Iterator

import numpy as np

import tricover as tc
from benchmarks.compare import Row, best_of, span, timer
from benchmarks.workers import one_thread
from tricover.control import Told, View, decide
from tricover.geometry import as_zones

AGENTS, NEAR, SIDE = 100_000, 20_000, 1000.0
LATTICE = 32  # zones along each side


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(17)
    network = tc.build_network(rng.uniform(0, SIDE, (AGENTS, 2)), mentee="balanced")
    targets = tc.Targets(rng.uniform(0, SIDE, (10_000, 2)))
    paths, followers = network.reference[None, network.anchors], network.followers
    heard = network.reference[network.in_neighbors[followers]]
    everybody = View(0, followers, network.reference[followers], heard, targets)
    for name, centres, wanted in (
        ("no zone near", rng.uniform(2 * SIDE, 3 * SIDE, (LATTICE**2, 2)), 1e5),
        ("a zone near", _lattice(rng), 1e4),
    ):
        zones = tuple(centre + _octagon(rng) for centre in centres)
        told = Told(network, paths, motion="walk", zones=as_zones(zones).polygons)
        plain = Told(network, paths, motion="walk")
        view = everybody if wanted == 1e5 else everybody.rows(_near(everybody, told))
        with one_thread():
            decide(view, told, {})
            time, without = best_of(
                timer(lambda view=view, told=told: decide(view, told, {})),
                timer(lambda view=view, told=plain: decide(view, told, {})),
            )
        rate = len(view.agents) / time
        note = f"{rate:,.0f} a second, {len(view.agents):,} agents, {len(zones):,} zones; {time / without:.2f} times"
        note += " what they take without zones"
        each = span(time / len(view.agents))
        yield Row(f"decisions with {name}, one core", each, span(1 / wanted), rate / wanted, 1, note=note)


def _lattice(rng: np.random.Generator) -> np.ndarray:
    steps = (np.arange(LATTICE) + 0.5) * SIDE / LATTICE
    return np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) + rng.uniform(-5, 5, (LATTICE**2, 2))


def _octagon(rng: np.random.Generator) -> np.ndarray:
    angles = np.arange(8) * np.pi / 4
    radii = rng.uniform(1.0, 3.0, 8)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


def _near(view: View, told: Told) -> np.ndarray:
    """Followers in a free cell of a triangle that a zone touches."""
    assert told.obstacles is not None
    goals = told.local_goal(view.agents, view.heard, view.seen)
    status, state, start, _ = told.obstacles.goals(view.positions, view.heard, goals, told.grid).T
    return np.flatnonzero((status > 0) & (state >= 0) & (state == start))[:NEAR]
