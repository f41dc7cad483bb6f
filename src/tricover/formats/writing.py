"""Files are written whole or not at all: into a temporary file in the same folder, which then takes the name."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tricover.errors import FileFormatError, InputError
from tricover.limits import check_room

__all__ = ["draft_of", "read_whole", "write_whole"]

_CHUNK = 1 << 24  # bytes that are read at once
_MEMORY_PER_BYTE = 5  # what rows of numbers take while they are read: most in JSON, as lists of floats


@contextmanager
def draft_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place beside ``path`` for a file or a folder to be written; it takes the name at the end, or vanishes."""
    target = Path(path)
    if "\0" in target.name:
        raise FileFormatError(f"cannot write {target}: there is a null character in its name")
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            yield draft
            draft.replace(target)
        finally:
            if draft.is_dir():
                shutil.rmtree(draft)
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise FileFormatError(f"cannot write {target}: {error.strerror or error}") from error


def write_whole(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write ``data`` to ``path``; a reader, or a crash, sees the old file or the new one, never a part."""
    with draft_of(path) as draft, draft.open("xb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
        file.flush()
        os.fsync(file.fileno())


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
