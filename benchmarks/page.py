"""``make performance``: the tables and figures of docs/performance.md, from what ``make bench`` wrote.

    python -m benchmarks.page out/bench.json

keeps the file as docs/performance.json, writes the tables between the page's markers and draws the scaling figures.
"""

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from tricover.formats import write_whole

DOCS = Path(__file__).parents[1] / "docs"
PAGE, REPORT = DOCS / "performance.md", DOCS / "performance.json"
BEGIN, END = "<!-- tables: written by make performance -->\n", "<!-- end of tables -->\n"
TITLES = {
    "startup": "Start-up",
    "network": "Network",
    "targets": "Targets",
    "mdp": "Decision process",
    "plans": "Moves that may fail",
    "zones": "Zones",
    "vehicles": "Vehicles",
    "assignment": "From the pads",
    "simulation": "Whole runs",
    "learning": "Learning",
    "coveragecontrol": "CoverageControl",
    "certify": "Certificates",
    "separation": "Separation",
    "coverage": "Coverage, as cost over that of converged Lloyd's",
    "moving": "Targets that move",
    "sight": "Agents that see only so far",
    "sweep": "Studies",
    "parts": "Huge teams in parts",
    "rl": "Learning environments",
    "fleet": "Fleets",
    "studio": "The studio",
    "samples": "Equality with the plain loop, on samples",
    "scaling": "Scaling",
}
COLUMNS = ("what", "ours", "peer", "ratio", "wanted", "verdict", "note")
#: Colour and marker of each quantity: Okabe and Ito's colours, which colour-blind readers tell apart.
LOOKS = {
    "network": ("#0072b2", "o"),
    "index": ("#56b4e9", "v"),
    "reach step": ("#d55e00", "s"),
    "walk step": ("#009e73", "D"),
    "certificate": ("#cc79a7", "^"),
    "coverage cost": ("#1a1a1a", "x"),
}


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else REPORT
    text = source.read_text(encoding="utf-8")
    report = json.loads(text)
    draw(report["rows"], DOCS / "images")
    write_whole(PAGE, with_tables(PAGE.read_text(encoding="utf-8"), report))
    write_whole(REPORT, text)


def with_tables(page: str, report: dict[str, Any]) -> str:
    """The page with the report's tables between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(report)}\n{END}{after}"


def tables(report: dict[str, Any]) -> str:
    """The machine in a sentence, and a Markdown table for each topic."""
    parts = [setting(report)]
    for topic, rows in groupby(report["rows"], key=lambda row: row["topic"]):
        lines = [f"### {TITLES[topic]}", "", _line(COLUMNS), _line(["---"] * len(COLUMNS))]
        parts.append("\n".join([*lines, *(_line(cells(row)) for row in rows)]))
    return "\n\n".join(parts) + "\n"


def cells(row: dict[str, Any]) -> list[str]:
    """A row's cells; the ratio rounded, a miss in bold."""
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
    verdict = f"**{row['verdict']}**" if row["verdict"] in ("missed", "failed") else row["verdict"]
    return [row["what"], row["ours"], row["peer"], ratio, row["wanted"], verdict, row["note"]]


def _line(values: Any) -> str:
    return f"| {' | '.join(value.replace('|', '∣') for value in values)} |"


def setting(report: dict[str, Any]) -> str:
    """Where and when it was measured."""
    machine, rows = report["machine"], report["rows"]
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("kept", "missed", "failed")}
    names = ("numpy", "scipy", "numba")
    ours = ", ".join(f"{name} {machine['ours'][name]}" for name in names if name in machine["ours"])
    names = ("scipy", "scikit-learn", "quantecon", "mdpsolver", "coverage-control", "mpe2")
    peers = {name.replace("_", "-"): version for name, version in machine["peers"].items()}
    theirs = ", ".join(f"{name} {peers[name]}" for name in names if name in peers)
    small = " A quick run: a tenth of the sizes." if report["quick"] else ""
    return (
        f"Measured on {machine['date'][:10]} at commit `{machine['commit']}`: {machine['processor']}, "
        f"{machine['cores']} cores, {machine['memory_gib']:g} GiB, {machine['system']}, Python {machine['python']}; "
        f"load at the start {machine['load'][0]:g}; {report['minutes']:.0f} minutes.{small} Ours with {ours}; peers "
        f"with {theirs}. Bounds kept: {counts['kept']}, missed: {counts['missed']}, topics failed: {counts['failed']}."
    )


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """Time and memory over agents and over targets, with the exponents in the legends."""
    import matplotlib.pyplot as plt

    from tricover.plot.style import PAGE as WIDTH
    from tricover.plot.style import figure_style, save_figure

    curves = [row["data"] for row in rows if "exponent" in row["data"]]
    if not curves:
        return
    for kind, label in (("seconds", "time, s"), ("bytes", "memory, MiB")):
        with figure_style():
            figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 0.52 * WIDTH), sharey=True)
            for ax, over in zip(axes, ("agents", "targets"), strict=True):
                shown = [curve for curve in curves if (curve["kind"], curve["over"]) == (kind, over)]
                panel(ax, shown, 1.0 if kind == "seconds" else 2.0**-20)
                ax.set_xlabel(f"{over} ({shown[0]['others']})")
            axes[0].set_ylabel(label)
            save_figure(figure, folder / f"scaling-{'time' if kind == 'seconds' else 'memory'}.png", dpi=200)
            plt.close(figure)


def panel(ax: Any, curves: list[dict[str, Any]], unit: float) -> None:
    """Measured points, the fitted power laws over the sizes that were fitted, and linear growth for comparison."""
    for curve in curves:
        colour, marker = LOOKS[curve["quantity"]]
        sizes, values = np.array(curve["sizes"]), unit * np.array(curve["values"])
        fitted = sizes >= curve["fitted_from"]
        label = f"{curve['quantity']}: {curve['exponent']:.2f}"
        ax.plot(sizes, values, marker, color=colour, markersize=3.5, label=label)
        level = np.exp(np.mean(np.log(values[fitted]) - curve["exponent"] * np.log(sizes[fitted])))
        ax.plot(sizes[fitted], level * sizes[fitted] ** curve["exponent"], color=colour)
    ax.set(xscale="log", yscale="log")
    ax.grid(True)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, title="fitted exponents", alignment="left")


if __name__ == "__main__":
    main()
