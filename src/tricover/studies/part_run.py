"""What one part of a team does from one step to another, with the ways of its corners given.

It is the loop of ``simulate``, with the same functions, for the part alone. Its agents draw random numbers by their
numbers in the whole team. It knows the targets near its triangles: all of these lie within the hull of where its
corners are, and its own agents, unless a vehicle misses its reach set. Then it runs again with more targets.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.control.records import RECORDS
from tricover.goals import settled_configuration
from tricover.network import Network
from tricover.simulation import Mission, Scenario, State, Transition, advance
from tricover.simulation.groups import attributes_of, read_group, write_group
from tricover.simulation.in_parts import TOP, WAYS, Part, Stage, held, places_after, ways_of
from tricover.simulation.incremental import Incremental
from tricover.simulation.mission import Epoch, Played
from tricover.simulation.resolve import Ground
from tricover.simulation.sections import VehicleSettings
from tricover.simulation.step import same_memory
from tricover.simulation.telling import told_of
from tricover.studies.ground import Field
from tricover.studies.regions import subtrees_of
from tricover.targets import Targets
from tricover.vehicles import Mixed, Vehicle

__all__ = [
    "Course",
    "Team",
    "left_at",
    "memory_at",
    "run_part",
    "run_stage",
    "run_top",
    "settle_part",
    "simulate_top",
    "start_of",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Team:
    """What every part of a team is told.

    Attributes:
        store: the folder of the run.
        rules: the scenario, without its team and its targets.
        ride: who has which vehicle.
        zones: polygons that nobody enters.
        field: the targets.
    """

    store: Path
    rules: Scenario
    ride: VehicleSettings
    zones: tuple[Floats, ...] | None
    field: Field

    def vehicle(self, numbers: Ints) -> Vehicle:
        """The vehicle of agents by their numbers (n,)."""
        if not self.ride.others:
            return self.ride.made()
        which = np.zeros(len(numbers), np.int64)
        for kind, group in enumerate(self.ride.others, 1):
            which[np.isin(numbers, group.agents)] = kind
        return Mixed((self.ride.made(), *(group.made() for group in self.ride.others)), tuple(which.tolist()))

    def mission(
        self, network: Network, numbers: Ints, paths: Floats, first: int, targets: Targets, played: Played | None
    ) -> Mission:
        """The mission of agents with these numbers in the whole team, from a step on."""
        ground = Ground(network.reference, network.reference, targets, None, self.zones)
        epoch = Epoch(first, told_of(self.rules, network, paths, ground))
        whole = Mission.with_epochs(self.rules, [epoch], ground)
        return replace(whole, vehicle=self.vehicle(numbers), played=played)

    def group(self, *names: object) -> Path:
        """The place of a group in the store."""
        return self.store.joinpath(*map(str, names))


class Course(NamedTuple):
    """What a part did in a stage, n agents in k steps."""

    taken: list[Transition]
    end: State
    moved: Flags
    """Whether anybody moved in a step, (k,)."""
    changed: Flags
    """Whether anything changed, (k,): a vehicle's state, or what is remembered."""


def run_stage(mission: Mission, state: State, last: int) -> Course:
    """The steps up to ``last``, or until nothing will ever change; at least one.

    Where chance has a say, a step in which nothing changes means nothing; and who learns, learns at rest, too.
    """
    ends = bool(mission.exact.all()) and not any(name in RECORDS for name in state.memory)
    taken: list[Transition] = []
    moved, changed = [], []
    decide_all = Incremental()
    while state.step < last and not (taken and state.still and ends):
        step = advance(mission, state, decide_all)
        assert step.transition is not None, "a step was taken"
        before, state = state, step.state
        taken.append(step.transition)
        moved.append(not np.array_equal(before.positions, state.positions))
        same = np.array_equal(before.vehicles, state.vehicles) and same_memory(state.memory, before.memory)
        changed.append(not same)
    return Course(taken, state, np.array(moved), np.array(changed))


def start_of(mission: Mission, first: int, places: Floats, arrays: dict[str, NDArray[Any]] | None) -> State:
    """The state of a part at a step: at rest at places (n, 2), or as arrays by name say."""
    present = np.ones(len(places), np.bool_)
    fresh = mission.memory_at(places)
    if arrays is None:
        return State(first, places, mission.vehicle.initial_state(places), present, fresh)
    memory = {name: arrays.get(f"memory.{name}", rows) for name, rows in fresh.items()}
    return State(first, places, arrays["vehicles"], present, memory)


def arrays_of(course: Course, rows: Ints) -> dict[str, NDArray[Any]]:
    """What is kept of a course, of some rows of the part's arrays."""
    taken, end = course.taken, course.end
    found: dict[str, NDArray[Any]] = {
        "positions": np.stack([transition.before[rows] for transition in taken]),
        "end": taken[-1].after[rows],
        "settled": np.array([transition.settled for transition in taken]),
        "moved": course.moved,
        "changed": course.changed,
        "vehicles": end.vehicles[rows],
        **{f"memory.{name}": values[rows] for name, values in end.memory.items()},
    }
    cells = [transition.cells for transition in taken]
    if cells[0] is not None:
        for column, name in enumerate(("state", "goal_cell", "next_cell")):
            found[name] = np.stack([each[column][rows] for each in cells if each is not None]).astype(np.int32)
    misses = [transition.misses for transition in taken]
    if misses[0] is not None:
        found["miss"] = np.stack([each[rows] for each in misses if each is not None])
    return found


def simulate_top(
    team: Team, part: Part, frame: tuple[Ints, int], paths: Floats, stage: Stage, targets: Targets
) -> dict[str, Any]:
    """Run the top of a team through a stage, and write it down; what is there already is kept."""
    place = team.group("stages", stage.number, TOP)
    if not place.exists():
        write_group(place, arrays_of(run_top(team, part, frame, paths, stage, targets), part.rows))
    return summary_of(place)


def run_top(team: Team, part: Part, frame: tuple[Ints, int], paths: Floats, stage: Stage, targets: Targets) -> Course:
    """What the top of a team does in a stage."""
    network = part.network(np.empty((0, 2)), *frame)
    nobody = np.empty(0, np.int64), np.empty((1, 0, 2))
    played = Played(part.numbers, *nobody, stage.first)
    mission = team.mission(network, part.numbers, paths, stage.first, targets, played)
    return run_stage(mission, _begin(team, mission, part, TOP, stage), stage.last)


def run_part(team: Team, name: str, stage: Stage) -> dict[str, Any]:
    """Run a part of a team through a stage, and write it down; what is there already is kept."""
    place = team.group("stages", stage.number, name)
    if not place.exists():
        part, corner_places, ways = _with_corners(team, name, stage)
        course = _run_part(team, name, stage, part, corner_places, ways)
        write_group(place, arrays_of(course, part.rows))
    return summary_of(place)


def _with_corners(team: Team, name: str, stage: Stage) -> tuple[Part, Floats, Floats]:
    """Who is in a part, where its corners are at the reference positions (K, 2), and their ways (S + 1, K, 2)."""
    part = Part.of(read_group(team.group("epochs", stage.epoch, name)))
    top = read_group(team.group("epochs", stage.epoch, TOP), ("numbers", "reference"))
    rows = np.searchsorted(top["numbers"], part.corners)
    ways = ways_of(read_group(team.group("stages", stage.number, TOP), WAYS))
    return part, top["reference"][rows], ways[:, rows]


def _run_part(team: Team, name: str, stage: Stage, part: Part, corner_places: Floats, ways: Floats) -> Course:
    network = part.network(corner_places)
    played = Played(part.everybody, part.corner_rows, ways, stage.first)
    paths = ways[-1][None]
    probe = team.mission(network, part.everybody, paths, stage.first, Targets.known(np.empty((0, 2)), None), played)
    begin = _begin(team, probe, part, name, stage)
    subtrees = subtrees_of(network)
    region = subtrees.region(ways, begin.positions)
    while True:
        targets = team.field.near(region.roomy())
        mission = replace(probe, ground=replace(probe.ground, targets=targets))
        course = run_stage(mission, begin, stage.last)
        reached = subtrees.reached(region, *(transition.after for transition in course.taken))
        if team.field.everywhere or region.roomy().covers(reached):
            return course
        region = reached


def _begin(team: Team, mission: Mission, part: Part, name: str, stage: Stage) -> State:
    """The state of a part at the start of a stage, its corners at their places."""
    played = mission.played
    assert played is not None, "it is a part"
    corners = played.ways[0]
    kept: dict[str, NDArray[Any]] | None = None
    if stage.first == 0:
        arrays = read_group(team.group("epochs", stage.epoch, name), ("reference", "start"))
        places = arrays.get("start", arrays["reference"])
    else:
        kept = _left_behind(team, part, name, stage)
        places = kept.pop("places")
    positions = part.merged(places, corners)
    if kept is not None:
        resting = mission.vehicle.initial_state(positions)
        kept = {each: _filled(values, resting if each == "vehicles" else None, part) for each, values in kept.items()}
    return start_of(mission, stage.first, positions, kept)


def _filled(values: NDArray[Any], resting: Floats | None, part: Part) -> NDArray[Any]:
    """Values of a part's own agents (n, …) with rows for its corners, (n + K, …)."""
    both = np.zeros((len(part.everybody), *values.shape[1:]), values.dtype) if resting is None else resting.copy()
    both[part.rows] = values
    return both


def _left_behind(team: Team, part: Part, name: str, stage: Stage) -> dict[str, NDArray[Any]]:
    """Where a part's agents are after the stage before, and what they carry: arrays (n, …) by name."""
    whole = team.group("stages", stage.number, "begin")
    if whole.exists():  # by another network: in the order of the numbers
        return {each: values[part.numbers] for each, values in read_group(whole).items()}
    kept = left_at(team.group("stages", stage.number - 1, name))
    return {"places": kept.pop("end"), **kept}


def left_at(place: Path) -> dict[str, NDArray[Any]]:
    """What a stage left behind at a place: "end", "vehicles", and what agents remember."""
    names = ("end", "vehicles", *(each for each in attributes_of(place)["checksums"] if each.startswith("memory.")))
    return read_group(place, names)


def summary_of(place: Path) -> dict[str, Any]:
    """What the whole team has to know of a part's stage."""
    kept = read_group(place, ("settled", "moved", "changed", "miss"))
    misses = (kept["miss"] > 0).sum(axis=1) if "miss" in kept else np.zeros(len(kept["settled"]), np.int64)
    return {**{name: kept[name] for name in ("settled", "moved", "changed")}, "misses": misses}


def settle_part(team: Team, name: str, stage: Stage, steps: int) -> dict[str, Any]:
    """Work out the desired configuration of a part, from that of the top, and write it down."""
    place = team.group("desired", name)
    part, corner_places, ways = _with_corners(team, name, stage)
    end = places_after(team.group("stages", stage.number, name), steps - stage.first)
    if not place.exists():
        numbers = read_group(team.group("epochs", stage.epoch, TOP), ("numbers",))["numbers"]
        corners = read_group(team.group("desired", TOP))["desired"][np.searchsorted(numbers, part.corners)]
        network = part.network(corner_places)
        here = part.merged(end, held(ways, np.array([steps - stage.first]))[0])
        region = subtrees_of(network).region(np.stack([ways[-1], corners]), here).roomy()
        targets = team.field.near(region).at(max(steps - 1, 0))
        desired = settled(team, network, targets, corners, here)
        again = stage._replace(last=steps)
        more = memory_at(
            team, name, stage, steps, part, lambda: _run_part(team, name, again, part, corner_places, ways)
        )
        write_group(place, {"desired": desired[part.rows], **more})
    return apart(read_group(place)["desired"], end)


def memory_at(
    team: Team, name: str, stage: Stage, steps: int, part: Part, again: Callable[[], Course]
) -> dict[str, NDArray[Any]]:
    """What a part's agents remember at the end of a run, if they remember anything and went on after it; else nothing.

    Then they do ``again`` what they did up to the end.
    """
    place = team.group("stages", stage.number, name)
    remembers = any(each.startswith("memory.") for each in attributes_of(place)["checksums"])
    if not remembers or steps - stage.first >= len(read_group(place, ("settled",))["settled"]):
        return {}
    return {f"memory.{each}": values[part.rows] for each, values in again().end.memory.items()}


def settled(team: Team, network: Network, targets: Targets, anchors: Floats, here: Floats) -> Floats:
    """The desired configuration of a network, its anchors at their desired places and everybody at (N, 2) now."""
    control = team.rules.control
    told = told_of(team.rules, network, anchors[None], Ground(here, here, targets, None, team.zones))
    among = told.obstacles, None if told.obstacles is None else here
    mode = control.goal, control.motion, control.resolution, None
    return settled_configuration(network, targets, anchors, *mode, *among)


def apart(desired: Floats, end: Floats) -> dict[str, Any]:
    """How far agents are from where they should be in the end, and how far these places are spread."""
    return {
        "error": float(np.linalg.norm(end - desired, axis=1).max(initial=0.0)),
        "low": desired.min(axis=0).tolist(),
        "high": desired.max(axis=0).tolist(),
        "sum": desired.sum(axis=0).tolist(),
    }
