"""Simulated runs and their scenarios as logs: positions from the record, all else from the scenario."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.log import Log, Settings, Stretch
from tricover.errors import InputError
from tricover.network import Network
from tricover.simulation import Mission, Run, Scenario
from tricover.simulation.mission import paths_of
from tricover.vehicles import lands

__all__ = ["log_of_run", "settings_of", "with_scenario"]

Floats = NDArray[np.float64]


def log_of_run(run: Run) -> Log:
    """The log of a run; positions are read as they are needed."""
    stretches = tuple(Stretch(epoch.start, epoch.network) for epoch in run.epochs)
    log = Log(run.scenario.name, run.mission.agents, run.steps, partial(run.read, "positions"), stretches)
    return _with_mission(log, run.mission, [epoch.told.paths for epoch in run.epochs])


def with_scenario(log: Log, scenario: Scenario) -> Log:
    """A log with all that its agents were told, by a scenario; the networks stay the log's own."""
    mission = Mission.of(scenario)
    if mission.agents != log.agents:
        raise InputError(f"the scenario has {mission.agents} agents, the log {log.agents}")
    networks = [(stretch.start, stretch.network) for stretch in log.stretches]
    return _with_mission(log, mission, paths_of(scenario, mission.targets, networks))


def _with_mission(log: Log, mission: Mission, paths: list[Floats]) -> Log:
    """A log with what a mission says, and the paths of the anchors of the log's networks."""
    settings, stretches = settings_of(mission), []
    for stretch, path in zip(log.stretches, paths, strict=True):
        start, network = stretch.start, stretch.network
        positions = log.read(start, start + 1)[0]
        places = np.where(np.isnan(path), positions[network.anchors], path)
        arrived = _arrival(start, network, positions, places, settings)
        stretches.append(Stretch(start, network, places[-1], arrived))
    return replace(
        log,
        stretches=tuple(stretches),
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
    )


def _arrival(start: int, network: Network, positions: Floats, paths: Floats, settings: Settings) -> int | None:
    """The step from which on the anchors must stand at the end of their paths (K, A, 2); None for real vehicles."""
    if not np.asarray(settings.ideal)[network.anchors].all():
        return None
    if len(paths) > 1:
        return max(start + 1, len(paths))
    return start if np.array_equal(positions[network.anchors], paths[0]) else start + 1
