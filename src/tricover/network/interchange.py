"""Networks to and from JSON texts and NetworkX graphs.

Both carry the roster, the layers and the in-neighbours; what follows from these is derived again. Whatever comes in
is checked to be a network: anchors in layer 0, and every follower in a child cell of the in-neighbour from the layer
just above.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, TricoverError, agents, shown
from tricover.formats.plain_json import parsed
from tricover.network.core import as_choice
from tricover.network.roster import agent_indices, as_roster
from tricover.network.structure import count_descendants, parents_and_slots
from tricover.own import label_of

if TYPE_CHECKING:
    import networkx

    from tricover.network.network import Network

__all__ = ["from_json", "from_networkx", "to_json", "to_networkx"]

_FORMAT, _VERSION = "tricover-network", 1


def to_json(network: "Network") -> str:
    """The network as a JSON text."""
    return json.dumps(
        {
            "format": _FORMAT,
            "version": _VERSION,
            "mentee": label_of(network.mentee),
            "core_choice": network.core_choice,
            "core": network.core,
            "boundary": network.boundary.tolist(),
            "layer": network.layer.tolist(),
            "reference": network.reference.tolist(),
            "in_neighbors": network.in_neighbors.tolist(),
        }
    )


def from_json(text: str) -> dict[str, Any]:
    """The fields of a Network from the text of ``to_json``."""
    try:
        data = parsed(text)
    except FileFormatError as error:
        raise FileFormatError(f"not a JSON text: {error}") from None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise FileFormatError(f'not a network file: it has no \'"format": "{_FORMAT}"\'')
    if data.get("version") != _VERSION:
        version = shown(data.get("version"))
        raise FileFormatError(f"network file of version {version}: this program reads version {_VERSION}")
    return _checked(data)


def to_networkx(network: "Network") -> "networkx.DiGraph[int]":
    """A directed graph: nodes with position, layer and role, edges from in-neighbours with their slot in the cell."""
    import networkx as nx

    graph = nx.DiGraph(mentee=label_of(network.mentee), core_choice=json.dumps(network.core_choice))
    rank = {agent: place for place, agent in enumerate(network.boundary.tolist())}
    columns = zip(network.reference.tolist(), network.layer.tolist(), network.roles, strict=True)
    for agent, (place, layer, role) in enumerate(columns):
        more = {"rank": rank[agent]} if agent in rank else {}
        graph.add_node(agent, **dict(zip("xyz", place, strict=False)), layer=layer, role=role, **more)
    for agent in network.followers.tolist():
        for slot, neighbour in enumerate(network.in_neighbors[agent].tolist()):
            graph.add_edge(neighbour, agent, slot=slot)
    return graph


def from_networkx(graph: "networkx.DiGraph[Any]") -> dict[str, Any]:
    """The fields of a Network from the graph of ``to_networkx``."""
    try:
        nodes = {int(node): attributes for node, attributes in graph.nodes(data=True)}
        if sorted(nodes) != list(range(len(nodes))):
            raise FileFormatError("the graph's nodes must be numbered 0 to N-1")
        axes = "xyz" if "z" in nodes[0] else "xy"
        boundary = [node for node in nodes if nodes[node]["role"] == "boundary"]
        in_neighbors = np.full((len(nodes), len(axes) + 1), -1)
        for tail, head, slot in graph.edges(data="slot"):
            in_neighbors[int(head), slot] = int(tail)
        data = {
            "mentee": graph.graph["mentee"],
            "core_choice": json.loads(graph.graph["core_choice"]),
            "core": next(node for node in nodes if nodes[node]["role"] == "core"),
            "boundary": sorted(boundary, key=lambda node: nodes[node]["rank"]),
            "layer": [nodes[node]["layer"] for node in range(len(nodes))],
            "reference": [[nodes[node][axis] for axis in axes] for node in range(len(nodes))],
            "in_neighbors": in_neighbors,
        }
    except (KeyError, IndexError, ValueError, TypeError, OverflowError, StopIteration) as error:
        raise FileFormatError(f"not the graph of a network: {type(error).__name__} {error}") from None
    return _checked(data)


def _checked(data: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of the right shapes that make up a network, or an error that names the first agent that does not fit."""
    try:
        reference = as_roster(data["reference"])
        count, n = reference.shape
        in_neighbors = _integers(data["in_neighbors"], (count, n + 1), "in_neighbors", count)
        layer = _integers(data["layer"], (count,), "layer", count)
        core, mentee = data["core"], data["mentee"]
        if type(core) is not int or not isinstance(mentee, str):
            raise TypeError("core must be an agent's index, and mentee the name of a rule")
        agent_indices(core, count)
        boundary = np.array(data["boundary"])
        if len(agent_indices(boundary, count)) != boundary.size:
            raise FileFormatError("the boundary must name each of its agents once")
        boundary = boundary.astype(np.int64)
        choice = as_choice(data["core_choice"], count, n)
    except KeyError as error:
        raise FileFormatError(f"the network file has no {error}") from None
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, TricoverError) else FileFormatError(f"broken network file: {error}") from None
    _refuse(
        np.setxor1d(np.append(boundary, core), np.flatnonzero(layer == 0)), "layer 0 must be the boundary and the core"
    )
    _check_cells(in_neighbors, layer, core)
    return {
        "reference": reference,
        "in_neighbors": in_neighbors,
        "layer": layer,
        "descendants": count_descendants(in_neighbors, layer),
        "boundary": boundary,
        "core": core,
        "mentee": mentee,
        "core_choice": choice,
    }


def _integers(values: Any, shape: tuple[int, ...], name: str, count: int) -> NDArray[np.int32]:
    given = np.array(values)
    if given.shape != shape or given.dtype.kind != "i" or given.min() < -1 or given.max() >= count:
        raise FileFormatError(f"{name} must be whole numbers from -1 to {count - 1} in the shape {shape}")
    return given.astype(np.int32)


def _check_cells(in_neighbors: NDArray[np.int32], layer: NDArray[np.int32], core: int) -> None:
    everybody = np.arange(len(layer))
    is_follower = layer > 0
    _refuse(everybody[~is_follower & (in_neighbors >= 0).any(axis=1)], "in-neighbours without being a follower")
    _refuse(everybody[is_follower & (in_neighbors < 0).any(axis=1)], "a follower without in-neighbours")
    above = layer[in_neighbors].max(axis=1)
    _refuse(everybody[is_follower & (above != layer - 1)], "no in-neighbour in the layer just above")
    in_first = (layer != 1) | (in_neighbors == core).any(axis=1)
    _refuse(everybody[~in_first], "in layer 1 without listening to the core")
    parents, slots = parents_and_slots(in_neighbors, layer)
    deep = np.flatnonzero(parents >= 0)
    expected = in_neighbors[parents[deep]]
    expected[np.arange(len(deep)), slots[deep]] = parents[deep]
    _refuse(deep[(expected != in_neighbors[deep]).any(axis=1)], "not in a child cell of the highest in-neighbour")


def _refuse(culprits: NDArray[np.integer], fault: str) -> None:
    if culprits.size:
        raise FileFormatError(f"not a consistent network: {fault}: {agents(culprits)}")
