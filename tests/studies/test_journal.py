"""The journal: every way in which a file can be cut off or damaged, and what is left of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.errors import StoreError
from tricover.studies.journal import Journal, _line_of_rows
from tricover.studies.rows import Row

ROWS = [Row(number, {"x": number / 7, "n": None, "t": "é\n"}, None if number % 2 else "no", 0.1) for number in range(6)]


def written(folder):
    with Journal(folder, "mine") as journal:
        for start in range(0, 6, 2):
            journal.add(ROWS[start : start + 2])
    return folder / "rows.txt"


@given(cut=st.integers(0, 400), flip=st.integers(0, 400) | st.none())
@settings(max_examples=150)
def test_what_is_left_is_right_and_the_rest_can_be_done_again(tmp_path_factory, cut, flip):
    folder = tmp_path_factory.mktemp("journal") / "j"
    data = bytearray(written(folder).read_bytes())
    head = data.index(b"\n") + 1
    body = data[: head + cut]
    if flip is not None and len(body) > head:
        body[head + flip % (len(body) - head)] ^= 1
    (folder / "rows.txt").write_bytes(body)
    with Journal(folder, "mine") as journal:
        assert all(journal.rows[number] == ROWS[number] for number in journal.rows)
        whole = flip is None and cut >= len(data) - head
        assert (len(journal.rows) == 6) == whole
        journal.add(ROWS)
    with Journal(folder, "mine") as journal:
        assert [journal.rows[number] for number in range(6)] == ROWS
        assert journal.damaged == 0


def test_damage_is_counted_and_the_first_line_must_be_whole(tmp_path):
    file = written(tmp_path / "j")
    data = file.read_bytes()
    lines = data.split(b"\n")
    file.write_bytes(b"\n".join([lines[0], lines[1][:-1] + b"!", *lines[2:]]))
    with Journal(tmp_path / "j", "mine") as journal:
        assert (journal.damaged, sorted(journal.rows)) == (1, [2, 3, 4, 5])
    file.write_bytes(data[5:])
    with pytest.raises(StoreError, match="is damaged in its first line"):
        Journal(tmp_path / "j", "mine")
    file.write_bytes(data)
    with pytest.raises(StoreError, match="results of another study"):
        Journal(tmp_path / "j", "other")
    with Journal(tmp_path / "j", "other", overwrite=True) as journal:
        assert not journal.rows


def test_of_a_row_that_is_there_twice_the_first_counts(tmp_path):
    with Journal(tmp_path / "j", "mine") as journal:
        journal.add([Row(0, {"x": 1})])
        journal.add([Row(0, {"x": 2}), Row(1, {"x": 3})])
    file = tmp_path / "j" / "rows.txt"
    file.write_bytes(file.read_bytes() + _line_of_rows([Row(1, {"x": 4})]))
    with Journal(tmp_path / "j", "mine") as journal:
        assert {number: row.values["x"] for number, row in journal.rows.items()} == {0: 1, 1: 3}


def test_places_that_are_something_else_are_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "photo.jpg").touch()
    with pytest.raises(StoreError, match=r"is no journal of a study: photo\.jpg is in it"):
        Journal(tmp_path / "mine", "x", overwrite=True)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="is a file"):
        Journal(tmp_path / "file", "x")


def test_a_journal_that_was_taken_away_is_an_error(tmp_path):
    with Journal(tmp_path / "j", "mine") as journal:
        (tmp_path / "j" / "lock").unlink()
        with pytest.raises(StoreError, match="was removed or replaced"):
            journal.add(ROWS)
