import subprocess
import sys

import numba

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


def test_compilation_is_announced_once_and_kept_for_the_next_process(tmp_path):
    def run():
        command = [sys.executable, "-c", PROGRAM]
        environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run() == "compiling True"
    assert run() == "True"


def test_kernels_are_cached_in_numbas_own_way_where_its_names_change(monkeypatch, tmp_path):
    monkeypatch.setattr(compiled, "_OPENS_LATE", False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert compiled.kernel(_doubled)(21) == 42
    assert list(tmp_path.rglob("*_doubled*.nbi"))


def _doubled(number):
    return 2 * number


def test_kernels_are_not_compiled_once_more_for_every_literal(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    inner = compiled.kernel(_doubled)

    def outer(number):
        return inner(1) + inner(2) + inner(number)

    assert numba.njit(outer)(3) == 12
    assert len(inner.signatures) == 1
