"""``Journal``: the rows of a study that are done, on disk, so that none is lost or done twice.

A journal is a folder beside the table. In it is ``rows.txt``: a line for the study, by its fingerprint, then a line for
each chunk of rows, appended when it is done and on the disk before the next one. A line begins with the checksum of the
rest. A line that was cut off by a kill, or damaged later, is left out: its rows are missing, and are done again. Of a
row that is there twice the first one counts.

One process writes at a time, see ``lock``. Numbers are written with all their digits, so a table made from the journal
is the same, to the bit.
"""

import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Self

from tricover.errors import StoreError
from tricover.formats import make_folder, write_whole
from tricover.simulation.lock import Lock
from tricover.studies.rows import Row

__all__ = ["Journal", "journal_of"]

_FILE, _LOCK, _FORMAT = "rows.txt", "lock", 1


def journal_of(table: str | os.PathLike[str]) -> Path:
    """The folder with the journal of a table.

    >>> journal_of("depth.parquet").as_posix()
    'depth.parquet.journal'
    """
    return Path(f"{os.fspath(table)}.journal")


class Journal:
    """The rows of a study that are done, and the right to add to them until it is closed.

    Attributes:
        rows: by number.
        damaged: how many lines could not be read.
    """

    def __init__(self, folder: Path, fingerprint: str, overwrite: bool = False) -> None:
        self._folder, self._path = folder, folder / _FILE
        _check_place(folder)
        make_folder(folder)
        self._lock = Lock(folder)
        try:
            lines = [] if overwrite or not self._path.exists() else self._path.read_bytes().split(b"\n")
            self.rows, self.damaged = self._read(lines, fingerprint)
            if not lines or self.damaged or lines[-1]:
                head = _line({"format": _FORMAT, "study": fingerprint})
                write_whole(self._path, head + b"".join(map(_line_of_rows, [[row] for row in self.rows.values()])))
            self._file: IO[bytes] = self._path.open("ab")
        except BaseException:
            self._lock.release()
            raise

    def _read(self, lines: list[bytes], fingerprint: str) -> tuple[dict[int, Row], int]:
        """The rows of lines, and how many lines before the last one are damaged; another study's are an error."""
        if not lines:
            return {}, 0
        head = _content(lines[0])
        if not isinstance(head, dict):
            raise StoreError(
                f"{self._path} is damaged in its first line: begin anew (overwrite), or name another table"
            )
        if head != {"format": _FORMAT, "study": fingerprint}:
            raise StoreError(
                f"{self._folder} has the results of another study, or of this one before it, a file that it names, or "
                "Tricover was changed: begin anew (overwrite), or name another table"
            )
        found = [_content(line) for line in lines[1:-1]]
        rows: dict[int, Row] = {}
        for chunk in found:
            for number, values, error, seconds in chunk or []:
                rows.setdefault(number, Row(number, values, error, seconds))
        return rows, found.count(None)

    def add(self, rows: Iterable[Row]) -> None:
        """Append a chunk; it is on the disk when this ends."""
        new = [row for row in rows if row.number not in self.rows]
        if not new:
            return
        self._lock.check(self._folder)
        try:
            self._file.write(_line_of_rows(new))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror or error}") from error
        self.rows.update((row.number, row) for row in new)

    def close(self) -> None:
        """Let others write."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_place(folder: Path) -> None:
    """Complain about a folder that is there, and no journal."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file, and results are kept there as they come: name another table")
    strangers = _strangers(folder) if folder.is_dir() else []
    if strangers:
        raise StoreError(f"{folder} is no journal of a study: {strangers[0]} is in it; name another table")


def _strangers(folder: Path) -> list[str]:
    return sorted(
        each.name
        for each in folder.iterdir()
        if each.name not in (_FILE, _LOCK) and not each.name.startswith(".tricover-")
    )


def _line_of_rows(rows: Iterable[Row]) -> bytes:
    return _line([list(row) for row in rows])


def _line(content: Any) -> bytes:
    text = json.dumps(content, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _content(line: bytes) -> Any:
    """What a line says; None if it is damaged."""
    given, _, text = line.partition(b" ")
    if given != b"%08x" % zlib.crc32(text) or not text:
        return None
    return json.loads(text)
