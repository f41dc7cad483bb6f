"""Every verdict can fail: for each claim there is a study, wrong in one way, in which it does not hold."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

import tricover as tc
from tricover.mdp import LocalMDP
from tricover.paper import FAILS, Study
from tricover.paper.claims import CLAIMS, cells, results, stability, structure, weights


class Tampered:
    """What a run kept, with other positions."""

    def __init__(self, kept, positions):
        self.kept, self.positions = kept, positions

    def __getattr__(self, name):
        return getattr(self.kept, name)

    def read(self, name, start, stop):
        return self.positions[start:stop] if name == "positions" else self.kept.read(name, start, stop)


def moved(study, change):
    """The study with other positions in all runs."""
    runs = {}
    for name, run in study.runs.items():
        positions = run.positions.copy()
        change(positions)
        runs[name] = replace(run, record=Tampered(run.record, positions))
    return replace(study, **runs)


@dataclass(frozen=True, eq=False)
class OtherNetwork(Study):
    """A study with a network that is not the one of its runs."""

    other: tc.Network | None = None

    @property
    def network(self):
        return self.other


def linked(study, **arrays):
    fields = {name: getattr(study, name) for name in Study.__dataclass_fields__}
    return OtherNetwork(**fields, other=replace(study.network, **arrays))


def heard(network, agent, other):
    """In-neighbours with one replaced."""
    changed = network.in_neighbors.copy()
    changed[agent, 0] = other
    return changed


class BrokenGrid(tc.CellGrid):
    """One weight is off, one cell has lost its neighbours, all cells are there twice, and one is not counted."""

    @cached_property
    def thirds(self):
        return tc.CellGrid(self.resolution).thirds + np.eye(self.resolution**2, 3, dtype=int)

    @cached_property
    def neighbors(self):
        return np.where(np.arange(self.resolution**2)[:, None] == 7, -1, tc.CellGrid(self.resolution).neighbors)

    def corners(self, chosen):
        return np.tile(tc.CellGrid(self.resolution).corners(np.arange(self.resolution**2)), (2, 1, 1))

    def __len__(self):
        return self.resolution**2 - 1


def ends_elsewhere(study):
    def change(positions):
        positions[-1] += 1.0

    return moved(study, change)


def somebody_strays(study):
    def change(positions):
        positions[2:, 30] = [500.0, 500.0]

    return moved(study, change)


def agents_hear_themselves(study):
    identity = {name: np.broadcast_to(np.eye(57), matrices.shape) for name, matrices in study.matrices.items()}
    return with_(study, matrices=identity)


def with_(study, **cached):
    """The study, or a run, with a derived value replaced."""
    changed = replace(study)
    vars(changed).update(cached)
    return changed


def a_later_agent_is_heard(study):
    network = study.network
    return linked(study, in_neighbors=heard(network, network.layers[1][0], network.layers[5][0]))


def an_agent_is_heard_twice(study):
    agent = study.network.followers[0]
    return linked(study, in_neighbors=heard(study.network, agent, study.network.in_neighbors[agent, 1]))


def an_agent_has_no_layer(study):
    return linked(study, layer=np.where(np.arange(57) == 20, -1, study.network.layer).astype(np.int32))


def another_core(study):
    return linked(study, core=7)


def another_example(study):
    return replace(study, example=tc.build_network(study.example.reference[::-1] * [1.0, 1.2]))


def a_smaller_example(study):
    return replace(study, example=study.example.without([8]))


def an_example_out_of_order(study):
    return replace(study, example=replace(study.example, in_neighbors=heard(study.example, 4, 12)))


def broken_cells(study):
    return replace(study, small=BrokenGrid(5), grid=BrokenGrid(35))


def other_cells(study):
    return replace(study, grid=tc.CellGrid(34))


def nobody_has_to_move(study):
    return replace(study, reach=with_(study.reach, desired=study.network.reference))


FALSIFIED = {
    another_example: (
        structure.example_anchors,
        structure.example_layers,
        structure.example_in_neighbours,
        structure.example_cells,
        structure.mentors,
    ),
    a_smaller_example: (structure.offsets, structure.empty_cells),
    an_example_out_of_order: (structure.last_layer,),
    a_later_agent_is_heard: (
        structure.one_way,
        structure.deterministic,
        structure.three_in_neighbours,
        stability.proposition,
        results.desired_positions,
        results.optimal,
    ),
    an_agent_is_heard_twice: (weights.delaunay,),
    an_agent_has_no_layer: (structure.layers,),
    another_core: (structure.boundary_and_core,),
    broken_cells: (
        weights.weight_values,
        weights.weight_count,
        weights.weight_sum,
        cells.cells_per_side,
        cells.goal_cell,
    ),
    other_cells: (cells.cell_count,),
    ends_elsewhere: (
        structure.setpoints,
        stability.stochastic,
        stability.contraction,
        stability.condition_1,
        stability.convergence,
        stability.two_definitions,
        stability.anchors,
        results.reach_all,
        results.agent_29,
        results.walk_all,
        results.agent_43,
    ),
    somebody_strays: (
        cells.uncontained,
        stability.containment,
        stability.landing_anywhere,
        results.covers,
        results.within,
    ),
    agents_hear_themselves: (stability.triangular, stability.condition_2),
    nobody_has_to_move: (results.caption,),
}


@pytest.mark.parametrize("falsify", FALSIFIED, ids=lambda falsify: falsify.__name__)
def test_what_is_not_so_does_not_hold(study, falsify):
    wrong = falsify(study)
    assert {claim.__name__ for claim in FALSIFIED[falsify] if claim(wrong).verdict != FAILS} == set()


@pytest.mark.parametrize("claim", [cells.kinds, cells.actions])
def test_cells_without_neighbours_are_noticed(study, claim, monkeypatch):
    class Torn(tc.CellGrid):
        neighbors = BrokenGrid.neighbors

    assert claim(replace(study, grid=Torn(35))).verdict == FAILS


@pytest.mark.parametrize("claim", [cells.bellman, cells.cost_of_state, cells.policy])
def test_wrong_values_and_policies_are_noticed(study, claim, monkeypatch):
    right = cells._solutions(study)
    process, solution = right[0]
    wrong = replace(solution, value=solution.value + process.beta, policy=np.arange(len(solution.policy)))
    monkeypatch.setattr(cells, "_solutions", lambda study: (*right[1:], (process, wrong)))
    assert claim(study).verdict == FAILS


def test_a_reward_that_is_too_small_is_noticed(study, monkeypatch):
    monkeypatch.setattr(cells, "LocalMDP", lambda *given, beta, gamma: LocalMDP(*given, beta=0.01, gamma=gamma))
    assert cells.reward(study).verdict == FAILS


def test_every_claim_was_falsified():
    elsewhere = {cells.kinds, cells.actions, cells.bellman, cells.cost_of_state, cells.policy, cells.reward}
    assert elsewhere.union(*FALSIFIED.values()) == set(CLAIMS)
