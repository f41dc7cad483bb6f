"""The demo runs anywhere and leaves the figures that it names."""

import runpy
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_demo_writes_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(DEMO), run_name="__main__")
    said = capsys.readouterr().out
    written = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in written] == ["cells.png", "formation.png", "layers.png"]
    assert all(str(path.relative_to(tmp_path)) in said for path in written)
    assert "depth: 5" in said
