"""What a router denies is counted by itself, to the last one, and told to whoever records; what it allows is not."""

import asyncio
import socket
import ssl
import time

import pytest
import zenoh

from tests.fleet.routers import routing
from tests.fleet.test_agent import mission_of
from tests.fleet.test_links import changed, free, is_refused
from tests.ports import free_port
from tricover.fleet.bus import MemoryHub
from tricover.fleet.controls import Controls
from tricover.fleet.crew import Settings
from tricover.fleet.encoding import encoded
from tricover.fleet.flight import fly_fleet
from tricover.fleet.keys import Keys, make_keys
from tricover.fleet.links import member_config
from tricover.fleet.messages import ROUTER, Command, Denied, Header, NoSeal
from tricover.fleet.radio import NO_MISSION, Radio
from tricover.fleet.routing import Log
from tricover.fleet.tower import Tower
from tricover.fleet.zenoh_bus import open_bus
from tricover.simulation import Mission

AGENTS, MANY, LONG = 8, 2_000, 120.0
BLOCK = {"congestion_control": zenoh.CongestionControl.BLOCK}
PLACES = "tricover/m/agent/{}/place"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("routing")
    make_keys(folder / "ours", AGENTS)
    make_keys(folder / "foreign", AGENTS)
    return folder


def tower_of(endpoint, keys):
    """A tower that records over a real router."""
    loaded = Keys.load(keys / "ours" / "recorder")
    radio = Radio(open_bus(member_config(endpoint, loaded)), loaded, bytes(range(8)), AGENTS, None)
    return Tower(mission_of(AGENTS), radio, time.monotonic)


def refused_once(port, keys, own):
    """Connect by TLS a single time, with the certificate of a folder or with none, and be sent away."""
    context = ssl.create_default_context(cafile=keys / "ours" / "router" / "authority.pem")
    if own is not None:
        context.load_cert_chain(keys / own / "tls.pem", keys / own / "tls.key")
    with (
        pytest.raises(ssl.SSLError, match="alert"),
        socket.create_connection(("127.0.0.1", port)) as link,
        context.wrap_socket(link, server_hostname="127.0.0.1") as secure,
    ):
        secure.recv(1)


@pytest.mark.parametrize("links", ["tls", "quic"])
def test_what_is_denied_is_counted_to_the_last_message(keys, links):
    """Agent 1 says as many things as itself as in the name of agent 2, and shows a token of agent 2."""
    endpoint, told = free(links), []

    def hear(key, data):
        told.append((key, data))

    async def counts():
        tower = tower_of(endpoint, keys)
        tower.radio.bus.subscribe(PLACES.format("*"), hear)
        session = await asyncio.to_thread(zenoh.open, member_config(endpoint, keys / "ours" / "agent-1"))
        with (
            session.declare_publisher(PLACES.format(1), **BLOCK) as own,
            session.declare_publisher(PLACES.format(2), **BLOCK) as others,
        ):
            while (PLACES.format(1), b"open") not in told:  # from then on nothing is lost
                own.put(b"open")
                await asyncio.sleep(0.01)
            for _ in range(MANY):
                own.put(b"mine")
                others.put(b"not mine")
            token = session.liveliness().declare_token("tricover/m/agent/2/alive/1/2")
            while tower.report().refused.get("denied", 0) < MANY + 1:
                await asyncio.sleep(0.01)
            token.undeclare()
        session.close()
        tower.radio.bus.close()
        return tower.report().refused

    with routing([endpoint], keys / "ours" / "router", AGENTS):
        refused = asyncio.run(asyncio.wait_for(counts(), LONG))
    refused.pop("flood", None)  # agent 1 speaks quickly
    assert refused == {"denied": MANY + 1}
    assert {key for key, _ in told} == {PLACES.format(1)}


def test_connections_that_are_refused_are_counted_and_others_are_not(keys):
    """Without a certificate, with one of a foreign authority, and with the router's own, which is for no client."""
    port = free_port()
    endpoint = f"tls/127.0.0.1:{port}"

    async def counts():
        tower = tower_of(endpoint, keys)
        for own in (None, "foreign/agent-1", "ours/router", None):
            await asyncio.to_thread(refused_once, port, keys, own)
        socket.create_connection(("127.0.0.1", port)).close()  # it breaks off, as who is killed does
        while tower.report().refused.get("not let in", 0) < 4:
            await asyncio.sleep(0.01)
        tower.radio.bus.close()
        return tower.report().refused

    with routing([endpoint], keys / "ours" / "router", AGENTS):
        assert asyncio.run(asyncio.wait_for(counts(), LONG)) == {"not let in": 4}


@pytest.mark.parametrize("who", ["foreign", "nobody"])
def test_connections_by_quic_are_counted_too(keys, who):
    endpoint = free("quic")

    async def counts():
        tower = tower_of(endpoint, keys)
        config = changed(member_config(endpoint, keys / "ours" / "agent-0"), keys / "foreign" / "agent-0")
        if who == "nobody":
            config = changed(config, None)
            config.insert_json5("transport/link/tls/enable_mtls", "false")
        while not tower.report().refused:  # the machine may be so busy that the first comes too late
            await asyncio.to_thread(is_refused, config)
        tower.radio.bus.close()
        return tower.report().refused

    with routing([endpoint], keys / "ours" / "router", AGENTS):
        assert asyncio.run(asyncio.wait_for(counts(), LONG)).keys() == {"not let in"}


def test_a_flight_on_this_machine_tells_who_was_not_let_in(keys, monkeypatch):
    port, controls, tried = free_port(), Controls(orders=True, processes=True), []
    monkeypatch.setattr("tricover.fleet.flight._free_port", lambda links: port)

    def follow(report, tower):
        if report.step > 0 and not tried:
            tried.append(refused_once(port, keys, "foreign/agent-1"))
        if report.refused:
            controls.ask("order", word="end", values={})

    settings = Settings(keys=keys / "ours", seconds=LONG)
    mission = Mission.of(mission_of(AGENTS).scenario.replace(stop_when_settled=False))
    flown = fly_fleet(mission, settings, progress=follow, controls=controls)
    assert flown.report.refused == {"not let in": 1}
    assert flown.alive == AGENTS
    assert flown.seconds < LONG


def said(denied, boot, counter, *, sender=ROUTER, mission=NO_MISSION):
    return encoded(Header(0, mission, sender, boot, counter, 0.0, 0), denied, NoSeal())


@pytest.fixture
def tower():
    radio = Radio(MemoryHub().join(), NoSeal(), bytes(range(8)), AGENTS, None, now=lambda: 0.0)
    return Tower(mission_of(AGENTS), radio, lambda: 0.0)


def test_a_router_that_begins_again_counts_anew_and_nothing_is_forgotten(tower):
    for denied, boot, counter in ((Denied(5, 0), 1, 1), (Denied(7, 2), 1, 2), (Denied(1, 0), 2, 1)):
        tower.hear_router("tricover/router/denied", said(denied, boot, counter))
    assert tower.report().refused == {"denied": 8, "not let in": 2}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (said(Denied(9, 9), 1, 1, sender=3, mission=bytes(range(8))), "wrong sender"),
        (said(Denied(9, 9), 1, 1, mission=bytes(range(8))), "other mission"),
        (said(Command("end"), 1, 1), "wrong sender"),
        (said(Denied(9, 9), 1, 1)[:-1], "malformed"),
    ],
)
def test_only_the_router_says_what_it_denied(tower, data, reason):
    tower.hear_router("tricover/router/denied", data)
    assert tower.report().refused == {reason: 1}


def test_the_router_says_nothing_else_and_nowhere_else(tower):
    tower.hear(f"{tower.radio.root}/operator/command", said(Denied(9, 9), 1, 1))
    tower.hear(f"{tower.radio.root}/agent/1/place", said(Denied(9, 9), 1, 1))
    assert tower.report().refused == {"wrong sender": 2}


LINES = b"""\
 WARN acc-0 ThreadId(6) zenoh_link_tls::unicast: received fatal alert: UnknownCA. Hint: increase the limit.
 WARN acc-0 ThreadId(6) zenoh_link_tls::unicast: tls handshake eof. Hint: increase the limit.
 WARN acc-0 ThreadId(6) zenoh_link_tls::unicast: Connection reset by peer (os error 104). Hint: increase the limit.
 WARN acc-0 ThreadId(6) zenoh_link_commons::quic::unicast: QUIC acceptor failed: TransportError(Code::crypto(74))
 WARN acc-0 ThreadId(6) zenoh_link_commons::quic::unicast: QUIC acceptor failed: TimedOut
TRACE rx-1 ThreadId(10) zenoh::net::routing::interceptor: Msg intercepted!
TRACE rx-1 ThreadId(10) zenoh::net::routing::interceptor: Msg intercepted!
DEBUG rx-1 ThreadId(10) zenoh::net::routing::interceptor: Access control is enabled
"""


@pytest.mark.parametrize("size", [1, 7, 64, len(LINES)])
def test_lines_of_a_log_are_counted_wherever_they_are_cut(size):
    log = Log()
    for start in range(0, len(LINES), size):
        log.add(LINES[start : start + size])
    assert log.denied == Denied(2, 2)
