"""A studio for a long time: run `python -m tests.browser.long_run --minutes 60` where the repository is.

Somebody plays, restarts, edits, scrubs, compares and looks inside, round after round, in a real browser with a real
server behind it, which is ended and started again half-way. Memory is printed as a table: of the server, of the page
after its garbage was collected, of all processes of the browser. Exit code 1: something grew.

*Growth.* Of all rounds after those in which caches become full, the median of the slopes between any two (Theil and
Sen): a few rounds that hold more than others do not change it. What leaks does so in every round, so the slope is in
bytes, or things, per round; it is a leak if it is above ``STEADY`` and makes up ``LEAST`` over the rounds measured.
Noise of the page's heap is some kB, so a hundred rounds show a leak of 2 kB a round; the rest is coarser.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.browser.program import PATIENCE
from tests.browser.studio_page import Visitor, browsing
from tests.ports import free_port

COMMAND = "from tricover.cli.main import command; command()"
WARM = 0.3  # share of a server's life in which caches, and the list of what can be undone, become full
FULL = 50  # rounds, at least, until they are: some changes a round, of which a hundred can be undone
FEWEST = 120  # rounds of a life
AGENT = 20  # a follower of the paper's team


class Memory(NamedTuple):
    """What is held; sizes in MiB."""

    server: float
    heap: float
    browser: float
    nodes: int
    listeners: int


STEADY = Memory(server=0.02, heap=0.001, browser=0.1, nodes=0.05, listeners=0.02)
"""What each may grow by from round to round: 1 kB of the page's heap, one element in twenty rounds."""
LEAST = Memory(server=3, heap=0.1, browser=12, nodes=3, listeners=2)
"""What a trend has to make up over all rounds that are looked at: less cannot be told from noise."""


class Place(NamedTuple):
    """Where a studio listens, and the folder that it keeps its token and files in."""

    port: int
    folder: Path


@contextmanager
def running(place):
    """A studio in a process of its own: its process and its address."""
    command = [sys.executable, "-c", COMMAND, "studio", "--no-browser", "--quiet", "--port", str(place.port)]
    home = os.environ | {"XDG_STATE_HOME": str(place.folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=place.folder, env=home) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.terminate()


def held(process):
    """MiB of memory of a process, or none where it has gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


class Watched:
    """A page whose memory is measured."""

    def __init__(self, browser, person):
        self.processes = browser.new_browser_cdp_session()
        self.page = person.context.new_cdp_session(person.page)
        self.page.send("HeapProfiler.enable")

    def memory(self, server):
        for _ in range(2):  # what the first round lets go may hold something else
            self.page.send("HeapProfiler.collectGarbage")
        heap = self.page.send("Runtime.getHeapUsage")["usedSize"] / 2**20
        counts = self.page.send("Memory.getDOMCounters")
        found = self.processes.send("SystemInfo.getProcessInfo")["processInfo"]
        browser = sum(held(one["id"]) for one in found)
        return Memory(held(server), heap, browser, counts["nodes"], counts["jsEventListeners"])


def a_round(person):
    """Some of everything; in the end the scenario is as it was."""
    page = person.page
    page.click("#restart")
    person.wait("studio.state.step === 0")
    page.select_option("#speed", "30")
    page.click("#play")
    person.wait("studio.state.step >= 30 || studio.state.variants[0].ended")
    person.pause()
    page.click("#back")
    page.focus("#scrub")
    page.keyboard.press("Home")
    person.wait("studio.state.step === 0 && studio.maps[0].part() === 1")
    start = person.agent(AGENT)
    person.drag(start, [start[0] + 2, start[1] + 1])
    page.click("#undo")
    person.sees(AGENT, start, 1e-3)
    page.click('[data-tool="scatter"]')
    person.click(start)
    page.click("#undo")
    page.click('[data-tool="choose"]')
    person.click(start)
    person.wait(f"studio.maps[0].inside && studio.maps[0].inside.agent === {AGENT}")
    page.click("#compare")
    person.wait("studio.maps.length === 2 && studio.maps[1].team.count > 0")
    page.click("#forward")
    person.wait("studio.state.step === 1")
    page.click("#compare")
    person.wait("studio.maps.length === 1")
    page.focus(".map canvas:nth-child(2)")
    page.keyboard.press("Escape")


def lived(browser, minutes, fewest=FEWEST):
    """Two lives of a server with one page, each half the time, in rounds: memory after each round, by life."""
    with tempfile.TemporaryDirectory() as folder:
        place, person, lives = Place(free_port(), Path(folder)), None, []
        for _ in range(2):
            with running(place) as (process, address):
                person = person or Visitor(browser, address)
                person.page.set_default_timeout(1000 * PATIENCE)
                person.wait("document.body.dataset.connected === 'true'")
                person.pause()
                lives.append(life(person, Watched(browser, person), process.pid, 30 * minutes, fewest))
            person.wait("document.body.dataset.connected === 'false'")
        assert person.errors == [] or all("WebSocket" in error for error in person.errors), person.errors
        person.close()
    return lives


def life(person, watched, server, seconds, fewest):
    """Rounds for so long, and at least so many."""
    found, began, told = [], time.monotonic(), 0.0
    print("  minute  round  server MiB  heap MiB  browser MiB  nodes  listeners", flush=True)
    while time.monotonic() - began < seconds or len(found) < fewest:
        a_round(person)
        found.append(watched.memory(server))
        spent = (time.monotonic() - began) / 60
        if spent >= told or len(found) == fewest:
            one = found[-1]
            sizes = f"{one.server:10.1f} {one.heap:9.2f} {one.browser:12.1f} {one.nodes:6d} {one.listeners:10d}"
            print(f"  {spent:6.1f} {len(found):6d}  {sizes}", flush=True)
            told = spent + max(seconds / 60 / 15, 0.1)
    return found


def grown(memories):
    """What grows from round to round once a server is warm, by name: how much a round, where that is a leak."""
    rows = np.array(memories)[max(int(WARM * len(memories)), FULL) :]
    slopes = np.array([slope(column) for column in rows.T])
    leaks = (slopes > STEADY) & (slopes * (len(rows) - 1) > LEAST)
    found = zip(Memory._fields, slopes.tolist(), leaks.tolist(), strict=True)
    return {name: more for name, more, leaks_so in found if leaks_so}


def slope(values):
    """The median of the slopes between any two of the values, per place."""
    first, second = np.triu_indices(len(values), 1)
    return np.median((values[second] - values[first]) / (second - first))


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.browser.long_run", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60, help="how long, both lives of the server together")
    asked = parser.parse_args()
    with browsing() as browser:
        lives = lived(browser, asked.minutes)
    failed = [grown(memories) for memories in lives]
    for number, more in enumerate(failed):
        print(f"server {number + 1}: {'nothing grows' if not more else f'grows in every round: {more}'}")
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
