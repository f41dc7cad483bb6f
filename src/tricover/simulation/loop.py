"""``steps``: the one loop, as a generator; ``simulate`` records it.

The loop ends after ``scenario.steps`` steps, or earlier when the team is settled: nothing comes from outside any more
(no event, no moving target, no anchor on its way) and either nothing changed in the last step, to the bit, so that
nothing ever will, or every follower has been at its goal for depth + 1 steps, so that any change would have come
through all layers (this is for vehicles that never quite stand still). Where agents see only so far, reports go up the
layers, too: then it takes 2·depth + 2 steps.
"""

import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path

from tricover.errors import InputError, SafetyWarning, StoreError
from tricover.simulation.forecasts import forecast
from tricover.simulation.incremental import Incremental
from tricover.simulation.mission import Mission, as_mission
from tricover.simulation.record import GrowingRecord, MemoryRecord
from tricover.simulation.run import Run
from tricover.simulation.scenario import Scenario
from tricover.simulation.state import State
from tricover.simulation.step import DecideAll, Step, advance
from tricover.simulation.store import Store, open_store
from tricover.simulation.tables import labels_of

__all__ = ["Progress", "simulate", "steps"]


_RISK = 1e-3  # that a team whose vehicles never quite stand still is taken for settled while a message is late


@dataclass(frozen=True)
class Progress:
    """How far a run is, after each step.

    Attributes:
        step: steps taken.
        steps: the most there can be.
        layers: layers that stand at their goals, counted from the anchors.
        depth: the network's; there are depth + 1 layers.
        largest_error: largest distance of a follower to its goal point (reach) or goal cell (walk), in metres.
        seconds_left: how long it takes at most, at the pace so far.
    """

    step: int
    steps: int
    layers: int
    depth: int
    largest_error: float
    seconds_left: float


def steps(
    mission: Scenario | Mission, state: State | None = None, *, decide_all: DecideAll | None = None
) -> Iterator[Step]:
    """The steps of a run as they come: the first is the start, and each is worked out when it is asked for.

    Args:
        mission: a scenario, or a mission.
        state: where to begin; None: at step 0.
        decide_all: how everybody decides; None: those alone whose knowledge has changed, which gives the same bits.

    >>> team = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    >>> for step in steps(Scenario(reference=team, targets=[[1, 1], [0, 2]])):
    ...     print(step.step, step.positions[5])
    0 [1. 2.]
    1 [0.5 1.5]
    2 [0.5 1.5]
    """
    mission = as_mission(mission)
    anew = state is None and decide_all is None
    decide_all = decide_all or Incremental()
    state = state or mission.start()
    yield Step(state)
    for step in mission.flown if anew else ():
        state = step.state
        yield step
    while state.step < mission.scenario.steps and not _settled(mission, state):
        step = advance(mission, state, decide_all)
        state = step.state
        yield step


def _settled(mission: Mission, state: State) -> bool:
    if not mission.scenario.stop_when_settled:
        return False
    network, channel = mission.epochs[-1].network, mission.world.channel
    if state.still or state.quiet <= network.depth:
        return state.still
    # A change goes down a layer in a step, or in so many more as messages may be late.
    late = max(channel.history, channel.late_by(3 * len(network.followers), mission.scenario.steps, _RISK))
    return state.quiet > mission.quiet_steps * (1 + late)


def simulate(
    scenario: Scenario | Mission,
    store: str | PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    *,
    progress: Callable[[Progress], None] | None = None,
    flush: float = 2.0,
) -> Run:
    """Run a scenario.

    Args:
        scenario: what to run. What of its ``safety`` cannot be kept is a ``SafetyWarning``, before it starts.
        store: a folder for the run, written as it goes; None keeps everything in memory.
        resume: go on with the run in ``store`` if there is one; the result is the same, bit for bit.
        overwrite: take the place of the run in ``store`` if there is one. What is no run is never replaced.
        progress: called after each step.
        flush: seconds after which steps are written at the latest.

    Ctrl-C ends the run early: what was computed is kept and returned, with ``interrupted`` set. When a step fails, for
    whatever reason, the steps before it are kept: in the store, and as the attribute ``run`` of the error.

    >>> scenario = Scenario(reference=[[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]], targets=[[1, 1], [0, 2]])
    >>> run = simulate(scenario)
    >>> run
    <Run of 6 agents: 2 steps, settled at step 1>
    >>> run.positions[-1, 5].tolist(), run.desired[5].tolist()
    ([0.5, 1.5], [0.5, 1.5])
    """
    if resume and overwrite:
        raise InputError("resume goes on with a run, overwrite begins it anew: choose one of them")
    mission = as_mission(scenario)
    if isinstance(scenario, Scenario) and not resume:  # who has made the mission can ask for the forecast
        for notice in forecast(mission):
            warnings.warn(notice, SafetyWarning, stacklevel=2)
    state, resumed = mission.start(), False
    record: GrowingRecord
    with _listening() as interrupted:
        if store is None:
            record = MemoryRecord(state)
        else:
            stored = open_store(Path(store), mission, state, resume, flush, overwrite)
            if resume:  # with the networks that it had, whatever this version would build
                epochs = stored.epochs(mission.scenario, mission.ground)
                mission = replace(mission, epochs=epochs)
            if not isinstance(stored, Store):  # finished, by the rule of the version that ran it
                return Run(mission, stored)
            record, state, resumed = stored, stored.state(), resume
        try:
            finished = _record(mission, state if resumed else None, record, progress, interrupted)
        except KeyboardInterrupt:  # a second Ctrl-C, or one that the caller's progress raised
            finished = False
        except StoreError:  # nothing more can be written
            raise
        except BaseException as error:  # a user's rule or vehicle may raise anything: what came before is kept
            record.close(None)
            _hand_over(error, Run(mission, record, interrupted=True))
            raise
        run = Run(mission, record, interrupted=not finished)
        record.close(partial(labels_of, run) if finished else None)
    return run


def _record(
    mission: Mission,
    state: State | None,
    record: GrowingRecord,
    progress: Callable[[Progress], None] | None,
    interrupted: Callable[[], bool],
) -> bool:
    """Keep the steps from a state on, or from the start; False if interrupted."""
    began, first, most = time.monotonic(), 0 if state is None else state.step, mission.scenario.steps
    for step in steps(mission, state):
        if step.transition is None:
            continue
        record.add(step)
        if progress is not None:
            left = (time.monotonic() - began) / (step.step - first) * (most - step.step)
            progress(Progress(step.step, most, step.layers, step.depth, step.largest_error, left))
        if interrupted():
            return False
    return True


def _hand_over(error: BaseException, run: Run) -> None:
    """Let an error bring along the run so far."""
    vars(error)["run"] = run
    error.add_note(f"tricover: the {run.steps} steps before are kept, in the attribute `run` of this error")


@contextmanager
def _listening() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed. It is asked between steps, so that none is cut in half; a second one ends at once.

    An exception instead could come up where nobody hears it, such as in a callback of the compiler.
    """
    pressed = False

    def hear(*_: object) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    try:
        before = signal.signal(signal.SIGINT, hear)
    except ValueError:  # not in the main thread, which alone hears of it
        yield lambda: False
        return
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
