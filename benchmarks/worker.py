"""A process of its own that does what it is asked: functions of one module, by name, a JSON line each way.

Runs in any environment with NumPy. Arrays travel as .npy files, whose paths are arguments. What libraries print goes to
stderr. Every answer tells the memory of the process: what it held when its module was imported, and its peak.

    python worker.py MODULE.py
"""

import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def memory(field: str, process: int | str = "self") -> int:
    """Bytes of a process: VmRSS (now), VmHWM (peak), or RssAnon (now, without those of files)."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def forget_peak() -> None:
    """Let the peak start anew from what is held now."""
    Path("/proc/self/clear_refs").write_text("5")


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path[0] = str(Path(__file__).parents[1])  # not this folder: its modules would hide others of their name
    module = load(Path(sys.argv[1]))
    imported = memory("VmRSS")
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": getattr(module, request["do"])(**request["with"])}
        except Exception:  # noqa: BLE001 - whatever it is, the one who asked must hear of it
            answer = {"error": traceback.format_exc()}
        answer |= {"imported": imported, "peak": memory("VmHWM")}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
