"""Ctrl-C while a run is under way, and what is told of its pace."""

import signal
import threading

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import scenario
from tricover.simulation import loop

WALK = {"motion": "walk", "resolution": 8}


def given_team():
    return scenario(0, agents=20, control=WALK, vehicle="anywhere", steps=12)


def press_at(step, times=1):
    def progress(now):
        if now.step == step:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    return progress


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_run_after_a_whole_step_and_is_given_back(tmp_path, times):
    """The second one ends it at once; afterwards Ctrl-C does what it did before."""
    whole, before = tc.simulate(given_team()), signal.getsignal(signal.SIGINT)
    for store in (None, tmp_path / "run.zarr"):
        run = tc.simulate(given_team(), store, progress=press_at(4, times))
        assert (run.interrupted, run.steps) == (True, 4)
        np.testing.assert_array_equal(run.positions, whole.positions[:5])
        assert signal.getsignal(signal.SIGINT) is before
    assert "interrupted" in repr(run)
    assert tc.Run.open(tmp_path / "run.zarr").interrupted
    again = tc.simulate(given_team(), tmp_path / "run.zarr", resume=True)
    assert not again.interrupted
    assert not tc.Run.open(tmp_path / "run.zarr").interrupted
    np.testing.assert_array_equal(again.positions, whole.positions)


def test_a_second_ctrl_c_does_not_wait_for_the_step():
    seen = []

    def progress(now):
        if now.step == 4:
            signal.raise_signal(signal.SIGINT)
            seen.append("first")
            signal.raise_signal(signal.SIGINT)
            seen.append("second")

    run = tc.simulate(given_team(), progress=progress)
    assert run.interrupted
    assert seen == ["first"]


def test_a_run_in_a_thread_hears_no_ctrl_c():
    found = []
    worker = threading.Thread(target=lambda: found.append(tc.simulate(given_team())))
    worker.start()
    worker.join()
    np.testing.assert_array_equal(found[0].positions, tc.simulate(given_team()).positions)


def test_the_time_left_is_that_of_the_steps_left_at_the_pace_so_far(tmp_path, monkeypatch):
    """A clock on which every step takes three seconds, and a run that goes on from step 4."""
    tc.simulate(given_team(), tmp_path / "run.zarr", progress=press_at(4))
    told, now = [], [100.0]

    def clock():
        now[0] += 3.0
        return now[0] - 3.0

    class Clock:
        monotonic = staticmethod(clock)

    monkeypatch.setattr(loop, "time", Clock)
    tc.simulate(given_team(), tmp_path / "run.zarr", resume=True, progress=told.append)
    assert [one.step for one in told] == list(range(5, 13))
    assert [one.seconds_left for one in told] == [3.0 * (12 - step) for step in range(5, 13)]
