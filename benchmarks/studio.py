"""The studio in a real browser with software graphics: how soon the network follows a drag, frames a second, teams.

Times are taken on the page, end to end: from the pointer's message over the server, which builds the network anew, to
the frame that shows it.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.browser.studio_page import Visitor, browsing
from tests.studio.served import served

import tricover as tc
from benchmarks.compare import Row, power, size
from tricover.studio import Session

DRAGS = 20
SECONDS = 5  # in which frames are counted

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
  const [map] = document.querySelector("main").studio.maps;
  const [before, began] = [map.frames, performance.now()];
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  return (1000 * (map.frames - before)) / (performance.now() - began);
}"""


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
        with visiting(browser, agents := size(100_000), walking=False) as person:
            took = person.ask("performance.now() / 1000")
            note = "from the first byte of the page to the first picture of the team"
            yield Row(f"open {power(agents)} agents: seconds", f"{took:.1f} s", "", took, note=note)


@contextmanager
def visiting(browser: object, agents: int, walking: bool = True) -> Iterator[Visitor]:
    """Somebody at a page with a team of so many agents over as many targets, at most 10,000."""
    draw = np.random.default_rng(agents)
    side = float(np.sqrt(agents))
    targets = draw.uniform(0, side, (min(agents, 10_000), 2))
    scenario = tc.Scenario(
        formation={"generator": "square", "agents": agents, "size": side},
        targets=targets,
        network={"mentee": "balanced"},
        control={"motion": "walk" if walking else "reach", "resolution": 12},
    )
    with tempfile.TemporaryDirectory() as folder, served(Session(scenario, Path(folder))) as studio:
        person = Visitor(browser, studio.address)
        yield person
        person.close()
