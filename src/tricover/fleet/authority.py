"""The authority of a fleet: it signs the certificate of every process, and the roster of their public signing keys.

Certificates are X.509 with ECDSA keys on the curve P-256; messages are signed with Ed25519. The certificate of the
router is good for servers only, all others for clients only: keys that are stolen from an agent cannot pose as the
router. Certificates begin an hour before they are made, as clocks differ.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING

from tricover.errors import InputError, shown
from tricover.fleet.keyfiles import (
    AUTHORITY,
    CERTIFICATE,
    KEY,
    ROSTER,
    SIGNING,
    check_pair,
    read_certificate,
    read_key,
    roster_bytes,
    write_new,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, KeyUsage, Name, SubjectAlternativeName

__all__ = ["LONGEST", "Authority", "Terms", "host_names"]

LONGEST = 3650  # days that a certificate may be valid

_KEY = "authority.key"
_HERE = ("localhost", "127.0.0.1", "::1")
_EARLIER = timedelta(hours=1)
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"  # a part of a host name


@dataclass(frozen=True)
class Terms:
    """What certificates say: the names and addresses of their machines, and for how many days they are valid."""

    names: "SubjectAlternativeName"
    days: int


@dataclass(frozen=True)
class Authority:
    """The key that signs, and its certificate."""

    key: "EllipticCurvePrivateKey"
    certificate: "Certificate"

    @classmethod
    def new(cls, folder: Path) -> "Authority":
        """A new authority, in a new folder. Its certificate lasts twice as long as any that it signs."""
        from cryptography import x509
        from cryptography.hazmat.primitives.hashes import SHA256

        key = _new_key()
        name = _common_name(f"tricover {x509.random_serial_number():x}")  # no two authorities have the same name
        certificate = (
            _builder(name, name, key, datetime.now(UTC) + timedelta(days=2 * LONGEST))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage("key_cert_sign"), critical=True)
            .sign(key, SHA256())
        )
        folder.mkdir(0o700)
        write_new(folder / _KEY, _private_pem(key))
        write_new(folder / AUTHORITY, _pem(certificate))
        return cls(key, certificate)

    @classmethod
    def load(cls, folder: Path) -> "Authority":
        """The authority in a folder."""
        paths = folder / _KEY, folder / AUTHORITY
        key, certificate = read_key(paths[0]), read_certificate(paths[1])
        check_pair(key, certificate, paths)
        return cls(key, certificate)

    def admit(self, place: Path, members: Iterable[str], known: Mapping[str, str], terms: Terms) -> bytes:
        """Make a folder for each of the members; gives the roster of all, with those who are known."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        signing = {name: Ed25519PrivateKey.generate() for name in members}
        public = {name: key.public_key().public_bytes_raw().hex() for name, key in signing.items()}
        roster = self._roster({**known, **public})
        for name, key in signing.items():
            folder, tls = place / name, _new_key()
            folder.mkdir(0o700)
            write_new(folder / KEY, _private_pem(tls))
            write_new(folder / CERTIFICATE, _pem(self._issue(name, tls, terms)))
            write_new(folder / SIGNING, _private_pem(key))
            write_new(folder / AUTHORITY, _pem(self.certificate))
            write_new(folder / ROSTER, roster)
        return roster

    def _issue(self, name: str, key: "EllipticCurvePrivateKey", terms: Terms) -> "Certificate":
        from cryptography import x509
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.x509.oid import ExtendedKeyUsageOID as Purpose

        purpose = Purpose.SERVER_AUTH if name == "router" else Purpose.CLIENT_AUTH
        end = min(datetime.now(UTC) + timedelta(days=terms.days), self.certificate.not_valid_after_utc)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        return (
            _builder(_common_name(name), self.certificate.subject, key, end)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage("digital_signature"), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(terms.names, critical=False)
            .add_extension(issuer, critical=False)
            .sign(self.key, SHA256())
        )

    def _roster(self, public: Mapping[str, str]) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.hashes import SHA256

        signature = self.key.sign(roster_bytes(public), ECDSA(SHA256())).hex()
        return json.dumps({"keys": public, "signature": signature}, indent=1).encode() + b"\n"


def host_names(hosts: Iterable[str]) -> "SubjectAlternativeName":
    """Names and addresses as a certificate has them, each once: this machine's own, and those that are given."""
    from cryptography import x509

    found: dict[x509.GeneralName, None] = {}
    for host in (*_HERE, *hosts):
        try:
            found[x509.IPAddress(ip_address(host))] = None
        except ValueError:
            if not fullmatch(rf"{_LABEL}(\.{_LABEL})*", host) or len(host) > 253 or host.replace(".", "").isdigit():
                raise InputError(f"{shown(host)} is no host name or address, such as base.lan or 10.0.0.5") from None
            found[x509.DNSName(host)] = None
    return x509.SubjectAlternativeName(found)


def _builder(name: "Name", issuer: "Name", key: "EllipticCurvePrivateKey", end: datetime) -> "CertificateBuilder":
    from cryptography import x509

    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _EARLIER)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _common_name(name: str) -> "Name":
    from cryptography.x509 import Name, NameAttribute
    from cryptography.x509.oid import NameOID

    return Name([NameAttribute(NameOID.COMMON_NAME, name)])


def _usage(wanted: str) -> "KeyUsage":
    """What a key may be used for: this alone."""
    from cryptography.x509 import KeyUsage

    kinds = "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign"
    return KeyUsage(**{kind: kind == wanted for kind in (*kinds.split(), "crl_sign", "encipher_only", "decipher_only")})


def _new_key() -> "EllipticCurvePrivateKey":
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _private_pem(key: "EllipticCurvePrivateKey | Ed25519PrivateKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _pem(certificate: "Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)
