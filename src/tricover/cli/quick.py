"""Starting and ending quickly: what libraries do by the way takes longer than a small run.

Only the command does this. It is alone in its process, brings no plugins, and knows when it has come to its end.
"""

import atexit
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

__all__ = ["end", "load_numba", "start"]


def start() -> None:
    """Look for no garbage among the many objects that libraries make and keep, and for no plugins of Pydantic."""
    gc.set_threshold(1_000_000)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def load_numba() -> None:
    """Import Numba without a reader for settings that are not there, and without asking all packages for extensions."""
    hidden = "yaml" not in sys.modules and not Path(".numba_config.yaml").exists()
    if hidden:
        sys.modules["yaml"] = None  # type: ignore[assignment]  # the way to say that there is no such module
    import numba  # noqa: F401

    if hidden:
        del sys.modules["yaml"]
    with suppress(ImportError):  # a name that Numba does not promise
        from numba.core import entrypoints

        entrypoints._already_initialized = True


def end(code: int) -> NoReturn:
    """Leave at once: memory goes back to the system without being tidied up first."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(BrokenPipeError):  # nobody reads on
            stream.flush()
    os._exit(code)
