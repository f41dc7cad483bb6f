import doctest
from pathlib import Path


def test_the_page_on_vehicles_says_what_happens():
    page = Path(__file__).parents[2] / "docs" / "vehicles.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 8
    assert results.failed == 0
