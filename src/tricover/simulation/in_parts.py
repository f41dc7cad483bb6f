"""A team in parts, and the stored run of one: everything below a cell depends only on its corner agents.

Let V be the agents of some cells of the network, whole subtrees, and C the corners of these cells. A follower in V
listens to agents in V and in C alone, and nobody outside of V listens to V. So with the ways of C given, V moves as it
does in the whole team, to the bit. A team is cut into a *top*, which is closed upwards (anchors, and all followers with
more than so many agents below them), and *parts*, each of them some whole cells below the top.

A stored run in parts is a folder of Zarr groups, each written whole or not at all, with a checksum for each array:

    zarr.json                 the root document: scenario, epochs, stages, the marker, what is known of the run
    scenario/                 the scenario's long arrays
    epochs/E/K                who is in part K: numbers, places and links, see ``Part``; K is a name, "top" or another
    epochs/E/absent           who does not take part, and where it stands
    epochs/E/anchors          the boundary agents
    stages/S/K                what part K did from one step to another
    desired/K                 the desired configuration of part K; what it remembers, if it went on after the end
    flags                     whether everybody was settled, step by step

A *stage* is a stretch of steps within an epoch. A part that has come to rest before the end of its stage has no more
entries: its last ones hold on. Where its agents are after its last step has an array of its own, as that is often all
that is asked for.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network
from tricover.simulation.groups import Arrays, read_group

__all__ = ["FORMAT", "TOP", "WAYS", "Part", "Stage", "held", "places_after", "ways_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FORMAT = 3
"""What this version writes and reads of runs in parts."""
TOP = "top"
"""The name of the part that is the top."""
WAYS = ("positions", "end")
"""Arrays of a part in a stage of k steps: where its agents were before each step, (k, n, 2), and in the end, (n, 2)."""
_PART = ("numbers", "corners", "reference", "links", "layer", "descendants")


@dataclass(frozen=True, eq=False)
class Part:
    """Some agents of a team, n of them, by their numbers in it, and their K corners.

    Attributes:
        numbers: ascending, (n,).
        corners: numbers of those they listen to and do not move themselves, ascending, (K,).
        reference: reference positions, (n, 2).
        links: rows of those they listen to among agents and corners, see ``everybody``, (n, 3); -1 for anchors.
        layer: in the whole network, (n,).
        descendants: followers below each child cell, (n, 3).
    """

    numbers: Ints
    corners: Ints
    reference: Floats
    links: NDArray[np.int32]
    layer: NDArray[np.int32]
    descendants: NDArray[np.int32]

    @classmethod
    def of(cls, arrays: Arrays) -> "Part":
        """From arrays by name."""
        return cls(*(arrays[name] for name in _PART))

    @classmethod
    def listening(
        cls, numbers: Ints, reference: Floats, heard: Ints, layer: NDArray[np.int32], descendants: NDArray[np.int32]
    ) -> "Part":
        """From the numbers (n, 3) of those that each agent listens to; -1 for anchors."""
        rows = np.minimum(np.searchsorted(numbers, heard), len(numbers) - 1)
        foreign = (numbers[rows] != heard) & (heard >= 0)
        corners = np.unique(heard[foreign])
        everybody = np.union1d(numbers, corners)
        links = np.searchsorted(everybody, numbers).astype(np.int32)[rows]
        links[foreign] = np.searchsorted(everybody, heard[foreign])
        links[heard < 0] = -1
        return cls(numbers, corners, reference, links, layer, descendants)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays by name."""
        return {name: getattr(self, name) for name in _PART}

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def everybody(self) -> Ints:
        """Numbers of its agents and of its corners, ascending: the rows of its own arrays."""
        return np.union1d(self.numbers, self.corners)

    @property
    def in_neighbors(self) -> Ints:
        """Numbers of those they listen to, (n, 3); -1 for anchors."""
        heard = self.everybody[self.links]
        heard[self.links < 0] = -1
        return heard

    @cached_property
    def rows(self) -> Ints:
        """The rows of its own agents, (n,)."""
        return np.searchsorted(self.everybody, self.numbers)

    @cached_property
    def corner_rows(self) -> Ints:
        """The rows of its corners, (K,)."""
        return np.searchsorted(self.everybody, self.corners)

    def merged(self, own: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        """Values (…, n, X) of its agents and (…, K, X) of its corners as one array (…, n + K, X)."""
        shape = (*own.shape[:-2], len(self.everybody), own.shape[-1])
        both = np.empty(shape, own.dtype)
        both[..., self.rows, :] = own
        both[..., self.corner_rows, :] = corners
        return both

    def network(self, corner_places: Floats, boundary: Ints | None = None, core: int | None = None) -> Network:
        """Its network, with its corners at reference places (K, 2) as anchors, or those given by their numbers."""
        count, rows = len(self.everybody), self.rows
        links, layer = np.full((count, 3), -1, np.int32), np.zeros(count, np.int32)
        links[rows] = self.links
        layer[rows] = self.layer
        below = np.zeros((count, 3), np.int32)
        below[rows] = self.descendants
        anchors = np.union1d(self.corner_rows, rows[self.links[:, 0] < 0])
        if boundary is not None and core is not None:
            anchors = np.searchsorted(self.everybody, np.append(boundary, core))
        places = self.merged(self.reference, corner_places)
        return Network(places, links, layer, below, anchors[:-1].copy(), int(anchors[-1]))


class Stage(NamedTuple):
    """Steps of a run in parts, from ``first`` to ``last``, by the network of an epoch."""

    number: int
    epoch: int
    first: int
    last: int


def ways_of(arrays: Arrays) -> Floats:
    """Where agents were before each of k steps and after the last one, (k + 1, n, 2): see ``WAYS``."""
    return np.concatenate([arrays["positions"], arrays["end"][None]])


def places_after(place: Path, steps: int) -> Floats:
    """Where the agents of a part were after so many steps of a stage that is stored at a place, (n, 2)."""
    kept = read_group(place, ("settled", "end"))
    if steps >= len(kept["settled"]):
        return kept["end"]
    return np.asarray(read_group(place, ("positions",))["positions"][steps])


def held(entries: NDArray[Any], which: Ints) -> NDArray[Any]:
    """Entries by their place; beyond the end the last one holds on."""
    return entries[np.minimum(which, len(entries) - 1)]
