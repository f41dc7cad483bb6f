"""Browsers for the tests of this folder: one for reports, and one for each module about the studio."""

import pytest

from tests.browser import chromium as driven
from tests.browser.studio_page import browsing


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    with driven.chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def chromium():
    with browsing() as browser:
        yield browser
