"""Topics: each is a module of this folder that yields rows, measured here or in a process of its own."""

import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from benchmarks.compare import Row

#: In the order of the data flow.
TOPICS = (
    "startup",
    "network",
    "targets",
    "mdp",
    "plans",
    "zones",
    "vehicles",
    "assignment",
    "simulation",
    "learning",
    "coveragecontrol",
    "certify",
    "separation",
    "coverage",
    "moving",
    "sight",
    "sweep",
    "parts",
    "rl",
    "fleet",
    "studio",
    "samples",
    "scaling",
)


def measure(topic: str) -> list[dict[str, Any]]:
    """The topic's rows as plain values; one that fails does not take the others along."""
    print(f"{topic} …", file=sys.stderr, flush=True)
    found, began = [], time.monotonic()
    try:
        for row in import_module(f"benchmarks.{topic}").rows():
            found.append(entry(topic, row))
            print(f"  {row.what}: {row.ratio:.3g} {row.bound} {row.verdict}", file=sys.stderr, flush=True)
    except Exception as error:  # noqa: BLE001 - see above; the table says so, and so does the exit code
        traceback.print_exc()
        found.append(_failure(topic, error))
    print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return found


def apart(topic: str) -> list[dict[str, Any]]:
    """The same in a new process; one that dies is a topic that failed."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(measure, topic).result()
        except BrokenProcessPool as error:
            return [_failure(topic, error)]


def _failure(topic: str, error: Exception) -> dict[str, Any]:
    failed = Row(f"{topic} failed", "", "", float("nan"), note=str(error).strip().splitlines()[-1])
    return entry(topic, failed) | {"ratio": None, "verdict": "failed"}


def entry(topic: str, row: Row) -> dict[str, Any]:
    """A row as plain values."""
    return {
        "topic": topic,
        "what": row.what,
        "ours": row.ours,
        "peer": row.peer,
        "ratio": row.ratio,
        "wanted": row.bound,
        "verdict": row.verdict,
        "note": row.note,
        "data": row.data,
    }
