"""Curves over sizes and their laws."""

import numpy as np
import pytest
from benchmarks.workers import alone

from benchmarks import scaling

SIZES = [1000, 10_000, 100_000, 1_000_000]


def test_constant_costs_at_small_sizes_do_not_hide_the_law():
    seconds = [0.5, *(1e-6 * np.array(SIZES[1:]) ** 1.25)]
    data = {"quantity": "network", "over": "agents", "others": "10⁶ targets", "sizes": SIZES}
    row = scaling.law("time, network", data, {"seconds": seconds}, "seconds", 1.1)
    assert row.ratio == pytest.approx(1.25)
    assert (row.verdict, row.bound) == ("missed", "≤ 1.1")
    assert row.data["values"] == pytest.approx(seconds)
    over_all = (1.5 * np.log10(seconds[3] / seconds[0]) + 0.5 * np.log10(seconds[2] / seconds[1])) / 5
    assert row.note.endswith(f"{over_all:.2f} from 10³ on")


HOLD = """
import numpy as np
from benchmarks.scaling import work

def hold(megabytes):
    return work(lambda: len(np.ones(megabytes << 17)), patience=0.0)[1]["bytes"]
"""


def test_memory_of_work_is_its_peak_and_not_what_came_before(tmp_path):
    """In a process that keeps no freed memory, as every measurement: elsewhere the second array may fit in a gap."""
    (tmp_path / "hold.py").write_text(HOLD)
    with alone(str(tmp_path / "hold.py"), **scaling.NO_HOARDING) as process:
        large, small = process.hold(megabytes=64), process.hold(megabytes=48)
    assert 60 << 20 < large < 80 << 20
    assert 44 << 20 < small < 60 << 20


def test_every_quantity_is_measured_at_every_size():
    found = scaling.measure(agents=200, targets=300)
    shown = {quantity for quantities in scaling.SHOWN.values() for quantity in quantities}
    assert found.keys() == shown
    assert all(values["seconds"] > 0 and values["bytes"] > 0 for values in found.values())
