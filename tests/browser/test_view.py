"""The view of notebooks in a real browser: its front end as anywidget loads it, with the widget itself behind it."""

import base64

import numpy as np
import pytest

import tricover as tc
from tests.browser.program import PATIENCE
from tests.studio.teams import team
from tests.studio.views import Heard

# What a notebook does: it imports the front end, and carries messages to the widget and back.
NOTEBOOK = """async (text) => {
  const { default: front } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
  el.id = "cell";
  let hear = null;
  const bytes = (block) => new DataView(Uint8Array.from(atob(block), (sign) => sign.charCodeAt(0)).buffer);
  const model = {
    on: (_, callback) => (hear = callback),
    send: async (message) => {
      for (const [answer, blocks] of await window.widget(message)) hear(answer, blocks.map(bytes));
    },
  };
  front.render({ model, el });
}"""


@pytest.fixture
def subject():
    return team()


@pytest.fixture
def cell(chromium, subject):
    """A page with a view of the team, and the view."""
    heard, errors = Heard(tc.view(subject)), []
    page = chromium.new_page(viewport={"width": 900, "height": 600})
    page.set_default_timeout(1000 * PATIENCE)
    page.on("pageerror", lambda error: errors.append(str(error)))

    def answer(message):
        heard.sent.clear()
        heard.view._hear(None, message, [])
        return [[text, [base64.b64encode(block).decode() for block in blocks]] for text, blocks in heard.sent]

    page.expose_function("widget", answer)
    page.add_style_tag(content=heard.view._css)
    page.evaluate(NOTEBOOK, str(heard.view._esm))
    page.wait_for_function("() => { const { view } = document.getElementById('cell'); return view.map.frames > 0; }")
    page.wait_for_function("() => document.getElementById('cell').view.map.team.count === 10")
    yield page, heard.view
    assert errors == []
    page.close()


def pixel(page, place):
    box = page.locator(".map").bounding_box()
    x, y = page.evaluate("(place) => document.getElementById('cell').view.map.place(place)", place)
    return box["x"] + x, box["y"] + y


def test_an_agent_is_dragged_and_python_knows(cell):
    page, view = cell
    page.mouse.move(*pixel(page, [10, 15]))
    page.mouse.down()
    page.mouse.move(*pixel(page, [20, 31]), steps=5)
    page.mouse.up()
    page.wait_for_function("() => document.getElementById('cell').view.state.undo === 1")
    np.testing.assert_allclose(view.scenario.reference[5], [20, 31], atol=0.5)


def test_it_plays_to_the_end_and_looks_inside(cell):
    page, view = cell
    page.mouse.click(*pixel(page, [20, 8]))
    page.wait_for_function("() => document.getElementById('cell').view.map.inside?.agent === 9")
    assert view.chosen == 9
    page.click("#cell button")
    page.wait_for_function("() => document.getElementById('cell').view.state.variants[0].ended")
    page.wait_for_function("() => document.querySelector('#cell button').textContent === 'Play'")
    run = tc.simulate(team())
    assert view.step == run.steps
    np.testing.assert_array_equal(view.positions, run.positions[-1])


@pytest.mark.parametrize("subject", [tc.simulate(team())], ids=["run"])
def test_a_run_plays_by_itself(cell, subject):
    page, view = cell
    page.wait_for_function("() => document.getElementById('cell').view.state.step > 0")
    page.wait_for_function("() => !document.getElementById('cell').view.playing")
    assert view.step == subject.steps
