"""Some thousand broken files with a fixed seed; and that a campaign finds what it looks for."""

import itertools

import pytest

from tests.fuzz.campaign import Case, campaign, data_of, try_file, turns
from tests.fuzz.faulty import CRASHES, FAULTY, HANGS
from tests.fuzz.subjects import SUBJECTS

READERS = [subject for subject in SUBJECTS.values() if not subject.name.startswith("tricover")]
COMMANDS = [subject for subject in SUBJECTS.values() if subject.name.startswith("tricover")]


def told(failures):
    """What to print of failures: how to see them again, and why."""
    return "\n".join(
        f"{one.case.subject.name} seed {one.case.seed}, case {one.case.number}: {one.reason}" for one in failures
    )


@pytest.mark.parametrize(("subjects", "cases"), [(READERS, 3000), (COMMANDS, 300)], ids=["readers", "commands"])
def test_broken_files_are_refused_in_one_line_or_read_as_they_should_be(subjects, cases):
    tally = campaign(itertools.islice(turns(subjects, seed=14), cases))
    assert not tally.failures, told(tally.failures)
    assert tally.tried.total() == cases
    assert all(tally.tried[subject.name] for subject in subjects)
    assert 0.02 * cases < tally.accepted.total() < 0.5 * cases  # some breaks do no harm; most do


@pytest.mark.parametrize(("subject", "message"), FAULTY, ids=[subject.name for subject, _ in FAULTY])
def test_every_kind_of_fault_is_found(tmp_path, subject, message):
    reason, accepted, _ = try_file(subject, b"x,y\n1,2\n", tmp_path)
    assert message in reason
    assert not accepted


def test_a_hang_is_ended(tmp_path):
    reason, _, seconds = try_file(HANGS, b"", tmp_path, most_seconds=0.2)
    assert "took more than 0.2 s" in reason
    assert seconds < 20


def test_a_crash_is_found_and_the_campaign_goes_on():
    careful = SUBJECTS["csv"]
    cases = [Case(careful, 0, 0), Case(CRASHES, 0, 0), Case(careful, 0, 1)]
    tally = campaign(cases)
    assert [failure.case for failure in tally.failures] == [cases[1]]
    assert "the process died with exit code" in tally.failures[0].reason
    assert tally.tried == {"csv": 2, "crashes": 1}


@pytest.mark.parametrize("kind", sorted({subject.kind for subject in SUBJECTS.values()}))
def test_a_case_is_the_same_file_every_time_and_no_two_are_alike(kind):
    subject = next(subject for subject in SUBJECTS.values() if subject.kind == kind)
    files = [data_of(Case(subject, 1, number)) for number in range(60)]
    assert files == [data_of(Case(subject, 1, number)) for number in range(60)]
    assert len({*files, data_of(Case(subject, 2, 0))}) > 50
