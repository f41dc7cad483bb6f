"""``simulate_parts``: one huge team in parts, on this machine or on a Dask cluster, with the same bits as ``simulate``.

1. Everybody is sorted into the first cells of the network; each of them is built on its own and cut into a top and
   parts. (Networks after events are those of the whole team, cut.)
2. The top moves first, through a stage of steps; then each part on its own, with the ways of its corners.
3. When nothing changes any more, or the team has been at its goals for long enough, the run is over. Whether it is,
   follows from what the parts say of each step.
4. Each part works out its desired configuration, from that of the top.

Each piece of work is written whole or not at all, in a folder of its own. So whatever is lost, workers, the scheduler
or everything, the same call goes on where it was. All processes have to see the folder by the same path.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, StoreError
from tricover.formats.writing import make_folder, write_whole
from tricover.goals._subtrees import MORE
from tricover.goals.rules import RULES
from tricover.network.core import as_choice
from tricover.network.first_cells import frame_of
from tricover.own import label_of
from tricover.simulation import Mission, Run, Scenario
from tricover.simulation.checksums import seal_of
from tricover.simulation.in_parts import FORMAT, TOP, Part, PartsReader, Stage, is_in_parts, read_group, write_group
from tricover.simulation.lock import Lock
from tricover.simulation.long_arrays import split
from tricover.simulation.resolve import still_from
from tricover.simulation.run import AT_DESIRED
from tricover.simulation.store import place_for_run
from tricover.simulation.telling import has_phases, joins_of, paths_of, tolerance_of
from tricover.studies.ground import Field, Sources, open_sources, sort_targets
from tricover.studies.layout import Layout, Sizes, cut_cells, cut_epoch, grouped, merge_tops, sort_team
from tricover.studies.part_run import Team, apart, run_part, settle_part, settled, simulate_top
from tricover.studies.workers import each_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["PartsProgress", "simulate_parts"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

AGENTS_PER_PART = 100_000
_STAGE_BYTES = 256 << 20  # of what a part leaves behind in a stage
_STEP_BYTES = 64  # of an agent in a step, while it is not yet written


@dataclass(frozen=True)
class PartsProgress:
    """How far a run in parts is.

    Attributes:
        work: what is being done.
        done: how many pieces of it are done.
        pieces: how many there are.
        step: up to which step the whole team is known.
    """

    work: str
    done: int
    pieces: int
    step: int


Report = Callable[[PartsProgress], None]


def simulate_parts(
    scenario: Scenario,
    store: str | os.PathLike[str],
    client: "Client | None" = None,
    *,
    agents_per_part: int = AGENTS_PER_PART,
    progress: Report | None = None,
) -> Run:
    """Run a scenario in parts; the run has the same bits as that of ``simulate``.

    Args:
        scenario: what to run, with a formation and targets that may be larger than memory where they are plain NPY
            files or Zarr arrays of pairs of coordinates. Goals are "centroid", "predictive", "rollout" or "reference".
        store: a folder for the run. What is there of the same run, finished or not, is kept and gone on with.
        client: of a Dask cluster whose workers see the folder by the same path; None: here, part by part.
        agents_per_part: how large parts are, about.
        progress: called after each piece of work.

    The arrays of the run are read when they are asked for. What of it was worked out part by part, such as
    ``settled_at``, ``converged`` and ``largest_error``, costs nothing to ask for.

    >>> from tempfile import TemporaryDirectory
    >>> team = np.random.default_rng(1).random((500, 2))
    >>> scenario = Scenario(reference=team, targets=team[::2], network={"mentee": "balanced"})
    >>> with TemporaryDirectory() as folder:
    ...     simulate_parts(scenario, folder + "/run", agents_per_part=100)
    <Run of 500 agents: 5 steps, settled at step 5>
    """
    if not isinstance(scenario, Scenario):
        raise InputError(f"simulate_parts takes a Scenario, not {type(scenario).__name__}: Scenario.load reads a file")
    _check(scenario)
    if type(agents_per_part) is not int or agents_per_part < 1:
        raise InputError(f"agents_per_part must be a whole number from 1 on, not {agents_per_part!r}")
    whole = MORE if scenario.control.goal == "rollout" else 0
    sizes = Sizes(max(agents_per_part, whole), whole)
    path = Path(store).absolute()
    sources = open_sources(scenario)
    with _opened(path, _Document.of(scenario, sources, sizes.most)) as document:
        if not (document["finished"] and _whole(path, document)):
            _Work(scenario, sources, path, document, client, sizes, progress or (lambda _: None)).do()
    return Run.open(path)


def _check(scenario: Scenario) -> None:
    """Refuse what cannot be done in parts, in one line that says what can."""
    control, world = scenario.control, scenario.world
    perfect = world.channel(0).perfect and world.sight is None
    refused = {
        f"control.motion = {control.motion!r}": control.motion == "morph",
        f"control.goal = {label_of(control.goal)!r}": control.goal not in RULES,
        "control.polish": has_phases(scenario),
        "control.policy": control.policy is not None,
        "world": not perfect,
        "safety.separation": scenario.safety.separation is not None,
        "formation.assign": scenario.formation.assign,
    }
    for key, there in refused.items():
        if there:
            raise InputError(f"{key}: agents of different parts would have to hear of each other: use simulate")


# --- the root document ---------------------------------------------------------------------------------------


class _Document(dict[str, Any]):
    """What the root document of a run in parts says."""

    long: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, scenario: Scenario, sources: Sources, most: int) -> "_Document":
        """Of a run that has not begun."""
        kept = scenario if sources.ground is None else scenario.self_contained(sources.ground)
        long: dict[str, NDArray[Any]] = {}
        plain = split(kept.to_dict(arrays=True), long)
        joining = sum(len(join.reference) for join in joins_of(scenario))
        document = cls(
            tricover=version("tricover"),
            parts=FORMAT,
            scenario=plain,
            files={str(file): _looks(file) for file in (kept.formation.file, kept.targets.file) if file is not None},
            most=most,
            agents=len(sources.reference) + joining,
            epochs=[],
            stages=[],
            steps=0,
            finished=False,
            known={},
            checksums={},
        )
        document.long = long
        return document

    def write(self, path: Path) -> None:
        """Write it, whole or not at all."""
        document: dict[str, Any] = {"zarr_format": 3, "node_type": "group", "attributes": dict(self)}
        document["attributes"]["seal"] = seal_of(document)
        write_whole(path / "zarr.json", json.dumps(document, indent=1))


def _looks(file: Path) -> list[int]:
    """Size and time of a file: whether it is still the same."""
    facts = Path(file).stat()
    return [facts.st_size, facts.st_mtime_ns]


@contextmanager
def _opened(path: Path, new: _Document) -> Iterator[_Document]:
    """The root document of a run, new or as it was left, while nobody else writes to it."""
    if not is_in_parts(path):
        place_for_run(path, may_be_taken=False)
        make_folder(path)
    lock = Lock(path)
    try:
        if not is_in_parts(path):
            if new.long:
                write_group(path / "scenario", new.long)
            new.write(path)
        found = PartsReader(path)
        same = found.scenario() == _with_long(new) and all(
            found.attributes[key] == new[key] for key in ("files", "most")
        )
        if not same:
            raise StoreError(
                f"{path} is a run of another scenario, of files that have changed, or with other parts: give it what "
                "it was begun with, or choose another place"
            )
        yield _Document(found.attributes)
    finally:
        lock.release()


def _whole(path: Path, document: Mapping[str, Any]) -> bool:
    """Whether all groups of a finished run are there: who removed a damaged one wants it again."""
    stages = [Stage(*each) for each in document["stages"]]
    names = [(TOP, *epoch["parts"]) for epoch in document["epochs"]]
    who = [path / "epochs" / str(which) / name for which, some in enumerate(names) for name in some]
    what = [path / "stages" / str(stage.number) / name for stage in stages for name in names[stage.epoch]]
    ends = [path / "desired" / name for name in names[-1]]
    return all(place.exists() for place in (*who, *what, *ends, path / "flags"))


def _with_long(document: _Document) -> Scenario:
    from tricover.simulation.long_arrays import joined

    return Scenario(**joined(document["scenario"], document.long.__getitem__))


# --- the work ------------------------------------------------------------------------------------------------


class _Told(NamedTuple):
    """An epoch: its first step, its parts, its frame, and where its anchors go."""

    start: int
    layout: Layout
    frame: tuple[Ints, int]
    paths: Floats


class _Flags(NamedTuple):
    """What is known of each step of the whole team, (T,): all at their goals; somebody moved; anything changed."""

    settled: Flags
    moved: Flags
    changed: Flags

    @classmethod
    def none(cls) -> "_Flags":
        """Of no steps."""
        return cls(*(np.empty(0, np.bool_) for _ in range(3)))

    def then(self, stages: Sequence[Mapping[str, Flags]], length: int) -> "_Flags":
        """With the next steps, of which each part knows its own."""
        settled, moved, changed = np.ones(length, np.bool_), np.zeros(length, np.bool_), np.zeros(length, np.bool_)
        for part in stages:
            count = len(part["settled"])
            settled[:count] &= part["settled"]
            settled[count:] &= part["settled"][-1]  # it rests, and goes on as it is
            moved[:count] |= part["moved"]
            changed[:count] |= part["changed"]
        more = (settled, moved, changed)
        return _Flags(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))


@dataclass(eq=False)
class _Work:
    """The work on a run, piece by piece."""

    scenario: Scenario
    sources: Sources
    path: Path
    document: _Document
    client: "Client | None"
    sizes: Sizes
    report: Report

    def do(self) -> None:
        """Do all that is left to be done."""
        if self.sources.still:
            self._say("sorting targets", 0, 1)
            sort_targets(self.sources, self.path / "targets")
        epochs = self._epochs()
        team, flags = self._team(), _Flags.none()
        self.document["stages"] = []  # what is there of them is found again
        misses, step = 0, 0
        for which, epoch in enumerate(epochs):
            last_epoch = which == len(epochs) - 1
            end = self.scenario.steps if last_epoch else min(epochs[which + 1].start, self.scenario.steps)
            while step < end:
                stage = Stage(len(self.document["stages"]), which, step, min(end, step + self._length(epoch, step)))
                self._hand_over(team, epochs, stage)
                facts = self._run(team, epoch, stage)
                flags = flags.then(facts, stage.last - stage.first)
                misses += sum(part["misses"] for part in facts)
                self.document["stages"].append(list(stage))
                step = stage.last
                found = self._ended(flags, epoch) if last_epoch else None
                if found is not None:
                    step = end = found
            if step >= self.scenario.steps:
                break
        self._finish(team, epochs, flags, step, misses)

    def _say(self, work: str, done: int, pieces: int) -> None:
        stages = self.document["stages"]
        self.report(PartsProgress(work, done, pieces, stages[-1][3] if stages else 0))

    def _each(self, work: str, function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Results of pieces of work, in order."""
        found: list[Any] = [None] * len(given)
        self._say(work, 0, len(given))
        for done, (place, result) in enumerate(each_of(self.client, function, given), 1):
            found[place] = result
            self._say(work, done, len(given))
        return found

    def _team(self) -> Team:
        """What all parts are told."""
        scenario, nobody = self.scenario, [[0, 0], [4, 0], [0, 4], [1, 1]]
        vehicle = scenario.vehicle.team(self.document["agents"]) if scenario.vehicle.others else scenario.vehicle.made()
        ride = {key: value for key, value in scenario.vehicle.values().items() if key != "others"}
        changed = {
            "formation": {"positions": nobody},
            "targets": {"positions": nobody},
            "vehicle": ride,
            # Of a team with several kinds of vehicle, all go by the same.
            "control": {**scenario.control.values(), "tolerance": tolerance_of(scenario, vehicle)},
        }
        kept = {key: value for key, value in scenario.values().items() if key not in ("anchors", "events")}
        rules = Scenario(**{key: value for key, value in {**kept, **changed}.items() if value is not None})
        field = Field(self.path, self.sources.still)
        return Team(self.path, rules, scenario.vehicle, self.sources.zones, field)

    # --- who is in which part ------------------------------------------------------------------------------------

    def _epochs(self) -> list[_Told]:
        """The epochs of the run, their parts written."""
        events = self.scenario.events
        told = self._of_the_whole() if events.leave or events.join else [self._cell_by_cell()]
        self.document["epochs"] = [
            {"start": each.start, "core": int(each.frame[1]), "parts": each.layout.parts, "roster": roster}
            for each, roster in zip(told, self._rosters, strict=True)
        ]
        self.document.write(self.path)
        return told

    def _cell_by_cell(self) -> _Told:
        sources, settings = self.sources, self.scenario.network
        count = len(sources.reference)
        self._say("sorting agents", 0, 1)
        frame = frame_of(sources.reference, as_choice(settings.core, count, 2))
        anchors = np.append(frame.boundary, frame.core)
        places = np.asarray(sources.reference[anchors])
        start = None if sources.start is sources.reference else np.asarray(sources.start[anchors])
        sort_team(sources, frame, self.path / "cells")
        groups = grouped(self.path / "cells", frame, places, self.sizes.most)
        given = [(self.path, cells, settings.mentee, self.sizes) for cells in groups]
        layouts = self._each("building the network", cut_cells, given)
        layout = Layout(
            [name for each in layouts for name in each.parts],
            max((each.depth for each in layouts), default=0),
            max((each.largest for each in layouts), default=0),
        )
        place = self.path / "epochs" / "0"
        merge_tops(place, [cells.name for cells in groups], anchors, places, start)
        nobody = {"numbers": np.empty(0, np.int64), "places": np.empty((0, 2))}
        write_group(place / "absent", nobody)
        top = Part.of(read_group(place / TOP))
        network = top.network(np.empty((0, 2)), *frame)
        paths = paths_of(self.scenario, self._all_targets, [(0, network)])[0]
        self._rosters = [count]
        return _Told(0, layout, frame, paths)

    def _of_the_whole(self) -> list[_Told]:
        mission = Mission.of(self.scenario)
        self._whole = mission
        self._rosters = [len(epoch.network) for epoch in mission.epochs]
        found = []
        for which, epoch in enumerate(mission.epochs):
            network = epoch.network
            here = mission.start().positions if which == 0 else None
            layout = cut_epoch(self.path, which, epoch, here, self.sizes)
            anchors = network.anchors
            start = None if here is None else here[anchors]
            place = self.path / "epochs" / str(which)
            merge_tops(place, ["0"], anchors, network.reference[anchors], start)
            found.append(_Told(epoch.start, layout, (network.boundary, network.core), epoch.told.paths))
        return found

    @property
    def _all_targets(self) -> Any:
        return self.sources.whole

    # --- steps ---------------------------------------------------------------------------------------------------

    def _last_change(self, epoch: _Told) -> int:
        """The step from which on nothing comes from outside any more."""
        still = 0 if self.sources.targets is None else still_from(self.sources.targets, self.scenario.steps)
        return max(epoch.start, len(epoch.paths) - 1, still)

    def _length(self, epoch: _Told, step: int) -> int:
        """How many steps a stage has: as many as it may take, if what they leave behind fits in memory."""
        room = max(8, _STAGE_BYTES // (_STEP_BYTES * max(epoch.layout.largest, 1)))
        if self.scenario.vehicle.kind == "exact":
            return room  # who is at rest ends sooner
        return min(room, max(8, self._last_change(epoch) + 2 * epoch.layout.depth + 3 - step))

    def _run(self, team: Team, epoch: _Told, stage: Stage) -> list[dict[str, Any]]:
        self._say(f"steps {stage.first} to {stage.last}: the top", 0, 1)
        place = team.group("epochs", stage.epoch, TOP)
        top = Part.of(read_group(place))
        first = simulate_top(team, top, epoch.frame, epoch.paths, stage, self._all_targets)
        given = [(team, name, stage) for name in epoch.layout.parts]
        return [first, *self._each(f"steps {stage.first} to {stage.last}", run_part, given)]

    def _ended(self, flags: _Flags, epoch: _Told) -> int | None:
        """The step at which the run is over by the rule of ``simulate``; None if it goes on."""
        if not self.scenario.stop_when_settled:
            return None
        begin, quiet = self._last_change(epoch), 0
        for step in range(begin, len(flags.settled)):
            quiet = quiet + 1 if flags.settled[step] else 0
            if not flags.changed[step] or quiet > epoch.layout.depth:
                return step + 1
        return None

    def _hand_over(self, team: Team, epochs: Sequence[_Told], stage: Stage) -> None:
        """At the start of an epoch: who takes part in it, and where everybody is, in the order of the numbers."""
        if stage.first != epochs[stage.epoch].start or len(epochs) == 1:
            return
        place, begin = team.group("epochs", stage.epoch, "absent"), team.group("stages", stage.number, "begin")
        whole = self._gathered(team, stage)
        if stage.first and not begin.exists():
            write_group(begin, whole)
        present = self._whole.epochs[stage.epoch].present(self._whole.agents)
        absent = np.flatnonzero(~present)
        write_group(place, {"numbers": absent, "places": whole["places"][absent]})

    def _gathered(self, team: Team, stage: Stage) -> dict[str, NDArray[Any]]:
        """Where everybody is before a stage, and what it carries."""
        state = self._whole.start()
        whole: dict[str, NDArray[Any]] = {"places": state.positions.copy(), "vehicles": state.vehicles.copy()}
        whole |= {f"memory.{name}": values.copy() for name, values in state.memory.items()}
        for earlier in (Stage(*each) for each in self.document["stages"]):
            for name in (TOP, *self.document["epochs"][earlier.epoch]["parts"]):
                numbers = read_group(team.group("epochs", earlier.epoch, name), ("numbers",))["numbers"]
                for each, values in read_group(team.group("stages", earlier.number, name)).items():
                    if each == "positions":
                        whole["places"][numbers] = values[-1]
                    elif each in whole:
                        whole[each][numbers] = values
        return whole

    # --- the end -------------------------------------------------------------------------------------------------

    def _finish(self, team: Team, epochs: Sequence[_Told], flags: _Flags, steps: int, misses: int) -> None:
        """Work out where everybody should be, and what is known of the run."""
        stage = Stage(*self.document["stages"][-1])
        write_group(self.path / "flags", {"settled": flags.settled[:steps]})
        epoch = epochs[stage.epoch]
        shares = [self._settle_top(team, epoch, stage, steps)]
        given = [(team, name, stage, steps) for name in epoch.layout.parts]
        shares += self._each("where everybody should be", settle_part, given)
        at_rest = bool(steps) and not flags.moved[steps - 1]
        settled_at: int | None = None
        if at_rest:
            settled_at = int(np.flatnonzero(flags.moved[:steps])[-1]) + 1 if flags.moved[:steps].any() else 0
        else:
            since = steps - int(np.argmin(np.append(flags.settled[:steps][::-1], False)))
            settled_at = since if steps - since > epoch.layout.depth else None
        error = max(share["error"] for share in shares)
        known: dict[str, Any] = {"settled_at": settled_at, "missed": misses, "largest_error": error}
        if self.scenario.safety.zones is None:  # else somebody may be cut off, which takes the whole team to see
            close = not at_rest or error <= AT_DESIRED * _extent(shares, self._absent(stage), self.document["agents"])
            known["converged"] = settled_at is not None and close
        self.document |= {"steps": steps, "finished": True, "known": known}
        self.document.write(self.path)
        shutil.rmtree(self.path / "cells", ignore_errors=True)  # nobody needs it any more

    def _absent(self, stage: Stage) -> Floats:
        return read_group(self.path / "epochs" / str(stage.epoch) / "absent")["places"]

    def _settle_top(self, team: Team, epoch: _Told, stage: Stage, steps: int) -> dict[str, Any]:
        part = Part.of(read_group(team.group("epochs", stage.epoch, TOP)))
        ways = read_group(team.group("stages", stage.number, TOP), ("positions",))["positions"]
        end, begin = ways[min(steps - stage.first, len(ways) - 1)], ways[0]
        if not team.group("desired", TOP).exists():
            network = part.network(np.empty((0, 2)), *epoch.frame)
            places = epoch.paths[min(max(steps - 1, 0), len(epoch.paths) - 1)]
            anchors = np.where(np.isnan(places), begin[network.anchors], places)
            targets = self._all_targets.at(min(max(steps - 1, 0), self._last_change(epoch)))
            desired = settled(team, network, targets, anchors, end)
            write_group(team.group("desired", TOP), {"desired": desired})
        return apart(read_group(team.group("desired", TOP))["desired"], end)


def _extent(shares: Sequence[Mapping[str, Any]], absent: Floats, agents: int) -> float:
    """How far a team's desired places are spread, as ``Run.converged`` measures it."""
    low = np.min([*(share["low"] for share in shares), *absent.tolist()], axis=0)
    high = np.max([*(share["high"] for share in shares), *absent.tolist()], axis=0)
    middle = (np.sum([share["sum"] for share in shares], axis=0) + absent.sum(axis=0)) / agents
    spread = np.maximum(high - middle, middle - low).max()
    return float(spread + np.abs([low, high]).max() * 1e-3)
