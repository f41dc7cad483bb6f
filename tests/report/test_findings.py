"""A report works out each thing once, and hands it on to the sections and figures that show it."""

import sys

import numpy as np
import pytest

import tricover as tc
from tests.report.pages import scenario, with_events
from tricover.coverage import coverage_over_time, lloyd, lloyd_through
from tricover.goals import desired_configuration
from tricover.report import findings_of, write_report


@pytest.fixture
def calls(monkeypatch):
    """Watch a function under all names that modules have given it: the arguments of its calls."""

    def watch(function):
        found = []

        def watched(*args, **kwargs):
            found.append((args, kwargs))
            return function(*args, **kwargs)

        for module in [module for name, module in sys.modules.items() if name.startswith("tricover.")]:
            for name in [name for name, value in vars(module).items() if value is function]:
                monkeypatch.setattr(module, name, watched)
        return found

    return watch


def question(args, kwargs):
    """What a call of Lloyd's algorithm asks, by content."""
    start, targets, *more = args
    fixed = np.asarray(kwargs.get("fixed", ()), int).tolist()
    return np.asarray(start).tobytes(), targets.points.tobytes(), *more, *fixed


@pytest.mark.parametrize("made", [scenario, with_events])
def test_lloyds_algorithm_never_answers_the_same_question_twice(made, calls, tmp_path):
    run = tc.simulate(made())
    asked = calls(lloyd)
    write_report(run, tmp_path / "page.html")
    questions = [question(*call) for call in asked]
    assert len(questions) == len(set(questions))


def test_without_changes_two_runs_of_lloyds_are_enough(calls, monkeypatch, tmp_path):
    """One with the anchors held and one without; the latter is the line in the figure too."""
    monkeypatch.setattr("tricover.coverage.baselines.plan_reference", lambda targets, agents: None)
    run = tc.simulate(scenario())
    asked = calls(lloyd)
    write_report(run, tmp_path / "page.html")
    assert [len(call[1].get("fixed", ())) for call in asked] == [0, len(run.network.anchors)]


@pytest.mark.parametrize(("stored", "times"), [(True, 0), (False, 1)])
def test_desired_positions_are_found_once(calls, tmp_path, stored, times):
    """The store of a finished run keeps them."""
    run = tc.simulate(scenario(), tmp_path / "run" if stored else None)
    if stored:
        run = tc.Run.open(tmp_path / "run")
    asked = calls(desired_configuration)
    write_report(run, tmp_path / "page.html")
    assert len(asked) == times


def test_positions_are_read_once(monkeypatch, tmp_path):
    """Once by the report; the run itself looks for the step at which it settled."""
    tc.simulate(scenario(), tmp_path / "run")
    run, read = tc.Run.open(tmp_path / "run"), []
    assert run.settled_at is not None
    original = tc.Run.read

    def watched(self, name, start=0, stop=None):
        found = original(self, name, start, stop)
        read.append((name, len(found)))
        return found

    monkeypatch.setattr(tc.Run, "read", watched)
    write_report(run, tmp_path / "page.html")
    long = [length for name, length in read if name == "positions" and length > 2]  # ends are read for themselves
    assert long == [run.steps + 1]


@pytest.mark.parametrize("made", [scenario, with_events])
def test_a_run_that_does_not_fit_in_memory_says_the_same(made, monkeypatch, tmp_path):
    run = tc.simulate(made())
    whole = write_report(run, tmp_path / "whole.html").read_bytes()
    monkeypatch.setattr("tricover.report.findings.BLOCK", 0)
    assert findings_of(run).positions is None
    assert write_report(run, tmp_path / "parts.html").read_bytes() == whole


def test_findings_are_those_of_the_parts():
    run = tc.simulate(with_events())
    found = findings_of(run)
    assert found.certificate.to_json() == tc.certify(run).to_json()
    alone = coverage_over_time(run)
    np.testing.assert_array_equal(found.covering.trace.costs, alone.costs)
    np.testing.assert_array_equal(found.covering.trace.lloyd, alone.lloyd)
    ends = {team.name: team.coverage.cost for team in found.covering.teams}
    living = run.network.layer >= 0
    assert ends["this run, at the end"] == tc.coverage_cost(run.positions[-1][living], run.targets)
    assert ends["Lloyd's algorithm, converged"] == pytest.approx(
        tc.lloyd(run.positions[0][living], run.targets, tolerance=1e-6).cost
    )


def test_lloyds_through_a_run_without_changes_is_plain_lloyds():
    run = tc.simulate(scenario())
    found, plain = lloyd_through(run), tc.lloyd(run.positions[0], run.targets, tolerance=1e-6)
    np.testing.assert_array_equal(found.positions, plain.positions)
    np.testing.assert_array_equal(found.costs, plain.costs)
    assert found.converged
