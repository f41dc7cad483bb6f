import threading
from itertools import pairwise

import pytest

from tricover.errors import InputError
from tricover.threads import in_ranges, side_by_side, work_off, workers


def test_workers_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("TRICOVER_THREADS", "3")
    assert workers() == 3
    monkeypatch.setenv("TRICOVER_THREADS", "many")
    with pytest.raises(InputError, match="TRICOVER_THREADS must be a whole number from 1 on, not 'many'"):
        workers()
    monkeypatch.delenv("TRICOVER_THREADS")
    assert workers() >= 1


@pytest.mark.parametrize("threads", ["1", "4"])
def test_results_come_in_order_and_errors_come_through(monkeypatch, threads):
    monkeypatch.setenv("TRICOVER_THREADS", threads)
    assert side_by_side(lambda part: part * part, range(50)) == [part * part for part in range(50)]
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda part: 1 // part, [2, 1, 0])


def test_two_threads_really_run_side_by_side(monkeypatch):
    monkeypatch.setenv("TRICOVER_THREADS", "2")
    meeting = threading.Barrier(2, timeout=30)
    side_by_side(lambda part: meeting.wait(), [0, 1])


@pytest.mark.parametrize("threads", ["1", "4"])
def test_work_that_is_handed_back_is_done_too(monkeypatch, threads):
    monkeypatch.setenv("TRICOVER_THREADS", threads)
    done = []

    def halve(part):
        done.append(part)
        return [part // 2, part - part // 2] if part > 1 else []

    work_off(halve, [13])
    assert sum(part for part in done if part == 1) == 13


@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("length", [0, 1, 4095, 4096, 100_000, 10**7])
def test_ranges_cover_everything_once(monkeypatch, length, threads):
    monkeypatch.setenv("TRICOVER_THREADS", threads)
    found = []
    in_ranges(lambda first, last: found.append((first, last)), length)
    cut = sorted(found)
    assert cut[0][0] == 0
    assert cut[-1][1] == length
    assert all(a[1] == b[0] for a, b in pairwise(cut))
    assert len(cut) == (1 if threads == "1" else max(1, min(16, length // 4096)))


def test_a_thread_that_is_one_of_several_cuts_nothing(monkeypatch):
    monkeypatch.setenv("TRICOVER_THREADS", "2")
    found = []
    side_by_side(lambda part: in_ranges(lambda *cut: found.append(cut), 10**6), [0, 1])
    assert found == [(0, 10**6)] * 2
