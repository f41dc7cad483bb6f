"""Flights over a real network that breaks need root and tools: where these are missing, that is said before all else.

``make namespaces`` flies them, where it may.
"""

import os
import shutil
import sys

import pytest

from tests.fleet import wires
from tests.fleet.namespaces import PLANS, flight, main
from tests.fleet.wires import NotHereError, why_not_here


@pytest.mark.parametrize("name", PLANS)
def test_who_is_not_root_is_refused_before_anything_starts(name, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotHereError, match="network namespaces need root"):
        flight(name, 0)


def test_the_command_says_that_it_is_left_out_and_why(monkeypatch, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["namespaces"])
    main()
    assert capsys.readouterr().out.startswith("Left out, as network namespaces need root")


def test_missing_tools_are_named(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "nft" else f"/sbin/{tool}")
    assert why_not_here() == "there is no command nft"


def test_namespaces_that_are_denied_are_no_failure(monkeypatch, tmp_path):
    denies = tmp_path / "ip"
    denies.write_text("#!/bin/sh\necho 'Operation not permitted' >&2\nexit 1\n")
    denies.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda tool: f"/sbin/{tool}")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why_not_here() == "namespaces are denied here: Operation not permitted"


def test_namespaces_are_removed_whatever_happens(monkeypatch):
    """Even if they were made only in part."""
    removed = []
    monkeypatch.setattr(wires, "why_not_here", lambda: None)
    monkeypatch.setattr(wires.Wires, "make", lambda self: 1 / 0)
    monkeypatch.setattr(wires.Wires, "remove", lambda self: removed.append(self))
    with pytest.raises(ZeroDivisionError), wires.wired():
        pass
    assert len(removed) == 1
