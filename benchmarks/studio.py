"""The studio in a real browser with software graphics: how soon the network follows a drag, frames a second, teams.

Times are taken on the page, end to end: from the pointer's message over the server, which builds the network anew, to
the frame that shows it. A frame counts if something was drawn in it, on any page. Bokeh and NiceGUI show the same
moving points in the same browser, as their users would do it, and nothing else: no links, no targets, no figures.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser
from tests.browser.studio_page import Visitor, browsing
from tests.ports import free_port
from tests.studio.served import served

import tricover as tc
from benchmarks.compare import Row, power, size
from benchmarks.workers import WorkerError, files, worker
from tricover.studio import Session

DRAGS = 20
SECONDS = 5  # in which frames are counted
SETTLES = 2  # seconds after which a peer's page is under way

DRAGGED = """async (count) => {
  const { studio } = document.querySelector("main");
  const [map] = studio.maps;
  const { see } = map;
  const times = [];
  for (let k = 0; k < count; k++) {
    const began = performance.now();
    const shown = new Promise((done) => {
      map.see = (block, lasts) => {
        see.call(map, block, lasts);
        if (block.kind === 1) requestAnimationFrame(() => requestAnimationFrame(() => done()));
      };
    });
    const agent = Math.floor(map.team.count / 2) + k;
    const place = map.team.at(agent).map((part, axis) => part + studio.camera.corner[axis] + 0.01 * (k + 1));
    studio.say("drag", { agent, place });
    await shown;
    times.push(performance.now() - began);
  }
  map.see = see;
  return times;
}"""

FRAMES = """async (seconds) => {
  let [drawn, frames, going] = [false, 0, true];
  const contexts = {
    WebGL2RenderingContext: ["drawArrays", "drawElements", "drawArraysInstanced"],
    CanvasRenderingContext2D: ["fill", "fillRect", "drawImage"],
  };
  for (const [kind, names] of Object.entries(contexts)) {
    for (const name of names) {
      const own = window[kind].prototype[name];
      window[kind].prototype[name] = function (...rest) {
        drawn = true;
        return own.apply(this, rest);
      };
    }
  }
  const count = () => {
    frames += drawn;
    drawn = false;
    if (going) requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
  const began = performance.now();
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  going = false;
  return (1000 * frames) / (performance.now() - began);
}"""

PEERS = {"Bokeh": "peers/bokeh_points.py", "NiceGUI": "peers/nicegui_points.py"}
RATE = 30  # frames a second that peers are given


def rows() -> Iterator[Row]:
    with browsing() as browser:
        with visiting(browser, agents := size(1_000)) as person:
            person.rewind()
            took = float(np.median(person.page.evaluate(DRAGGED, DRAGS)))
            what = f"the network follows a dragged agent, {power(agents)} agents: milliseconds, end to end"
            yield Row(what, f"{took:.0f} ms", "", took, 100, at_most=True, note="two frames of the browser included")
        with visiting(browser, agents := size(10_000)) as person:
            person.page.select_option("#speed", "1")  # as slow as it gets: the team is still moving when it was counted
            rate = person.page.evaluate(FRAMES, SECONDS)
            what = f"play, {power(agents)} agents, software graphics: frames a second"
            yield Row(what, f"{rate:.0f}", "", rate, 20)
        for name, module in PEERS.items():
            yield from beside(name, module, browser, agents, rate)
        with visiting(browser, agents := size(100_000), walking=False) as person:
            took = person.ask("performance.now() / 1000")
            note = "from the first byte of the page to the first picture of the team"
            yield Row(f"open {power(agents)} agents: seconds", f"{took:.1f} s", "", took, note=note)


def beside(name: str, module: str, browser: Browser, agents: int, ours: float) -> Iterator[Row]:
    """The same points shown by a peer, which is left out where it is not installed."""
    what = f"the same {power(agents)} moving points, {name}: frames a second"
    try:
        with files(points=motion(agents)) as paths, worker(module) as peer:
            page = browser.new_page(viewport={"width": 1300, "height": 850})
            page.goto(peer.serve(**paths, rate=RATE, port=free_port()))
            page.wait_for_selector("canvas")
            page.wait_for_timeout(1000 * SETTLES)
            rate = page.evaluate(FRAMES, SECONDS)
            page.close()
    except WorkerError as error:
        print(f"  {name} is left out: {str(error).splitlines()[-1]}", file=sys.stderr)
        return
    yield Row(what, f"{ours:.0f}", f"{rate:.1f}", ours / rate)


def motion(agents: int) -> np.ndarray:
    """Positions (frames, N, 2) of the first steps, a second each."""
    places = [step.positions for step, _ in zip(tc.steps(team(agents)), range(4), strict=False)]
    parts = np.linspace(0, 1, RATE, endpoint=False)
    return np.concatenate([[a + part * (b - a) for part in parts] for a, b in pairwise(places)])


@contextmanager
def visiting(browser: Browser, agents: int, walking: bool = True) -> Iterator[Visitor]:
    """Somebody at a page with a team."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Session(team(agents, walking), Path(folder))) as studio,
    ):
        person = Visitor(browser, studio.address)
        yield person
        person.close()


def team(agents: int, walking: bool = True) -> tc.Scenario:
    """So many agents over as many targets, at most 10,000."""
    draw = np.random.default_rng(agents)
    side = float(np.sqrt(agents))
    targets = draw.uniform(0, side, (min(agents, 10_000), 2))
    return tc.Scenario(
        formation={"generator": "square", "agents": agents, "size": side},
        targets=targets,
        network={"mentee": "balanced"},
        control={"motion": "walk" if walking else "reach", "resolution": 12},
    )
