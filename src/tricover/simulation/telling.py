"""What agents are told before an epoch, from a scenario: networks of the roster, ways of anchors, settings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tricover.control import Told
from tricover.control.told import RECALL
from tricover.errors import InputError
from tricover.goals import GoalRule
from tricover.goals.anchors import anchor_positions
from tricover.network import Network, build_network
from tricover.simulation.resolve import Ground, still_from
from tricover.simulation.scenario import Scenario
from tricover.simulation.sections import Join
from tricover.targets import Targets
from tricover.vehicles import Vehicle

__all__ = [
    "has_phases",
    "homes_of",
    "joins_of",
    "paths_of",
    "polish_of",
    "roster_of",
    "told_of",
    "tolerance_of",
]

Floats = NDArray[np.float64]

POLISH, FEWEST_AND_MOST = 600, (3, 20)
"""Steps times agents of Lloyd in the triangle after a cell plan, unless the scenario says otherwise.

Three steps bring 200 agents and more all that there is to gain; 57 gain until the tenth or so: see docs/cellplan.md.
"""
CLOSE = 0.05
"""Metres within which a vehicle that may miss counts as at a point, unless the scenario says otherwise.

Three times what crazyflies keep: after four steps of 2 s at a goal point up to 2.8 m away, the worst of 200 was within
0.010 m of it in still air, and within 0.016 m in wind of 2 m/s with gusts of 0.5 m/s.
"""


def tolerance_of(scenario: Scenario, vehicle: Vehicle) -> float:
    """Metres within which an agent counts as at a point."""
    given = scenario.control.tolerance
    if given is not None:
        return given
    return CLOSE if vehicle.landing == "anywhere" else 0.0


def joins_of(scenario: Scenario) -> list[Join]:
    """Those who join, in the order in which they get their numbers."""
    return sorted(scenario.events.join, key=lambda join: join.step)


def roster_of(scenario: Scenario, reference: Floats) -> Floats:
    """Reference positions of the final roster, (N, 2): those of the start, and of all who join."""
    return np.concatenate([reference, *(join.reference for join in joins_of(scenario))])


def has_phases(scenario: Scenario) -> bool:
    """Whether epochs follow from how the team flies, or from plans of its own; see ``phases``."""
    control = scenario.control
    return control.motion == "morph" or control.goal == "cellplan" or sum((control.polish or {}).values()) > 0


def polish_of(scenario: Scenario, agents: int) -> tuple[str, int]:
    """The rule by which a team of so many agents goes on when it is at its goals, and for how many steps."""
    given = scenario.control.polish
    if given is not None:
        ((rule, steps),) = given.items()
        return str(rule), int(steps)
    perfect = scenario.world.channel(scenario.seed).perfect
    polishes = scenario.control.goal == "cellplan" and perfect
    return "voronoi", int(np.clip(POLISH // agents, *FEWEST_AND_MOST)) if polishes else 0


def homes_of(scenario: Scenario, ground: Ground) -> list[tuple[int, Network]]:
    """The networks of the roster, each with its first step; an event that cannot be is an error that names it."""
    settings, events = scenario.network, scenario.events
    network = build_network(ground.reference, settings.mentee, settings.core)
    found = [(0, network)]
    for step in sorted({leave.step for leave in events.leave} | {join.step for join in events.join}):
        if step < ground.launch:
            raise InputError(
                f"events at step {step}: the team is on its way from the pads until step {ground.launch}: "
                "let agents leave or join from then on"
            )
        try:
            for leave in events.leave:
                network = network.without(leave.agents) if leave.step == step else network
            for join in events.join:
                network = network.with_agents(join.reference) if join.step == step else network
        except InputError as error:
            raise type(error)(f"events at step {step}: {error}") from None
        found.append((step, network))
    return found


def told_of(
    scenario: Scenario,
    network: Network,
    paths: Floats,
    ground: Ground,
    goal: str | GoalRule | None = None,
    free: bool | None = None,
    until: int | None = None,
) -> Told:
    """What the agents of a network are told; their goal is the scenario's, or that of a phase.

    Whether anchors are ``free`` follows from the goal, where it is not said. Without given places they are with
    "descent", and with "voronoi" unless the team morphs. ``until`` when they are in motion.
    """
    control = scenario.control
    names = ("goal", "motion", "resolution", "alpha", "beta", "gamma", "margin", "speed", "window", "range", "policy")
    settings = {name: getattr(control, name) for name in names}
    settings["goal"] = settings["goal"] if goal is None else goal
    given = scenario.anchors is not None and not scenario.anchors.fit
    roams = settings["goal"] == ("descent" if control.motion == "morph" else "voronoi")
    settings["free"] = (roams and not given) if free is None else free
    settings["kernel"] = control.kernel["slip"] if isinstance(control.kernel, dict) else control.kernel
    if scenario.world.sight is not None:
        world = scenario.world
        settings |= {"sight": world.sight, "summary": world.summary, "recall": min(RECALL, len(ground.targets))}
    settings["until"] = until
    return Told(network, paths, **settings, separation=_apart(scenario), zones=ground.zones, launch=ground.launch)


def _apart(scenario: Scenario) -> float | None:
    """Metres that agents plan to keep: so much more than asked for as two vehicles may miss."""
    asked = scenario.safety.separation
    if asked is None:
        return None
    kinds = [scenario.vehicle.made(), *(group.made() for group in scenario.vehicle.others)]
    return asked + 2 * max(tolerance_of(scenario, kind) for kind in kinds)


def paths_of(scenario: Scenario, targets: Targets, networks: Sequence[tuple[int, Network]]) -> list[Floats]:
    """Where the anchors of each network are sent, step by step: (K, A, 2) in the order of its anchors.

    Networks come with the steps from which on they are used. Paths begin with the first of them. NaN: an agent that
    has no given place stays where it stood when it became an anchor.
    """
    section, last = scenario.anchors, still_from(targets, scenario.steps)
    if section is None:
        return [network.reference[None, network.anchors] for _, network in networks]
    if section.fit:
        return [anchor_positions(network, targets.at(min(start, last)), "fit")[None] for start, network in networks]
    given = np.asarray(section.positions)[None] if section.paths is None else np.asarray(section.paths)
    owners = networks[0][1].anchors
    if given.shape[1] != len(owners):
        raise InputError(
            f"anchors: the network has {len(owners)} anchors ({len(owners) - 1} boundary agents and the core), "
            f"but {given.shape[1]} places are given"
        )
    found = []
    for _, network in networks:
        places = np.full((len(given), len(network), 2), np.nan)
        places[:, owners] = given
        found.append(places[:, network.anchors])
    return found
