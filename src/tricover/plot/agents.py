"""What the network figures share: agents as markers by role and layer, links as one collection, a key to the colours.

Everything is one artist per kind, however many agents there are. Small teams carry their numbers inside the markers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.network import Network
from tricover.plot.style import FAINT, GROUND, INK, ROLES, layer_colours
from tricover.targets import Targets

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection

__all__ = [
    "MOST_DETAILED",
    "MOST_DRAWN",
    "MOST_VECTORS",
    "agents_by_role",
    "draw_agents",
    "draw_heads",
    "draw_labels",
    "draw_lines",
    "draw_targets",
    "first_agents",
    "key_to_layers",
    "key_to_roles",
    "label_texts",
    "links",
    "marker_area",
    "place_targets",
    "present_targets",
    "tell_sample",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ANY = "#6b6b6b"  # for a follower of no particular layer
_LEAST_ANCHOR = 8.0  # points²: anchors stay visible among thousands
_LEAST_REGULAR = 30  # targets: fewer are no pattern
MOST_DETAILED = 100  # agents: larger teams go without numbers and arrows
MOST_DRAWN = 20_000  # agents with lines of their own: those of more would hide each other
MOST_VECTORS = 20_000  # larger collections turn into pixels, lest a vector file become unwieldy


def agents_by_role(network: Network) -> dict[str, Indices]:
    """Agents of each role; the order is that of drawing."""
    core = np.array([network.core])
    return {"lost": network.lost, "follower": network.followers, "boundary": network.boundary, "core": core}


def first_agents(network: Network, most: int = MOST_DRAWN) -> Indices:
    """All agents, ascending, or so many of the first layers: whoever they listen to is then among them."""
    layer = network.layer
    first = np.argsort(np.where(layer < 0, layer.max() + 1, layer), kind="stable")
    return np.sort(first[:most])


def tell_sample(ax: "Axes", shown: int, count: int, what: str = "") -> None:
    """Say so in a corner where not everybody is drawn, or not everybody's lines: ``what`` of them."""
    if shown < count:
        text = f"{f'{what} of ' * bool(what)}{shown:,} of {count:,} agents: first layers"
        ax.annotate(text, (0.0, 0.0), (2, 2), "axes fraction", "offset points", fontsize="x-small", color=INK)


def links(network: Network, agents: Indices) -> Indices:
    """Pairs (in-neighbour, agent) of the given followers, (K·(n+1), 2)."""
    tails = network.in_neighbors[agents]
    return np.column_stack([tails.ravel(), np.repeat(agents, tails.shape[1])]).astype(np.int64)


def label_texts(network: Network, labels: Sequence[object] | bool | None, most: int) -> list[str]:
    """A text for each agent, or none: by default numbers, in teams of at ``most`` so many."""
    if labels is None or isinstance(labels, bool):
        wanted = len(network) <= most if labels is None else labels
        return [str(agent) for agent in range(len(network))] if wanted else []
    if len(labels) != len(network):
        raise InputError(f"{len(network)} agents need as many labels, not {len(labels)}")
    return [str(label) for label in labels]


def marker_area(count: int, labelled: bool) -> float:
    """Area in points² that leaves room between ``count`` markers at column width."""
    if labelled:
        return 95.0 if count <= 20 else 60.0
    return float(np.clip(2500 / count, 1.2, 24.0))


def draw_lines(ax: "Axes", segments: Floats, colours: Any, width: Any, **looks: Any) -> "LineCollection":
    """Segments (K, 2, n) as one collection, under the markers."""
    from matplotlib.collections import LineCollection
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    kind = LineCollection if segments.shape[-1] == 2 else Line3DCollection
    looks = {"zorder": 1, "capstyle": "round", "rasterized": len(segments) > MOST_VECTORS, **looks}
    lines = kind(segments, colors=colours, linewidths=width, **looks)  # type: ignore[arg-type]
    if isinstance(lines, Line3DCollection):
        ax.add_collection3d(lines)  # type: ignore[attr-defined]
    else:
        ax.add_collection(lines)
    return lines


def draw_heads(ax: "Axes", tips: Floats, ways: Floats, colours: Any) -> None:
    """Small arrow heads at ``tips`` (K, 2) that point along ``nesting`` (K, 2), all of one size."""
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    ax.quiver(
        *tips.T,
        *(ways / np.maximum(lengths, np.finfo(np.float64).tiny)).T,
        color=colours,
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


def present_targets(targets: Targets) -> tuple[Floats, Floats | None]:
    """Points (D, 2) and weights (D,), if any, of the targets that are there: those with weight."""
    if targets.weights is None:
        return targets.points, None
    there = targets.weights > 0
    return targets.points[there], targets.weights[there]


def draw_targets(
    ax: "Axes", points: Floats, weights: Floats | None = None, scale: float = 1.0, alpha: float = 1.0
) -> "PathCollection":
    """Targets (D, 2) as dots on the ground, under everything else; the larger the weight, the larger the dot.

    Many dots, and those of a lattice, would outshine the agents: they are smaller and lighter.
    """
    count = max(len(points), 1)
    fading = 0.75 if _regular(points) else 1.0
    looks: dict[str, Any] = {
        "c": GROUND,
        "s": _target_areas(points, weights, scale),
        "alpha": alpha * fading * float(np.clip(1.0 - 0.25 * np.log10(count / 500), 0.35, 1.0)),
        "linewidths": 0,
        "zorder": 0.5,
        "rasterized": len(points) > MOST_VECTORS,
    }
    return ax.scatter(points[:, 0], points[:, 1], **looks)


def place_targets(dots: "PathCollection", points: Floats, weights: Floats | None, scale: float = 1.0) -> None:
    """Move the targets that ``draw_targets`` drew."""
    dots.set_offsets(points)
    dots.set_sizes(np.atleast_1d(_target_areas(points, weights, scale)))


def _target_areas(points: Floats, weights: Floats | None, scale: float) -> Any:
    """Areas in points²: one, or as the weights have it, (D,), up to four times the usual."""
    usual = scale * float(np.clip(2000 / max(len(points), 1), 0.6, 5.0)) * (0.5 if _regular(points) else 1.0)
    if weights is None or not len(points):
        return usual
    return usual * np.clip(weights / weights.mean(), 0.2, 4.0)


def _regular(points: Floats) -> bool:
    """Whether points stand in rows and columns: they have few distinct coordinates.

    >>> _regular(np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), -1).reshape(-1, 2))
    True
    >>> _regular(np.random.default_rng(0).random((81, 2)))
    False
    """
    if len(points) < _LEAST_REGULAR:
        return False
    extent = float(np.ptp(points, axis=0).max()) or 1.0
    rounded = np.rint((points - points[0]) * (1e6 / extent))
    columns, rows = (len(np.unique(values)) for values in rounded.T)
    return columns * rows <= 6 * len(points)  # a lattice that a polygon cuts has up to so many crossings


def draw_agents(
    ax: "Axes",
    network: Network,
    places: Floats,
    area: float,
    only: Indices | None = None,
    *,
    hollow: bool = False,
    faint: bool = False,
) -> None:
    """One scatter per role at ``places`` (N, n), agents in the colour of their layer; ``only`` some if given.

    ``hollow`` markers show where agents once were, ``faint`` ones that it is about others.
    """
    colours = layer_colours(network.depth)
    scatter: Any = ax.scatter  # takes two coordinates or three
    for name, agents in agents_by_role(network).items():
        role, shown = ROLES[name], agents if only is None else np.intersect1d(agents, only)
        if not shown.size:
            continue
        looks = {
            "s": area if name == "follower" else max(area, _LEAST_ANCHOR),
            "marker": "o" if hollow and name == "lost" else role.marker,  # a cross cannot be hollow
            "c": [role.colour] if role.colour else colours[network.layer[shown]],
            "linewidths": 0.5 if area > _LEAST_ANCHOR else 0.15,
            "zorder": 3,
            "rasterized": len(shown) > MOST_VECTORS,
            **({} if name == "lost" else {"edgecolors": "white"}),
            **({"c": FAINT, "zorder": 1} if faint else {}),
            **(_hollow(role.colour or colours[network.layer[shown]], area) if hollow else {}),
            **({"depthshade": False} if places.shape[1] == 3 else {}),
        }
        scatter(*places[shown].T, **looks)


def _hollow(edges: Any, area: float) -> dict[str, Any]:
    return {"c": None, "facecolors": "white", "edgecolors": edges, "linewidths": 0.6 if area > 4 else 0.3, "zorder": 2}


def draw_labels(ax: "Axes", network: Network, places: Floats, texts: list[str], area: float, agents: Indices) -> None:
    """Numbers inside the markers, white on dark layers and dark on light ones."""
    if not texts:
        return
    lightness = layer_colours(network.depth)[:, :3] @ [0.299, 0.587, 0.114]
    write: Any = ax.text
    for agent in agents.tolist():
        dark = agent == network.core or lightness[network.layer[agent]] < 0.5
        looks = {
            "color": "white" if dark else INK,
            "fontsize": 0.68 * area**0.5 * (0.8 if len(texts[agent]) > 2 else 1.0),
            "ha": "center",
            "va": "center_baseline",
            "zorder": 4,
            "in_layout": False,  # numbers stand inside markers: measuring them would take longer than all else
        }
        write(*places[agent], texts[agent], **looks)


def key_to_roles(
    ax: "Axes", network: Network, start: bool = False, targets: bool = False, more: "Sequence[Artist]" = ()
) -> None:
    """The markers of the roles that occur, above the axes; hollow ones for the ``start``, ``targets``, and more."""
    from matplotlib.lines import Line2D

    roles = [ROLES[name] for name, agents in agents_by_role(network).items() if agents.size]
    looks: list[dict[str, Any]] = [
        {"marker": role.marker, "color": role.colour or _ANY, "label": role.name} for role in reversed(roles)
    ]
    looks += [{"marker": "o", "color": _ANY, "markerfacecolor": "white", "label": "start"}] if start else []
    looks += [{"marker": ".", "color": GROUND, "label": "targets"}] if targets else []
    handles = [*(Line2D([], [], linestyle="", markersize=4.5, **look) for look in looks), *more]
    gaps: dict[str, Any] = {"columnspacing": 0.9, "handletextpad": 0.1} if len(handles) > 4 else {}
    columns = len(handles) if len(handles) < 6 else 3  # six in a row are wider than a column
    layout: dict[str, Any] = {"ncols": columns, "borderaxespad": 0.1, **gaps}
    ax.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), **layout)


def key_to_layers(ax: "Axes", network: Network) -> None:
    """A strip of the layers' colours below the axes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    count = network.depth + 1
    colours = ScalarMappable(BoundaryNorm(np.arange(count + 1) - 0.5, count), ListedColormap(layer_colours(count - 1)))
    bar = ax.figure.colorbar(colours, ax=ax, orientation="horizontal", aspect=30, shrink=0.75, pad=0.03)
    bar.set_ticks(list(range(0, count, -(-count // 10))))
    bar.ax.tick_params(length=0)
    bar.ax.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label("layer", labelpad=1)
