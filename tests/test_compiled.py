import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from tricover import compiled

PROGRAM = """
import sys
from tricover.compiled import on_compilation
on_compilation(lambda: sys.stdout.write("compiling "))
import tricover as tc
reference = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
run = tc.simulate(tc.Scenario(reference=reference, targets=reference, control={"motion": "walk", "resolution": 5}))
sys.stdout.write(str(tc.certify(run).holds))
"""

TWO = compiled.typed(2)


def test_compilation_is_announced_once_and_kept_for_the_next_process(tmp_path):
    def run():
        command = [sys.executable, "-c", PROGRAM]
        environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run() == "compiling True"
    assert run() == "True"


def _doubled(number):
    return 2 * number


def test_kernels_are_cached_on_disk(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert compiled.kernel(_doubled)(21) == 42
    assert list(tmp_path.rglob("*_doubled*.nbi"))


def test_a_cached_kernel_is_used_only_if_no_file_with_kernels_has_changed(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def loaded():
        doubled = compiled.kernel(_doubled)
        assert doubled(21) == 42
        return sum(doubled.stats.cache_hits.values())

    assert [loaded(), loaded()] == [0, 1]
    monkeypatch.setattr(compiled, "_KERNELS", "other")
    assert [loaded(), loaded()] == [0, 1]


class Pair(NamedTuple):
    one: float
    other: float


class Renamed(NamedTuple):
    one: float
    other: float


def _summed(pair):
    return pair.one + pair.other


def test_a_cache_that_names_a_type_that_is_gone_is_no_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    pair = Pair(1.0, 2.0)
    assert compiled.kernel(_summed)(pair) == 3.0
    monkeypatch.setattr(compiled, "_KERNELS", "other")
    monkeypatch.delattr(sys.modules[__name__], "Pair")
    assert compiled.kernel(_summed)(Renamed(1.0, 2.0)) == 3.0


FACTOR = 2


def _times(number):
    return FACTOR * number


def test_who_is_killed_while_saving_leaves_no_old_code_for_the_next(monkeypatch, tmp_path):
    """The index is new then, and what it names is what an older kernel left there."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert compiled.kernel(_times)(21) == 42
    monkeypatch.setattr(compiled, "_KERNELS", "other")
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3)
    with monkeypatch.context() as patched:
        patched.setattr(IndexDataCacheFile, "_save_data", killed)
        with pytest.raises(KeyboardInterrupt):
            compiled.kernel(_times)(21)
    assert compiled.kernel(_times)(21) == 63
    again = compiled.kernel(_times)
    assert again(21) == 63
    assert sum(again.stats.cache_hits.values()) == 1, "what was compiled anew is cached"


def killed(*_):
    raise KeyboardInterrupt


def test_code_of_another_signature_is_not_taken_for_what_the_index_says(monkeypatch, tmp_path):
    """Two processes that save at the same time without a lock may leave it so."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert compiled.kernel(_doubled)(21) == 42
    assert compiled.kernel(_doubled)(1.5) == 3.0
    whole, real = sorted(tmp_path.rglob("*_doubled*.nbc"))
    shutil.copy(whole, real)
    mixed = compiled.kernel(_doubled)
    assert mixed(1.5) == 3.0
    assert not sum(mixed.stats.cache_hits.values())
    assert mixed(21) == 42


def test_the_fingerprint_is_of_all_files_that_have_kernels(tmp_path):
    package = Path(compiled.__file__).parent
    shutil.copytree(package, tmp_path / "tricover", ignore=shutil.ignore_patterns("__pycache__"))
    copied, before = tmp_path / "tricover", compiled.fingerprint(package)
    assert compiled.fingerprint(copied) == before
    users = [file for file in copied.rglob("*.py") if "from tricover.compiled import" in file.read_text()]
    kernels = [file for file in users if re.search(r"^@(kernel|inlined)", file.read_text(), re.M)]
    assert len(kernels) > 10
    for file in kernels:
        text = file.read_text()
        file.write_text(f"{text}\n")
        assert compiled.fingerprint(copied) != before, file
        file.write_text(text)


def _count_until(told, rounds, most):
    while told[0] == 0 and rounds[0] < most:
        rounds[0] += 1
    return rounds[0] < most


def test_kernels_release_the_interpreter_lock(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    count_until = compiled.kernel(_count_until)
    assert count_until(np.ones(1), np.zeros(1, np.int64), 5)
    told, rounds, found = np.zeros(1), np.zeros(1, np.int64), []
    thread = threading.Thread(target=lambda: found.append(count_until(told, rounds, 10**10)))
    thread.start()
    while thread.is_alive():
        told[0] = rounds[0] > 0  # only once the kernel runs: it then hears of it only if it holds no lock
    assert found == [True]


def test_typed_constants_do_not_make_kernels_compiled_once_more(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    inner = compiled.kernel(_doubled)

    def outer(number):
        return inner(TWO) + inner(number)

    assert numba.njit(outer)(3) == 10
    assert len(inner.signatures) == 1
