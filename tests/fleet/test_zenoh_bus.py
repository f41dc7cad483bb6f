"""What waits for the event loop: bounded for each key, and nobody waits behind a flood of another."""

from threading import Thread

from tricover.fleet import zenoh_bus
from tricover.fleet.zenoh_bus import BYTES, MESSAGES, Call, Waiting


def call(what, size=1):
    return Call(print, (what,), size)


def taken(waiting):
    return [waiting.take().what[0] for _ in range(len(waiting))]


def test_a_flood_pushes_out_the_oldest_of_its_own():
    waiting = Waiting()
    waiting.add("other", call("first"))
    for number in range(10_000):
        waiting.add("flood", call(number))
    waiting.add("other", call("second"))
    assert (len(waiting), waiting.dropped) == (MESSAGES + 2, 10_000 - MESSAGES)
    found = taken(waiting)
    assert [one for one in found if one in ("first", "second")] == ["first", "second"]
    assert found.index("second") < 4  # its turn comes soon, however many wait
    assert [one for one in found if isinstance(one, int)] == list(range(10_000 - MESSAGES, 10_000))
    assert not waiting._sizes  # of keys that were spoken under once nothing is left


def test_long_messages_push_out_each_other_but_one_is_always_kept():
    waiting = Waiting()
    for number in range(9):
        waiting.add("long", call(number, BYTES // 2))
    assert (taken(waiting), waiting.dropped) == ([7, 8], 7)
    for number in range(3):
        waiting.add("longer", call(number, BYTES + 1))
    assert (taken(waiting), waiting.dropped) == ([2], 9)
    for number in range(MESSAGES):  # what was taken does not count any more
        waiting.add("long", call(number, BYTES // MESSAGES))
    assert (taken(waiting), waiting.dropped) == (list(range(MESSAGES)), 9)


def test_keys_are_bounded_too(monkeypatch):
    monkeypatch.setattr(zenoh_bus, "KEYS", 3)
    waiting = Waiting()
    for number in range(10):
        waiting.add(f"key {number}", call(number))
    waiting.add("key 0", call("again"))
    assert waiting.dropped == 7
    assert taken(waiting) == [0, 1, 2, "again"]
    waiting.add("key 9", call(9))
    waiting.clear()
    assert len(waiting) == 0
    waiting.add("key 8", call(8))
    assert taken(waiting) == [8]


def test_threads_lose_nothing_that_is_not_counted():
    waiting, found = Waiting(), []

    def add(name):
        for number in range(5000):
            waiting.add(name, call((name, number)))

    threads = [Thread(target=add, args=(f"{which % 2}",)) for which in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) or len(waiting):
        found += taken(waiting)
    assert len(found) + waiting.dropped == 20_000
