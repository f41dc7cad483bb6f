"""The Network object: what it tells, how it travels, what it refuses."""

import io
import itertools
import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.network.formations import formations
from tests.network.test_structure import build
from tricover.errors import FileFormatError, FormationError, InputError

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5], [1.2, 2.2]]


def random_team(count=57, n=2, seed=7):
    return np.random.default_rng(seed).random((count, n))


def test_layers_hold_everybody_once_and_anchors_first():
    network = tc.build_network(random_team())
    assert network.anchors.tolist() == [*network.boundary.tolist(), network.core]
    assert sorted(network.layers[0].tolist()) == sorted(network.anchors.tolist())
    assert sorted(itertools.chain(*(layer.tolist() for layer in network.layers))) == list(range(57))
    assert network.depth == len(network.layers) - 1
    assert (network.in_neighbors[network.anchors] == -1).all()
    assert sorted([*network.anchors, *network.followers]) == list(range(57))


@settings(max_examples=50)
@given(points=formations(), rule=st.sampled_from(["fermat", "balanced"]))
def test_descendants_count_the_followers_below_each_child(points, rule):
    network = build(points, mentee=rule)
    expected = np.zeros_like(network.descendants)
    for agent in network.followers.tolist():
        below = agent
        while network.layer[below] > 1:
            row = network.in_neighbors[below].tolist()
            slot = int(np.argmax(network.layer[row]))
            below = row[slot]
            expected[below, slot] += 1
    assert (network.descendants == expected).all()


def test_neural_layers_are_the_papers():
    network = tc.build_network(random_team(20))
    layers = network.neural_layers()
    assert layers[0].neurons.tolist() == sorted(network.anchors.tolist())
    assert layers[-1].neurons.tolist() == network.layers[-1].tolist()
    for k in range(1, network.depth):
        assert set(layers[k].neurons) == set(layers[k - 1].neurons) | set(network.layers[k])
    for before, layer in itertools.pairwise(layers):
        for agent in layer.neurons.tolist():
            inputs = layer.inputs(agent).tolist()
            assert inputs == ([agent] if agent not in layer.new else network.in_neighbors[agent].tolist())
            assert set(inputs) <= set(before.neurons.tolist())
    with pytest.raises(InputError, match=f"agent {network.core} is not a neuron of layer {network.depth}"):
        layers[-1].inputs(network.core)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("core", [None, "agent", "point"])
def test_json_and_networkx_and_graphml_bring_back_the_same_network(n, core):
    points = random_team(40, n)
    interior = int(tc.build_network(points).followers[3])
    choice = {None: None, "agent": interior, "point": [0.4] * n}[core]
    network = tc.build_network(points, mentee="balanced", core=choice).without([int(tc.build_network(points).core)])
    assert tc.Network.from_json(network.to_json()) == network
    assert tc.Network.from_networkx(network.to_networkx()) == network
    text = "\n".join(nx.generate_graphml(network.to_networkx()))
    graph = nx.read_graphml(io.BytesIO(text.encode()))
    again = tc.Network.from_networkx(graph)
    assert again == network
    assert (again.descendants == network.descendants).all()


def test_the_graph_has_an_edge_from_every_in_neighbour():
    network = tc.build_network(random_team())
    graph = network.to_networkx()
    assert graph.number_of_edges() == 3 * len(network.followers)
    assert nx.is_directed_acyclic_graph(graph)
    for agent in network.followers.tolist():
        assert sorted(graph.predecessors(agent)) == sorted(network.in_neighbors[agent].tolist())


def test_equality_looks_at_everything():
    network = tc.build_network(SQUARE)
    assert network == tc.build_network(SQUARE)
    assert network != tc.build_network(SQUARE, core=5)
    assert network != tc.build_network(SQUARE, mentee="balanced")
    assert network != tc.build_network([*SQUARE[:-1], [1.2, 2.3]])
    assert network != "network"


def test_arrays_are_read_only_and_the_callers_array_is_its_own():
    points = np.array(SQUARE, float)
    network = tc.build_network(points)
    points[0] = 99
    assert network.reference[0].tolist() == [0, 0]
    for array in (network.reference, network.in_neighbors, network.layer, network.descendants, network.boundary):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_notebook_shows_a_table_and_a_picture():
    network = tc.build_network(random_team(30))
    page = network._repr_html_()
    assert page.count("<circle") == 30
    assert page.count("<line") == 3 * len(network.followers)
    assert page.count("<tr>") == network.depth + 2
    assert "core" in repr(network)


def test_threads_do_not_change_the_network(monkeypatch):
    points = random_team(60_000)
    networks = {}
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        monkeypatch.setattr("tricover.network.structure._BUDGET", 10_000)
        networks[threads] = [tc.build_network(points, mentee=rule) for rule in ("fermat", "balanced")]
    assert networks["1"] == networks["2"] == networks["5"]


@pytest.mark.parametrize("rule", ["fermat", "balanced"])
def test_a_team_as_wide_as_the_limits_has_its_network(rule):
    wide = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 1e-75], [0.25, 2e-75], [1e-75, 0.5]])
    network = tc.build_network(wide, mentee=rule)
    for power in (332, -800):
        assert np.array_equal(tc.build_network(np.ldexp(wide, power), mentee=rule).in_neighbors, network.in_neighbors)


@pytest.mark.parametrize(
    ("place", "core"), [([1e308, 1.0], 6), ([-1e308, 0], 5), ([1.1e-300, 2], 5), ([1e200, 0], 6), ([2, 2], 4)]
)
def test_a_core_may_be_asked_for_anywhere(place, core):
    assert tc.build_network(SQUARE, core=place).core == core


def test_the_core_of_a_tiny_team_is_the_nearest():
    assert tc.build_network(1e-290 * np.array(SQUARE), core=[3.1e-290, 2.4e-290]).core == 6


def test_the_balanced_rule_keeps_the_network_shallow():
    count = 100_000
    network = tc.build_network(random_team(count), mentee="balanced")
    assert network.depth <= 1.35 * np.log(count) / np.log(3) + 3


def test_a_rule_of_ones_own_decides():
    def the_papers(corners, members):
        return np.linalg.norm(members[:, None] - corners, axis=2).sum(axis=1)

    points = random_team(200)
    own, built_in = tc.build_network(points, mentee=the_papers), tc.build_network(points)
    assert (own.in_neighbors == built_in.in_neighbors).all()
    lost = own.followers[::7]
    assert (own.without(lost).in_neighbors == built_in.without(lost).in_neighbors).all()
    again = tc.Network.from_json(own.to_json())
    with pytest.raises(InputError, match="'the_papers' did not come with the file"):
        again.without([int(own.followers[0])])


def test_a_rule_that_answers_badly_is_named():
    with pytest.raises(InputError, match="'<lambda>' gave scores of shape"):
        tc.build_network(SQUARE, mentee=lambda corners, members: members)
    with pytest.raises(InputError, match="'<lambda>' gave no number for agent"):
        tc.build_network(SQUARE, mentee=lambda corners, members: members[:, 0] * np.nan)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0, 0], [1, 0], [0, 1]], "needs at least 4 agents, 3 corners and a core; there are 3"),
        ([[0, 0, 0]] * 4, "needs at least 5 agents"),
        ([[0, 0], [1, 0], [1, 1], [0, 1]], "no interior agent: all 4 living agents, 0, 1, 2 and 3, are corners"),
        ([[0, 0], [1, 1], [2, 2], [5, 5], [3, 3]], "agents 0, 1, 2, 4 and 3 stand on one line"),
        ([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.4, 0.4]], "agents 0, 1, 2 and 3 stand on one line"),
        ([[0, 0, 1], [4, 0, 1], [4, 4, 1], [0, 4, 1], [1, 2, 1]], "agents 0, 1, 2, 3 and 4 stand on one plane"),
        ([[k, 2 * k, 3 * k] for k in range(5)], "agents 0, 1, 2, 3 and 4 stand on one line"),
        ([*SQUARE, [1, 2]], r"agents 5 and 8 stand at the same point \(1.0, 2.0\)"),
        ([*SQUARE, [0, 0], [4, 0]], r"agents 0 and 8 stand at the same point \(0.0, 0.0\) \(and 1 more\)"),
        ([*SQUARE, [np.nan, 1]], r"agent 8 must have finite coordinates, not \(nan, 1.0\)"),
        ([*SQUARE, [1, -np.inf]], "agent 8 must have finite coordinates"),
        ([*SQUARE, [1.001e100, 0], [0, -1e200]], r"agents 8 and 9 must not have coordinates beyond 1e\+100 metres"),
        (
            [*SQUARE, [1, -3e-75]],
            "agent 8 must not have a coordinate of 3e-75 beside one of 4 elsewhere: what is less than 1e-75 of the "
            "largest must be 0",
        ),
        ([*SQUARE, [1e100, 1]], r"agents 1, .* must not have a coordinate of 4 beside one of 1e\+100 elsewhere"),
    ],
)
def test_formations_that_cannot_be_used_are_refused_by_name(points, message):
    with pytest.raises(FormationError, match=message):
        tc.build_network(points)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([1, 2, 3], r"shape \(N, 2\) or \(N, 3\), not \(3,\)"),
        (np.zeros((5, 4)), r"not \(5, 4\)"),
        ([[0, 0], [1]], "array of numbers"),
        ("abc", "array of numbers"),
        ([], r"not \(0,\)"),
    ],
)
def test_wrong_shapes_are_refused(points, message):
    with pytest.raises(InputError, match=message):
        tc.build_network(points)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"core": 0},
            "core agent 0 is a boundary agent, a corner of the hull: name one of the interior",
        ),
        ({"core": 99}, "there is no agent 99 to be the core: agents are numbered 0 to 7"),
        ({"core": [1, 2, 3]}, "core must be None, an agent's index or a point with 2 finite coordinates"),
        ({"core": [np.nan, 0]}, "core must be None"),
        ({"core": "centre"}, "core must be None"),
        ({"mentee": "closest"}, "mentee must be 'fermat', 'balanced', a function or 'module:function', not 'closest'"),
        ({"alive": [True]}, "alive must be an array of 8 truth values"),
    ],
)
def test_wrong_settings_are_refused(how, message):
    with pytest.raises(InputError, match=message):
        tc.build_network(SQUARE, **how)


def broken(**changes):
    data = json.loads(tc.build_network(SQUARE).to_json())
    data.update(changes)
    return json.dumps({key: value for key, value in data.items() if value is not ...})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON text"),
        ("[]", "not a network file"),
        (broken(version=2), "version 2: this program reads version 1"),
        (broken(layer=...), "has no 'layer'"),
        (broken(layer=[0, 0]), r"layer must be whole numbers from -1 to 7 in the shape \(8,\)"),
        (broken(layer=[0, 0, 0, 0, 0, 1, 1, 0]), "layer 0 must be the boundary and the core: agent 7"),
        (broken(in_neighbors=[[-1] * 3] * 8), "a follower without in-neighbours: agents 5, 6 and 7"),
        (
            broken(in_neighbors=[[-1] * 3] * 5 + [[0, 1, 2]] * 3),
            "no in-neighbour in the layer just above: agent 7",
        ),
        (broken(boundary=[0, 1, 2, 99]), "there is no agent 99"),
        (broken(boundary=[0, 1, 2, 3, 3]), "the boundary must name each of its agents once"),
        (broken(boundary=[[0, 1], [2, 3]]), "agents must be a list of whole numbers"),
        (broken(boundary=[0, 1, 2, 3.5]), "agents must be a list of whole numbers"),
        (broken(boundary=[0, 1, 2, 10**400]), "agents must be a list of whole numbers"),
        (broken(boundary=[0, 1, [2], 3]), "broken network file"),
        (broken(core="x"), "broken network file"),
        (broken(core=4.0), "core must be an agent's index"),
        (broken(core=[4]), "core must be an agent's index"),
        (broken(core=True), "core must be an agent's index"),
        (broken(core=99), "there is no agent 99"),
        (broken(core=4).replace('"core": 4', '"core": 1e400'), "core must be an agent's index"),
        (broken(core=4).replace('"core": 4', '"core": ' + "9" * 5000), "core must be an agent's index"),
        (broken(core_choice=10**400), "core must be None, an agent's index or a point"),
        (broken(core_choice=[[1, 2], [3]]), "broken network file"),
        (broken(mentee=["fermat"]), "mentee the name of a rule"),
        (broken(layer=[0, 0, 0, 0, 0, 1, 1, 2**40]), "layer must be whole numbers"),
        (broken(layer=[0, 0, 0, 0, 0, 1, 1, 10**30]), "layer must be whole numbers"),
        (broken(reference=[[0, 10**400]] * 8), "must have finite coordinates"),
        (broken(reference=[[0, "x"]] * 8), "reference positions must be"),
        (broken(version=[[1] * 9] * 9), "this program reads version 1"),
        ("[" * 5000, "not a JSON text: lists or objects are nested too deep"),
        (broken(format="\ud800"), "not a network file"),
    ],
)
def test_network_files_that_do_not_hold_a_network_are_refused(text, message):
    with pytest.raises((FileFormatError, InputError), match=message) as error:
        tc.Network.from_json(text)
    assert str(error.value).isprintable()


def test_graphs_that_are_not_networks_are_refused():
    with pytest.raises(FileFormatError, match="not the graph of a network"):
        tc.Network.from_networkx(nx.path_graph(5, create_using=nx.DiGraph))
    with pytest.raises(FileFormatError, match="numbered 0 to N-1"):
        tc.Network.from_networkx(nx.DiGraph([(1, 2)]))
