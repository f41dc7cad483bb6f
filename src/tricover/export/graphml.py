"""GraphML: the network after the last repair, as ``Network.to_networkx`` has it, with what came of its agents.

Nodes hold the reference position (x, y), layer and role, and besides the last position (final_x, final_y), the desired
one (desired_x, desired_y), in metres, and where it is known the last longitude and latitude. Edges run from the
in-neighbour to the agent and hold their slot in the agent's cell and the weight α of the last step. The graph holds the
run's name, its number of steps and the step at which it settled (-1: it did not).
"""

from collections.abc import Callable
from pathlib import Path

from tricover.errors import plain
from tricover.formats import Projection
from tricover.simulation import Run

__all__ = ["write_graphml"]


def write_graphml(run: Run, path: Path, tell: Callable[[int, int], None], plane: Projection | None) -> None:
    """Write the run's network with its positions."""
    import networkx as nx

    graph, network = run.network.to_networkx(), run.network
    ends = run.read("positions", run.steps, run.steps + 1)[0][: len(network)]
    columns = dict(zip(("final_x", "final_y"), ends.T.tolist(), strict=True))
    columns |= dict(zip(("desired_x", "desired_y"), run.desired[: len(network)].T.tolist(), strict=True))
    if plane is not None:
        columns |= dict(zip(("longitude", "latitude"), plane.to_degrees(ends).T.tolist(), strict=True))
    for name, values in columns.items():
        nx.set_node_attributes(graph, dict(enumerate(values)), name)
    if run.steps:
        weights = run.read("weights", run.steps - 1, run.steps)[0]
        for tail, head, slot in graph.edges(data="slot"):
            graph.edges[tail, head]["weight"] = float(weights[head, slot])
    settled = -1 if run.settled_at is None else run.settled_at
    graph.graph |= {"name": plain(run.scenario.name), "steps": run.steps, "settled_at": settled}
    nx.write_graphml(graph, path)
    tell(1, 1)
