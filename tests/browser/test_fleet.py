"""A fleet of real processes, watched in a real browser, by clicking as a person does; facts are read from the page."""

import os
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

import tricover as tc
from tests.browser.studio_page import Visitor
from tests.cli.test_fleet import LONG, PROGRAM, begun, ended, tricover
from tests.ports import free_port
from tricover.simulation import Mission

AGENTS = 10
SCENARIO = """
name = "field"
seed = 3
steps = 100_000
stop_when_settled = false
[formation]
generator = "square"
agents = {agents}
size = 40.0
[targets]
generator = "polygon"
count = 80
corners = [[-20, -20], [20, -20], [20, 20], [-20, 20]]
"""
NAMES = "{ living, agreed, done, beliefs, apart, missed, frozen, step, rounds, ordered, faults, says, over }"
LOGGED = """(() => {
  const { fleet } = studio, { show } = fleet;
  fleet.log = [];
  fleet.show = (flight) => { fleet.log.push(flight); show.call(fleet, flight); };
})()"""


def scenario(folder, agents=AGENTS):
    path = folder / "field.toml"
    path.write_text(SCENARIO.format(agents=agents))
    return path


@contextmanager
def program(folder, *arguments):
    """A command that opens a page, and the address of that; it ends by Ctrl-C."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TRICOVER_THREADS": "1"}
    command = [*PROGRAM, *map(str, arguments), "--no-browser", "--port", "0", "--quiet"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LONG)


def begun_by(pid):
    """All processes that a process began, and these in turn."""
    found = set()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listed.read_text().split()):
            found |= {child, *begun_by(child)}
    return found


def gone(pids):
    latest = time.monotonic() + LONG
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < latest, "processes are left running"
        time.sleep(0.05)
    return True


class Watcher(Visitor):
    """Somebody who watches a fleet."""

    def __init__(self, browser, address, **how):
        super().__init__(browser, address, **how)
        self.address = address
        self.ask(LOGGED)
        self.wait("studio.fleet.flight !== null")

    def see(self, fact):
        """Until the flight is as is said."""
        self.wait(f"(({NAMES}) => {fact})(studio.fleet.flight)")

    def have_seen(self, fact):
        """Until the flight was so at a time: what lasts for a moment alone may be over before one looks."""
        self.wait(f"studio.fleet.log.some(({NAMES}) => {fact})")

    def choose(self, agent):
        self.click(self.agent(agent))
        self.wait(f"studio.fleet.member && studio.fleet.member.agent === {agent}")

    def figure(self, name):
        """What stands beside a name in the table of figures."""
        return self.page.locator("#flight tr", has_text=name).locator("td").inner_text()

    def leave(self):
        assert self.errors == []
        assert all(url.startswith((self.address, "blob:", "data:")) for url in self.asked)
        self.close()


def test_a_fleet_is_watched_killed_frozen_joined_disturbed_commanded_and_ended(chromium, tmp_path):
    arguments = "fleet", scenario(tmp_path), "--studio", "--rate", 20, "-o", tmp_path / "flown.zarr"
    with program(tmp_path, *arguments) as (process, address):
        person = Watcher(chromium, address)
        page = person.page
        person.see(f"living.length === {AGENTS} && agreed && done")
        assert person.figure("alive") == f"{AGENTS} of {AGENTS}"
        assert "All of them agree who is." in person.text("#flight")
        assert "The team has settled." in person.text("#flight")
        assert not page.is_visible("#tools")
        assert not page.is_visible("#settings")
        started = begun_by(process.pid)
        assert len(started) == AGENTS + 2, "agents, the router, and who began them"

        follower = person.ask("studio.maps[0].team.layer.indexOf(1)")
        person.choose(follower)
        assert page.is_disabled("#join")
        assert "alive" in person.text("#member")
        page.click("#kill")
        person.see(f"living.length === {AGENTS - 1} && agreed && missed.includes({follower}) && done")
        assert person.figure("alive") == f"{AGENTS - 1} of {AGENTS}"
        assert f"not there: {follower}" in person.text("#flight")
        assert person.ask("studio.maps[0].marks") == [[follower, "cross"]]
        assert person.ask(f"studio.maps[0].team.layer[{follower}]") == -1
        page.wait_for_selector("#join:enabled")
        page.click("#join")
        person.see(f"living.length === {AGENTS} && agreed && done")
        started |= begun_by(process.pid)

        page.wait_for_selector("#freeze:enabled")
        page.click("#freeze")
        person.have_seen(f"frozen.includes({follower})")
        person.have_seen(f"frozen.includes({follower}) && !living.includes({follower})")
        person.see(f"frozen.length === 0 && living.length === {AGENTS} && agreed && done")

        page.focus("#loss")
        for _ in range(6):
            page.keyboard.press("ArrowRight")
        person.see("faults.loss === 0.3 && rounds !== null && rounds < 15")
        assert person.text("#lost") == "30 %"
        assert person.ask(f"studio.fleet.flight.living.length === {AGENTS}")
        page.keyboard.press("Home")
        person.see("faults.loss === 0")

        page.click("#half")
        assert page.input_value("#apart")
        page.fill("#apart", "1-4")
        page.click("#part")
        two = ["6 agents (0, 5-9) believe that 1-4 are gone.", "4 agents (1-4) believe that 0, 5-9 are gone."]
        person.see(f"beliefs === 2 && {two}.every((sentence) => says.includes(sentence))")
        assert person.ask("studio.fleet.flight.apart") == person.ask("studio.fleet.flight.missed") == [1, 2, 3, 4]
        assert person.ask("studio.fleet.flight.living.length") == AGENTS, "nobody is dead"
        assert all(sentence in person.text("#flight") for sentence in two)
        assert {mark for _, mark in person.ask("studio.maps[0].marks")} == {"cross", "ring"}
        person.wait(f"String(studio.maps[0].team.heard) === '{halves(tmp_path, [1, 2, 3, 4])}'")
        assert page.inner_text("#part") == "Heal"
        page.click("#part")
        person.see("beliefs === 1 && agreed && done")
        assert person.ask("studio.maps[0].marks") == []

        page.fill("#whom", f"{follower}")
        page.click('[data-order="hold"]')
        person.wait("studio.fleet.member.holds")
        assert "stays where it is" in person.text("#member")
        page.fill("#whom", "0-99")
        page.click('[data-order="land"]')
        page.click('[data-order="land"]')
        person.wait("document.getElementById('notice').textContent.includes('there is no')")
        page.fill("#whom", "")
        page.click('[data-order="go"]')
        person.wait("studio.fleet.flight.ordered === 'go' && !studio.fleet.member.holds")
        person.see(f"living.length === {AGENTS} && agreed")

        page.click('[data-order="pause"]')
        person.see("ordered === 'pause' && rounds === 0")
        assert "The team is paused." in person.text("#flight")
        stopped = person.ask("studio.fleet.flight.fastest")
        page.focus(".map canvas:nth-child(2)")
        page.keyboard.press("Space")
        person.see(f"ordered === 'go' && step > {stopped}")

        page.click('[data-order="end"]')
        assert page.inner_text('[data-order="end"]') == "End: sure?"
        assert person.ask("studio.fleet.flight.ordered") == "go", "it is asked for twice"
        page.click('[data-order="end"]')
        page.wait_for_selector("#flown:visible")
        assert "the team has settled where it should" in person.text("#over")
        person.wait("/Certificate of field .*(holds|does not|not)/.test(document.getElementById('over').textContent)")
        assert gone(started)
        assert page.is_disabled('[data-order="go"]')
        page.click("#flown")
        person.wait("!studio.fleet.watches && studio.state.step > 0")
        assert page.is_visible("#settings")
        assert person.ask("studio.state.variants[0].recorded")
        person.leave()
    assert process.returncode == 0


def halves(folder, some):
    """Whom everybody hears, in the words of the page, where some are cut off from all others."""
    scenario = tc.Scenario.load(folder / "field.toml")
    reference = Mission.of(scenario).ground.reference
    among = np.isin(np.arange(AGENTS), some)
    heard = np.where(
        among[:, None],
        tc.build_network(reference, alive=among).in_neighbors,
        tc.build_network(reference, alive=~among).in_neighbors,
    )
    return ",".join(map(str, heard.ravel().tolist()))


@pytest.fixture
def anywhere(tmp_path):
    """A fleet of six as on several machines, by the commands that one types there; what a watcher has to be told."""
    path, keys = scenario(tmp_path, 6), tmp_path / "keys"
    assert tricover("fleet", "keys", keys, "--scenario", path).exit_code == 0
    router = f"tls/localhost:{free_port()}"
    common = "--router", router, "--flight", "monday"
    with ExitStack() as stack:
        commands = [("fleet", "route", router, "--agents", 6, "--keys", keys / "router")]
        commands += [
            ("agent", path, "--id", agent, *common, "--keys", keys / f"agent-{agent}", "--grace", 60, "--rate", 20)
            for agent in range(6)
        ]
        processes = [stack.enter_context(begun(*command)) for command in commands]
        for process in processes:
            stack.callback(process.kill)
        yield path, keys, common, processes[1:]


def test_a_fleet_that_is_anywhere_is_watched_and_commanded_by_who_has_the_key(chromium, tmp_path, anywhere):
    path, keys, common, agents = anywhere
    with (
        program(tmp_path, "studio", path, *common, "--keys", keys / "recorder") as (_, only),
        program(tmp_path, "studio", path, *common, "--keys", keys / "operator") as (_, address),
    ):
        guest, person = Watcher(chromium, only), Watcher(chromium, address)
        for one in (guest, person):
            one.see("living.length === 6 && agreed && done")
            one.choose(4)
            assert not one.page.is_visible("#kill")
            assert not one.page.is_visible("#loss")
            assert "not processes of this program" in one.text("#faults")
        assert guest.page.is_disabled('[data-order="pause"]')
        assert "Orders need the operator's keys" in guest.text("#orders")
        code, said = ended(begun("fleet", "order", "pause", path, *common, "--keys", keys / "operator"))
        assert code == 0, said
        for one in (guest, person):
            one.see("ordered === 'pause' && rounds === 0")
        stopped = person.ask("studio.fleet.flight.fastest")
        person.page.click('[data-order="go"]')  # of a program that began before the one that paused
        for one in (guest, person):
            one.see(f"ordered === 'go' && step > {stopped}")
        for _ in range(2):
            person.page.click('[data-order="end"]')
        for one in (guest, person):
            one.see("living.length === 0")
            one.page.wait_for_selector("#over:visible")
            assert "nobody is there any more" in one.text("#over")
            assert "The operator's last order was: end." in one.text("#over")
            assert not one.page.is_visible("#flown")
            assert one.page.is_disabled('[data-order="go"]')
            one.leave()
        for agent in agents:
            code, said = ended(agent)
            assert code == 0, said


def test_what_a_watcher_gets_wrong_is_one_line(tmp_path):
    path, keys = scenario(tmp_path, 6), tmp_path / "keys"
    assert tricover("fleet", "keys", keys, "--agents", 6).exit_code == 0
    for arguments, words in (
        ((path, "--router", "tls/localhost:1", "--keys", keys / "agent-1"), "keys of agent-1"),
        (("--router", "tls/localhost:1", "--keys", keys / "operator"), "name the scenario"),
        ((path, "--keys", keys / "operator"), "--router"),
    ):
        code, said = ended(begun("studio", *arguments, "--no-browser"))
        assert code == 2, said
        assert words in said
        assert "Traceback" not in said
