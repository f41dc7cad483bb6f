"""Chains of agents that pass a message on: each is within radio range of the next."""

import numpy as np
from numpy.typing import NDArray

from tricover.limits import check_room
from tricover.world import _relays

__all__ = ["MOST_RELAYS", "hops_between", "hops_from"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_RELAYS = 30
"""Agents that pass a message on at the most: what was sent in so many more steps is kept for it."""
_PAIR_BYTES = 48  # of two agents in range of each other, while they are sorted


def hops_between(positions: Floats, senders: Ints, receivers: Ints, radio: float, relays: bool) -> Ints:
    """Hops (K,) from senders (K,) to receivers (K,), with everybody at positions (N, 2): 1 is a direct link.

    -1: there is no chain. Who has no position (NaN) passes nothing on.
    """
    apart = positions[senders] - positions[receivers]
    direct = np.hypot(apart[:, 0], apart[:, 1]) <= radio
    hops = np.where(direct, 1, -1)
    far = np.flatnonzero(~direct & ~np.isnan(apart[:, 0]))
    if relays and far.size:
        order = far[np.argsort(senders[far], kind="stable")]  # one search serves all who listen to one sender
        offsets, others = _in_range(positions, radio)
        hops[order] = _relays.search(offsets, others, senders[order], receivers[order], MOST_RELAYS + 1)
    return hops


def hops_from(positions: Floats, sources: Ints, radio: float) -> Ints:
    """Hops (N,) from the nearest of some agents to everybody, 0 for themselves; -1: there is no chain."""
    return np.asarray(_relays.spread(*_in_range(positions, radio), sources))


def _in_range(positions: Floats, radio: float) -> tuple[Ints, Ints]:
    """Who is in range of whom, (N + 1,) and (L,): a list of others for each agent, one after another, ascending."""
    from scipy.spatial import KDTree

    here = np.flatnonzero(~np.isnan(positions[:, 0]))
    tree = KDTree(positions[here])
    count = int(tree.count_neighbors(tree, radio))
    check_room(count * _PAIR_BYTES, f"{count} links of {len(here)} agents within radio range")
    pairs = here[tree.query_pairs(radio, output_type="ndarray")].reshape(-1, 2)
    one, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((other, one))
    offsets = np.append(0, np.cumsum(np.bincount(one, minlength=len(positions))))
    return offsets, other[order]
