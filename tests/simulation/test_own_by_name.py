"""Rules and vehicles of the user's own by name: written down, stored, resumed, and looked at when they are gone."""

import sys

import numpy as np
import pytest

import tricover as tc
from tests.simulation.stores import stop_at
from tests.simulation.teams import scenario
from tricover.errors import InputError, UnknownNameError
from tricover.own import found, is_name, name_of

MODULE = """
from dataclasses import dataclass

import numpy as np


def middle(network):
    def local_goal(agents, triangles, targets):
        return triangles.mean(axis=1)

    return local_goal


def leftmost(corners, members):
    return members[:, 0]


@dataclass(frozen=True)
class Slow:
    share: float = 0.5
    kind = "slow"
    landing = "anywhere"
    state_size = 2

    def initial_state(self, positions):
        return np.array(positions, dtype=float)

    def output(self, states):
        return states.copy()

    def drive(self, states, reach_sets, duration, draws):
        return states + self.share * (reach_sets.mean(axis=1) - states)


def wrong(agents, triangles, targets):
    return triangles.mean(axis=1)


def wrong_inside(network):
    return lambda agents: agents
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the user's own in the current folder."""
    (tmp_path / "mine_by_name.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield "mine_by_name"
    sys.modules.pop("mine_by_name", None)


def own(mine, **settings):
    return scenario(
        0,
        agents=20,
        network={"mentee": f"{mine}:leftmost"},
        control={"goal": f"{mine}:middle"},
        vehicle={"kind": f"{mine}:Slow", "share": 0.75},
        steps=60,
        **settings,
    )


def forget(tmp_path):
    (tmp_path / "mine_by_name.py").unlink()
    sys.modules.pop("mine_by_name", None)


def test_a_run_with_own_rules_is_stored_resumed_and_opened(tmp_path, mine):
    events = {"leave": [{"step": 3, "agents": [2]}]}
    given = own(mine, events=events)
    given.save(tmp_path / "own.toml")
    loaded = tc.Scenario.load(tmp_path / "own.toml")
    assert loaded == given
    whole = tc.simulate(given)
    tc.simulate(loaded, tmp_path / "run.zarr", progress=stop_at(4))
    run = tc.simulate(loaded, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(run.positions, whole.positions)
    opened = tc.Run.open(tmp_path / "run.zarr")
    np.testing.assert_array_equal(opened.desired, whole.desired)
    assert opened.scenario.control.goal == f"{mine}:middle"
    assert opened.network.mentee == f"{mine}:leftmost"
    assert tc.certify(opened).holds == tc.certify(whole).holds


def test_functions_of_a_module_are_written_by_their_names(tmp_path, mine):
    module = found(f"{mine}:middle"), found(f"{mine}:leftmost")
    by_function = scenario(0, agents=20, control={"goal": module[0]}, network={"mentee": module[1]})
    by_name = scenario(0, agents=20, control={"goal": f"{mine}:middle"}, network={"mentee": f"{mine}:leftmost"})
    assert by_function.to_toml() == by_name.to_toml()
    tc.simulate(by_function, tmp_path / "run.zarr", progress=stop_at(1))
    run = tc.simulate(by_name, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(run.positions, tc.simulate(by_function).positions)


def test_a_run_whose_rules_are_gone_can_be_looked_at(tmp_path, mine):
    whole = tc.simulate(own(mine))
    desired, converged = whole.desired, whole.converged
    tc.simulate(own(mine), tmp_path / "run.zarr")
    tc.simulate(own(mine), tmp_path / "cut.zarr", progress=stop_at(5))
    forget(tmp_path)
    opened = tc.Run.open(tmp_path / "run.zarr")
    np.testing.assert_array_equal(opened.positions, whole.positions)
    np.testing.assert_array_equal(opened.desired, desired)
    assert opened.summary()["vehicle"] == f"{mine}:Slow"
    assert opened.converged == converged
    assert tc.certify(opened)["theorem1"].verdict == "holds"
    assert opened.to_xarray().attrs["goal"] == f"{mine}:middle"
    cut = tc.Run.open(tmp_path / "cut.zarr")
    np.testing.assert_array_equal(cut.positions, whole.positions[:6])
    assert "5 steps" in repr(cut)
    assert cut.summary()["largest_error"] is None
    for run in (lambda: tc.simulate(own(mine), tmp_path / "cut.zarr", resume=True), lambda: cut.desired):
        with pytest.raises(UnknownNameError, match=f"there is no module '{mine}' on Python's path") as caught:
            run()
        assert "\n" not in str(caught.value)
    with pytest.raises(UnknownNameError, match="there is no module"):
        opened.mission.start()


def test_a_function_without_a_home_is_not_written_down(tmp_path):
    def here(network):
        return lambda agents, triangles, targets: triangles.mean(axis=1)

    given = scenario(0, agents=20, control={"goal": here})
    tc.simulate(given)
    with pytest.raises(InputError, match=r"\(here\) of a script or notebook cannot be written down: put it into a mod"):
        tc.simulate(given, tmp_path / "run.zarr")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"control": {"goal": "mine_by_name:nobody"}}, "the module 'mine_by_name' has no 'nobody'"),
        ({"control": {"goal": "no_such_module:f"}}, "there is no module 'no_such_module'"),
        (
            {"control": {"goal": "mine_by_name:wrong"}},
            r"a goal rule must take \(network\); wrong takes \(agents, triangles, targets\)",
        ),
        (
            {"control": {"goal": "mine_by_name:wrong_inside"}},
            r"what a goal rule gives back must take \(agents, triangles, targets\)",
        ),
        ({"network": {"mentee": "mine_by_name:middle"}}, r"a mentee rule must take \(corners, members\)"),
        ({"vehicle": {"kind": "mine_by_name:Slow", "speed": 3}}, "cannot be made with speed"),
        ({"vehicle": {"kind": "mine_by_name:middle", "network": 1}}, "is no vehicle"),
        ({"control": {"goal": "centroit"}}, "must be 'centroid', .*'module:function'"),
    ],
)
def test_what_is_wrong_with_a_name_is_told(mine, settings, message):
    with pytest.raises(InputError, match=message):
        tc.simulate(scenario(0, agents=20, **settings))


def test_a_rule_of_the_wrong_form_is_told_whoever_asks():
    given = scenario(0, agents=20)
    network = tc.build_network(given.reference)
    for wrong in (lambda agents, triangles, targets: triangles, lambda network: 3, 5):
        with pytest.raises(InputError, match="goal"):
            tc.desired_configuration(network, [[0.5, 0.5]], goal=wrong)


def test_an_error_inside_the_users_module_is_the_users(tmp_path, mine):
    (tmp_path / "mine_by_name.py").write_text("import no_such_library")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        found("mine_by_name:middle")


def test_names():
    assert name_of(np.linalg.norm) is None or is_name(name_of(np.linalg.norm))
    assert name_of(tc.simulate) == "tricover.simulation.loop:simulate"
    assert name_of(lambda: 0) is None
    assert not any(map(is_name, ["", ":", "a:", ":b", "a b:c", "1a:b", "a:b:c", "a:b()", 3, None]))
    before = list(sys.path)
    found("math:pi")
    assert sys.path == before
