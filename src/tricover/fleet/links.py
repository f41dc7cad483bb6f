"""How the processes of a fleet are connected: each is a client of one router, by mutual TLS. Rules say who may write.

    tricover/{mission}/agent/{i}/**      written by agent i alone: place, report, and its liveliness tokens
    tricover/{mission}/operator/**       written by the operator alone

Everybody may read all of this. All else is denied: to write elsewhere, to read elsewhere, to delete, to ask and to
answer, and whoever has no certificate of the fleet's authority. The router decides by the name in the certificate.

``tls/host:port`` is for cables. ``quic/host:port?mixed_rel=1`` is for radio: what is published as best effort goes in
datagrams that are never sent twice, all else in a reliable stream. ``tcp/`` and ``udp/`` tell no names and hide
nothing. There only the signatures of messages protect, so they have to be asked for.
"""

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from tricover.errors import InputError, MissingExtraError, listed, shown
from tricover.fleet.encoding import LONGEST
from tricover.fleet.keys import Keys

if TYPE_CHECKING:
    import zenoh

__all__ = ["LEASE", "member_config", "router_config"]

LEASE = 1.0
"""Seconds of silence after which the other side is taken for dead."""

_SECURE, _OPEN = ("tls", "quic"), ("tcp", "udp")
_EVERYTHING = "tricover/**"
_READING = ["declare_subscriber", "declare_liveliness_subscriber", "liveliness_query"]
_WRITING = ["put", "liveliness_token"]
_COMMON: dict[str, Any] = {
    "scouting/multicast/enabled": False,
    "scouting/gossip/enabled": False,
    "scouting/delay": 0,  # else a router waits half a second for what is switched off
    "transport/link/tx/keep_alive": 10,  # messages in that time: with 30 % loss, Zenoh's own 4 may all be lost
    "transport/link/rx/max_message_size": 2 * LONGEST,  # Zenoh's own is a gigabyte, which fills a small machine
    "transport/shared_memory/enabled": False,
    "plugins_loading/enabled": False,
    "adminspace/enabled": False,
    # A client waits for its router and comes back to it, however long that takes.
    "connect/timeout_ms": -1,
    "connect/retry": {"period_init_ms": 100, "period_max_ms": 1000, "period_increase_factor": 2},
}


def router_config(
    endpoints: Sequence[str],
    keys: Keys | str | PathLike[str] | None,
    agents: int,
    *,
    insecure_links: bool = False,
    lease: float = LEASE,
) -> "zenoh.Config":
    """The configuration of the router of a fleet.

    Args:
        endpoints: where it listens, such as "tls/0.0.0.0:7447".
        keys: those of "router", or their folder; without keys everybody may connect and write everything.
        agents: how many agents there are.
        insecure_links: with keys, allow endpoints that do not encrypt too.
        lease: seconds of silence after which it is taken for dead by those who are connected to it.
    """
    if not endpoints:
        raise InputError("a router needs an endpoint to listen on, such as tls/0.0.0.0:7447")
    loaded = _loaded(keys, endpoints, insecure_links)
    settings: dict[str, Any] = {
        "mode": "router",
        "listen/endpoints": list(endpoints),
        "transport/unicast/max_sessions": 2 * agents + 100,
        "transport/unicast/accept_pending": agents + 100,
    }
    if loaded is not None:
        if loaded.name != "router":
            raise InputError(f"the keys of {loaded.name} are not those of the router")
        settings |= _tls(loaded, "listen")
        settings["access_control"] = _access(agents, _protocols(endpoints) & set(_OPEN))
    return _config(settings, lease)


def member_config(
    endpoint: str, keys: Keys | str | PathLike[str] | None, *, insecure_links: bool = False, lease: float = LEASE
) -> "zenoh.Config":
    """The configuration of any other process: a client of the router at an endpoint. It does not listen."""
    loaded = _loaded(keys, [endpoint], insecure_links)
    settings: dict[str, Any] = {"mode": "client", "connect/endpoints": [endpoint], "listen/endpoints": []}
    if loaded is not None:
        settings |= _tls(loaded, "connect")
    return _config(settings, lease)


def _loaded(keys: Keys | str | PathLike[str] | None, endpoints: Sequence[str], insecure: bool) -> Keys | None:
    """The keys, if they go with the endpoints."""
    found = _protocols(endpoints)
    if keys is None and not found.isdisjoint(_SECURE):
        raise InputError(f"{listed(endpoints)} needs keys: make them with tricover fleet keys, or use tcp/")
    if keys is not None and not found.isdisjoint(_OPEN) and not insecure:
        raise InputError(f"{listed(endpoints)} does not encrypt: use tls/ or quic/, or allow insecure links")
    return keys if keys is None or isinstance(keys, Keys) else Keys.load(keys)


def _protocols(endpoints: Iterable[str]) -> set[str]:
    found = set()
    for endpoint in endpoints:
        protocol, _, address = endpoint.partition("/")
        if protocol not in (*_SECURE, *_OPEN) or not address:
            raise InputError(f"{shown(endpoint)} is no endpoint: tls, quic, tcp or udp, such as tls/localhost:7447")
        found.add(protocol)
    return found


def _tls(keys: Keys, side: str) -> dict[str, Any]:
    return {
        "transport/link/tls/enable_mtls": True,
        "transport/link/tls/verify_name_on_connect": True,
        "transport/link/tls/root_ca_certificate": str(keys.authority),
        f"transport/link/tls/{side}_private_key": str(keys.tls_key),
        f"transport/link/tls/{side}_certificate": str(keys.tls_certificate),
    }


def _access(agents: int, unnamed: set[str]) -> dict[str, Any]:
    """Who may do what. Over the protocols ``unnamed`` nobody has a name, and everybody may write below ours."""
    writers = {f"agent-{agent}": f"tricover/*/agent/{agent}/**" for agent in range(agents)}
    writers["operator"] = "tricover/*/operator/**"
    rules = [
        _rule("read", "ingress", _READING, _EVERYTHING),
        _rule("hear", "egress", _READING + _WRITING, _EVERYTHING),
        *(_rule(name, "ingress", _WRITING, place) for name, place in writers.items()),
    ]
    named = (*writers, "recorder")
    subjects: list[dict[str, Any]] = [{"id": name, "cert_common_names": [name]} for name in named]
    policies = [{"rules": ["read", "hear", name], "subjects": [name]} for name in writers]
    policies.append({"rules": ["read", "hear"], "subjects": ["recorder"]})
    if unnamed:
        rules.append(_rule("write", "ingress", _WRITING, _EVERYTHING))
        subjects.append({"id": "unnamed", "link_protocols": sorted(unnamed)})
        policies.append({"rules": ["read", "hear", "write"], "subjects": ["unnamed"]})
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": subjects,
        "policies": policies,
    }


def _rule(name: str, flow: str, messages: list[str], place: str) -> dict[str, Any]:
    return {
        "id": name,
        "permission": "allow",
        "flows": [flow],
        "messages": messages,
        "key_exprs": [place],
    }


def _config(settings: dict[str, Any], lease: float) -> "zenoh.Config":
    try:
        import zenoh
    except ImportError as error:
        raise MissingExtraError("fleets need the library eclipse-zenoh: pip install 'tricover[fleet]'") from error
    config = zenoh.Config()
    lasting = {"transport/link/tx/lease": round(1000 * lease)}
    for name, value in {**_COMMON, **lasting, **settings}.items():
        config.insert_json5(name, json.dumps(value))
    return config
