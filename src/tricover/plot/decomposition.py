"""Algorithm 1 step by step: the cells of the leading polytope after each layer (the paper's cell decomposition).

Panel l shows the cells that the agents of layers 0 to l span: the hull and its fan around the core for l = 0, and from
then on every mentee joined to the corners of its cell. Cells that still hold agents are tinted; each gets a mentee in
the next panel. Agents without a place yet are small grey dots.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, listed
from tricover.network import Network
from tricover.plot.agents import MOST_VECTORS, draw_agents, draw_labels, draw_lines, label_texts, links, marker_area
from tricover.plot.style import PAGE, counted, figure_style, layer_colours, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_cells"]

_MOST_PANELS = 8
_TINT, _OLD, _WAITING = "#dce9f5", "#9a9a9a", "#8a8a8a"


def plot_cells(
    network: Network,
    axes: "Sequence[Axes] | None" = None,
    *,
    layers: Sequence[int] | None = None,
    labels: Sequence[object] | bool | None = None,
) -> "list[Axes]":
    """Draw the cells after each layer, one panel per layer.

    Args:
        network: in the plane.
        axes: one for each panel; None: a figure of page width.
        layers: which layers get a panel; None: all, and of a deep network the first ones and the last.
        labels: None: agents' numbers where they fit; False: none; or a text for each agent.
    """
    if network.reference.shape[1] != 2:
        raise InputError("plot_cells draws cells in the plane, and this network is in 3-D: use plot_network")
    wanted = _panels(network.depth) if layers is None else list(layers)
    unknown = [layer for layer in wanted if not 0 <= layer <= network.depth]
    if unknown or not wanted:
        raise InputError(f"layers must be among 0 to {network.depth}, not {listed(unknown) or 'empty'}")
    texts = label_texts(network, labels, most=20)
    with figure_style():
        panels = counted(_new_panels(len(wanted)) if axes is None else axes, len(wanted))
        for ax, layer in zip(panels, wanted, strict=True):
            _draw_panel(ax, network, layer, texts)
    return panels


def _panels(depth: int) -> list[int]:
    return list(range(depth + 1)) if depth < _MOST_PANELS else [*range(_MOST_PANELS - 1), depth]


def _new_panels(count: int) -> "list[Axes]":
    import matplotlib.pyplot as plt

    columns = count if count <= 4 else -(-count // 2)
    rows = -(-count // columns)
    width = PAGE / columns
    figure = plt.figure(figsize=(PAGE, rows * (width + 0.25)))
    return [figure.add_subplot(rows, columns, place) for place in range(1, count + 1)]


def _draw_panel(ax: "Axes", network: Network, layer: int, texts: list[str]) -> None:
    places, colours = network.reference, layer_colours(network.depth)
    area = 0.6 * marker_area(len(network), bool(texts))
    hull = network.boundary
    fan = np.column_stack([hull, np.full(len(hull), network.core)])
    placed = np.flatnonzero((network.layer >= 0) & (network.layer <= layer))
    before = links(network, placed[(network.layer[placed] > 0) & (network.layer[placed] < layer)])
    new = links(network, network.layers[layer]) if layer else fan
    width = np.clip(60 / len(network), 0.22, 0.7)
    if layer < network.depth:
        _tint(ax, places[network.in_neighbors[network.layers[layer + 1]]])
    ax.fill(*places[hull].T, facecolor="none", edgecolor=_OLD if layer else colours[0], linewidth=width, zorder=1)
    draw_lines(ax, places[np.concatenate([fan, before])] if layer else places[before], _OLD, 0.7 * width)
    draw_lines(ax, places[new], [colours[layer]], 1.5 * width, zorder=2)
    x, y = places[network.layer > layer].T
    ax.scatter(x, y, s=max(0.2 * area, 0.6), c=_WAITING, linewidths=0, zorder=2, rasterized=len(x) > MOST_VECTORS)
    draw_agents(ax, network, places, area, only=placed)
    draw_labels(ax, network, places, texts, area, placed)
    plain_axes(ax)
    ax.set_title(f"$l = {layer}$: {len(network.layers[layer])} agents")


def _tint(ax: "Axes", triangles: NDArray[np.float64]) -> None:
    from matplotlib.collections import PolyCollection

    ax.add_collection(PolyCollection(list(triangles), facecolors=_TINT, edgecolors="none", zorder=0))
