"""Debian's Chromium, headless, with an empty profile and no way to the network."""

import os
from contextlib import contextmanager

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.browser.program import FLAGS, found


@contextmanager
def chromium(profile):
    """A browser that writes down what pages log and ask for."""
    os.environ["SE_OFFLINE"] = "true"  # selenium's own manager looks for nothing
    options = webdriver.ChromeOptions()
    options.binary_location = found("chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()
