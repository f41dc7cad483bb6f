"""The studio in a real browser, by clicking and dragging as a person does; facts are read from the page."""

import json
import zipfile
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import tricover as tc
from tests.browser.studio_page import Visitor
from tests.studio.served import served
from tests.studio.teams import session, team, texts
from tricover.cli.studio import first_team
from tricover.studio import Session


@pytest.fixture
def studio(tmp_path):
    with served(session(tmp_path)) as found:
        found.folder = tmp_path
        yield found


@pytest.fixture
def visitor(chromium, studio):
    """Somebody at a page that stands still at the start. In the end the page must not have complained."""
    person = Visitor(chromium, studio.address)
    person.rewind()
    yield person
    assert person.errors == []
    assert all(url.startswith((studio.address, "blob:", "data:")) for url in person.asked)
    person.close()


def heard(visitor, which=0):
    return np.array(visitor.ask(f"Array.from(studio.maps[{which}].team.heard)")).reshape(-1, 3)


def positions(visitor, which=0):
    return np.array([visitor.agent(agent, which) for agent in range(visitor.ask(f"studio.maps[{which}].team.count"))])


def test_the_first_thing_is_a_team_that_moves_with_three_sentences(chromium, studio):
    person = Visitor(chromium, studio.address)
    person.wait("studio.state.step > 0")
    run = tc.simulate(team())
    person.wait("!studio.state.playing")
    assert person.ask("studio.state.step") == run.steps
    np.testing.assert_allclose(positions(person), run.positions[-1], atol=1e-4)
    assert person.page.locator("#lead span").count() == 3
    assert person.text("#clock") == f"step {run.steps}, the end"
    assert person.errors == []
    assert all(url.startswith(studio.address) for url in person.asked)
    person.close()


def test_play_pause_step_and_scrub(visitor):
    run = tc.simulate(team())
    visitor.page.click("#forward")
    visitor.wait("studio.state.step === 1")
    np.testing.assert_allclose(positions(visitor), run.positions[1], atol=1e-4)
    visitor.page.click("#forward")
    visitor.wait("studio.state.step === 2")
    visitor.page.click("#back")
    visitor.wait("studio.state.step === 1")
    visitor.page.select_option("#speed", "30")
    visitor.wait("studio.state.speed === 30")
    visitor.page.click("#play")
    visitor.wait("studio.state.variants[0].ended && !studio.state.playing")
    visitor.page.focus("#scrub")
    visitor.page.keyboard.press("Home")
    visitor.wait("studio.state.step === 0")
    np.testing.assert_allclose(positions(visitor), run.positions[0], atol=1e-4)


def test_while_an_agent_is_dragged_the_network_follows_and_undo_brings_it_back(visitor):
    before = heard(visitor)
    moved = team().reference.copy()
    moved[5] = [20, 31]
    assert not np.array_equal(before, tc.build_network(moved).in_neighbors)
    visitor.press([10, 15])
    visitor.page.mouse.move(*visitor.pixel([20, 31]), steps=8)
    visitor.wait("Math.hypot(studio.maps[0].team.positions[10] - 20, studio.maps[0].team.positions[11] - 31) < 0.5")
    np.testing.assert_array_equal(heard(visitor), tc.build_network(moved).in_neighbors)
    assert visitor.ask("studio.state.undo") == 0, "nothing is changed before it is dropped"
    visitor.page.mouse.up()
    visitor.wait("studio.state.undo === 1")
    visitor.sees(5, [20, 31])
    visitor.page.click("#undo")
    visitor.wait("studio.state.redo === 1")
    visitor.sees(5, [10, 15], 1e-4)
    np.testing.assert_array_equal(heard(visitor), before)


def test_a_drop_is_the_last_word_of_a_drag_however_slow_the_studio_answers(visitor):
    visitor.ask("""(() => {
        const { see, live } = studio;
        window.said = [];
        window.late = [];
        const { say } = live;
        live.say = (name, words) => (said.push(name), say.call(live, name, words));
        studio.see = (block) => late.push(block);
        window.catchUp = () => {
            studio.see = see;
            late.forEach((block) => studio.see(block));
        };
    })()""")
    visitor.drag([10, 15], [20, 31])
    visitor.page.click("#undo")
    visitor.wait("studio.state.redo === 1 && late.length > 4")
    visitor.ask("catchUp()")
    visitor.sees(5, [10, 15], 1e-4)
    assert visitor.ask("said") == ["drag", "drop", "undo"]


def test_a_network_that_is_deeper_than_what_is_known_of_it_is_drawn_whole(chromium, tmp_path):
    """The paper's team has a layer more while agent 20 is dragged this far, and pages are told of no colour for it."""
    with served(Session(first_team(), tmp_path)) as studio:
        person = Visitor(chromium, studio.address)
        person.rewind()
        place = first_team().reference[20]
        person.press(place.tolist())
        person.page.mouse.move(*person.pixel(np.add(place, (10, 7)).tolist()))
        person.wait("Math.max(...studio.maps[0].team.layer) === 6")
        assert person.ask("studio.state.variants[0].depth") == 5
        across = "[...studio.layered.places.values()].map(([x]) => x)"
        width = person.ask("studio.layered.canvas.clientWidth")
        assert person.ask(f"{across}.length") == 57
        assert person.ask(f"Math.max(...{across})") == pytest.approx(width - 16)
        person.page.mouse.up()
        person.wait("studio.state.variants[0].depth === 6")
        assert person.errors == []
        person.close()


def test_layers_have_their_colours_whether_the_network_comes_first_or_the_state(visitor):
    """In play the network of a new step is told before the state, after a change it is the other way round."""
    visitor.ask("""(() => {
        const [{ team }] = studio.maps;
        const { count, heard } = team;
        const [facts] = studio.state.variants;
        const deepest = team.layer.indexOf(facts.depth);
        const deeper = team.layer.map((layer, agent) => (agent === deepest ? layer + 1 : layer));
        const network = (layer) => ({ kind: 2, variant: 0, step: 0, count, heard, layer });
        const state = (facts) => ({ ...studio.state, is: "state", variants: [facts] });
        const colours = [...facts.colours, "#0102fe"];
        window.before = { network: network(team.layer), state: state(facts) };
        window.after = { network: network(deeper), state: state({ ...facts, depth: facts.depth + 1, colours }) };
        window.shade = () => {
            const { canvas, places } = studio.layered;
            const [x, y] = places.get(deepest);
            const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            pen.drawImage(canvas, -Math.round(x * devicePixelRatio), -Math.round(y * devicePixelRatio));
            return [canvas.clientWidth - 16 - x, ...pen.getImageData(0, 0, 1, 1).data];
        };
    })()""")
    own = visitor.ask("shade()")
    assert visitor.ask("(studio.see(after.network), shade())") == own, "not known yet: that of the last that is"
    assert visitor.ask("(studio.hear(after.state), shade())") == [0, 1, 2, 254, 255]
    assert visitor.ask("(studio.hear(before.state), shade())") == own, "deeper than it will be: that of the last"
    assert visitor.ask("(studio.see(before.network), shade())") == own


def test_what_is_said_of_an_agent_that_is_not_looked_at_any_more_is_not_shown(visitor):
    visitor.page.click("#compare")
    visitor.wait("studio.maps.length === 2 && studio.maps[1].team.count === 10")
    visitor.click([10, 15], which=1)
    visitor.wait("studio.maps[1].inside && studio.chosen.variant === 1")
    late = visitor.ask("studio.maps[1].inside")
    visitor.page.click("#compare")
    visitor.wait("studio.maps.length === 1 && studio.chosen === null")
    visitor.ask(f"studio.hear({json.dumps(late)})")
    visitor.click([30, 12])
    visitor.wait("studio.maps[0].inside")
    assert visitor.text("#inside h3") == "Agent 6"
    visitor.ask(f"studio.hear({json.dumps(late | {'variant': 0})})")
    assert visitor.ask("studio.maps[0].inside.agent") == 6
    visitor.page.focus(".map canvas:nth-child(2)")
    visitor.page.keyboard.press("Escape")
    visitor.page.click('[data-tool="agent"]')
    visitor.click([20, 34])
    visitor.wait("studio.maps[0].team.count === 11")
    visitor.ask("studio.choose(10)")
    visitor.wait("studio.maps[0].inside?.agent === 10")
    visitor.page.click("#undo")
    visitor.wait("studio.maps[0].team.count === 10 && studio.chosen === null")
    assert visitor.page.locator("#notice.bad").count() == 0


def test_a_page_that_was_told_nothing_yet_lets_everything_be_tried(chromium, studio, tmp_path):
    state = json.dumps(texts(session(tmp_path).everything(), "state")[0])
    page = chromium.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route_web_socket("**/live", lambda _: None)  # open, and silent
    page.goto(studio.address)
    page.wait_for_function("() => document.body.dataset.connected === 'true'")
    page.evaluate("""() => {
        document.querySelectorAll("details").forEach((one) => (one.open = true));
        const seen = (kind) => [...document.querySelectorAll(kind)].filter((one) => one.checkVisibility());
        seen("button").forEach((one) => one.click());
        for (const one of seen("input, select")) {
            for (const kind of ["input", "change"]) one.dispatchEvent(new Event(kind, { bubbles: true }));
        }
    }""")
    assert page.locator(".map").count() == 0
    page.evaluate(f"""() => {{
        const studio = document.querySelector("main").studio;
        studio.hear({state});
        for (const key of ["ArrowUp", "ArrowDown", "Enter", "+", "-", "0", "[", "]", "Escape", "Delete"]) {{
            studio.maps[0].above.dispatchEvent(new KeyboardEvent("keydown", {{ key }}));
        }}
        studio.maps[0].above.dispatchEvent(new KeyboardEvent("keydown", {{ key: "ArrowUp" }}));
    }}""")
    assert page.evaluate("() => document.querySelector('main').studio.chosen") is None, "nobody is there yet"
    assert errors == []
    page.close()


def test_agents_are_placed_and_deleted(visitor):
    visitor.page.click('[data-tool="agent"]')
    visitor.click([20, 34])
    visitor.wait("studio.maps[0].team.count === 11 && studio.maps[0].team.layer.length === 11")
    np.testing.assert_allclose(visitor.agent(10), [20, 34], atol=0.5)
    visitor.page.click('[data-tool="choose"]')
    visitor.click([30, 12])
    visitor.wait("studio.chosen && studio.chosen.agent === 6")
    visitor.page.click("#delete")
    visitor.wait("studio.maps[0].team.count === 10")
    assert not (np.abs(positions(visitor) - [30, 12]).sum(axis=1) < 1).any()


def test_targets_are_scattered_painted_with_weights_and_erased(visitor):
    visitor.page.click('[data-tool="scatter"]')
    visitor.click([20, 25])
    visitor.wait("studio.state.variants[0].targets === 80")
    visitor.page.fill("#weight", "5")
    visitor.page.click('[data-tool="paint"]')
    visitor.drag([5, 5], [15, 5])
    visitor.wait("studio.state.variants[0].targets > 80 && !studio.tools.held")
    painted = visitor.ask("studio.state.variants[0].targets")
    visitor.page.fill("#radius", "8")
    visitor.page.click('[data-tool="erase"]')
    visitor.click([20, 25])
    visitor.wait(f"studio.state.variants[0].targets < {painted} - 15")


def test_targets_are_seen_where_they_are_until_they_are_hidden(visitor):
    x, y = team().targets.positions[7]
    shade = f"""((map) => {{
        const [left, top] = map.place([{x}, {y}]);
        const pen = new OffscreenCanvas(1, 1).getContext("2d", {{ willReadFrequently: true }});
        pen.drawImage(map.field, -left, -top);
        return pen.getImageData(0, 0, 1, 1).data[3];
    }})(studio.maps[0])"""
    assert visitor.ask(shade) > 100
    visitor.page.uncheck('[data-view="targets"]')
    visitor.wait(f"{shade} === 0")
    visitor.page.check('[data-view="targets"]')
    visitor.wait(f"{shade} > 100")
    visitor.page.click("#closer")  # the same target elsewhere on the screen
    visitor.wait(f"studio.camera.zoom > 1 && !studio.maps[0].waiting && {shade} > 100")


def test_links_are_left_out_where_frames_are_slow_and_come_back_at_rest(visitor):
    counts = visitor.ask("""(() => {
        const [map] = studio.maps;
        map.part = () => 0.5;
        map.painter.links.count = 2 * 30000;
        const after = (gap, frames) => {
            for (let k = 0; k < frames; k++) map.spare((map.last ?? 0) + gap);
            return map.most;
        };
        map.last = 0;
        const found = [map.most, after(20, 50), after(100, 4), after(100, 1), after(100, 5), after(100, 100)];
        delete map.part;
        map.play(true);
        map.play(false);
        return [...found, map.most];
    })()""")
    assert counts == [3000, 3000, 3000, 1500, 750, 200, 3000]


def test_a_zone_is_drawn_corner_by_corner(visitor):
    visitor.page.click("#settings summary")
    visitor.page.select_option("[id='set-control.motion']", "walk")
    visitor.wait("studio.state.variants[0].motion === 'walk'")
    visitor.page.click('[data-tool="zone"]')
    for corner in ([22, 10], [25, 10], [25, 13]):
        visitor.click(corner)
    visitor.page.keyboard.press("Enter")
    visitor.wait("studio.state.variants[0].zones.length === 1")
    zone = np.array(visitor.ask("studio.state.variants[0].zones[0]"))
    np.testing.assert_allclose(zone, [[22, 10], [25, 10], [25, 13]], atol=0.3)


def test_a_zone_is_chosen_deleted_and_brought_back(chromium, tmp_path):
    zones = [[[2, 33], [7, 33], [7, 38], [2, 38]], [[33, 2], [38, 2], [38, 7], [33, 7]]]
    with served(session(tmp_path, team(control={"motion": "walk"}, safety={"zones": zones}))) as studio:
        person = Visitor(chromium, studio.address)
        person.rewind()
        person.click([20, 24])  # neither an agent nor a zone
        assert person.page.is_disabled("#delete")
        person.click([35, 4])
        person.wait("studio.maps[0].zone === 1")
        person.page.click("#delete")
        person.wait("studio.state.variants[0].zones.length === 1")
        np.testing.assert_allclose(person.ask("studio.state.variants[0].zones[0]"), zones[0])
        assert person.page.is_disabled("#delete")
        person.page.click("#undo")
        person.wait("studio.state.variants[0].zones.length === 2")
        assert person.errors == []
        person.close()


@pytest.mark.parametrize(
    ("which", "name", "opens"),
    [
        ("Run", "run.zip", lambda path: zipfile.ZipFile(BytesIO(path.read_bytes())).testzip() is None),
        ("Report", "report.html", lambda path: '<figure class="playback"' in path.read_text()),
        ("Figure", "figure.svg", lambda path: ElementTree.parse(path).getroot().tag.endswith("svg")),
        ("Film", "film.gif", lambda path: Image.open(BytesIO(path.read_bytes())).n_frames > 1),
    ],
)
def test_what_is_taken_away_arrives_and_opens(visitor, tmp_path, which, name, opens):
    visitor.page.click("#forward")
    visitor.wait("studio.state.step === 1")
    visitor.page.click("#filing summary")
    with visitor.page.expect_download() as download:
        visitor.page.click(f"#take >> text={which}")
    assert download.value.suggested_filename == name
    download.value.save_as(tmp_path / name)
    assert opens(tmp_path / name)


def test_a_finger_chooses_and_two_fingers_zoom(chromium, studio):
    person = Visitor(chromium, studio.address, (390, 844), has_touch=True)
    person.rewind()
    person.page.touchscreen.tap(*person.pixel([20, 8]))
    person.wait("studio.chosen && studio.chosen.agent === 9")
    fingers = person.context.new_cdp_session(person.page)
    x, y = person.pixel([20, 20])

    def touch(kind, apart):
        points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}] if apart else []
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = positions(person)
    touch("touchStart", 20)
    for apart in (30, 45, 60):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    person.wait("studio.camera.zoom > 2 && studio.tools.fingers.size === 0")
    person.sees(4, before[4], 1e-4)
    assert person.ask("studio.state.undo") == 0, "no agent was moved"
    assert person.errors == []
    person.close()


def test_settings_have_help_and_errors_where_they_belong(visitor):
    visitor.page.click("#settings summary")
    assert "discount factor" in visitor.text("[id='set-control.gamma-help']")
    visitor.page.fill("[id='set-control.gamma']", "2")
    visitor.page.keyboard.press("Tab")
    problem = visitor.page.locator(".setting:has([id='set-control.gamma']) .problem")
    problem.wait_for(state="visible")
    assert "less than 1" in problem.inner_text()
    visitor.page.fill("[id='set-control.gamma']", "0.9")
    visitor.page.keyboard.press("Tab")
    visitor.wait("studio.state.variants[0].values['control.gamma'] === 0.9")
    assert problem.is_hidden()


def test_a_click_looks_inside_an_agent_and_leads_to_those_it_hears(visitor):
    run = tc.simulate(team())
    visitor.click([20, 8])
    visitor.wait("studio.maps[0].inside && studio.maps[0].inside.agent === 9")
    inside = visitor.ask("studio.maps[0].inside")
    assert inside["hears"] == run.network.in_neighbors[9].tolist()
    assert inside["goal_cell"] == run.goal_cells[0, 9]
    assert len(inside["value"]) == len(inside["policy"]) == 35**2
    assert "follower" in visitor.text("#inside")
    visitor.page.click("#inside .neighbours button >> nth=0")
    visitor.wait(f"studio.chosen.agent === {inside['hears'][0]}")
    visitor.wait(f"studio.maps[0].inside.agent === {inside['hears'][0]}")
    assert f"Agent {inside['hears'][0]}" in visitor.text("#inside")


def test_the_layered_view_is_linked_and_the_network_is_built_layer_by_layer(visitor):
    visitor.page.click("#layered summary")
    visitor.wait("studio.layered.places.size === 10")
    x, y = visitor.ask("studio.layered.places.get(9)")
    visitor.page.click("#layered canvas", position={"x": x, "y": y})
    visitor.wait("studio.chosen && studio.chosen.agent === 9")
    links = visitor.ask("studio.maps[0].painter.links.count")
    assert links == 2 * 3 * 5, "five followers hear three each"
    visitor.page.focus("#layers")
    visitor.page.keyboard.press("Home")
    visitor.wait("studio.maps[0].painter.links.count === 0")
    assert visitor.text("#built") == "0 to 0"
    visitor.page.keyboard.press("End")
    visitor.wait(f"studio.maps[0].painter.links.count === {links}")


def test_two_variants_side_by_side(visitor):
    visitor.page.click("#compare")
    visitor.wait("studio.maps.length === 2 && studio.maps[1].team.count === 10")
    visitor.page.click("#settings summary")
    visitor.page.click('#which [data-variant="1"]')
    visitor.page.select_option("[id='set-network.mentee']", "balanced")
    visitor.wait("studio.state.variants[1].values['network.mentee'] === 'balanced'")
    assert visitor.ask("studio.state.variants[0].values['network.mentee']") == "fermat"
    network = tc.build_network(team().reference, mentee="balanced").in_neighbors.ravel().tolist()
    visitor.wait(f"String(studio.maps[1].team.heard) === String({network})")
    assert visitor.page.locator("#figures tr >> nth=1").locator("td").count() == 2
    visitor.page.click("#compare")
    visitor.wait("studio.maps.length === 1")


def test_a_push_in_flight_is_made_good(visitor):
    run = tc.simulate(team())
    visitor.page.focus(".map canvas:nth-child(2)")
    for step in range(run.steps):
        visitor.page.keyboard.press("ArrowRight")
        visitor.wait(f"studio.state.step === {step + 1} && studio.maps[0].part() === 1")
    start = visitor.agent(9)
    pushed = [start[0] + 3, start[1] + 5]
    visitor.drag(start, pushed)
    visitor.wait("studio.state.variants[0].by_hand")
    visitor.sees(9, pushed)
    visitor.page.click("#play")
    visitor.wait("studio.state.variants[0].ended && !studio.state.playing")
    np.testing.assert_allclose(positions(visitor), run.positions[-1], atol=1e-3)


def test_the_certificate_claim_by_claim(visitor):
    run = tc.simulate(team())
    visitor.page.click("#play")
    visitor.wait("studio.state.variants[0].ended && !studio.state.playing")
    visitor.page.click("#certificate summary")
    visitor.page.click("#claims")
    visitor.page.wait_for_selector("#certificate li")
    certificate = tc.certify(run)
    assert visitor.page.locator("#certificate li").count() == len(certificate.claims)
    assert visitor.page.locator("#certificate li.holds").count() == sum(
        claim.verdict == "holds" for claim in certificate
    )
    assert certificate.title.split(": ")[1] in visitor.text("#certificate h3")


def test_a_claim_leads_to_the_agent_and_the_step_that_it_speaks_of(chromium, tmp_path):
    scenario = team(vehicle={"kind": "gusty", "chance": 0.6, "gust": [9, 0]}, seed=2)
    with served(session(tmp_path, scenario.replace(steps=12))) as studio:
        person = Visitor(chromium, studio.address)
        person.wait("studio.state.variants[0].ended && !studio.state.playing")
        person.page.click("#certificate summary")
        person.page.click("#claims")
        button = person.page.locator("#certificate li.fails button").first
        button.wait_for()
        words = button.inner_text().replace(",", "").split()
        agent, step = int(words[words.index("agent") + 1]), int(words[words.index("step") + 1])
        button.click()
        person.wait(f"studio.state.step === {step} && studio.chosen.agent === {agent}")
        assert person.errors == []
        person.close()


def test_files_are_saved_opened_and_dropped(visitor, studio):
    visitor.page.click("#filing summary")
    visitor.page.fill("#name", "kept.toml")
    visitor.page.click("#save")
    visitor.wait("[...document.querySelectorAll('#file option')].some((option) => option.value === 'kept.toml')")
    assert tc.Scenario.load(studio.folder / "kept.toml") == team()
    drop(visitor, "field.csv", "x,y\n10,10\n20,20\n30,12\n")
    visitor.wait("studio.state.variants[0].targets === 3")
    visitor.page.select_option("#file", "kept.toml")
    visitor.page.click("#open")
    visitor.wait("studio.state.variants[0].targets === 60")
    visitor.page.fill("#name", "../outside.toml")
    visitor.page.click("#save")
    visitor.wait("document.getElementById('notice').textContent.includes('only below the folder')")
    assert not (studio.folder.parent / "outside.toml").exists()


def drop(visitor, name, content):
    """Drop a file on the page."""
    transfer = visitor.page.evaluate_handle(
        """([name, content]) => {
            const held = new DataTransfer();
            held.items.add(new File([content], name));
            return held;
        }""",
        [name, content],
    )
    visitor.page.dispatch_event("main", "drop", {"dataTransfer": transfer})


def test_the_scenario_and_a_link_are_taken_away_and_open_the_same(visitor, chromium, studio, tmp_path):
    visitor.drag([10, 15], [20, 31])
    visitor.wait("studio.state.undo === 1")
    visitor.page.click("#forward")
    visitor.wait("studio.state.step === 1")
    visitor.page.click("#filing summary")
    with visitor.page.expect_download() as download:
        visitor.page.click("#take a >> nth=0")
    download.value.save_as(tmp_path / "taken.toml")
    taken = tc.Scenario.load(tmp_path / "taken.toml")
    np.testing.assert_allclose(taken.reference[5], [20, 31], atol=0.5)
    visitor.page.click("#link")
    visitor.wait("document.getElementById('address').value.includes('#state=')")
    link = visitor.page.input_value("#address")
    shown = positions(visitor)
    visitor.page.click("#undo")
    visitor.wait("studio.state.undo === 0")
    other = Visitor(chromium, link)
    other.wait("studio.state.step === 1")
    other.sees(5, shown[5], 1e-4)
    np.testing.assert_allclose(positions(other), shown, atol=1e-4)
    assert other.errors == []
    other.close()


def test_the_keyboard_is_enough(visitor):
    visitor.page.focus(".map canvas:nth-child(2)")
    visitor.page.keyboard.press("ArrowUp")
    visitor.wait("studio.chosen && studio.chosen.agent === 0")
    visitor.page.keyboard.press("ArrowDown")
    visitor.wait("studio.chosen.agent === 9")
    visitor.page.keyboard.press("Delete")
    visitor.wait("studio.maps[0].team.count === 9")
    visitor.page.keyboard.press("Control+z")
    visitor.wait("studio.maps[0].team.count === 10")
    visitor.page.keyboard.press("Control+Shift+z")
    visitor.wait("studio.maps[0].team.count === 9")
    visitor.page.keyboard.press("+")
    visitor.wait("studio.camera.zoom > 1")
    visitor.page.keyboard.press("0")
    visitor.wait("studio.camera.zoom === 1")
    visitor.page.keyboard.press(" ")
    visitor.wait("studio.state.step > 0")


def test_the_lesson_of_five_minutes_goes_as_it_is_written(chromium, tmp_path):
    with served(Session(first_team(), tmp_path)) as studio:
        person = Visitor(chromium, studio.address)
        page, ended = person.page, "studio.state.variants[0].ended && !studio.state.playing"
        person.wait(ended)
        assert "6 of 6" in person.text("#figures tr >> nth=0")

        page.click("#restart")
        person.wait("studio.state.step === 0 && !studio.state.playing")
        start = first_team().reference[20].tolist()
        person.sees(20, start, 1e-3)
        person.wait("studio.maps[0].part() === 1")
        before = heard(person).tolist()
        person.press(start)
        page.mouse.move(*person.pixel([start[0] + 12, start[1] + 6]), steps=6)
        person.wait(f"String(studio.maps[0].team.heard) !== '{','.join(map(str, np.ravel(before)))}'")
        page.mouse.up()
        person.wait("studio.state.redo === 0 && studio.state.undo === 2")
        page.click("#undo")
        person.sees(20, start, 1e-3)
        assert heard(person).tolist() == before

        page.focus("#layers")
        page.keyboard.press("Home")
        for agents in np.cumsum([len(layer) for layer in tc.build_network(first_team().reference).layers[1:]]):
            page.keyboard.press("ArrowRight")
            person.wait(f"studio.maps[0].painter.links.count === {2 * 3 * agents}")

        asked = person.ask("studio.maps[0].team.layer.indexOf(1)")
        person.click(person.agent(asked))
        person.wait(f"studio.maps[0].inside && studio.maps[0].inside.agent === {asked}")
        assert page.locator("#inside .neighbours button").count() == 3

        page.click("#play")
        person.wait(f"studio.state.step > 0 && {ended} && studio.maps[0].part() === 1")
        place, end = person.agent(20), person.ask("studio.state.step")
        person.drag(place, [place[0] - 10, place[1] + 5])
        person.wait("studio.state.variants[0].by_hand")
        page.click("#play")
        person.wait(f"studio.state.step > {end} && {ended}")
        person.sees(20, place, 1e-3)
        person.click(person.agent(30))
        person.wait("studio.chosen && studio.maps[0].inside?.agent === studio.chosen.agent")
        gone, end = person.ask("studio.chosen.agent"), person.ask("studio.state.step")
        page.click("#delete")
        person.wait(f"studio.maps[0].team.layer[{gone}] === -1")
        page.click("#play")
        person.wait(f"studio.state.step > {end} && {ended}")
        depth = person.ask("studio.state.variants[0].depth")
        assert f"{depth + 1} of {depth + 1}" in person.text("#figures tr >> nth=0")
        assert person.errors == []
        person.close()


def test_ten_pages_at_once_see_the_same(chromium, studio):
    people = [Visitor(chromium, studio.address, (500, 500)) for _ in range(10)]
    people[0].rewind()
    people[4].page.click("#forward")
    for person in people:
        person.wait("studio.state.step === 1 && studio.maps[0].part() === 1")
    seen = {json.dumps(person.ask("Array.from(studio.maps[0].team.positions)")) for person in people}
    assert len(seen) == 1
    assert [person.errors for person in people] == [[]] * 10
    for person in people:
        person.close()


def test_a_studio_that_was_restarted_is_found_again(chromium, tmp_path):
    with served(session(tmp_path)) as first:
        person = Visitor(chromium, first.address)
        person.rewind()
    person.wait("document.body.dataset.connected === 'false'")
    with served(session(tmp_path, team(seed=7)), port=first.port):
        person.wait("document.body.dataset.connected === 'true'")
        person.wait("studio.state.variants[0].values.seed === 7")
        person.page.click("#forward")
        person.wait("studio.state.step >= 1")
        person.close()


@pytest.mark.parametrize("size", [(390, 844), (1300, 850), (2560, 1440)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_fits_and_can_be_read(chromium, studio, size, scheme):
    person = Visitor(chromium, studio.address, size, color_scheme=scheme)
    assert person.ask("document.documentElement.scrollWidth") <= size[0]
    map_box = person.page.locator(".map").bounding_box()
    assert map_box["width"] >= 0.5 * size[0]
    assert map_box["height"] >= 250
    ink, paper = person.ask("['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name])")
    assert contrast(ink, paper) > 7
    person.close()


def contrast(one, other):
    """The contrast ratio of two colours, as WCAG defines it."""
    lights = sorted(map(luminance, (one, other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour):
    parts = np.array([float(part) for part in colour[4:-1].split(",")]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
