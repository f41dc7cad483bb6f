"""Stores that are killed, raced for and damaged: the campaigns, with few cases."""

import re
import subprocess
import sys
from pathlib import Path


def campaign(name, *arguments):
    """The last line of what a campaign prints; it must succeed."""
    command = [sys.executable, "-m", f"tests.simulation.{name}", *arguments]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def test_a_killed_run_resumes_to_the_same_bits():
    """At random moments; every file of the store is the same in the end."""
    said = campaign("killing", "--kills", "20")
    kills, moments = (int(number) for number in re.findall(r"(\d+) (?:kills|moments)", said))
    assert said.endswith("0 bytes differ")
    assert kills >= 20
    assert moments >= 5


def test_of_several_writers_one_wins_and_the_others_say_so():
    assert campaign("racing", "--races", "4").endswith("every store whole")


def test_damaged_stores_are_refused_or_read_as_before():
    assert campaign("damaging", "--cases", "80") == "0 wrong"
