"""Whom the agents of a fleet take for alive, and who then listens to whom.

Everybody says whom it took for alive when it acted, and acts on the network of those. As long as not all believe the
same there are several networks at once, each among those who act on it. A map shows all of them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network
from tricover.studio.messages import links_of

__all__ = ["Belief", "Links", "beliefs_of", "links_among"]


class Belief(NamedTuple):
    """Whom some agents take for alive, (N,)."""

    living: NDArray[np.bool_]
    held_by: frozenset[int]


class Links(NamedTuple):
    """Who listens to whom as a map shows it: everybody in the network that it acts on.

    Attributes:
        heard: (N, 3), -1: nobody.
        layer: (N,), -1: lost, -2: not on the roster yet.
        boundary: of all networks, those who act on them.
        cores: at most one of each network.
        depth: of the deepest.
    """

    heard: NDArray[np.int64]
    layer: NDArray[np.int64]
    boundary: list[int]
    cores: list[int]
    depth: int

    def are(self, other: "Links") -> bool:
        """Whether a map of both looks the same."""
        same = np.array_equal(self.heard, other.heard) and np.array_equal(self.layer, other.layer)
        return same and self[2:] == other[2:]


def beliefs_of(living: Mapping[int, NDArray[np.bool_]]) -> list[Belief]:
    """All beliefs of some agents, that of most first.

    Args:
        living: by agent, whom it takes for alive, (N,).
    """
    held: dict[bytes, set[int]] = {}
    for agent, flags in living.items():
        held.setdefault(flags.tobytes(), set()).add(agent)
    ordered = sorted(held.items(), key=lambda item: (-len(item[1]), min(item[1])))
    return [Belief(np.frombuffer(flags, np.bool_), frozenset(who)) for flags, who in ordered]


def links_among(most: Network, agents: int, others: Sequence[tuple[Belief, Network]]) -> Links:
    """The network of most, and in it those who act on another one as that has them.

    Args:
        most: the network of most, of those who are lost, and of those who have said nothing.
        agents: how many rows there are.
        others: other beliefs, with their networks.
    """
    heard, layer = links_of(most, agents)
    boundary, cores = most.boundary.tolist(), [int(most.core)]
    for belief, network in others:
        own = [agent for agent in sorted(belief.held_by) if agent < len(network)]
        heard[own] = network.in_neighbors[own]
        layer[own] = network.layer[own]
        boundary += [agent for agent in network.boundary.tolist() if agent in belief.held_by]
        cores += {int(network.core)} & belief.held_by
    depth = max([most.depth, *(network.depth for _, network in others)])
    return Links(heard, layer, boundary, cores, depth)
