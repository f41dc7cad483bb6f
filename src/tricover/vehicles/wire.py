"""MAVLink 2 as bytes: messages packed, numbered and, with a key, signed; bytes read, whatever they are.

The messages are those of pymavlink's dialect "common". A reader never fails: what is no message, has a wrong checksum,
is not in the dialect or, with a key, is not signed with it, is left out.
"""

from importlib import import_module
from pathlib import Path
from time import time
from typing import Any

from tricover.errors import InputError, MissingExtraError

__all__ = ["Codec", "dialect", "read_key"]

_EPOCH = 1_420_070_400  # s: the start of 2015, from which the times of signatures count, in steps of 10 µs
_KEY = 32  # bytes


def dialect() -> Any:
    """Pymavlink's module of messages."""
    try:
        return import_module("pymavlink.dialects.v20.common")
    except ImportError as error:
        raise MissingExtraError("MAVLink needs the library pymavlink: pip install 'tricover[fleet]'") from error


def read_key(path: str) -> bytes | None:
    """The key in a file, 32 bytes or 64 hexadecimal digits; None where no file is named."""
    if not path:
        return None
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the key cannot be read: {error.strerror}") from None
    if len(content) == _KEY:
        return content
    try:
        key = bytes.fromhex(content.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != _KEY:
        raise InputError(f"{path}: a key has {_KEY} bytes, or {2 * _KEY} hexadecimal digits")
    return key


class Codec:
    """Packs the messages of one sender and reads those of others."""

    def __init__(self, system: int, component: int, key: bytes | None = None) -> None:
        common = dialect()
        self._protocol = common.MAVLink(None, system, component)
        self._protocol.robust_parsing = True
        self._no_messages = (common.MAVLink_bad_data, common.MAVLink_unknown)
        if key is not None:
            signing = self._protocol.signing
            signing.secret_key, signing.sign_outgoing = key, True
            signing.timestamp = int((time() - _EPOCH) * 1e5)

    def pack(self, message: Any) -> bytes:
        """The bytes of a message, with the next sequence number."""
        data = bytes(message.pack(self._protocol))
        self._protocol.seq = (self._protocol.seq + 1) % 256
        return data

    def read(self, data: bytes, whole: bool) -> list[Any]:
        """The messages in these bytes.

        ``whole``: a message never goes on in the next call, as with datagrams, so that what is left of one that is
        broken does not swallow the next.
        """
        if whole:
            self._protocol.buf, self._protocol.buf_index = bytearray(), 0
        found = self._protocol.parse_buffer(data) or []
        return [message for message in found if not isinstance(message, self._no_messages)]
