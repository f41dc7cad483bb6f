"""A small network of our own, which can be broken: a router's namespace R, and two others that are wired to it.

    A ───── R ───── B        10.77.0.2 ─ 10.77.0.1, 10.77.1.1 ─ 10.77.1.2

Nothing leaves these namespaces: they have no wire but these, and no route. A wire is cut in one of two ways. The link
goes down, as where a cable is pulled. Or packets vanish both ways, as on a radio: then nobody is told.
Loss is that of packets on each wire, each way.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

SIDES = ("a", "b")
_NAMES = count()


class NotHereError(Exception):
    """There can be no namespaces here; says why."""


def why_not_here() -> str | None:
    """Why there can be no network of our own here; None: there can be."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in ("ip", "nft") if shutil.which(tool) is None]
    if missing:
        return f"there is no command {' and no '.join(missing)}"
    name = _name("try")
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"namespaces are denied here: {tried.stderr.strip()}"
    _do("ip", "netns", "delete", name)
    return None


class Wires:
    """Three namespaces and two wires; see the module."""

    def __init__(self) -> None:
        self.names = {side: _name(side) for side in ("r", *SIDES)}

    def inside(self, side: str, *words: str) -> list[str]:
        """A command that runs in a namespace. The process that is begun becomes the command itself."""
        return ["ip", "netns", "exec", self.names[side], *words]

    def router_for(self, side: str) -> str:
        """The address of the router, as seen from a side."""
        return "127.0.0.1" if side == "r" else f"10.77.{SIDES.index(side)}.1"

    def make(self) -> None:
        """Make the namespaces, and wire them."""
        for side, name in self.names.items():
            _do("ip", "netns", "add", name)
            _do(*self.inside(side, "ip", "link", "set", "lo", "up"))
        for number, side in enumerate(SIDES):
            far = ("peer", "name", "wire", "netns", self.names[side])
            _do(*self.inside("r", "ip", "link", "add", f"to-{side}", "type", "veth", *far))
            for at, link, last in (("r", f"to-{side}", 1), (side, "wire", 2)):
                _do(*self.inside(at, "ip", "address", "add", f"10.77.{number}.{last}/24", "dev", link))
                _do(*self.inside(at, "ip", "link", "set", link, "up"))
        rules = "add table inet broken"
        for hook in ("input", "output"):
            rules += f"; add chain inet broken {hook} {{ type filter hook {hook} priority 0; policy accept; }}"
        _do(*self.inside("r", "nft", rules))

    def remove(self) -> None:
        """Remove what there is of them; their wires go with them."""
        for name in self.names.values():
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def running(self) -> list[int]:
        """Processes that are in the namespaces."""
        found = (_do("ip", "netns", "pids", name) for name in self.names.values())
        return [int(pid) for text in found for pid in text.split()]

    # What breaks

    def pull(self, side: str) -> None:
        """Pull the cable to a side out of the router."""
        _do(*self.inside("r", "ip", "link", "set", f"to-{side}", "down"))

    def plug(self, side: str) -> None:
        """Put it back."""
        _do(*self.inside("r", "ip", "link", "set", f"to-{side}", "up"))

    def jam(self, side: str) -> None:
        """Let nothing pass between a side and the router, unnoticed."""
        self._drop(side, "")

    def lose(self, percent: int) -> None:
        """Lose so many packets in a hundred on each wire, each way."""
        for side in SIDES:
            self._drop(side, f"numgen random mod 100 < {percent}")

    def mend(self, percent: int = 0) -> None:
        """Lose nothing any more, or only so much."""
        rules = "flush chain inet broken input; flush chain inet broken output"
        _do(*self.inside("r", "nft", rules))
        if percent:
            self.lose(percent)

    def _drop(self, side: str, when: str) -> None:
        ways = (("input", "iifname"), ("output", "oifname"))
        rules = [f"insert rule inet broken {hook} {way} to-{side} {when} counter drop" for hook, way in ways]
        _do(*self.inside("r", "nft", "; ".join(rules)))


@contextmanager
def wired() -> Iterator[Wires]:
    """A network of our own, which is removed in the end, whatever happens."""
    reason = why_not_here()
    if reason is not None:
        raise NotHereError(reason)
    wires = Wires()
    try:
        wires.make()
        yield wires
    finally:
        wires.remove()


def _name(side: str) -> str:
    return f"tricover-{os.getpid()}-{next(_NAMES)}-{side}"


def _do(*words: str) -> str:
    """Do something that has to work; what it said."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
