"""Links that open the same state: a scenario and a step as text, short enough for an address.

The scenario's TOML text, all positions in it, is compressed and written in base64 of the kind that addresses allow.
"""

import base64
import binascii
import json
import zlib
from pathlib import Path

from tricover.errors import InputError
from tricover.simulation import Scenario
from tricover.studio.files import from_text

__all__ = ["link_to", "linked"]

LONGEST = 30_000
"""Characters of a link: browsers take 64,000 and more."""
MOST_TEXT = 4 * 2**20
"""Bytes of the text in a link."""


def link_to(scenario: Scenario, step: int, by_hand: bool = False) -> str:
    """The text that stands for a scenario at a step."""
    if by_hand:
        raise InputError("the run was changed by hand on its way, which no link can hold: run it again from the start")
    text = json.dumps([step, scenario.self_contained().to_toml()])
    link = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    if len(link) > LONGEST:
        raise InputError(f"the scenario is too large for a link ({len(link):,} characters): save it as a file instead")
    return link


def linked(link: str, folder: Path) -> tuple[Scenario, int]:
    """The scenario and the step of a link."""
    try:
        packed = base64.urlsafe_b64decode(link + "=" * (-len(link) % 4))
        opened = zlib.decompressobj()
        text = opened.decompress(packed, MOST_TEXT)
        step, toml = json.loads(text)
        if opened.unconsumed_tail or not isinstance(step, int) or not isinstance(toml, str) or not 0 <= step < 2**31:
            raise ValueError("too long, or not a step and a scenario")
    except (ValueError, TypeError, binascii.Error, zlib.error, RecursionError):
        raise InputError("this link is broken: copy it whole, or make it again") from None
    return from_text(toml, folder), step
