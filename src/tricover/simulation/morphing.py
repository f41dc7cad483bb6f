"""What a team that morphs is told: networks that it is nested in, and ways for its anchors that keep it so.

*Networks.* A team that morphs must be nested in its network when an epoch begins. At step 0 this is the network of
the reference positions, in which these are nested by construction. After an event it is the network of where the
living *stand* at that step, by the same rules, with those who join where they join. Where they stand is found by
flying there: resolving such a scenario takes the steps up to its last event, once more. Numbers stay, as always;
``Network.reference`` then holds where everybody stood.

*Anchors.* Their given places, or those of their paths one after the other, are where they go. Each leg is straight,
for all anchors at once, in as many even steps as the speed asks for (c_0 of ``control.morph``). They wait in the
first step of an epoch. One that has no place stays where it stands. On the whole way the polygon must stay a star
around the core (``network.fan``), or nobody could be nested in it: orientations of the core and two corners are
quadratics in time, and their signs are looked at before the run.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.control.speed import limits_of
from tricover.errors import FormationError, InputError, agents
from tricover.geometry import flat
from tricover.geometry.nesting import areas_on_way, left_all_the_way, sides
from tricover.limits import check_room
from tricover.network import Network, build_network
from tricover.network.fan import fan_of, turns_around
from tricover.network.roster import agent_indices, as_roster, told_apart
from tricover.simulation.resolve import Ground
from tricover.simulation.scenario import Scenario
from tricover.simulation.telling import paths_of

__all__ = ["AnchorWays", "first_network", "network_at"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_SHARES = np.linspace(0.0, 1.0, 1001)  # of a leg, at which an error says where it goes wrong


def first_network(scenario: Scenario, ground: Ground) -> Network:
    """The network of the reference positions, in which the team must be nested at the start."""
    network = build_network(ground.reference, scenario.network.mentee, scenario.network.core)
    if scenario.formation.start is not None:
        _check_nested(network, ground.reference if scenario.formation.assign else ground.start)
    return network


def network_at(scenario: Scenario, step: int, network: Network, positions: Floats) -> Network:
    """The network after the events of a step, of where the living stand."""
    alive = network.layer >= 0
    for leave in scenario.events.leave:
        if leave.step == step:
            lost = agent_indices(leave.agents, len(network))
            if not alive[lost].all():
                raise InputError(f"already lost: {agents(lost[~alive[lost]])}")
            alive[lost] = False
    joining = sum(len(join.reference) for join in scenario.events.join if join.step == step)
    alive = np.append(alive, np.ones(joining, np.bool_))
    places = told_apart(positions[: len(alive)], ~alive)
    return build_network(places, scenario.network.mentee, scenario.network.core, alive)


def _check_nested(network: Network, start: Floats) -> None:
    """Everybody must start inside its triangle, or on its edge, and nobody where another does."""
    as_roster(start)
    followers = network.followers
    triangles = start[network.in_neighbors[followers]]
    outside = followers[(sides(start[followers], triangles) < 0) | flat(triangles)]
    first = start[network.anchors[fan_of(network)]]
    if turns_around(network, start) != 1 or not left_all_the_way(first, first).all():
        outside = network.anchors
    if outside.size:
        raise FormationError(
            f"formation.start: morph has to start with the core inside the anchors' polygon and everybody else inside "
            f"the triangle of its in-neighbours, and so are not {agents(outside)}: leave formation.start out, or let "
            "formation.assign = true bring the team to its formation first"
        )


class AnchorWays:
    """Ways of the anchors, epoch by epoch: it counts which of the given places they have passed."""

    def __init__(self, scenario: Scenario, ground: Ground, first: Network) -> None:
        self._scenario, self._ground, self._first = scenario, ground, first
        self._passed = 0
        self._ends: list[int] = []

    def after(self, start: int, network: Network, positions: Floats) -> Floats:
        """Paths (K, A, 2) of a network's anchors, from the end of the launch on.

        Everybody is at positions (N, 2) at ``start``, which is counted from step 0 on.
        """
        given = paths_of(self._scenario, self._ground.targets, [(0, self._first), (start, network)])[1]
        start = max(start - self._ground.launch, 0)
        self._passed += sum(end < start for end in self._ends)
        stand = positions[network.anchors]
        places = np.where(np.isnan(given), stand, given)[min(self._passed, len(given) - 1) :]
        limit = float(limits_of(network, self._scenario.control.speed)[0])
        legs = np.linalg.norm(np.diff(np.concatenate([stand[None], places]), axis=0), axis=2).max(axis=1)
        counts = np.maximum(np.ceil(legs / limit), 1)
        total = start + 1 + float(counts.sum())
        check_room(16.0 * len(stand) * total, f"a way of {total:g} steps for {len(stand)} anchors")
        self._ends = (start + np.cumsum(counts)).astype(np.int64).tolist()
        rows, here = [np.repeat(stand[None], start + 1, axis=0)], stand
        for leg, (place, count) in enumerate(zip(places, counts, strict=True), 1):
            _check_leg(network, here, place, leg)
            shares = (np.arange(1, count) / count)[:, None, None]
            rows += [here + shares * (place - here), place[None]]
            here = place
        return np.concatenate(rows)


def _check_leg(network: Network, here: Floats, there: Floats, leg: int) -> None:
    """The core stays before all sides of the anchors' polygon, on a leg of the way from (A, 2) to (A, 2)."""
    cells = fan_of(network)
    wrong = np.flatnonzero(~left_all_the_way(here[cells], there[cells]))
    if not wrong.size:
        return
    areas = areas_on_way(here[cells[wrong]], there[cells[wrong]], _SHARES)
    at, which = divmod(int(areas.argmin()) if areas.min() > 0 else int((areas <= 0).argmax()), len(wrong))
    ends = agents(network.anchors[cells[wrong[which]]][1:])
    raise InputError(
        f"anchors: with the motion morph the core, agent {network.core}, must stay inside the side from {ends} of the "
        f"anchors' polygon, and does not after {_SHARES[at]:.1%} of leg {leg} of their way: give anchors.paths through "
        "places in between, or other places"
    )
