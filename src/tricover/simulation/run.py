"""``Run``: what came out of a simulation, in memory or on disk, with the same interface."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import CutOff, Memory, Told, View, cut_off, decide, distances, memory_of
from tricover.errors import InputError, UnknownNameError
from tricover.geometry.approach import Approaches, Separation, approaches_of, separation_of
from tricover.goals import settled_configuration
from tricover.goals.cellplan import KINDS
from tricover.goals.zones import TOUCHING
from tricover.network import Network
from tricover.network.roster import agent_indices
from tricover.notebook import facts_as_html, view_in_notebook
from tricover.own import label_of
from tricover.simulation.evidence import learned_by
from tricover.simulation.hearing import heard_by
from tricover.simulation.knowing import Known, known_by
from tricover.simulation.mission import Epoch, Mission, epoch_at
from tricover.simulation.parts_reader import PartsReader, is_in_parts
from tricover.simulation.record import LAYOUTS, OF_MESSAGES, Record, recorded
from tricover.simulation.scenario import Scenario
from tricover.simulation.stored import StoreReader
from tricover.simulation.tables import dataset_of, frame_of
from tricover.targets import Targets
from tricover.world import heard_at_once

if TYPE_CHECKING:
    import pandas
    import xarray

    from tricover.mdp import Kernel, KernelEstimate

__all__ = ["Run"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

AT_DESIRED = 1e-9
"""Of the team's extent: what rounding leaves between a team at rest and its desired configuration.

Both are computed alike and agree to the bit, but for sums over targets, whose order may differ by the batch.
"""
_SUMMARY = KINDS.index("summary")
BLOCK = 1 << 22
"""Agents times steps that are held at once: 64 MB of positions."""
MEASURED = 1_000_000
"""Agents times steps up to which closest approaches are worked out unasked: about a second."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A run of ``steps`` steps, T, by N agents (the final roster); see ``record`` for the arrays.

    Arrays of a stored run are read when they are first asked for, whole; ``read`` reads a part.
    """

    resolved: Mission | Callable[[], Mission]
    record: Record
    interrupted: bool = False

    @classmethod
    def open(cls, path: str | PathLike[str]) -> "Run":
        """A stored run, finished or not; of one in parts nothing is read before it is asked for."""
        if is_in_parts(Path(path)):
            parts = PartsReader(Path(path))
            return cls(parts.mission, parts, interrupted=not parts.finished)
        stored = StoreReader(Path(path))
        return cls(stored.mission(), stored, interrupted=not stored.finished)

    @cached_property
    def mission(self) -> Mission:
        """What was run, resolved."""
        return self.resolved if isinstance(self.resolved, Mission) else self.resolved()

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return self.mission.scenario

    @property
    def agents(self) -> int:
        """N, the final roster."""
        return self.record.agents

    def __repr__(self) -> str:
        settled = "not settled" if self.settled_at is None else f"settled at step {self.settled_at}"
        cut = ", interrupted" if self.interrupted else ""
        return f"<Run of {self.agents} agents: {self.steps} steps, {settled}{cut}>"

    def _repr_html_(self) -> str:
        return facts_as_html(self.summary())

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """Notebooks play it where they can; the table is for others, and for who reads the file later."""
        played = view_in_notebook(self)
        return played and {**played, "text/plain": repr(self), "text/html": self._repr_html_()}

    def summary(self) -> dict[str, Any]:
        """The run in a few plain facts."""
        control = self.scenario.control
        return {
            "name": self.scenario.name,
            "agents": int((self.network.layer >= 0).sum()),
            "layers": self.network.depth,
            "motion": control.motion,
            "goal": label_of(control.goal),
            "vehicle": self.mission.vehicle.kind,
            **({} if control.kernel == "certain" else {"kernel": control.kernel}),
            **({} if self.mission.pads is None else {"launch": self.mission.launch}),
            **({} if self.mission.world.channel.perfect else {"oldest_message": self._oldest}),
            "steps": self.steps,
            "settled_at": self.settled_at,
            "converged": self.converged,
            "largest_error": self.largest_error if self._desired_known else None,
            "misses": self.missed,
            **self._approach(),
            **({"numbers": self._numbers_sent} if self.mission.world.counted else {}),
            **({"plans": self._plans, "plan_numbers": self._plan_numbers} if self._plans else {}),
            "interrupted": self.interrupted,
            **({} if self.scenario.safety.zones is None else {"cut_off": self._cut_off}),
        }

    def _approach(self) -> dict[str, Any]:
        """Who came closest to whom, in plain facts; None where that is not worked out."""
        found = self.separation if self.measures_separation else None
        return {
            "least_distance": None if found is None else found.distance,
            "closest_agents": None if found is None or found.agents is None else list(found.agents),
            "closest_step": None if found is None else found.step,
        }

    @property
    def measures_separation(self) -> bool:
        """Whether summaries and reports have the separation: if the scenario asks for one, or it takes no time."""
        small = (self.steps + 1) * self.mission.agents <= MEASURED
        return small or self.scenario.safety.separation is not None

    @property
    def _cut_off(self) -> list[int] | None:
        """Who is cut off; None if nobody is, or if the user's rule is gone, so that nobody can tell."""
        try:
            return [one.agent for one in self.cut_off] or None
        except UnknownNameError:
            return None

    @property
    def _desired_known(self) -> bool:
        """Whether there is a desired configuration: not where the user's rule is gone and the run was cut short."""
        try:
            return self.desired is not None
        except UnknownNameError:
            return False

    @property
    def steps(self) -> int:
        """T: how many steps were taken."""
        return self.record.steps

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Entries ``start`` to ``stop`` of an array over time, as ``positions`` or ``weights``; read-only."""
        at_once = name in OF_MESSAGES and self.mission.world.channel.perfect
        if name not in self.arrays and not at_once:
            raise InputError(f"a run has no array {name!r}; it has {', '.join(self.arrays)}")
        first, end, _ = slice(start, stop).indices(self.steps + LAYOUTS[name].by_time)
        values = self._at_once(name, first, end) if at_once else self.record.read(name, first, end)
        if name == "present" and first <= self.steps < end:  # a record that was cut short has who would go on
            values = np.concatenate([values[:-1], self.epochs[-1].present(self.mission.agents)[None]])
        values.flags.writeable = False
        return values

    def _at_once(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Entries of what is recorded of messages, where all of them arrive in the step in which they are sent."""
        values = np.zeros(LAYOUTS[name].shape(stop - start, self.mission.agents), LAYOUTS[name].dtype)
        if name == "believed":
            begun = [epoch.start for epoch in self.mission.epochs[1:]]
            values += np.searchsorted(begun, np.arange(start, stop), side="right")[:, None].astype(np.int32)
        return values

    @property
    def arrays(self) -> list[str]:
        """Names of the arrays over time that this run has."""
        return list(recorded(self.mission.world))

    def blocks(self, name: str) -> Iterator[tuple[int, NDArray[Any]]]:
        """An array over time in pieces that fit in memory, each with the step at which it starts."""
        for start in range(0, self.steps + LAYOUTS[name].by_time, self.block):
            yield start, self.read(name, start, start + self.block)

    @property
    def block(self) -> int:
        """How many entries are held at once."""
        return max(1, BLOCK // self.mission.agents)

    @cached_property
    def positions(self) -> Floats:
        """r_i[t], (T+1, N, 2), metres."""
        return self.read("positions")

    @cached_property
    def present(self) -> Flags:
        """Who takes part, (T+1, N)."""
        return self.read("present")

    @cached_property
    def states(self) -> Ints:
        """Cells in which followers stand, (T, N); -1 outside, -2 for all others."""
        return self.read("state")

    @cached_property
    def goal_cells(self) -> Ints:
        """Cells that hold the followers' goal points, (T, N); -2 for all others."""
        return self.read("goal_cell")

    @cached_property
    def next_cells(self) -> Ints:
        """Cells that the followers decided to go to, (T, N); -2 for all others."""
        return self.read("next_cell")

    @cached_property
    def weights(self) -> Floats:
        """α_{i,j}[t], the followers' rows of Γ[t], (T, N, 3)."""
        return self.read("weights")

    @cached_property
    def misses(self) -> Floats:
        """How far from their reach sets agents landed at t+1, (T, N), metres."""
        return self.read("miss")

    @cached_property
    def ages(self) -> Ints:
        """How many steps old the positions were on which agents acted, (T, N, 3); see ``record``."""
        return self.read("ages")

    def heard(self, agent: int) -> Floats:
        """The triangles (T, 3, 2) by which an agent acted, of what it had heard by each step; NaN where it had none."""
        agent_indices([agent], self.mission.agents)
        return heard_by(self.mission, agent, self.positions, *(self.read(name)[:, agent] for name in OF_MESSAGES))

    @property
    def _oldest(self) -> int:
        """Steps: the age of the oldest position that somebody acted on."""
        return max((int(ages.max(initial=0)) for _, ages in self.blocks("ages")), default=0)

    @cached_property
    def missed(self) -> int:
        """How often an agent landed outside its reach set."""
        if "missed" in self.record.known:
            return int(self.record.known["missed"])
        return sum(int((miss > 0).sum()) for _, miss in self.blocks("miss"))

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """How many numbers agents sent in each step, (T, N); of runs in which they see only so far."""
        return self.read("numbers")

    @property
    def _plans(self) -> int:
        """How many plans the team made by itself."""
        return sum(_SUMMARY in epoch.messages.kinds for epoch in self.epochs if epoch.messages is not None)

    @property
    def _plan_numbers(self) -> float:
        """Numbers per agent that were sent to plan, and to agree on when to go on."""
        said = [epoch.messages.total for epoch in self.epochs if epoch.messages is not None]
        return sum(said) / max(self.mission.agents, 1)

    @property
    def _numbers_sent(self) -> float:
        """Numbers that an agent sent in a step, on average over those who took part."""
        sent = sum(float(part.sum()) for _, part in self.blocks("numbers"))
        there = sum(int(part.sum()) for _, part in self.blocks("present")) - int(
            self.epochs[-1].present(self.mission.agents).sum()
        )
        return sent / max(there, 1)

    @cached_property
    def separation(self) -> Separation:
        """The least distance of any two agents over the whole motion, with straight ways between steps."""
        return separation_of(self.moments())

    @cached_property
    def approaches(self) -> Approaches:
        """The two that come closest in each step, with straight ways between steps."""
        return approaches_of(self.moments())

    def moments(self) -> Iterator[tuple[Floats, Flags]]:
        """Positions (N, 2) and who takes part (N,), step by step, without holding all of them."""
        held = vars(self).get("positions")  # where somebody asked for all of them, they are not read again
        positions = self._rows("positions") if held is None else iter(held)
        return zip(positions, self._rows("present"), strict=True)

    def _rows(self, name: str) -> Iterator[NDArray[Any]]:
        """An array over time, entry by entry, without holding all of it."""
        return (entry for _, block in self.blocks(name) for entry in block)

    def to_xarray(self) -> "xarray.Dataset":
        """The run as a Dataset with coordinates and units; see ``tables``. Needs xarray (extra ``notebook``)."""
        return dataset_of(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """The run as a table, a row for each step and agent; see ``tables``. Needs pandas (extra ``notebook``)."""
        return frame_of(self)

    @property
    def epochs(self) -> tuple[Epoch, ...]:
        """The epochs of the run that had begun by its last step: networks, and what agents were told."""
        last = max(self.steps - 1, 0)
        return tuple(epoch for epoch in self.mission.epochs if epoch.start <= last)

    def epoch_at(self, step: int) -> Epoch:
        """The epoch that a step belongs to."""
        return epoch_at(self.epochs, step)

    def network_at(self, step: int) -> Network:
        """The network in use at a step."""
        return self.epoch_at(step).network

    @property
    def network(self) -> Network:
        """The network after the last repair."""
        return self.epochs[-1].network

    @property
    def targets(self) -> Targets:
        """The targets as the last step saw them."""
        return self.mission.targets_at(max(self.steps - 1, 0))

    @property
    def anchors(self) -> Floats:
        """Where the anchors were sent in the last step, in the order of ``network.anchors``: (A, 2)."""
        epoch = self.epochs[-1]
        places = epoch.told.places(max(self.steps - 1, 0))
        stood = self.read("positions", epoch.start, epoch.start + 1)[0]
        return np.where(np.isnan(places), stood[epoch.network.anchors], places)

    @cached_property
    def desired(self) -> Floats:
        """p_i (N, 2): where the team should settle, in the run's own mode; agents that were lost where they last were.

        Goal points for the motion ``reach``, centres of goal cells for ``walk``, goal points strictly inside their
        triangles for ``morph`` (Algorithm 2, for the last network, anchors' places and targets). The store of a
        finished run keeps them. Among zones, ``walk`` leads to what can be reached from where agents are in the end.
        With the goal "voronoi": where everybody would go from where it is in the end; with "descent": where it is.
        """
        kept = self.record.desired
        if kept is not None:
            return kept
        desired = np.array(self.read("positions", self.steps, self.steps + 1)[0])
        told = self.epochs[-1].told
        if told.goal == "descent":  # it is nowhere in particular that a team should come to rest
            return desired
        if told.hears_near:  # wherever the team is, everybody should be in the middle of its own cell
            view, _, memory = self._if_all_knew(told)
            desired[view.agents] = decide(view, told, memory).goal_points
            return desired
        anchors, where = self.anchors, desired[: len(self.network)]
        if told.obstacles is not None:  # an anchor that holds is where it stays
            here = where[self.network.anchors]
            held = told.obstacles.crossed(here, anchors, TOUCHING) >= 0
            anchors = np.where(held[:, None], here, anchors)
        mode = told.goal, told.motion, told.resolution, told.separation
        among = told.obstacles, None if told.obstacles is None else where
        found = settled_configuration(self.network, self.targets, anchors, *mode, *among)
        living = np.flatnonzero(self.network.layer >= 0)
        desired[living] = found[living]
        return desired

    def learned(self, agent: int) -> "KernelEstimate":
        """What a follower with the kernel "learned" knows by the end of how its moves end."""
        return learned_by(self, agent)

    def known(self, agent: int) -> Known:
        """What a follower knows of the targets in its triangle by the end, where agents see only so far."""
        return known_by(self, agent)

    def kernel_of(self, agent: int) -> "Kernel":
        """How the moves of a follower end, as far as it knows: the kernel that it was given, or has learned."""
        from tricover.mdp import slip

        told = self.epochs[-1].told
        chance = 0.0 if told.kernel == "certain" else told.kernel
        return self.learned(agent).kernel if told.learns else slip(told.grid, float(chance))

    @cached_property
    def cut_off(self) -> list[CutOff]:
        """Agents that zones keep from their goals, as the team stands in the end; see ``control.zones``."""
        told = self.epochs[-1].told
        return [] if told.obstacles is None else cut_off(*self._if_all_knew(told))

    def _if_all_knew(self, told: Told) -> tuple[View, Told, Memory]:
        """What everybody would know in the end if it heard and saw everything, was told and remembers."""
        times = self.epochs[-1].start, self.steps
        first, here = (self.read("positions", step, step + 1)[0] for step in times)
        agents = np.flatnonzero(told.network.layer >= 0)
        heard = heard_at_once(here, told.network.in_neighbors[agents])
        near = self.mission.world.sensor.near(agents, agents, here, told.range) if told.hears_near else None
        view = View(max(self.steps - 1, 0), agents, here[agents], heard, self.targets, near=near)
        return view, told, memory_of(told, first[agents])

    @cached_property
    def settled_at(self) -> int | None:
        """The first step from which on the team stands still.

        Where vehicles never quite do: from which on every follower is at its goal, for more than ``depth`` steps, or
        twice as many where agents see only so far. None if there is no such step.
        """
        if "settled_at" in self.record.known:
            known: int | None = self.record.known["settled_at"]
            return known
        last = self.read("positions", self.steps, self.steps + 1)
        if self.steps and np.array_equal(self.read("positions", self.steps - 1, self.steps), last):
            return self._first_of_end("positions", last)
        since = self._first_of_end("settled", np.array([True]))
        return since if self.steps - since > self.mission.quiet_steps else None

    def _first_of_end(self, name: str, value: NDArray[Any]) -> int:
        """The first step from which on all entries of an array are ``value``."""
        stop = self.steps + LAYOUTS[name].by_time
        while stop > 0:
            start = max(0, stop - self.block)
            part = self.read(name, start, stop)
            other = np.flatnonzero((part != value).reshape(len(part), -1).any(axis=1))
            if other.size:
                return start + int(other[-1]) + 1
            stop = start
        return 0

    @cached_property
    def largest_error(self) -> float:
        """Largest distance at the end of an agent to its desired position, in metres."""
        if "largest_error" in self.record.known:
            return float(self.record.known["largest_error"])
        apart = self.read("positions", self.steps, self.steps + 1)[0] - self.desired
        return float(np.linalg.norm(apart, axis=1).max())

    @property
    def converged(self) -> bool:
        """Whether the team has settled where it should, and nobody is cut off from there.

        A team that stands still must stand at its desired configuration, up to rounding; one whose vehicles never quite
        do must have every follower at its goal. Agents that see only so far may settle where their own knowledge sends
        them: the team has converged only where that is where full sight would send them.
        """
        if "converged" in self.record.known:
            return bool(self.record.known["converged"])
        if self.settled_at is None or self._cut_off:
            return False
        ends = self.read("positions", self.steps - 1, self.steps + 1)
        extent = float(np.abs(self.desired - self.desired.mean(axis=0)).max() + np.abs(self.desired).max() * 1e-3)
        if np.array_equal(*ends):
            return self.largest_error <= AT_DESIRED * extent
        return self.mission.world.sensor.sees_all or self._at_goals_of_full_sight

    @property
    def _at_goals_of_full_sight(self) -> bool:
        """Whether everybody is in the end where it would go if it saw every target, within the tolerance."""
        view, told, memory = self._if_all_knew(self.epochs[-1].told)
        decision = decide(view, told, memory)
        return bool(distances(view, told, decision).max() <= self.mission.tolerance)
