"""Edits: each takes a scenario and gives another one, checked as any other; nothing is changed in place.

Places are in metres. An edit of places needs them as numbers: what a scenario has in files or makes by rule is written
out first, once (``Scenario.self_contained``). Before the start, an edit of the team is one of its reference formation,
so the network follows. Once the team flies, its roster changes by events, as in a real flight: ``leaving`` and
``joining`` at a step. Then the network is repaired, and anchors are sent elsewhere (``sent``).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.geometry import combine, weights_in
from tricover.network import Network, build_network
from tricover.own import is_name
from tricover.simulation import Scenario
from tricover.simulation.section import LAST_STEP

__all__ = [
    "changed",
    "erased",
    "fenced",
    "joining",
    "leaving",
    "moved",
    "network_with",
    "placed",
    "reference_at",
    "removed",
    "scattered",
    "sent",
    "unfenced",
    "with_formation",
    "with_targets",
]

Floats = NDArray[np.float64]


def moved(scenario: Scenario, agent: int, place: ArrayLike) -> Scenario:
    """An agent has another reference position, (2,)."""
    full = _spelt_out(scenario)
    reference = full.reference.copy()
    _check_agents([agent], len(reference))
    reference[agent] = place
    return _with_reference(full, reference, np.arange(len(reference)))


def placed(scenario: Scenario, place: ArrayLike) -> Scenario:
    """There is one agent more, the last, at a place (2,)."""
    full = _spelt_out(scenario)
    reference = np.vstack([full.reference, np.asarray(place, float)[None]])
    return _with_reference(full, reference, np.arange(len(reference)))


def removed(scenario: Scenario, agents: Sequence[int]) -> Scenario:
    """Some agents were never there; those after them have lower numbers."""
    full = _spelt_out(scenario)
    _check_agents(agents, len(full.reference))
    kept = np.setdiff1d(np.arange(len(full.reference)), agents)
    return _with_reference(full, full.reference[kept], kept)


def with_formation(scenario: Scenario, positions: ArrayLike) -> Scenario:
    """Another team altogether, at reference positions (N, 2); anchors go nowhere else."""
    return scenario.replace(formation=positions, anchors=None, events=None)


def with_targets(scenario: Scenario, positions: ArrayLike, weights: ArrayLike | None) -> Scenario:
    """Other targets altogether, (D, 2), with weights (D,) or None."""
    given = scenario.values()
    return type(scenario)(**{**given, "targets": {"positions": positions, "weights": weights}})


def leaving(scenario: Scenario, agents: Sequence[int], step: int) -> Scenario:
    """Some agents are lost at a step; the others go on in the repaired network."""
    events = scenario.events.values()
    more = {"step": step, "agents": list(agents)}
    return scenario.replace(events={**events, "leave": (*events.get("leave", ()), more)})


def joining(scenario: Scenario, reference: ArrayLike, place: ArrayLike, step: int) -> Scenario:
    """An agent joins at a step, with a reference position (2,), at a place (2,)."""
    events = scenario.events.values()
    more = {"step": step, "reference": np.atleast_2d(reference), "positions": np.atleast_2d(place)}
    return scenario.replace(events={**events, "join": (*events.get("join", ()), more)})


def sent(scenario: Scenario, network: Network, anchors: Floats, agent: int, place: ArrayLike) -> Scenario:
    """An anchor of a network is sent to a place (2,), where all anchors go to ``anchors`` (A, 2) now."""
    places = np.array(anchors)
    places[network.anchors == agent] = place
    return scenario.replace(anchors=places)


def scattered(scenario: Scenario, points: ArrayLike, weight: float = 1.0) -> Scenario:
    """More targets, at points (K, 2), each of this weight."""
    full = _spelt_out(scenario)
    old, new = full.targets, np.asarray(points, float).reshape(-1, 2)
    if old.motion is not None and getattr(old.motion, "paths", None) is not None:
        raise InputError("targets that go along paths are changed in their file: none can be added here")
    assert old.positions is not None
    count = len(old.positions)
    after: dict[str, Any] = {"positions": np.vstack([old.positions, new])}
    if old.weights is not None or weight != 1:
        before = np.ones(count) if old.weights is None else old.weights
        after["weights"] = np.append(before, np.full(len(new), float(weight)))
    if old.ids is not None:
        after["ids"] = (*old.ids, *(f"added {number}" for number in range(count, count + len(new))))
    if old.active is not None:
        after["active"] = np.vstack([old.active, np.tile([0, LAST_STEP], (len(new), 1))])
    return full.replace(targets=after)


def erased(scenario: Scenario, centre: ArrayLike, radius: float) -> Scenario:
    """All targets within a radius of a centre (2,) are gone; one has to be left."""
    full = _spelt_out(scenario)
    old = full.targets
    assert old.positions is not None
    kept = np.linalg.norm(old.positions - np.asarray(centre, float), axis=1) > radius
    if kept.all():
        return scenario
    if not kept.any():
        raise InputError("a team needs a target: keep one, or add others first")
    after: dict[str, Any] = {"positions": old.positions[kept]}
    for name in ("weights", "active"):
        rows = getattr(old, name)
        if rows is not None:
            after[name] = rows[kept]
    if old.ids is not None:
        after["ids"] = tuple(np.array(old.ids, object)[kept])
    paths = None if old.motion is None else getattr(old.motion, "paths", None)
    if paths is not None:
        after["motion"] = {"paths": paths[:, kept]}
    return full.replace(targets=after)


def fenced(scenario: Scenario, corners: ArrayLike) -> Scenario:
    """One zone more that nobody may enter, a polygon (K, 2)."""
    full = _spelt_out(scenario)
    zones = () if full.safety.zones is None else full.safety.zones
    return full.replace(safety={"zones": [*zones, np.asarray(corners, float)]})


def unfenced(scenario: Scenario, number: int) -> Scenario:
    """A zone is gone, by its place in the list."""
    full = _spelt_out(scenario)
    zones = [] if full.safety.zones is None else list(full.safety.zones)
    if not 0 <= number < len(zones):
        raise InputError(f"there is no zone {number}: there are {len(zones)}")
    del zones[number]
    return full.replace(safety={"zones": zones or None})


def changed(scenario: Scenario, key: str, value: Any) -> Scenario:
    """A setting, such as ``control.goal`` or ``seed``, has another value; None: the default.

    Rules and vehicles of the user's own run code, so they are not taken from a page.
    """
    if _names_code(value):
        raise InputError(f"{key}: {value!r} names code: put it into the scenario file, and start the studio with that")
    section, _, name = key.partition(".")
    if not name:
        return scenario.replace(**{section: value})
    if section == "vehicle" and name == "kind":  # further keys belong to the old kind
        return scenario.replace(vehicle={"kind": value, "duration": scenario.vehicle.duration})
    return scenario.replace(**{section: {name: value}})


def network_with(scenario: Scenario, reference: Floats, agent: int, place: ArrayLike) -> tuple[Floats, Network]:
    """Reference positions (N, 2) and the network if an agent stood at a place: what is shown while it is dragged."""
    shifted = reference.copy()
    _check_agents([agent], len(shifted))
    shifted[agent] = place
    return shifted, _network(scenario, shifted)


def reference_at(network: Network, positions: Floats, place: ArrayLike) -> Floats:
    """The reference position (2,) of who joins a flying team (N, 2) at a place (2,).

    It has in the formation the barycentric coordinates that the place has in the smallest triangle around it.
    """
    followers = network.followers[np.argsort(-network.layer[network.followers], kind="stable")]
    corners = network.in_neighbors[followers]
    point = np.broadcast_to(np.asarray(place, float), (len(followers), 2))
    weights = weights_in(point, positions[corners])
    around = np.flatnonzero((weights >= 0).all(axis=1) & np.isfinite(weights).all(axis=1))
    if not around.size:
        raise InputError("there is no triangle of the network around this place: join inside the team")
    first = around[0]
    return np.asarray(combine(weights[first], network.reference[corners[first]]))


def _names_code(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_names_code, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_names_code, value))
    return is_name(value)


def _check_agents(agents: Sequence[int], count: int) -> None:
    for agent in agents:
        if not 0 <= agent < count:
            raise InputError(f"there is no agent {agent}: they have the numbers 0 to {count - 1}")


def _spelt_out(scenario: Scenario) -> Scenario:
    """All positions as numbers; as it is where they are."""
    zones = scenario.safety.zones
    plain = zones is None or isinstance(zones, tuple)
    if scenario.formation.positions is not None and scenario.targets.positions is not None and plain:
        return scenario
    return scenario.self_contained()


def _with_reference(scenario: Scenario, reference: Floats, were: NDArray[np.int64]) -> Scenario:
    """Other reference positions; ``were`` are the numbers that the agents had before, beyond the roster for new ones.

    Places of anchors stay with their agents. An agent that becomes an anchor has its reference position for its place.
    """
    if scenario.formation.start is not None:
        raise InputError("the team starts elsewhere than at its reference positions: change these in the file")
    if scenario.events.join or scenario.events.leave:
        raise InputError("agents leave or join in this scenario: change its team in the file, or go on from a step")
    if scenario.anchors is None or scenario.anchors.fit:
        return scenario.replace(formation=reference)
    places = scenario.anchors.positions if scenario.anchors.paths is None else scenario.anchors.paths[-1]
    assert places is not None
    old, new = (_network(scenario, where) for where in (scenario.reference, reference))
    goes = dict(zip(old.anchors.tolist(), places, strict=True))
    after = [goes.get(int(were[agent]), reference[agent]) for agent in new.anchors]
    return scenario.replace(formation=reference, anchors=np.array(after))


def _network(scenario: Scenario, reference: Floats) -> Network:
    return build_network(reference, scenario.network.mentee, scenario.network.core)
