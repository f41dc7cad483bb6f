"""Section III: Algorithm 1, on the paper's 13 agents and on the 57 of Section VI."""

from itertools import pairwise

import numpy as np

from tricover.network import Network, build_network
from tricover.paper.claims.claim import Claim, judged
from tricover.paper.measure import inside, paper_numbers, triangles_of, weights_in
from tricover.paper.study import Study

__all__ = [
    "boundary_and_core",
    "deterministic",
    "empty_cells",
    "example_anchors",
    "example_cells",
    "example_in_neighbours",
    "example_layers",
    "last_layer",
    "layers",
    "mentors",
    "offsets",
    "one_way",
    "setpoints",
    "three_in_neighbours",
]

# What the paper says of its 13 agents, in its numbers.
_FIRST = {11: {1, 2, 12}, 10: {2, 3, 12}, 6: {3, 4, 12}, 5: {4, 1, 12}}
_SECOND = {7: {12, 1, 11}, 8: {3, 4, 6}, 9: {4, 1, 5}, 13: {1, 12, 5}}
_LAYERS = [{1, 2, 3, 4, 12}, set(_FIRST), set(_SECOND)]
_CELLS = (
    (1, 2, 11), (2, 12, 11), (12, 1, 11), (2, 3, 10), (3, 12, 10), (12, 2, 10),
    (3, 4, 6), (4, 12, 6), (12, 3, 6), (4, 1, 5), (1, 12, 5), (4, 5, 12),
)  # fmt: skip
_OCCUPIED = {3, 7, 10, 11}


def _set(agents: set[int]) -> str:
    return f"{{{', '.join(map(str, sorted(agents)))}}}"


def example_anchors(study: Study) -> Claim:
    """V_0 of the 13 agents."""
    boundary, core = paper_numbers(study.example.boundary), study.example.core + 1
    return Claim(
        "example-anchors",
        "III-A, eq. (8)",
        "13 agents: V_B = {1, 2, 3, 4}, core b_5 = 12.",
        f"V_B = {_set(boundary)}, core {core}",
        judged(boundary == {1, 2, 3, 4} and core == 12),
        "The positions are ours, placed by hand: the paper gives none.",
    )


def example_layers(study: Study) -> Claim:
    """V_1, V_2 and M of the 13 agents."""
    found = [paper_numbers(agents) for agents in study.example.layers]
    told = ", ".join(f"V_{index} = {_set(agents)}" for index, agents in enumerate(found) if index)
    return Claim(
        "example-layers",
        "III-C; Fig. 2",
        "13 agents: V_1 = {11, 10, 6, 5}, V_2 = {7, 8, 9, 13}, M = 2.",
        f"{told}, M = {len(found) - 1}",
        judged(found == _LAYERS),
    )


def example_in_neighbours(study: Study) -> Claim:
    """N(i) of the 13 agents, for each follower."""
    network, told = study.example, _FIRST | _SECOND
    found = {int(agent) + 1: paper_numbers(network.in_neighbors[agent]) for agent in network.followers}
    same = sum(found.get(agent) == heard for agent, heard in told.items())
    return Claim(
        "example-in-neighbours",
        "III-C; Fig. 2",
        "13 agents: N(11) = {1, 2, 12} … N(7) = {12, 1, 11}, N(8) = {3, 4, 6}, N(9) = {4, 1, 5}, N(13) = {1, 12, 5}.",
        f"{same} of {len(told)} sets as printed",
        judged(found == told),
    )


def example_cells(study: Study) -> Claim:
    """Which of the twelve cells hold an agent."""
    places, rest = study.example.reference, study.example.layers[-1]
    counts = {h: int(inside(places[rest], places[np.array(cell) - 1]).sum()) for h, cell in enumerate(_CELLS, 1)}
    held = {h for h, count in counts.items() if count}
    return Claim(
        "example-cells",
        "III-C; Fig. 2 (b)",
        "13 agents: of the m_1 = 12 cells R_1,h those with h = 3, 7, 10, 11 hold one agent each, the others none.",
        f"of {len(counts)} cells those with h = {', '.join(map(str, sorted(held)))} hold {max(counts.values())} each",
        judged(held == _OCCUPIED and all(counts[h] == 1 for h in held)),
    )


def mentors(study: Study) -> Claim:
    """Mentors in the example, mentees in the definition."""
    network = study.example
    listening = {int(agent) + 1: paper_numbers(network.in_neighbors[agent]) for agent in network.layers[1]}
    theirs, back = sum(listening.get(agent) == cell for agent, cell in _FIRST.items()), set().union(*listening.values())
    return Claim(
        "mentors",
        "III-C against eq. (11)",
        "11, 10, 6 and 5 are mentors of R_0,1 … R_0,4 (example); eq. (11) calls such agents mentees.",
        f"{theirs} of 4 listen to the corners of their cell; {len(back & set(listening))} are listened to by them",
        judged(printed=bool(back & set(listening)), ours=listening == _FIRST),
        "They are mentees.",
    )


def offsets(study: Study) -> Claim:
    """P_0 = 0."""
    network = study.example
    sizes = [len(agents) for agents in network.layers]
    first = sizes[0] + sizes[1]  # from b_(P_0 + 1) = b_1 to b_(P_1)
    members = {int(agent) for agents in network.layers for agent in agents}
    return Claim(
        "offsets",
        "III, eq. (4); Algorithm 2",
        "P_0 = 0, so V_1 starts at b_1 and contains V_0; Algorithm 2 starts each layer one agent too early.",
        f"13 agents: eq. (4) puts {first} agents in V_1, Algorithm 1 puts {sizes[1]}",
        judged(printed=first == sizes[1], ours=len(members) == sum(sizes) == len(network)),
        "Offsets 0, N_0, N_0 + N_1, …; loops start at the next agent.",
    )


def last_layer(study: Study) -> Claim:
    """L_M = V_M ends a chain of nested sets, and the loop that waits for everybody to be in it."""
    network = study.example
    neural = network.neural_layers()
    sizes, missing = [len(layer.neurons) for layer in neural], len(network) - len(neural[-1].neurons)
    fed = all(
        set(layer.inputs(int(agent))) <= set(before.neurons)
        for before, layer in pairwise(neural)
        for agent in layer.neurons
    )
    return Claim(
        "last-layer",
        "III, eq. (5) against Algorithm 1",
        "The sets L_l are nested, yet L_M = V_M; Algorithm 1 ends when L_l holds everybody.",
        f"13 agents: |L_0|, |L_1|, |L_2| = {', '.join(map(str, sizes))}; {missing} agents are not in L_2",
        judged(printed=missing == 0, ours=fed and np.array_equal(neural[-1].neurons, network.layers[-1])),
        "L_M = V_M as eq. (5) says, fed by the layer before; Algorithm 1 ends when every agent has a layer.",
    )


def empty_cells(study: Study) -> Claim:
    """m_l with and without empty cells."""
    sizes = [len(agents) for agents in study.example.layers]
    dropped, kept = 3 * sizes[2], 12 - sizes[2] + 3 * sizes[2]
    area = _area(study.example)
    return Claim(
        "empty-cells",
        "III-C against Algorithm 1",
        "The m_l cells cover the leading polytope (Step 3); Algorithm 1 counts m_l = 3 N_l, without empty cells.",
        f"13 agents: m_2 = {kept} with, {dropped} without; these cover {100 * area:.0f} % of the polytope",
        judged(printed=dropped == kept, ours=sum(sizes) == len(study.example)),
        "Empty cells are dropped: nobody is in them, so the network is the same.",
    )


def _area(network: Network) -> float:
    """Share of the hull that the cells below the last layer cover: those of its mentees."""

    def size(corners: np.ndarray) -> float:
        x, y = corners.T
        return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))

    places = network.reference
    cells = sum(size(places[network.in_neighbors[agent]]) for agent in network.layers[-1])
    return cells / size(places[network.boundary])


def boundary_and_core(study: Study) -> Claim:
    """V_B and the core of the 57 agents, by SciPy's hull and by eq. (8) itself."""
    from scipy.spatial import ConvexHull

    network, places = study.network, study.network.reference
    hull = set(ConvexHull(places).vertices.tolist())
    sums = np.linalg.norm(places[:, None] - places[sorted(hull)], axis=2).sum(axis=1)
    nearest = min(set(range(len(places))) - hull, key=lambda agent: sums[agent])
    boundary, core = paper_numbers(network.boundary), network.core + 1
    agree = set(network.boundary.tolist()) == hull and network.core == nearest
    return Claim(
        "anchors-57",
        "VI; Fig. 4",
        "57 agents: V_B = {1, 2, 3, 4} and the core is b_5 = 5.",
        f"{len(network)} agents, V_B = {_set(boundary)}, core {core}",
        judged(agree and len(network) == 57 and boundary == {1, 2, 3, 4} and core == 5),
        "Found by Algorithm 1, and again by SciPy's convex hull and the sums of eq. (8).",
    )


def three_in_neighbours(study: Study) -> Claim:
    """Exactly three in-neighbours, which enclose the agent."""
    network = study.network
    heard = network.in_neighbors[network.followers]
    three = sum(len(set(row.tolist())) == 3 and row.min() >= 0 for row in heard)
    enclosed = weights_in(network.reference[network.followers], triangles_of(network, network.reference)).min(axis=1)
    count = int((enclosed >= -1e-12).sum())
    return Claim(
        "three-in-neighbours",
        "Abstract; II, Problem 1",
        "Each follower has exactly three in-neighbours, which form a triangle around it.",
        f"{three} of {len(heard)} followers have three, {count} stand inside",
        judged(three == count == len(heard)),
    )


def deterministic(study: Study) -> Claim:
    """Problem 1: the formation alone decides, whatever the agents are called."""
    network, order = study.network, np.random.default_rng(0).permutation(len(study.network))
    renamed = build_network(network.reference[order])
    links = {(order[agent], *sorted(order[renamed.in_neighbors[agent]])) for agent in renamed.followers}
    same = links == {(agent, *sorted(network.in_neighbors[agent])) for agent in network.followers}
    again = build_network(network.reference) == network
    return Claim(
        "deterministic",
        "II, Problem 1",
        "The reference configuration uniquely induces the network.",
        f"built again: {_same(again)}; with the agents renumbered: {_same(same)}",
        judged(again and same),
        "Ties, which this formation does not have, go to the lowest number.",
    )


def _same(flag: bool) -> str:
    return "the same" if flag else "another"


def one_way(study: Study) -> Claim:
    """Feedforward: no way back."""
    import networkx

    network = study.network
    above = network.layer[network.in_neighbors[network.followers]] < network.layer[network.followers][:, None]
    acyclic = networkx.is_directed_acyclic_graph(network.to_networkx())
    return Claim(
        "one-way",
        "I-B; III",
        "Information flows one way, from layer to layer.",
        f"{int(above.sum())} of {above.size} links come from an earlier layer; {'no' if acyclic else 'a'} cycle",
        judged(bool(above.all()) and acyclic),
        "The abstract says from the preceding layer: it means L of the layer before, which holds all earlier agents.",
    )


def layers(study: Study) -> Claim:
    """A partition into M + 1 layers, none larger than the cells of the one before allow."""
    sizes = [len(agents) for agents in study.network.layers]
    members = sorted(int(agent) for agents in study.network.layers for agent in agents)
    cells = [len(study.network.boundary), *(3 * size for size in sizes[1:])]
    fits = all(size <= most for size, most in zip(sizes[1:], cells, strict=False))
    return Claim(
        "layers",
        "III; Fig. 5",
        "V_0 … V_M are disjoint and hold all agents, and N_l is at most the number of cells before.",
        f"{len(sizes)} layers of {', '.join(map(str, sizes))} agents; cells: {', '.join(map(str, cells[:-1]))}",
        judged(members == list(range(len(study.network))) and fits),
        "The paper does not say how many layers its 57 agents have.",
    )


def setpoints(study: Study) -> Claim:
    """c_i[t] = p_i for followers?"""
    run, followers = study.reach, study.network.followers
    gaps = np.linalg.norm(run.positions[1:, followers] - run.desired[followers], axis=2)
    early, late = int((gaps[0] <= 1e-9).sum()), int((gaps[-1] <= 1e-9).sum())
    return Claim(
        "setpoints",
        "III against V",
        "Followers do not know p_i (III, V), yet c_i[t] = p_i for them at all t (III).",
        f"VI-A: c_i[t] = p_i for {early} of {len(followers)} followers at t = 0, for {late} at the end",
        judged(printed=early == len(followers), ours=late == len(followers)),
        "c_i[t] is a weighted average of the in-neighbours; it equals p_i at the limit.",
    )
