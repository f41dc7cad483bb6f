"""Simulated runs and their scenarios as logs: positions from the record, all else from the scenario."""

import numpy as np
from numpy.typing import NDArray

from tricover.certify.log import Log, Settings, Stretch
from tricover.network import Network
from tricover.simulation import Run
from tricover.simulation.chapters import anchor_paths, chapters
from tricover.simulation.step import Plan, plan_of
from tricover.vehicles import Mixed, Vehicle

__all__ = ["log_of_run", "settings_of"]

Floats = NDArray[np.float64]

EXACT, IDEAL = ("exact",), ("exact", "anywhere")


def log_of_run(run: Run) -> Log:
    """The log of a run; positions are read as they are needed."""
    scenario, settings = run.scenario, settings_of(plan_of(run.scenario))
    found = [chapter for chapter in chapters(scenario) if chapter.start < max(run.steps, 1)]
    stretches = []
    for which, chapter in enumerate(found):
        positions = run.read("positions", chapter.start, chapter.start + 1)[0]
        paths = anchor_paths(scenario, found, which, positions)
        arrived = _arrival(chapter.start, chapter.network, positions, paths, settings)
        stretches.append(Stretch(chapter.start, chapter.network, paths[-1], arrived))
    return Log(
        scenario.name,
        len(positions),
        run.steps,
        lambda start, stop: run.read("positions", start, stop),
        tuple(stretches),
        settings,
        scenario.targets_at(max(run.steps - 1, 0)),
        min(scenario.last_change_of_targets, run.steps),
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
