"""A studio in a real browser: Debian's Chromium by Playwright, with WebGL in software and no way to the network."""

from contextlib import contextmanager

from playwright.sync_api import sync_playwright

from tests.browser.program import FLAGS, PATIENCE, found

GRAPHICS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
PASSED_ON = [flag for flag in FLAGS if not flag.startswith(("--headless", "--proxy-server"))]
STUDIO = "const studio = document.querySelector('main').studio;"
BEGUN = "studio.state.playing || studio.state.step > 0 || studio.state.undo > 0 || studio.linked"
"""A page has a team play that is as it was at first. Until that is known, who stops it may be too early."""


@contextmanager
def browsing():
    """A browser for all pages of a module."""
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=found("chromium"), args=[*PASSED_ON, *GRAPHICS])
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """A person at a page: what they do, and what they see. Errors and requests are written down."""

    def __init__(self, browser, address, size=(1300, 850), **media):
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, accept_downloads=True, **media
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.errors, self.asked = [], []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.wait("studio.maps.length > 0 && studio.maps[0].frames > 0 && studio.maps[0].team.count > 0")
        self.wait(BEGUN)

    def _note(self, message):
        software = "GL Driver Message" in message.text  # that it has no graphics card is no fault of the page
        if message.type in ("error", "warning") and not software:
            self.errors.append(message.text)

    def close(self):
        self.context.close()

    def ask(self, expression):
        """A value of the page."""
        return self.page.evaluate(f"() => {{ {STUDIO} return {expression}; }}")

    def wait(self, expression):
        """Until something holds on the page."""
        self.page.wait_for_function(f"() => {{ {STUDIO} return studio && ({expression}); }}")

    def pause(self):
        """Stand still where it is."""
        self.page.click("#play") if self.ask("studio.state.playing") else None
        self.wait("!studio.state.playing")

    def rewind(self):
        """Stand still at the start, whether it plays or has just come to its end."""
        self.page.focus(".map canvas:nth-child(2)")
        self.page.keyboard.press("Home")
        self.wait("studio.state.step === 0 && !studio.state.playing && studio.maps[0].part() === 1")

    def pixel(self, place, which=0):
        """Where a place in metres is on the screen."""
        box = self.page.locator(".map").nth(which).bounding_box()
        x, y = self.ask(f"studio.maps[{which}].place([{place[0]}, {place[1]}])")
        return box["x"] + x + 1, box["y"] + y + 1  # within the border

    def agent(self, agent, which=0):
        """Where an agent is, in metres."""
        return self.ask(f"studio.maps[{which}].agent({agent})")

    def sees(self, agent, place, away=0.5, which=0):
        """Until an agent is at a place, in metres. The state is told before the positions."""
        self.wait(f"""(() => {{
            const [x, y] = studio.maps[{which}].agent({agent});
            return Math.hypot(x - {place[0]}, y - {place[1]}) < {away};
        }})()""")

    def click(self, place, which=0):
        self.page.mouse.click(*self.pixel(place, which))

    def press(self, place):
        self.page.mouse.move(*self.pixel(place))
        self.page.mouse.down()

    def drag(self, start, end):
        """Drag from a place to a place, in metres."""
        x, y = self.pixel(end)
        self.press(start)
        self.page.mouse.move(x, y, steps=6)
        self.page.mouse.up()

    def text(self, selector):
        return self.page.inner_text(selector)
