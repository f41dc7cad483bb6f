"""``simulate``: the one loop.

The run ends after ``scenario.steps`` steps, or earlier when it is settled: nothing comes from outside any more (no
event, no moving target, no anchor on its way) and either nothing changed in the last step, to the bit, so that nothing
ever will, or every follower has been at its goal for depth + 1 steps, so that any change would have come through all
layers (this is for vehicles that never quite stand still).
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from tricover.errors import InputError
from tricover.simulation.chapters import which_at
from tricover.simulation.record import Keeper, Memory
from tricover.simulation.run import Run
from tricover.simulation.scenario import Scenario
from tricover.simulation.step import Floats, Glance, Plan, State, advance
from tricover.simulation.store import open_store

__all__ = ["Progress", "simulate"]


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


def simulate(
    scenario: Scenario,
    store: str | PathLike[str] | None = None,
    *,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    flush: float = 2.0,
) -> Run:
    """Run a scenario.

    Args:
        scenario: what to run.
        store: a folder for the run, written as it goes; None keeps everything in memory.
        resume: go on with the run in ``store`` if there is one; the result is the same, bit for bit.
        progress: called after each step.
        flush: seconds after which steps are written at the latest.

    Ctrl-C ends the run early: what was computed is kept and returned, with ``interrupted`` set. When a step fails, the
    steps before it are kept in the store.

    >>> scenario = Scenario(reference=[[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]], targets=[[1, 1], [0, 2]])
    >>> run = simulate(scenario)
    >>> run
    <Run of 6 agents: 2 steps, settled at step 1>
    >>> run.positions[-1, 5].tolist(), run.desired[5].tolist()
    ([0.5, 1.5], [0.5, 1.5])
    """
    if not isinstance(scenario, Scenario):
        raise InputError(f"simulate takes a Scenario, not {type(scenario).__name__}: Scenario.load reads a file")
    plan = Plan(scenario)
    state = plan.start()
    keeper: Keeper
    with _listening() as interrupted:
        if store is None:
            keeper = Memory(state)
        else:
            keeper = stored = open_store(Path(store), plan, state, resume, flush)
            state = stored.state()
            if stored.finished:
                return Run(scenario, stored, plan)
        try:
            finished = _loop(plan, state, keeper, progress, interrupted)
        except KeyboardInterrupt:  # a second Ctrl-C, or one that the caller's progress raised
            finished = False
        except InputError:  # such as a vehicle that lost control: what came before is kept
            keeper.close(finished=False)
            raise
        keeper.close(finished)
    return Run(scenario, keeper, plan, interrupted=not finished)


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


def _loop(
    plan: Plan,
    state: State,
    keeper: Keeper,
    progress: Callable[[Progress], None] | None,
    interrupted: Callable[[], bool],
) -> bool:
    """Step until the end; False if interrupted."""
    which, began, first = which_at(plan.chapters, state.step), time.monotonic(), state.step
    stage = plan.stage(which, _at_opening(plan.chapters[which].start, state, keeper))
    orders = plan.orders(stage, state.positions)
    while state.step < plan.scenario.steps and not _settled(plan, state):
        if which_at(plan.chapters, state.step) != which:
            which = which_at(plan.chapters, state.step)
            stage = plan.stage(which, state.positions)
            orders = plan.orders(stage, state.positions)
        row, glance, state = advance(plan, stage, orders, plan.scenario.targets_at(state.step), state)
        keeper.add(row, state)
        if progress is not None:
            pace = (time.monotonic() - began) / (state.step - first)
            progress(_progress(plan, state, glance, pace))
        if interrupted():
            return False
    return True


def _at_opening(step: int, state: State, keeper: Keeper) -> Floats:
    """Everybody's positions at a chapter's first step, which a resumed run has behind it."""
    return state.positions if step == state.step else keeper.read("positions", step, step + 1)[0]


def _settled(plan: Plan, state: State) -> bool:
    depth = plan.chapters[-1].network.depth
    return plan.scenario.stop_when_settled and (state.still or state.quiet > depth)


def _progress(plan: Plan, state: State, glance: Glance, pace: float) -> Progress:
    steps = plan.scenario.steps
    return Progress(state.step, steps, glance.layers, glance.depth, glance.largest_error, pace * (steps - state.step))
