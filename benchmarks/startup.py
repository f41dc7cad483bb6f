"""``tricover run`` on the paper's 57 agents, start to finish, beside the bare import of NumPy and SciPy.

The second run has no bound: kernels come from Numba's cache as Numba does it, and it loads its compiler for that.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.compare import Row, best_of, seconds, span, timer
from benchmarks.workers import HERE

RUN = [str(Path(sys.executable).with_name("tricover")), "run", str(HERE.parent / "examples" / "paper-57.toml")]
IMPORT = [sys.executable, "-c", "import numpy, scipy"]


def rows() -> Iterator[Row]:
    call(RUN)  # from here on every kernel is cached
    again, bare = best_of(timer(lambda: call(RUN)), timer(lambda: call(IMPORT)), goes=7)
    peer, times = f"{span(bare)} import", "times the import; most of it is Numba's own start"
    yield Row("tricover run, 57 agents, second run", span(again), peer, again / bare, note=times)
    with tempfile.TemporaryDirectory() as cache:
        told = []
        first = seconds(lambda: told.append(call(RUN, {"NUMBA_CACHE_DIR": cache})))
    what = "tricover run, 57 agents, nothing compiled yet: seconds more"
    yield Row(what, span(first), f"{span(again)} second run", first - again, 30, at_most=True)
    announced = "compil" in told[0].lower()
    yield Row("… and says that it compiles", "yes" if announced else "no", "", float(announced), 1)


def call(command: list[str], settings: dict[str, str] | None = None) -> str:
    """Run a command as a user would, who lets Python keep its bytecode; what it wrote to stderr."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | (settings or {})
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return done.stderr
