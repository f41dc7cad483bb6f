"""The claim that nobody was in a zone, and tests that break just it; and what zones mean for other claims."""

import json
from itertools import pairwise

import numpy as np
import pytest
import shapely
from typer.testing import CliRunner

import tricover as tc
from tests.safety.fields import scenario
from tricover.certificates import Settings, log_of, log_of_run
from tricover.cli.main import app
from tricover.formats import Projection

TEAM = np.array([[0.0, 0], [12, 0], [12, 12], [0, 12], [6, 6], [2, 6], [6, 2]])
ZONE = np.array([[3.0, 3], [4, 3], [4, 4], [3, 4]])
NETWORK = tc.build_network(TEAM, core=4)


def log(positions, zones=(ZONE,), **settings):
    return log_of(positions, NETWORK, settings=Settings(zones=zones, **settings))


def flight(*places):
    """Agent 5 at these places, step by step; all others stand."""
    positions = np.repeat(TEAM[None], len(places), axis=0)
    positions[:, 5] = places
    return positions


def test_without_zones_there_is_no_such_claim():
    plain = tc.certify(log(flight([2, 6], [2, 5]), None))
    assert "zones" not in [claim.key for claim in plain]
    assert [c.key for c in tc.certify(log(flight([2, 6], [2, 5])))] == [*(c.key for c in plain), "zones"]


def test_it_holds_with_the_least_distance_that_shapely_finds():
    places = [[2, 6], [2.5, 4.5], [2.2, 3.1], [3.5, 2.5], [4.5, 2.9]]
    claim = tc.certify(log(flight(*places)))["zones"]
    apart = [shapely.Polygon(ZONE).distance(shapely.LineString(way)) for way in pairwise(places)]
    assert claim.verdict == "holds"
    assert claim.figures["least_distance"] == pytest.approx(min(apart), rel=1e-12)
    assert claim.figures["nearest_agent"] == 5
    assert claim.figures["nearest_step"] == int(np.argmin(apart))
    assert claim.figures["nearest_zone"] == 0
    assert claim.figures["ways"] == 4 * len(TEAM)
    assert f"{min(apart):.3g} m (agent 5, step {np.argmin(apart)}, zone 0)" in claim.summary


@pytest.mark.parametrize(
    ("places", "step", "length"),
    [
        ([[2, 6], [2, 3.5], [5, 3.5]], 1, 1.0),  # through it, with both ends outside
        ([[2, 6], [3.5, 5], [3.5, 3.5]], 1, 0.5),  # into it
        ([[2, 6], [2, 4], [5, 4]], 1, 1.0),  # along its edge
        ([[2, 6], [2, 5], [4, 3]], 1, 0.0),  # only its corner would be touched at (3, 4), and then it goes in
        ([[2, 6], [2, 3], [4, 5]], 1, 0.0),  # only its corner
    ],
)
def test_a_way_that_meets_a_zone_breaks_just_this_claim(places, step, length):
    certificate = tc.certify(log(flight(*places)))
    claim = certificate["zones"]
    inside = shapely.Polygon(ZONE).intersection(shapely.LineString(places[step : step + 2])).length
    assert claim.verdict == "fails"
    assert not certificate.holds
    assert claim.faults[0].agent == 5
    assert claim.faults[0].step == step
    assert claim.faults[0].amount == pytest.approx(inside, abs=1e-12)
    assert claim.faults[0].reason == "met zone 0"
    assert inside == pytest.approx(length or inside)
    apart = log(flight(*places), (ZONE + np.array([0.0, 50.0]),))
    assert [c.verdict for c in tc.certify(apart) if c.key != "zones"] == [
        c.verdict for c in certificate if c.key != "zones"
    ]
    assert tc.certify(apart)["zones"].verdict == "holds"


def test_one_who_stands_in_a_zone_is_a_fault_at_every_step():
    claim = tc.certify(log(flight([3.5, 3.5], [3.5, 3.5], [3.5, 3.5])))["zones"]
    assert claim.figures["faults"] == 2
    assert claim.figures["least_distance"] == 0


def test_anchors_count_and_the_lost_do_not():
    positions = flight([2, 6], [2, 6])
    positions[:, 4] = [3.5, 3.5]
    assert tc.certify(log(positions))["zones"].faults[0].agent == 4
    network = NETWORK.without([5])
    there = flight([3.5, 3.5], [3.5, 3.5])
    claim = tc.certify(log_of(there, network, settings=Settings(zones=(ZONE,))))["zones"]
    assert claim.verdict == "holds"
    assert claim.figures["ways"] == len(TEAM) - 1


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
@pytest.mark.parametrize("seed", range(8))
def test_runs_around_zones_keep_what_the_other_claims_say(seed, vehicle):
    """C1 with agents that hold or go to a free cell, convergence within M² steps a layer, radii."""
    made = scenario(np.random.default_rng([seed, 17]), vehicle, 1500 if vehicle == "exact" else 30)
    run = tc.simulate(made)
    certificate = tc.certify(run)
    assert certificate["zones"].verdict == "holds"
    assert certificate["C1"].verdict == "holds"
    for key in ("theorem3", "neighbourhood"):
        assert certificate[key].verdict != "fails"
    if vehicle == "exact":
        bound = certificate["theorem3"].figures["bound"]
        assert bound == made.control.resolution**2 * run.network.depth
        assert certificate["theorem3"].figures["settled"] <= bound
    held = [one.agent for one in run.cut_off if one.holds]
    outside = certificate["theorem1"].figures["faults"]
    assert outside == 0 or held or vehicle == "anywhere"
    before = tc.certify(made)
    assert before["theorem3"].figures["bound"] == made.control.resolution**2 * run.network.depth
    json.loads(certificate.to_json())


def test_c1_is_not_loosened_for_those_in_a_free_cell():
    """One that stands in a free cell and jumps over three others is a fault, zone near or not."""
    made = tc.Scenario(
        reference=TEAM,
        targets=[[1, 6], [6, 1]],
        network={"core": 4},
        control={"motion": "walk", "resolution": 8},
        safety={"zones": [ZONE]},
        steps=40,
    )
    run = tc.simulate(made)
    assert tc.certify(run)["C1"].verdict == "holds"
    positions = run.positions.copy()
    positions[2:, 5] = [1.0, 9.0]
    forged = log_of(positions, run.network, settings=log_of_run(run).settings)
    claim = tc.certify(forged)["C1"]
    assert claim.verdict == "fails"
    assert (claim.faults[0].agent, claim.faults[0].step) == (5, 1)


def test_radii_are_claimed_near_zones_only_where_the_triangle_stands():
    reference = np.random.default_rng(0).random((40, 2)) * 100
    control = {"motion": "walk", "resolution": 8, "goal": "reference"}
    plain = tc.Scenario(reference=reference, targets=[[50, 50]], control=control, vehicle="anywhere", steps=20)
    network = tc.build_network(reference)
    middle = reference[network.layers[1][0]]
    zone = middle + np.array([[3.0, 3], [5, 3], [4, 5]])
    if tc.geometry.as_zones([zone]).holding(reference).max() >= 0:
        raise AssertionError("choose another zone")
    found = tc.certify(tc.simulate(plain.replace(safety={"zones": [zone]}))).neighbourhood
    usual = tc.certify(tc.simulate(plain)).neighbourhood
    assert np.isinf(found.radii).any()
    assert not np.isinf(usual.radii).any()
    assert not found.proper[np.isinf(found.radii)].any()
    first = network.layers[1]
    assert np.isfinite(found.radii[first]).all()  # anchors stand, so these triangles do

    heard = np.isinf(found.radii[network.in_neighbors[network.followers]]).any(axis=1)
    assert heard.any()
    assert np.isinf(found.radii[network.followers[heard]]).all()  # nothing is known of those below, either


def test_one_that_holds_stays():
    """At resolution 1 a zone anywhere in the triangle forbids its only cell."""
    made = tc.Scenario(
        reference=TEAM,
        targets=[[1, 6], [6, 1]],
        network={"core": 4},
        control={"motion": "walk", "resolution": 1},
        vehicle="anywhere",
        safety={"zones": [np.array([[1.0, 3], [1.2, 3], [1, 3.2]])]},
        steps=20,
    )
    run = tc.simulate(made)
    assert run.cut_off == [(5, 0, True)]
    assert (run.positions[:, 5] == TEAM[5]).all()
    certificate = tc.certify(run)
    assert certificate.neighbourhood.radii[5] == 0
    assert certificate.neighbourhood.proper[5]
    assert certificate["neighbourhood"].verdict == "holds"


def test_the_command_reads_zones_for_a_log(tmp_path):
    plane = Projection(7.2, 51.5)
    ring = plane.to_degrees(np.append(ZONE, ZONE[:1], axis=0)).tolist()
    (tmp_path / "zones.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    (tmp_path / "network.json").write_text(NETWORK.to_json())
    for name, places in (("good", [[2, 6], [2, 5]]), ("bad", [[2, 3.5], [5, 3.5]])):
        rows = [
            f"{t},{i},{x!r},{y!r}"
            for t, moment in enumerate(flight(*places).tolist())
            for i, (x, y) in enumerate(moment)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["time,agent,x,y", *rows]))

    def certify(name, *more):
        words = ["certify", tmp_path / name, "--network", tmp_path / "network.json", *more]
        return CliRunner().invoke(app, list(map(str, words)))

    zones = ("--zones", tmp_path / "zones.geojson")
    good = certify("good.csv", *zones, "--origin", "7.2,51.5")
    assert "Nobody came nearer" in " ".join(good.stdout.split())
    assert good.exit_code == 0
    bad = certify("bad.csv", *zones, "--origin", "7.2,51.5", "--json")
    assert bad.exit_code == 1
    assert [c["verdict"] for c in json.loads(bad.stdout)["claims"] if c["key"] == "zones"] == ["fails"]
    for more, words in [
        (zones, "give --origin LON,LAT"),
        (("--origin", "7.2,51.5"), "--origin goes with --zones"),
    ]:
        refused = certify("good.csv", *more)
        assert isinstance(refused.exception, tc.TricoverError)
        assert words in str(refused.exception)
    tc.Scenario(reference=TEAM, targets=[[1, 1]]).save(tmp_path / "team.toml")
    words = ["certify", str(tmp_path / "team.toml"), *map(str, zones), "--origin", "7.2,51.5"]
    assert "belongs to a log" in str(CliRunner().invoke(app, words).exception)
