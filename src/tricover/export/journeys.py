"""The way of each agent through a run, and who is who at each step: what several formats share."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network
from tricover.simulation import Run
from tricover.simulation.run import BLOCK

__all__ = ["Journey", "agents_of", "epochs_of", "journeys", "seconds"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Journey:
    """Where an agent was, from its first to its ``last`` step in the run.

    Standing still counts once: ``positions`` (K, 2) in metres, the ``steps`` (K,) at which each was reached, and the
    agent's ``layers`` (K,) there. A change of layer is a new entry, so that altitudes can follow it.
    """

    agent: int
    steps: Ints
    positions: Floats
    layers: Ints
    last: int


def journeys(run: Run) -> Iterator[Journey]:
    """The journeys of all agents that took part, in their order; the run is read once for as many as fit in memory."""
    agents = agents_of(run)
    group = max(1, BLOCK // (run.steps + 1))
    for first in range(0, agents, group):
        some = slice(first, first + group)
        positions, present = (
            np.concatenate([block[:, some] for _, block in run.blocks(name)]) for name in ("positions", "present")
        )
        layers = np.full(present.shape, -1)
        for start, stop, network in epochs_of(run):
            found = network.layer[some]
            layers[start:stop, : len(found)] = found
        for offset in np.flatnonzero(present.any(axis=0)).tolist():
            yield _journey(first + offset, present[:, offset], positions[:, offset], layers[:, offset])


def _journey(agent: int, present: NDArray[np.bool_], positions: Floats, layers: Ints) -> Journey:
    there = np.flatnonzero(present)
    where, layer = positions[there], layers[there]
    new = np.ones(len(there), np.bool_)
    new[1:] = (where[1:] != where[:-1]).any(axis=1) | (layer[1:] != layer[:-1])
    return Journey(agent, there[new], where[new], layer[new], int(there[-1]))


def epochs_of(run: Run) -> Iterator[tuple[int, int, Network]]:
    """Each network of a run, with its first step and the first step that is not its own any more, up to T + 1."""
    networks = [(epoch.start, epoch.network) for epoch in run.epochs]
    stops = [start for start, _ in networks[1:]] + [run.steps + 1]
    for (start, network), stop in zip(networks, stops, strict=True):
        yield start, stop, network


def agents_of(run: Run) -> int:
    """N: the length of the final roster, whoever of it was there."""
    return int(run.read("positions", 0, 1).shape[1])


def seconds(run: Run) -> float:
    """How long a step takes."""
    return run.scenario.vehicle.duration
