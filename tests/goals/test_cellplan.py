"""Cell plans: what comes out is a network in which everybody has a place, and what is said is what is documented."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import tricover as tc
from tests.network import oracle
from tricover.goals.cellplan import EVERYBODY, KINDS, cell_plan, phase_messages
from tricover.goals.frame import POINTS, cones_of, first_cells

SUMMARY, FRAME, POSITION, PLACE, ARRIVED, PHASE = range(len(KINDS))


def a_team(seed, agents=40):
    """Reference positions (N, 2): scattered, in a corner, on a grid, in clusters."""
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 1:
        return 0.2 * rng.random((agents, 2))
    if kind == 2:
        side = int(np.ceil(np.sqrt(agents)))
        return np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)[:agents] / side
    if kind == 3:
        return np.concatenate([rng.normal(centre, 0.05, (agents // 4, 2)) for centre in rng.random((4, 2))])
    return rng.random((agents, 2))


def a_field(kind, seed):
    rng = np.random.default_rng(seed + 100)
    points = rng.random((400, 2))
    if kind == "clusters":
        points = np.concatenate([rng.normal(centre, 0.03, (100, 2)) for centre in rng.random((4, 2))])
    elif kind == "grid":
        points = np.stack(np.meshgrid(np.linspace(0, 1, 20), np.linspace(0, 1, 20)), -1).reshape(-1, 2)
    elif kind == "few":
        points = points[:17]
    elif kind == "fewest":
        points = points[:2]
    elif kind == "line":
        points = points[:, :1] * [[1.0, 0.5]]
    elif kind == "one spot":
        points = np.repeat(points[:1], 50, axis=0)
    elif kind == "elsewhere":
        points = points + 30.0
    weights = None
    if kind == "weighted":
        weights = rng.uniform(0, 3, 400)
    elif kind == "half without weight":
        weights = np.where(points[:, 0] < 0.5, 0.0, 1.0)
    if kind == "nothing":
        return tc.Targets(points).within(np.array([[7.0, 7.0], [8.0, 7.0], [7.0, 8.0]]))
    return tc.Targets(points, weights)


FIELDS = [
    "uniform",
    "clusters",
    "grid",
    "weighted",
    "half without weight",
    "nothing",
    "few",
    "fewest",
    "line",
    "one spot",
    "elsewhere",
]


def assert_valid(plan, roster):
    """A network of the living: every follower is in the triangle of those it hears, and strictly inside its first cell.

    In exact arithmetic. Places on a line, such as those of a team that fills a cell, may be on an edge further below.
    """
    network = plan.network
    assert tc.Network.from_json(network.to_json()) == network
    np.testing.assert_array_equal(network.layer < 0, roster.layer < 0)
    assert np.isfinite(network.reference).all()
    assert len(np.unique(network.reference, axis=0)) == len(network)
    exact = oracle.as_fractions(network.reference)
    tops = first_cells_of(network)
    for agent in network.followers.tolist():
        for cell, closed in ((network.in_neighbors[agent], True), (network.in_neighbors[tops[agent]], False)):
            least = min(oracle.weights(exact[agent], [exact[corner] for corner in cell.tolist()]))
            assert least > 0 or (closed and least == 0)
    assert len(network.followers) + len(network.anchors) == (roster.layer >= 0).sum()
    assert network.mentee == roster.mentee


def said(plan, kind):
    some = plan.messages.kinds == kind
    return [column[some].tolist() for column in plan.messages[1:]]


def assert_said_as_documented(plan, present, roster, positions, targets):
    """Who tells whom how many numbers, counted anew from the plan that came out."""
    network, living = plan.network, roster.layer >= 0
    corners = len(network.boundary)
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    senders, receivers, numbers = said(plan, SUMMARY)
    cones = cones_of(targets.points[weights > 0], positions[present.boundary], positions[present.core])
    sizes = np.bincount(cones, minlength=len(present.boundary))
    each = -(-POINTS // len(present.boundary))
    expected = (3 * np.minimum(sizes, each)).tolist()
    # Where no frame was planned, each cell says its spread, too.
    assert numbers in (expected, expected + [1] * len(roster.boundary))
    if len(numbers) > len(expected):
        np.testing.assert_array_equal(network.anchors, roster.anchors)
    assert set(receivers) == {roster.core}
    assert living[senders].all()
    assert said(plan, FRAME) == [[roster.core], [EVERYBODY], [3 * corners + 2]]
    tellers, told, _ = said(plan, PLACE)
    # In each first cell all but the planner say where they are and are told their places; planners have low numbers.
    assert said(plan, POSITION) == [told, tellers, [2] * len(told)]
    assert said(plan, PLACE) == [tellers, told, [5] * len(told)]
    planners = set(network.followers.tolist()) - set(told)
    assert len(told) == len(set(told))
    assert set(tellers) <= planners
    assert all(teller < other for teller, other in zip(tellers, told, strict=True))
    tops = first_cells_of(network)
    for teller, other in zip(tellers, told, strict=True):
        assert tops[teller] == tops[other]
    assert len(planners) == len({tops[agent] for agent in network.followers.tolist()})
    assert plan.messages.total == sum(numbers) + 3 * corners + 2 + 7 * len(told)


def first_cells_of(network):
    """The agent of layer 1 above each follower, or itself."""
    tops = np.full(len(network), -1)
    for layer in network.layers[1:]:
        for agent in layer.tolist():
            above = max(network.in_neighbors[agent].tolist(), key=lambda corner: network.layer[corner])
            tops[agent] = agent if network.layer[agent] == 1 else tops[above]
    return tops


@pytest.mark.parametrize("kind", FIELDS)
@pytest.mark.parametrize("seed", range(4))
def test_everybody_of_the_living_has_a_place_inside_the_triangle_of_those_it_hears(seed, kind):
    reference, targets = a_team(seed), a_field(kind, seed)
    rng = np.random.default_rng(seed)
    alive = np.ones(40, bool)
    if seed >= 2:
        alive[rng.permutation(40)[:9]] = False
    roster = tc.build_network(reference, "balanced" if seed % 2 else "fermat", alive=alive)
    positions = reference + 0.02 * rng.normal(size=(40, 2))
    plan = cell_plan(roster, roster, positions, targets)
    assert_valid(plan, roster)
    assert_said_as_documented(plan, roster, roster, positions, targets)
    again = cell_plan(roster, roster, positions, targets)  # everybody computes the same from the same numbers
    assert again.network == plan.network


@pytest.mark.parametrize("seed", range(4))
def test_a_team_of_anchors_alone_or_nearly_has_a_plan(seed):
    reference = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0], [0.5, 1.0]])[: 4 + seed % 2]
    roster = tc.build_network(reference)
    plan = cell_plan(roster, roster, reference, a_field(FIELDS[seed], seed))
    assert_valid(plan, roster)


@pytest.mark.parametrize("kind", ["line", "few", "one spot", "nothing"])
def test_where_there_is_no_frame_boundary_and_core_stay(kind):
    reference = a_team(0)
    roster = tc.build_network(reference)
    plan = cell_plan(roster, roster, reference, a_field(kind, 0))
    np.testing.assert_array_equal(plan.network.boundary, roster.boundary)
    assert plan.network.core == roster.core
    np.testing.assert_array_equal(plan.network.reference[roster.anchors], reference[roster.anchors])


@pytest.mark.parametrize("seed", range(4))
def test_given_places_of_anchors_are_kept_and_take_one_number_for_each_cell(seed):
    reference, targets = a_team(seed), a_field("clusters", seed)
    roster = tc.build_network(reference)
    middle = reference[roster.core]
    places = middle + 1.5 * (reference[roster.anchors] - middle)
    plan = cell_plan(roster, roster, reference, targets, places)
    assert_valid(plan, roster)
    np.testing.assert_array_equal(plan.network.anchors, roster.anchors)
    np.testing.assert_array_equal(plan.network.reference[roster.anchors], places)
    senders, receivers, numbers = said(plan, SUMMARY)
    assert numbers == [1] * len(roster.boundary)
    assert set(receivers) == {roster.core}
    tops = {int(roster.in_neighbors[top, 0]): top for top in roster.layers[1].tolist()}
    assert senders == [tops.get(corner, corner) for corner in roster.boundary.tolist()]


def test_the_mentee_rule_is_the_rosters_and_places_do_not_depend_on_it():
    reference, targets = a_team(0), a_field("uniform", 0)
    plans = []
    for mentee in ("fermat", "balanced"):
        roster = tc.build_network(reference, mentee, core=tc.build_network(reference).core)
        plans.append(cell_plan(roster, roster, reference, targets).network)
        assert plans[-1].mentee == mentee
    np.testing.assert_array_equal(plans[0].reference, plans[1].reference)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_targets_changes_nothing_but_rounding(seed):
    """Summaries do not depend on it, nor do starts; sums in Lloyd's steps are rounded in the order of the targets."""
    reference, targets = a_team(seed), a_field("weighted", seed)
    roster = tc.build_network(reference)
    order = np.random.default_rng(seed).permutation(len(targets))
    plan = cell_plan(roster, roster, reference, targets)
    other = cell_plan(roster, roster, reference, tc.Targets(targets.points[order], targets.weights[order]))
    np.testing.assert_allclose(other.network.reference, plan.network.reference, atol=1e-9)
    np.testing.assert_array_equal(other.network.in_neighbors, plan.network.in_neighbors)


@pytest.mark.parametrize("seed", range(4))
def test_targets_without_weight_change_nothing(seed):
    reference, targets = a_team(seed), a_field("half without weight", seed)
    roster = tc.build_network(reference)
    plan = cell_plan(roster, roster, reference, targets)
    heavy = tc.Targets(targets.points[targets.weights > 0])
    assert cell_plan(roster, roster, reference, heavy).network == plan.network


@pytest.mark.parametrize("seed", range(4))
def test_a_cells_plan_follows_from_the_targets_in_its_own_cone(seed):
    """Targets of other cones move about within them, with the anchors' places given: places in this cell stay."""
    reference = a_team(seed)
    roster = tc.build_network(reference)
    anchors = reference[roster.anchors]
    points = a_field("uniform", seed).points
    cones = cones_of(points, anchors[:-1], anchors[-1])
    plan = cell_plan(roster, roster, reference, tc.Targets(points), anchors)
    cells = first_cells(anchors[:-1], anchors[-1])
    counts = np.bincount(_cells_of(plan.network), minlength=len(cells))
    for cone in range(len(cells)):
        moved = points.copy()
        elsewhere = cones != cone
        # Mirrored along the rays: density and number in a cone change, but not in which cone they are.
        moved[elsewhere] = anchors[-1] + 0.7 * (points[elsewhere] - anchors[-1])
        other = cell_plan(roster, roster, reference, tc.Targets(moved), anchors)
        if (np.bincount(_cells_of(other.network), minlength=len(cells)) == counts).all():
            own = np.flatnonzero(_cells_of(plan.network) == cone)
            own = own[plan.network.layer[own] > 0]
            np.testing.assert_array_equal(other.network.reference[own], plan.network.reference[own])
            np.testing.assert_array_equal(other.network.in_neighbors[own], plan.network.in_neighbors[own])


def _cells_of(network):
    """The first cell (N,) of each follower by its angle around the core, as exact as cones are; of anchors, any."""
    corners = network.reference[network.boundary]
    return cones_of(network.reference, corners, network.reference[network.core])


def test_members_take_their_places_with_the_least_sum_of_squares():
    """In cells with few members, by where they are, all orders are tried."""
    rng, tried = np.random.default_rng(0), 0
    for seed in range(3):
        reference, targets = rng.random((22, 2)), a_field("uniform", seed)
        roster = tc.build_network(reference)
        positions = rng.random((22, 2))
        network = cell_plan(roster, roster, positions, targets).network
        tops = first_cells_of(network)
        for top in network.layers[1]:
            members = np.flatnonzero(tops == top)
            if 3 <= len(members) <= 6:
                orders = permutations(members.tolist())
                sums = [((positions[members] - network.reference[list(order)]) ** 2).sum() for order in orders]
                assert sums[0] <= min(sums) * (1 + 1e-12)
                tried += 1
    assert tried >= 5


@pytest.mark.parametrize("kind", ["uniform", "clusters", "elsewhere"])
@pytest.mark.parametrize("seed", range(4))
def test_new_anchors_fit_the_corners_best_of_all_the_living_by_reference_positions(seed, kind):
    reference = a_team(seed)
    alive = np.arange(40) % 9 != 4
    roster = tc.build_network(reference, alive=alive)
    network = cell_plan(roster, roster, np.random.default_rng(seed).random((40, 2)), a_field(kind, seed)).network
    spots, living = network.reference[network.anchors], np.flatnonzero(alive)
    costs = ((spots[:, None] - reference[living]) ** 2).sum(axis=2)
    least = costs[linear_sum_assignment(costs)].sum()
    assert ((reference[network.anchors] - spots) ** 2).sum() == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_members_of_cells_follow_the_angles_of_the_roster(seed):
    """Sorted by angle around the core's place from the first corner on, and cut: a member's cell never goes back."""
    reference, targets = a_team(seed), a_field("clusters", seed)
    roster = tc.build_network(reference)
    network = cell_plan(roster, roster, reference, targets).network
    core, rank = network.reference[network.core], {int(agent): place for place, agent in enumerate(network.boundary)}
    tops = first_cells_of(network)
    cells = np.array([rank[int(network.in_neighbors[tops[agent], 0])] for agent in network.followers])
    away = reference[network.followers] - core
    counts = np.bincount(cells, minlength=len(rank))
    # From some corner on, the list by angle is the list by cells.
    fits = []
    for corner in network.reference[network.boundary]:
        first = np.arctan2(*(corner - core)[::-1])
        order = np.argsort((np.arctan2(away[:, 1], away[:, 0]) - first) % (2 * np.pi), kind="stable")
        start = int(np.argmin(np.abs(network.reference[network.boundary] - corner).sum(axis=1)))
        turned = np.roll(np.arange(len(rank)), -start)
        fits.append(cells[order].tolist() == np.repeat(turned, counts[turned]).tolist())
    assert any(fits)


def test_the_lost_are_put_off_the_places_of_the_living():
    """The core is given a place that was, in the roster, that of somebody who is lost."""
    reference = a_team(0)
    whole = tc.build_network(reference)
    lost = int(whole.followers[np.argmin(((reference[whole.followers] - reference[whole.core]) ** 2).sum(axis=1))])
    roster = whole.without([lost])
    anchors = reference[roster.anchors]
    anchors[-1] = reference[lost]
    plan = cell_plan(roster, roster, reference, a_field("uniform", 0), anchors)
    assert len(np.unique(plan.network.reference, axis=0)) == 40
    np.testing.assert_array_equal(plan.network.reference[roster.core], reference[lost])
    np.testing.assert_allclose(plan.network.reference[lost], reference[lost], rtol=1e-15)
    assert plan.network.lost.tolist() == [lost]


@pytest.mark.parametrize("seed", range(2))
def test_who_speaks_for_a_cell_is_alive(seed):
    """The network in use is older than the loss: a corner, else the core, speaks where the top is gone."""
    reference, targets = a_team(seed), a_field("uniform", seed)
    present = tc.build_network(reference)
    tops = present.layers[1]
    gone = [int(tops[0]), int(tops[1]), int(present.in_neighbors[tops[1], 0])]
    roster = present.without(gone)
    plan = cell_plan(present, roster, reference, targets)
    senders, receivers, _ = said(plan, SUMMARY)
    expected = []
    of_corner = {int(present.in_neighbors[top, 0]): int(top) for top in tops}
    for corner in present.boundary.tolist():
        options = [of_corner.get(corner, corner), corner, roster.core]
        expected.append(next(agent for agent in options if roster.layer[agent] >= 0))
    assert senders[: len(expected)] == expected
    assert set(receivers) == {roster.core}
    assert_valid(plan, roster)


@pytest.mark.parametrize(
    ("seed", "kind"), [(0, "uniform"), (1, "uniform"), (0, "clusters"), (3, "clusters"), (2, "grid")]
)
def test_a_plan_alone_covers_nearly_as_well_as_lloyds(seed, kind):
    reference, targets = a_team(seed, agents=60), a_field(kind, seed)
    roster = tc.build_network(reference, "balanced")
    plan = cell_plan(roster, roster, reference, targets)
    cost = tc.lloyd(plan.network.reference, targets, 0).cost
    assert cost < 1.25 * tc.lloyd(reference, targets).cost


def test_before_a_phase_everybody_reports_once_up_the_layers_and_the_core_says_when():
    network = tc.build_network(a_team(0))
    kinds, senders, receivers, numbers = phase_messages(network)
    followers = network.followers.tolist()
    assert kinds.tolist() == [ARRIVED] * len(followers) + [PHASE]
    assert senders.tolist() == [*followers, network.core]
    assert receivers[-1] == EVERYBODY
    for sender, receiver in zip(followers, receivers.tolist(), strict=False):
        assert receiver in network.in_neighbors[sender]
        assert network.layer[receiver] == network.layer[sender] - 1
    assert numbers.tolist() == [1] * (len(followers) + 1)
