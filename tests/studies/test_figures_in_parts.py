"""Separation, coverage and certificate of a run in parts, beside those of the same run as a whole."""

import json
import shutil
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tricover.certificates import NOT_APPLICABLE
from tricover.coverage.metrics import measure_coverage
from tricover.formats import writing
from tricover.simulation.groups import read_group, write_group
from tricover.simulation.parts_reader import PartsReader
from tricover.studies import certify_parts, coverage, coverage_of_parts, separation_of_parts, simulate_parts, tiles
from tricover.studies.boxes import box_around, farthest, gaps, near

EVENTS = {
    "leave": [{"step": 4, "agents": [17, 200]}, {"step": 6, "agents": [33]}],
    "join": [{"step": 6, "reference": [[50.0, 50.0], [20.0, 33.0]]}],
}
EXACT, ANYWHERE, GUSTY = {"kind": "exact"}, {"kind": "anywhere"}, {"kind": "gusty", "gust": [9.0, 3.0], "chance": 0.2}
CASES = {
    "balanced reach": ("balanced", "reach", EXACT, {}),
    "fermat walk": ("fermat", "walk", EXACT, {}),
    "balanced anywhere": ("balanced", "walk", ANYWHERE, {"steps": 30}),
    "fermat events, moving": ("fermat", "reach", EXACT, {"events": EVENTS, "moving": True}),
    "balanced walk, agents join": ("balanced", "walk", EXACT, {"events": {"join": EVENTS["join"]}}),
    "gusty moving": ("balanced", "walk", GUSTY, {"moving": True, "steps": 25}),
    "weights, given anchors": ("balanced", "reach", EXACT, {"weights": True, "anchors": True, "events": EVENTS}),
    "cut short": ("fermat", "walk", EXACT, {"steps": 4}),
}


def scenario_of(mentee, motion, vehicle, more, agents=240, seed=5):
    rng = np.random.default_rng(seed)
    team, points = rng.random((agents, 2)) * 100, rng.random((2 * agents, 2)) ** 2 * 100
    weights = rng.integers(0, 3, len(points)).astype(float) if more.get("weights") else None
    ways = np.stack([points + 0.4 * step for step in range(6)]) if more.get("moving") else points
    given = {name: more[name] for name in ("events",) if name in more}
    if more.get("anchors"):
        count = len(tc.build_network(team, mentee).anchors)
        start = team[tc.build_network(team, mentee).anchors]
        given["anchors"] = {"paths": [(start + step * np.ones((count, 2))).tolist() for step in range(4)]}
    return tc.Scenario(
        reference=team,
        targets=tc.Targets(ways, weights),
        network={"mentee": mentee},
        control={"motion": motion, "resolution": 4},
        vehicle=vehicle,
        steps=more.get("steps", 60),
        seed=seed,
        **given,
    )


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_disks():
    """Whether files outlive a power cut is not the question here. Targets come in small blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "BLOCK", 50)
        patch.setattr(tiles, "TILE", 90)
        patch.setattr(coverage, "BLOCK", 50)
        patch.setattr(writing, "sync", lambda path: None)
        patch.setattr(writing, "sync_folder", lambda path: None)
        yield


@pytest.fixture(scope="module", params=CASES)
def run(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("runs") / "run"
    return simulate_parts(scenario_of(*CASES[request.param]), place, agents_per_part=60)


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs") / "run"
    return simulate_parts(scenario_of(*CASES["fermat walk"]), place, agents_per_part=60)


def found(separation):
    return separation.distance, separation.step, separation.share, separation.agents


def test_the_separation_is_that_of_the_whole_to_the_bit(run):
    assert len(run.record.names(0)) > 3
    assert found(separation_of_parts(run)) == found(run.separation)


def test_coverage_is_that_of_the_whole(run):
    there = run.present[-1]
    whole = measure_coverage(run.positions[-1][there], run.targets)
    parts = coverage_of_parts(run)
    assert parts.cost == pytest.approx(whole.cost, rel=1e-12, abs=0)
    assert parts.mean == pytest.approx(whole.mean, rel=1e-12, abs=0)
    assert parts.largest == pytest.approx(whole.largest, rel=1e-12, abs=0)
    if there.all():
        assert parts.idle == measure_coverage(run.positions[-1], run.targets, network=run.network).idle


EQUAL = {
    "structure": ("depth", "messages_per_step", "faults"),
    "theorem1": ("rows", "smallest_weight", "flat", "faults", "worst", "reasons"),
    "C1": ("margin", "smallest_margin", "faults", "worst", "reasons"),
    "anchors": ("faults", "worst", "arrived"),
    "finite-time": ("depth", "norm"),
    "theorem3": ("settled", "bound"),
    "evidence": ("landings", "steps", "duration"),
}


def test_the_certificate_says_what_that_of_the_whole_says(run):
    parts, whole = certify_parts(run), tc.certify(run)
    assert parts.holds == whole.holds
    for claim in whole:
        ours = parts[claim.key]
        assert ours.verdict in (claim.verdict, NOT_APPLICABLE)
        if claim.key not in ("containment", "neighbourhood"):
            assert ours.verdict == claim.verdict
        for figure in EQUAL.get(claim.key, ()):
            assert ours.figures.get(figure) == claim.figures.get(figure), (claim.key, figure)
    shapes = [[(each.index, each.agents, each.bound) for each in one.layers] for one in (parts, whole)]
    assert shapes[0] == shapes[1]


def test_a_team_that_settles_on_points_has_all_claims_of_the_whole(still):
    parts, whole = certify_parts(still), tc.certify(still)
    assert {claim.key: claim.verdict for claim in whole}.items() <= {one.key: one.verdict for one in parts}.items()
    settled = [[(each.settled, each.radius) for each in one.layers] for one in (parts, whole)]
    assert settled[0] == settled[1]


def test_a_team_that_lands_anywhere_has_radii_that_hold(tmp_path):
    run = simulate_parts(scenario_of("balanced", "walk", ANYWHERE, {"steps": 45}), tmp_path / "run", agents_per_part=60)
    parts = certify_parts(run)
    assert parts["neighbourhood"].verdict == "holds"
    assert parts["containment"].verdict == NOT_APPLICABLE
    assert parts["neighbourhood"].figures["largest_distance"] <= parts["neighbourhood"].figures["largest_radius"]


def test_the_share_of_anchors_is_at_least_what_the_parts_say(run):
    figures = certify_parts(run)["C2"].figures
    if figures:
        whole = tc.certify(run, window=int(figures["window"]))["C2"].figures["best_eta_for_window"]
        assert figures["eta"] > 0
        assert not whole < figures["eta"] - 1e-12  # it is no number where no network lasts that long


# --- forged runs -----------------------------------------------------------------------------------------------


def forged(run, folder, group, name, change):
    """A copy of a run in which an array of a group is another, with checksums to match."""
    place = folder / "forged"
    shutil.copytree(run.record.path, place)
    arrays = read_group(place / group)
    attributes = json.loads((place / group / "zarr.json").read_text())["attributes"]
    kept = {key: value for key, value in attributes.items() if key not in ("checksums", "seal")}
    values = arrays[name].copy()
    change(values)
    shutil.rmtree(place / group)
    write_group(place / group, {**arrays, name: values}, kept)
    return tc.Run.open(place)


@pytest.mark.parametrize("step", [1, -1])
def test_a_position_that_was_tampered_with_is_found(still, tmp_path, step):
    part = still.record.names(0)[2]
    agent = int(still.record.part(0, part).numbers[3])

    def change(ways):
        ways[step, 3] += 1000.0

    run = forged(still, tmp_path, f"stages/0/{part}", "positions", change)
    certificate = certify_parts(run)
    assert not certificate.holds
    assert certificate["theorem1"].verdict == "fails"
    assert certificate["theorem1"].faults[0].agent == agent
    assert certificate["theorem1"].faults == tc.certify(run)["theorem1"].faults
    assert separation_of_parts(run).distance == run.separation.distance


def test_an_agent_of_the_top_that_was_tampered_with_is_found(still, tmp_path):
    row = int(np.flatnonzero(still.record.tops[0].layer > 0)[0])

    def change(ways):
        ways[2, row] += 500.0

    run = forged(still, tmp_path, "stages/0/top", "positions", change)
    assert int(still.record.tops[0].numbers[row]) in [each.agent for each in certify_parts(run)["theorem1"].faults]


def test_an_agent_in_the_wrong_layer_is_found(still, tmp_path):
    part = still.record.names(0)[1]
    run = forged(still, tmp_path, f"epochs/0/{part}", "layer", lambda layers: layers.fill(1))
    certificate = certify_parts(run)
    assert certificate["structure"].verdict == "fails"
    assert {each.agent for each in certificate["structure"].faults} <= set(still.record.part(0, part).numbers.tolist())


def test_an_agent_that_is_in_no_part_is_missed(still, tmp_path):
    place = tmp_path / "forged"
    shutil.copytree(still.record.path, place)
    document = json.loads((place / "zarr.json").read_text())
    from tricover.simulation.checksums import seal_of

    document["attributes"]["epochs"][0]["parts"].pop()
    document["attributes"]["seal"] = seal_of(document)
    (place / "zarr.json").write_text(json.dumps(document))
    assert certify_parts(tc.Run.open(place))["parts"].verdict == "fails"


def test_a_layer_that_settles_late_is_found(still):
    from tricover.studies.certificate import _on_time

    certificate = certify_parts(still)
    late = [replace(each, bound=(each.settled or 0) - 1) for each in certificate.layers]
    assert _on_time(certificate["theorem3"], late).verdict == "fails"


# --- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ask", [separation_of_parts, coverage_of_parts, certify_parts])
def test_a_run_in_one_piece_is_refused(ask):
    run = tc.simulate(scenario_of("balanced", "reach", EXACT, {}, agents=30))
    with pytest.raises(tc.TricoverError, match="no run in parts"):
        ask(run)


@pytest.mark.parametrize("ask", [separation_of_parts, coverage_of_parts, certify_parts])
def test_a_run_that_was_cut_short_is_refused(ask, still):
    reader = PartsReader(still.record.path)
    reader.attributes["finished"] = False
    with pytest.raises(tc.TricoverError, match="cut short"):
        ask(replace(still, record=reader))


def test_a_part_that_listens_to_another_part_is_refused(still, tmp_path):
    names = still.record.names(0)
    stranger = int(still.record.part(0, names[2]).numbers[0])

    def change(corners):
        corners[0] = stranger

    run = forged(still, tmp_path, f"epochs/0/{names[1]}", "corners", change)
    with pytest.raises(tc.TricoverError, match="damaged"):
        certify_parts(run)


# --- small teams, by trying everything ---------------------------------------------------------------------------


@settings(max_examples=5)
@given(st.integers(8, 40), st.integers(1, 12), st.integers(0, 10_000), st.sampled_from(["balanced", "fermat"]))
def test_small_teams_by_brute_force(tmp_path_factory, agents, most, seed, mentee):
    rng = np.random.default_rng(seed)
    team = rng.choice(400, agents, replace=False)
    team = np.stack([team // 20, team % 20], axis=1) + 0.3 * rng.random((agents, 2))  # some as close as others
    targets = rng.integers(0, 20, (15, 2)).astype(float)
    scenario = tc.Scenario(reference=team, targets=targets, network={"mentee": mentee}, steps=20)
    run = simulate_parts(scenario, tmp_path_factory.mktemp("small") / "run", agents_per_part=most)
    assert found(separation_of_parts(run)) == found(run.separation)
    ends = run.positions[-1]
    squares = [min(float(((agent - target) ** 2).sum()) for agent in ends) for target in targets]
    assert coverage_of_parts(run).cost == pytest.approx(np.mean(squares), rel=1e-12)
    least = min(
        np.linalg.norm(step[first] - step[second])
        for step in run.positions
        for first, second in combinations(range(agents), 2)
    )
    assert separation_of_parts(run).distance <= least
    assert certify_parts(run).holds == tc.certify(run).holds


@settings(max_examples=60)
@given(st.integers(0, 10_000))
def test_boxes_bound_distances(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(6, 2)) * 3, rng.normal(size=(5, 2)) + rng.integers(-5, 6, 2)
    apart = np.linalg.norm(first[:, None] - second, axis=2)
    box, other = box_around(first), box_around(second)[None]
    assert gaps(box, other)[0] <= apart.min() + 1e-12
    assert farthest(box, other)[0] >= apart.max() - 1e-12
    assert near(box, other, float(apart.min()))[0]
    assert not near(box, other + 100.0, 1.0)[0]
