"""The files that hold keys: how they are called, read and checked. What cannot be used is one error with its remedy."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tricover.errors import FileFormatError, MissingExtraError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509 import Certificate
    from nacl.signing import VerifyKey

__all__ = [
    "AUTHORITY",
    "CERTIFICATE",
    "KEY",
    "ROSTER",
    "SIGNING",
    "check_issued",
    "check_pair",
    "need_cryptography",
    "parse_public",
    "read_certificate",
    "read_key",
    "read_roster",
    "read_signing_key",
    "roster_bytes",
    "write_new",
]

KEY, CERTIFICATE, SIGNING = "tls.key", "tls.pem", "signing.key"
AUTHORITY, ROSTER = "authority.pem", "roster.json"

_REMEDY = "copy the folder again, or make new keys with: tricover fleet keys"
_OTHERS_MAY = 0o077  # what group and others may do with a file


def need_cryptography() -> None:
    """Complain if the libraries are missing: one for certificates, and one that is quick to verify signatures."""
    try:
        import cryptography  # noqa: F401
        import nacl  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("keys need cryptography and PyNaCl: pip install 'tricover[fleet]'") from error


def write_new(path: Path, data: bytes) -> None:
    """Write a new file that only its owner may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def read_certificate(path: Path) -> "Certificate":
    """A certificate that is valid now."""
    from cryptography import x509

    data = _read(path)
    try:
        certificate = x509.load_pem_x509_certificate(data)
    except ValueError as error:
        raise FileFormatError(f"{path} is no certificate: {_REMEDY}") from error
    now = datetime.now(UTC)
    if now > certificate.not_valid_after_utc:
        end = f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
        raise FileFormatError(f"{path} expired at {end}: make new keys with: tricover fleet keys")
    if now < certificate.not_valid_before_utc:
        start = f"{certificate.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
        raise FileFormatError(f"{path} is valid only from {start}: set the clock of this machine")
    return certificate


def read_key(path: Path) -> "EllipticCurvePrivateKey":
    """The private key of a certificate."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

    key = _private_key(path)
    if not isinstance(key, EllipticCurvePrivateKey):
        raise FileFormatError(f"{path} is no key of a certificate, but of another kind: {_REMEDY}")
    return key


def read_signing_key(path: Path) -> "Ed25519PrivateKey":
    """The private key that messages are signed with."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = _private_key(path)
    if not isinstance(key, Ed25519PrivateKey):
        raise FileFormatError(f"{path} is no Ed25519 key, but of another kind: {_REMEDY}")
    return key


def check_pair(key: "EllipticCurvePrivateKey", certificate: "Certificate", paths: tuple[Path, Path]) -> None:
    """A key and a certificate belong together; ``paths`` are where they came from."""
    if key.public_key() != certificate.public_key():
        raise FileFormatError(f"{paths[0]} is not the key of {paths[1]}: {_REMEDY}")


def check_issued(certificate: "Certificate", authority: "Certificate", paths: tuple[Path, Path]) -> None:
    """A certificate was signed by the authority; ``paths`` are where they came from."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError) as error:
        raise FileFormatError(f"{paths[0]} was not signed by the authority of {paths[1]}: {_REMEDY}") from error


def read_roster(path: Path, authority: "Certificate") -> dict[str, str]:
    """The public signing keys by name, in hexadecimal, as the authority signed them."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.hashes import SHA256

    data = _read(path)
    try:
        content: dict[str, Any] = json.loads(data)
        public, signature = content["keys"], bytes.fromhex(content["signature"])
        key = authority.public_key()
        if not isinstance(key, EllipticCurvePublicKey):
            raise TypeError
        key.verify(signature, roster_bytes(public), ECDSA(SHA256()))
    except InvalidSignature as error:
        raise FileFormatError(f"{path} was changed, or is of another authority: {_REMEDY}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FileFormatError(f"{path} is no roster: {_REMEDY}") from error
    return dict(public)


def roster_bytes(public: Mapping[str, str]) -> bytes:
    """What the authority signs: the public keys by name, in one spelling."""
    return b"tricover roster 1\n" + json.dumps(public, sort_keys=True, separators=(",", ":")).encode()


def parse_public(public: Mapping[str, str]) -> "dict[str, VerifyKey]":
    """The keys of a roster."""
    from nacl.signing import VerifyKey

    return {name: VerifyKey(bytes.fromhex(key)) for name, key in public.items()}


def _private_key(path: Path) -> object:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    data = _read(path)
    if os.name == "posix" and path.stat().st_mode & _OTHERS_MAY:
        raise FileFormatError(f"{path} is a private key, and others may read it: chmod 600 {path}")
    try:
        return load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise FileFormatError(f"{path} is no private key: {_REMEDY}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}; {_REMEDY}") from error
