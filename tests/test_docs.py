"""Every Python and shell example in README.md and docs/ runs, in order, and prints what it says."""

import doctest
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|pycon|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    """Line number, language, text and promised output of each example; the output is a text block right after it."""
    text = page.read_text(encoding="utf-8")
    return [(text[: match.start(2)].count("\n"), match[1], match[2], match[3]) for match in BLOCK.finditer(text)]


def run_in_shell(text):
    """What the commands print, with this environment's ``tricover``; a command that fails is an error."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONWARNINGS": "default"}
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", text], env=settings, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def run_here(code, names):
    """What Python code prints, with the names of the blocks before it."""
    with redirect_stdout(StringIO()) as printed:
        exec(code, names)
    return printed.getvalue()


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name)
def test_examples_run(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names, runner = {"__name__": "__main__"}, doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for line, language, text, promised in blocks(page):
        if text.startswith(">>>"):
            examples = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
            runner.run(examples, clear_globs=False)
            names.update(examples.globs)
            continue
        code = text if language == "sh" else compile("\n" * line + text, str(page), "exec")
        printed = run_in_shell(code) if language == "sh" else run_here(code, names)
        assert promised is None or doctest.OutputChecker().check_output(promised, printed, LOOSELY), printed
    assert runner.summarize(verbose=False).failed == 0


def test_readme_prints_what_its_comments_say(tmp_path, monkeypatch, capsys):
    [text] = [text for _, language, text, _ in blocks(ROOT / "README.md") if language == "python"]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(text, {})
    said = re.findall(r"print\(.*?\)  # (.*)", text)
    for comment, printed in zip(said, capsys.readouterr().out.splitlines(), strict=True):
        assert comment.startswith(printed)


def test_readme_says_of_coverage_what_the_tables_say():
    """The ranges beside Lloyd's are those of the means in docs/goals.md."""
    rows = re.findall(r"^\| \d+ \| ([^|]+) \| (.*) \|$", (ROOT / "docs" / "goals.md").read_text(), re.MULTILINE)
    means = {}
    for method, cells in rows:
        means.setdefault(method, []).extend(float(cell.split()[0]) for cell in cells.split(" | "))
    assert len(means["paper"]) == 18
    kinds = {
        "the paper's rules": ["paper"],
        "goals `predictive` and `rollout`": ["predictive", "rollout"],
        "the same, with fitted anchors": ["predictive, fitted", "rollout, fitted"],
        "a formation planned for targets known beforehand": ["planned"],
    }
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for words, methods in kinds.items():
        found = [mean for method in methods for mean in means[method]]
        assert f"| {words} | {min(found):.1f} to {max(found):.1f} |" in readme


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pictures_say_what_they_show(page):
    for said in re.findall(r"!\[([^\]]*)\]", page.read_text(encoding="utf-8")):
        assert len(said.split()) >= 3, f"{page.name}: a picture needs a description, not {said!r}"
