"""Runs with phases: when epochs begin and why, that the hold holds, and that such a run is one like any other."""

import re
from itertools import pairwise

import numpy as np
import pytest
import shapely

import tricover as tc
from tests.simulation.stores import stop_at
from tests.simulation.test_store import assert_same
from tricover.errors import InputError
from tricover.goals.cellplan import EVERYBODY, KINDS
from tricover.simulation import Mission

PLAN = {"goal": "cellplan"}
ZONE = [[0.42, 0.42], [0.5, 0.42], [0.5, 0.5], [0.42, 0.5]]


def a_team(agents=30, seed=0):
    return np.random.default_rng(seed).random((agents, 2))


def a_field(count=300, seed=0):
    return np.random.default_rng(seed + 50).random((count, 2))


def planned(**settings):
    given = {"reference": a_team(), "targets": a_field(), "control": PLAN, "steps": 90} | settings
    if "formation" in given:
        del given["reference"]
    return tc.Scenario(**given)


def jumping(at=25, **control):
    """Half of the targets are elsewhere from a step on."""
    here = a_field()
    there = np.where((np.arange(300) < 150)[:, None], here + np.array([3.0, 0.0]), here)
    targets = {"positions": here, "motion": {"paths": np.stack([here] * at + [there])}}
    return planned(targets=targets, control=PLAN | control, steps=120)


def phases(run):
    return [(epoch.start, epoch.told.goal) for epoch in run.epochs]


def cost(positions, points):
    return float(((points[:, None] - positions) ** 2).sum(axis=2).min(axis=1).mean())


@pytest.mark.parametrize(("agents", "seed"), [(12, 0), (30, 1), (57, 2), (120, 3), (250, 4)])
def test_phases_begin_where_they_are_documented_to(agents, seed):
    """A plan settles in depth + 2 steps, is reported up the layers, is polished, and comes to rest layer by layer."""
    given = planned(reference=a_team(agents, seed), targets=a_field(4 * agents, seed))
    run = tc.simulate(given)
    (plan, base), (begin, polish), (end, hold) = phases(run)
    assert (base, polish, hold) == ("reference", "voronoi", "reference")
    depth = run.network.depth
    steps = min(max(600 // agents, 3), 20)
    assert (plan, begin, end) == (0, 2 * depth + 2, 2 * depth + 2 + steps + depth)
    assert [epoch.told.until for epoch in run.epochs] == [None, begin + steps, None]
    assert [epoch.told.free for epoch in run.epochs] == [False, True, False]
    assert run.converged
    assert run.settled_at <= end + depth + 1
    # Networks differ in the places alone.
    for before, after in pairwise(epoch.network for epoch in run.epochs):
        np.testing.assert_array_equal(before.in_neighbors, after.in_neighbors)
        np.testing.assert_array_equal(before.boundary, after.boundary)
    np.testing.assert_array_equal(run.epochs[0].network.reference, run.epochs[1].network.reference)


@pytest.mark.parametrize("seed", range(4))
def test_the_plan_is_reached_and_the_hold_changes_nothing(seed):
    run = tc.simulate(planned(reference=a_team(40, seed), targets=a_field(400, seed)))
    plan, polish, hold = run.epochs
    np.testing.assert_allclose(run.positions[polish.start], plan.network.reference, atol=1e-12)
    np.testing.assert_array_equal(run.positions[hold.start], hold.network.reference)
    for positions in run.positions[hold.start :]:
        np.testing.assert_allclose(positions, run.positions[hold.start], atol=1e-9)
    np.testing.assert_allclose(run.desired, run.positions[-1], atol=1e-9)
    assert cost(run.positions[-1], a_field(400, seed)) <= 1.25 * tc.lloyd(a_team(40, seed), a_field(400, seed)).cost
    assert cost(run.positions[-1], a_field(400, seed)) <= cost(plan.network.reference, a_field(400, seed))


def test_each_polishing_step_is_lloyds_within_the_triangle():
    """Anchors at the centroids of their cells, followers as close to theirs as the inset triangle allows: shapely."""
    targets = a_field()
    run = tc.simulate(planned(control=PLAN | {"polish": 4}))
    _, polish, _ = run.epochs
    network, rest = polish.network, polish.told.rest
    for step in range(polish.start, polish.start + 4):
        here, there = run.positions[step], run.positions[step + 1]
        owners = ((targets[:, None] - here) ** 2).sum(axis=2).argmin(axis=1)
        for agent in range(30):
            own = targets[owners == agent]
            centroid = own.mean(axis=0) if len(own) else here[agent]
            if network.layer[agent] == 0:
                expected = centroid if np.hypot(*(centroid - here[agent])) >= rest else here[agent]
                np.testing.assert_allclose(there[agent], expected, atol=1e-12)
                continue
            corners = here[network.in_neighbors[agent]]
            inset = shapely.Polygon(corners.mean(axis=0) + 0.97 * (corners - corners.mean(axis=0)))
            closest = inset.distance(shapely.Point(centroid))
            assert np.hypot(*(there[agent] - centroid)) == pytest.approx(closest, abs=rest + 1e-12)
            assert shapely.Polygon(corners).distance(shapely.Point(there[agent])) < 1e-12


def test_from_when_it_ends_on_each_layer_rests_one_step_after_the_one_above():
    run = tc.simulate(planned())
    polish = run.epochs[1]
    for layer, agents in enumerate(run.network.layers):
        rests = run.positions[polish.told.until + layer :, agents]
        np.testing.assert_allclose(rests, np.broadcast_to(rests[0], rests.shape), atol=1e-9)


def test_the_polish_can_be_longer_or_left_out():
    short = tc.simulate(planned(control=PLAN | {"polish": 0}))
    assert phases(short) == [(0, "reference")]
    assert short.converged
    assert short.settled_at <= short.network.depth + 2
    long = tc.simulate(planned(control=PLAN | {"polish": 33}, steps=100))
    assert long.epochs[1].told.until - long.epochs[1].start == 33
    np.testing.assert_array_equal(long.epochs[0].network.reference, short.epochs[0].network.reference)


@pytest.mark.parametrize("goal", ["centroid", "predictive"])
def test_other_goals_can_be_polished_too(goal):
    targets = a_field()
    plain = tc.simulate(planned(control={"goal": goal}))
    assert len(plain.epochs) == 1
    run = tc.simulate(planned(control={"goal": goal, "polish": 15}))
    assert [name for _, name in phases(run)] == [goal, "voronoi", "reference"]
    depth = run.network.depth
    begin = run.epochs[1].start
    np.testing.assert_array_equal(run.positions[begin], plain.positions[-1])
    assert run.epochs[1].told.until == begin + 15
    assert run.epochs[2].start == begin + 15 + depth
    assert cost(run.positions[-1], targets) < cost(plain.positions[-1], targets)


def test_what_is_said_is_kept_with_the_epoch_that_it_is_for():
    run = tc.simulate(planned())
    plan, polish, hold = run.epochs
    assert set(plan.messages.kinds) <= {KINDS.index(kind) for kind in ("summary", "frame", "position", "place")}
    assert set(polish.messages.kinds) == {KINDS.index("arrived"), KINDS.index("phase")}
    assert polish.messages.total == len(run.network.followers) + 1
    assert polish.messages.receivers[-1] == EVERYBODY
    assert hold.messages is None


@pytest.mark.parametrize("step", [3, 8, 20, 29])
def test_an_interrupted_run_goes_on_to_the_same_bits(tmp_path, step):
    given = planned()
    whole = tc.simulate(given)
    part = tc.simulate(given, tmp_path / "run.zarr", progress=stop_at(step))
    assert part.interrupted
    again = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    assert_same(whole, again)


def test_a_stored_run_is_the_run_in_memory(tmp_path):
    given = jumping().replace(events={"leave": [{"step": 70, "agents": [4]}]})
    run = tc.simulate(given)
    tc.simulate(given, tmp_path / "run.zarr")
    opened = tc.Run.open(tmp_path / "run.zarr")
    assert_same(run, opened)
    assert opened.scenario == given
    assert len(opened.epochs) == len(run.epochs)
    for one, other in zip(run.epochs, opened.epochs, strict=True):
        assert (one.start, one.told.goal, one.told.free, one.told.until) == (
            other.start,
            other.told.goal,
            other.told.free,
            other.told.until,
        )
        np.testing.assert_array_equal(one.network.reference, other.network.reference)
        np.testing.assert_array_equal(one.network.in_neighbors, other.network.in_neighbors)
        np.testing.assert_array_equal(one.network.boundary, other.network.boundary)
        np.testing.assert_array_equal(one.told.paths, other.told.paths)
        assert (one.messages is None) == (other.messages is None)
        if one.messages is not None:
            for before, after in zip(one.messages, other.messages, strict=True):
                np.testing.assert_array_equal(before, after)


def test_a_mission_can_be_written_down_and_flown_elsewhere():
    mission = Mission.of(jumping())
    again = Mission.from_json(mission.to_json())
    assert [epoch.start for epoch in again.epochs] == [epoch.start for epoch in mission.epochs]
    for one, other in zip(mission.epochs, again.epochs, strict=True):
        assert one.network == other.network
        assert (one.told.goal, one.told.free, one.told.until) == (other.told.goal, other.told.free, other.told.until)
    np.testing.assert_array_equal(tc.simulate(again).positions, tc.simulate(mission).positions)


@pytest.mark.parametrize(
    "control",
    [
        {"polish": 7, "range": 0.25, "replan": {"cost": 1.5}},
        {"polish": {"voronoi": 7}, "replan": 12},
        {"polish": 0, "replan": "never"},
        {},
    ],
)
def test_a_scenario_is_the_same_after_a_trip_through_a_file(tmp_path, control):
    given = planned(control=PLAN | control)
    given.save(tmp_path / "given.toml")
    again = tc.Scenario.load(tmp_path / "given.toml")
    assert again == given
    for key, value in control.items():
        expected = {"voronoi": value} if key == "polish" and isinstance(value, int) else value
        assert getattr(again.control, key) == expected
    np.testing.assert_array_equal(tc.simulate(again).positions, tc.simulate(given).positions)


def test_after_a_jump_of_half_of_the_targets_a_new_plan_covers_as_well_as_lloyds():
    given = jumping(at=25)
    run = tc.simulate(given)
    names = [name for _, name in phases(run)]
    assert names == ["reference", "voronoi", "reference", "voronoi", "reference"]
    depth = run.epochs[1].network.depth
    # The cost is known to the core ``depth`` steps after it has risen.
    assert run.epochs[2].start == 25 + depth
    assert run.epochs[2].messages is not None
    after = np.asarray(Mission.of(given).targets_at(25).points)
    lloyds = tc.lloyd(run.positions[25], after).cost
    assert cost(run.positions[-1], after) <= 1.25 * lloyds
    assert cost(run.positions[-1], after) < 0.7 * cost(run.positions[25], after)
    assert run.converged


def test_a_jump_that_costs_less_than_the_ratio_makes_no_new_plan():
    never = tc.simulate(jumping(replan="never"))
    assert [name for _, name in phases(never)] == ["reference", "voronoi", "reference"]
    assert phases(tc.simulate(jumping(replan={"cost": 1e6}))) == phases(never)
    # The polish goes on until the targets have been still for as many steps as it takes.
    begin, until = never.epochs[1].start, never.epochs[1].told.until
    assert until == 25 + 600 // 30
    assert begin < 25


def test_a_plan_is_made_anew_where_the_cost_exceeds_the_least_since_the_last():
    """A ratio between those to the plan's cost and to the polished team's, which is less: the least one counts."""
    given = jumping(replan="never")
    never = tc.simulate(given)
    before, after = (Mission.of(given).targets_at(step).points for step in (24, 25))
    promised = cost(never.epochs[0].network.reference, before)
    least = min(cost(never.positions[step], before) for step in range(never.epochs[1].start, 25))
    jumped = cost(never.positions[25], after)
    assert least < 0.98 * promised
    for ratio, plans in ((jumped / np.sqrt(least * promised), 2), (1.01 * jumped / least, 1)):
        run = tc.simulate(jumping(replan={"cost": float(ratio)}))
        assert sum(epoch.messages is not None and epoch.told.goal == "reference" for epoch in run.epochs) == plans


def test_a_jump_before_the_team_has_arrived_is_noticed_by_what_the_plan_had_promised():
    run = tc.simulate(jumping(at=4))
    starts = [epoch.start for epoch in run.epochs if epoch.messages is not None and epoch.told.goal == "reference"]
    begin, depth = run.epochs[1].start, run.epochs[0].network.depth
    assert starts == [0, begin + 1 + depth]  # after the first step in which everybody knows its cell
    points = Mission.of(jumping(at=4)).targets_at(4).points
    assert cost(run.positions[-1], points) < 1.25 * tc.lloyd(run.positions[4], points).cost


def test_a_team_that_does_not_polish_notices_a_jump_too():
    run = tc.simulate(jumping(at=25, polish=0))
    assert phases(run) == [(0, "reference"), (25 + run.epochs[0].network.depth, "reference")]
    assert run.converged


def test_by_the_clock_a_plan_is_made_so_many_steps_after_the_last():
    run = tc.simulate(jumping(at=25, replan=10))
    plans = [epoch.start for epoch in run.epochs if epoch.messages is not None and epoch.told.goal == "reference"]
    assert plans[0] == 0
    assert plans[1] == 10  # everybody knows the time
    assert plans[-1] >= 25  # a plan that knows the targets where they are in the end
    assert plans[-2] < 25  # and no more than one of those
    assert run.converged
    still = tc.simulate(planned(control=PLAN | {"replan": 5}))  # targets that never move are planned for once
    assert len(still.epochs) == 3


def test_targets_that_appear_are_planned_for():
    field = a_field()
    active = [[0, 1000]] * 150 + [[20, 1000]] * 150
    field[150:] += [2.0, 0.0]
    run = tc.simulate(planned(targets={"positions": field, "active": active}))
    plans = [epoch for epoch in run.epochs if epoch.messages is not None and epoch.told.goal == "reference"]
    assert len(plans) == 2
    assert plans[1].start >= 20
    assert cost(run.positions[-1], field) < 1.25 * tc.lloyd(run.positions[20], field).cost


def test_targets_that_vanish_leave_a_team_that_keeps_its_places():
    run = tc.simulate(planned(targets={"positions": a_field(), "active": [[0, 20]] * 300}))
    assert run.converged
    assert np.isfinite(run.positions).all()


def test_agents_that_leave_and_join_are_planned_for():
    network = tc.build_network(a_team())
    gone = [int(network.boundary[0]), int(network.core), int(network.followers[3])]
    events = {
        "leave": [{"step": 12, "agents": gone}],
        "join": [{"step": 45, "reference": [[0.41, 0.52], [0.45, 0.61]]}],
    }
    run = tc.simulate(planned(events=events, steps=120))
    bases = [epoch for epoch in run.epochs if epoch.messages is not None and epoch.told.goal == "reference"]
    assert [epoch.start for epoch in bases] == [0, 12, 45]
    assert bases[1].network.lost.tolist() == sorted(gone)
    assert len(bases[2].network) == 32
    home = network.without(gone)  # the roster says who speaks for its cells once somebody is lost
    said = bases[1].messages
    tops = {int(home.in_neighbors[top, 0]): int(top) for top in home.layers[1]}
    speakers = said.senders[said.kinds == KINDS.index("summary")].tolist()
    assert speakers == [tops.get(corner, corner) for corner in home.boundary.tolist()]
    for epoch in run.epochs:
        assert tc.Network.from_json(epoch.network.to_json()) == epoch.network
        alive = epoch.network.layer >= 0
        if epoch.messages is not None:
            assert alive[epoch.messages.senders].all()
            assert alive[epoch.messages.receivers[epoch.messages.receivers >= 0]].all()
    np.testing.assert_array_equal(run.positions[13:, gone], run.positions[12:-1, gone])
    living = run.positions[-1][bases[2].network.layer >= 0]
    assert cost(living, a_field()) < 1.25 * tc.lloyd(living, a_field()).cost
    assert run.converged


def test_an_event_after_the_end_is_never_flown():
    events = {"leave": [{"step": 60, "agents": [3]}]}
    given = planned(events=events, steps=40)
    run = tc.simulate(given)
    np.testing.assert_array_equal(run.positions, tc.simulate(planned(steps=40, stop_when_settled=False)).positions)


def test_given_places_of_anchors_are_kept_in_the_plan_and_in_the_polish():
    network = tc.build_network(a_team())
    middle = a_team()[network.core]
    places = middle + 1.2 * (a_team()[network.anchors] - middle)
    run = tc.simulate(planned(anchors=places))
    for epoch in run.epochs:
        np.testing.assert_array_equal(epoch.network.anchors, network.anchors)
        assert not epoch.told.free
    for positions in run.positions[1:]:
        np.testing.assert_array_equal(positions[network.anchors], places)
    assert run.epochs[1].told.goal == "voronoi"


def test_vehicles_that_miss_are_sent_to_the_given_places_in_every_phase():
    team, network = 10 * a_team(), tc.build_network(10 * a_team())
    places = team[network.core] + 1.1 * (team[network.anchors] - team[network.core])
    given = planned(reference=team, targets=10 * a_field(), anchors=places, vehicle="quadrotor", steps=120)
    epochs = Mission.of(given).epochs
    assert len(epochs) == 3
    for epoch in epochs:
        np.testing.assert_array_equal(epoch.told.paths[-1], places)


def test_fitted_anchors_begin_the_plan_and_are_free_in_the_polish():
    given = planned(anchors="fit")
    run = tc.simulate(given)
    network = tc.build_network(a_team())
    fitted = tc.desired_configuration(network, a_field(), anchors="fit")[network.anchors]
    np.testing.assert_allclose(run.epochs[0].network.reference[network.anchors], fitted, atol=1e-12)
    assert run.epochs[1].told.free
    assert (run.positions[-1][network.anchors] != fitted).any()


@pytest.mark.parametrize(
    "settings",
    [
        {"control": PLAN | {"motion": "walk", "resolution": 12}, "steps": 200},
        {"vehicle": "anywhere"},
        {"vehicle": "double-integrator", "steps": 200},
        {"control": PLAN | {"range": 0.2}},
        {"network": {"mentee": "balanced"}},
    ],
)
def test_other_motions_and_vehicles_go_through_the_same_phases(settings):
    run = tc.simulate(planned(**settings))
    assert [name for _, name in phases(run)] == ["reference", "voronoi", "reference"]
    assert run.converged
    start = cost(a_team(), a_field())
    assert cost(run.positions[-1], a_field()) < 0.8 * start
    assert cost(run.positions[-1], a_field()) < 1.3 * tc.lloyd(a_team(), a_field()).cost


def test_quadrotors_polish_and_hold_within_their_tolerance():
    run = tc.simulate(planned(reference=10 * a_team(), targets=10 * a_field(), vehicle="quadrotor", steps=120))
    assert [name for _, name in phases(run)] == ["reference", "voronoi", "reference"]
    assert run.converged
    hold = run.epochs[2]
    assert np.hypot(*(run.positions[-1] - hold.network.reference).T).max() < 0.2
    assert cost(run.positions[-1], 10 * a_field()) < 1.3 * tc.lloyd(10 * a_team(), 10 * a_field()).cost


def test_agents_that_keep_apart_plan_and_polish():
    grid = np.stack(np.meshgrid(np.arange(6), np.arange(5)), -1).reshape(-1, 2) / 5
    run = tc.simulate(planned(reference=grid + 0.01 * a_team(), safety={"separation": 0.02}, steps=200))
    least = min(
        np.hypot(*(positions[:, None] - positions + 9 * np.eye(30)[..., None]).transpose(2, 0, 1)).min()
        for positions in run.positions
    )
    assert least >= 0.02 - 1e-9
    assert [name for _, name in phases(run)] == ["reference", "voronoi", "reference"]


def test_nobody_who_walks_enters_a_zone_in_any_phase():
    given = planned(control=PLAN | {"motion": "walk", "resolution": 12}, safety={"zones": [ZONE]}, steps=200)
    start = given.replace(formation={"positions": np.where(_in_zone(a_team())[:, None], a_team() + 0.1, a_team())})
    run = tc.simulate(start)
    zone = shapely.Polygon(ZONE)
    for agent in range(30):
        way = shapely.LineString(run.positions[:, agent]) if np.ptp(run.positions[:, agent]) else None
        assert way is None or way.intersection(zone).length < 1e-9
    assert len(run.epochs) == 3


def _in_zone(points):
    return shapely.contains_xy(shapely.Polygon(ZONE).buffer(0.02), *points.T)


def test_from_pads_the_team_flies_to_its_roster_first_and_plans_then():
    pads = np.stack([np.arange(30) % 6 * 0.2 + 2, np.arange(30) // 6 * 0.2], 1)
    formation = {"positions": a_team(), "start": pads, "assign": True, "launch": 6}
    run = tc.simulate(planned(formation=formation))
    assert [name for _, name in phases(run)] == ["reference", "reference", "voronoi", "reference"]
    assert run.epochs[1].start == 6
    np.testing.assert_array_equal(run.positions[6], a_team())
    plain = tc.simulate(planned())
    np.testing.assert_array_equal(run.epochs[1].network.reference, plain.epochs[0].network.reference)
    np.testing.assert_array_equal(run.positions[6:], plain.positions)


def test_a_team_that_starts_elsewhere_assigns_places_by_where_it_is():
    start = a_team() + np.random.default_rng(1).normal(0, 0.05, (30, 2))
    run = tc.simulate(planned(formation={"positions": a_team(), "start": start}))
    assert run.converged
    plan, plain = run.epochs[0].network, tc.simulate(planned()).epochs[0].network
    np.testing.assert_array_equal(plan.anchors, plain.anchors)  # which follow from the roster alone
    # Others take the places of their cells with the least travel: from here, they go no farther than by that plan.
    ways = [((network.reference - start)[plan.followers] ** 2).sum() for network in (plan, plain)]
    assert ways[0] < ways[1]


@pytest.mark.parametrize("world", [{"delay": 2}, {"loss": 0.3}])
def test_where_messages_are_late_or_lost_plans_are_held_and_not_polished(world):
    run = tc.simulate(planned(world=world))
    assert phases(run) == [(0, "reference")]
    assert run.converged
    plan = run.epochs[0].network.reference
    np.testing.assert_allclose(run.positions[-1], plan, atol=1e-9)
    np.testing.assert_array_equal(plan, tc.simulate(planned()).epochs[0].network.reference)


def test_where_messages_are_lost_plans_are_made_by_the_clock_and_at_events():
    targets = {"positions": a_field(), "motion": {"velocity": [0.01, 0.0], "until": 30}}
    given = planned(targets=targets, world={"loss": 0.2}, control=PLAN | {"replan": 10}, steps=60)
    run = tc.simulate(given)
    assert phases(run) == [(0, "reference"), (10, "reference"), (20, "reference"), (30, "reference")]
    lost = tc.simulate(given.replace(events={"leave": [{"step": 14, "agents": [5]}]}))
    assert [start for start, _ in phases(lost)] == [0, 10, 14, 20, 30]
    assert 5 in lost.epochs[2].network.lost
    assert 5 in lost.epochs[-1].network.lost


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        (
            {"world": {"delay": 1}, "control": PLAN | {"polish": 5}},
            "leave delay, loss and radio out, or set control.polish",
        ),
        ({"world": {"loss": 0.1}, "control": {"goal": "voronoi"}}, "need to hear at once where the agents near by are"),
        (
            {"world": {"sight": 0.3}},
            'planners see all targets in their cells: leave sight out, or take the goal "voronoi"',
        ),
        (
            {"control": PLAN | {"motion": "morph"}},
            'goal "cellplan" makes a new network, in which the team is not nested',
        ),
        ({"control": {"goal": "voronoi", "polish": 5}}, "the goal 'voronoi' needs no polish: leave it out"),
    ],
)
def test_what_cannot_be_heard_or_seen_is_one_clear_error(settings, match):
    with pytest.raises(InputError, match=re.escape(match)) as error:
        planned(**settings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("polish", [-1, 1.5, True, "long", {}, {"lloyd": 3}, {"voronoi": 1, "descent": 2}, 10**7, [3]])
def test_a_polish_is_a_whole_number_of_steps(polish):
    with pytest.raises(InputError, match=r"control\.polish.*whole number of steps up to 1000000") as error:
        planned(control=PLAN | {"polish": polish})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "replan",
    [
        *(0, -3, 1.5, True, "always", None, {}, {"ratio": 2}),
        *({"cost": 1}, {"cost": True}, {"cost": float("nan")}),
        *({"share": 0}, {"share": 1.1}, {"cost": 2, "share": "half"}),
    ],
)
def test_a_plan_is_made_anew_by_a_clock_or_a_ratio_above_one(replan):
    with pytest.raises(InputError, match=r'control\.replan.*"never", a whole number of steps, or \{ cost') as error:
        planned(control=PLAN | {"replan": replan})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("reach", [0, -1.0, "far", float("inf"), float("nan")])
def test_a_range_is_a_length(reach):
    with pytest.raises(InputError, match=r"control\.range") as error:
        planned(control=PLAN | {"range": reach})
    assert "\n" not in str(error.value)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    given = planned(reference=a_team(200), targets=a_field(11_000), steps=60)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        found.append(tc.simulate(given))
    assert_same(*found)
    assert phases(found[0]) == phases(found[1])


def test_lloyd_in_the_triangle_alone_comes_to_rest_and_covers_better():
    run = tc.simulate(planned(control={"goal": "voronoi"}, steps=300))
    assert phases(run) == [(0, "voronoi")]
    assert run.epochs[0].told.free
    assert run.converged
    assert cost(run.positions[-1], a_field()) < 0.7 * cost(a_team(), a_field())
    np.testing.assert_allclose(run.desired, run.positions[-1], atol=1e-9)


def test_with_less_range_a_team_covers_no_better():
    costs = []
    for reach in (None, 0.5, 0.15, 0.02):
        run = tc.simulate(planned(control=PLAN | {"range": reach}))
        costs.append(cost(run.positions[-1], a_field()))
    assert costs[0] == pytest.approx(costs[1], rel=1e-9)  # half of the range reaches every target of one's cell
    assert costs[0] < costs[3]
    assert costs[3] == pytest.approx(
        cost(run.epochs[0].network.reference, a_field()), rel=0.05
    )  # nobody knows anything


def test_anchors_with_one_place_for_two_are_one_clear_error():
    given = planned()
    network = tc.build_network(given.reference, "balanced")
    places = given.reference[network.anchors].copy()
    places[1] = places[0]
    with pytest.raises(InputError, match="two of them have the same place") as error:
        tc.simulate(given.replace(anchors=places))
    assert "\n" not in str(error.value)
