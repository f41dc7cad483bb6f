"""Files that are written whole or not at all: their names, links, devices, and what a power cut can cost."""

import errno
import os
from pathlib import Path

import pytest

from tricover.errors import FileFormatError
from tricover.formats import draft_of, make_folder, sync_folder, write_whole


@pytest.fixture
def calls(monkeypatch):
    """What is synced and renamed, in order."""
    seen = []
    fsync, replace = os.fsync, Path.replace

    def watched_fsync(handle):
        seen.append(("sync", os.readlink(f"/proc/self/fd/{handle}")))
        fsync(handle)

    def watched_replace(self, target):
        seen.append(("rename", str(self), str(target)))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "replace", watched_replace)
    return seen


def test_content_is_on_disk_before_the_name_and_the_name_before_the_end(tmp_path, calls):
    write_whole(tmp_path / "a.txt", "a")
    (_, first), (_, draft, target), (_, last) = calls
    assert (first, target, last) == (draft, str(tmp_path / "a.txt"), str(tmp_path))


def test_all_of_a_folder_is_on_disk_before_it_has_its_name(tmp_path, calls):
    with draft_of(tmp_path / "plans") as draft:
        (draft / "inner").mkdir(parents=True)
        (draft / "one").write_text("1")
        (draft / "inner" / "two").write_text("2")
    *before, renamed, after = calls
    assert {path for _, path in before} == {str(draft / name) for name in ("", "one", "inner", "inner/two")}
    assert (renamed[0], after) == ("rename", ("sync", str(tmp_path)))


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EIO])
def test_a_system_that_cannot_sync_folders_is_no_fault_but_a_broken_disk_is(tmp_path, monkeypatch, code):
    def fail(handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    if code == errno.EINVAL:
        sync_folder(tmp_path)
    else:
        with pytest.raises(OSError, match="Input/output"):
            sync_folder(tmp_path)
        with pytest.raises(FileFormatError, match="cannot write"):
            write_whole(tmp_path / "a.txt", "a")
        assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_opened_is_no_fault(tmp_path, monkeypatch):
    def refuse(path, flags):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    sync_folder(tmp_path)


def test_half_a_character_is_named(tmp_path):
    with pytest.raises(FileFormatError, match=r"a.txt: '\\ud800' in its text is no character"):
        write_whole(tmp_path / "a.txt", "a\ud800")
    assert not list(tmp_path.iterdir())


def test_new_folders_are_kept(tmp_path, calls):
    make_folder(tmp_path / "a" / "b")
    assert {path for _, path in calls} == {str(tmp_path), str(tmp_path / "a")}
    make_folder(tmp_path / "a" / "b")
    assert len(calls) == 2


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to("real")
    for text in ("new", "newer"):
        write_whole(tmp_path / "link", text)
        assert (tmp_path / "real").read_text() == text
        assert (tmp_path / "link").is_symlink()


def test_the_longest_name_can_be_written(tmp_path):
    write_whole(tmp_path / ("n" * 255), "a")
    assert (tmp_path / ("n" * 255)).read_text() == "a"


def test_what_is_no_file_is_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    for name, words in {
        "pipe": "neither a file nor a folder",
        "circle": "symbolic link",
        "full": "directory",
        "": "directory",
        "n" * 256: "too long",
        "a\0b": "name",
        "a\ud800b": "name",
        "full/mine/x": "directory",
    }.items():
        with pytest.raises(FileFormatError, match=words):
            write_whole(f"{tmp_path}/{name}", "a")
    with pytest.raises(FileFormatError, match="not empty"), draft_of(tmp_path / "full") as draft:
        draft.mkdir()
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
