"""What processes of a nursery do in tests."""

import os
import time
from dataclasses import dataclass

from tricover.errors import InputError


@dataclass
class Codes:
    """Processes that end with the number that is their name; the one called "wait" does not, until all is over."""

    trouble: str = ""

    def warm(self):
        if self.trouble:
            raise InputError(self.trouble)
        return os.getpid()

    def play(self, name, watched, note):
        if name == "wait":
            os.read(watched, 1)
        if name == "error":
            raise InputError("a process that fails")
        if name == "sleep":
            time.sleep(3600)
        return int(name) if name.isdecimal() else note or 0
