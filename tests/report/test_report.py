"""The report of a run: complete in one file, true to the run, safe with any text, and the same every time."""

import base64
import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest

import tricover as tc
from tests.report.pages import Page, decoded, scenario, with_events
from tricover.certificates import FAILS, Fault
from tricover.report import findings_of, playback, write_report
from tricover.simulation import Mission


@pytest.fixture(scope="module")
def run():
    return tc.simulate(scenario())


@pytest.fixture(scope="module")
def certificate(run):
    return tc.certify(run)


@pytest.fixture(scope="module")
def page(run, certificate, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "team.html"
    assert write_report(run, path, certificate) == path
    return Page(path)


def test_it_asks_the_network_for_nothing(page):
    assert not re.search(r"https?://|//www|@import|\bfetch\(|XMLHttpRequest|import\(|new Worker", page.source)
    assert page.attributes("src") == page.attributes("srcset") == []
    assert all(link.startswith(("#", "data:")) for link in page.attributes("href"))
    assert all(found == "url(#" for found in re.findall(r"url\(.", page.source))
    assert "default-src 'none'" in page.source


def test_names_in_the_page_are_its_own_and_lead_somewhere(page):
    names = page.attributes("id")
    assert len(names) == len(set(names))
    links = [link[1:] for link in page.attributes("href") if link.startswith("#")]
    links += re.findall(r"url\(#([^)]+)\)", page.source)
    assert len(links) > 20
    assert set(links) <= set(names)


def test_figures_keep_their_text(page):
    drawn = {data.strip() for tag, data in page.words if tag in ("text", "tspan")}
    assert {"layer", "step", "follower", "13"} <= drawn
    assert not page.attributes("xmlns")


def test_the_playback_holds_the_run(run, page):
    [data] = page.runs
    precision = float(re.search(r"right to ([-.e\d]+) m", page.text)[1])
    assert data["steps"] == list(range(run.steps + 1))
    assert np.abs(data["positions"] - run.positions).max() <= precision
    assert np.abs(data["desired"] - run.desired).max() <= precision
    assert np.abs(data["targets"][0] - run.targets.points).max() <= precision
    np.testing.assert_array_equal(data["cells"][:-1], run.states)
    np.testing.assert_array_equal(data["goals"][:-1], run.goal_cells)
    [epoch] = data["epochs"]
    np.testing.assert_array_equal(epoch["layer"], run.network.layer)
    np.testing.assert_array_equal(epoch["heard"], run.network.in_neighbors)
    assert (epoch["boundary"], epoch["core"]) == (run.network.boundary.tolist(), run.network.core)
    assert len(data["colours"]) == run.network.depth + 1
    assert data["weights"] is None


def test_the_playback_knows_the_weights_of_targets():
    points, weights = np.random.default_rng(1).uniform(5, 45, (6, 2)), np.array([1.0, 2, 0, 1, 1, 0.0001])
    run = tc.simulate(scenario(targets={"positions": points, "weights": weights}, steps=3))
    data = json.loads(playback.playback_of(run).json)
    there = weights > 0
    assert np.abs(decoded(data)["targets"][0] - points[there]).max() < 0.01  # one without weight is not there
    areas = np.frombuffer(base64.b64decode(data["weights"]), np.uint8)
    np.testing.assert_allclose(areas[:4], 64 * weights[there][:4] / weights[there].mean(), atol=0.5)
    assert 0 < areas[4] < areas[0] / 3


def test_only_policies_that_walk_shortest_are_worked_out():
    settings = {"walk": {}, "reach": {"motion": "reach"}, "own reward": {"beta": 1.0}}
    made = {name: tc.simulate(scenario(control=control, steps=2)) for name, control in settings.items()}
    found = {name: json.loads(playback.playback_of(run).json) for name, run in made.items()}
    assert {name: data["gamma"] for name, data in found.items()} == {"walk": 0.95, "reach": None, "own reward": None}
    assert [data["walks"] for data in found.values()] == [True, False, True]


def test_numbers_are_plain(tmp_path):
    """A field of a hundred kilometres, and errors that are only rounding."""
    near = scenario()
    wide = tc.Scenario(reference=near.reference * 2000, targets=near.targets.positions * 2000)
    run = tc.simulate(wide)
    page = Page(write_report(run, tmp_path / "wide.html"))
    cost = tc.coverage_cost(run.positions[-1], run.targets)
    assert cost > 1e6
    assert f"{float(f'{cost:.3e}'):,.0f}" in page.text
    tables = " ".join(data for tag, data in page.words if tag in ("td", "dd"))
    assert not re.search(r"\de[-+]?\d", tables)


@pytest.mark.parametrize(("shift", "scale"), [(0, 1e-6), (1e6, 1), (-3e5, 1e5)])
def test_far_off_tiny_and_huge_teams_keep_their_precision(shift, scale):
    near = scenario()
    places = near.reference * scale + shift, near.targets.positions * scale + shift
    run = tc.simulate(tc.Scenario(reference=places[0], targets=places[1]))
    made = playback.playback_of(run)
    assert made.precision <= 50 * scale / 65534
    rounding = 4 * np.spacing(abs(shift) + 50 * scale)
    assert np.abs(decoded(json.loads(made.json))["positions"] - run.positions).max() <= made.precision + rounding


def test_cells_after_the_last_step(run, page):
    assert np.array_equal(run.positions[-2], run.positions[-1])
    [data] = page.runs
    np.testing.assert_array_equal(data["cells"][-1], run.states[-1])
    restless = tc.simulate(scenario(vehicle="anywhere", steps=5))
    assert not np.array_equal(restless.positions[-2], restless.positions[-1])
    unknown = decoded(json.loads(playback.playback_of(restless).json))
    np.testing.assert_array_equal(unknown["cells"][:-1], restless.states)
    assert (unknown["cells"][-1] == -3).all()


def test_verdicts_and_facts(run, certificate, page):
    assert run.converged
    assert certificate.holds
    for words in (
        f"settled at step {run.settled_at}, where it should",
        "certificate holds",
        "14 agents in",
        "40 targets",
    ):
        assert words in page.text
    for claim in certificate.claims:
        assert claim.title in page.text
        assert claim.verdict in page.text


def test_a_certificate_that_fails_says_who_and_when(run, certificate, tmp_path):
    fault = Fault(5, 3, 0.25, "m", "landed outside its reach set")
    claims = [
        dataclasses.replace(claim, verdict=FAILS, faults=(fault,)) if claim.key == "C1" else claim
        for claim in certificate
    ]
    broken = dataclasses.replace(certificate, claims=tuple(claims))
    page = Page(write_report(run, tmp_path / "broken.html", broken))
    assert "certificate does not hold" in page.text
    assert "agent 5, step 3: landed outside its reach set (0.25 m)" in page.text


def test_a_run_that_does_not_settle(tmp_path):
    page = Page(write_report(tc.simulate(scenario(steps=2)), tmp_path / "short.html"))
    assert "not settled after 2 steps" in page.text


def test_teams_of_any_kind(tmp_path):
    corners, inside = [[0, 0], [90, 0], [40, 90]], np.random.default_rng(5).uniform(20, 50, (10, 2))
    targets = np.random.default_rng(6).uniform(0, 60, (30, 2))
    few = tc.Scenario(name="no followers", reference=[*corners, [40, 30]], targets=[[10, 10], [20, 20]])
    flying = {"vehicle": "double-integrator", "steps": 20}
    real = tc.Scenario(name="vehicles", reference=[*corners, *inside], targets=targets, **flying)
    fine = tc.Scenario(reference=[*corners, *inside], targets=targets, control={"resolution": 300})
    for made, words in ((few, "no followers"), (real, "double-integrator"), (fine, "90,000 (resolution 300)")):
        run = tc.simulate(made)
        page = Page(write_report(run, tmp_path / "page.html"))
        assert words in page.text
        np.testing.assert_array_equal(page.runs[0]["cells"][:-1], run.states)


def test_coverage_stands_beside_lloyds(run, page):
    living = run.positions[-1]
    assert f"{tc.coverage_cost(living, run.targets):#.4g}" in page.text
    assert f"{tc.lloyd(run.positions[0], run.targets, tolerance=1e-6).cost:#.4g}" in page.text


def test_the_scenario_in_the_page_runs_again(run, page, tmp_path):
    again = tc.simulate(page.scenario(tmp_path))
    np.testing.assert_array_equal(again.positions, run.positions)
    assert "tricover run team.toml -o team.zarr" in page.text
    assert f"tricover {tc.__version__}" in page.text
    assert "pip install . # in a clone of Tricover's repository" in page.text
    assert "positions = [ … 40 rows ]" in page.text
    assert "gamma = 0.95" in page.text


@pytest.mark.parametrize("name", ["</script><b>bold</b>", "</textarea>'\"&<!--<script>", "$title ${x} \\u003c %s"])
def test_any_text_stays_text(name, tmp_path):
    page = Page(write_report(tc.simulate(scenario(name=name, steps=3)), tmp_path / "odd.html"))
    assert page.text.strip().startswith(name)
    assert name in "".join(data for tag, data in page.words if tag == "h1")
    assert not [tag for tag, _ in page.tags if tag == "b"]
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert len(page.runs) == 1
    assert page.scenario(tmp_path).name == name


def test_the_same_run_gives_the_same_bytes(run, certificate, page, tmp_path):
    stored = tc.simulate(scenario(), tmp_path / "run")
    again = write_report(tc.Run.open(tmp_path / "run"), tmp_path / "again.html")
    assert stored.steps == run.steps
    assert again.read_text(encoding="utf-8") == page.source


def test_agents_that_leave_and_join(tmp_path):
    run = tc.simulate(with_events())
    page = Page(write_report(run, tmp_path / "events.html"))
    [data] = page.runs
    assert [epoch["start"] for epoch in data["epochs"]] == [0, 3, 6] == [epoch.start for epoch in run.epochs]
    for epoch, network in zip(data["epochs"], [own.network for own in run.epochs], strict=True):
        count = len(network)
        np.testing.assert_array_equal(epoch["layer"][:count], network.layer)
        np.testing.assert_array_equal(epoch["heard"][:count], network.in_neighbors)
        assert (epoch["layer"][count:] == -2).all()
    assert data["agents"] == 16
    assert "3, from steps 0, 3, 6 on" in page.text
    assert "1 lost" in page.text


def test_targets_that_move_appear_and_vanish(tmp_path):
    points = np.random.default_rng(1).uniform(5, 45, (8, 2))
    active = [[0, 100]] * 6 + [[2, 100], [0, 4]]
    moving = {"positions": points, "active": active, "motion": {"velocity": [0.5, 0.25], "until": 6}}
    run = tc.simulate(scenario(targets=moving, steps=12, stop_when_settled=False))
    [data] = Page(write_report(run, tmp_path / "moving.html")).runs
    assert len(data["targets"]) == 13
    for step in range(13):
        there = [6, 7] if 2 <= step < 4 else [7] if step < 2 else [6]
        assert np.isfinite(data["targets"][step, :6]).all()
        assert np.flatnonzero(np.isfinite(data["targets"][step, :, 0])).tolist() == [*range(6), *there]
        shift = np.array([0.5, 0.25]) * min(step, 6)
        assert np.nanmax(np.abs(data["targets"][step] - (points + shift))) < 0.01


def test_no_targets_left(tmp_path):
    fleeting = {"positions": [[10.0, 10.0], [20.0, 30.0]], "active": [[0, 2], [0, 3]]}
    page = Page(write_report(tc.simulate(scenario(targets=fleeting, steps=9)), tmp_path / "fleeting.html"))
    assert "no targets in the last step" in page.text


def test_long_runs_are_thinned_and_say_so(run, certificate, tmp_path, monkeypatch):
    monkeypatch.setattr(playback, "MOST_ENTRIES", 14 * 5)
    monkeypatch.setattr(playback, "MOST_TARGETS", 20)
    page = Page(write_report(run, tmp_path / "thin.html", certificate))
    [data] = page.runs
    every = data["steps"][1]
    assert data["steps"] == sorted({*range(0, run.steps + 1, every), run.steps})
    assert 14 * len(data["steps"]) <= 14 * 6
    assert np.abs(data["positions"] - run.positions[data["steps"]]).max() < 0.01
    np.testing.assert_array_equal(data["cells"][:-1], run.states[data["steps"][:-1]])
    assert f"every {every}" in page.text
    assert "20 of 40 targets" in page.text
    assert data["targets"].shape == (1, 20, 2)


def test_of_a_huge_team_the_first_layers_are_shown(run, monkeypatch):
    monkeypatch.setattr(playback, "MOST_AGENTS", 9)
    made = playback.playback_of(run)
    data = decoded(json.loads(made.json))
    shown = np.array(data["ids"])
    hidden = np.setdiff1d(np.arange(14), shown)
    assert len(shown) == 9
    assert run.network.layer[shown].max() <= run.network.layer[hidden].min()
    assert np.abs(data["positions"] - run.positions[:, shown]).max() < 0.01
    heard = data["epochs"][0]["heard"].astype(int)
    followers = np.flatnonzero(run.network.layer[shown] > 0)
    np.testing.assert_array_equal(shown[heard[followers]], run.network.in_neighbors[shown[followers]])
    assert "9 of 14 agents" in made.remarks[0]


def test_a_run_that_was_cut_short(tmp_path):
    def stop(progress):
        if progress.step == 4:
            raise KeyboardInterrupt

    run = tc.simulate(scenario(), progress=stop)
    page = Page(write_report(run, tmp_path / "cut.html"))
    assert "interrupted after step 4" in page.text
    assert "4 of at most 100 steps were kept" in page.text
    [data] = page.runs
    assert data["steps"] == [0, 1, 2, 3, 4]


def test_a_run_without_steps(tmp_path):
    page = Page(write_report(tc.simulate(scenario(steps=0)), tmp_path / "none.html"))
    [data] = page.runs
    assert data["steps"] == [0]


def test_what_only_python_can_hold_is_said(tmp_path):
    def middle(network):
        return lambda agents, triangles, targets: triangles.mean(axis=1)

    page = Page(write_report(tc.simulate(scenario(control={"goal": middle}, steps=4)), tmp_path / "own.html"))
    assert "a function (middle) of a script or notebook cannot be written down" in page.text
    assert "cannot be made again" in page.text


def test_whole_or_not_at_all(run, certificate, tmp_path):
    with pytest.raises(tc.TricoverError, match="cannot write"):
        write_report(run, tmp_path / "nowhere" / "team.html", certificate)
    assert list(tmp_path.iterdir()) == []


def test_in_a_launch_nobody_listens(tmp_path):
    """The playback has no links until the network is used."""
    run = tc.simulate(tc.Scenario.load(Path(__file__).parents[2] / "examples" / "from-pads.toml"))
    write_report(run, tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    [data] = page.runs
    before, after = data["epochs"]
    assert (before["start"], after["start"]) == (0, run.mission.launch)
    assert (np.asarray(before["heard"]) == -1).all()
    np.testing.assert_array_equal(after["heard"], run.network.in_neighbors)
    np.testing.assert_array_equal(before["layer"], after["layer"])
    assert "16 steps from the pads to the reference positions" in page.text


def test_a_run_that_ends_in_its_launch(tmp_path):
    made = tc.Scenario.load(Path(__file__).parents[2] / "examples" / "from-pads.toml")
    write_report(tc.simulate(Mission.of(made.replace(steps=3))), tmp_path / "page.html")
    assert "There is no step after the launch of 16 steps" in Page(tmp_path / "page.html").text


@pytest.mark.parametrize(
    ("settings", "facts", "captions"),
    [
        (
            {"world": {"delay": [0, 2], "loss": 0.2}},
            ["delay (0, 2), loss 0.2; the oldest acted on was"],
            ["How old what agents had heard was, step by step.", "Which links were late or not heard at the end."],
        ),
        (
            {"world": {"sight": 0.2, "summary": 8}},
            ["0.2 m; ", "numbers sent per agent and step"],
            ["What agent {agent} knows of the targets in its triangle."],
        ),
        (
            {"control": {"motion": "walk", "resolution": 6, "kernel": "learned"}},
            ["each agent learns how they end"],
            [
                "Where the moves of agent {agent} end, as it has learned.",
                "How that changed the policy of agent {agent}.",
            ],
        ),
    ],
)
def test_what_not_every_run_has_is_in_its_report(settings, facts, captions, tmp_path):
    """Late messages, agents that see only so far or learn: facts and figures, and none of another kind of run."""
    given = scenario().replace(**settings)
    other = tc.simulate(Mission.of(given))
    write_report(other, tmp_path / "other.html")
    page = Page(tmp_path / "other.html")
    assert all(fact in page.source for fact in facts)
    agent = findings_of(other).agent
    assert all(caption.format(agent=agent) in page.source for caption in captions)
    assert ("How old what agents had heard" in page.source) == ("delay" in settings.get("world", {}))
    assert ("The entries of the first Γ" in page.source) == ("delay" not in settings.get("world", {}))
