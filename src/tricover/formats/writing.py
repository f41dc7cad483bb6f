"""Files are written whole or not at all: into a temporary file in the same folder, which then takes the name.

A power cut costs nothing that was written: the content is on the disk before it takes the name, and the name before
``write_whole`` or ``draft_of`` ends. On systems that cannot sync a folder the name may be lost, never the old content.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tricover.errors import FileFormatError, InputError
from tricover.limits import check_room

__all__ = [
    "DRAFTS",
    "draft_of",
    "make_folder",
    "new_draft",
    "read_whole",
    "real_place",
    "sync",
    "sync_file",
    "sync_folder",
    "write_whole",
]

DRAFTS = ".tricover-*.part"
"""Names of what is not yet whole, as a pattern."""
_CHUNK = 1 << 20  # bytes that are read at once
_SYNCS = 4  # waits for the disk at once: file systems make one of them. Groups of arrays took a fourth of the time
_MEMORY_PER_BYTE = 5  # what rows of numbers take while they are read: most in JSON, as lists of floats


@contextmanager
def draft_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place beside ``path`` for a file or a folder to be written; it takes the name at the end, or vanishes.

    A file that is there is replaced, through a link too; a folder only if it is empty. A device is no place for a file.
    """
    target = real_place(path)
    draft = new_draft(target.parent)
    try:
        try:
            yield draft
            sync(draft)
            draft.replace(target)
            sync_folder(target.parent)
        finally:
            if draft.is_dir():
                shutil.rmtree(draft)
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise FileFormatError(f"cannot write {path}: {error.strerror or error}") from error


def new_draft(folder: Path) -> Path:
    """A name in a folder for what is not yet whole; short, as one made of the target's could be too long."""
    return folder / f".tricover-{secrets.token_hex(8)}.part"


def write_whole(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write ``data`` to ``path``; a reader, or a crash, sees the old file or the new one, never a part."""
    try:
        content = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError as error:
        raise FileFormatError(f"cannot write {path}: {data[error.start]!r} in its text is no character") from error
    with draft_of(path) as draft, draft.open("xb") as file:
        file.write(content)


def sync_file(path: str | os.PathLike[str]) -> None:
    """Wait until what was written to a file is on the disk."""
    with Path(path).open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Wait until the names in a folder are on the disk; where the system cannot do that, go on."""
    try:
        folder = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders; elsewhere one may be writable and not readable
        return
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # of file systems that sync no folders
            raise
    finally:
        os.close(folder)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder where there is none, and those around it, so that a power cut does not take them back."""
    folder = Path(path).absolute()
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)


def sync(path: Path) -> None:
    """Wait until a file, or a folder with all that is in it, is on the disk."""
    if not path.is_dir():
        sync_file(path)
        return
    with ThreadPoolExecutor(_SYNCS) as pool:
        list(pool.map(lambda each: (sync_folder if each.is_dir() else sync_file)(each), (path, *path.rglob("*"))))


def real_place(path: str | os.PathLike[str]) -> Path:
    """The place that a path means, links followed: else a link, or even a device, would be replaced by a file."""
    try:
        target = Path(os.path.realpath(path))
        kind = target.stat().st_mode
    except FileNotFoundError:
        return target
    except OSError as error:
        raise FileFormatError(f"cannot write {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise FileFormatError(f"cannot write {os.fspath(path)!r}: no file can have this name") from error
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise FileFormatError(f"cannot write {path}: it is neither a file nor a folder")
    return target


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file; a file that cannot be read, has no room in memory or is empty is a FileFormatError."""
    try:
        with Path(path).open("rb") as file:
            data = b"".join(_chunks(file, path))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise FileFormatError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not data.strip():
        raise FileFormatError(f"{path} is empty: no points to read")
    return data


def _chunks(file: BinaryIO, path: object) -> Iterator[bytes]:
    """A file piece by piece: a device has no size that could be known before."""
    length = 0
    while chunk := file.read(_CHUNK):
        length += len(chunk)
        check_room(_MEMORY_PER_BYTE * length, f"the contents of {path}")
        yield chunk
