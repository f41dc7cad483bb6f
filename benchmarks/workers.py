"""Workers: peers in an environment of their own (``.venv-peers``), and our own code where its memory is measured."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
PEERS = HERE.parent / ".venv-peers" / "bin" / "python"


class WorkerError(RuntimeError):
    """What went wrong in a worker, or that there is none."""


class Worker:
    """Calls functions of a module in another process: ``worker.delaunay(points=path)`` returns what it returns.

    Attributes:
        imported: bytes that the process held when its module was imported.
        peak: bytes at the peak so far, everything included.
    """

    def __init__(self, process: "subprocess.Popen[str]", module: Path) -> None:
        self._process, self._module = process, module
        self.imported = self.peak = 0

    @property
    def memory(self) -> int:
        """Bytes at the peak so far beyond what the process held when its module was imported."""
        return self.peak - self.imported

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda **arguments: self._ask(name, arguments)

    def _ask(self, name: str, arguments: dict[str, Any]) -> Any:
        pipes = self._process
        try:
            pipes.stdin.write(json.dumps({"do": name, "with": arguments}) + "\n")
            pipes.stdin.flush()
            line = pipes.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerError(f"{self._module.name} ended with code {pipes.wait()} when asked for {name}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(f"{self._module.name}, {name}: {answer['error']}")
        self.peak, self.imported = answer["peak"], answer["imported"]
        return answer["result"]


@contextmanager
def worker(module: str, python: Path = PEERS, **settings: str) -> Iterator[Worker]:
    """A process for one of the modules here, with ``settings`` in its environment; ended at the end."""
    if not python.exists():
        raise WorkerError(f"{python} is missing: make .venv-peers/.installed")
    path = HERE / module
    command = [str(python), str(HERE / "worker.py"), str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=os.environ | settings) as process:
        try:
            yield Worker(process, path)
        finally:
            process.stdin.close()


def alone(module: str, **settings: str) -> "contextmanager[Worker]":
    """A process of our own environment."""
    return worker(module, Path(sys.executable), **settings)


@contextmanager
def files(**arrays: "np.typing.ArrayLike") -> Iterator[dict[str, str]]:
    """Arrays as .npy files: their paths by name, as arguments for a worker."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder, f"{name}.npy")) for name in arrays}
        for name, array in arrays.items():
            np.save(paths[name], array)
        yield paths


@contextmanager
def one_thread() -> Iterator[None]:
    """Our code on one core."""
    before, os.environ["TRICOVER_THREADS"] = os.environ.get("TRICOVER_THREADS"), "1"
    try:
        yield
    finally:
        os.environ.pop("TRICOVER_THREADS")
        if before is not None:
            os.environ["TRICOVER_THREADS"] = before
