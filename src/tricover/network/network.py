"""The communication network of a team (paper, Section III).

The boundary agents, at the corners of the convex hull of the reference positions, and one core agent are the anchors
V_0. Every other agent is the mentee of the cell that encloses it and listens to exactly the n+1 corner agents of that
cell, its in-neighbours N(i), all of earlier layers. ``build_network`` derives all of this from the reference
positions a_i.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.errors import agents as agent_names
from tricover.network import interchange, notebook
from tricover.network.core import Choice, as_choice
from tricover.network.mentees import RULES, MenteeRule
from tricover.network.roster import agent_indices, as_roster
from tricover.network.structure import Structure, build_structure, by_layer, fill_structure, repair_structure
from tricover.own import is_name, label_of

if TYPE_CHECKING:
    import networkx

__all__ = ["Network", "NeuralLayer", "build_network", "network_in_frame"]

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NeuralLayer:
    """One layer of the network read as a feed-forward neural network.

    ``neurons`` is L_l, ascending; ``new`` is V_l, the agents that enter in this layer. The paper's last layer L_M
    holds V_M alone.
    """

    index: int
    neurons: Indices
    new: Indices
    _in_neighbors: NDArray[np.int32] = field(repr=False)

    def inputs(self, agent: int) -> Indices:
        """I(i, l): the neurons of the layer before that feed agent i: N(i) if it is new, else itself."""
        if agent not in self.neurons:
            raise InputError(f"agent {agent} is not a neuron of layer {self.index}")
        if self.index == 0:
            return np.empty(0, np.int64)
        return self._in_neighbors[agent].astype(np.int64) if agent in self.new else np.array([agent])


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """Who listens to whom. Build one with ``build_network``; arrays are read-only and agents are numbered from 0.

    Attributes:
        reference: reference positions a_i of the whole roster, (N, n).
        in_neighbors: corner agents of the cell each agent is the mentee of, (N, n+1); -1 for anchors and the lost.
        layer: layer of each agent, (N,); 0 for anchors, -1 for the lost.
        descendants: followers below each child cell, (N, n+1); child k has in-neighbour k replaced by the agent.
        boundary: corner agents of the hull; counter-clockwise from the lowest index in the plane, ascending in space.
        core: the core agent.
        mentee: the mentee rule, by name or the user's own function.
        core_choice: how the core was asked for: None, an agent or a point.
    """

    reference: NDArray[np.float64]
    in_neighbors: NDArray[np.int32]
    layer: NDArray[np.int32]
    descendants: NDArray[np.int32]
    boundary: Indices
    core: int
    mentee: str | MenteeRule = "fermat"
    core_choice: Choice = None

    def __post_init__(self) -> None:
        for array in (self.reference, self.in_neighbors, self.layer, self.descendants, self.boundary):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.layer)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (
            (self.core, self.mentee, self.core_choice) == (other.core, other.mentee, other.core_choice)
            and np.array_equal(self.reference, other.reference)
            and np.array_equal(self.boundary, other.boundary)
            and np.array_equal(self.layer, other.layer)
            and np.array_equal(self.in_neighbors, other.in_neighbors)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rule = label_of(self.mentee)
        layers = "1 layer" if self.depth == 1 else f"{self.depth} layers"
        lost = f", {self.lost.size} lost" if self.lost.size else ""
        return (
            f"<Network of {len(self)} agents in {self.reference.shape[1]}-D: {len(self.boundary)} boundary, core "
            f"{self.core}, {len(self.followers)} followers in {layers}, {rule}{lost}>"
        )

    def _repr_html_(self) -> str:
        return notebook.page(self)

    @cached_property
    def anchors(self) -> Indices:
        """V_0: the boundary agents and, last, the core."""
        return np.append(self.boundary, self.core)

    @cached_property
    def followers(self) -> Indices:
        """All living agents that are not anchors, ascending."""
        return np.flatnonzero(self.layer > 0)

    @cached_property
    def lost(self) -> Indices:
        """Agents of the roster that are not alive, ascending."""
        return np.flatnonzero(self.layer < 0)

    @cached_property
    def depth(self) -> int:
        """M, the last layer."""
        return int(self.layer.max())

    @cached_property
    def layers(self) -> list[Indices]:
        """V_0, V_1, …, V_M: the agents of each layer, ascending."""
        return by_layer(self.layer)

    @cached_property
    def roles(self) -> list[str]:
        """What each agent is: "boundary", "core", "follower" or "lost"."""
        roles = np.where(self.layer > 0, "follower", "lost").astype(object)
        roles[self.boundary], roles[self.core] = "boundary", "core"
        return list(roles)

    def neural_layers(self) -> list[NeuralLayer]:
        """The network as the paper's neural network: L_0 … L_M, each with its inputs I(i, l)."""
        layers = []
        for index, new in enumerate(self.layers):
            old = index and index < self.depth
            neurons = np.sort(np.concatenate(self.layers[: index + 1])) if old else new
            layers.append(NeuralLayer(index, neurons, new, self.in_neighbors))
        return layers

    def without(self, agents: ArrayLike) -> "Network":
        """The network after losing agents: same roster and numbers, the lost have layer -1.

        Losing a follower changes only the subtree below the cell it was the mentee of. Losing an anchor builds anew.
        """
        if isinstance(self.mentee, str) and self.mentee not in RULES and not is_name(self.mentee):
            raise InputError(
                f"the mentee rule {self.mentee!r} did not come with the file: build the network anew with it"
            )
        lost = agent_indices(agents, len(self))
        gone = lost[self.layer[lost] < 0]
        if gone.size:
            raise InputError(f"already lost: {agent_names(gone)}")
        alive = self.layer >= 0
        alive[lost] = False
        before = Structure(self.boundary, self.core, self.in_neighbors, self.layer, self.descendants)
        after = repair_structure(before, self.reference, alive, self.mentee, self.core_choice)
        return _network(self.reference, after, self.mentee, self.core_choice)

    def with_agents(self, positions: ArrayLike) -> "Network":
        """The network of a longer roster: agents at ``positions`` (K, n) join and take the next numbers."""
        joining = np.atleast_2d(np.asarray(positions, dtype=np.float64))
        if joining.ndim != 2 or joining.shape[1] != self.reference.shape[1]:
            raise InputError(
                f"joining agents need positions of shape (K, {self.reference.shape[1]}), not {joining.shape}"
            )
        alive = np.append(self.layer >= 0, np.ones(len(joining), np.bool_))
        return build_network(np.concatenate([self.reference, joining]), self.mentee, self.core_choice, alive)

    def to_json(self) -> str:
        """The network as a JSON text; ``Network.from_json`` reads it back."""
        return interchange.to_json(self)

    @classmethod
    def from_json(cls, text: str) -> "Network":
        """A network from the text of ``to_json``; a text that is not a consistent network is an error."""
        return cls(**interchange.from_json(text))

    def to_networkx(self) -> "networkx.DiGraph[int]":
        """A NetworkX graph with an edge from every in-neighbour; all attributes are plain, so GraphML can hold them."""
        return interchange.to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: "networkx.DiGraph[Any]") -> "Network":
        """A network from the graph of ``to_networkx``, also after a trip through GraphML."""
        return cls(**interchange.from_networkx(graph))


def build_network(
    reference: ArrayLike,
    mentee: str | MenteeRule = "fermat",
    core: int | ArrayLike | None = None,
    alive: ArrayLike | None = None,
) -> Network:
    """Algorithm 1: the layered network of a team from its reference positions.

    Args:
        reference: positions of all agents, (N, 2) or (N, 3), distinct, not all on one line or plane. Coordinates are
            at most 1e100 in size, and 0 or at least 1e-75 of the largest.
        mentee: "fermat" (the paper's rule), "balanced" (depth near log₃N), or a function of your own
            ``rule(corners (n+1, n), members (k, n)) -> scores (k,)``; the least score wins.
        core: None (the interior agent with the least sum of distances to the boundary agents), an agent's index, or
            a point (the interior agent nearest to it).
        alive: which agents of the roster are alive, (N,) of bool; None: all.

    Ties go to the lowest index everywhere, and all geometry is decided by exact signs: the same input gives the same
    network on every machine. Sums of distances that agree to 60 digits are ties.

    >>> network = build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]])
    >>> network
    <Network of 7 agents in 2-D: 4 boundary, core 4, 2 followers in 1 layer, fermat>
    >>> network.in_neighbors[5].tolist()
    [3, 0, 4]
    """
    points = as_roster(reference)
    if not callable(mentee) and mentee not in RULES and not is_name(mentee):
        names = ", ".join(map(repr, RULES))
        raise InputError(f"mentee must be {names}, a function or 'module:function', not {mentee!r}")
    choice = as_choice(core, *points.shape)
    living = np.ones(len(points), np.bool_) if alive is None else np.asarray(alive)
    if living.shape != (len(points),) or living.dtype != np.bool_:
        raise InputError(f"alive must be an array of {len(points)} truth values")
    return _network(points, build_structure(points, living, mentee, choice), mentee, choice)


def network_in_frame(
    reference: NDArray[np.float64],
    boundary: Indices,
    core: int,
    first_cells: Indices,
    mentee: str | MenteeRule,
    alive: NDArray[np.bool_],
) -> Network:
    """Algorithm 1 inside first cells that were agreed on, in the plane.

    Args:
        reference: distinct places (N, 2), those of followers inside their first cells.
        boundary: corner agents (H,) of a polygon that is a star around the core, counter-clockwise.
        core: the core agent.
        first_cells: for each living follower its first cell, (N,); cell h lies between boundary agents h and h+1.
        mentee: as in ``build_network``.
        alive: which agents of the roster are alive, (N,).
    """
    turn = int(np.argmin(boundary))  # the boundary begins with its lowest number
    cells = (first_cells - turn) % len(boundary)
    structure = fill_structure(reference, alive, mentee, np.roll(boundary, -turn), core, cells)
    return _network(reference, structure, mentee, core)


def _network(reference: NDArray[np.float64], structure: Structure, mentee: str | MenteeRule, core: Choice) -> Network:
    fields: Mapping[str, Any] = vars(structure)
    return Network(reference=reference, mentee=mentee, core_choice=core, **fields)
