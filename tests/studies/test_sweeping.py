"""``sweep``: the table of a plain loop, whoever does the rows; what fails, what goes on, what is refused."""

import json
import os
import signal
import threading

import numpy as np
import pytest

import tricover as tc
from tests.studies.small import combinations, facts, plain_loop, scenario, values
from tricover.errors import FileFormatError, InputError, MissingExtraError, StoreError
from tricover.simulation.lock import Lock
from tricover.studies import Study, cluster, read_table, sweep, write_table
from tricover.studies.cluster import own_cluster
from tricover.studies.journal import journal_of

OVER = {"seed": range(3), "control.goal": ["centroid", "rollout"], "vehicle": ["exact", "anywhere"]}


@pytest.fixture(scope="module")
def plain():
    return plain_loop(scenario(), OVER)


def test_the_table_is_that_of_a_plain_loop(plain):
    table = tc.sweep(scenario(), over=OVER)
    assert values(table) == plain
    assert list(table) == [
        *OVER,
        "settled_at",
        "converged",
        "steps",
        "depth",
        "coverage_cost",
        "separation",
        "misses",
        "error",
    ]
    assert table.attrs["keys"] == list(OVER)


def test_workers_give_the_same_table_to_the_bit(plain, client):
    assert values(tc.sweep(scenario(), over=OVER, client=client)) == plain
    assert values(tc.sweep(scenario(), over=OVER, client=client.scheduler.address)) == plain


def test_a_measure_of_ones_own(client):
    over = {"seed": [3, 1]}
    expected = [{"seed": seed, **facts(tc.simulate(scenario(seed=seed))), "error": None} for seed in over["seed"]]
    assert values(sweep(scenario(), over, facts)) == expected
    assert values(sweep(scenario(), over, "tests.studies.small:facts", client)) == expected
    assert values(sweep(scenario(), over, lambda run: facts(run), client)) == expected
    both = sweep(scenario(), over, ["depth", facts])
    assert list(both) == ["seed", "depth", "sum", "last", "error"]


def test_numbers_that_no_column_of_numbers_holds_are_texts(tmp_path):
    over = {"seed": [2**63 - 1, 2**63, 10**30], "control.beta": [1, 10**400]}
    table = sweep(scenario(), over, lambda run: {"large": 10**25, "small": 3})
    assert table["seed"].tolist() == [str(seed) for seed in over["seed"] for _ in range(2)]
    assert table["control.beta"].tolist() == ["1", "#1"] * 3
    assert table["error"].isna().tolist() == [True, *[False] * 5]
    assert table["large"][0] == str(10**25)
    assert table["small"][0] == 3
    write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")["seed"].tolist() == table["seed"].tolist()


def test_a_run_that_fails_is_a_row_with_its_error(client):
    over = {"formation.positions": [scenario().formation.positions, [[0, 0], [1, 1], [2, 2], [3, 3]]], "seed": [0]}
    for where in (None, client):
        table = sweep(scenario(), over, client=where)
        assert table["error"].isna().tolist() == [True, False]
        assert "FormationError" in table["error"][1]
        assert table["formation.positions"].tolist()[0].startswith("#")
        assert np.isnan(table["coverage_cost"][1])
        assert table["converged"].isna().tolist() == [False, True]


def test_values_that_cannot_be_are_rows_with_errors_and_keys_that_are_not_are_refused_at_once(tmp_path):
    table = sweep(scenario(), {"control.goal": ["centroid", "nonsense"]}, ["steps"])
    assert "control.goal" in table["error"][1]
    for key, said in {
        "control.gaol": "unknown key 'control.gaol'; did you mean 'goal'?",
        "contrl.goal": "unknown key 'contrl'; did you mean 'control'?",
        "seed.one": "unknown key 'seed.one'; 'seed' has no keys of its own",
    }.items():
        with pytest.raises(InputError, match=f"^{said.replace('?', '.')}"):
            sweep(scenario(), {key: [1]}, store=tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


def test_a_measure_that_cannot_be_taken_is_missing_and_the_others_are_there():
    def broken(run):
        if run.scenario.seed:
            raise ValueError("two\nlines")
        return {"mine": 1}

    table = sweep(scenario(), {"seed": [0, 1]}, ["steps", broken])
    assert table["steps"].tolist() == [12, 12]
    assert table["mine"].isna().tolist() == [False, True]
    assert table["error"][1] == r"broken: ValueError: two\nlines"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda run: {"seed": 1}, "the measure 'seed' has the name of another column"),
        (lambda run: {"error": 1}, "the measure 'error' has the name of another column"),
        (lambda run: {"x": run.positions}, "a measure is a number, a truth value, a text or None"),
        (lambda run: 7, "a measure gives a dictionary of names and values, not 7"),
        (lambda run: {1: 7}, "a measure gives a dictionary of names and values"),
    ],
)
def test_what_is_no_measure_is_an_error_of_the_row(given, said):
    assert said in sweep(scenario(), {"seed": [0]}, given)["error"][0]


def test_measures_that_are_not_there_are_refused():
    with pytest.raises(InputError, match="there is no measure 'depht'; did you mean 'depth'"):
        sweep(scenario(), {"seed": [0]}, ["depht"])
    with pytest.raises(InputError, match=r"a measure must take \(run\)"):
        sweep(scenario(), {"seed": [0]}, lambda one, other: {})


def test_what_is_done_is_kept_and_nothing_is_done_twice(tmp_path):
    path, over, calls = tmp_path / "table.parquet", {"seed": range(5)}, tmp_path / "calls"
    calls.mkdir()
    first = sweep(scenario(), over, "tests.studies.counting:counted", store=path) if stop_after(calls, 3) else None
    assert first is not None
    assert first.attrs["runs"] - len(first) == 2
    stop_after(calls, 100)
    whole = sweep(scenario(), over, "tests.studies.counting:counted", store=path)
    again = sweep(scenario(), over, "tests.studies.counting:counted", store=path)
    assert whole.equals(again)
    assert whole["seed"].tolist() == list(range(5))
    assert sorted(each.name for each in calls.iterdir()) == [f"{seed}-1" for seed in range(5)]
    assert read_table(path).equals(whole)


def stop_after(calls, count):
    """From so many calls on, the measure presses Ctrl-C."""
    os.environ["TRICOVER_TEST_CALLS"], os.environ["TRICOVER_TEST_STOP"] = str(calls), str(count)
    return True


@pytest.fixture(autouse=True)
def _no_calls(monkeypatch):
    monkeypatch.setenv("TRICOVER_TEST_CALLS", "")
    monkeypatch.setenv("TRICOVER_TEST_STOP", "")


def test_ctrl_c_during_a_step_ends_the_study(monkeypatch):
    def press(run):
        if run.scenario.seed == 2:
            signal.raise_signal(signal.SIGINT)
        return {"x": 1}

    table = sweep(scenario(), {"seed": range(5)}, press)
    assert table["seed"].tolist() == [0, 1]
    assert table.attrs["runs"] == 5


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_that_is_read_is_the_one_that_was_written(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    table = sweep(scenario(), {"seed": range(2), "control.goal": ["centroid", "nonsense"]}, store=path)
    back = read_table(path)
    assert back["coverage_cost"].tolist()[::2] == table["coverage_cost"].tolist()[::2]
    assert back["error"].isna().tolist() == table["error"].isna().tolist()
    if ending == "parquet":
        assert back.equals(table)
        assert back.attrs["keys"] == ["seed", "control.goal"]


def test_another_study_is_refused_and_overwrite_begins_anew(tmp_path):
    path = tmp_path / "table.csv"
    sweep(scenario(), {"seed": [0]}, ["steps"], store=path)
    with pytest.raises(StoreError, match="results of another study"):
        sweep(scenario(), {"seed": [1]}, ["steps"], store=path)
    with pytest.raises(StoreError, match="results of another study"):
        sweep(scenario(steps=3), {"seed": [0]}, ["steps"], store=path)
    assert read_table(path)["seed"].tolist() == [0]
    sweep(scenario(), {"seed": [1]}, ["steps"], store=path, overwrite=True)
    assert read_table(path)["seed"].tolist() == [1]


def test_the_second_process_on_one_table_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    journal_of(path).mkdir()
    lock = Lock(journal_of(path))
    with pytest.raises(StoreError, match="is being written by another process"):
        sweep(scenario(), {"seed": [0]}, store=path)
    lock.release()
    sweep(scenario(), {"seed": [0]}, store=path)


def test_runs_are_kept_and_belong_to_their_study(tmp_path):
    over = {"seed": [4, 5]}
    sweep(scenario(), over, ["steps"], keep=tmp_path / "runs")
    for number, seed in enumerate(over["seed"]):
        run = tc.Run.open(tmp_path / "runs" / f"{number:06d}.zarr")
        assert np.array_equal(run.positions, tc.simulate(scenario(seed=seed)).positions)
    sweep(scenario(), over, ["depth", "steps"][1:], keep=tmp_path / "runs")
    with pytest.raises(StoreError, match="something else than the runs of this study"):
        sweep(scenario(), {"seed": [4]}, ["steps"], keep=tmp_path / "runs")


def test_progress_tells_of_every_row_once():
    told = []
    sweep(scenario(), {"seed": range(4)}, ["steps"], progress=told.append)
    assert told[-1].done == told[-1].total == 4
    assert [row["seed"] for now in told for row in now.rows] == [0, 1, 2, 3]
    assert told[-1].seconds_left == 0


def test_what_a_study_says_is_not_said_again():
    study = Study(scenario=scenario(), over={"seed": [0]}, measures=["steps"])
    assert sweep(study).equals(sweep(scenario(), {"seed": [0]}, ["steps"]))
    with pytest.raises(InputError, match="a study says over itself"):
        sweep(study, {"seed": [1]})
    with pytest.raises(InputError, match="sweep takes a Scenario or a Study, not dict"):
        sweep({})
    with pytest.raises(InputError, match="workers must be a whole number from 1 on, not 0"):
        sweep(study, workers=0)
    with pytest.raises(InputError, match="give client or workers"):
        sweep(study, client="127.0.0.1:1", workers=2)
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client"):
        sweep(study, client=7)


def test_a_table_that_cannot_be_written_is_refused_before_anything_is_run(tmp_path):
    with pytest.raises(FileFormatError, match=r"unknown ending '\.xls' for a table; expected \.parquet and \.csv"):
        sweep(scenario(), {"seed": [0]}, store=tmp_path / "table.xls")
    assert not list(tmp_path.iterdir())


def test_no_scheduler_is_one_line(monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER", 0.5)
    with pytest.raises(tc.TricoverError, match=r"no scheduler at 127\.0\.0\.1:1: nobody answers"):
        sweep(scenario(), {"seed": [0]}, client="127.0.0.1:1")


@pytest.mark.parametrize(
    ("library", "said"), [("pandas", "studies need the library pandas"), ("distributed", "on several workers need")]
)
def test_a_library_that_is_missing_is_an_error_that_names_the_extra(monkeypatch, library, said):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"{said}.*tricover\[cluster\]"):
        sweep(scenario(), {"seed": [0]}, workers=2)


def test_nothing_depends_on_who_else_is_at_work(plain):
    tables = []
    threads = [threading.Thread(target=lambda: tables.append(sweep(scenario(), OVER, workers=1))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [values(table) for table in tables] == [plain, plain]


def test_rows_stand_in_the_order_of_the_combinations():
    over = {"control.goal": ["rollout", "centroid"], "seed": [5, 2]}
    table = sweep(scenario(), over, ["steps"])
    assert [
        dict(zip(over, row, strict=True)) for row in zip(*(table[key] for key in over), strict=True)
    ] == combinations(over)


def test_a_journal_is_plain_text_with_all_digits(tmp_path):
    path = tmp_path / "table.csv"
    table = sweep(scenario(), {"seed": [0]}, ["coverage_cost"], store=path)
    _, line, rest = (journal_of(path) / "rows.txt").read_text().split("\n")
    assert rest == ""
    [[number, found, error, _]] = json.loads(line.partition(" ")[2])
    assert (number, found["coverage_cost"], error) == (0, table["coverage_cost"][0], None)


def _what_a_worker_has():
    from tricover.targets._kernels import sum_inside

    return bool(sum_inside.signatures), os.environ["TRICOVER_TEST_WORD"]


def test_workers_begin_with_what_they_need(monkeypatch):
    """They are forked from a process that has loaded it; it may be older than the environment."""
    for word in ("one", "other"):
        monkeypatch.setenv("TRICOVER_TEST_WORD", word)
        with own_cluster(2) as client:
            assert list(client.run(_what_a_worker_has).values()) == [(True, word)] * 2


def test_a_cluster_leaves_the_environment_as_it_was():
    """Numba complains about other numbers of threads, in whatever comes later in the same process."""
    before = dict(os.environ)
    with own_cluster(1) as client:
        assert set(client.run(lambda: os.environ["TRICOVER_THREADS"]).values()) == {"1"}
        assert "NUMBA_NUM_THREADS" not in os.environ.keys() - before.keys()
    assert dict(os.environ) == before
