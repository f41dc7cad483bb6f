"""Random numbers as a function of seed, stream, step and agent.

Nothing is remembered between two draws. So any part of a team can be drawn anywhere, in any order: by one process for
all agents, by each agent for itself, or for a message that is lost on its way from one process to another.

The numbers come from Philox-4x64-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; 2011), a
block cipher over a counter. The key is (seed, stream). A block holds four numbers, two for an agent: agent i reads one
half of block 1 + i // 2 of the counter (·, 0, step, 0). These are the numbers that NumPy's ``Philox`` gives one after
another for that key and counter.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.compiled import inlined, kernel
from tricover.errors import InputError

__all__ = ["ASIDE", "DELAYS", "DRAWS", "LOSSES", "NEWS", "SIGHT", "VEHICLES", "uniforms"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DRAWS = 2
"""How many uniform numbers an agent gets for each step of a stream."""
VEHICLES = 0
"""The stream of the vehicles: where they land, gusts of wind."""
ASIDE = 1
"""The stream of those who go aside for others."""
DELAYS, LOSSES, NEWS = 2, 3, 4
"""The streams of messages: how late they are, which ones are lost, and how late repairs are heard of."""
SIGHT = 5
"""The stream of what is seen: where targets seem to be, and which ones are missed."""

# The constants of Philox-4x64: two multipliers, and what is added to the key in every round.
_FIRST, _SECOND = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_KEY_0, _KEY_1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ROUNDS = 10
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_DROPPED = np.uint64(11)  # of 64 bits, a double holds 53
_ONE = np.uint64(1)


def uniforms(seed: int, stream: int, step: int, agents: int | ArrayLike) -> Floats:
    """Uniform numbers (A, 2) in [0, 1) of agents (A,), or of agents 0 … A-1 where a number A is given.

    >>> bool((uniforms(7, VEHICLES, 3, [4, 1]) == uniforms(7, VEHICLES, 3, 5)[[4, 1]]).all())
    True
    """
    if min(seed, stream, step) < 0 or max(seed, stream, step) >= 2**64:
        given = f"{seed}, {stream} and {step}"
        raise InputError(f"seed, stream and step must be whole numbers from 0 on, below 2**64, not {given}")
    count = agents if isinstance(agents, int) else 0
    who = np.arange(count) if isinstance(agents, int) else np.asarray(agents, dtype=np.int64)
    if count < 0 or who.ndim != 1 or (who.size and who.min() < 0):
        raise InputError(f"agents must be indices from 0 on, shape (A,), not {agents!r}")
    found = np.empty((len(who), DRAWS))
    _fill(np.uint64(seed), np.uint64(stream), np.uint64(step), who, found)
    return found


@inlined
def _product(a: np.uint64, b: np.uint64) -> Any:
    """The upper and lower 64 bits of a·b, by halves of 32 bits, as there are no numbers of 128 bits."""
    low_a, high_a, low_b, high_b = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    low = low_a * low_b
    middle = high_a * low_b + (low >> _HALF)
    other = low_a * high_b + (middle & _LOW)
    return high_a * high_b + (middle >> _HALF) + (other >> _HALF), a * b


@kernel
def _fill(seed: np.uint64, stream: np.uint64, step: np.uint64, agents: Ints, found: Floats) -> None:
    """Encrypt the counter of each agent's block, and keep its half of the block."""
    for row in range(len(agents)):
        block = np.uint64(agents[row]) // np.uint64(2) + _ONE
        a, b, c, d = block, np.uint64(0), step, np.uint64(0)
        key_0, key_1 = seed, stream
        for _ in range(_ROUNDS):
            high_a, low_a = _product(_FIRST, a)
            high_c, low_c = _product(_SECOND, c)
            a, b, c, d = high_c ^ b ^ key_0, low_c, high_a ^ d ^ key_1, low_a
            key_0, key_1 = key_0 + _KEY_0, key_1 + _KEY_1
        first, second = (c, d) if agents[row] % 2 else (a, b)
        found[row, 0] = (first >> _DROPPED) * 2.0**-53
        found[row, 1] = (second >> _DROPPED) * 2.0**-53
