"""Everything that a recorder heard, as it came: a file to which messages are appended, signatures included.

    first line   JSON: format, the digest of the mission, how many agents there are, and the mission itself
    then         for each message: its length (4 bytes), when it was heard (8 bytes, s since 1970), the message

A recorder that is killed leaves all that it had heard. A message that was cut short at the end is left out.
"""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tricover.errors import FileFormatError
from tricover.fleet.messages import LONGEST, MalformedError, decoded, header_of
from tricover.fleet.recording import Tracks
from tricover.simulation import Mission

__all__ = ["Journal", "tracks_of"]

FORMAT = 1
_ENTRY = struct.Struct("<Id")


class Journal:
    """A file that grows."""

    def __init__(self, path: Path, mission: Mission, digest: bytes) -> None:
        self.path = path
        self._file: IO[bytes] = path.open("xb")
        head = {"tricover flight": FORMAT, "digest": digest.hex(), "mission": json.loads(mission.to_json())}
        self._file.write(json.dumps(head).encode() + b"\n")

    def add(self, data: bytes, time: float) -> None:
        """Append a message."""
        self._file.write(_ENTRY.pack(len(data), time) + data)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """No more comes."""
        self._file.close()


def tracks_of(path: Path) -> Tracks:
    """What was said in a flight, from its file."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline())
            if head["tricover flight"] != FORMAT:
                raise FileFormatError(f"{path}: a flight of format {head['tricover flight']}, not {FORMAT}")
            mission = Mission.from_json(json.dumps(head["mission"]))
            tracks, digest = Tracks(mission), bytes.fromhex(head["digest"])
            for data in _entries(file):
                header = header_of(data)
                if header.mission == digest:
                    tracks.add(header, decoded(data, header, mission.agents))
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, MalformedError, RecursionError) as error:
        raise FileFormatError(f"{path}: this is not the record of a flight ({type(error).__name__})") from None
    return tracks


def _entries(file: IO[bytes]) -> Iterator[bytes]:
    while len(head := file.read(_ENTRY.size)) == _ENTRY.size:
        length, _ = _ENTRY.unpack(head)
        if length > LONGEST:
            raise ValueError("an entry that is too long")
        data = file.read(length)
        if len(data) < length:
            return
        yield data
