"""Photographs the studio: run `python -m tests.browser.photograph_studio [FOLDER]` where the repository is.

Without a folder, only the pictures of the documentation are made; with one, every state in every size, to be looked at.
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.browser.studio_page import Visitor, browsing
from tests.studio.served import served
from tricover.cli.studio import first_team
from tricover.studio import Session

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZES = {390: 844, 1300: 850, 2560: 1440}


def start(person):
    """A team on its way."""
    person.wait("studio.state.step >= 6")
    person.pause()


def inside(person):
    """Inside a follower, its cells and its layer."""
    start(person)
    first = person.ask("studio.maps[0].team.layer.indexOf(1)")  # its triangle is large enough for arrows
    person.click(person.agent(first))
    person.wait("studio.maps[0].inside && studio.maps[0].inside.step === studio.state.step")
    person.page.click("#figures summary")
    person.page.click("#layered summary")
    person.wait("studio.layered.places.size > 0")


def compared(person):
    """Two mentee rules side by side, at their end."""
    person.pause()
    person.page.click("#compare")
    person.wait("studio.maps.length === 2")
    person.page.click("#settings summary")
    person.page.click('#which [data-variant="1"]')
    person.page.select_option("[id='set-network.mentee']", "balanced")
    person.wait("studio.state.variants[1].values['network.mentee'] === 'balanced'")
    person.ask("studio.say('seek', { step: 200 })")
    person.wait("studio.state.variants.every((facts) => facts.ended)")


def certified(person):
    """The certificate of a run."""
    person.pause()
    person.ask("studio.say('seek', { step: 600 })")
    person.wait("studio.state.variants[0].ended")
    person.page.click("#certificate summary")
    person.page.click("#claims")
    person.page.wait_for_selector("#certificate li")
    person.page.locator("#certificate").scroll_into_view_if_needed()


def edited(person):
    """Before the start, with a zone that is being drawn."""
    person.rewind()
    low, high = (
        person.ask(f"studio.camera.corner.map((part, axis) => part + {share} * studio.camera.size[axis])")
        for share in (0.55, 0.7)
    )
    person.page.click('[data-tool="zone"]')
    for corner in ([low[0], low[1]], [high[0], low[1]], [high[0], high[1]]):
        person.click(corner)


def refused(person):
    """A setting that is wrong."""
    person.pause()
    person.page.click("#figures summary")
    person.page.click("#inside summary")
    person.page.click("#settings summary")
    person.page.fill("[id='set-control.gamma']", "2")
    person.page.keyboard.press("Tab")
    problem = person.page.locator(".setting:has([id='set-control.gamma']) .problem")
    problem.wait_for(state="visible")
    problem.scroll_into_view_if_needed()


def filed(person):
    """Files, and a link."""
    person.pause()
    person.page.click("#filing summary")
    person.page.click("#link")
    person.wait("!document.getElementById('address').hidden")
    person.page.locator("#address").scroll_into_view_if_needed()


STATES = (start, edited, inside, compared, certified, refused, filed)


def photograph(browser, state, path, size, scheme):
    """A picture of a state."""
    with tempfile.TemporaryDirectory() as folder, served(Session(first_team(), Path(folder))) as studio:
        person = Visitor(browser, studio.address, size, color_scheme=scheme)
        state(person)
        person.wait("studio.maps.every((map) => map.part() === 1 && !map.waiting)")
        person.page.screenshot(path=path)
        person.close()


def main():
    with browsing() as browser:
        if len(sys.argv) > 1:
            for state in STATES:
                for width, height in SIZES.items():
                    for scheme in ("light", "dark"):
                        path = Path(sys.argv[1], f"{state.__name__}-{width}-{scheme}.png")
                        photograph(browser, state, path, (width, height), scheme)
            return
        for state, name in ((inside, "studio"), (compared, "studio-compared")):
            path = IMAGES / f"{name}.png"
            photograph(browser, state, path, (1300, 850), "light")
            Image.open(path).convert("RGB").quantize(256, kmeans=2).save(path, optimize=True)


if __name__ == "__main__":
    main()
