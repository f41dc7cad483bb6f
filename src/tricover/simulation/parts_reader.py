"""Reading a stored run in parts; ``in_parts`` has what is in it. What is damaged is named when it is read."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError
from tricover.network import Network
from tricover.network.core import as_choice
from tricover.simulation.groups import Arrays, attributes_of, damaged, read_group
from tricover.simulation.in_parts import FORMAT, TOP, WAYS, Part, Stage, held, ways_of
from tricover.simulation.long_arrays import joined
from tricover.simulation.mission import Epoch, Mission
from tricover.simulation.record import LAYOUTS
from tricover.simulation.resolve import Ground, ground_of
from tricover.simulation.scenario import Scenario
from tricover.simulation.step import Transition
from tricover.simulation.telling import paths_of, roster_of, told_of
from tricover.targets import Targets

__all__ = ["PartsReader", "is_in_parts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = ("state", "goal_cell", "next_cell")


def is_in_parts(path: Path) -> bool:
    """Whether there is a run in parts at a place."""
    try:
        document = json.loads((path / "zarr.json").read_text())
        return "parts" in document["attributes"]
    except (OSError, KeyError, TypeError, ValueError, RecursionError):
        return False


class PartsReader:
    """A stored run in parts, as a record; nothing is read before it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.attributes = attributes_of(path)
        if self.attributes["parts"] != FORMAT:
            raise FileFormatError(
                f"{path}: a run in parts of format {self.attributes['parts']}, and this version reads {FORMAT}: "
                "run it again"
            )
        self.stages = [Stage(*each) for each in self.attributes["stages"]]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process opens the same folder."""
        return PartsReader, (self.path,)

    @property
    def steps(self) -> int:
        """T: how many steps were taken."""
        return int(self.attributes["steps"])

    @property
    def agents(self) -> int:
        """N, the final roster."""
        return int(self.attributes["agents"])

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return bool(self.attributes["finished"])

    @property
    def known(self) -> Mapping[str, Any]:
        """What was worked out part by part, by the names that a run has for it."""
        facts: dict[str, Any] = self.attributes["known"]
        return facts

    @cached_property
    def rules(self) -> Scenario:
        """The scenario."""
        return self.scenario()

    def scenario(self) -> Scenario:
        """The scenario, with its long arrays."""
        place = self.path / "scenario"
        long = read_group(place) if place.exists() else {}

        try:
            return Scenario(**joined(self.attributes["scenario"], long.__getitem__))
        except KeyError as error:
            raise damaged(place, error) from None

    # --- who is where -------------------------------------------------------------------------------------------

    def names(self, epoch: int) -> list[str]:
        """The names of the parts of an epoch, the top first."""
        names: list[str] = self.attributes["epochs"][epoch]["parts"]
        return [TOP, *names]

    def part(self, epoch: int, name: str) -> Part:
        """Who is in a part."""
        return Part.of(read_group(self.path / "epochs" / str(epoch) / name))

    @cached_property
    def tops(self) -> list[Part]:
        """The top of each epoch."""
        return [self.part(epoch, TOP) for epoch in range(len(self.attributes["epochs"]))]

    def corner_places(self, epoch: int, part: Part) -> Floats:
        """Reference positions of a part's corners, (K, 2)."""
        top = self.tops[epoch]
        return top.reference[np.searchsorted(top.numbers, part.corners)]

    def mission(self) -> Mission:
        """The mission, with the networks that the run had, put together from their parts."""
        scenario = self.rules
        ground = ground_of(scenario)
        roster = roster_of(scenario, ground.reference)
        known = [(each, self._network(which, each, roster)) for which, each in enumerate(self.attributes["epochs"])]
        networks = [(int(each["start"]), network) for each, network in known]
        paths = paths_of(scenario, ground.targets, networks)
        epochs = [
            Epoch(start, told_of(scenario, network, path, ground))
            for (start, network), path in zip(networks, paths, strict=True)
        ]
        return Mission.with_epochs(scenario, epochs, ground)

    def _network(self, which: int, epoch: Mapping[str, Any], roster: Floats) -> Network:
        count = int(epoch["roster"])
        links, below = np.full((count, 3), -1, np.int32), np.zeros((count, 3), np.int32)
        layer = np.full(count, -1, np.int32)
        for part in self._parts_of(which):
            links[part.numbers], below[part.numbers] = part.in_neighbors, part.descendants
            layer[part.numbers] = part.layer
        rules = self.rules.network
        boundary = read_group(self.path / "epochs" / str(which) / "anchors")["boundary"]
        choice = as_choice(rules.core, count, 2)
        reference = roster[:count].copy()
        return Network(reference, links, layer, below, boundary, int(epoch["core"]), rules.mentee, choice)

    def _parts_of(self, epoch: int) -> Iterator[Part]:
        for name in self.names(epoch):
            yield self.part(epoch, name)

    # --- over time ----------------------------------------------------------------------------------------------

    def read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Entries ``start`` to ``stop`` of an array over time."""
        layout = LAYOUTS[name]
        values = np.zeros(layout.shape(max(stop - start, 0), self.agents), layout.dtype)
        if name == "settled":
            return read_group(self.path / "flags")["settled"][start:stop]
        if name in _CELLS:
            values[:] = -2
        for stage, first, last in self._stretches(start, stop, layout.by_time):
            here = values[first - start : last - start]
            if name == "present":
                self._who(stage, here)
            elif name == "positions":
                self._stand(stage, here)
            for part in () if name == "present" else self.names(stage.epoch):
                members, of_part = self._entries(stage, part, name, first, last)
                here[:, members] = of_part
        return values

    def _stretches(self, start: int, stop: int, by_time: bool) -> Iterator[tuple[Stage, int, int]]:
        """Stages with the entries that each has of those asked for; the last one has the end, too."""
        for which, stage in enumerate(self.stages):
            final = which == len(self.stages) - 1
            end = self.steps if final else stage.last
            first, last = max(start, stage.first), min(stop, end + (final and by_time))
            if first < last:
                yield stage, first, last

    def _who(self, stage: Stage, present: NDArray[np.bool_]) -> None:
        present[:] = True
        present[:, self._absent(stage.epoch)["numbers"]] = False

    def _stand(self, stage: Stage, positions: Floats) -> None:
        absent = self._absent(stage.epoch)
        positions[:, absent["numbers"]] = absent["places"]

    def _absent(self, epoch: int) -> Arrays:
        return read_group(self.path / "epochs" / str(epoch) / "absent")

    def _entries(self, stage: Stage, part: str, name: str, first: int, last: int) -> tuple[Ints, NDArray[Any]]:
        """Numbers (n,) of a part's agents, and their entries from ``first`` to ``last``."""
        who = self.part(stage.epoch, part)
        which = np.arange(first, last) - stage.first
        names = {"positions": WAYS, "miss": ("miss",)}.get(name, (*_CELLS, *WAYS))
        stored = self._stage(stage, part, names)
        if name == "positions":
            return who.numbers, held(ways_of(stored), which)
        if name in stored:
            return who.numbers, held(stored[name], which)
        if name == "miss":
            return who.numbers, np.zeros((len(which), len(who)))
        ways = ways_of(stored)
        corners = who.corners
        top = ways_of(self._stage(stage, TOP, WAYS))
        of_corners = top[:, np.searchsorted(self.tops[stage.epoch].numbers, corners)]
        epoch = self._epoch_of(stage.epoch, who)
        found = []
        for step in np.minimum(which, len(ways) - 2):
            before, after = (
                who.merged(held(ways, np.array([at]))[0], held(of_corners, np.array([at]))[0])
                for at in (step, step + 1)
            )
            present = np.ones(len(before), np.bool_)
            moved = Transition(epoch, present, before, after, None, None, True)
            found.append(moved.arrays([name])[name][who.rows])
        return who.numbers, np.array(found)

    def _epoch_of(self, epoch: int, who: Part) -> Epoch:
        """What a part is told, as far as it takes to say what its agents did."""
        network = who.network(self.corner_places(epoch, who))
        nobody = np.empty((0, 2))
        ground = Ground(nobody, nobody, Targets.known(nobody, None), None)
        path = network.reference[None, network.anchors]
        return Epoch(0, told_of(self.rules, network, path, ground))

    def _stage(self, stage: Stage, part: str, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
        return read_group(self.path / "stages" / str(stage.number) / part, names)

    @property
    def desired(self) -> Floats | None:
        """The desired configuration (N, 2) of a finished run."""
        if not self.finished:
            return None
        last = len(self.attributes["epochs"]) - 1
        absent = self._absent(last)
        desired = np.empty((self.agents, 2))
        desired[absent["numbers"]] = absent["places"]
        for name in self.names(last):
            numbers = read_group(self.path / "epochs" / str(last) / name, ("numbers",))["numbers"]
            desired[numbers] = read_group(self.path / "desired" / name)["desired"]
        return desired

    def remembered(self, name: str) -> NDArray[Any]:
        """What everybody remembers by the end, (N, …)."""
        last = self.stages[-1]
        found: NDArray[Any] | None = None
        for part in self.names(last.epoch):
            wanted = (f"memory.{name}",)
            kept = read_group(self.path / "desired" / part, wanted) if self.finished else {}
            kept = kept or self._stage(last, part, wanted)
            if not kept:
                raise InputError(f"agents of this run remember no {name!r}")
            values = kept[f"memory.{name}"]
            if found is None:
                found = np.zeros((self.agents, *values.shape[1:]), values.dtype)
            found[self.part(last.epoch, part).numbers] = values
        assert found is not None, "a run has a top"
        return found
