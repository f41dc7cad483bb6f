"""Files are written whole or not at all: into a temporary file in the same folder, which then takes the name."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tricover.errors import FileFormatError

__all__ = ["draft_of", "read_whole", "write_whole"]


@contextmanager
def draft_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place beside ``path`` for a file or a folder to be written; it takes the name at the end, or vanishes."""
    target = Path(path)
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
    """The bytes of a file; a file that cannot be read or is empty is a FileFormatError."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    if not data.strip():
        raise FileFormatError(f"{path} is empty: no points to read")
    return data
