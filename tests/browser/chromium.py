"""Debian's Chromium, headless, with an empty profile and no way to the network."""

import os
import shutil
from contextlib import contextmanager

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--proxy-server=127.0.0.1:9",
)


def found(program):
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError(f"no {program}: `make browser` installs Debian's chromium and chromium-driver")
    return path


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
