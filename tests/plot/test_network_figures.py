"""The network figures show what is there: one link per in-neighbour, one marker per agent, in every size of team."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection, PolyCollection

import tricover as tc
from tricover.plot import plot_cells, plot_layers, plot_network, save_figure
from tricover.plot.agents import first_agents
from tricover.plot.style import figure_style, layer_colours

RNG = np.random.default_rng(3)
SQUARE = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0]])
TEAMS = {
    5: np.append(SQUARE, [[50.0, 50.0]], axis=0),
    13: np.append(SQUARE, RNG.uniform(5, 95, (9, 2)), axis=0),
    57: np.append(SQUARE, RNG.uniform(5, 95, (53, 2)), axis=0),
    1000: RNG.uniform(0, 100, (1000, 2)),
}
CUBE = np.array(list(np.ndindex(2, 2, 2))) * 10.0
SPACE = np.append(CUBE, RNG.uniform(1, 9, (20, 3)), axis=0)


@pytest.fixture(params=TEAMS, ids=str)
def network(request):
    return tc.build_network(TEAMS[request.param])


def segments(ax):
    """All line segments on the axes, as sets of two rounded end points, collection by collection."""
    collections = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    return [
        [frozenset(map(tuple, np.round(part, 9).tolist())) for part in lines.get_segments()] for lines in collections
    ]


def markers(ax):
    return sum(len(artist.get_offsets()) for artist in ax.collections if isinstance(artist, PathCollection))


def expected_links(network, agents):
    return [
        frozenset(
            [tuple(np.round(network.reference[j], 9).tolist()), tuple(np.round(network.reference[i], 9).tolist())]
        )
        for i in agents
        for j in network.in_neighbors[i]
    ]


def test_formation_shows_every_link_and_agent_once(network):
    ax = plot_network(network)
    [drawn] = segments(ax)
    assert sorted(map(sorted, drawn)) == sorted(map(sorted, expected_links(network, network.followers)))
    assert markers(ax) == len(network)


def test_of_a_huge_team_the_links_of_the_first_layers_are_drawn_and_it_says_so():
    network = tc.build_network(RNG.uniform(0, 100, (20_100, 2)), mentee="balanced")
    ax = plot_network(network)
    shown = first_agents(network)
    assert len(shown) == 20_000
    assert network.layer[shown].max() <= np.delete(network.layer, shown).min()
    (links,) = segments(ax)
    assert len(links) == 3 * (network.layer[shown] > 0).sum()
    assert markers(ax) == 20_100
    assert "links of 20,000 of 20,100 agents: first layers" in [text.get_text() for text in ax.texts]


def test_links_have_the_colour_of_the_followers_layer():
    network = tc.build_network(TEAMS[57])
    lines = next(a for a in plot_network(network).collections if isinstance(a, LineCollection))
    place = {tuple(point): agent for agent, point in enumerate(network.reference.tolist())}
    heads = [place[tuple(segment[1].tolist())] for segment in lines.get_segments()]
    np.testing.assert_allclose(lines.get_colors()[:, :3], layer_colours(network.depth)[network.layer[heads], :3])


@pytest.mark.parametrize("plot", [plot_network, plot_layers])
@pytest.mark.parametrize(("count", "labelled"), [(57, True), (1000, False)])
def test_small_teams_carry_their_numbers(plot, count, labelled):
    texts = [text.get_text() for text in plot(tc.build_network(TEAMS[count])).texts]
    assert sorted(texts) == (sorted(map(str, range(count))) if labelled else [])


def test_labels_of_the_users_own():
    names = [f"drone {agent}" for agent in range(13)]
    network = tc.build_network(TEAMS[13])
    assert {text.get_text() for text in plot_network(network, labels=names).texts} == set(names)
    assert not plot_network(network, labels=False).texts
    with pytest.raises(tc.TricoverError, match="13 agents need as many labels, not 2"):
        plot_network(network, labels=["a", "b"])


def test_cells_grow_layer_by_layer(network):
    panels = plot_cells(network)
    shown = list(range(network.depth + 1)) if network.depth < 8 else [*range(7), network.depth]
    assert len(panels) == len(shown)
    for ax, layer in zip(panels, shown, strict=True):
        placed = np.flatnonzero((network.layer > 0) & (network.layer <= layer))
        drawn = [segment for lines in segments(ax) for segment in lines]
        assert len(drawn) == len(network.boundary) + len(placed) * 3
        assert set(expected_links(network, placed)) <= set(drawn)
        tinted = [len(a.get_paths()) for a in ax.collections if isinstance(a, PolyCollection)]
        assert sum(tinted) == (len(network.layers[layer + 1]) if layer < network.depth else 0)
        assert markers(ax) == len(network)


def test_chosen_panels_on_given_axes():
    network = tc.build_network(TEAMS[57])
    _, axes = plt.subplots(1, 2)
    assert plot_cells(network, axes, layers=[1, 2]) == list(axes)
    with pytest.raises(tc.TricoverError, match="layers must be among 0 to"):
        plot_cells(network, layers=[99])
    with pytest.raises(tc.TricoverError, match="1 panels need as many axes, not 2"):
        plot_cells(network, axes, layers=[1])


def test_neural_layers_are_fed_from_the_layer_before(network):
    ax = plot_layers(network)
    passed, links = segments(ax)
    assert len(links) == 3 * len(network.followers)
    assert all(abs(a[0] - b[0]) == 1 for a, b in map(tuple, links))
    assert len(passed) == (network.layer < network.depth - 1).sum()
    assert all(a[1] == b[1] and max(a[0], b[0]) == network.depth - 1 for a, b in map(tuple, passed))


def test_every_neuron_of_the_paper_is_drawn():
    network = tc.build_network(TEAMS[57])
    neurons = sum(len(layer.neurons) for layer in network.neural_layers())
    assert markers(plot_layers(network)) == neurons


def test_lost_agents_are_crosses_without_links():
    network = tc.build_network(TEAMS[57])
    after = network.without([int(network.layers[-1][0])])
    ax = plot_network(after)
    assert markers(ax) == 57
    assert len(segments(ax)[0]) == 3 * len(after.followers)
    assert "lost" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_formation_in_space():
    network = tc.build_network(SPACE)
    ax = plot_network(network)
    assert ax.name == "3d"
    lines = next(a for a in ax.collections if isinstance(a, LineCollection))
    ax.figure.canvas.draw()
    assert len(lines.get_segments()) == 4 * len(network.followers)
    assert markers(ax) == len(network)
    assert len(segments(plot_layers(network))[1]) == 4 * len(network.followers)
    with pytest.raises(tc.TricoverError, match="in 3-D"):
        plot_cells(network)
    with pytest.raises(tc.TricoverError, match="in 3-D and the axes are not"):
        plot_network(network, plt.figure().add_subplot())


def test_axes_are_the_users_and_settings_stay(network):
    before = dict(mpl.rcParams)
    _, ax = plt.subplots()
    assert plot_network(network, ax) is ax
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("plot", [plot_network, plot_cells, plot_layers])
def test_vector_files_keep_text_as_text_and_are_the_same_every_time(plot, tmp_path):
    network = tc.build_network(TEAMS[13])
    for name in ("a.svg", "b.svg", "a.pdf", "b.pdf", "a.png", "b.png"):
        save_figure(plot(network), tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert ">12</text>" in text
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert b"/Type3" not in (tmp_path / "a.pdf").read_bytes()
    for ending in ("svg", "pdf", "png"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_unknown_ending_writes_nothing(tmp_path):
    with pytest.raises(tc.TricoverError, match=r"unknown ending '.gif'"):
        save_figure(plot_network(tc.build_network(TEAMS[13])), tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_layer_colours_differ_in_lightness():
    lightness = layer_colours(6)[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(lightness) > 0.05).all()


def test_figures_fit_a_column_or_a_page():
    network = tc.build_network(TEAMS[57])
    widths = [plot_network(network).figure.get_figwidth(), plot_cells(network)[0].figure.get_figwidth()]
    assert widths == [3.5, 7.2]
    with figure_style():
        assert mpl.rcParams["font.size"] >= 7
