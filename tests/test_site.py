"""The documentation site builds without a warning, asks nothing of the outside, and has every public name."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest

import tricover

ROOT = Path(__file__).parents[1]
FOLDERS = sorted({path.parent.name for path in (ROOT / "src/tricover").glob("*/__init__.py")} - {"cli"})


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return folder


class Page(HTMLParser):
    """What one page loads by itself, where its links lead, its anchors and classes."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.anchors, self.classes = [], [], set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        facts = {name: value or "" for name, value in attributes}
        self.anchors.add(facts.get("id"))
        self.classes.update(facts.get("class", "").split())
        followed = tag == "a" or facts.get("rel") in ("next", "prev")  # only when a reader clicks
        addresses = [facts[name] for name in ("src", "href", "srcset", "data") if facts.get(name)]
        (self.links if followed else self.loads).extend(addresses)


def test_pages_load_nothing_from_outside(site):
    for path in site.rglob("*.html"):
        page = Page(path)
        outside = [address for address in page.loads if re.match(r"(https?:)?//", address)]
        assert not outside, f"{path.name} loads {outside}"
        assert "mermaid" not in page.classes, f"{path.name}: the theme fetches what draws these diagrams"
    for path in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path.name


def test_links_between_pages_lead_somewhere_anchors_included(site):
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if not target.startswith(("https://", "mailto:")):
                goal = (path.parent / unquote(target)).resolve() if target else path
                goal = goal / "index.html" if goal.is_dir() else goal
                assert goal.exists(), f"{path.name}: {link}"
                assert not anchor or unquote(anchor) in pages[goal].anchors, f"{path.name}: {link}"


def test_every_page_of_the_docs_is_on_the_site(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").exists(), page.name


def test_the_interface_has_every_public_function_and_class(site):
    anchors = set().union(*(Page(path).anchors for path in (site / "api").glob("*.html")))
    for folder in FOLDERS:
        module = import_module(f"tricover.{folder}")
        for name in module.__all__:
            home = getattr(getattr(module, name), "__module__", "")  # a constant has none
            places = {f"tricover.{folder}.{name}", f"{home}.{name}"}
            assert not home.startswith("tricover") or places & anchors, f"tricover.{folder}.{name}"


def test_the_interface_lists_the_names_of_the_package():
    index = (ROOT / "docs/api/index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"`tc\.(\w+)`", index)) == sorted(tricover.__all__)
