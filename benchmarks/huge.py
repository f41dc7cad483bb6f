"""Huge teams in parts, from files to files: seconds, processors' time, disk and memory over the number of agents.

    python -m benchmarks.huge 1e5 1e6 1e7 --folder /somewhere/large

Agents and as many targets are uniform in a square; the rule is "balanced". Two workers with one thread each, held to
2 GiB. Memory is that of a process at its peak without the files that it has mapped, looked at four times a second. Of
10⁸ agents all takes 33 GB on disk, and a quarter of an hour; ``benchmarks parts`` is the short one. Linux only.
"""

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import NamedTuple

from distributed import Client

import tricover as tc
from benchmarks.compare import exponent, power
from benchmarks.parts import PART, scenario
from benchmarks.worker import memory
from tricover.studies import PartsProgress

WORKERS = 2
TICKS = os.sysconf("SC_CLK_TCK")


class Found(NamedTuple):
    """What a run took: seconds in all and by kind of work, processors' seconds, bytes on disk and at the peaks."""

    agents: int
    steps: int
    seconds: float
    busy: float
    disk: int
    worker: int
    caller: int
    phases: dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.huge", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("agents", nargs="+", type=lambda text: int(float(text)), help="such as 1e6")
    parser.add_argument("--folder", type=Path, help="on a disk with room for all of it")
    asked = parser.parse_args()
    found = []
    with Client(n_workers=WORKERS, threads_per_worker=1, memory_limit="2GiB", dashboard_address=None) as client:
        with TemporaryDirectory(dir=asked.folder) as folder:
            run(30_000, Path(folder), client, 3000)  # workers load their kernels
        say("agents steps seconds µs/agent processors'µs/agent bytes/agent worker GB caller GB")
        for agents in asked.agents:
            with TemporaryDirectory(dir=asked.folder) as folder:
                found.append(run(agents, Path(folder), client, PART))
            say(line(found[-1]))
    sizes = [each.agents for each in found]
    if len(set(sizes)) > 1:
        for name in ("seconds", "busy", "disk"):
            say(f"exponent of {name}: {exponent(sizes, [getattr(each, name) for each in found]):.3f}")
    return 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def line(each: Found) -> str:
    shares = (each.seconds * 1e6, each.busy * 1e6, each.disk)
    a_head = " ".join(f"{share / each.agents:.3g}" for share in shares)
    phases = ", ".join(f"{work} {time_s:.3g} s" for work, time_s in each.phases.items())
    peaks = f"{each.worker / 1e9:.2f} {each.caller / 1e9:.2f}"
    return f"{power(each.agents)} {each.steps} {each.seconds:.2f} {a_head} {peaks} ({phases})"


def run(agents: int, folder: Path, client: Client, part: int) -> Found:
    given = scenario(folder, agents)
    phases: dict[str, float] = defaultdict(float)
    last = ["", time.perf_counter()]

    def report(now: PartsProgress) -> None:
        here = time.perf_counter()
        if last[0]:
            phases[last[0]] += here - last[1]
        last[:] = [now.work.split(" 0 to ")[0], here]

    processes = [os.getpid(), *client.run(os.getpid).values()]
    with peaks(processes) as peak:
        began, busy = time.perf_counter(), sum(map(spent, processes))
        done = tc.simulate_parts(given, folder / "run", client, agents_per_part=part, progress=report)
        seconds, busy = time.perf_counter() - began, sum(map(spent, processes)) - busy
    phases[last[0]] += time.perf_counter() - last[1]
    disk = sum(file.stat().st_size for file in (folder / "run").rglob("*") if file.is_file())
    return Found(agents, done.steps, seconds, busy, disk, max(peak[1:]), peak[0], dict(phases))


@contextmanager
def peaks(processes: list[int]) -> Iterator[list[int]]:
    """The most bytes of their own that processes have while this lasts."""
    found, over = [0] * len(processes), Event()

    def look() -> None:
        found[:] = [max(most, memory("RssAnon", each)) for most, each in zip(found, processes, strict=True)]

    def watch() -> None:
        while not over.wait(0.25):
            look()

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()
        look()


def spent(process: int) -> float:
    """Seconds that processors have worked for a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    sys.exit(main())
