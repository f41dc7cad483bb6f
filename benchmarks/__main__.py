"""``make bench``: run every topic in this folder, or those named on the command line, and print one table of ratios.

    python -m benchmarks [TOPIC …] [--quick] [--json FILE]

Several topics have a process each, so that none finds what another left behind. Progress goes to stderr. Exit code 1:
something that is wanted was missed, or a topic failed.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.topics import TOPICS, apart, measure
from tricover.formats import write_whole

WIDTH = 200  # columns, where the table goes to a file


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    if asked.quick:
        os.environ["TRICOVER_BENCH"] = "quick"
    facts, began = machine.facts(), time.monotonic()
    topics = asked.topics or TOPICS
    measured = measure if len(topics) == 1 else apart
    found = [entry for topic in topics for entry in measured(topic)]
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
