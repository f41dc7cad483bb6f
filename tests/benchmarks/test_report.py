"""The report as JSON, and the page that is made of it."""

import json
import os

import matplotlib.pyplot as plt
import pytest
from benchmarks.compare import Row

from benchmarks import __main__ as bench
from benchmarks import page, topics

MACHINE = {
    "date",
    "commit",
    "processor",
    "cores",
    "memory_gib",
    "system",
    "python",
    "load",
    "ours",
    "peers",
}
ENTRY = {"topic", "what", "ours", "peer", "ratio", "wanted", "verdict", "note", "data"}


class Topic:
    def __init__(self, *rows, error=None):
        self.kept, self.error = rows, error

    def rows(self):
        yield from self.kept
        if self.error:
            raise self.error


def measure(monkeypatch, tmp_path, topic):
    monkeypatch.setattr(topics, "import_module", lambda name: topic)
    code = bench.main(["network", "--json", str(tmp_path / "out" / "bench.json")])
    return code, json.loads((tmp_path / "out" / "bench.json").read_text())


def test_a_report_holds_the_machine_and_every_row(monkeypatch, tmp_path, capsys):
    topic = Topic(Row("fast", "1 s", "9 s", 9.0, 5, note="twice"), Row("beside", "", "", 1.0, data={"trace": [1, 2]}))
    code, report = measure(monkeypatch, tmp_path, topic)
    assert code == 0
    assert report["machine"].keys() == MACHINE
    assert report["machine"]["ours"]["numpy"]
    assert all(row.keys() == ENTRY for row in report["rows"])
    assert [row["verdict"] for row in report["rows"]] == ["kept", "compared"]
    assert report["rows"][1]["data"] == {"trace": [1, 2]}
    told = capsys.readouterr()
    assert "fast" in told.out
    assert "network …" in told.err


def test_a_miss_is_told_by_the_exit_code(monkeypatch, tmp_path, capsys):
    code, report = measure(monkeypatch, tmp_path, Topic(Row("slow", "9 s", "1 s", 0.1, 5)))
    assert (code, report["rows"][0]["verdict"]) == (1, "missed")


def test_a_topic_that_fails_keeps_its_rows_and_is_told(monkeypatch, tmp_path, capsys):
    topic = Topic(Row("fast", "1 s", "9 s", 9.0, 5), error=RuntimeError("no peers here"))
    code, report = measure(monkeypatch, tmp_path, topic)
    assert code == 1
    assert [(row["verdict"], row["note"]) for row in report["rows"]] == [("kept", ""), ("failed", "no peers here")]


def test_several_topics_have_a_process_each(monkeypatch, tmp_path, capfd):
    """One that cannot even be imported fails there; the other one goes on."""
    monkeypatch.setattr(bench, "TOPICS", ("nowhere", "neither"))
    assert bench.main(["--json", str(tmp_path / "bench.json")]) == 1
    rows = json.loads((tmp_path / "bench.json").read_text())["rows"]
    assert [(row["topic"], row["note"]) for row in rows] == [
        (name, f"No module named 'benchmarks.{name}'") for name in ("nowhere", "neither")
    ]


def test_a_process_that_dies_is_a_topic_that_failed(monkeypatch):
    monkeypatch.setattr(topics, "measure", os._exit)
    (row,) = topics.apart(3)
    assert row["verdict"] == "failed"


def test_an_interrupted_run_writes_nothing(monkeypatch, tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        measure(monkeypatch, tmp_path, Topic(error=KeyboardInterrupt()))
    assert list(tmp_path.iterdir()) == []


def test_every_topic_has_a_title_on_the_page():
    assert tuple(page.TITLES) == topics.TOPICS


def test_the_page_is_what_its_report_gives():
    text = page.PAGE.read_text(encoding="utf-8")
    report = json.loads(page.REPORT.read_text(encoding="utf-8"))
    assert page.with_tables(text, report) == text
    assert all(row.keys() == ENTRY for row in report["rows"])


def test_tables_go_between_the_markers_and_nowhere_else():
    report = json.loads(page.REPORT.read_text(encoding="utf-8"))
    made = page.with_tables(f"before\n{page.BEGIN}old\n{page.END}after\n", report)
    assert made.startswith(f"before\n{page.BEGIN}")
    assert made.endswith(f"{page.END}after\n")
    assert "old\n" not in made


def test_figures_are_drawn_with_their_exponents(tmp_path):
    curve = {
        "quantity": "network",
        "others": "10⁶ targets",
        "sizes": [1000, 10_000, 100_000],
        "values": [1.0, 10.0, 100.0],
    }
    rows = [
        {"data": {**curve, "over": over, "kind": kind, "exponent": 1.0, "fitted_from": 10_000}}
        for over in ("agents", "targets")
        for kind in ("seconds", "bytes")
    ]
    page.draw(rows, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scaling-memory.png", "scaling-time.png"]
    ax = plt.figure().add_subplot()
    page.panel(ax, [rows[0]["data"]], 1.0)
    (label,) = [text.get_text() for text in ax.get_legend().get_texts()]
    assert label == "network: 1.00"
    _, law = ax.get_lines()
    assert law.get_ydata() == pytest.approx([10.0, 100.0])
