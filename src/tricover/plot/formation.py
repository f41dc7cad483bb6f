"""The formation and its links: every follower and the n+1 agents it listens to.

``plot_network`` draws the reference formation (the paper's initial formation), ``plot_desired`` where a run should
settle, with the targets (the paper's desired formation).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.network import Network
from tricover.plot.agents import (
    MOST_DETAILED,
    draw_agents,
    draw_heads,
    draw_labels,
    draw_lines,
    draw_targets,
    first_agents,
    key_to_layers,
    key_to_roles,
    label_texts,
    links,
    marker_area,
    present_targets,
    tell_sample,
)
from tricover.plot.style import FAINT, figure_style, layer_colours, new_axes, new_map
from tricover.plot.zones import draw_zones, zone_key
from tricover.simulation import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_desired", "plot_network"]

Floats = NDArray[np.float64]


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
    space = network.reference.shape[1] == 3
    if ax is not None and (ax.name == "3d") != space:
        raise InputError(f"this network is in {network.reference.shape[1]}-D and the axes are not")
    with figure_style():
        ax = ax or (new_axes(projection="3d") if space else new_map(network.reference, strip=key))
        _draw_formation(ax, network, network.reference, labels, key)
        ax.set(xlabel="x", ylabel="y", **({"zlabel": "z"} if space else {}))
        if space:
            ax.tick_params(pad=-2)
    return ax


def plot_desired(
    run: Run, ax: "Axes | None" = None, *, labels: Sequence[object] | bool | None = None, key: bool = True
) -> "Axes":
    """Draw the desired formation of a run with its links, over the targets; arguments as in ``plot_network``."""
    with figure_style():
        ground, masses = present_targets(run.targets)
        ax = ax or new_map(ground, run.desired[: len(run.network)], strip=key)
        _draw_formation(ax, run.network, run.desired, labels, key)
        draw_targets(ax, ground, masses)
        draw_zones(ax, run)
        if key:
            key_to_roles(ax, run.network, targets=True, more=zone_key(run))
        ax.set(xlabel="x, m", ylabel="y, m")
    return ax


def _draw_formation(
    ax: "Axes", network: Network, places: Floats, labels: Sequence[object] | bool | None, key: bool
) -> None:
    """Agents at ``places`` (N, n) with their links."""
    space = places.shape[1] == 3
    texts = label_texts(network, labels, most=0 if space else MOST_DETAILED)
    area = marker_area(len(network), bool(texts))
    if space:
        ax.computed_zorder = False  # type: ignore[attr-defined]  # agents on top of their links
    else:
        ax.fill(*places[network.boundary].T, facecolor="none", edgecolor=FAINT, linewidth=0.6, linestyle="--")
    _draw_links(ax, network, places)
    draw_agents(ax, network, places, area)
    draw_labels(ax, network, places, texts, area, np.flatnonzero(network.layer >= 0))
    ax.set_aspect("equal")
    if key:
        key_to_layers(ax, network)
        key_to_roles(ax, network)


def _draw_links(ax: "Axes", network: Network, places: Floats) -> None:
    """Links, the early ones on top and wider: they are few, and everything hangs on them."""
    shown = first_agents(network)
    agents = shown[np.argsort(-network.layer[shown], kind="stable")]
    pairs = links(network, agents[network.layer[agents] > 0])
    tell_sample(ax, len(shown), len(network), "links")
    layer = network.layer[pairs[:, 1]]
    widest = np.clip(60 / len(network), 0.35, 1.1)
    width = widest * (1.0 - 0.6 * (layer - 1) / network.depth)
    draw_lines(ax, places[pairs], layer_colours(network.depth)[layer], width, alpha=0.75)
    if len(network) <= MOST_DETAILED and places.shape[1] == 2:
        _draw_arrows(ax, network, places, pairs)


def _draw_arrows(ax: "Axes", network: Network, places: Floats, pairs: NDArray[np.int64]) -> None:
    """A small head on each link, past its middle, that points to the follower."""
    tails, heads = places[pairs[:, 0]], places[pairs[:, 1]]
    draw_heads(ax, 0.42 * tails + 0.58 * heads, heads - tails, layer_colours(network.depth)[network.layer[pairs[:, 1]]])
