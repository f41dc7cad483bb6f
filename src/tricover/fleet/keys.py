"""Keys of a fleet: who may take part, and who said what.

    authority/    authority.key, authority.pem, roster.json                         stays with those who make keys
    agent-7/      tls.key, tls.pem, signing.key, authority.pem, roster.json         all that this process needs

Every process has a folder of its own: agent-0 …, operator, recorder and router. With ``tls.key`` and ``tls.pem`` it
proves to the router who it is. With ``signing.key`` it signs its messages. Everybody can check them: ``roster.json``
holds the public keys of all, signed by the authority. Who has no key of the authority cannot add a name to it.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tricover.errors import FileFormatError, InputError, shown
from tricover.fleet.authority import LONGEST, Authority, Terms, host_names
from tricover.fleet.keyfiles import (
    AUTHORITY,
    CERTIFICATE,
    KEY,
    ROSTER,
    SIGNING,
    check_issued,
    check_pair,
    need_cryptography,
    parse_public,
    read_certificate,
    read_key,
    read_roster,
    read_signing_key,
    write_new,
)
from tricover.formats.writing import draft_of, new_draft, sync, sync_folder, write_whole

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from nacl.signing import SigningKey, VerifyKey

__all__ = ["OTHERS", "Keys", "make_keys"]

OTHERS = ("operator", "recorder", "router")  # the processes of a fleet beside its agents

_AUTHORITY = "authority"  # the folder


@dataclass(frozen=True)
class Keys:
    """What one process of a fleet needs to prove who it is, and to check who others are.

    Attributes:
        name: the process, such as "agent-7".
        tls_key: the file with the private key of its certificate.
        tls_certificate: the file with its certificate.
        authority: the file with the certificate of the authority.
    """

    name: str
    tls_key: Path
    tls_certificate: Path
    authority: Path
    _signing: "SigningKey" = field(repr=False)
    _public: "Mapping[str, VerifyKey]" = field(repr=False)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "Keys":
        """The keys in the folder of a process; they are checked against each other and against the clock."""
        need_cryptography()
        from nacl.signing import SigningKey

        place = Path(folder).absolute()
        if (place / _AUTHORITY).is_dir():
            raise FileFormatError(f"{folder} holds the keys of all: name the folder of one process in it")
        files = {name: place / name for name in (KEY, CERTIFICATE, SIGNING, AUTHORITY, ROSTER)}
        authority, certificate = read_certificate(files[AUTHORITY]), read_certificate(files[CERTIFICATE])
        check_issued(certificate, authority, (files[CERTIFICATE], files[AUTHORITY]))
        check_pair(read_key(files[KEY]), certificate, (files[KEY], files[CERTIFICATE]))
        name, signing = _common_name(certificate), SigningKey(read_signing_key(files[SIGNING]).private_bytes_raw())
        public = read_roster(files[ROSTER], authority)
        if public.get(name) != bytes(signing.verify_key).hex():
            raise FileFormatError(f"{files[SIGNING]} is not the key of {name} in {ROSTER}: copy the folder again")
        return cls(name, files[KEY], files[CERTIFICATE], files[AUTHORITY], signing, parse_public(public))

    @property
    def names(self) -> tuple[str, ...]:
        """All who are in the roster."""
        return tuple(self._public)

    def sign(self, data: bytes) -> bytes:
        """The signature of a message, 64 bytes."""
        return self._signing.sign(data).signature

    def verify(self, name: str, data: bytes, signature: bytes) -> bool:
        """Whether this process signed the message; not if nobody has this name."""
        from nacl.exceptions import CryptoError

        key = self._public.get(name)
        if key is None:
            return False
        try:
            key.verify(data, signature)
        except (CryptoError, ValueError):  # the latter where it is no signature at all
            return False
        return True


def make_keys(
    folder: str | os.PathLike[str], agents: int, *, hosts: Sequence[str] = (), days: int = 365, more: bool = False
) -> list[str]:
    """Make the keys of a fleet: a folder for each process, and one for the authority. Gives the names of the processes.

    Args:
        folder: where to make them; there must be nothing yet.
        agents: how many agents there are; with ``more``, how many join.
        hosts: names and addresses of machines of the fleet, beside localhost.
        days: how long the certificates are valid.
        more: add agents to the keys that are in the folder. All folders that are still in it get the new roster.
    """
    need_cryptography()
    if agents < 1:
        raise InputError(f"keys are for one agent at least, not {agents}")
    if not 1 <= days <= LONGEST:
        raise InputError(f"certificates are valid for 1 to {LONGEST} days, not {shown(days)}")
    place, terms = Path(folder), Terms(host_names(hosts), days)
    return _add(place, agents, terms) if more else _make(place, agents, terms)


def _make(place: Path, agents: int, terms: Terms) -> list[str]:
    if place.exists() or place.is_symlink():
        raise FileFormatError(f"{place} exists: choose another name, or add agents to the keys in it with --more")
    members = [*(f"agent-{agent}" for agent in range(agents)), *OTHERS]
    with draft_of(place) as draft:
        draft.mkdir(0o700)
        authority = Authority.new(draft / _AUTHORITY)
        roster = authority.admit(draft, members, {}, terms)
        write_new(draft / _AUTHORITY / ROSTER, roster)
    return members


def _add(place: Path, agents: int, terms: Terms) -> list[str]:
    """More agents. The roster of the authority changes last: until then they do not belong to the fleet."""
    authority = Authority.load(place / _AUTHORITY)
    known = read_roster(place / _AUTHORITY / ROSTER, authority.certificate)
    first = len(known) - len(OTHERS)
    members = [f"agent-{agent}" for agent in range(first, first + agents)]
    for name in members:
        if (place / name).exists():
            raise FileFormatError(f"{place / name} exists, and is not in the roster: remove it and try again")
    draft = new_draft(place)
    try:
        draft.mkdir(0o700)
        roster = authority.admit(draft, members, known, terms)
        sync(draft)
        for name in members:
            (draft / name).rename(place / name)
        sync_folder(place)
    except OSError as error:
        raise FileFormatError(f"cannot write to {place}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    for folder in (*(place / name for name in known), place / _AUTHORITY):
        if folder.is_dir():  # else it was moved to its machine
            write_whole(folder / ROSTER, roster)
    return members


def _common_name(certificate: "Certificate") -> str:
    from cryptography.x509.oid import NameOID

    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)
