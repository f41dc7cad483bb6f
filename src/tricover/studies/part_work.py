"""The work on a run in parts, piece by piece: who is in which part, stage by stage of steps, and the end.

Each piece is written by whoever does it. What is known of the whole team is put together here, and is little.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.formats.writing import new_draft
from tricover.network.core import as_choice
from tricover.network.first_cells import frame_of
from tricover.network.mentees import RULES
from tricover.simulation import Mission, Scenario
from tricover.simulation.groups import read_group, write_group
from tricover.simulation.in_parts import TOP, WAYS, Part, Stage, ways_of
from tricover.simulation.resolve import still_from
from tricover.simulation.run import AT_DESIRED
from tricover.simulation.telling import paths_of, tolerance_of
from tricover.studies.ground import Field, Sources
from tricover.studies.layout import (
    Cell,
    Layout,
    Outside,
    Sizes,
    cut_cells,
    cut_epoch,
    grouped,
    merge_tops,
    sort_team,
    split_cell,
)
from tricover.studies.part_document import Document
from tricover.studies.part_run import (
    Team,
    apart,
    left_at,
    memory_at,
    run_part,
    run_top,
    settle_part,
    settled,
    simulate_top,
)
from tricover.studies.tiles import TargetsOnDisk, TargetTiles, sort_targets
from tricover.studies.workers import each_of
from tricover.targets import Targets

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["PartsProgress", "Report", "Work"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

LARGE = 1 << 22
"""Followers of a cell that is built in one piece: 600 MB."""
_STAGE_BYTES = 256 << 20  # of what a part leaves behind in a stage
_STEP_BYTES = 64  # of an agent in a step, while it is not yet written
_OF_SUMS = ("centroid", "reference")
"""Goals that ask for no more than sums in triangles."""


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


class _Told(NamedTuple):
    """An epoch: its first step, how long its roster is, its parts, its frame, and where its anchors go."""

    start: int
    roster: int
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
class Work:
    """The work on a run, piece by piece."""

    scenario: Scenario
    sources: Sources
    path: Path
    document: Document
    client: "Client | None"
    sizes: Sizes
    report: Report

    def do(self) -> None:
        """Do all that is left to be done."""
        if self.sources.still:
            self._say("sorting targets", 0, 1)
            targets = self.sources.targets
            points, weights = (self.sources.points, None) if targets is None else (targets.points, targets.weights)
            sort_targets(points, weights, self.path / "targets")
        epochs = self._epochs()
        team, flags = self._team(), _Flags.none()
        misses: list[list[dict[str, Any]]] = []
        self.document["stages"] = []  # what is there of them is found again
        step = 0
        for which, epoch in enumerate(epochs):
            last_epoch = which == len(epochs) - 1
            end = self.scenario.steps if last_epoch else min(epochs[which + 1].start, self.scenario.steps)
            while step < end:
                stage = Stage(len(self.document["stages"]), which, step, min(end, step + self._length(epoch, step)))
                self._hand_over(team, epochs, stage)
                facts = self._run(team, epoch, stage)
                flags = flags.then(facts, stage.last - stage.first)
                misses.append(facts)
                self.document["stages"].append(list(stage))
                step = stage.last
                found = self._ended(flags, epoch) if last_epoch else None
                if found is not None:
                    step = end = found
            if step >= self.scenario.steps:
                break
        stages = zip((Stage(*each) for each in self.document["stages"]), misses, strict=True)
        missed = sum(int(part["misses"][: step - stage.first].sum()) for stage, facts in stages for part in facts)
        self._finish(team, epochs, flags, step, missed)

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
            {"start": each.start, "core": int(each.frame[1]), "parts": each.layout.parts, "roster": each.roster}
            for each in told
        ]
        self.document.write(self.path)
        return told

    @cached_property
    def _whole(self) -> Mission:
        """The mission of a team whose network changes, which is repaired as a whole."""
        return Mission.of(self.scenario)

    def _cell_by_cell(self) -> _Told:
        sources, settings = self.sources, self.scenario.network
        count = len(sources.reference)
        self._say("sorting agents", 0, 1)
        frame = frame_of(sources.reference, as_choice(settings.core, count, 2))
        anchors = np.append(frame.boundary, frame.core)
        places = np.asarray(sources.reference[anchors])
        start = None if sources.start is sources.reference else np.asarray(sources.start[anchors])
        outside = Outside.anchors(anchors, places, start)
        cells, outside = self._split(sort_team(sources, frame, self.path / "cells"), outside)
        groups = grouped(cells, outside, self.sizes.most)
        given = [(self.path, cells, settings.mentee, self.sizes) for cells in groups]
        layouts = self._each("building the network", cut_cells, given)
        layout = Layout(
            [name for each in layouts for name in each.parts],
            max([int(outside.layer.max()), *(each.depth for each in layouts)]),
            max((each.largest for each in layouts), default=0),
        )
        place = self.path / "epochs" / "0"
        merge_tops(place, [cells.name for cells in groups], outside, frame.boundary)
        nobody = {"numbers": np.empty(0, np.int64), "places": np.empty((0, 2))}
        write_group(place / "absent", nobody)
        top = Part.of(read_group(place / TOP))
        network = top.network(np.empty((0, 2)), *frame)
        paths = paths_of(self.scenario, self._seen, [(0, network)])[0]
        return _Told(0, count, layout, frame, paths)

    def _split(self, cells: list[Cell], outside: Outside) -> tuple[list[Cell], Outside]:
        """Cells that are small enough to be built, and who is outside of them."""
        rule = self.scenario.network.mentee
        ours = isinstance(rule, str) and rule in RULES  # one of the user's own has to see all members at once
        while ours and (large := [cell for cell in cells if cell.followers > LARGE]):
            given = [(self.path / "cells", cell, outside, rule) for cell in large]
            split = self._each("splitting large cells", split_cell, given)
            outside = outside.with_mentees(split)
            small = [cell for cell in cells if cell.followers <= LARGE]
            cells = small + [child for each in split for child in each.children]
        return cells, outside

    def _of_the_whole(self) -> list[_Told]:
        mission, found = self._whole, []
        for which, epoch in enumerate(mission.epochs):
            network = epoch.network
            here = mission.start().positions if which == 0 else None
            layout = cut_epoch(self.path, which, epoch, here, self.sizes)
            anchors = network.anchors
            start = None if here is None else here[anchors]
            place = self.path / "epochs" / str(which)
            outside = Outside.anchors(anchors, network.reference[anchors], start)
            merge_tops(place, ["0"], outside, network.boundary)
            found.append(_Told(epoch.start, len(network), layout, (network.boundary, network.core), epoch.told.paths))
        return found

    # --- steps ---------------------------------------------------------------------------------------------------

    def _last_change(self, epoch: _Told) -> int:
        """The step from which on nothing comes from outside any more."""
        still = 0 if self.sources.targets is None else still_from(self.sources.targets, self.scenario.steps)
        return max(epoch.start, len(epoch.paths) - 1, still)

    @cached_property
    def _seen(self) -> Targets:
        """The targets as the top sees them: all of them, but where sums are enough these stay on disk."""
        anchors = self.scenario.anchors
        fitted = anchors is not None and anchors.fit  # to the targets one by one
        if self.sources.still and not fitted and self.scenario.control.goal in _OF_SUMS:
            return TargetsOnDisk(TargetTiles(self.path / "targets"))
        return self.sources.whole

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
        first = simulate_top(team, top, epoch.frame, epoch.paths, stage, self._seen)
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
                for each, values in left_at(team.group("stages", earlier.number, name)).items():
                    whole["places" if each == "end" else each][numbers] = values
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
        self._forget_cells()

    def _forget_cells(self) -> None:
        """Remove the files of cells, which nobody needs any more; half of them must never be taken for all."""
        if (self.path / "cells").exists():
            shutil.rmtree((self.path / "cells").replace(new_draft(self.path)), ignore_errors=True)

    def _absent(self, stage: Stage) -> Floats:
        return read_group(self.path / "epochs" / str(stage.epoch) / "absent")["places"]

    def _settle_top(self, team: Team, epoch: _Told, stage: Stage, steps: int) -> dict[str, Any]:
        part = Part.of(read_group(team.group("epochs", stage.epoch, TOP)))
        ways = ways_of(read_group(team.group("stages", stage.number, TOP), WAYS))
        end, begin = ways[min(steps - stage.first, len(ways) - 1)], ways[0]
        if not team.group("desired", TOP).exists():
            network = part.network(np.empty((0, 2)), *epoch.frame)
            places = epoch.paths[min(max(steps - 1, 0), len(epoch.paths) - 1)]
            anchors = np.where(np.isnan(places), begin[network.anchors], places)
            targets = self._seen.at(min(max(steps - 1, 0), self._last_change(epoch)))
            desired = settled(team, network, targets, anchors, end)
            again = team, part, epoch.frame, epoch.paths, stage._replace(last=steps), self._seen
            more = memory_at(team, TOP, stage, steps, part, lambda: run_top(*again))
            write_group(team.group("desired", TOP), {"desired": desired, **more})
        return apart(read_group(team.group("desired", TOP))["desired"], end)


def _extent(shares: Sequence[Mapping[str, Any]], absent: Floats, agents: int) -> float:
    """How far a team's desired places are spread, as ``Run.converged`` measures it."""
    low = np.min([*(share["low"] for share in shares), *absent.tolist()], axis=0)
    high = np.max([*(share["high"] for share in shares), *absent.tolist()], axis=0)
    middle = (np.sum([share["sum"] for share in shares], axis=0) + absent.sum(axis=0)) / agents
    spread = np.maximum(high - middle, middle - low).max()
    return float(spread + np.abs([low, high]).max() * 1e-3)
