"""The picture of a run at any time, for films: one figure whose artists are made once and then only moved.

What stands still (targets, desired positions, the key) is drawn once and kept as pixels; what moves is drawn over it.
The figure has its own Agg canvas, so no screen and no backend is needed. Vertices of links and trails are views of one
array each: writing into it moves them all. Artists are made anew only where the network changes. Of a huge team
only the first layers are drawn, and only their positions are kept.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import plain
from tricover.network import Network
from tricover.plot.agents import (
    agents_by_role,
    draw_agents,
    draw_lines,
    draw_targets,
    first_agents,
    links,
    marker_area,
    place_targets,
    present_targets,
    tell_sample,
)
from tricover.plot.style import FAINT, GROUND, INK, ROLES, figure_style, layer_colours
from tricover.plot.zones import draw_zones, zone_key
from tricover.simulation import Run
from tricover.simulation.run import BLOCK

__all__ = ["Scene"]

Floats = NDArray[np.float64]
Pixels = NDArray[np.uint8]

WIDTH = 7.2  # inches; pixels scale with it
HEADER, FOOTER, SIDE = 0.45, 0.5, 0.12  # inches around the drawing
FLATTEST, TALLEST = 0.45, 1.15  # of the drawing, over its width
ROOM = 0.03  # around everybody, of the extent
SETTLED = "#0072b2"
LONGEST_NAME = 45  # characters, beside the counter
_ANY = "#6b6b6b"  # a follower of no particular layer
_DOTS = 2.0  # targets are so much larger than in print
_ANCHOR = 22.0  # points²: anchors stay visible among thousands


class Scene:
    """Pictures of a run, ``size`` pixels wide; ``links`` and ``trails`` (so many steps long) if wanted.

    They show what lies between two ``corners``, the lower left and the upper right one, (2,) each, in metres. None: all
    that is ever to be seen in the run.
    """

    def __init__(
        self,
        run: Run,
        size: int = 720,
        links: bool = True,
        trails: int = 10,
        corners: tuple[Floats, Floats] | None = None,
    ) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.run, self._links, self._trails = run, links, trails
        self._low, self._high = _bounds(run) if corners is None else corners
        self._cast = [first_agents(epoch.network) for epoch in run.epochs]
        self._agents = np.unique(np.concatenate(self._cast))  # whoever is drawn at any time
        self._positions = _Positions(run, self._agents)
        self._starts = np.array([epoch.start for epoch in run.epochs])
        self._epoch = -1  # the one that the artists belong to: none yet
        self._still: Any = None
        across, extent = WIDTH - 2 * SIDE, self._high - self._low
        down = across * float(np.clip(extent[1] / extent[0], FLATTEST, TALLEST))
        pixels = 2 * round((HEADER + down + FOOTER) * size / WIDTH / 2)
        self._height = pixels * WIDTH / size
        with figure_style():
            self._figure = Figure((WIDTH, self._height), dpi=size / WIDTH)
            self._figure.set_layout_engine("none")
            self._canvas: Any = FigureCanvasAgg(self._figure)
            box = (SIDE / WIDTH, FOOTER / self._height, across / WIDTH, down / self._height)
            self._ax = self._figure.add_axes(box)
            self._prepare()

    def picture(self, time: float, ease: bool = False) -> Pixels:
        """The picture (height, width, 4) at a time in steps, whole or not; the next one overwrites it.

        Between two steps agents are on the straight line; with ``ease`` they start and stop softly.
        """
        step = min(int(time), self.run.steps)
        part = time - step
        trail = self._positions.at(step, self._trails, part * part * (3 - 2 * part) if ease else part)
        with figure_style():
            epoch = self._epoch_at(step)
            if epoch != self._epoch:
                self._epoch = epoch
                self._meet(self.run.epochs[epoch].network, self._cast[epoch])
            self._move(step, trail)
            self._canvas.restore_region(self._still)
            for artist in self._moving:
                self._ax.draw_artist(artist)
        return np.asarray(self._canvas.buffer_rgba())

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, height = self._canvas.get_width_height()
        return width, height

    # --- once ------------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """What stands still, as pixels; the artists of what will move."""
        run, ax = self.run, self._ax
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.set(xlim=(self._low[0], self._high[0]), ylim=(self._low[1], self._high[1]))
        shown = self._cast[-1]
        self._area = max(8.0, 2.2 * marker_area(len(shown), labelled=False))
        self._targets = draw_targets(ax, *present_targets(run.mission.targets_at(0)), _DOTS, 0.7)
        self._targets.set_animated(not run.mission.targets.still)
        draw_zones(ax, run)
        living = shown[run.network.layer[shown] >= 0]
        width = 0.1 * self._area**0.5
        rings: dict[str, Any] = {"facecolors": "none", "edgecolors": FAINT, "linewidths": width, "zorder": 0.7}
        x, y = run.desired[living].T
        ax.scatter(x, y, s=0.8 * self._area, **rings)
        tell_sample(ax, len(shown), len(run.network))
        self._write()
        self._moving: list[Any] = []
        self._canvas.draw()
        self._still = self._canvas.copy_from_bbox(self._figure.bbox)

    def _write(self) -> None:
        """Title and key; the counter is moved in the pictures."""
        from matplotlib.lines import Line2D

        figure, looks = self._figure, {"linestyle": "", "markersize": 6}
        line: dict[str, Any] = {"y": 1 - 0.5 * HEADER / self._height, "va": "center", "fontsize": 12}
        name = plain(self.run.scenario.name)
        title = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
        figure.text(x=SIDE / WIDTH, s=title, weight="bold", parse_math=False, **line)
        self._counter = figure.text(x=1 - SIDE / WIDTH, s="", ha="right", animated=True, **line)
        shown = [
            (role.name, {"marker": role.marker, "color": role.colour or _ANY})
            for name, role in ROLES.items()
            if name != "lost" or any(epoch.network.lost.size for epoch in self.run.epochs)
        ]
        shown.append(("desired", {"marker": "o", "markerfacecolor": "none", "color": FAINT}))
        shown.append(("target", {"marker": ".", "color": GROUND}))
        handles: list[Any] = [Line2D([], [], label=name, **{**looks, **more}) for name, more in shown]  # type: ignore[arg-type]
        handles += zone_key(self.run)
        place: Any = (0.005, 0.5 * FOOTER / self._height)
        row = {"ncols": len(handles), "bbox_to_anchor": place, "fontsize": 9, "borderaxespad": 0, "columnspacing": 0.9}
        figure.legend(handles=handles, loc="center left", **row)
        self._strip()

    def _strip(self) -> None:
        """The colours of the layers, as a strip."""
        depth = self.run.network.depth
        box = (1 - 1.4 / WIDTH, 0.4 * FOOTER / self._height, 1.05 / WIDTH, 0.2 * FOOTER / self._height)
        strip = self._figure.add_axes(box)
        strip.imshow(layer_colours(depth)[None], aspect="auto", interpolation="nearest")
        strip.set_axis_off()
        words: dict[str, Any] = {"va": "center", "fontsize": 9, "transform": strip.transAxes}
        strip.text(-0.04, 0.45, "layer 0", ha="right", **words)
        strip.text(1.04, 0.45, str(depth), ha="left", **words)

    # --- for each picture ------------------------------------------------------------------------------------------

    def _epoch_at(self, step: int) -> int:
        """Which epoch a step belongs to, counted from 0: the last that has begun."""
        return int(np.searchsorted(self._starts, step, side="right")) - 1

    def _meet(self, network: Network, shown: NDArray[np.int64]) -> None:
        """Artists for the agents of a network that are ``shown``, in the order of drawing."""
        for artist in self._moving:
            if artist not in (self._targets, self._counter):
                artist.remove()
        ax, colours = self._ax, layer_colours(network.depth)
        moving: list[Any] = [] if self.run.mission.targets.still else [self._targets]
        walkers = shown[network.layer[shown] >= 0]
        self._walkers = self._rows(walkers)
        self._tails = np.empty((len(walkers), self._trails + 1, 2))
        if self._trails:
            tint, width = colours[network.layer[walkers]], 0.3 * self._area**0.5
            moving.append(draw_lines(ax, self._tails, tint, width, alpha=0.25, animated=True, joinstyle="round"))
        pairs = links(network, shown[network.layer[shown] > 0])
        self._pairs = self._rows(pairs)
        self._segments = np.empty((len(pairs), 2, 2))
        if self._links:
            layer = network.layer[pairs[:, 1]]
            width = np.clip(80 / len(network), 0.3, 1.3) * (1.0 - 0.5 * (layer - 1) / network.depth)
            moving.append(draw_lines(ax, self._segments, colours[layer], width, alpha=0.45, animated=True))
        self._markers = []
        nowhere = np.zeros((len(network), 2))
        for role, everybody in agents_by_role(network).items():
            agents = np.intersect1d(everybody, shown)
            if agents.size:
                area = max(self._area, 0.0 if role == "follower" else _ANCHOR)
                draw_agents(ax, network, nowhere, area, only=agents)
                self._markers.append((self._rows(agents), ax.collections[-1]))
        for _, markers in self._markers:
            markers.set_animated(True)
        self._moving = [*moving, *(markers for _, markers in self._markers), self._counter]

    def _rows(self, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where agents stand among those whose positions are kept."""
        return np.searchsorted(self._agents, agents)

    def _move(self, step: int, trail: Floats) -> None:
        """Put everything where it is."""
        self._tails[:] = trail[:, self._walkers].swapaxes(0, 1)
        launching = step < self.run.mission.launch
        self._segments[:] = np.nan if launching else trail[-1][self._pairs]  # nobody listens yet
        for agents, markers in self._markers:
            markers.set_offsets(trail[-1][agents])
        if self._moving[0] is self._targets:
            place_targets(self._targets, *present_targets(self.run.mission.targets_at(step)), _DOTS)
        settled = self.run.settled_at is not None and step >= self.run.settled_at
        now = f"from the pads, step {step}" if launching else f"step {step}"
        self._counter.set_text(f"settled at step {self.run.settled_at}" if settled else now)
        self._counter.set_color(SETTLED if settled else INK)


class _Positions:
    """Positions of some agents of a run, read block by block as time goes on."""

    def __init__(self, run: Run, agents: NDArray[np.int64]) -> None:
        self._run, self._agents, self._start, self._block = run, agents, 0, np.empty((0, 0, 2))
        self._length = max(1, BLOCK // len(run.network))

    def at(self, step: int, trail: int, part: float) -> Floats:
        """Where these agents are a ``part`` of the way beyond a step, after ``trail`` steps before: (trail + 1, K, 2).

        Before the start everybody stands where it starts.
        """
        first, last = max(0, step - max(trail, 1) + 1), min(step + 1, self._run.steps)
        if first < self._start or last >= self._start + len(self._block):
            self._start = first
            self._block = self._run.read("positions", first, max(last, first + self._length) + 1)[:, self._agents]
        known = self._block[first - self._start : last - self._start + 1]
        here, there = known[step - first], known[last - first]
        ways = [*known[: step - first + 1], here + part * (there - here)][-(trail + 1) :]
        return np.stack([ways[0]] * (trail + 1 - len(ways)) + ways)


def _bounds(run: Run) -> tuple[Floats, Floats]:
    """The corners of a box around all that is ever shown, with some room."""
    still = run.mission.targets.still
    moments = [0] if still else np.linspace(0, run.steps, min(run.steps + 1, 50)).astype(int).tolist()
    parts = [run.mission.targets_at(step).points for step in moments] + [run.desired]
    parts += [points.reshape(-1, 2) for _, points in run.blocks("positions")]
    low = np.min([points.min(axis=0) for points in parts if len(points)], axis=0)
    high = np.max([points.max(axis=0) for points in parts if len(points)], axis=0)
    room = ROOM * float((high - low).max())
    return low - room, high + room
