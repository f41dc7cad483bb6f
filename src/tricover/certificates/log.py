"""``Log``: all that a certificate reads. Positions over time, the networks, and what the agents were told.

A simulated run converts to it, and so does a table from a real flight. Positions are read in blocks, so a log may be
larger than memory. Agents that the present network does not have are not looked at: they are lost, or join later.

A log may begin with a launch: the flight from the pads, in which nobody listens to anybody. The theorems are about what
comes after it. So the first network begins where the launch ends.

A log may know its times. ``evidence`` then looks whether its steps are those of the team.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.certificates.heard import Late
from tricover.errors import InputError, agents, listed
from tricover.formats.points import LARGEST
from tricover.goals import GoalRule
from tricover.network import Network
from tricover.targets import Targets

__all__ = ["ROUNDING", "ArrayReader", "Log", "LoggedEpoch", "Settings", "after_launch", "check_positions", "log_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: A position is at a place if it is closer than this times the largest coordinate: 16 ε, as for landings.
ROUNDING = 16 * float(np.finfo(np.float64).eps)

_BLOCK_BYTES = 8 << 20  # the size of a chunk of a stored run, so that each chunk is read once


@dataclass(frozen=True, eq=False)
class Settings:
    """What the agents were told. Claims that need something unknown (None) do not apply.

    Attributes:
        motion: "reach", "walk" or "morph".
        goal: the goal rule.
        resolution: cells per side M, for ``walk``.
        margin: η of the reach sets, for ``walk``.
        exact: which agents (N,) land on the middle of their reach set, to the bit.
        ideal: which agents (N,) always land in their reach set. The others may miss it.
        tolerance: metres within which an agent counts as at a place, beyond rounding.
        duration: seconds per step, Δt.
        separation: metres that agents keep from each other, where it was asked for.
        apart: metres by which goals are kept apart for that: more, where vehicles may miss.
        speed: metres per step that nobody exceeds, for ``morph``; None: its own, see ``control.speed``.
        zones: polygons that nobody enters, (K, 2) each, in metres, where there are any.
        sight: metres that agents see; None: they see every target.
        own_policy: whether a policy of the user's own chooses their next cells.
    """

    motion: Literal["reach", "walk", "morph"] | None = None
    goal: str | GoalRule | None = None
    resolution: int = 35
    margin: float = 0.05
    exact: bool | Flags = False
    ideal: bool | Flags = False
    tolerance: float = 0.0
    duration: float | None = None
    separation: float | None = None
    apart: float | None = None
    speed: float | None = None
    zones: tuple[Floats, ...] | None = None
    sight: float | None = None
    own_policy: bool = False

    @property
    def around(self) -> tuple[Floats, ...] | None:
        """The zones that agents walk around: with ``walk`` alone."""
        return self.zones if self.motion == "walk" else None


@dataclass(frozen=True, eq=False)
class LoggedEpoch:
    """A network, from a step on, as a log knows it.

    Attributes:
        start: the first step t whose Γ[t] has this network.
        network: in the plane.
        places: where its anchors stand, (A, 2) in the order of ``network.anchors``. None: where they are at
            ``arrived``.
        arrived: the step from which on they stand there. None: whenever they first get there.
        expected: the step before which nobody expects them there, where ``arrived`` is None.
        informed: the step from which on everybody knows of the network; None: from its first step on.
        goal: the goal rule of the epoch, where it is known.
        free: whether anchors have no places: they go by their Voronoi cells.
    """

    start: int
    network: Network
    places: Floats | None = None
    arrived: int | None = 0
    expected: int = 0
    informed: int | None = None
    goal: str | GoalRule | None = None
    free: bool = False

    @property
    def known_from(self) -> int:
        """The step from which on everybody knows of the network."""
        return self.start if self.informed is None else max(self.start, self.informed)

    @property
    def due(self) -> int:
        """The step at which anchors that are not at their places are a fault."""
        return self.expected if self.arrived is None else self.arrived


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """Reads blocks of steps from positions (T+1, N, 2) in memory."""

    positions: Floats

    def __call__(self, start: int, stop: int) -> Floats:
        """Positions (stop - start, N, 2) from step ``start`` on."""
        return self.positions[start:stop]


@dataclass(frozen=True, eq=False)
class Log:
    """Positions of N agents at the steps 0 … ``steps``, with the networks and what the agents were told.

    Attributes:
        name: for titles.
        agents: N.
        steps: T.
        read: ``read(start, stop)`` gives positions (stop - start, N, 2), in metres.
        epochs: the networks, in order.
        settings: what the agents were told.
        targets: those that the last steps saw; None if they are not known.
        still_from: the step from which on the targets stand still.
        times: when the steps were, (T+1,) in seconds; None if it is not known.
        planned: ``planned(step)`` gives where everybody was to be at step + 1, (N, 2), for ``morph``; None: not known,
            or agents are where they plan to be.
        gave_way: ``gave_way(step)`` says who was not let go where it decided to, to keep apart, (N,); None: not known.
        late: what is known of messages that are late or lost; None: all arrive at once.
    """

    name: str
    agents: int
    steps: int
    read: Callable[[int, int], Floats]
    epochs: tuple[LoggedEpoch, ...]
    settings: Settings = Settings()
    targets: Targets | None = None
    still_from: int = 0
    times: Floats | None = None
    planned: Callable[[int], Floats] | None = None
    gave_way: Callable[[int], Flags] | None = None
    late: Late | None = None

    def __repr__(self) -> str:
        return f"<Log of {self.agents} agents, {self.steps} steps: {self.name}>"

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """All positions in pieces that fit in memory, each with the step at which it starts."""
        length = max(1, _BLOCK_BYTES // (16 * self.agents))
        for start in range(0, self.steps + 1, length):
            yield start, self.read(start, min(start + length, self.steps + 1))

    def pairs(self) -> Iterator[tuple[int, Floats, Floats]]:
        """Steps t with the positions (N, 2) at t and at t+1."""
        before: Floats | None = None
        for start, block in self.blocks():
            check_positions(block, start, self)
            for offset, after in enumerate(block):
                if before is not None:
                    yield start + offset - 1, before, after
                before = after

    def epoch_at(self, step: int) -> LoggedEpoch:
        """The epoch that a step belongs to; the first one, before it begins."""
        return [*self.epochs[:1], *(epoch for epoch in self.epochs if epoch.start <= step)][-1]

    @property
    def launched(self) -> int:
        """The step from which on the network is used: before it was the launch."""
        return self.epochs[0].start

    def path(self, agent: int) -> Floats:
        """Where an agent was, (steps + 1, 2)."""
        if not 0 <= agent < self.agents:
            raise InputError(f"there is no agent {agent}: agents are numbered 0 to {self.agents - 1}")
        return np.concatenate([block[:, agent] for _, block in self.blocks()])

    @property
    def exact(self) -> Flags:
        """Which agents land on the middle of their reach set."""
        return np.broadcast_to(np.asarray(self.settings.exact), (self.agents,))

    @property
    def ideal(self) -> Flags:
        """Which agents land in their reach set."""
        return np.broadcast_to(np.asarray(self.settings.ideal), (self.agents,)) | self.exact


def log_of(
    positions: ArrayLike,
    network: Network | list[tuple[int, Network]],
    *,
    name: str = "log",
    times: ArrayLike | None = None,
    anchors: ArrayLike | None = None,
    arrived: int | None = 0,
    targets: Targets | None = None,
    settings: Settings | None = None,
    launched: int = 0,
) -> Log:
    """A log from positions (T+1, N, 2) and a network, or networks with the step from which on each holds.

    Args:
        positions: in metres.
        network: as in ``build_network``; agents are numbered alike.
        name: for titles.
        times: when the steps were, (T+1,) in seconds, ascending; None: it is not known, and steps count as even.
        anchors: where the anchors of the last network stand, in the order of ``network.anchors``; None: where they are
            at the step ``arrived``.
        arrived: the step from which on they stand there; None: whenever they first get there.
        targets: still targets, if they are known.
        settings: what the agents were told, as far as it is known.
        launched: the step from which on the network is used, after the flight from the pads.
    """
    given = np.asarray(positions, dtype=np.float64).view()
    given.flags.writeable = False
    if given.ndim != 3 or given.shape[2] != 2 or not len(given):
        raise InputError(f"positions of a log must have the shape (steps + 1, agents, 2), not {given.shape}")
    networks = [(0, network)] if isinstance(network, Network) else network
    last = None if anchors is None else np.asarray(anchors, dtype=np.float64)
    places = [None] * (len(networks) - 1) + [last]
    starts = [start for start, _ in networks]
    if not starts or starts[0] != 0 or sorted(set(starts)) != starts:
        raise InputError(f"networks need ascending first steps from 0 on, not {starts}")
    epochs = tuple(
        LoggedEpoch(start, one, where, None if arrived is None else max(start, arrived))
        for (start, one), where in zip(networks, places, strict=True)
    )
    told = settings or Settings()
    when = None if times is None else _as_times(times, len(given))
    log = Log(name, given.shape[1], len(given) - 1, ArrayReader(given), epochs, told, targets, times=when)
    log = after_launch(log, launched)
    _check(log)
    return log


def after_launch(log: Log, launched: int) -> Log:
    """A log whose first network is used from a step on."""
    others = [epoch.start for epoch in log.epochs[1:]]
    if not 0 <= launched <= min([log.steps, *others]):
        ends = f"the network of step {others[0]}" if others and launched <= log.steps else f"the end, step {log.steps}"
        raise InputError(f"a launch of {launched} steps goes on after {ends}: give the step after which it was over")
    first = log.epochs[0]
    arrived = None if first.arrived is None else max(first.arrived, launched)
    begun = replace(first, start=launched, arrived=arrived)
    return replace(log, epochs=(begun, *log.epochs[1:]))


def _as_times(times: ArrayLike, count: int) -> Floats:
    found = np.array(times, dtype=np.float64)
    if found.shape != (count,):
        raise InputError(f"a log of {count} positions per agent needs times of shape ({count},), not {found.shape}")
    if not (np.abs(found) <= LARGEST).all():
        raise InputError(f"times of a log must be finite numbers of seconds, within {LARGEST:g}")
    back = np.flatnonzero(found[1:] <= found[:-1])
    if back.size:
        step = int(back[0]) + 1
        raise InputError(
            f"times of a log must ascend, and step {step} is at {found[step]:.12g} s, after {found[step - 1]:.12g} s: "
            "sort the log by time, and keep one position per time"
        )
    found.flags.writeable = False
    return found


def _check(log: Log) -> None:
    last = log.epochs[-1].start
    if last > log.steps:
        raise InputError(f"the network of step {last} is never used, as the log ends at step {log.steps}: leave it out")
    for epoch in log.epochs:
        if len(epoch.network) > log.agents:
            raise InputError(f"the network has {len(epoch.network)} agents, the log only {log.agents}")
        if epoch.network.reference.shape[1] != 2:
            raise InputError("a log is in the plane: its network must be so too")
        count = len(epoch.network.anchors)
        if epoch.places is not None and epoch.places.shape != (count, 2):
            raise InputError(f"{count} anchors need places of shape ({count}, 2), not {epoch.places.shape}")


def check_positions(block: Floats, start: int, log: Log) -> None:
    """Agents of the network must have a position, at the start and at the end of each of its steps."""
    usable = np.abs(block) <= LARGEST  # False for NaN too
    if usable.all():
        return
    for offset, agent in np.argwhere(~usable.all(axis=2)).tolist():
        step = start + offset
        # Γ[step - 1] reads positions at this step too: an agent that is lost now has landed here first.
        arriving, leaving = log.epoch_at(max(step - 1, 0)), log.epoch_at(step)
        if _takes_part(agent, arriving) or (step < log.steps and _takes_part(agent, leaving)):
            raise InputError(_complaint(block[offset, agent], agent, step, log))


def _complaint(position: Floats, agent: int, step: int, log: Log) -> str:
    when = f"step {step}" if log.times is None else f"step {step}, time {log.times[step]:.12g}"
    if np.isfinite(position).all():
        place = listed(f"{value:g}" for value in position)
        return f"{agents([agent])} is at {place} at {when}: coordinates must be within {LARGEST:g} m"
    return f"the log has no position of {agents([agent])} at {when}: all agents of the network need one at every time"


def _takes_part(agent: int, epoch: LoggedEpoch) -> bool:
    layer = epoch.network.layer
    return agent < len(layer) and bool(layer[agent] >= 0)
