"""A study of 2,000 runs of 57 agents: a plain loop, joblib and ours on two workers, in the same run; one table.

All three do the same for each row: change the scenario, simulate it, take the default measures. joblib's workers are
started by its first call, ours by a client: both are counted, and counted again where they are there already. A second
study of a program forks its workers from a process that is there already.
"""

from collections.abc import Iterator

import joblib

import tricover as tc
from benchmarks.compare import Row, seconds, size, span
from benchmarks.workers import HERE
from tricover.studies import Study, sweep
from tricover.studies.cluster import own_cluster
from tricover.studies.rows import Job, do_row

RUNS, WORKERS = 2000, 2


def rows() -> Iterator[Row]:
    study = asked()
    job = Job(study.scenario, study.design, study.columns)
    do_row(job, 0)  # compiles
    found = {}
    plain = seconds(lambda: found.update(plain=[do_row(job, row).values for row in range(len(study.design))]))
    theirs = seconds(lambda: found.update(joblib=beside(job)))
    mine = seconds(lambda: found.update(ours=sweep(study)))
    second = seconds(lambda: sweep(study))
    what = f"a study of {len(study.design):,} runs of 57 agents, {WORKERS} workers"
    yield Row(f"{what}, start included", span(mine), f"{span(plain)} plain loop", plain / mine, 1.6)
    yield Row(f"{what}, start included", span(mine), f"{span(theirs)} joblib", theirs / mine)
    yield Row(f"{what}, a second study, start included", span(second), f"{span(plain)} plain loop", plain / second, 1.6)
    with own_cluster(WORKERS) as client:
        sweep(study.model_copy(update={"seeds": 100}), client=client)  # each worker loads its kernels
        again = seconds(lambda: sweep(study, client=client))
    warm = seconds(lambda: beside(job))
    yield Row(f"{what}, running already", span(again), f"{span(plain)} plain loop", plain / again, 1.6)
    yield Row(f"{what}, running already", span(again), f"{span(warm)} joblib", warm / again)
    measured = found["ours"][list(study.columns)]
    ours = [dict(zip(study.columns, row, strict=True)) for row in measured.itertuples(index=False)]
    trios = zip(found["plain"], found["joblib"], ours, strict=True)
    differ = sum(one != other or one != third for one, other, third in trios)
    yield Row("rows of the three tables that differ", str(differ), "plain loop", differ, 0, at_most=True)


def asked() -> Study:
    """The paper's scenario, both mentee rules, many seeds."""
    scenario = tc.Scenario.load(HERE.parent / "examples" / "paper-57.toml")
    return Study(scenario=scenario, over={"network.mentee": ["fermat", "balanced"]}, seeds=size(RUNS) // 2)


def beside(job: Job) -> list[dict[str, object]]:
    done = joblib.Parallel(n_jobs=WORKERS)(joblib.delayed(do_row)(job, row) for row in range(len(job.design)))
    return [row.values for row in done]
