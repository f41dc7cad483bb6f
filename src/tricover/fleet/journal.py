"""Everything that a recorder heard, as it came: a file to which messages are appended, signatures included.

    first line   JSON: format, the digest of the mission, how many agents there are, and the mission itself
    then         for each message: its length (4 bytes), when it was heard (8 bytes, s since 1970), checksums of the
                 message and of all before it (CRC-32; 4 bytes each), the message

A recorder that is killed leaves all that it had heard. A message that was cut short at the end is left out; one that
was damaged is an error.
"""

import json
import struct
from pathlib import Path
from typing import IO, Any, Self
from zlib import crc32

from tricover.errors import FileFormatError, StoreError
from tricover.fleet.encoding import LONGEST, decoded, header_of
from tricover.fleet.messages import MalformedError
from tricover.fleet.recording import Tracks
from tricover.simulation import Mission

__all__ = ["Journal", "next_entry", "open_journal", "tracks_of"]

FORMAT = 1
"""Of the file; others are not read."""
_ENTRY = struct.Struct("<IdI")
_CHECK = struct.Struct("<I")


class Journal:
    """A file that grows."""

    def __init__(self, path: Path, mission: Mission, digest: bytes) -> None:
        self.path = path
        self._file: IO[bytes] = path.open("xb")
        head = {"tricover flight": FORMAT, "digest": digest.hex(), "mission": json.loads(mission.to_json())}
        self._file.write(json.dumps(head).encode() + b"\n")

    def add(self, data: bytes, time: float) -> None:
        """Append a message."""
        head = _ENTRY.pack(len(data), time, crc32(data))
        self._file.write(head + _CHECK.pack(crc32(head)) + data)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """No more comes."""
        self._file.close()

    def remove(self) -> None:
        """A run was made of it: it is not needed any more."""
        self.path.unlink()


def open_journal(store: Path, mission: Mission, digest: bytes) -> Journal:
    """The file beside a store that keeps what is said until the store is written."""
    path = store.with_name(store.name + ".flight")
    try:
        return Journal(path, mission, digest)
    except FileExistsError:
        remedy = f"make a run of it (tricover fleet recover {path} -o OTHER), or remove it"
        raise StoreError(f"{path} holds a flight that was cut short: {remedy}") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None


def tracks_of(path: Path) -> Tracks:
    """What was said in a flight, from its file."""
    try:
        with path.open("rb") as file:
            head = _head(file.readline(), path)
            mission = Mission.from_json(json.dumps(head["mission"]))
            tracks, digest = Tracks(mission), bytes.fromhex(head["digest"])
            while (entry := next_entry(file)) is not None:
                data = entry[1]
                header = header_of(data)
                if header.mission == digest:
                    tracks.add(header, decoded(data, header, mission.agents))
    except FileFormatError:
        raise
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, MalformedError, RecursionError) as error:
        raise FileFormatError(f"{path}: this is not the record of a flight ({type(error).__name__})") from None
    return tracks


def _head(line: bytes, path: Path) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(line)
    if head["tricover flight"] != FORMAT:
        raise FileFormatError(f"{path}: a flight of format {head['tricover flight']}, not {FORMAT}")
    return head


def next_entry(file: IO[bytes]) -> tuple[float, bytes] | None:
    """When the next message was heard, and the message; None: there is none that is whole, yet."""
    start, size = file.tell(), _ENTRY.size + _CHECK.size
    head = file.read(size)
    if len(head) == size:
        length, heard, checksum = _ENTRY.unpack_from(head)
        if _CHECK.pack(crc32(head[: _ENTRY.size])) != head[_ENTRY.size :] or length > LONGEST:
            raise ValueError("an entry that was damaged")
        data = file.read(length)
        if len(data) == length:
            if crc32(data) != checksum:
                raise ValueError("an entry that was damaged")
            return heard, data
    file.seek(start)  # it was cut short, or is still being written
    return None
