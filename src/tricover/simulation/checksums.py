"""Checksums of a store: what is read is what was written, or there is an error.

Zarr's own codec, crc32c, notices a file that was changed or cut, for whoever reads it. It does not notice a file that
is missing, which reads as zeros, nor one that was swapped with another. So the root document of a store lists a CRC-32
of the *entries* of each chunk of each array, as far as the marker speaks of them; and the document has one of its own,
its *seal*.

The checksum of a chunk goes on as entries are added to it: nothing is read again. It does not change when later entries
are already there, as after a kill.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["checksum", "chunks_of", "extended", "packed", "seal_of", "unpacked"]


def checksum(values: NDArray[Any], before: int = 0) -> int:
    """CRC-32 of the bytes of an array, or of an earlier array and this one."""
    return zlib.crc32(np.ascontiguousarray(values).data, before)


def chunks_of(length: int, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """The chunks of ``length`` entries that hold the entries from ``start`` to ``stop``: number, first, end.

    >>> list(chunks_of(4, 3, 9))
    [(0, 3, 4), (1, 4, 8), (2, 8, 9)]
    """
    for chunk in range(start // length, -(-stop // length)):
        yield chunk, max(start, chunk * length), min(stop, (chunk + 1) * length)


def extended(sums: Iterable[int], length: int, start: int, values: NDArray[Any]) -> list[int]:
    """Checksums of the chunks after ``values`` came after the first ``start`` entries."""
    found = list(sums)
    for chunk, first, end in chunks_of(length, start, start + len(values)):
        before = found[chunk] if first > chunk * length else 0
        found[chunk:] = [checksum(values[first - start : end - start], before)]
    return found


def packed(sums: Iterable[int]) -> str:
    """Checksums as text, eight digits each.

    >>> packed([10, 255]), unpacked("0000000a000000ff")
    ('0000000a000000ff', [10, 255])
    """
    return "".join(f"{each:08x}" for each in sums)


def unpacked(text: str) -> list[int]:
    """The reverse of ``packed``."""
    return [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]


def seal_of(document: dict[str, Any]) -> str:
    """The checksum of a document, but for the seal among its attributes."""
    attributes = {key: value for key, value in document["attributes"].items() if key != "seal"}
    text = json.dumps({**document, "attributes": attributes}, sort_keys=True)
    return packed([zlib.crc32(text.encode())])
