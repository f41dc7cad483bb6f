"""What agents remember and tell, where they see only so far."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.world.plain_sight import holds
from tricover.control import Received, Told, View, decide, knowledge, memory_of, tell
from tricover.control.family import family_of
from tricover.control.recall import known_by_itself, recalled
from tricover.control.sharing import report
from tricover.errors import InputError
from tricover.targets import TargetLists


def network_of(seed=0, agents=40):
    return tc.build_network(np.random.default_rng(seed).uniform(0, 100, (agents, 2)), "balanced")


def told_of(network, **changes):
    return Told(network, network.reference[None, network.anchors], sight=10.0, **changes)


def lists_of(names, points):
    count = len(names)
    return TargetLists.of(
        np.array([count]), np.array(names), np.array(points, float), np.ones(count), np.ones(count, bool)
    )


def view_at(place, names, points):
    place = np.array([place], float)
    return View(0, np.array([0]), place, np.full((1, 3, 2), np.nan), lists_of(names, points))


@pytest.mark.parametrize("seed", range(4))
def test_every_target_in_a_triangle_belongs_to_one_leaf_of_the_partition(seed):
    """On edges and corners, too, and to the one that the descent from the top leads to."""
    network = network_of(seed, 30)
    family, places = family_of(network), network.reference
    corners = {int(i): [tuple(places[j]) for j in network.in_neighbors[i]] for i in network.followers}
    rng = np.random.default_rng(seed)
    middle = [tuple((places[i] + places[j]) / 2) for i in network.followers for j in network.in_neighbors[i]]
    points = [*map(tuple, places.tolist()), *middle, *map(tuple, rng.uniform(0, 100, (60, 2)))]

    def left_out(agent, point):
        triangle = corners[agent]
        for k in range(3):
            if point == triangle[k]:
                return bool(family.corners[agent, k])
        edge = [triangle[k - 2] for k in range(3)]
        for k in range(3):
            if holds([triangle[k - 1], triangle[k - 1], triangle[k - 2]], point):
                return bool(family.edges[agent, k])
        return edge is None

    for point in points:
        for agent, triangle in corners.items():
            if not holds(triangle, point) or left_out(agent, point):
                continue
            # An agent's own part is its childless cells; the rest belongs to exactly one child.
            cells = [[tuple(places[agent]) if j == k else c for j, c in enumerate(triangle)] for k in range(3)]
            lowest = next(k for k in range(3) if holds(cells[k], point))
            owners = [
                k
                for k, child in enumerate(family.children[agent])
                if child >= 0 and holds(corners[int(child)], point) and not left_out(int(child), point)
            ]
            assert owners == ([lowest] if family.children[agent, lowest] >= 0 else []), (agent, point)


def test_parents_and_children_fit():
    network = network_of(1)
    family = family_of(network)
    for agent in network.followers:
        for k, child in enumerate(family.children[agent]):
            if child >= 0:
                assert family.parents[child] == agent
                assert network.in_neighbors[child, k] == agent
                assert family.slots[child] == k
    assert (family.parents[network.layers[1]] == -1).all()
    heard = set(network.in_neighbors[network.followers].ravel().tolist())
    assert set(np.flatnonzero(family.heard).tolist()) == heard


def test_a_memory_that_is_full_keeps_the_nearest_by_name_and_all_of_the_weight():
    rng = np.random.default_rng(2)
    points = rng.uniform(0, 100, (200, 2))
    own = TargetLists.of(np.array([200]), np.arange(200), points, rng.random(200), np.ones(200, bool))
    place = np.array([[50.0, 50.0]])
    kept = recalled(own, place, 48)
    names, weights = kept["recalled_names"][0], kept["recalled_weights"][0]
    nearest = np.argsort(np.hypot(*(points - place).T))[:45]
    assert set(nearest) <= set(names[names >= 0].tolist())
    assert (names == -1).sum() == 3
    assert weights.sum() == pytest.approx(own.weights.sum())
    centroid = (weights[:, None] * kept["recalled_points"][0]).sum(axis=0) / weights.sum()
    np.testing.assert_allclose(centroid, own.weights @ points / own.weights.sum())
    assert (recalled(own, place, 200)["recalled_names"][0] == np.arange(200)).all()


def test_a_group_is_forgotten_when_its_place_is_in_sight():
    told = told_of(network_of(), recall=4)
    memory = memory_of(told, np.zeros((1, 2)))
    memory["recalled_names"][0] = [-1, -1, 5, -2]
    memory["recalled_points"][0, :3] = [[3.0, 0.0], [30.0, 0.0], [0.0, 9.0]]
    memory["recalled_weights"][0, :3] = [4.0, 3.0, 1.0]
    own = known_by_itself(view_at([0.0, 0.0], [7], [[1.0, 1.0]]), told, memory)
    assert own.names.tolist() == [7, -1]  # number 5 is seen to be gone, and so is the near group
    assert own.points.tolist() == [[1.0, 1.0], [30.0, 0.0]]


def test_a_target_that_is_seen_elsewhere_is_there():
    told = told_of(network_of(), recall=4)
    memory = memory_of(told, np.zeros((1, 2)))
    memory["recalled_names"][0, 0] = 7
    memory["recalled_points"][0, 0] = [50.0, 0.0]
    own = known_by_itself(view_at([0.0, 0.0], [7], [[1.0, 1.0]]), told, memory)
    assert own.names.tolist() == [7]
    assert own.points.tolist() == [[1.0, 1.0]]


def test_the_nearest_are_told_and_no_group_is():
    told = told_of(network_of(), summary=1)
    memory = memory_of(told, np.zeros((1, 2)))
    memory["recalled_names"][0, :2] = [-1, 9]
    memory["recalled_points"][0, :2] = [[30.0, 0.0], [0.0, 40.0]]
    said = tell(view_at([0.0, 0.0], [1, 2, 3, 4], [[k, 0.0] for k in (4, 3, 2, 1)]), told, memory)
    assert said.names.tolist() == [1, 2, 3, 4]
    said = tell(view_at([0.0, 0.0], [1, 2, 3], [[k, 0.0] for k in (4, 3, 2)]), told, memory)
    assert said.names.tolist() == [1, 2, 3, 9]
    assert said.fresh.tolist() == [True, True, True, False]


def test_what_was_not_asked_for_is_not_there():
    network = network_of()
    with pytest.raises(InputError, match="goes with sight"):
        Told(network, network.reference[None, network.anchors], summary=5)
    with pytest.raises(InputError, match="'rollout'"):
        told_of(network, summary="sums", goal="rollout")
    with pytest.raises(InputError, match="recall"):
        told_of(network, recall=0)
    for wrong in (0, -1, 1.5, "all"):
        with pytest.raises(InputError, match="summary"):
            told_of(network, summary=wrong)
    told = told_of(network)
    with pytest.raises(InputError, match="no summary"):
        report(told, memory_of(told, network.reference))
    view = view_at([0.0, 0.0], [1], [[0.0, 0.0]])
    follower = replace(view, agents=network.followers[:1], heard=np.zeros((1, 3, 2)))
    with pytest.raises(InputError, match=r"View\.received"):
        decide(follower, told, memory_of(told, np.zeros((1, 2))))


def test_what_agents_are_told_of_sight_survives_as_text():
    told = told_of(network_of(), summary=7, recall=99)
    again = Told.from_json(told.to_json())
    assert (again.sight, again.summary, again.recall) == (10.0, 7, 99)


def crowded_view(sender, slot):
    """A follower with a child, whose report has a point without a name; and a target in that child's cell, told by one
    of its in-neighbours, or reported by another child."""
    network = network_of(3)
    told = told_of(network, summary=4, recall=8)
    agent = next(int(i) for i in network.followers if told.family.children[i, 0] >= 0)
    triangle, place = network.reference[network.in_neighbors[agent]], network.reference[agent]
    cell = np.array([place, triangle[1], triangle[2]])
    point, group = cell.mean(axis=0), cell.mean(axis=0) * 0.999 + 0.001 * place
    one, none = lists_of([5], [point]), TargetLists.empty(1)
    group_list = TargetLists.of(np.array([1]), np.array([-1]), group[None], np.ones(1), np.zeros(1, bool))
    reports, slots = group_list, np.array([0])
    if slot is not None:
        reports, slots = TargetLists.joined([group_list, one])[0], np.array([0, slot])
    senders = np.array([] if sender is None else [sender], np.int64)
    received = Received(none if sender is None else one, senders, reports, slots)
    view = View(0, np.array([agent]), place[None], triangle[None], none, received=received)
    return view, told, memory_of(told, place[None]), triangle[None], point


@pytest.mark.parametrize(
    ("sender", "slot", "names"),
    [(0, None, [-1]), (1, None, [-1, 5]), (2, None, [-1, 5]), (None, 0, [-1, 5]), (None, 1, [-1])],
)
def test_where_points_have_no_names_only_those_are_asked_whom_the_child_hears(sender, slot, names):
    view, told, memory, triangle, _ = crowded_view(sender, slot)
    assert sorted(knowledge(view, told, memory, triangle)[0].names.tolist()) == names


def test_where_points_have_no_names_what_was_not_told_the_child_is_left_to_it():
    view, told, memory, triangle, point = crowded_view(None, None)
    told = replace(told, sight=1e-6, summary=1)
    memory["recalled_names"][0, :6] = [1, 2, 3, 4, 5, -1]
    memory["recalled_points"][0, :6] = point
    memory["recalled_points"][0, :4] += (view.positions[0] - point) * 0.5  # nearer: these four are told
    known, _ = knowledge(view, told, memory, triangle)
    assert sorted(known.names.tolist()) == [-1, 1, 2, 3, 4]


def test_half_of_a_report_is_for_targets_outside_of_the_triangle():
    network = network_of(3)
    told = replace(told_of(network, summary=8, recall=64), sight=1e-6)
    agent = next(int(i) for i in network.followers if told.family.parents[i] >= 0)
    triangle, place = network.reference[network.in_neighbors[agent]], network.reference[agent]
    slot = told.family.slots[agent]
    shares = np.linspace(0.1, 0.9, 20)[:, None]
    inner = triangle[slot] + shares * (triangle.mean(axis=0) - triangle[slot])
    outer = triangle[slot] + shares * (triangle[slot] - triangle.mean(axis=0))
    memory = memory_of(told, place[None])
    memory["recalled_names"][0, :40] = np.arange(40)
    memory["recalled_points"][0, :40] = np.concatenate([inner, outer])
    memory["recalled_weights"][0, :40] = 1.0
    received = Received(TargetLists.empty(1), np.empty(0, np.int64), TargetLists.empty(1), np.empty(0, np.int64))
    view = View(0, np.array([agent]), place[None], triangle[None], TargetLists.empty(1), received=received)
    sent = knowledge(view, told, memory, triangle[None])[1]
    assert sorted(sent["report_names"][0][sent["report_names"][0] >= 20].tolist()) == [20, 21, 22, 23]
    assert sent["report_weights"][0].sum() == 24
