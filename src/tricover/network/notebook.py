"""How a network shows itself in a notebook: a table of layers and a small picture, as HTML without any library."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tricover.network.network import Network

__all__ = ["page"]

_COLOURS = ("#440154", "#3b528b", "#21918c", "#5ec962", "#c2b109")  # viridis, its pale end darkened
_SIZE = 320
_MOST_AGENTS = 2000  # beyond this a picture says nothing


def page(network: "Network") -> str:
    """A table of layers beside a picture of the formation with its links."""
    rows = "".join(f"<tr><td>{index}</td><td>{len(agents)}</td></tr>" for index, agents in enumerate(network.layers))
    table = f"<table><tr><th>layer</th><th>agents</th></tr>{rows}</table>"
    picture = _picture(network) if len(network) <= _MOST_AGENTS else ""
    body = f'<div style="display:flex;gap:2em;align-items:flex-start">{table}{picture}</div>'
    return f"<div>{escape(repr(network))}{body}</div>"


def _picture(network: "Network") -> str:
    corner = network.reference[:, :2].min(axis=0)
    extent = float(np.ptp(network.reference[:, :2], axis=0).max())
    places = (network.reference[:, :2] - corner) / extent * (_SIZE - 20) + 10
    places[:, 1] = _SIZE - places[:, 1]
    colours = [_COLOURS[round(4 * layer / max(network.depth, 1))] for layer in range(network.depth + 1)]
    links = "".join(
        f'<line x1="{places[j, 0]:.1f}" y1="{places[j, 1]:.1f}" x2="{x:.1f}" y2="{y:.1f}" stroke="{colours[layer]}"/>'
        for i, (x, y), layer in zip(range(len(network)), places, network.layer.tolist(), strict=True)
        if layer > 0
        for j in network.in_neighbors[i].tolist()
    )
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[layer]}">'
        f"<title>agent {i}, layer {layer}</title></circle>"
        for i, ((x, y), layer) in enumerate(zip(places, network.layer.tolist(), strict=True))
        if layer >= 0
    )
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE}" height="{_SIZE}">'
    return f'{frame}<g stroke-width="0.6" opacity="0.5">{links}</g>{dots}</svg>'
