"""The report in a real browser, opened from disk: it plays, answers, fits, and asks the network for nothing."""

import base64
import io
import itertools
import json

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

import tricover as tc
from tests.browser.program import PATIENCE
from tests.report.pages import scenario, with_events
from tricover.report import nested, run_sections, write_page, write_report

DESKTOP, PHONE = (1440, 900), (375, 812)
FILMED = """
const [figure, player] = [arguments[0], arguments[0].playback];
const { draw } = player;
player.film = [];
player.draw = () => {
  draw.call(player);
  const play = figure.querySelector('[data-part="play"]').getAttribute("aria-label");
  player.film.push({ time: player.time, play, xs: Array.from(player.xs) });
};
"""
FRAMES = "let left = 20, done = arguments[0], next = () => (left-- ? requestAnimationFrame(next) : done()); next();"


@pytest.fixture(scope="module")
def run():
    return tc.simulate(scenario())


@pytest.fixture(scope="module")
def report(run, tmp_path_factory):
    return write_report(run, tmp_path_factory.mktemp("page") / "team.html")


class Reader:
    """What a reader does with the page, and sees."""

    def __init__(self, browser, path, size=DESKTOP, **media):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get_log("browser"), browser.get_log("performance")
        browser.get(path.as_uri())
        self.browser = browser
        self.use(0)

    def use(self, which):
        self.figure = self.browser.find_elements(By.CSS_SELECTOR, "figure.playback")[which]
        self.canvas = self.figure.find_element(By.TAG_NAME, "canvas")
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", self.canvas)

    def part(self, name):
        return self.figure.find_element(By.CSS_SELECTOR, f'[data-part="{name}"]')

    def ask(self, expression):
        """A value of the player."""
        code = f"const player = arguments[0].playback; return {expression};"
        return self.browser.execute_script(code, self.figure)

    def wait(self, expression):
        WebDriverWait(self.browser, PATIENCE, 0.05).until(lambda _: self.ask(expression))

    def places(self):
        """Where the agents are drawn, in metres."""
        code = "Array.from({length: player.run.agents}, (_, k) => player.run.metres(player.run.at(k, player.shown())))"
        return np.array(self.ask(code))

    def pixels(self):
        data = self.ask("player.canvas.toDataURL('image/png')").partition(",")[2]
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))

    def point_at(self, agent):
        x, y = self.ask(f"[player.xs[{agent}], player.ys[{agent}]]")
        middle = self.ask("[player.width / 2, player.height / 2]")
        border = 1
        across, down = round(x - middle[0]) + border, round(y - middle[1]) + border
        ActionChains(self.browser, duration=0).move_to_element_with_offset(self.canvas, across, down).perform()

    def told(self):
        names = ("name", "role", "layer", "heard", "cell", "goal", "next", "place", "clock")
        return {name: self.part(name).text for name in names}

    def press(self, *keys):
        ActionChains(self.browser, duration=0).send_keys(*keys).perform()


@pytest.fixture
def reader(browser, report):
    return Reader(browser, report)


def check_quiet(browser):
    """Nothing in the console, and no request but for the file itself."""
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:")] == [browser.current_url]
    assert browser.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []


def test_it_opens_without_a_word_or_a_request(browser, reader):
    assert browser.title == "team"
    assert reader.ask("player.time") == 0
    reader.part("play").click()
    reader.wait("!player.playing")
    check_quiet(browser)


def test_play_moves_the_agents_along_the_run(run, reader):
    before, picture = reader.places(), reader.pixels()
    np.testing.assert_allclose(before, run.positions[0], atol=0.01)
    reader.browser.execute_script(FILMED, reader.figure)
    reader.part("play").click()
    reader.wait("!player.playing")
    film = reader.ask("player.film")
    between = [frame for frame in film if 0 < frame["time"] < run.steps]
    assert {frame["play"] for frame in between} == {"Pause"}
    assert np.abs(np.subtract(between[-1]["xs"], film[0]["xs"])).max() > 1
    np.testing.assert_allclose(reader.places(), run.positions[-1], atol=0.01)
    assert (reader.pixels() != picture).any()
    assert reader.part("clock").text == f"step {run.steps} of {run.steps}"
    reader.ask("player.film = []")
    reader.part("play").click()  # from the start again
    reader.wait("player.film.some((frame) => frame.time > 0 && frame.time < player.run.frames - 1)")


def test_between_steps_agents_are_on_straight_lines(run, reader):
    reader.ask("(player.time = 2.25, player.draw())")
    np.testing.assert_allclose(reader.places(), 0.75 * run.positions[2] + 0.25 * run.positions[3], atol=0.01)
    assert reader.part("clock").text.startswith("step 2 ")


def test_pause_stops(reader):
    Select(reader.part("speed")).select_by_value("0.25")
    reader.part("play").click()
    reader.wait("player.time > 0.05")
    reader.part("play").click()
    held = reader.ask("player.time")
    assert 0 < held < 8
    reader.browser.execute_async_script(FRAMES)
    assert reader.ask("player.time") == held
    assert reader.part("play").get_attribute("aria-label") == "Play"


def test_steps_and_scrubbing(run, reader):
    reader.part("forward").click()
    reader.part("forward").click()
    np.testing.assert_allclose(reader.places(), run.positions[2], atol=0.01)
    reader.part("back").click()
    assert reader.told()["clock"] == f"step 1 of {run.steps}"
    scrub = reader.part("scrub")
    ActionChains(reader.browser, duration=0).click(scrub).perform()  # in the middle
    assert reader.ask("player.time") == round(run.steps / 2)
    scrub.send_keys(Keys.ARROW_RIGHT)
    np.testing.assert_allclose(reader.places(), run.positions[run.steps // 2 + 1], atol=0.01)


def test_pointing_at_an_agent_tells_its_story(run, reader):
    step = 3
    reader.ask(f"player.jump({step})")
    network, plain = run.network, reader.pixels()
    for agent in [*network.followers[:3].tolist(), network.core, int(network.boundary[0])]:
        reader.point_at(agent)
        told = reader.told()
        role = "follower" if network.layer[agent] else "core" if agent == network.core else "boundary"
        heard = ", ".join(map(str, network.in_neighbors[agent])) if network.layer[agent] else "nobody"
        assert (told["name"], told["role"]) == (f"Agent {agent}", role)
        assert (told["layer"], told["heard"]) == (str(network.layer[agent]), heard)
        for name, cells in (("cell", run.states), ("goal", run.goal_cells)):
            cell = cells[step, agent]
            assert told[name] == ("none" if cell == -2 else "outside its triangle" if cell == -1 else f"{cell} of 36")
        next_cell = run.next_cells[step, agent]
        stays = next_cell == run.states[step, agent]
        assert told["next"] == ("none" if next_cell < 0 else f"{next_cell}: it stays" if stays else str(next_cell))
        shown = np.array([float(part) for part in told["place"].strip("() m").split(",")])
        np.testing.assert_allclose(shown, run.positions[step, agent], atol=0.01)
        assert (reader.pixels() != plain).any()
    reader.ask("player.hover(null)")
    assert (reader.pixels() == plain).all()


def test_a_click_keeps_an_agent_through_the_run(run, reader):
    agent = int(run.network.followers[0])
    reader.point_at(agent)
    ActionChains(reader.browser, duration=0).click().perform()
    reader.press(Keys.END)
    ActionChains(reader.browser, duration=0).move_to_element(reader.part("play")).perform()
    assert reader.told()["name"] == f"Agent {agent}"
    assert reader.told()["clock"].startswith(f"step {run.steps} ")


def test_cells_are_drawn_where_they_are(run, reader):
    grid = tc.CellGrid(6)
    drawn = np.array(reader.ask("Array.from({length: 36}, (_, cell) => cellCorners(cell, 6))"))
    np.testing.assert_allclose(drawn, grid.corners(np.arange(36)), atol=1e-12)
    centres = np.array(reader.ask("Array.from({length: 36}, (_, cell) => cellCentre(cell, 6))"))
    np.testing.assert_allclose(centres, grid.weights, atol=1e-12)
    beside = reader.ask("Array.from({length: 36}, (_, cell) => cellNeighbours(cell, 6))")
    assert [sorted(cells) for cells in beside] == [sorted(row[row >= 0].tolist()) for row in grid.neighbors]


@pytest.mark.parametrize("size", [1, 2, 6, 17])
def test_the_policy_is_the_optimal_one(reader, size):
    """The script's shortest walks beside the solver: the same next cells, but where two are equally good."""
    rng = np.random.default_rng(size)
    grid = tc.CellGrid(size)
    for _ in range(5):
        triangle, goal = rng.uniform(0, 100, (3, 2)), int(rng.integers(size**2))
        solution = tc.LocalMDP(grid, triangle, goal, gamma=0.3).solve()
        code = f"Array.from(policy({triangle.tolist()}, {goal}, {size}, 0.3))"
        np.testing.assert_array_equal(reader.ask(code), solution.policy)


def test_every_step_of_the_walk_follows_the_policy_that_is_shown(run, reader):
    followers = run.network.followers.tolist()
    code = f"""player.run.steps.slice(0, -1).map((step) => {followers}.map((agent) => {{
      const epoch = player.run.epoch(step), cell = player.run.cell(player.run.cells, step, agent);
      const next = cell === null ? null : player.run.policy(step, agent, player.heard(agent, epoch));
      return next === null ? -1 : next[cell];
    }}))"""
    np.testing.assert_array_equal(reader.ask(code), run.next_cells[:, followers])


def test_cells_and_policy_of_the_chosen_agent_can_be_seen_and_hidden(run, reader):
    agent = int(run.network.followers[0])
    reader.ask(
        f"(player.jump(3), player.select({agent}), player.zoomBy(3, player.realX[{agent}], player.realY[{agent}]))"
    )
    shown = reader.pixels()
    assert 0 < reader.ask("player.arrows") <= 35  # the goal has none
    reader.ask("(player.drawPolicy = () => 0, player.draw())")
    without_arrows = reader.pixels()
    assert (without_arrows != shown).any()
    reader.part("cells").click()
    assert (reader.pixels() != without_arrows).any()  # the lines between the cells are gone, too


def test_the_network_is_built_layer_by_layer(run, reader):
    network, slider = run.network, reader.part("layers")
    assert reader.part("built").text == "all"
    slider.send_keys(Keys.HOME)
    pictures = []
    for layer in range(network.depth + 1):
        shown = reader.ask("player.byLayer.map((agents) => agents.length)")
        counts = [len(agents) if index <= layer else 0 for index, agents in enumerate(network.layers)]
        assert shown == counts
        assert reader.ask("player.waiting.length") == len(network) - sum(counts)
        assert reader.part("built").text == ("all" if layer == network.depth else f"0–{layer}")
        pictures.append(reader.pixels())
        slider.send_keys(Keys.ARROW_RIGHT)
    slider.send_keys(Keys.HOME)
    reader.ask("(player.drawWaiting = () => 0, player.draw())")
    assert (reader.pixels() != pictures[0]).any()  # those who wait were there
    slider.send_keys(Keys.END)
    assert all((one != other).any() for one, other in itertools.pairwise(pictures))
    reader.browser.execute_script("arguments[0].focus()", reader.canvas)
    reader.press("[", "[")
    assert reader.ask("player.built()") == network.depth - 2
    reader.press("]")
    assert reader.ask("player.built()") == network.depth - 1


def test_the_scale_bar_and_the_axes_measure_metres(run, reader):
    for zoom in (1, 7, 60):
        reader.ask(f"player.zoomBy({zoom})")
        bar = reader.ask("player.scaleBar")
        left, right = (reader.ask(f"player.run.metres(player.unproject({x}, 0))[0]") for x in (0, bar["pixels"]))
        assert right - left == pytest.approx(bar["metres"])
        assert 60 < bar["pixels"] < 250
    said = reader.ask("[metres(-0.0, 20), metres(1200, 200), metres(0.3, 0.1), metres(-2, 1)]")
    assert said == ["0", "1,200", "0.3", "-2"]
    assert reader.ask("[0.7, 1, 1.1, 3, 5.1, 130].map(niceStep)") == pytest.approx([1, 1, 2, 5, 10, 200])


def test_agents_that_start_close_together_are_told_apart(browser, tmp_path):
    rng = np.random.default_rng(4)
    start = np.full((14, 2), 25.0) + rng.uniform(0, 0.2, (14, 2))
    start[5] = start[6]
    close = scenario(steps=4)
    formation = {"positions": close.reference, "start": start}
    data = close.to_dict() | {"formation": formation}
    run = tc.simulate(tc.Scenario(**data))
    reader = Reader(browser, write_report(run, tmp_path / "close.html"))
    away = np.array(reader.ask("[Array.from(player.xs), Array.from(player.ys)]")).T
    pairs = np.linalg.norm(away[:, None] - away[None], axis=2)[np.triu_indices(14, 1)]
    assert pairs.min() > 1.4 * reader.ask("player.radius()")
    np.testing.assert_allclose(reader.places(), run.positions[0], atol=0.01)  # what is told is the truth
    with_lines = reader.pixels()
    reader.ask("(player.drawReal = () => 0, player.draw())")
    assert (reader.pixels() != with_lines).any()  # lines to the real places were there
    for agent in (5, 6):
        reader.point_at(agent)
        assert reader.told()["name"] == f"Agent {agent}"
    reader.part("apart").click()
    assert reader.ask("player.xs.every((x, k) => x === player.realX[k])")
    seen = set()
    for _ in range(14):  # one tap after the other on the same spot
        reader.ask("player.select(player.next(player.xs[5], player.ys[5]))")
        seen.add(reader.ask("player.selected"))
    assert seen == set(range(14))


def test_targets_with_more_weight_are_drawn_larger(browser, tmp_path):
    targets = {"positions": [[10.0, 10.0], [30.0, 40.0]], "weights": [1.0, 3.0]}
    run = tc.simulate(scenario(targets=targets, steps=2))
    reader = Reader(browser, write_report(run, tmp_path / "weights.html"))
    for name in ("links", "trails"):
        reader.part(name).click()
    reader.ask("(player.radius = () => 0, player.draw())")
    light, heavy = (
        near(reader, player_place, [147, 196, 125])
        for player_place in ("player.run.targets.slice(0, 2)", "player.run.targets.slice(2, 4)")
    )
    assert heavy > 2 * light > 0
    assert "larger with its weight" in reader.figure.text


def near(reader, place, colour):
    """How many pixels around a place have a colour, more or less."""
    column, row = (round(2 * value) for value in reader.ask(f"player.project({place})"))
    part = reader.pixels()[row - 12 : row + 13, column - 12 : column + 13]
    return ((np.abs(part[..., :3].astype(int) - colour) < 25).all(axis=-1) & (part[..., 3] > 150)).sum()


def test_the_keyboard_does_it_all(run, reader):
    reader.browser.execute_script("arguments[0].focus()", reader.canvas)
    reader.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert reader.ask("player.time") == 2
    reader.press(Keys.ARROW_LEFT)
    assert reader.ask("player.time") == 1
    reader.press(Keys.END)
    assert reader.ask("player.time") == run.steps
    reader.press(Keys.HOME, Keys.ARROW_UP, Keys.ARROW_UP)
    assert reader.told()["name"] == "Agent 1"
    reader.press(Keys.ESCAPE)
    assert not reader.part("name").is_displayed()
    reader.press("+")
    assert reader.ask("player.zoom") > 1
    reader.press("0")
    assert reader.ask("player.zoom") == 1
    reader.ask("player.part('speed').value = '0.25'")  # it does not come to its end meanwhile
    reader.press(Keys.SPACE)
    reader.wait("player.playing && player.time > 0")
    reader.press(Keys.SPACE)
    assert not reader.ask("player.playing")
    reader.part("agent").send_keys("7")
    assert reader.told()["name"] == "Agent 7"


def test_everything_can_be_reached_and_has_a_name(reader):
    code = """
    const named = (node) => node.getAttribute("aria-label") || (node.labels && node.labels.length) || node.textContent;
    const usable = [...document.querySelectorAll("canvas, button, input, select, a")];
    return usable.map((node) => [node.tabIndex, named(node)]);
    """
    found = reader.browser.execute_script(code)
    assert len(found) > 15
    assert all(index >= 0 and name for index, name in found)


def test_toggles_change_the_picture(reader):
    reader.ask("player.jump(4)")
    for name in ("links", "trails", "targets", "desired"):
        before = reader.pixels()
        reader.part(name).click()
        assert (reader.pixels() != before).any(), name


def test_zoom_keeps_the_point_under_the_pointer(reader):
    fixed = reader.ask("player.unproject(100, 80)")
    reader.ask("player.zoomBy(3, 100, 80)")
    np.testing.assert_allclose(reader.ask("player.unproject(100, 80)"), fixed)
    corner = reader.ask("player.unproject(0, 0)")
    ActionChains(reader.browser, duration=0).click_and_hold(reader.canvas).move_by_offset(60, 40).release().perform()
    assert reader.ask("player.unproject(60, 40)") == pytest.approx(corner, abs=2)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(browser, report, size, scheme):
    reader = Reader(browser, report, size, prefers_color_scheme=scheme)
    width = browser.execute_script("return document.documentElement.clientWidth")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width <= size[0]
    code = """
    const texts = [...document.querySelectorAll("h1, h2, h3, p, dt, dd, td, th, label, figcaption, a, button, pre")];
    return texts.filter((node) => node.offsetParent).map((node) => parseFloat(getComputedStyle(node).fontSize));
    """
    sizes = browser.execute_script(code)
    assert len(sizes) > 50
    assert min(sizes) >= 12
    assert contrast(browser) >= 4.5
    canvas = reader.ask("[player.canvas.width, player.canvas.height, player.width, player.height]")
    assert canvas[:2] == pytest.approx([2 * canvas[2], 2 * canvas[3]], abs=1)  # hi-dpi
    assert canvas[2] <= width
    buttons = browser.execute_script(
        "return [...document.querySelectorAll('button')].map((node) => node.getBoundingClientRect().height)"
    )
    assert min(buttons) >= 36  # a thumb can hit them
    check_quiet(browser)


CUT = """
const cut = (node) => node.scrollWidth > node.clientWidth + 1;
return [...document.querySelectorAll(arguments[0])].filter(cut).map((node) => node.textContent.slice(0, 60));
"""


def test_on_a_phone_tables_and_figures_are_seen_whole(browser, report):
    Reader(browser, report, PHONE)
    assert browser.execute_script(CUT, ".scroll") == []
    wide = browser.find_element(By.CSS_SELECTOR, ".scroll:has(svg.wide)")
    browser.execute_script("arguments[0].focus()", wide)
    assert browser.execute_script("return arguments[0].scrollWidth", wide) > 600  # large enough to read


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 718), ("dark", 718), ("light", 650)]
)  # A4 with small and with wide margins
def test_in_print_nothing_is_cut_and_the_paper_is_white(browser, report, scheme, width):
    Reader(browser, report, (width, 1000))
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    try:
        assert browser.execute_script(CUT, ".scroll, pre, main") == []
        looks = browser.execute_script("""
        const bars = [...document.querySelectorAll(".scroll, pre")].map((node) => getComputedStyle(node).overflow);
        const pre = document.querySelector("pre");
        return [bars, pre.scrollHeight <= pre.clientHeight + 1, getComputedStyle(document.body).backgroundColor];
        """)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert set(looks[0]) == {"visible"}
    assert looks[1:] == [True, "rgb(255, 255, 255)"]


def test_the_playback_has_the_colours_of_the_figures_in_the_dark_too(browser, report):
    code = """
    const ground = (node) => getComputedStyle(node).backgroundColor;
    const figure = arguments[0], sheets = ["canvas", ".key"].map((name) => ground(figure.querySelector(name)));
    return [...sheets, ground(document.querySelector(".figures svg"))];
    """
    pictures = []
    for scheme in ("light", "dark"):
        reader = Reader(browser, report, prefers_color_scheme=scheme)
        sheets = browser.execute_script(code, reader.figure)
        assert len(set(sheets)) == 1
        pictures.append(
            (
                sheets[0],
                near(reader, f"player.run.at({reader.ask('player.run.epochs[0].boundary[0]')}, 0)", [68, 1, 84]),
            )
        )
    assert pictures[0][0] != pictures[1][0]
    assert pictures[0][1] == pictures[1][1] > 50


def contrast(browser):
    """The least contrast of text with the page, by the formula of the accessibility guidelines."""
    code = """
    const names = ["--ink", "--quiet", "--link", "--good", "--bad", "--open", "--paper"];
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const style = getComputedStyle(document.documentElement);
    return names.map((name) => {
      pen.fillStyle = style.getPropertyValue(name).trim();
      pen.fillRect(0, 0, 1, 1);
      return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    });
    """
    parts = np.array(browser.execute_script(code)) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    lightness = linear @ [0.2126, 0.7152, 0.0722]
    words, paper = lightness[:-1], lightness[-1]
    return ((np.maximum(words, paper) + 0.05) / (np.minimum(words, paper) + 0.05)).min()


def test_a_tap_on_a_phone_tells_too(browser, run, report):
    reader = Reader(browser, report, PHONE)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    agent = int(run.network.followers[0])
    x, y = browser.execute_script(
        "const box = arguments[0].getBoundingClientRect(), player = arguments[1].playback;"
        f"return [box.x + 1 + player.xs[{agent}], box.y + 1 + player.ys[{agent}]]",
        reader.canvas,
        reader.figure,
    )
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    WebDriverWait(browser, PATIENCE).until(lambda _: reader.ask("player.selected") == agent)
    assert reader.told()["name"] == f"Agent {agent}"


def test_who_wants_no_motion_gets_steps(browser, report):
    reader = Reader(browser, report, prefers_reduced_motion="reduce")
    assert not reader.ask("player.playing")
    reader.ask("(player.time = 2.7, player.draw())")
    assert reader.ask("player.shown()") == 2


def test_agents_that_leave_and_join(browser, tmp_path):
    run = tc.simulate(with_events())
    reader = Reader(browser, write_report(run, tmp_path / "events.html"))
    for step, agent in ((2, 7), (4, 7), (4, 14), (8, 14), (8, 5)):
        reader.ask(f"(player.jump({step}), player.select({agent}))")
        network = run.network_at(step)
        layer = network.layer[agent] if agent < len(network) else -2
        told = reader.told()
        assert told["role"] == {-1: "lost", -2: "not yet there", 0: told["role"]}.get(int(layer), "follower")
        assert told["layer"] == (str(layer) if layer >= 0 else "none")
        if layer > 0:
            assert told["heard"] == ", ".join(map(str, network.in_neighbors[agent]))
    check_quiet(browser)


def test_several_playbacks_on_one_page(browser, run, tmp_path):
    other = tc.simulate(scenario(name="reach", control={"motion": "reach"}))
    sections = [*run_sections(run), *nested(run_sections(other))]
    reader = Reader(browser, write_page(tmp_path / "two.html", "Two", sections))
    reader.ask("player.jump(2)")
    reader.use(1)
    assert reader.ask("player.time") == 0
    reader.part("play").click()
    reader.wait("!player.playing")
    np.testing.assert_allclose(reader.places(), other.positions[-1], atol=0.01)
    reader.use(0)
    np.testing.assert_allclose(reader.places(), run.positions[2], atol=0.01)
    check_quiet(browser)


def test_odd_names_and_moving_targets(browser, tmp_path):
    moving = {"positions": [[10.0, 10.0], [30.0, 20.0]], "motion": {"velocity": [1.0, 0.5], "until": 5}}
    name = "</script><b>x</b><!-- <script>"
    run = tc.simulate(scenario(name=name, targets=moving, steps=12))
    reader = Reader(browser, write_report(run, tmp_path / "odd.html"))
    assert browser.find_element(By.TAG_NAME, "h1").text == name
    before = reader.pixels()
    reader.ask("player.jump(5)")
    assert (reader.pixels() != before).any()
    check_quiet(browser)


def test_the_download_is_the_scenario(browser, run, report, tmp_path):
    Reader(browser, report)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.find_element(By.CSS_SELECTOR, "a[download]").send_keys(Keys.ENTER)
    WebDriverWait(browser, PATIENCE).until(lambda _: (tmp_path / "team.toml").exists())
    again = tc.simulate(tc.Scenario.load(tmp_path / "team.toml"))
    np.testing.assert_array_equal(again.positions, run.positions)


def test_a_thousand_agents_are_drawn_in_time(browser, tmp_path):
    rng = np.random.default_rng(2)
    places = rng.uniform(0, 100, (1000, 2)), rng.uniform(0, 100, (2000, 2))
    team = tc.Scenario(reference=places[0], targets=places[1], network={"mentee": "balanced"}, steps=8)
    reader = Reader(browser, write_report(tc.simulate(team), tmp_path / "large.html"))
    reader.part("play").click()
    reader.wait("player.time > 0")
    reader.wait("!player.playing")
    assert reader.ask("player.xs.length") == 1000
    check_quiet(browser)
