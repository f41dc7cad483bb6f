"""Fleets of real processes on this machine: what they fly, keep, refuse, and leave behind."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.fleet.campaign import children
from tests.fleet.test_processes import LONG, until
from tricover.errors import FileFormatError, InputError, StoreError
from tricover.fleet.agent import Manners
from tricover.fleet.clock import LEAD, clock_of
from tricover.fleet.controls import Controls
from tricover.fleet.crew import Settings
from tricover.fleet.faults import At, Faults
from tricover.fleet.flight import fly_fleet
from tricover.fleet.journal import open_journal, tracks_of
from tricover.fleet.messages import mission_digest
from tricover.fleet.recording import run_of
from tricover.simulation import Mission

AGENTS = 8


def mission_of(**given):
    draw = np.random.default_rng(8)
    team, targets = draw.uniform(0, 50, (AGENTS, 2)), draw.uniform(0, 50, (60, 2))
    return Mission.of(tc.Scenario(reference=team, targets=targets, **{"steps": 5000, **given}))


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    """A flight that settled, the folder it is kept in, and the processes that it left running."""
    store = tmp_path_factory.mktemp("flight") / "flown.zarr"
    before = children()  # other tests may have some, too
    return fly_fleet(mission_of(), store=store), store, children() - before


def test_a_fleet_settles_where_algorithm_2_says(flown):
    run = flown[0].run
    mission = mission_of()
    desired = tc.desired_configuration(mission.epochs[0].network, mission.targets)
    assert run.converged
    assert np.abs(run.positions[-1] - desired).max() <= 1e-12 * 50
    assert flown[0].report.done
    assert flown[0].alive == AGENTS
    assert not flown[0].exits
    assert not flown[0].report.refused


def test_a_flight_is_kept_as_a_run_that_can_be_certified(flown):
    run, store = tc.Run.open(flown[1]), flown[1]
    assert np.array_equal(run.positions, flown[0].run.positions)
    assert tc.certify(run).holds
    assert not store.with_name("flown.zarr.flight").exists(), "the journal is not needed any more"


def test_a_place_that_is_taken_is_refused_before_anything_begins(flown):
    with pytest.raises(StoreError, match="exists"):
        fly_fleet(mission_of(), store=flown[1])


def test_nothing_is_left_running(flown):
    assert not flown[2]


def test_all_steps_are_flown_where_the_team_does_not_stop():
    flown = fly_fleet(mission_of(steps=40, stop_when_settled=False))
    assert flown.run.steps == 40
    assert flown.run.converged
    assert len(flown.run.epochs) == 1, "nobody was taken for lost, though not all ended at once"
    assert flown.alive == AGENTS


def test_unsigned_and_by_the_clock():
    settings = Settings(Manners(clock_of("rate", rate=40.0)), signed=False, links="tcp")
    flown = fly_fleet(mission_of(), settings)
    assert flown.run.converged


def test_encrypted_links_need_keys():
    with pytest.raises(InputError, match="tcp"):
        fly_fleet(mission_of(), Settings(signed=False))


def test_who_is_killed_and_begins_again_takes_part_again():
    settings = Settings(kills=(At(("3",), 0.5, 0.0),), joins=(At(("3",), 4.0, 0.0),))
    flown = fly_fleet(mission_of(steps=100_000), replace(settings, seconds=LONG))
    assert flown.report.done
    assert flown.alive == AGENTS
    networks = [epoch.network.layer[3] < 0 for epoch in flown.run.epochs]
    assert networks[0] == networks[-1] == np.False_
    assert any(networks), "the others went on without it for a while"
    assert flown.agreed_after is not None


def test_what_is_asked_for_in_flight_is_done():
    """Each wish when what the one before brought about is seen."""
    everybody, controls = set(range(AGENTS)), Controls(orders=True, processes=True)
    plan = [
        (lambda report, living: report.agreed and living == everybody, ("kill", {"agent": 3})),
        (lambda report, living: report.agreed and living == everybody - {3}, ("join", {"agent": 3})),
        (lambda report, living: report.agreed and living == everybody, ("freeze", {"agent": 2, "seconds": 3.0})),
        (lambda report, living: living == everybody - {2} and controls.frozen == {2}, None),
        (lambda report, living: report.agreed and living == everybody, ("faults", {"loss": 0.1, "apart": [0, 1, 2]})),
        (lambda report, living: report.beliefs == 2 and living == everybody, ("faults", {"loss": 0.0, "apart": []})),
        (lambda report, living: report.agreed and living == everybody, ("order", {"word": "end", "values": {}})),
    ]

    def follow(report, tower):
        if plan and report.step > 0 and plan[0][0](report, tower.living):
            wish = plan.pop(0)[1]
            if wish is not None:
                controls.ask(wish[0], **wish[1])

    mission = mission_of(steps=100_000, stop_when_settled=False)
    settings = Settings(faults=Faults(on_demand=True), seconds=LONG)
    flown = fly_fleet(mission, settings, progress=follow, controls=controls)
    assert not plan
    assert flown.report.agreed, "that all leave as they were told to is no disagreement"
    assert flown.alive == AGENTS
    assert not flown.exits
    assert flown.seconds < LONG
    assert any(epoch.network.layer[3] < 0 for epoch in flown.run.epochs)


def test_a_journal_gives_the_run_back(tmp_path, flown):
    mission = mission_of()
    store = tmp_path / "run.zarr"
    digest = mission_digest(mission, "x")
    with open_journal(store, mission, digest):
        pass
    with pytest.raises(StoreError, match="tricover fleet recover"):
        fly_fleet(mission, store=store)
    with pytest.raises(InputError, match="nobody took a step"):
        run_of(tracks_of(tmp_path / "run.zarr.flight"))


KILLED = """
import sys
from tests.fleet.test_flight import mission_of
from tricover.fleet.flight import fly_fleet
if __name__ == "__main__":
    fly_fleet(mission_of(steps=100_000, stop_when_settled=False), store=sys.argv[1])
"""


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    """The journal of a flight whose program was killed in the middle."""
    store = tmp_path_factory.mktemp("killed") / "run.zarr"
    path = store.with_name("run.zarr.flight")
    with subprocess.Popen([sys.executable, "-c", KILLED, str(store)]) as program:
        until(lambda: path.exists() and path.stat().st_size > 100_000, "a journal that grows")
        program.send_signal(signal.SIGKILL)
    return path


def test_what_was_heard_before_the_recorder_was_killed_is_a_run(journal):
    run = run_of(tracks_of(journal))
    assert run.steps > 10
    assert run.converged
    desired = tc.desired_configuration(run.network, mission_of().targets)
    assert np.abs(run.positions[-1] - desired).max() <= 1e-12 * 50


def test_a_journal_that_was_cut_loses_its_last_message_alone(journal, tmp_path):
    data = journal.read_bytes()
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.write_bytes(data)
    cut.write_bytes(data[:-7])
    count = [sum(map(len, tracks_of(path).places.values())) for path in (whole, cut)]
    assert 0 <= count[0] - count[1] <= LEAD // 2 + 1


def test_damage_to_a_journal_is_noticed(journal, tmp_path):
    data = bytearray(journal.read_bytes())
    start = data.index(b"\n") + 1
    for place in np.random.default_rng(1).integers(start, len(data) - 2000, 20).tolist():
        broken = data.copy()
        broken[place] ^= 1 << (place % 8)
        path = tmp_path / "broken"
        path.write_bytes(broken)
        with pytest.raises(FileFormatError, match="not the record of a flight"):
            tracks_of(path)


def test_a_journal_of_another_format_or_of_nothing_is_refused(journal, tmp_path):
    head, _, rest = journal.read_bytes().partition(b"\n")
    other = tmp_path / "other"
    other.write_bytes(json.dumps(json.loads(head) | {"tricover flight": 99}).encode() + b"\n" + rest)
    with pytest.raises(FileFormatError, match="format 99"):
        tracks_of(other)
    for text in (b"", b"{}\n", b"[1]\n", b"\xff\xfe\n"):
        other.write_bytes(text)
        with pytest.raises(FileFormatError, match="not the record of a flight"):
            tracks_of(other)
    with pytest.raises(FileFormatError, match="cannot read"):
        tracks_of(tmp_path / "nowhere")


def test_ctrl_c_keeps_what_was_flown(tmp_path):
    store = tmp_path / "run.zarr"
    path = store.with_name("run.zarr.flight")
    with subprocess.Popen([sys.executable, "-c", KILLED, str(store)]) as program:
        until(lambda: path.exists() and path.stat().st_size > 50_000, "a journal that grows")
        program.send_signal(signal.SIGINT)
        assert program.wait(LONG) == 0
    assert tc.Run.open(store).steps > 5
    assert not path.exists()
