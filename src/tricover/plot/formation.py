"""The formation and its links: every follower and the n+1 agents it listens to (the paper's initial formation)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.network import Network
from tricover.plot.agents import (
    MOST_DETAILED,
    draw_agents,
    draw_labels,
    draw_lines,
    key_to_layers,
    key_to_roles,
    label_texts,
    links,
    marker_area,
)
from tricover.plot.style import FAINT, figure_style, layer_colours, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_network"]


def plot_network(
    network: Network, ax: "Axes | None" = None, *, labels: Sequence[object] | bool | None = None, key: bool = True
) -> "Axes":
    """Draw the formation, its links in the colour of the follower's layer.

    Args:
        network: in the plane, or in space (then ``ax`` has the 3-D projection).
        ax: axes to draw on; None: a figure of column width.
        labels: None: agents' numbers where they fit, in the plane; False: none; or a text for each agent.
        key: whether to explain colours and markers.
    """
    places = network.reference
    space = places.shape[1] == 3
    if ax is not None and (ax.name == "3d") != space:
        raise InputError(f"this network is in {places.shape[1]}-D and the axes are not")
    texts = label_texts(network, labels, most=0 if space else MOST_DETAILED)
    area = marker_area(len(network), bool(texts))
    with figure_style():
        ax = ax or (new_axes(projection="3d") if space else new_axes(height=3.9))
        if space:
            ax.computed_zorder = False  # type: ignore[attr-defined]  # agents on top of their links
        else:
            ax.fill(*places[network.boundary].T, facecolor="none", edgecolor=FAINT, linewidth=0.6, linestyle="--")
        _draw_links(ax, network)
        draw_agents(ax, network, places, area)
        draw_labels(ax, network, places, texts, area, np.flatnonzero(network.layer >= 0))
        ax.set_aspect("equal")
        ax.set(xlabel="x", ylabel="y", **({"zlabel": "z"} if space else {}))
        if key:
            key_to_layers(ax, network)
            key_to_roles(ax, network)
    return ax


def _draw_links(ax: "Axes", network: Network) -> None:
    """All links, the early ones on top and wider: they are few, and everything hangs on them."""
    agents = np.concatenate(network.layers[:0:-1]) if network.depth else network.followers
    pairs = links(network, agents)
    layer = network.layer[pairs[:, 1]]
    widest = np.clip(60 / len(network), 0.35, 1.1)
    width = widest * (1.0 - 0.6 * (layer - 1) / network.depth)
    draw_lines(ax, network.reference[pairs], layer_colours(network.depth)[layer], width, alpha=0.75)
    if len(network) <= MOST_DETAILED and network.reference.shape[1] == 2:
        _draw_arrows(ax, network, pairs)


def _draw_arrows(ax: "Axes", network: Network, pairs: NDArray[np.int64]) -> None:
    """A small head on each link, past its middle, that points to the follower."""
    tails, heads = network.reference[pairs[:, 0]], network.reference[pairs[:, 1]]
    way = heads - tails
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    ax.quiver(
        *(0.42 * tails + 0.58 * heads).T,
        *way.T,
        color=layer_colours(network.depth)[network.layer[pairs[:, 1]]],
        angles="xy",
        pivot="tip",
        units="inches",
        scale=20.0,  # arrows of a twentieth of an inch, all head
        width=0.012,
        headwidth=3.4,
        headlength=4.2,
        headaxislength=4.2,
        minlength=0,
        zorder=2,
    )
