"""The log of a part in an epoch of a run: a team of its own, whose anchors are the corners of its cells.

What the part's agents were told is the scenario's, but for the anchors. The top has those of the team, with the places
to which they are sent. The corners of any other part move as the top does, and their log says where they *rest*:

- Where the top's agents land on points and do not move in the last step, they stand at their last places, from the
  step on at which the last of the corners got there. This is known from their ways.
- Where the top's agents land elsewhere, each corner is within its own radius of its desired place, from the step on by
  which the top's certificate guarantees it (``Corners``). So the part's anchors are these places, with the largest of
  the radii as tolerance, and the radii of the part's own agents begin with it.
- Else nothing is known of where they rest, and nothing that builds on it is claimed.

Layers are counted from the corners on: the layers of the whole network that the part has, in order, are 1, 2, … So
agents hear earlier layers only, in the part as in the whole network, and as many steps after the corners as there are
layers everybody rests.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.certificates import Log, LoggedEpoch, Settings
from tricover.certificates.log import ROUNDING
from tricover.certificates.runs import arrival_of
from tricover.network import Network
from tricover.simulation import Scenario
from tricover.simulation.groups import read_group
from tricover.simulation.in_parts import TOP, Part, held
from tricover.simulation.parts_reader import PartsReader
from tricover.simulation.resolve import still_from
from tricover.simulation.sections import Group, VehicleSettings
from tricover.simulation.telling import paths_of, tolerance_of
from tricover.studies.ground import Sources
from tricover.studies.kept import Piece, top_rows
from tricover.targets import Targets

__all__ = ["Corners", "Logged", "Rules", "log_of_part", "log_of_top", "rules_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_UNASKED = Targets.known(np.empty((0, 2)), None)  # where the team should be is known: nobody asks for its targets


class Rules(NamedTuple):
    """What all parts were told.

    Attributes:
        name: of the scenario.
        settings: as a certificate reads them, but for who lands where.
        ride: who has which vehicle.
        still_from: the step from which on targets stand still.
    """

    name: str
    settings: Settings
    ride: VehicleSettings
    still_from: int


class Corners(NamedTuple):
    """Where agents of the top (n,) are bound to be, by its certificate: how far from their places, and since when."""

    radii: Floats
    since: Ints


@dataclass(frozen=True, eq=False)
class Logged:
    """A part in an epoch, as it is certified.

    Attributes:
        log: its log.
        part: who is in it.
        layers: the layers of the whole network that its own layers 1, 2, … are.
        desired: where everybody of it should be, (n + K, 2); None: not known.
        rests: whether its anchors stand still in the end.
    """

    log: Log
    part: Part
    layers: Ints
    desired: Floats | None
    rests: bool


def rules_of(scenario: Scenario, sources: Sources, agents: int) -> Rules:
    """What all parts of a team of so many agents were told."""
    control, ride = scenario.control, scenario.vehicle
    vehicle = ride.team(agents) if ride.others else ride.made()
    settings = Settings(
        control.motion,
        control.goal,
        control.resolution,
        control.margin,
        tolerance=tolerance_of(scenario, vehicle),
        duration=ride.duration,
        speed=control.speed,
        zones=sources.zones,
    )
    still = 0 if sources.targets is None else still_from(sources.targets, scenario.steps)
    return Rules(scenario.name, settings, ride, still)


# --- the top ---------------------------------------------------------------------------------------------------


def log_of_top(reader: PartsReader, epoch: int, rules: Rules, sources: Sources) -> Logged:
    """The log of the top of an epoch; of the sources the targets are read, where anchors are fitted to them."""
    part, network = reader.tops[epoch], _top_network(reader, epoch)
    course = _Course(reader, epoch, TOP, part)
    settings = _told(rules, part.numbers)
    paths = _anchor_paths(reader, epoch, network, sources)
    stood = course(course.start, course.start + 1)[0]
    paths = np.where(np.isnan(paths), stood[network.anchors], paths)
    arrived = arrival_of(course.start, network, stood, paths, settings, 0)
    expected = max(course.start + 1, len(paths))
    told = LoggedEpoch(course.start, network, paths[-1], arrived, expected, goal=settings.goal)
    log = _log(course, rules, settings, told)
    arrives = np.array_equal(paths[min(course.end - 1, len(paths) - 1)], paths[-1])
    desired = _desired(reader, epoch, TOP, part) if arrives else None
    return _logged(log, part, np.unique(part.layer[part.layer > 0]), desired, True)


def _top_network(reader: PartsReader, epoch: int) -> Network:
    boundary = read_group(reader.path / "epochs" / str(epoch) / "anchors")["boundary"]
    return reader.tops[epoch].network(np.empty((0, 2)), boundary, int(reader.attributes["epochs"][epoch]["core"]))


def _anchor_paths(reader: PartsReader, epoch: int, network: Network, sources: Sources) -> Floats:
    """Where the anchors of an epoch are sent, (K, A, 2): given places stay with those who had them first."""
    scenario, start = reader.rules, int(reader.attributes["epochs"][epoch]["start"])
    fit = scenario.anchors is not None and scenario.anchors.fit
    if epoch == 0 or scenario.anchors is None or fit:
        return paths_of(scenario, sources.whole if fit else _UNASKED, [(start, network)])[0]
    first = _top_network(reader, 0)
    given = paths_of(scenario, _UNASKED, [(0, first)])[0]
    owners, now = reader.tops[0].numbers[first.anchors], reader.tops[epoch].numbers[network.anchors]
    places = np.full((len(given), len(now), 2), np.nan)
    which, row = np.nonzero(now[:, None] == owners)
    places[:, which] = given[:, row]
    return places


# --- the others ------------------------------------------------------------------------------------------------


def log_of_part(reader: PartsReader, epoch: int, name: str, rules: Rules, corners: Corners | None) -> Logged:
    """The log of a part in an epoch; ``corners`` as the top's certificate has them, None where it has none."""
    part = reader.part(epoch, name)
    course, settings = _Course(reader, epoch, name, part), _told(rules, part.everybody)
    network, layers = _from_corners(part, reader.corner_places(epoch, part))
    ways, desired = course.corner_ways(), _desired(reader, epoch, name, part)
    rest = int(np.append(0, 1 + np.flatnonzero((ways[1:] != ways[:-1]).any(axis=(1, 2))))[-1])
    told = LoggedEpoch(course.start, network, goal=settings.goal)
    bound = None if corners is None or desired is None else _bound_of(corners, top_rows(reader, epoch, part), ways)
    if bound is not None and desired is not None:
        radius, since = bound
        told = replace(told, places=desired[part.corner_rows], arrived=since)
        settings = replace(settings, tolerance=max(settings.tolerance, radius))
        return _logged(_log(course, rules, settings, told), part, layers, desired, False)
    if rest < len(ways) - 1:
        told = replace(told, places=ways[-1], arrived=course.start + rest)
        return _logged(_log(course, rules, settings, told), part, layers, desired, True)
    return _logged(_log(course, rules, settings, replace(told, free=True)), part, layers, None, False)


def _bound_of(corners: Corners, rows: Ints, ways: Floats) -> tuple[float, int] | None:
    """The largest radius of a part's corners, with what rounding adds to it, and the step from which on it holds."""
    radius = float(corners.radii[rows].max())
    if not np.isfinite(radius):
        return None
    rounding = ROUNDING * float(np.abs(ways).max()) * (len(corners.radii) + 1)
    return radius + rounding, int(corners.since[rows].max())


def _from_corners(part: Part, corner_places: Floats) -> tuple[Network, Ints]:
    """A part's network with layers counted from its corners on, and which layers of the whole network these are."""
    network, layers = part.network(corner_places), np.unique(part.layer).astype(np.int64)
    ranks = np.zeros(len(network), np.int32)
    ranks[part.rows] = 1 + np.searchsorted(layers, part.layer)
    return replace(network, layer=ranks), layers


# --- both ------------------------------------------------------------------------------------------------------


def _told(rules: Rules, numbers: Ints) -> Settings:
    """What agents by their numbers (n,) were told."""
    exact, ideal = np.empty((2, len(numbers)), np.bool_)
    exact[:], ideal[:] = _landing(rules.ride)
    for group in rules.ride.others or ():
        exact[np.isin(numbers, group.agents)], ideal[np.isin(numbers, group.agents)] = _landing(group)
    return replace(rules.settings, exact=exact, ideal=ideal)


def _landing(ride: VehicleSettings | Group) -> tuple[bool, bool]:
    """Whether a vehicle lands on the middle of its reach set, and whether within it."""
    landing = ride.made().landing
    return landing == "centre", landing in ("centre", "inside")


def _log(course: "_Course", rules: Rules, settings: Settings, told: LoggedEpoch) -> Log:
    duration = settings.duration or 1.0
    times = np.arange(course.end + 1, dtype=np.float64) * duration
    still = min(rules.still_from, course.end) if course.last else course.end
    count = len(course.part.everybody)
    return Log(rules.name, count, course.end, course, (told,), settings, _UNASKED, still, times)


def _logged(log: Log, part: Part, layers: Ints, desired: Floats | None, rests: bool) -> Logged:
    if desired is None:  # then nothing is claimed about it
        log = replace(log, still_from=log.steps)
    return Logged(log, part, layers, desired, rests)


def _desired(reader: PartsReader, epoch: int, name: str, part: Part) -> Floats | None:
    """Where everybody of a part should be, (n + K, 2); None in epochs that are not the last."""
    if epoch != reader.stages[-1].epoch:
        return None
    top, own = (read_group(reader.path / "desired" / each)["desired"] for each in (TOP, name))
    return part.merged(own, top[top_rows(reader, epoch, part)])


class _Course:
    """Where everybody of a part is, step by step of an epoch; before its first step all stand where they begin."""

    def __init__(self, reader: PartsReader, epoch: int, name: str, part: Part) -> None:
        stages = [stage for stage in reader.stages if stage.epoch == epoch]
        self.part = part
        self.start, self.end = stages[0].first, min(stages[-1].last, reader.steps)
        self.last = epoch == reader.stages[-1].epoch
        self._pieces = [Piece(reader, stage, name) for stage in stages]
        # One stage at a time: a log is read from its first step to its last.
        self._held = lru_cache(1)(self._read)

    def _read(self, which: int) -> tuple[Floats, Floats]:
        piece = self._pieces[which]
        return piece.ways(), piece.corner_ways(self.part)

    def __call__(self, start: int, stop: int) -> Floats:
        """Positions (stop - start, n + K, 2) from a step on."""
        steps = np.clip(np.arange(start, stop), self.start, self.end)
        places = np.empty((len(steps), len(self.part.everybody), 2))
        firsts = np.array([piece.stage.first for piece in self._pieces])
        stages = np.searchsorted(firsts, steps, side="right") - 1
        for stage in np.unique(stages).tolist():
            rows = np.flatnonzero(stages == stage)
            own, corners = (held(ways, steps[rows] - firsts[stage]) for ways in self._held(stage))
            places[rows] = self.part.merged(own, corners)
        return places

    def corner_ways(self) -> Floats:
        """Where its K corners are, (S, K, 2), from the first step of the epoch to the last."""
        found = []
        for piece in self._pieces:
            steps = np.arange(piece.end - piece.stage.first + (piece is self._pieces[-1]))
            found.append(held(piece.corner_ways(self.part), steps))
        return np.concatenate(found)
