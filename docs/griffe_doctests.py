"""Examples with a prompt in docstrings become code blocks: Markdown would read ``>>>`` as quotations."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*\n?(?:^(?!\s*$).*\n?)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences every run of lines that begins with a prompt and ends before an empty line."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of each object as it is found."""
        if obj.docstring and ">>> " in obj.docstring.value:
            fenced = EXAMPLE.sub(lambda example: f"```pycon\n{example[0].rstrip()}\n```\n", obj.docstring.value)
            obj.docstring.value = fenced
