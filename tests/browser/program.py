"""Debian's Chromium: where it is, and how it is started, whoever drives it."""

import shutil

PATIENCE = 180
"""Seconds for anything, however busy the machine is meanwhile."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--proxy-server=127.0.0.1:9",
)


def found(program):
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError(f"no {program}: `make browser` installs Debian's chromium and chromium-driver")
    return path
