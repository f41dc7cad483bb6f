"""How a network is cut into a top and parts; see ``simulation.in_parts`` for what these are.

A follower with more than P followers below it belongs to the top, and so do the mentees of first cells, as fitted
anchors ask how many followers each of these has. What is left below the top are whole subtrees of at most P agents.
They are taken in the order in which one walks through the tree, so that neighbours come together, and put into parts
of about P agents.

The goal ``rollout`` simulates subtrees of up to R agents. Then P is at least R, and first cells with so few followers
belong to the top as a whole.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.network.structure import by_layer, children_of, parents_and_slots

__all__ = ["Cut", "cut_network"]

Ints = NDArray[np.int64]
Links = NDArray[np.int32]


class Cut(NamedTuple):
    """Rows of a network: followers of the top, and the agents of each part, ascending."""

    top: Ints
    parts: list[Ints]


def cut_network(in_neighbors: Links, layer: Links, descendants: Links, most: int, whole: int = 0) -> Cut:
    """Cut a network into its top and parts of about ``most`` agents; subtrees of up to ``whole`` stay in one piece.

    >>> from tricover.network import build_network
    >>> network = build_network(np.random.default_rng(1).random((100, 2)), "balanced")
    >>> top, parts = cut_network(network.in_neighbors, network.layer, network.descendants, 20)
    >>> len(top) + sum(map(len, parts)) == len(network.followers), max(map(len, parts)) <= 40
    (True, True)
    """
    sizes = 1 + descendants.sum(axis=1, dtype=np.int64)
    parents, _ = parents_and_slots(in_neighbors, layer)
    in_top = (layer > 0) & ((sizes > most) | (layer == 1))
    small = (layer == 1) & (sizes <= whole)
    for agents in by_layer(layer)[2:]:
        small[agents] = small[parents[agents]]
    in_top |= small
    roots = _roots_in_order(children_of(in_neighbors, layer), in_top, np.flatnonzero(layer == 1))
    part_of = np.full(len(layer), -1, np.int64)
    part_of[roots] = _bundled(sizes[roots], most)
    for agents in by_layer(layer)[2:]:
        below = agents[part_of[agents] < 0]  # the others are roots, or hang on the top
        inherited = part_of[parents[below]]
        part_of[below] = np.where(in_top[below], -1, inherited)
    members = np.flatnonzero(part_of >= 0)
    order = members[np.argsort(part_of[members], kind="stable")]
    cuts = np.searchsorted(part_of[order], np.arange(1, int(part_of.max(initial=-1)) + 1))
    return Cut(np.flatnonzero(in_top), [part for part in np.split(order, cuts) if len(part)])


def _roots_in_order(children: Ints, in_top: NDArray[np.bool_], first: Ints) -> Ints:
    """Agents right below the top, in the order in which one meets them walking down the tree."""
    waiting, roots = first[::-1].tolist(), []
    while waiting:
        agent = waiting.pop()
        if not in_top[agent]:
            roots.append(agent)
            continue
        waiting += [child for child in children[agent, ::-1].tolist() if child >= 0]
    return np.array(roots, np.int64)


def _bundled(sizes: Ints, most: int) -> Ints:
    """To which part each subtree belongs, (R,): a part is full when one more would make it larger than ``most``."""
    bundle, held, found = 0, 0, np.empty(len(sizes), np.int64)
    for place, size in enumerate(sizes.tolist()):
        if held and held + size > most:
            bundle, held = bundle + 1, 0
        found[place], held = bundle, held + size
    return found
