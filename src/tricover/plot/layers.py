"""The network as the paper's neural network: layers L_0 … L_M from left to right.

Every agent has a row of its own. It enters as a new neuron in the column of its layer, fed by its in-neighbours, and is
passed through, unchanged, to the columns after it (I(i, l) = {i}): that is the faint line to its right. The last
layer L_M holds V_M alone. Rows go by the angle around the core, so that the cells of the fan follow one another with
their boundary agents between them, and the core stands in the middle.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network
from tricover.plot.agents import MOST_DETAILED, draw_agents, draw_labels, draw_lines, key_to_roles, label_texts, links
from tricover.plot.style import FAINT, PAGE, figure_style, layer_colours, new_axes, subscripted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_layers"]


def plot_layers(network: Network, ax: "Axes | None" = None, *, labels: Sequence[object] | bool | None = None) -> "Axes":
    """Draw the layered neural diagram, links in the colour of the layer that they feed.

    Args:
        network: in the plane or in space.
        ax: axes to draw on; None: a figure of page width.
        labels: None: agents' numbers where they fit; False: none; or a text for each agent.
    """
    texts = label_texts(network, labels, most=MOST_DETAILED)
    count = len(network)
    neurons = np.column_stack([network.layer, _rows(network)]).astype(np.float64)
    area = 60.0 if count <= 20 else 40.0 if texts else float(np.clip(2500 / count, 1.5, 20.0))
    with figure_style():
        ax = ax or new_axes(PAGE, float(np.clip(0.105 * count, 2.4, 6.0)))
        _draw_pass_through(ax, network, neurons)
        _draw_inputs(ax, network, neurons)
        living = np.flatnonzero(network.layer >= 0)
        draw_agents(ax, network, neurons, area, only=living)
        draw_labels(ax, network, neurons, texts, area, living)
        _finish(ax, network)
    return ax


def _rows(network: Network) -> NDArray[np.int64]:
    """The row of each agent, 0 at the bottom."""
    sides = network.reference - network.reference[network.core]
    angles = np.arctan2(sides[:, 1], sides[:, 0])
    angles -= angles[network.boundary[0]]
    order = np.argsort(angles % (2 * np.pi), kind="stable")[::-1]
    order = np.insert(order[order != network.core], len(order) // 2, network.core)
    rows = np.empty(len(order), np.int64)
    rows[order] = np.arange(len(order))
    return rows


def _draw_pass_through(ax: "Axes", network: Network, neurons: NDArray[np.float64]) -> None:
    old = np.flatnonzero((network.layer >= 0) & (network.layer < network.depth - 1))
    ends = neurons[old].copy()
    ends[:, 0] = network.depth - 1
    width = float(np.clip(20 / len(network), 0.08, 0.5))
    draw_lines(ax, np.stack([neurons[old], ends], axis=1), FAINT, width, zorder=0)
    if len(network) > MOST_DETAILED:
        return
    passed = [(column, neurons[agent, 1]) for agent in old for column in range(network.layer[agent] + 1, network.depth)]
    if passed:
        x, y = np.array(passed).T
        ax.scatter(x, y, s=9, facecolors="white", edgecolors=FAINT, linewidths=0.5, zorder=2)


def _draw_inputs(ax: "Axes", network: Network, neurons: NDArray[np.float64]) -> None:
    pairs = links(network, network.followers)
    segments = neurons[pairs]
    segments[:, 0, 0] = segments[:, 1, 0] - 1  # inputs are read from the layer just before
    width = float(np.clip(40 / len(network), 0.25, 0.8))
    draw_lines(ax, segments, layer_colours(network.depth)[network.layer[pairs[:, 1]]], width, alpha=0.8)


def _column_name(network: Network, column: int) -> str:
    """L_l, and below it how many neurons are new there."""
    return f"{subscripted('L', column)}\n{len(network.layers[column])}"


def _finish(ax: "Axes", network: Network) -> None:
    columns = range(0, network.depth + 1, network.depth // 21 + 1)
    ax.set_xticks(list(columns), [_column_name(network, column) for column in columns])
    ax.set_xlabel("layer, and its number of new neurons")
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.margins(x=0.04, y=0.03)
    key_to_roles(ax, network)
