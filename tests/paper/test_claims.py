"""The table says what is so: its figures against values computed here, by other means."""

import json
import re
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from tricover.paper import DEVIATES, HOLDS, check
from tricover.paper.tables import as_json, as_markdown

DOCS = Path(__file__).parents[2] / "docs" / "reproduce.md"


@pytest.fixture(scope="module")
def claims(study):
    return {claim.id: claim for claim in check(study)}


def test_every_claim_holds_or_deviates(claims):
    assert {claim.verdict for claim in claims.values()} == {HOLDS, DEVIATES}


def test_every_row_is_complete(study, claims):
    assert len(claims) == len(check(study))
    for claim in claims.values():
        assert claim.where
        assert claim.statement.endswith((".", "}."))
        assert claim.measured
        assert claim.note or claim.verdict == HOLDS  # what deviates says what we do


def test_the_contradictions_are_those_of_the_text(claims):
    printed = "weights-count dnn offsets last-layer mentors empty-cells setpoints cells-per-side cost reward two-p"
    shown = "anchors-move landing-anywhere caption-6 optimal"
    deviating = {name for name, claim in claims.items() if claim.verdict == DEVIATES}
    assert deviating == {*printed.split(), *shown.split()}


def test_weights_of_resolution_5(claims):
    """The triples of (3a - b)/15 that sum to one use nine of the ten values, and these print as in the paper."""
    values = {Fraction(3 * a - b, 15) for a, b in product(range(1, 6), (1, 2))}
    used = {x for x in values for y in values for z in values if x + y + z == 1}
    assert sorted(f"{float(x):.3f}" for x in used) == re.findall(r"0\.\d{3}", claims["weights-values"].statement)
    assert claims["weights-count"].measured == f"eq. (2): {len(values)} values; W_i: {len(used)}, without 14/15"


def test_cells_and_kinds_by_counting_triangles(claims):
    """All unit triangles among the points of a triangular lattice with 35 steps, and which of them share two points."""
    size = 35
    up = {frozenset([(i, j), (i + 1, j), (i, j + 1)]) for i in range(size) for j in range(size - i)}
    down = {frozenset([(i + 1, j), (i, j + 1), (i + 1, j + 1)]) for i in range(size) for j in range(size - 1 - i)}
    edges = {edge: 0 for cell in up | down for edge in combinations(sorted(cell), 2)}
    for cell in up | down:
        for edge in combinations(sorted(cell), 2):
            edges[edge] += 1
    degrees = [sum(edges[edge] == 2 for edge in combinations(sorted(cell), 2)) for cell in up | down]
    kinds = [degrees.count(3), degrees.count(2), degrees.count(1)]
    assert claims["state-kinds"].measured == "{} interior, {} boundary, {} nodal".format(*kinds)
    assert claims["cells-1225"].measured.startswith(f"{len(degrees)} cells")
    assert claims["cells-1225"].note == f"{len(up)} cells point up and {len(down)} down."


def test_agents_29_and_43(study, claims):
    """From the positions as they are: the last step at which the agent is elsewhere, and one more."""
    for name, run, agent in (("agent-29", study.reach, 28), ("agent-43", study.walk, 42)):
        elsewhere = [step for step in range(run.steps + 1) if (run.positions[step, agent] != run.desired[agent]).any()]
        assert f"step {elsewhere[-1] + 1}" in claims[name].measured
    assert study.reach.settled_at < 40


def test_landing_anywhere_keeps_moving(study, claims):
    run = study.anywhere
    ends = run.positions[run.steps // 2 :] - run.desired
    assert (np.diff(run.positions[-50:, study.network.followers], axis=0) != 0).any(axis=(0, 2)).all()
    assert f"within {np.hypot(*ends.reshape(-1, 2).T).max():.1f} m" in claims["landing-anywhere"].measured


def test_coverage_is_that_of_the_nearest_agents(study, claims):
    apart = study.reach.targets.points[:, None] - study.reach.desired
    cost = (apart**2).sum(axis=2).min(axis=1).mean()
    assert claims["optimal"].measured.startswith(f"mean squared distance {cost:.1f} m²")


def test_documentation_shows_the_table_as_it_is(claims):
    assert as_markdown(list(claims.values())) in DOCS.read_text(encoding="utf-8")


def test_json_is_the_same_again(study, claims):
    again = as_json(check(study))
    assert again == as_json(list(claims.values()))
    assert [row["id"] for row in json.loads(again)["claims"]] == list(claims)
