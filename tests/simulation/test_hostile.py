"""Scenario files that ask for too much or hold what nobody expects: one line names the key."""

import itertools
import json

import numpy as np
import pytest

import tricover as tc
from tricover.control import Told
from tricover.errors import FileFormatError, InputError
from tricover.simulation.generators import polygon
from tricover.simulation.loop import steps
from tricover.simulation.mission import Mission
from tricover.simulation.resolve import targets_of

TEAM = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
HEAD = f"[formation]\npositions = {TEAM}\n[targets]\npositions = [[1, 1], [2, 3]]\n"
LONG, LONGER = "9" * 400, "9" * 5000


def refused(path, text):
    """The one line that is said of a scenario when it is read, or resolved."""
    path.write_text(text)
    with pytest.raises(InputError) as error:
        Mission.of(tc.Scenario.load(path))
    message = str(error.value)
    assert message.isprintable()
    assert len(message) <= 1000
    return message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 5000, "nested too deep"),
        ("a = " + "{ a = " * 5000, "nested too deep"),
        (f"seed = {LONGER}", "not a TOML file"),
        (f"seed = {LONG}\n{HEAD}", "seed: should be less than"),
        (
            f"steps = {LONG}\n{HEAD}",
            "steps: should be less than or equal to 9007199254740992, not a whole number of 1329",
        ),
        (f"origin = [{LONG}, 0]\n{HEAD}", "origin"),
        (f"origin = [1e300, 91]\n{HEAD}", "origin"),
        (f"origin = [7, 91]\n{HEAD}", "origin: (7.0, 91.0) is no centre of a local plane"),
        (f"origin = [361, 5]\n{HEAD}", "origin: (361.0, 5.0) is no centre"),
        (
            f"origin = [7, 5]\n{HEAD}".replace("[1, 2]]", "[1, 2e8]]"),
            "formation.positions: point 5 is more than 10000 km",
        ),
        (f"origin = [7, 5]\n{HEAD}".replace("[2, 3]]", "[2, 3e8]]"), "point 1 is more than 10000 km from the centre"),
        (
            f"origin = [7, 5]\n{HEAD}".replace("[targets]", f"start = {[[x + 1e9, y] for x, y in TEAM]}\n[targets]"),
            "formation.start: point 0, 1, 2, 3, 4 and 5 is more than 10000 km",
        ),
        (f"vehicle = [1, 2]\n{HEAD}", "list is no vehicle"),
        (f"anchors = [[1, 2], [3]]\n{HEAD}", "anchors.positions: give numbers in rows of equal length"),
        (f"{HEAD}[vehicle]\nmax_speed = 1e308\nkind = 'unicycle'", "max_speed must be a positive number of m/s, from"),
        (f"{HEAD}[vehicle]\nmax_speed = 1e-320\nkind = 'unicycle'", "max_speed must be a positive number of m/s, from"),
        (f"{HEAD}[vehicle]\nmax_speed = {LONG}\nkind = 'unicycle'", "not a whole number of 1329 bits"),
        (f"{HEAD}[vehicle]\nairframe = ['x']\nkind = 'quadrotor'", "unknown airframe ['x']"),
        (f"{HEAD}[vehicle]\nwind = [1, {LONG}]\nkind = 'quadrotor'", "wind must be two numbers of m/s"),
        (f"{HEAD}[vehicle]\nwind.{'a.' * 2000}b = 1\nkind = 'quadrotor'", "wind must be two numbers of m/s"),
        (f"{HEAD}[vehicle]\nduration = {LONG}", "vehicle.duration"),
        (f"{HEAD}[vehicle]\nduration = 1e10", "vehicle.duration: should be less than or equal to 1000000000"),
        (f"{HEAD}[network]\ncore = {LONG}", "core must be None, an agent's index or a point with 2"),
        (f"{HEAD}[network]\ncore = [{LONG}, 1]", "network.core: must be an agent's index or a point"),
        (f"{HEAD}[network]\ncore = [1e101, 1]", "network.core: must be an agent's index or a point"),
        (f"{HEAD}[network]\nmentee = [[1], [2]]", "network.mentee: must be 'fermat', 'balanced'"),
        (f"{HEAD}[[events.leave]]\nstep = {LONG}\nagents = 5", "events.leave[0].step: should be less than"),
        (f"{HEAD}[[events.leave]]\nstep = 1\nagents = {LONG}", "events.leave[0].agents[0]: should be less than"),
        (f"{HEAD}[[events.join]]\nstep = 1\nreference = [[{LONG}, 0]]", "events.join[0].reference: give numbers"),
        (f"{HEAD}[[events.join]]\nstep = 1\nreference = [[1e101, 0]]", "reference: numbers must not exceed 1e+100"),
        (
            f"{HEAD}motion.velocity = [1e99, 0]",
            "moving targets at step 100: point 0 and 1 has a coordinate beyond 1e+100",
        ),
        (f"{HEAD}motion = {{ velocity = [1, 0], until = {LONG} }}", "targets.motion.until: should be less than"),
        (f"{HEAD}weights = [1e99, 1e100]", "weights sum to more than 1e+100"),
        (f"{HEAD}weights = [1e308, 1e308]", "targets.weights: numbers must not exceed 1e+100"),
        (f"{HEAD}weights = [1, 1e-101]", "1e-100"),
        (f"{HEAD}active = [[0, 1], [0, 1e300]]", "targets.active: numbers must not exceed 9.0072e+15"),
        (
            f"{HEAD}[control]\nresolution = 4096\nmotion = 'walk'",
            "16777216 cells for the resolution 4096 need about 3.1",
        ),
        (f"{HEAD}[control]\nresolution = 100000", "control.resolution: should be less than or equal to 4096"),
    ],
)
def test_files_that_ask_for_too_much(tmp_path, text, message):
    assert message in refused(tmp_path / "a.toml", text)


@pytest.mark.parametrize("key", ["formation", "targets"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a\\u0000b.csv", "there is a null character in the file's name"),
        ("a\\nb.csv", r"a\nb.csv: No such file"),
        ("/dev/zero", "/dev/zero: unknown ending ''"),
        ("x" * 5000 + ".csv", "File name too long"),
        (".", "Is a directory"),
    ],
)
def test_files_that_cannot_be(tmp_path, key, name, message):
    other = {"formation": "targets", "targets": "formation"}[key]
    text = f'[{key}]\nfile = "{name}"\n[{other}]\npositions = {TEAM}\n'
    assert message in refused(tmp_path / "a.toml", text)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"formation": {"generator": "square", "agents": 10**11, "size": 5}}, "100000000000 agents need about"),
        ({"formation": {"generator": "disc", "agents": 10**11, "size": 5}}, "100000000000 agents need about"),
        ({"formation": {"generator": "disc", "agents": 10**400, "size": 5}}, "agents"),
        (
            {"targets": {"generator": "polygon", "count": 10**11, "corners": [[0, 0], [1, 0], [0, 1]]}},
            "100000000000 targets",
        ),
        (
            {"targets": {"generator": "clusters", "count": 10**11, "centres": [[0, 0]], "spread": 1}},
            "100000000000 targets",
        ),
        (
            {"formation": {"generator": "disc", "agents": 10, "size": 1e101}},
            "formation.size: should be less than or equal",
        ),
        ({"targets": {"generator": "clusters", "count": 1, "centres": [[0, 0]], "spread": 1e101}}, "targets.spread"),
    ],
)
def test_more_points_than_memory_holds_are_not_made(section, message):
    with pytest.raises(InputError) as error:
        Mission.of(tc.Scenario(**{"formation": TEAM, "targets": [[1, 1]], **section}))
    assert message in str(error.value)


@pytest.mark.parametrize("names", [{"name": "\ud800"}, {"formation": {"file": "\ud800.csv"}}])
def test_text_that_no_file_can_hold(names, tmp_path):
    with pytest.raises(InputError):
        tc.Scenario(**{"formation": TEAM, "targets": [[1, 1]], **names}).save(tmp_path / "a.toml")


# --- polygons -----------------------------------------------------------------------------------------------------


def needle(width, angle):
    """A rectangle 100 long and ``width`` wide, turned."""
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.array([[0, 0], [100, 0], [100, width], [0, width]]) @ turn, turn


@pytest.mark.parametrize("width", [10.0, 1.0, 1e-3, 1e-6])
def test_slivers_are_filled_evenly(width):
    """Along and across a needle, points are spread as in a rectangle."""
    corners, turn = needle(width, 0.7)
    points = polygon(4000, corners, np.random.default_rng(1)) @ turn.T
    along, across = points[:, 0] / 100, points[:, 1] / width
    rounding = 1e-12 / width
    for share in (along, across):
        assert -rounding <= share.min() < 0.01
        assert 0.99 < share.max() <= 1 + rounding
        assert np.abs(np.sort(share) - np.linspace(0, 1, 4000)).max() < 0.04  # Kolmogorov's distance: 2.5 σ
    assert abs(np.corrcoef(along, across)[0, 1]) < 0.06


def test_a_thin_polygon_that_is_not_convex_is_filled_by_its_areas():
    """A V of two arms, one twice as wide as the other, whose notch is empty."""
    corners = np.array([[0, 0], [0.2, 0], [10, 19], [20, 0], [20.4, 0], [10, 20]])
    points = polygon(6000, corners, np.random.default_rng(2))
    left = points[:, 0] < 10
    areas = [area(arm) for arm in ARMS]
    assert abs(left.mean() - areas[0] / sum(areas)) < 0.02
    x, y = points.T
    outer = np.where(left, 20 * x / 10, 20 * (20.4 - x) / 10.4)
    inner = np.where(left, 19 * (x - 0.2) / 9.8, 19 * (20 - x) / 10)
    assert (y <= outer + 1e-9).all()
    assert (y >= np.minimum(inner, outer) - 1e-9).all()


def area(corners):
    x, y = corners.T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


ARMS = (
    np.array([[0, 0], [0.2, 0], [10, 19], [10, 20]]),
    np.array([[20, 0], [20.4, 0], [10, 20], [10, 19]]),
)


def test_ordinary_polygons_are_filled_as_ever():
    corners = np.array([[0.0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]])
    found = polygon(5, corners, np.random.default_rng([7, 2]))
    rng = np.random.default_rng([7, 2])
    tried = rng.uniform([0, 0], [4, 4], (64, 2))
    assert found.tolist() == tried[(tried[:, 0] < 1) | (tried[:, 1] < 1)][:5].tolist()


@pytest.mark.parametrize(
    ("corners", "message"),
    [
        ([[0, 0], [1, 1], [2, 2]], "has no area"),
        ([[0, 0], [1, 0]], "has no area"),
        ([[3, 3], [3, 3], [3, 3]], "has no area"),
        ([[0, 0], [1, 1], [2, 2 + 1e-9]], "has no area"),
        ([[0, 0], [1, 0], [1, 1], [0, 1]] * 2, "crosses itself"),
        ([[0, 0], [10, 10], [10, 9], [0, 1.2]], "crosses itself"),
    ],
)
def test_polygons_without_room_are_refused(corners, message):
    section = {"generator": "polygon", "count": 1000, "corners": corners}
    with pytest.raises(InputError, match=message):
        targets_of(tc.Scenario(reference=TEAM, targets=section))


def test_a_polygon_of_many_corners_takes_no_more_memory():
    angles = np.linspace(0, 2 * np.pi, 3000, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = polygon(3000, circle, np.random.default_rng(0))
    assert (np.hypot(*points.T) <= 1).all()


# --- what others were told ----------------------------------------------------------------------------------------


def test_a_flight_of_endless_control_is_refused():
    slow = {"kind": "quadrotor", "duration": 1e6}
    made = tc.Scenario(reference=TEAM, targets=[[1, 1]], vehicle=slow)
    with pytest.raises(InputError, match="takes more than 200000 periods: give a shorter duration"):
        list(itertools.islice(steps(made), 2))


@pytest.mark.parametrize("paths", [None, [], [[]], [[[0, 0]]], [[[0, 0]] * 6], [[[1e101, 0]] * 5], "x", 5])
def test_paths_that_do_not_fit_the_network_are_refused(paths):
    text = Mission.of(tc.Scenario(reference=TEAM, targets=[[1, 1]])).epochs[0].told.to_json()
    plain = json.loads(text)
    assert len(plain["paths"][0]) == 5
    plain["paths"] = paths
    with pytest.raises(FileFormatError, match="this is not what agents were told"):
        Told.from_json(json.dumps(plain))


@pytest.mark.parametrize(
    "text", ["", "[" * 5000, "{}", "[]", '{"scenario": {}, "epochs": []}', f'{{"scenario": {LONGER}}}']
)
def test_missions_that_are_none(text):
    with pytest.raises(FileFormatError, match="this is not the text of a mission"):
        Mission.from_json(text)


@pytest.mark.parametrize("starts", [[1], [0, 0], [0, 2, 1], [0.0], [True], ["0"], [None], [float("inf")], []])
def test_epochs_begin_at_steps_from_0_on(starts):
    plain = json.loads(Mission.of(tc.Scenario(reference=TEAM, targets=[[1, 1]])).to_json())
    told = plain["epochs"][0]["told"]
    plain["epochs"] = [{"start": start, "told": told} for start in starts]
    with pytest.raises(FileFormatError, match="its epochs begin at"):
        Mission.from_json(json.dumps(plain))


def test_networks_of_another_team_are_refused():
    mission = Mission.of(tc.Scenario(reference=TEAM, targets=[[1, 1]]))
    other = Mission.of(tc.Scenario(reference=[*TEAM, [3, 1]], targets=[[1, 1]]))
    plain = json.loads(mission.to_json()) | {"epochs": json.loads(other.to_json())["epochs"]}
    with pytest.raises(FileFormatError, match="the network from step 0 on is not that of the scenario's team"):
        Mission.from_json(json.dumps(plain))
