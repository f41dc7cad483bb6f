"""``tricover sweep``: its table, figure, page and exit codes; one clear line when it cannot."""

import json
import re
from pathlib import Path

import pytest
from tests.studies.small import scenario
from typer.testing import CliRunner

from tricover.cli.main import app
from tricover.studies import Study, read_table, sweep

EXAMPLE = Path(__file__).parents[2] / "examples" / "paper-question.toml"


def call(*args):
    return CliRunner().invoke(app, ["sweep", *map(str, args)], catch_exceptions=False)


@pytest.fixture
def study(tmp_path):
    def write(**changes):
        made = Study(**{"scenario": scenario(), "seeds": 2, "measures": ["steps", "coverage_cost"], **changes})
        made.save(tmp_path / "study.toml")
        return tmp_path / "study.toml"

    return write


def test_the_table_is_that_of_python_and_the_summary_says_what_matters(study, tmp_path):
    file = study(over={"control.goal": ["centroid", "rollout"]})
    result = call(file, "-o", tmp_path / "t.parquet")
    assert result.exit_code == 0
    assert read_table(tmp_path / "t.parquet").equals(sweep(Study.load(file)))
    assert "coverage cost, m²" in result.stdout
    assert f"Wrote {tmp_path / 't.parquet'}" in result.stderr


def test_json_and_quiet(study, tmp_path):
    file = study()
    document = json.loads(call(file, "-o", tmp_path / "t.csv", "--json").stdout)
    assert (document["runs"], document["done"], document["failed"]) == (2, 2, 0)
    assert [one["measure"] for one in document["measures"]] == ["steps", "coverage_cost"]
    assert document["files"] == [str(tmp_path / "t.csv")]
    assert call(file, "--quiet").output == ""


def test_a_run_that_fails_is_said_and_the_exit_code_is_1(study, tmp_path):
    file = study(over={"control.goal": ["centroid", "nonsense"]})
    result = call(file, "-o", tmp_path / "t.csv", "--report", tmp_path / "page.html")
    assert result.exit_code == 1
    assert "Run 2 failed: InputError: control.goal" in result.stderr
    assert "2 of 4 runs without an error" in (tmp_path / "page.html").read_text()
    document = json.loads(call(file, "-o", tmp_path / "t.csv", "--json").stdout)
    assert [one["run"] for one in document["errors"]] == [2, 3]


def test_the_papers_question_at_small_size(tmp_path):
    """The example with fewer agents, targets and seeds: depth grows with the team, and more so by the paper's rule."""
    text = EXAMPLE.read_text()
    text = text.replace("seeds = 20", "seeds = 3").replace("count = 5000", "count = 300")
    small = re.sub(r"formation.agents = \[.*\]", "formation.agents = [10, 40, 160]", text)
    assert small.count("seeds = 3") == small.count("count = 300") == small.count("160") == 1
    (tmp_path / "small.toml").write_text(small)
    words = (tmp_path / "small.toml", "-o", tmp_path / "t.parquet", "--figure", tmp_path / "f.svg")
    assert call(*words, "--report", tmp_path / "page.html").exit_code == 0
    depth = read_table(tmp_path / "t.parquet").groupby(["network.mentee", "formation.agents"])["depth"].mean()
    assert depth["fermat"].is_monotonic_increasing
    assert depth["fermat", 160] > depth["balanced", 160] > depth["balanced", 10]
    drawn = (tmp_path / "f.svg").read_text()
    assert all(words in drawn for words in ("depth, layers", "settled at step", "mentee fermat"))
    page = (tmp_path / "page.html").read_text()
    assert all(words in page for words in ("What matters", "The same in numbers", "seeds"))


def test_the_example_itself_can_be_read():
    study = Study.load(EXAMPLE)
    assert len(study.design) == 240
    assert study.design[21] == {"formation.agents": 20, "network.mentee": "balanced", "seed": 1}


def test_bad_input_is_one_line(study, tmp_path, complaint):
    file = study()
    assert "cannot read" in complaint("sweep", tmp_path / "no.toml")
    assert "unknown ending '.txt' for a table" in complaint("sweep", file, "-o", tmp_path / "t.txt")
    assert "unknown ending '.bmp' for a figure" in complaint("sweep", file, "--figure", tmp_path / "f.bmp")
    assert "a page is an HTML file" in complaint("sweep", file, "--report", tmp_path / "f.pdf")
    assert "--overwrite goes with --output" in complaint("sweep", file, "--overwrite")
    assert "leave one of them out" in complaint("sweep", file, "--workers", 2, "--scheduler", "127.0.0.1:1")
    assert "is read here" in complaint("sweep", file, "-o", file)
    assert "are one file" in complaint("sweep", file, "--figure", tmp_path / "a.svg", "--report", tmp_path / "a.svg")
    file.write_text("[scenario]\nseeed = 1\n")
    assert "unknown key 'seeed'; did you mean 'seed'?" in complaint("sweep", file, "-o", tmp_path / "t.csv")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["study.toml"]


def test_another_study_of_one_table_is_one_line(study, tmp_path, complaint):
    call(study(), "-o", tmp_path / "t.csv")
    file = study(seeds=3)
    assert "results of another study" in complaint("sweep", file, "-o", tmp_path / "t.csv")
    assert call(file, "-o", tmp_path / "t.csv", "--overwrite").exit_code == 0


def test_the_scenarios_file_is_not_written_over(tmp_path, complaint):
    scenario().save(tmp_path / "base.csv")
    (tmp_path / "study.toml").write_text('scenario = "base.csv"\nseeds = 1\n')
    assert "is read here" in complaint("sweep", tmp_path / "study.toml", "-o", tmp_path / "base.csv")


@pytest.mark.parametrize("base", ["\\u0000", "study.toml", "other.toml"])
def test_a_scenario_that_is_none_is_one_line(tmp_path, base, complaint):
    """A name that no file can have, the study itself, and another study that names this one."""
    (tmp_path / "study.toml").write_text(f'scenario = "{base}"\n')
    (tmp_path / "other.toml").write_text('scenario = "study.toml"\n')
    (tmp_path / "t.csv").write_text("mine")
    said = complaint("sweep", tmp_path / "study.toml", "-o", tmp_path / "t.csv")
    assert "cannot read" in said or "unknown key 'scenario'" in said
    assert (tmp_path / "t.csv").read_text() == "mine"
