"""Links of a fleet, over real sockets: ours come in, others do not, and nobody writes in the name of another."""

import builtins
import json
import shutil
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zenoh

from tests.ports import free_port
from tricover.errors import InputError, MissingExtraError
from tricover.fleet import authority
from tricover.fleet.encoding import LONGEST
from tricover.fleet.keys import Keys, make_keys
from tricover.fleet.links import member_config, router_config

BEST_EFFORT = {"reliability": zenoh.Reliability.BEST_EFFORT, "congestion_control": zenoh.CongestionControl.DROP}
MEMBERS = ("agent-0", "agent-1", "agent-2", "operator", "recorder")
SOON = 10.0  # seconds within which what must happen has happened, on any machine


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Keys of three agents; a fourth has a certificate that expired two days ago."""
    folder = tmp_path_factory.mktemp("links") / "keys"
    make_keys(folder, 3)

    class Earlier(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(UTC) - timedelta(days=3)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(authority, "datetime", Earlier)
        make_keys(folder, 1, days=1, more=True)
    return folder


def free(kind="tls"):
    """An endpoint with a port that nobody has."""
    return f"{kind}/127.0.0.1:{free_port(kind)}"


def until(fact, what):
    """Wait for a fact; that it does not come about is the failure."""
    end = time.monotonic() + SOON
    while not fact():
        assert time.monotonic() < end, what
        time.sleep(0.01)


class Fleet:
    """A router and clients of it; what they hear is kept by name."""

    def __init__(self, stack, keys, endpoint):
        self.stack, self.keys, self.endpoint = stack, keys, endpoint
        self.heard, self.alive, self.sessions = {}, {}, {}

    def join(self, name, config=None):
        session = self.stack.enter_context(zenoh.open(config or member_config(self.endpoint, self.keys / name)))
        self.sessions[name], self.heard[name], self.alive[name] = session, [], []
        return session

    def listen(self, name, place="tricover/**"):
        heard = self.heard[name]
        session = self.sessions[name]
        self.stack.enter_context(session.declare_subscriber(place, lambda x: heard.append(told(x))))

    def watch(self, name):
        alive = self.alive[name]
        tokens = self.sessions[name].liveliness()
        subscriber = tokens.declare_subscriber("tricover/**", lambda x: alive.append(event(x)), history=True)
        self.stack.enter_context(subscriber)

    def meet(self, speaker, listener, place, payload=b"hello"):
        """Say hello until it is heard: from then on the way is open."""

        def hello():
            self.sessions[speaker].put(place, payload)
            return (place, payload) in self.heard[listener]

        until(hello, f"{listener} hears nothing from {speaker}")


def told(sample):
    return str(sample.key_expr), bytes(sample.payload)


def event(sample):
    return sample.kind == zenoh.SampleKind.PUT, str(sample.key_expr)


@pytest.fixture(scope="module", params=["tls", "quic"])
def fleet(request, keys):
    """All are connected; agent-2 listens, and has heard all who may speak."""
    endpoint = free(request.param) + ("?mixed_rel=1" if request.param == "quic" else "")
    with ExitStack() as stack:
        stack.enter_context(zenoh.open(router_config([endpoint], keys / "router", 3)))
        made = Fleet(stack, keys, endpoint)
        for name in MEMBERS:
            made.join(name)
        made.listen("agent-2")
        for name in ("agent-0", "agent-1"):
            made.meet(name, "agent-2", own(name))
        made.meet("operator", "agent-2", own("operator"))
        yield made


def own(name):
    return "tricover/m/operator/go" if name == "operator" else f"tricover/m/agent/{name[-1]}/place"


@pytest.mark.parametrize(
    ("writer", "place"),
    [
        ("agent-0", "tricover/m/agent/1/place"),
        ("agent-0", "tricover/m/agent/*/place"),
        ("agent-0", "tricover/m/agent/0$*/place"),
        ("agent-0", "tricover/**"),
        ("agent-0", "tricover/m/operator/stop"),
        ("agent-0", "tricover/m/agent/0x/place"),
        ("agent-0", "tricover/m/agent/place"),
        ("operator", "tricover/m/agent/1/place"),
    ],
)
@pytest.mark.parametrize("how", [{}, BEST_EFFORT], ids=["reliable", "best-effort"])
def test_nobody_writes_as_another(writer, place, how, fleet):
    with ExitStack() as stack:
        forged, honest = (
            stack.enter_context(fleet.sessions[writer].declare_publisher(key, **how)) for key in (place, own(writer))
        )
        # In the first round best effort may overtake its declaration and get lost; in the second both are known.
        for mark in (f"{time.monotonic()}".encode(), f"again {time.monotonic()}".encode()):

            def both(mark=mark):
                forged.put(b"forged")
                forged.delete()
                honest.put(mark)
                return (own(writer), mark) in fleet.heard["agent-2"]

            until(both, "what it may say is not heard")
    fleet.sessions["agent-1"].put(own("agent-1"), mark)
    until(lambda: (own("agent-1"), mark) in fleet.heard["agent-2"], "the other is not heard")
    assert not [each for each in fleet.heard["agent-2"] if each[1] in (b"forged", b"")]


def test_nothing_is_taken_back(fleet):
    fleet.sessions["agent-0"].delete(own("agent-0"))
    fleet.sessions["agent-0"].put(own("agent-0"), b"after it was deleted")
    until(lambda: (own("agent-0"), b"after it was deleted") in fleet.heard["agent-2"], "an agent is not heard")
    assert (own("agent-0"), b"") not in fleet.heard["agent-2"]


def test_the_recorder_hears_all_and_writes_nothing(fleet):
    fleet.listen("recorder")
    for name in ("agent-0", "agent-1", "operator"):
        fleet.meet(name, "recorder", own(name))
    for place in ("tricover/m/agent/0/place", "tricover/m/operator/stop", "tricover/m/recorder/x"):
        fleet.sessions["recorder"].put(place, b"forged")
    # It declares a token too, which nobody learns of; when its question is answered, all that it sent has arrived.
    token = fleet.sessions["recorder"].liveliness().declare_token("tricover/m/recorder/alive/x")
    list(fleet.sessions["recorder"].liveliness().get("tricover/**", timeout=SOON))
    fleet.sessions["agent-0"].put(own("agent-0"), b"after the recorder")
    until(lambda: (own("agent-0"), b"after the recorder") in fleet.heard["agent-2"], "an agent is not heard")
    assert not [each for each in fleet.heard["agent-2"] if each[1] == b"forged"]
    seen = [str(x.ok.key_expr) for x in fleet.sessions["agent-2"].liveliness().get("tricover/**", timeout=SOON)]
    assert not [place for place in seen if "recorder" in place]
    token.undeclare()


def test_nothing_is_said_or_heard_elsewhere(fleet):
    heard = []
    with fleet.sessions["agent-1"].declare_subscriber("**", lambda x: heard.append(told(x))):
        fleet.sessions["agent-0"].put("elsewhere/agent/0/place", b"x")
        fleet.sessions["agent-0"].put(own("agent-0"), b"not elsewhere")
        until(lambda: (own("agent-0"), b"not elsewhere") in fleet.heard["agent-2"], "an agent is not heard")
    assert heard == []


def test_tokens_are_seen_by_those_who_come_later_and_of_their_owners_only(fleet):
    tokens = [fleet.sessions["agent-0"].liveliness().declare_token("tricover/m/agent/0/alive/first")]
    forged = ["tricover/m/agent/1/alive/forged", "tricover/m/operator/alive/forged", "tricover/m/agent/*/alive/forged"]
    tokens += [fleet.sessions["agent-0"].liveliness().declare_token(place) for place in forged]
    tokens.append(fleet.sessions["agent-0"].liveliness().declare_token("tricover/m/agent/0/alive/last"))
    for name in ("agent-1", "recorder"):
        fleet.alive[name].clear()
        fleet.watch(name)
        until(lambda name=name: (True, "tricover/m/agent/0/alive/last") in fleet.alive[name], "no token is seen")
        until(lambda name=name: (True, "tricover/m/agent/0/alive/first") in fleet.alive[name], "no token is seen")
    # Zenoh may leave a question unanswered in a session that watches tokens too: agent-2 does not.
    asked = fleet.sessions["agent-2"].liveliness().get("tricover/**", timeout=SOON)
    assert {str(x.ok.key_expr) for x in asked} == {f"tricover/m/agent/0/alive/{x}" for x in ("first", "last")}
    for token in tokens:
        token.undeclare()
    for name in ("agent-1", "recorder"):
        until(lambda name=name: (False, "tricover/m/agent/0/alive/last") in fleet.alive[name], "it is still alive")
        seen = {place for _, place in fleet.alive[name] if not place.startswith(f"tricover/m/{name}/")}
        # The recorder may hear late that a token of its own, of another test, is gone.
        assert seen == {f"tricover/m/agent/0/alive/{x}" for x in ("first", "last")}


def test_nobody_asks_and_nobody_answers(fleet):
    asked = []

    def answer(query):
        asked.append(query)
        query.reply(query.key_expr, b"me")

    with fleet.sessions["agent-1"].declare_queryable("tricover/m/agent/1/ask", answer):
        fleet.meet("agent-1", "agent-2", own("agent-1"))  # so it is declared
        for name in ("recorder", "agent-0"):
            assert [
                reply for reply in fleet.sessions[name].get("tricover/m/agent/1/ask", timeout=SOON) if reply.ok
            ] == []
    assert asked == []


def test_a_message_that_would_fill_the_memory_is_not_passed_on(fleet):
    name, marks = own("agent-1"), [f"{when} {time.monotonic()}".encode() for when in ("before", "after")]
    fleet.meet("agent-1", "agent-2", name, bytes(LONGEST))
    reliable = {"reliability": zenoh.Reliability.RELIABLE, "congestion_control": zenoh.CongestionControl.BLOCK}
    with fleet.sessions["agent-1"].declare_publisher(name, **reliable) as publisher:
        for data in (marks[0], bytes(3 * LONGEST), marks[1]):
            publisher.put(data)
        until(lambda: (name, marks[1]) in fleet.heard["agent-2"], "after a long message, agents are not heard")
    assert (name, marks[0]) in fleet.heard["agent-2"]
    assert max(len(data) for _, data in fleet.heard["agent-2"]) == LONGEST
    fleet.heard["agent-2"].clear()


def test_quic_has_a_reliable_and_an_unreliable_link_in_one_session(fleet):
    found = [link.reliability for link in fleet.sessions["agent-0"].info.links()]
    assert zenoh.Reliability.RELIABLE in found
    assert (zenoh.Reliability.BEST_EFFORT in found) is fleet.endpoint.startswith("quic")


def gets_in(config):
    """A client with this configuration is let in."""
    config.insert_json5("connect/timeout_ms", str(int(1000 * SOON)))
    zenoh.open(config).close()


def is_refused(config):
    """A client with this configuration is not let in, while one of ours is in a hundredth of that time."""
    config.insert_json5("connect/timeout_ms", "300")
    with pytest.raises(zenoh.ZError):
        zenoh.open(config)


def changed(config, folder, side="connect"):
    """A configuration with the certificate of another folder; None is no certificate at all."""
    files = {"private_key": "tls.key", "certificate": "tls.pem"}
    for name, file in files.items():
        config.insert_json5(f"transport/link/tls/{side}_{name}", json.dumps(folder and str(folder / file)))
    return config


def test_who_is_not_ours_does_not_get_in(fleet, keys, tmp_path):
    make_keys(tmp_path / "foreign", 1)

    def ours():
        return member_config(fleet.endpoint, keys / "agent-0")

    gets_in(ours())
    nobody = changed(ours(), None)
    nobody.insert_json5("transport/link/tls/enable_mtls", "false")
    is_refused(nobody)
    is_refused(changed(ours(), tmp_path / "foreign" / "agent-0"))
    is_refused(member_config(fleet.endpoint, tmp_path / "foreign" / "agent-0"))
    is_refused(changed(ours(), keys / "agent-3"))
    is_refused(changed(ours(), keys / "router"))
    gets_in(ours())


@pytest.mark.parametrize("posing", ["agent-1", "foreign/router", None])
def test_a_client_goes_to_the_router_only(posing, keys, tmp_path):
    make_keys(tmp_path / "foreign", 1)
    endpoint = free()
    config = router_config([endpoint], keys / "router", 3)
    if posing is not None:
        folder = tmp_path / posing if "/" in posing else keys / posing
        changed(config, folder, "listen")
    with zenoh.open(config):
        (gets_in if posing is None else is_refused)(member_config(endpoint, keys / "agent-0"))


def test_a_router_by_a_name_that_is_not_in_its_certificate_is_refused(keys):
    port = free().rsplit(":", 1)[1]
    with zenoh.open(router_config([f"tls/0.0.0.0:{port}"], keys / "router", 3)):
        gets_in(member_config(f"tls/localhost:{port}", keys / "agent-0"))
        is_refused(member_config(f"tls/127.0.0.2:{port}", keys / "agent-0"))


def test_a_client_waits_for_its_router_and_comes_back_to_it(keys):
    endpoint = free()
    with ExitStack() as stack:
        fleet = Fleet(stack, keys, endpoint)
        waiting = threading.Thread(target=fleet.join, args=["agent-0"])
        waiting.start()
        router = stack.enter_context(zenoh.open(router_config([endpoint], keys / "router", 3)))
        waiting.join(SOON)
        assert "agent-0" in fleet.sessions
        fleet.join("recorder")
        fleet.listen("recorder")
        fleet.watch("recorder")
        token = fleet.sessions["agent-0"].liveliness().declare_token("tricover/m/agent/0/alive/x")
        fleet.meet("agent-0", "recorder", own("agent-0"))
        until(lambda: fleet.alive["recorder"] == [(True, "tricover/m/agent/0/alive/x")], "no token is seen")
        router.close()
        until(lambda: len(fleet.alive["recorder"]) == 2, "that the router is gone is not seen")
        fleet.heard["recorder"].clear()
        stack.enter_context(zenoh.open(router_config([endpoint], keys / "router", 3)))
        fleet.meet("agent-0", "recorder", own("agent-0"))
        until(lambda: len(fleet.alive["recorder"]) == 3, "the token does not come back")
        assert [alive for alive, _ in fleet.alive["recorder"]] == [True, False, True]
        token.undeclare()


def test_open_links_beside_encrypted_ones(keys):
    secure, plain = free(), free("tcp")
    with ExitStack() as stack:
        config = router_config([secure, plain], keys / "router", 3, insecure_links=True)
        stack.enter_context(zenoh.open(config))
        fleet = Fleet(stack, keys, secure)
        fleet.join("agent-0")
        fleet.join("agent-1")
        fleet.join("open", member_config(plain, None))
        for name in ("agent-1", "open"):
            fleet.listen(name)
        fleet.meet("open", "agent-1", "tricover/m/agent/2/place")
        fleet.meet("agent-0", "open", own("agent-0"))
        fleet.sessions["agent-0"].put("tricover/m/agent/2/place", b"forged")
        fleet.sessions["open"].put("elsewhere", b"forged")
        fleet.sessions["agent-0"].put(own("agent-0"), b"later")
        until(lambda: (own("agent-0"), b"later") in fleet.heard["open"], "an agent is not heard")
        assert not [each for each in fleet.heard["open"] + fleet.heard["agent-1"] if each[1] == b"forged"]


def test_without_keys_everybody_says_everything():
    endpoint = free("tcp")
    with ExitStack() as stack:
        stack.enter_context(zenoh.open(router_config([endpoint], None, 3)))
        fleet = Fleet(stack, Path(), endpoint)
        for name in ("one", "other"):
            fleet.join(name, member_config(endpoint, None))
        fleet.listen("other")
        fleet.meet("one", "other", "tricover/m/agent/1/place")


def setting(config, name):
    return json.loads(config.get_json(name))


def test_what_is_switched_off_and_how_fast_the_dead_are_noticed(keys):
    router = router_config(["tls/localhost:7447"], Keys.load(keys / "router"), 2000)
    member = member_config("tls/localhost:7447", Keys.load(keys / "agent-0"))
    for config in (router, member):
        for part in (
            "scouting/multicast",
            "scouting/gossip",
            "transport/shared_memory",
            "plugins_loading",
            "adminspace",
        ):
            assert setting(config, f"{part}/enabled") is False
        assert setting(config, "transport/link/tx/lease") == 1000
        assert setting(config, "transport/link/tx/keep_alive") == 10
        assert setting(config, "connect/timeout_ms") == -1
        assert setting(config, "connect/retry")["period_init_ms"] == 100
        assert setting(config, "connect/retry")["period_max_ms"] == 1000
        assert setting(config, "transport/link/tls/verify_name_on_connect") is True
    assert (setting(router, "mode"), setting(member, "mode")) == ("router", "client")
    assert setting(router, "listen/endpoints") == ["tls/localhost:7447"]
    assert setting(member, "listen/endpoints") == []
    assert setting(member, "transport/link/tls/listen_private_key") is None
    assert setting(router, "transport/unicast/max_sessions") >= 2003
    assert setting(router, "transport/unicast/accept_pending") >= 2003


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda keys: router_config([], keys / "router", 3), "a router needs an endpoint"),
        (lambda keys: router_config(["tls/localhost:1"], None, 3), "needs keys"),
        (lambda keys: router_config(["tls/localhost:1", "tcp/localhost:2"], keys / "router", 3), "does not encrypt"),
        (lambda keys: router_config(["tls/localhost:1"], keys / "agent-0", 3), "not those of the router"),
        (lambda keys: member_config("quic/localhost:1", None), "needs keys"),
        (lambda keys: member_config("udp/localhost:1", keys / "agent-0"), "does not encrypt"),
        (lambda keys: member_config("localhost:1", None), "is no endpoint"),
        (lambda keys: member_config("ws/localhost:1", None), "is no endpoint"),
        (lambda keys: member_config("tls/", keys / "agent-0"), "is no endpoint"),
        (lambda keys: member_config("tls/localhost:1", keys / "agent-3"), "expired"),
        (lambda keys: member_config("tls/localhost:1", keys / "nobody"), "cannot read"),
    ],
)
def test_what_does_not_go_together_is_said(call, message, keys):
    with pytest.raises(InputError, match=message):
        call(keys)


def test_keys_are_found_from_any_folder(keys, tmp_path, monkeypatch):
    shutil.copytree(keys / "agent-0", tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    config = member_config("tls/localhost:1", "mine")
    assert setting(config, "transport/link/tls/connect_private_key") == str(tmp_path / "mine" / "tls.key")


def test_without_the_library_the_extra_is_named(monkeypatch):
    load = builtins.__import__

    def without(name, *rest):
        if name == "zenoh":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"tricover\[fleet\]"):
        member_config("tcp/localhost:1", None)
