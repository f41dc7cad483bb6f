"""Every Python example in README.md and docs/ runs, in order, and prints what it says."""

import doctest
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Line number and text of each Python block; examples with a prompt are doctests."""
    text = page.read_text(encoding="utf-8")
    return [(text[: match.start(1)].count("\n"), match[1]) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names, runner = {"__name__": "__main__"}, doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for line, text in blocks(page):
        if text.startswith(">>>"):
            examples = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
            runner.run(examples, clear_globs=False)
            names.update(examples.globs)
        else:
            exec(compile("\n" * line + text, str(page), "exec"), names)
    plt.close("all")
    assert runner.summarize(verbose=False).failed == 0


def test_readme_prints_what_its_comments_say(tmp_path, monkeypatch, capsys):
    [(_, text)] = blocks(ROOT / "README.md")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(text, {})
    plt.close("all")
    said = re.findall(r"print\(.*?\)  # (.*)", text)
    for comment, printed in zip(said, capsys.readouterr().out.splitlines(), strict=True):
        assert comment.startswith(printed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target
