"""``Study``: what its file says, what is varied in which order, what is refused and how."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

import tricover as tc
from tests.studies.small import TEAM, scenario
from tricover.errors import FileFormatError, InputError
from tricover.studies import Draws, Study
from tricover.studies.design import Axis, Design, changed
from tricover.studies.draws import values_of

FULL = """
name = "all"
scenario = "small.toml"
seeds = [3, 1]
measures = ["steps", "tests.studies.small:facts"]
keep = "runs"
[over]
control.goal = ["centroid", "rollout"]
"control.gamma" = { from = 0.5, to = 0.9, count = 3 }
"targets.file" = ["towns.csv"]
[[cases]]
anchors = "fit"
[[cases]]
control.resolution = 3
formation = { generator = "square", agents = 9, size = 4.0 }
[draws]
count = 2
seed = 7
method = "latin"
[draws.keys]
control.alpha = { uniform = [1, 2] }
"control.beta" = { log = [1, 100] }
[figure]
over = "seed"
measures = ["steps"]
"""


@pytest.fixture
def folder(tmp_path):
    scenario().save(tmp_path / "small.toml")
    (tmp_path / "study.toml").write_text(FULL)
    return tmp_path


def test_the_file_says_all_and_is_the_same_when_saved(folder):
    study = Study.load(folder / "study.toml")
    assert study.scenario == scenario()
    keys = ["anchors", "control.resolution", "formation", "control.alpha", "control.beta"]
    assert study.design.keys == [*keys, "control.goal", "control.gamma", "targets.file", "seed"]
    assert len(study.design) == 2 * 2 * 2 * 3 * 1 * 2
    assert study.design[0]["targets.file"] == str(folder / "towns.csv")
    assert study.keep == folder / "runs"
    (folder / "elsewhere").mkdir()
    study.save(folder / "elsewhere" / "copy.toml")
    copy = Study.load(folder / "elsewhere" / "copy.toml")
    assert copy == study
    assert copy.fingerprint == study.fingerprint
    assert [copy.design[row] for row in range(48)] == [study.design[row] for row in range(48)]


def test_the_fingerprint_is_of_the_contents_of_files(folder):
    study = Study.load(folder / "study.toml")
    before = study.fingerprint
    (folder / "towns.csv").write_text("x,y\n1,2\n")
    there = study.fingerprint
    (folder / "towns.csv").write_text("x,y\n1,3\n")
    assert len({before, there, study.fingerprint}) == 3
    assert study.model_copy(update={"figure": None, "keep": None}).fingerprint == study.fingerprint
    assert study.model_copy(update={"seeds": 3}).fingerprint != study.fingerprint


@given(st.lists(st.lists(st.integers(), min_size=1, max_size=4, unique=True), max_size=4))
def test_rows_are_the_product(values):
    axes = [Axis.of([{f"k{place}": value} for value in each]) for place, each in enumerate(values)]
    design = Design(tuple(axes))
    rows = [tuple(design[row].values()) for row in range(len(design))]
    assert rows == list(itertools.product(*values))
    shown = [tuple(value if abs(value) < 2**63 else str(value) for value in row) for row in rows]
    assert [tuple(design.labels(row).values()) for row in range(len(design))] == shown
    with pytest.raises(IndexError):
        design[len(design)]


def test_a_section_as_a_whole_takes_the_place_of_the_scenarios_own():
    made = {"generator": "square", "agents": 9, "size": 4.0}
    other = changed(scenario(), {"formation": made, "targets.count": 7, "world.delay": 2})
    assert other == tc.Scenario(**{**scenario().values(), "formation": made}).replace(
        targets={"count": 7}, world={"delay": 2}
    )
    assert np.array_equal(changed(other, {"reference": TEAM}).reference, np.asarray(TEAM, float))
    assert changed(scenario(), {"control.kernel.slip": 0.2}).control.kernel == {"slip": 0.2}
    moving = scenario().replace(targets={"motion": {"velocity": [1, 0], "until": 3}})
    assert changed(moving, {"targets.motion.until": 5}).targets.motion.velocity.tolist() == [1, 0]
    assert changed(moving, {"targets.motion.until": 5}).targets.motion.until == 5


def test_a_latin_hypercube_is_scipys_and_draws_are_numpys():
    keys = {"control.alpha": {"uniform": [2, 4]}, "steps": {"integers": [1, 5]}, "control.goal": {"choice": ["a", "b"]}}
    latin, random = (Draws(count=40, seed=5, method=method, keys=keys).changes() for method in ("latin", "random"))
    for found, uniforms in (
        (latin, qmc.LatinHypercube(3, rng=np.random.default_rng(5)).random(40)),
        (random, np.random.default_rng(5).random((40, 3))),
    ):
        assert [row["control.alpha"] for row in found] == (2 + 2 * uniforms[:, 0]).tolist()
        assert [row["steps"] for row in found] == (1 + np.floor(5 * uniforms[:, 1])).tolist()
        assert [row["control.goal"] for row in found] == ["ab"[int(2 * u)] for u in uniforms[:, 2]]
    assert sorted(int(10 * (row["control.alpha"] - 2)) // 2 for row in latin) == sorted(list(range(10)) * 4)
    [row] = Draws(count=1, seed=0, keys={"control.alpha": {"log": [1, 100]}}).changes()
    assert row["control.alpha"] == pytest.approx(100 ** np.random.default_rng(0).random())


@given(st.integers(-50, 50), st.integers(1, 9), st.integers(0, 30))
def test_a_range_has_both_ends(low, step, count):
    tenths = {"from": low / 10, "to": (low + step * count) / 10, "step": step / 10}
    assert values_of("x", tenths) == pytest.approx([(low + step * place) / 10 for place in range(count + 1)])
    assert values_of("x", {"from": low, "to": low + step * count, "step": step}) == list(
        range(low, low + step * count + 1, step)
    )


RANGE = "{ from = 0, to = 1, count = 10000 }"
BAD = {
    "[over]\ncontrol.gaol = [1]": "unknown key 'control.gaol'; did you mean 'goal'?",
    "[over]\nseed = 3": "seed: give a list of values",
    "[over]\nseed = []": "seed: there are no values to try",
    "seeds = 0": "seeds must be how many there are",
    "seeds = [1, -1]": "seeds must be how many there are",
    "seeds = 2\n[over]\nseed = [1]": "seed: varied twice",
    "[over]\ncontrol.goal = ['a']\n[[cases]]\n'control.goal' = 'b'": "control.goal: varied twice",
    "[over]\ntargets = ['a.csv']\n'targets.count' = [1]": "targets and targets.count: varied twice",
    "sedes = 2": "unknown key 'sedes'; did you mean 'seeds'?",
    "measures = ['depht']": "there is no measure 'depht'; did you mean 'depth'?",
    "measures = ['no.such:thing']": "there is no module 'no'",
    "[over]\nseed = { from = 0, to = 3 }": "a range has a step or a count",
    "[over]\nseed = { from = 0, to = 3, step = -1 }": "do not lead from 0 to 3",
    "[over]\nseed = { from = 0, to = 3, count = 1 }": "count must be a whole number from 2",
    "[over]\nseed = { from = 0, to = 3, count = 3, log = true }": "both ends of a range must be above 0",
    "[over]\nseed = { from = 'a', to = 3, count = 3 }": "must be finite numbers",
    "[draws]\ncount = 3\n[draws.keys]\nseed = { unifrom = [0, 1] }": "draws.keys.seed: give one of",
    "[draws]\ncount = 3\n[draws.keys]\nseed = { uniform = [1, 0] }": "must be [least, most]",
    "[draws]\ncount = 3\n[draws.keys]\nseed = { integers = [0.5, 1] }": "integers must be two whole numbers",
    "[draws]\ncount = 3\n[draws.keys]\nseed = { log = [0, 1] }": "both above 0",
    "[draws]\ncount = 3\n[draws.keys]\nseed = { choice = [] }": "nothing to choose from",
    "[draws]\ncount = 3\nkeys = {}": "draws has no keys",
    "[figure]\novre = 'seed'": "unknown key 'figure.ovre'; did you mean 'over'?",
    "[over]\nseed = { from = 0, to = 1e12, step = 1 }": "need about",
    "seeds = 10000000": "need about",
    "seeds = 10000\n[over]\nsteps = { from = 1, to = 1000, step = 1 }": "need about",
    f"seeds = {10**400}": "a whole number of 1329 bits seeds need about",
    "seeds = 10000\n[over]\n"
    + "\n".join(f"control.{key} = {RANGE}" for key in ("alpha", "beta", "gamma", "margin")): "need about",
    "cases = 1.5": "cases: should be a valid tuple",
    f"[over]\ncontrol.alpha = {{ from = 0, to = {10**400}, count = 3 }}": "must be finite numbers",
    "[over]\ncontrol.alpha = { from = 0, to = 1, step = 5e-324 }": "do not lead from 0 to 1",
    "[draws]\ncount = 3\nkeys.seed.integers = [0, 10000000000000000]": "whole numbers up to 2^53",
    f"[draws]\ncount = 3\nkeys.control.alpha.uniform = [0, {10**400}]": "uniform must be [least, most]",
    "[draws]\ncount = 3\nkeys.control.alpha.uniform = [-1e308, 1e308]": "uniform must be [least, most]",
    "seeds =": "not a TOML file",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_bad_files_are_one_line(folder, text):
    (folder / "bad.toml").write_text(f"scenario = 'small.toml'\n{text}\n")
    with pytest.raises(FileFormatError) as failure:
        Study.load(folder / "bad.toml")
    said = str(failure.value)
    assert BAD[text] in said
    assert said.startswith(f"{folder / 'bad.toml'}: ")
    assert "\n" not in said


def test_a_scenario_that_is_wrong_is_named(folder):
    (folder / "bad.toml").write_text("scenario = 'none.toml'")
    with pytest.raises(FileFormatError, match=r"cannot read .*none\.toml"):
        Study.load(folder / "bad.toml")
    (folder / "bad.toml").write_text("[scenario]\nstpes = 1")
    with pytest.raises(FileFormatError, match=r"scenario: unknown key 'stpes'"):
        Study.load(folder / "bad.toml")
    (folder / "bad.toml").write_text("seeds = 2")
    with pytest.raises(FileFormatError, match="scenario is missing"):
        Study.load(folder / "bad.toml")


def test_what_no_file_can_hold_is_an_error():
    study = Study(scenario=scenario(), over={"targets": [tc.Targets([[1, 1]])]})
    with pytest.raises(InputError, match="a value of this study cannot be written down"):
        study.to_toml()
    with pytest.raises(InputError, match="put it into a module of its own"):
        _ = Study(scenario=scenario(), measures=[lambda run: {}]).fingerprint
    with pytest.raises(InputError, match="into a TOML file"):
        Study(scenario=scenario(), over={"anchors": [None, "fit"]}).to_toml()
