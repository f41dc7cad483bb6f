"""Simulated runs and their scenarios as logs: positions from the record, all else from the scenario."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.heard import Late
from tricover.certificates.late import RISK
from tricover.certificates.log import Log, LoggedEpoch, Settings, after_launch
from tricover.control import GAVE_WAY
from tricover.control.hearing import NOTHING
from tricover.errors import InputError, agents, listed
from tricover.geometry import combine
from tricover.network import Network, build_network
from tricover.simulation import Mission, Run, Scenario
from tricover.simulation.hearing import senders_of
from tricover.simulation.morphing import AnchorWays
from tricover.simulation.telling import paths_of, roster_of
from tricover.vehicles import lands

__all__ = ["arrival_of", "desired_of_run", "log_of_run", "settings_of", "with_scenario"]

Floats = NDArray[np.float64]


def log_of_run(run: Run) -> Log:
    """The log of a run; positions are read as they are needed."""
    launch = run.mission.launch
    epochs = tuple(
        LoggedEpoch(max(epoch.start, launch), epoch.network, goal=epoch.told.goal, free=epoch.told.free)
        for epoch in run.epochs
    )
    times = np.arange(run.steps + 1, dtype=np.float64) * run.scenario.vehicle.duration
    reader = partial(run.read, "positions")
    misses = run.scenario.control.motion == "morph" and not run.mission.exact.all()
    planned = partial(_planned, run, _Entries(run, "weights"), _Entries(run, "positions")) if misses else None
    waits = run.mission.world.clearance.apart > 0
    log = Log(
        run.scenario.name,
        run.mission.agents,
        run.steps,
        reader,
        epochs,
        times=times,
        planned=planned,
        gave_way=partial(_gave_way, _Entries(run, "next_cell")) if waits else None,
    )
    if not run.mission.world.channel.perfect:
        ages, believed = _Entries(run, "ages"), _Entries(run, "believed")
        known = zip(log.epochs, _informed(run, believed), strict=True)
        epochs = tuple(replace(epoch, informed=step) for epoch, step in known)
        log = replace(log, epochs=epochs, late=_late(run, ages, believed))
    return _with_mission(log, run.mission, [epoch.told.paths for epoch in run.epochs])


def _late(run: Run, ages: "_Entries", believed: "_Entries") -> Late:
    """What a run knows of its messages."""
    oldest, span, total, count = 0, 0, 0, 0
    unheard = np.zeros((run.mission.agents, 3), np.int64)
    ever = np.zeros(unheard.shape, np.bool_)  # a process that stood still in the last step may well have heard before
    senders = np.full(unheard.shape, -1)
    for step in range(run.steps):
        before, senders = senders, senders_of(run.mission, step, believed(step))
        age = ages(step)
        present = run.epoch_at(step).present(run.mission.agents)
        listens = (senders >= 0) & present[senders] & present[:, None]
        span = max(span, int(age.max(initial=0)))
        waited = np.where(senders == before, unheard, 0) + 1
        ever = (ever & (senders == before)) | (age != NOTHING)
        unheard = np.where(listens & (age == NOTHING), waited, 0)
        oldest = max(oldest, int(age[listens].max(initial=0)), int(unheard.max(initial=0)))
        heard = age[listens & (age != NOTHING)]
        total, count = total + int(heard.sum()), count + len(heard)
    silent, slots = np.nonzero((unheard > 0) & ~ever)
    channel, links = run.mission.world.channel, 3 * len(run.network.followers)
    return Late(
        ages,
        lambda step: senders_of(run.mission, step, believed(step)),
        oldest,
        span,
        total / count if count else None,
        None if run.scenario.world.radio is not None else channel.late_by(links, max(run.steps, 1), RISK),
        not run.scenario.world.loss,
        np.stack([silent, senders[silent, slots]], axis=1),
    )


def _informed(run: Run, believed: "_Entries") -> list[int]:
    """The steps from which on everybody knew of each epoch; that after the last if it never did."""
    found = [epoch.start for epoch in run.epochs]
    for step in range(run.steps):
        living = np.flatnonzero(run.network_at(step).layer >= 0)
        for which in range(int(believed(step)[living].min()) + 1, len(found)):
            found[which] = max(found[which], step + 1)
    return found


class _Entries:
    """Entries of an array over time, one at a time; the block of the last one is kept, as blocks are read whole."""

    def __init__(self, run: Run, name: str) -> None:
        self.run, self.name = run, name
        self._start, self._block = 0, run.read(name, 0, 0)

    def __call__(self, step: int) -> NDArray[Any]:
        """The entry of a step."""
        if not self._start <= step < self._start + len(self._block):
            length = self.run.block
            self._start = step // length * length
            self._block = self.run.read(self.name, self._start, self._start + length)
        return np.asarray(self._block[step - self._start])


def _gave_way(next_cells: "_Entries", step: int) -> NDArray[np.bool_]:
    """Who was not let go where it decided to, (N,)."""
    return np.asarray(next_cells(step) == GAVE_WAY)


def _planned(run: Run, weights_at: "_Entries", positions_at: "_Entries", step: int) -> Floats:
    """Where everybody was to be at step + 1, (N, 2), in a run that morphs: from the anchors' ways and the weights."""
    epoch, weights = run.epoch_at(step), weights_at(step)
    network, places = epoch.network, np.array(positions_at(step + 1))
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
    if not mission.world.channel.perfect:
        log = replace(log, late=_untold(log, mission))
    return _with_mission(log, mission, _paths(log, mission))


def _untold(log: Log, mission: Mission) -> Late:
    """What is known of messages where the log does not tell which positions agents acted on."""
    channel, links = mission.world.channel, 3 * len(log.epochs[-1].network.followers)
    oldest = max(channel.history, channel.late_by(links, max(log.steps, 1), RISK))
    senders = log.epochs[-1].network.in_neighbors
    return Late(None, lambda step: senders, oldest, oldest, None, None, False, np.empty((0, 2), np.int64))


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
    settings, epochs = settings_of(mission, log.steps), []
    here = slice(log.agents)
    settings = replace(settings, exact=np.asarray(settings.exact)[here], ideal=np.asarray(settings.ideal)[here])
    for epoch, path in zip(log.epochs, paths, strict=True):
        start, network, known = epoch.start, epoch.network, epoch.known_from
        stood = min(start, log.steps)  # it may end in the launch
        positions = log.read(stood, stood + 1)[0]
        places = np.where(np.isnan(path), positions[network.anchors], path)
        arrived = arrival_of(known, network, positions, places, settings, log.launched)
        expected = max(known + 1, log.launched + len(path))
        at_rest = {"places": places[-1], "arrived": arrived, "expected": expected}
        epochs.append(replace(epoch, **at_rest))
    return replace(
        log,
        epochs=tuple(epochs),
        settings=settings,
        targets=mission.targets_at(max(log.steps - 1, 0)),
        still_from=min(mission.targets_still_from, log.steps),
    )


def settings_of(mission: Mission, steps: int | None = None) -> Settings:
    """What the agents of a mission are told: in the end, or in the last of so many steps."""
    last = mission.epochs[-1] if steps is None else mission.epoch_at(max(steps - 1, 0))
    control, vehicle, agents = mission.scenario.control, mission.vehicle, mission.agents
    return Settings(
        control.motion,
        last.told.goal,
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
        mission.scenario.world.sight,
        control.policy is not None,
    )


def arrival_of(
    start: int, network: Network, positions: Floats, paths: Floats, settings: Settings, launched: int
) -> int | None:
    """The step from which on the anchors must stand at the end of their paths (K, A, 2); None for real vehicles."""
    if not np.asarray(settings.ideal)[network.anchors].all():
        return None
    if len(paths) > 1:
        return max(start + 1, launched + len(paths))
    return start if np.array_equal(positions[network.anchors], paths[0]) else start + 1
