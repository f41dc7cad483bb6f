"""Simulated runs and their scenarios as logs: positions from the record, all else from the scenario."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.log import Log, LoggedEpoch, Settings, after_launch
from tricover.control import GAVE_WAY
from tricover.errors import InputError, agents, listed
from tricover.geometry import combine
from tricover.network import Network, build_network
from tricover.simulation import Mission, Run, Scenario
from tricover.simulation.mission import paths_of, roster_of
from tricover.simulation.morphing import AnchorWays
from tricover.vehicles import lands

__all__ = ["desired_of_run", "log_of_run", "settings_of", "with_scenario"]

Floats = NDArray[np.float64]


def log_of_run(run: Run) -> Log:
    """The log of a run; positions are read as they are needed."""
    launch = run.mission.launch
    epochs = tuple(LoggedEpoch(max(epoch.start, launch), epoch.network) for epoch in run.epochs)
    times = np.arange(run.steps + 1, dtype=np.float64) * run.scenario.vehicle.duration
    reader = partial(run.read, "positions")
    misses = run.scenario.control.motion == "morph" and not run.mission.exact.all()
    planned = partial(_planned, run) if misses else None
    waits = run.mission.world.clearance.apart > 0
    log = Log(
        run.scenario.name,
        run.mission.agents,
        run.steps,
        reader,
        epochs,
        times=times,
        planned=planned,
        gave_way=partial(_gave_way, run) if waits else None,
    )
    return _with_mission(log, run.mission, [epoch.told.paths for epoch in run.epochs])


def _gave_way(run: Run, step: int) -> NDArray[np.bool_]:
    """Who was not let go where it decided to, (N,)."""
    return np.asarray(run.read("next_cell", step, step + 1)[0] == GAVE_WAY)


def _planned(run: Run, step: int) -> Floats:
    """Where everybody was to be at step + 1, (N, 2), in a run that morphs: from the anchors' ways and the weights."""
    epoch, weights = run.epoch_at(step), run.read("weights", step, step + 1)[0]
    network, places = epoch.network, np.array(run.read("positions", step + 1, step + 2)[0])
    places[network.anchors] = epoch.told.places(step)
    for followers in network.layers[1:]:
        places[followers] = combine(weights[followers], places[network.in_neighbors[followers]])
    return places


def desired_of_run(run: Run, log: Log) -> Floats | None:
    """The desired configuration (N, 2) that a run knows, for the certificate of its log.

    None where no such claim is made, or where the run means another one: if it ends while its anchors are on their way,
    it takes the places to which they were sent last.
    """
    places = log.epochs[-1].places
    if log.still_from >= log.steps or places is None or not np.array_equal(run.anchors, places):
        return None
    return run.desired


def with_scenario(log: Log, scenario: Scenario, launched: int | None = None) -> Log:
    """A log with all that its agents were told, by a scenario; the networks stay the log's own.

    A log that ends before agents join may be without them. ``launched`` is the step from which on its network is used;
    None: the scenario's own.
    """
    mission = Mission.of(scenario)
    log = after_launch(log, mission.launch if launched is None else launched)
    if log.agents not in {mission.agents, *(len(epoch.network) for epoch in mission.epochs)}:
        raise InputError(f"the scenario has {mission.agents} agents, the log {log.agents}")
    _check_networks(log, mission)
    return _with_mission(log, mission, _paths(log, mission))


def _paths(log: Log, mission: Mission) -> list[Floats]:
    """Where the anchors of each of the log's networks are sent, (K, A, 2)."""
    # Given places belong to the anchors of the scenario's own first network, even if one of them was lost at once.
    scenario, first = mission.scenario, mission.epochs[0].network
    if scenario.control.motion != "morph":
        networks = [(epoch.start, epoch.network) for epoch in log.epochs]
        return paths_of(scenario, mission.targets, [(0, first), *networks])[1:]
    ways = AnchorWays(scenario, mission.ground, first)
    stands = [log.read(epoch.start, epoch.start + 1)[0] for epoch in log.epochs]
    return [ways.after(epoch.start, epoch.network, stand) for epoch, stand in zip(log.epochs, stands, strict=True)]


def _check_networks(log: Log, mission: Mission) -> None:
    """The networks of a log must be those of the scenario's roster, whoever was lost and whenever.

    Reference positions may differ: a network's file may have a plane of its own. Who listens to whom may not.
    """
    roster = roster_of(mission.scenario, mission.ground.reference)
    rules = mission.scenario.network
    for epoch in log.epochs:
        network = epoch.network
        known = [one.network for one in mission.epochs if len(one.network) == len(network)]
        if any(not _differ(network, one).any() for one in known):
            continue
        # Those who morph build a network anew from where they stand, which is its reference.
        anew = epoch.start > 0 and mission.scenario.control.motion == "morph"
        whole = build_network(network.reference if anew else roster[: len(network)], rules.mentee, rules.core)
        expected = whole.without(network.lost)
        if _differ(network, expected).any():
            agent = int(np.flatnonzero(_differ(network, expected))[0])
            raise InputError(
                f"the network of step {epoch.start} is not the scenario's: {agents([agent])} {_hears(network, agent)}, "
                f"by the scenario it {_hears(expected, agent)}; build it from the scenario's formation by its rule"
            )


def _differ(one: Network, other: Network) -> NDArray[np.bool_]:
    """Which agents (N,) of two networks of the same size hear others, or are of another layer."""
    return np.asarray((one.in_neighbors != other.in_neighbors).any(axis=1) | (one.layer != other.layer))


def _hears(network: Network, agent: int) -> str:
    hears = network.in_neighbors[agent]
    return f"hears {listed(hears)}" if hears.min() >= 0 else "hears nobody"


def _with_mission(log: Log, mission: Mission, paths: list[Floats]) -> Log:
    """A log with what a mission says, and the paths of the anchors of the log's networks."""
    settings, epochs = settings_of(mission), []
    here = slice(log.agents)
    settings = replace(settings, exact=np.asarray(settings.exact)[here], ideal=np.asarray(settings.ideal)[here])
    for epoch, path in zip(log.epochs, paths, strict=True):
        start, network = epoch.start, epoch.network
        stood = min(start, log.steps)  # it may end in the launch
        positions = log.read(stood, stood + 1)[0]
        places = np.where(np.isnan(path), positions[network.anchors], path)
        arrived = _arrival(start, network, positions, places, settings, log.launched)
        epochs.append(LoggedEpoch(start, network, places[-1], arrived, max(start + 1, log.launched + len(path))))
    return replace(
        log,
        epochs=tuple(epochs),
        settings=settings,
        targets=mission.targets_at(max(log.steps - 1, 0)),
        still_from=min(mission.targets_still_from, log.steps),
    )


def settings_of(mission: Mission) -> Settings:
    """What the agents of a mission are told."""
    control, vehicle, agents = mission.scenario.control, mission.vehicle, mission.agents
    return Settings(
        control.motion,
        control.goal,
        control.resolution,
        control.margin,
        lands(vehicle, agents, "centre"),
        lands(vehicle, agents, "centre", "inside"),
        mission.tolerance,
        mission.scenario.vehicle.duration,
        mission.scenario.safety.separation,
        mission.epochs[-1].told.separation,
        control.speed,
        mission.ground.zones,
    )


def _arrival(
    start: int, network: Network, positions: Floats, paths: Floats, settings: Settings, launched: int
) -> int | None:
    """The step from which on the anchors must stand at the end of their paths (K, A, 2); None for real vehicles."""
    if not np.asarray(settings.ideal)[network.anchors].all():
        return None
    if len(paths) > 1:
        return max(start + 1, launched + len(paths))
    return start if np.array_equal(positions[network.anchors], paths[0]) else start + 1
