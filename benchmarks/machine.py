"""Facts of the machine and of what runs on it, for the JSON file."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from benchmarks.workers import HERE, PEERS


def facts() -> dict[str, Any]:
    """Everything that a time depends on, as plain values."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _said("git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=12"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": _system(),
        "python": platform.python_version(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "ours": {found.name: found.version for found in sorted(distributions(), key=lambda found: found.name.lower())},
        "peers": dict(line.split("==") for line in _said(str(PEERS), "-m", "pip", "freeze").split() if "==" in line),
    }


def _said(*command: str) -> str:
    """What a command prints, or nothing where it does not work."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _system() -> str:
    name = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"{name}, kernel {platform.release()}"
