"""Kernels of relays: searches in breadth over who is in range of whom.

Lists of others come one after another: those of agent i are others[offsets[i]:offsets[i + 1]].
"""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["search", "spread"]

Ints = NDArray[np.int64]


@kernel
def search(offsets: Ints, others: Ints, senders: Ints, receivers: Ints, most: int) -> Ints:
    """Hops (K,) from senders (K,), equal ones next to each other, to receivers (K,); -1: more than ``most``."""
    agents, found = len(offsets) - 1, np.full(len(senders), -1)
    hops, queue = np.full(agents, -1), np.empty(agents, np.int64)
    first = 0
    while first < len(senders):
        last, missing = first, 0
        # Those who listen to this sender: -2 marks whom the search is for.
        while last < len(senders) and senders[last] == senders[first]:
            if hops[receivers[last]] == -1:
                hops[receivers[last]] = -2
                missing += 1
            last += 1
        hops[senders[first]], queue[0] = 0, senders[first]
        head, tail = 0, 1
        while head < tail and missing and hops[queue[head]] < most:
            agent = queue[head]
            head += 1
            for place in range(offsets[agent], offsets[agent + 1]):
                other = others[place]
                if hops[other] < 0:
                    missing -= hops[other] == -2
                    hops[other], queue[tail] = hops[agent] + 1, other
                    tail += 1
        for row in range(first, last):
            found[row] = max(hops[receivers[row]], -1)
        # Only what was touched is made ready for the next sender.
        for row in range(first, last):
            hops[receivers[row]] = -1
        for place in range(tail):
            hops[queue[place]] = -1
        first = last
    return found


@kernel
def spread(offsets: Ints, others: Ints, sources: Ints) -> Ints:
    """Hops (N,) from the nearest source to everybody; -1: none leads there."""
    agents = len(offsets) - 1
    hops, queue = np.full(agents, -1), np.empty(agents, np.int64)
    tail = 0
    for source in sources:
        if hops[source] < 0:
            hops[source], queue[tail] = 0, source
            tail += 1
    head = 0
    while head < tail:
        agent = queue[head]
        head += 1
        for place in range(offsets[agent], offsets[agent + 1]):
            other = others[place]
            if hops[other] < 0:
                hops[other], queue[tail] = hops[agent] + 1, other
                tail += 1
    return hops
