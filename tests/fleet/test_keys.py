"""Keys of a fleet: whole, private, checked against each other, and of one authority."""

import builtins
import json
import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.verification import PolicyBuilder, Store

from tricover.errors import FileFormatError, InputError, MissingExtraError, TricoverError
from tricover.fleet import authority, keyfiles, keys
from tricover.fleet.keys import Keys, make_keys

FILES = {"authority.pem", "roster.json", "signing.key", "tls.key", "tls.pem"}
NAMES = ["agent-0", "agent-1", "agent-2", "operator", "recorder", "router"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Keys of three agents."""
    folder = tmp_path_factory.mktemp("keys") / "fleet"
    assert make_keys(folder, 3, hosts=["base.lan", "10.0.0.5", "localhost"]) == NAMES
    return folder


@pytest.fixture
def copy(made, tmp_path):
    """A copy to be damaged."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def at(monkeypatch, module, moment):
    """Let a module believe that it is another time."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return moment

    monkeypatch.setattr(module, "datetime", Clock)


def certificate(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def complaint(folder):
    """What is wrong with keys, in one line."""
    with pytest.raises(TricoverError) as error:
        Keys.load(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_everybody_is_believed_by_everybody_as_itself_alone(made):
    loaded = {name: Keys.load(made / name) for name in NAMES}
    for name, own in loaded.items():
        signature = own.sign(b"here")
        assert (own.name, own.names, len(signature)) == (name, tuple(NAMES), 64)
        for other in loaded.values():
            assert [each for each in NAMES if other.verify(each, b"here", signature)] == [name]
            assert not other.verify(name, b"there", signature)


def test_what_is_no_signature_is_not_believed(made):
    own = Keys.load(made / "agent-0")
    signature = own.sign(b"here")
    assert own.verify("agent-0", b"here", signature)
    for wrong in (b"", signature[:-1], signature + b"\0", bytes(64), b"\xff" * 64, signature[32:] + signature[:32]):
        assert own.verify("agent-0", b"here", wrong) is False
    for name in ("agent-3", "", "authority", "agent-0\0"):
        assert own.verify(name, b"here", signature) is False


def test_keys_do_not_change_and_tell_nothing_in_print(made):
    own = Keys.load(made / "agent-0")
    with pytest.raises(AttributeError):
        own.name = "agent-1"
    assert "Private" not in repr(own)
    assert "signing" not in repr(own)


def test_a_process_gets_what_it_needs_and_nothing_else(made):
    assert {path.name for path in made.iterdir()} == {*NAMES, "authority"}
    for name in NAMES:
        assert {path.name for path in (made / name).iterdir()} == FILES
    assert {path.name for path in (made / "authority").iterdir()} == {"authority.key", "authority.pem", "roster.json"}
    secrets = [path.read_bytes() for path in made.rglob("*.key")]
    assert len(set(secrets)) == len(secrets) == 2 * len(NAMES) + 1


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_read_whatever_the_mask(mask, tmp_path):
    before = os.umask(mask)
    try:
        make_keys(tmp_path / "fleet", 1)
        make_keys(tmp_path / "fleet", 1, more=True)
    finally:
        os.umask(before)
    for path in (tmp_path / "fleet", *(tmp_path / "fleet").rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir():
            assert mode == 0o700
        elif path.suffix in (".key", ".pem"):
            assert mode == 0o600


def test_openssl_believes_the_certificates(made):
    for name in NAMES:
        purpose = "sslserver" if name == "router" else "sslclient"
        trusted = ["-x509_strict", "-CAfile", str(made / "authority" / "authority.pem")]
        for asked, believed in ((purpose, True), ({"sslserver": "sslclient"}.get(purpose, "sslserver"), False)):
            command = ["openssl", "verify", *trusted, "-purpose", asked, str(made / name / "tls.pem")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode == 0) is believed, done.stderr
        subject = ["openssl", "x509", "-noout", "-subject", "-nameopt", "RFC2253", "-in", str(made / name / "tls.pem")]
        assert subprocess.check_output(subject, text=True) == f"subject=CN={name}\n"


def test_the_library_believes_the_certificates_for_their_machines(made):
    checks = PolicyBuilder().store(Store([certificate(made / "agent-0" / "authority.pem")]))
    for machine in (x509.DNSName("localhost"), x509.DNSName("base.lan")):
        checks.build_server_verifier(machine).verify(certificate(made / "router" / "tls.pem"), [])
    with pytest.raises(x509.verification.VerificationError):
        checks.build_server_verifier(x509.DNSName("other.lan")).verify(certificate(made / "router" / "tls.pem"), [])
    checks.build_client_verifier().verify(certificate(made / "agent-2" / "tls.pem"), [])
    names = certificate(made / "agent-2" / "tls.pem").extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert list(names.value.get_values_for_type(x509.DNSName)) == ["localhost", "base.lan"]
    assert list(map(str, names.value.get_values_for_type(x509.IPAddress))) == ["127.0.0.1", "::1", "10.0.0.5"]


def test_only_the_authority_may_sign_certificates(made):
    for path in made.rglob("*.pem"):
        found = certificate(path).extensions
        rules, usage = (found.get_extension_for_class(kind) for kind in (x509.BasicConstraints, x509.KeyUsage))
        is_authority = path.name == "authority.pem"
        assert rules.critical
        assert rules.value.ca is usage.value.key_cert_sign is is_authority
        assert usage.value.digital_signature is not is_authority
        assert rules.value.path_length == (0 if is_authority else None)


def test_no_two_authorities_have_one_name(made, tmp_path):
    make_keys(tmp_path / "other", 1)
    names = {certificate(folder / "authority" / "authority.pem").subject for folder in (made, tmp_path / "other")}
    assert len(names) == 2


def test_a_file_with_a_key_is_never_replaced(made):
    with pytest.raises(FileExistsError):
        keyfiles.write_new(made / "agent-0" / "tls.key", b"")


def test_the_roster_is_signed_by_the_authority(made):
    content = json.loads((made / "agent-0" / "roster.json").read_text())
    signed = b"tricover roster 1\n" + json.dumps(content["keys"], sort_keys=True, separators=(",", ":")).encode()
    key = certificate(made / "authority" / "authority.pem").public_key()
    key.verify(bytes.fromhex(content["signature"]), signed, ec.ECDSA(SHA256()))
    for name in NAMES:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(content["keys"][name]))
        public.verify(Keys.load(made / name).sign(b"x"), b"x")


def test_certificates_last_as_long_as_asked_and_begin_earlier(tmp_path):
    make_keys(tmp_path / "fleet", 1, days=7)
    own = certificate(tmp_path / "fleet" / "agent-0" / "tls.pem")
    now = datetime.now(UTC)
    assert timedelta(minutes=55) < now - own.not_valid_before_utc < timedelta(minutes=65)
    assert timedelta(days=7, minutes=-5) < own.not_valid_after_utc - now <= timedelta(days=7)


def test_a_year_if_nothing_is_said(made):
    end = certificate(made / "agent-0" / "tls.pem").not_valid_after_utc
    assert timedelta(days=364) < end - datetime.now(UTC) <= timedelta(days=365)


def test_nothing_outlives_the_authority(copy, monkeypatch):
    root = certificate(copy / "authority" / "authority.pem")
    later = root.not_valid_after_utc - timedelta(days=10)
    at(monkeypatch, authority, later)
    at(monkeypatch, keyfiles, later)
    make_keys(copy, 1, more=True)
    assert certificate(copy / "agent-3" / "tls.pem").not_valid_after_utc == root.not_valid_after_utc


def test_a_clock_that_differs_by_minutes_is_tolerated(made, monkeypatch):
    at(monkeypatch, keyfiles, datetime.now(UTC) - timedelta(minutes=50))
    Keys.load(made / "agent-0")


def test_too_early_and_too_late_is_said(made, monkeypatch):
    at(monkeypatch, keyfiles, datetime.now(UTC) - timedelta(minutes=70))
    assert "set the clock of this machine" in complaint(made / "agent-0")
    at(monkeypatch, keyfiles, datetime.now(UTC) + timedelta(days=366))
    said = complaint(made / "agent-0")
    assert f"{made / 'agent-0' / 'tls.pem'} expired at" in said
    assert "tricover fleet keys" in said


def test_an_existing_folder_is_left_alone(made, tmp_path):
    before = {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()}
    with pytest.raises(FileFormatError, match=r"exists: choose another name.*--more"):
        make_keys(made, 1)
    assert before == {path: path.read_bytes() for path in made.rglob("*.*") if path.is_file()}
    (tmp_path / "empty").mkdir()
    (tmp_path / "nowhere").symlink_to("gone")
    for name in ("empty", "nowhere"):
        with pytest.raises(FileFormatError, match="exists"):
            make_keys(tmp_path / name, 1)


def test_keys_are_made_whole_or_not_at_all(copy, tmp_path, monkeypatch):
    before = sorted(copy.rglob("*"))
    written = []

    def full(path, data):
        written.append(path)
        if len(written) > 8:
            raise OSError(28, "No space left on device")
        keyfiles.write_new(path, data)

    monkeypatch.setattr(authority, "write_new", full)
    for folder, more in ((tmp_path / "fleet", False), (copy, True)):
        written.clear()
        with pytest.raises(FileFormatError, match="No space left"):
            make_keys(folder, 3, more=more)
    assert sorted(tmp_path.iterdir()) == [copy]
    assert sorted(copy.rglob("*")) == before


def test_more_agents_join_and_all_who_are_here_know_them(copy):
    old = Keys.load(copy / "agent-0")
    root = (copy / "authority" / "authority.pem").read_bytes()
    moved = copy.parent / "moved"
    (copy / "agent-1").rename(moved)
    assert make_keys(copy, 2, hosts=["far.lan"], more=True) == ["agent-3", "agent-4"]
    assert make_keys(copy, 1, more=True) == ["agent-5"]
    new = Keys.load(copy / "agent-4")
    for name in ("agent-0", "agent-5", "operator", "recorder", "router"):
        assert Keys.load(copy / name).verify("agent-4", b"x", new.sign(b"x"))
        assert Keys.load(copy / name).verify("agent-0", b"x", old.sign(b"x"))
        assert (copy / name / "authority.pem").read_bytes() == root
    assert not Keys.load(moved).verify("agent-4", b"x", new.sign(b"x"))
    shutil.copy(copy / "authority" / "roster.json", moved)
    assert Keys.load(moved).verify("agent-4", b"x", new.sign(b"x"))
    assert not (copy / "agent-1").exists()


def test_the_roster_of_the_authority_changes_last(copy, monkeypatch):
    before = (copy / "authority" / "roster.json").read_bytes()

    def full(path, data):
        if path.parent.name == "router":
            raise FileFormatError("no space")
        path.write_bytes(data)

    monkeypatch.setattr(keys, "write_whole", full)
    with pytest.raises(FileFormatError, match="no space"):
        make_keys(copy, 1, more=True)
    assert (copy / "authority" / "roster.json").read_bytes() == before
    assert (copy / "agent-0" / "roster.json").read_bytes() != before


def test_what_an_interrupted_call_left_is_said(copy):
    (copy / "agent-4").mkdir()
    with pytest.raises(FileFormatError, match=r"agent-4 exists, and is not in the roster: remove it"):
        make_keys(copy, 2, more=True)
    assert not (copy / "agent-3").exists()


def test_more_needs_the_authority(copy, tmp_path):
    with pytest.raises(FileFormatError, match=r"cannot read .*authority\.key"):
        make_keys(tmp_path / "none", 1, more=True)
    make_keys(tmp_path / "foreign", 1)
    shutil.copy(tmp_path / "foreign" / "authority" / "authority.key", copy / "authority")
    with pytest.raises(FileFormatError, match=r"authority\.key is not the key of"):
        make_keys(copy, 1, more=True)
    shutil.copy(tmp_path / "foreign" / "authority" / "authority.pem", copy / "authority")
    with pytest.raises(FileFormatError, match=r"roster\.json was changed, or is of another authority"):
        make_keys(copy, 1, more=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"agents": 0},
        {"days": 0},
        {"days": 3651},
        *({"hosts": [host]} for host in ("", "a b", "1.2.3", "-a", "a..b", "ü.lan", "a" * 64, "a." * 150 + "a")),
    ],
)
def test_what_cannot_be_asked_for(settings, tmp_path):
    with pytest.raises(InputError):
        make_keys(tmp_path / "fleet", **{"agents": 1, **settings})
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_that_is_damaged_missing_or_of_another_is_noticed(name, copy, tmp_path):
    path, whole = copy / "agent-0" / name, (copy / "agent-0" / name).read_bytes()
    middle = len(whole) // 2
    broken = [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        whole[:middle],
        whole[:middle] + bytes(9) + whole[middle:],
        b"[" * 100_000,
    ]
    for content in broken:
        path.write_bytes(content)
        assert str(path) in complaint(copy / "agent-0")
    path.unlink()
    assert f"cannot read {path}: No such file" in complaint(copy / "agent-0")
    path.mkdir()
    assert f"cannot read {path}" in complaint(copy / "agent-0")
    path.rmdir()
    make_keys(tmp_path / "foreign", 1)
    shutil.copy(tmp_path / "foreign" / "agent-0" / name, path)
    assert str(copy / "agent-0") in complaint(copy / "agent-0")
    path.write_bytes(whole)
    Keys.load(copy / "agent-0")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tls.key", "tls.key is not the key of"),
        ("tls.pem", "tls.key is not the key of"),
        ("signing.key", "signing.key is not the key of agent-0 in roster.json"),
    ],
)
def test_files_of_another_agent_are_noticed(name, message, copy):
    shutil.copy(copy / "agent-1" / name, copy / "agent-0")
    assert message in complaint(copy / "agent-0")


def test_a_certificate_with_its_key_is_not_enough_to_be_another(copy):
    for name in ("tls.key", "tls.pem"):
        shutil.copy(copy / "agent-1" / name, copy / "agent-0")
    assert "signing.key is not the key of agent-1" in complaint(copy / "agent-0")


def test_a_name_of_ours_from_a_foreign_authority_is_noticed(copy, tmp_path):
    make_keys(tmp_path / "foreign", 1)
    for name in ("tls.key", "tls.pem"):
        shutil.copy(tmp_path / "foreign" / "agent-0" / name, copy / "agent-0")
    assert "tls.pem was not signed by the authority of" in complaint(copy / "agent-0")


def test_keys_of_the_wrong_kind_are_noticed(copy):
    for name, other in (("tls.key", "signing.key"), ("signing.key", "tls.key")):
        whole = (copy / "agent-0" / name).read_bytes()
        shutil.copy(copy / "agent-1" / other, copy / "agent-0" / name)
        assert f"{name} is no " in complaint(copy / "agent-0")
        (copy / "agent-0" / name).write_bytes(whole)
    key = load_pem_private_key((copy / "agent-0" / "tls.key").read_bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    (copy / "agent-0" / "tls.key").write_bytes(locked)
    assert "tls.key is no private key" in complaint(copy / "agent-0")
    other = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (copy / "agent-0" / "tls.key").write_bytes(other)
    assert "tls.key is no key of a certificate" in complaint(copy / "agent-0")


@pytest.mark.parametrize("change", ["added", "swapped", "dropped", "signature"])
def test_a_roster_that_was_changed_is_noticed(change, copy):
    path = copy / "agent-0" / "roster.json"
    content = json.loads(path.read_text())
    public = content["keys"]
    if change == "added":
        public["agent-3"] = public["agent-2"]
    elif change == "swapped":
        public["agent-1"], public["agent-2"] = public["agent-2"], public["agent-1"]
    elif change == "dropped":
        del public["agent-2"]
    else:
        content["signature"] = content["signature"][:-2]
    path.write_text(json.dumps(content))
    assert f"{path} was changed, or is of another authority" in complaint(copy / "agent-0")


def test_the_order_of_a_roster_is_no_matter(copy):
    path = copy / "agent-0" / "roster.json"
    content = json.loads(path.read_text())
    content["keys"] = dict(reversed(content["keys"].items()))
    path.write_text(json.dumps(content))
    assert Keys.load(copy / "agent-0").verify("agent-1", b"x", Keys.load(copy / "agent-1").sign(b"x"))


@pytest.mark.parametrize("name", ["tls.key", "signing.key"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_private_key_that_others_may_use_is_refused(name, mode, copy):
    path = copy / "agent-0" / name
    path.chmod(mode)
    assert f"chmod 600 {path}" in complaint(copy / "agent-0")


def test_a_folder_that_is_not_of_one_process(made, tmp_path):
    assert "name the folder of one process in it" in complaint(made)
    assert "cannot read" in complaint(made / "authority")
    assert "cannot read" in complaint(tmp_path / "none")


def test_without_the_library_the_extra_is_named(made, tmp_path, monkeypatch):
    load = builtins.__import__

    def without(name, *rest):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for call in (lambda: Keys.load(made / "agent-0"), lambda: keys.make_keys(tmp_path / "fleet", 1)):
        with pytest.raises(MissingExtraError, match=r"tricover\[fleet\]"):
            call()
