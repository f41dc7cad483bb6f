"""One browser for all tests of this folder."""

import pytest

from tests.browser.chromium import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver
