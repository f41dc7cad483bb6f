"""Our methods and Lloyd's algorithm side by side, on the same targets and the same team.

Of each method:

``cost``      weighted mean squared distance of the settled team, and ``ratio``, the same over converged Lloyd's
``steps``     until the team stands. Ours settle exactly, a layer per step: after ``depth`` steps where every agent
              reaches its goal point in one, and one more where the anchors move first. Lloyd's counts as settled, to
              its advantage, when its cost is within 1% of where it ends.
``messages``  positions received, per agent and step. A follower of ours hears three agents and an anchor nobody; in
              Lloyd's an agent needs the positions of its Delaunay neighbours, to know its Voronoi cell. So do ours
              while they polish, or go by ``voronoi`` or ``descent``. What is said to make a cell plan is counted, too:
              two numbers for a position, and one to everybody once for each.
``changes``   share of these links that are new in a step. Ours never change, but for Delaunay neighbours. In Lloyd's an
              agent must find out by itself whom to listen to next.
``least_distance``  of any two agents on their way, in metres, with straight ways between steps (see ``separation``).
              Ours in the motion ``reach``; Lloyd's over the iterations until it counts as settled. None for a planned
              formation, which does not say from where its agents come.
``seconds``   of computing for the whole team until it stands, on this machine: what all agents of ours do together
              (and the planning, where there is some), or all iterations of Lloyd's.

Lloyd's algorithm starts where the team stands, as ours do. It stops in a local optimum, and from a poor start in a poor
one: on clustered targets ours can be better (a ratio below one). A planned formation starts better (see ``plan``).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.coverage.lloyd import lloyd
from tricover.coverage.metrics import coverage_cost
from tricover.coverage.plan import plan_formation
from tricover.coverage.voronoi import triangulate
from tricover.errors import FormationError
from tricover.geometry import separation
from tricover.goals import anchor_positions, desired_configuration
from tricover.goals.cellplan import EVERYBODY
from tricover.network import Network, build_network
from tricover.notebook import as_text, rows_as_html
from tricover.simulation import Scenario, simulate
from tricover.targets import Targets, as_targets
from tricover.units import length

__all__ = ["Comparison", "Method", "compare_methods"]

Floats = NDArray[np.float64]
Result = TypeVar("Result")

_SETTLED = 1.01  # of the cost that Lloyd's algorithm ends with
_CONVERGED = 1e-6
_OURS = (
    ("paper: fermat, centroid", "fermat", "centroid"),
    ("balanced, centroid", "balanced", "centroid"),
    ("balanced, predictive", "balanced", "predictive"),
    ("balanced, rollout", "balanced", "rollout"),
)
#: Goals that are about more than a triangle: they are run, and come to rest by themselves.
_BY_RUNS = (
    ("cellplan", {"goal": "cellplan"}),
    ("voronoi", {"goal": "voronoi"}),
    ("predictive, descent", {"goal": "descent", "motion": "morph"}),
)
_LONGEST, _DESCENT = 400, 100  # steps of these, and of descent
_APART = 1e-7  # of the team's extent: descent begins where predictive has led, and no two may be at one place there


@dataclass(frozen=True)
class Method:
    """One row of a comparison; see the module for what the figures mean."""

    name: str
    cost: float
    ratio: float
    steps: int
    messages: float
    changes: float
    least_distance: float | None
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """All methods on one set of targets, and where each leaves the team."""

    methods: tuple[Method, ...]
    positions: tuple[Floats, ...]
    agents: int
    targets: Targets

    def __getitem__(self, name: str) -> Method:
        return next(method for method in self.methods if method.name == name)

    @property
    def title(self) -> str:
        """What was compared, on one line."""
        return f"{self.agents} agents, {len(self.targets)} targets"

    def table(self) -> list[list[str]]:
        """Header and rows as text."""
        rows = [
            [
                method.name,
                f"{method.ratio:.2f}",
                str(method.steps),
                f"{method.messages:.2f}",
                f"{100 * method.changes:.1f} %",
                "–" if method.least_distance is None else length(method.least_distance),
                f"{method.seconds:.3f}",
            ]
            for method in self.methods
        ]
        return [["method", "coverage", "steps", "messages", "new links", "least distance", "seconds"], *rows]

    def __repr__(self) -> str:
        return as_text(self.title, self.table())

    def _repr_html_(self) -> str:
        header, *rows = self.table()
        return rows_as_html(self.title, header, rows)


@dataclass(frozen=True)
class _Settled:
    """What a method leaves behind, before it is set beside Lloyd's."""

    name: str
    positions: Floats
    steps: int
    messages: float
    changes: float
    least_distance: float | None
    seconds: float


def compare_methods(
    reference: ArrayLike, targets: Targets | ArrayLike, anchors: ArrayLike | str | None = None
) -> Comparison:
    """Settle a team with reference positions (N, 2) over still targets by every method.

    ``anchors`` as in ``desired_configuration``, for our methods and for Lloyd's with anchors held. Where it is None, a
    row with fitted anchors is added.
    """
    team, targets = build_network(reference), as_targets(targets)
    settled = [_ours(name, team.reference, mentee, goal, targets, anchors) for name, mentee, goal in _OURS]
    if anchors is None:
        settled.append(_ours("balanced, rollout, fitted", team.reference, "balanced", "rollout", targets, "fit"))
    settled += [_by_run(name, team.reference, targets, anchors, control) for name, control in _BY_RUNS[:-1]]
    settled += _descended(team.reference, targets, anchors)
    settled.append(_planned(len(team), targets))
    start = team.reference.copy()
    start[team.anchors] = anchor_positions(team, targets, anchors)
    settled.append(_lloyds("Lloyd, anchors held", start, targets, team.anchors))
    settled.append(_lloyds("Lloyd", team.reference, targets, np.empty(0, np.int64)))
    costs = [coverage_cost(one.positions, targets) for one in settled]
    best = costs[-1]
    methods = (
        Method(
            one.name,
            cost,
            cost / best if best else 1.0,
            one.steps,
            one.messages,
            one.changes,
            one.least_distance,
            one.seconds,
        )
        for one, cost in zip(settled, costs, strict=True)
    )
    return Comparison(tuple(methods), tuple(one.positions for one in settled), len(team), targets)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def _ours(
    name: str, reference: Floats, mentee: str, goal: str, targets: Targets, anchors: ArrayLike | str | None
) -> _Settled:
    network = build_network(reference, mentee)
    places = anchor_positions(network, targets, anchors)
    desired_configuration(network, targets, places, goal)  # compiles, and lets the targets make their index
    positions, seconds = _timed(lambda: desired_configuration(network, targets, places, goal))
    steps = network.depth + (not np.array_equal(places, reference[network.anchors]))
    team = Scenario(
        reference=reference,
        targets=targets,
        anchors=places,
        network={"mentee": mentee},
        control={"motion": "reach", "goal": goal},
        steps=steps,
    )
    least = simulate(team).separation.distance
    return _Settled(name, positions, steps, _heard(network), 0.0, least, seconds)


def _by_run(
    name: str,
    reference: Floats,
    targets: Targets,
    anchors: ArrayLike | str | None,
    control: dict[str, Any],
    longest: int = _LONGEST,
) -> _Settled:
    team = Scenario(
        reference=reference,
        targets=targets,
        anchors=anchors,
        network={"mentee": "balanced"},
        control=control,
        steps=longest,
    )
    simulate(team)  # compiles
    run, seconds = _timed(lambda: simulate(team))
    steps = run.steps if run.settled_at is None else max(run.settled_at, 1)
    heard, changed = 0.0, 0.0
    for epoch, end in zip(run.epochs, [*(epoch.start for epoch in run.epochs[1:]), steps], strict=True):
        length = max(min(end, steps) - epoch.start, 0)
        heard += length * _heard(epoch.network)
        if epoch.messages is not None:
            copies = np.where(epoch.messages.receivers == EVERYBODY, len(reference), 1)
            heard += float((copies * epoch.messages.numbers).sum()) / 2 / len(reference)
        if epoch.told.hears_near and length:
            links, new = _delaunay_links(list(run.positions[epoch.start : epoch.start + length + 1]))
            heard, changed = heard + length * links, changed + length * links * new
    least = run.separation.distance
    return _Settled(name, run.positions[-1], steps, heard / steps, changed / heard, least, seconds)


def _descended(reference: Floats, targets: Targets, anchors: ArrayLike | str | None) -> list[_Settled]:
    """Descent from where ``predictive`` has led; nothing where that leaves nobody inside the others' hull."""
    network = build_network(reference, "balanced")
    places = desired_configuration(network, targets, anchors, "predictive")
    size = float(np.ptp(places, axis=0).max())
    apart = places + _APART * size * np.random.default_rng(0).normal(size=places.shape)
    name, control = _BY_RUNS[-1]
    try:
        found = _by_run(name, apart, targets, None, control, _DESCENT)
    except FormationError:
        return []
    return [replace(found, steps=found.steps + network.depth + 1)]


def _planned(agents: int, targets: Targets) -> _Settled:
    plan, planning = _timed(lambda: plan_formation(targets, agents))
    positions, seconds = _timed(lambda: desired_configuration(plan.network, targets, plan.anchors, "reference"))
    steps = plan.network.depth + 1
    return _Settled("planned, reference", positions, steps, _heard(plan.network), 0.0, None, planning + seconds)


def _heard(network: Network) -> float:
    return 3 * len(network.followers) / len(network)


def _lloyds(name: str, start: Floats, targets: Targets, held: NDArray[np.int64]) -> _Settled:
    result, seconds = _timed(lambda: lloyd(start, targets, fixed=held, tolerance=_CONVERGED))
    steps = int(np.argmax(result.costs <= _SETTLED * result.costs[-1]))
    way = [start]
    for _ in range(steps):
        way.append(lloyd(way[-1], targets, 1, fixed=held).positions)
    messages, changes = _delaunay_links(way)
    least = separation(np.stack(way)).distance
    return _Settled(name, result.positions, steps, messages, changes, least, seconds)


def _delaunay_links(way: list[Floats]) -> tuple[float, float]:
    """Mean number of Delaunay neighbours per agent, and mean share of the links that are new in a step."""
    graphs = [_links(positions) for positions in way]
    changed = [
        1 - len(np.intersect1d(before, links, assume_unique=True)) / len(links) for before, links in pairwise(graphs)
    ]
    count = float(np.mean([len(links) for links in graphs]))
    return 2 * count / len(way[0]), float(np.mean(changed)) if changed else 0.0


def _links(positions: Floats) -> NDArray[np.int64]:
    """Edges of the Delaunay graph, each as one number, ascending."""
    corners = np.sort(triangulate(positions), axis=1)
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [0, 2]], corners[:, [1, 2]]])
    return np.unique(pairs[:, 0] * len(positions) + pairs[:, 1])
