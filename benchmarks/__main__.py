"""``make bench``: run every topic in this folder, or those named on the command line, and print one table of ratios.

    python -m benchmarks [TOPIC …] [--quick] [--json FILE]

Progress goes to stderr. Exit code 1: something that is wanted was missed, or a topic failed.
"""

import argparse
import json
import os
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.compare import Row
from tricover.formats import write_whole

WIDTH = 200  # columns, where the table goes to a file
#: In the order of the data flow; each is a module of this folder.
TOPICS = (
    "startup",
    "network",
    "targets",
    "mdp",
    "vehicles",
    "simulation",
    "coveragecontrol",
    "certify",
    "coverage",
    "samples",
    "scaling",
)


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    if asked.quick:
        os.environ["TRICOVER_BENCH"] = "quick"
    facts, began = machine.facts(), time.monotonic()
    found = [entry for topic in asked.topics or TOPICS for entry in _measure(topic)]
    report = {"machine": facts, "quick": asked.quick, "minutes": (time.monotonic() - began) / 60, "rows": found}
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    console.print(_table(found, asked.quick))
    if asked.json is not None:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        write_whole(asked.json, json.dumps(report, indent=1, ensure_ascii=False))
    return 1 if any(entry["verdict"] in ("missed", "failed") for entry in found) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Ratios to peers, same machine, same run."
    )
    parser.add_argument("topics", nargs="*", choices=[*TOPICS, []], metavar="TOPIC", help=f"of {', '.join(TOPICS)}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes; verdicts are a hint only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table, and the machine's facts")
    return parser


def _measure(topic: str) -> list[dict[str, Any]]:
    """The topic's rows as plain values; one that fails does not take the others along."""
    print(f"{topic} …", file=sys.stderr, flush=True)
    found, began = [], time.monotonic()
    try:
        for row in import_module(f"benchmarks.{topic}").rows():
            found.append(entry(topic, row))
            print(f"  {row.what}: {row.ratio:.3g} {row.bound} {row.verdict}", file=sys.stderr, flush=True)
    except Exception as error:  # noqa: BLE001 - see above; the table says so, and so does the exit code
        traceback.print_exc()
        failed = Row(f"{topic} failed", "", "", float("nan"), note=str(error).strip().splitlines()[-1])
        found.append(entry(topic, failed) | {"ratio": None, "verdict": "failed"})
    print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return found


def entry(topic: str, row: Row) -> dict[str, Any]:
    """A row as plain values."""
    return {
        "topic": topic,
        "what": row.what,
        "ours": row.ours,
        "peer": row.peer,
        "ratio": row.ratio,
        "wanted": row.bound,
        "verdict": row.verdict,
        "note": row.note,
        "data": row.data,
    }


def _table(entries: list[dict[str, Any]], quick: bool) -> Table:
    title = "Ratios, same machine, same run" + (", a tenth of the sizes" if quick else "")
    table = Table("what", "ours", "peer", "ratio", "wanted", "verdict", "note", title=title)
    colours = {"kept": "green", "compared": "default", "missed": "red", "failed": "red"}
    for one in entries:
        ratio = "" if one["ratio"] is None else f"{one['ratio']:.3g}"
        verdict = f"[{colours[one['verdict']]}]{one['verdict']}[/]"
        table.add_row(one["what"], one["ours"], one["peer"], ratio, one["wanted"], verdict, one["note"])
    return table


if __name__ == "__main__":
    sys.exit(main())
