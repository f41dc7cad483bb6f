"""Simulated runs and their scenarios as logs: positions from the record, all else from the scenario."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.log import Log, LoggedEpoch, Settings
from tricover.errors import InputError
from tricover.network import Network
from tricover.simulation import Run, Scenario
from tricover.simulation.chapters import Chapter, anchor_paths
from tricover.simulation.step import Plan
from tricover.vehicles import Mixed, Vehicle

__all__ = ["desired_of_run", "log_of_run", "settings_of", "with_scenario"]

Floats = NDArray[np.float64]

EXACT, IDEAL = ("exact",), ("exact", "anywhere")


def log_of_run(run: Run) -> Log:
    """The log of a run; positions are read as they are needed."""
    epochs = tuple(LoggedEpoch(start, network) for start, network in run.networks)
    agents = run.read("positions", 0, 1).shape[1]
    log = Log(run.scenario.name, agents, run.steps, partial(run.read, "positions"), epochs)
    return with_scenario(log, run.scenario)


def desired_of_run(run: Run, log: Log) -> Floats | None:
    """The desired configuration (N, 2) that a run knows, for the certificate of its log.

    None where no such claim is made, or where the run means another one: if it ends while its anchors are on their way,
    it takes the places to which they were sent last.
    """
    places = log.epochs[-1].places
    if log.still_from >= log.steps or places is None or not np.array_equal(run.anchors, places):
        return None
    return run.desired


def with_scenario(log: Log, scenario: Scenario) -> Log:
    """A log with all that its agents were told, by a scenario; the networks stay the log's own."""
    plan = Plan(scenario)
    if plan.agents != log.agents:
        raise InputError(f"the scenario has {plan.agents} agents, the log {log.agents}")
    settings = settings_of(plan)
    chapters = [Chapter(epoch.start, epoch.network) for epoch in log.epochs]
    epochs = []
    for which, (start, network) in enumerate((chapter.start, chapter.network) for chapter in chapters):
        positions = log.read(start, start + 1)[0]
        paths = anchor_paths(scenario, chapters, which, positions)
        epochs.append(LoggedEpoch(start, network, paths[-1], _arrival(start, network, positions, paths, settings)))
    return replace(
        log,
        epochs=tuple(epochs),
        settings=settings,
        targets=scenario.targets_at(max(log.steps - 1, 0)),
        still_from=min(scenario.last_change_of_targets, log.steps),
    )


def settings_of(plan: Plan) -> Settings:
    """What the agents of a scenario are told."""
    control, vehicle, agents = plan.scenario.control, plan.vehicle, plan.agents
    return Settings(
        control.motion,
        control.goal,
        control.resolution,
        control.margin,
        _which(vehicle, agents, EXACT),
        _which(vehicle, agents, IDEAL),
        plan.tolerance,
    )


def _which(vehicle: Vehicle, agents: int, kinds: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which agents (N,) ride one of these kinds."""
    if not isinstance(vehicle, Mixed):
        return np.full(agents, vehicle.kind in kinds)
    return np.array([one.kind in kinds for one in vehicle.vehicles])[list(vehicle.assignment)]


def _arrival(start: int, network: Network, positions: Floats, paths: Floats, settings: Settings) -> int | None:
    """The step from which on the anchors must stand at the end of their paths (K, A, 2); None for real vehicles."""
    if not np.asarray(settings.ideal)[network.anchors].all():
        return None
    if len(paths) > 1:
        return max(start + 1, len(paths))
    return start if np.array_equal(positions[network.anchors], paths[0]) else start + 1
