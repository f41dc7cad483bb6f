"""Photographs a fleet that is watched: run `python -m tests.browser.photograph_fleet [FOLDER]` where the repository is.

Without a folder, only the picture of the documentation is made; with one, every state in every size, to be looked at.
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.browser.photograph_studio import IMAGES, SIZES
from tests.browser.studio_page import browsing
from tests.browser.test_fleet import Watcher, program

SCENARIO = Path(__file__).parents[2] / "examples" / "paper-57.toml"
AGENTS = 57
SIZES_OF_FLEETS = {**SIZES, 3840: 2160}


def settled(person):
    person.see(f"living.length === {AGENTS} && agreed && done")


def broken(person):
    """Two are killed, and the left half is cut off."""
    for agent in (20, 40):
        person.ask(f"studio.say('kill', {{ agent: {agent} }})")
    person.see(f"living.length === {AGENTS - 2} && agreed")
    person.page.click("#half")
    person.page.click("#part")
    person.see("beliefs === 2 && apart.length > 20")


def chosen(person):
    """One of those who are cut off."""
    person.ask("studio.choose(studio.fleet.flight.apart[8])")
    person.wait("studio.fleet.member !== null")
    person.ask("document.querySelector('aside').scrollTo(0, 0)")


def over(person):
    person.page.click("#part")
    person.see("agreed && done")
    for _ in range(2):
        person.page.click('[data-order="end"]')
    person.page.wait_for_selector("#flown:visible")
    person.wait("/Certificate/.test(document.getElementById('over').textContent)")


def look(browser, address, path, size, scheme, choice=None):
    person = Watcher(browser, address, size=size, color_scheme=scheme)
    if choice is not None:
        choice(person)
    person.wait("studio.maps.every((map) => map.part() === 1 && !map.waiting)")
    person.page.screenshot(path=path)
    person.leave()


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as name, browsing() as browser:
        arguments = "fleet", SCENARIO, "--studio", "-o", Path(name) / "flown.zarr"
        with program(Path(name), *arguments) as (_, address):
            person = Watcher(browser, address)
            for state, choice in ((settled, None), (broken, chosen), (over, None)):
                state(person)
                if folder is None and state is broken:
                    path = IMAGES / "studio-fleet.png"
                    look(browser, address, path, (1300, 850), "light", choice)
                    Image.open(path).convert("RGB").quantize(256, kmeans=2).save(path, optimize=True)
                    return
                if folder is not None:
                    for width, height in SIZES_OF_FLEETS.items():
                        for scheme in ("light", "dark"):
                            path = folder / f"{state.__name__}-{width}-{scheme}.png"
                            look(browser, address, path, (width, height), scheme, choice)


if __name__ == "__main__":
    main()
