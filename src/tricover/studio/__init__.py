"""The studio: place, drag, run, look inside; one page from one command, ``tricover studio``, and a view for notebooks.

    scenario or run ─▶ Session ◀─ messages ─▶ Hub ◀─ socket ─▶ page

A ``Session`` holds what is shown and does what is asked for, in pure Python (``editing``, ``timeline``, ``inside``,
``figures``). The ``Hub`` brings it together with any number of pages and plays. The server in front of it lets in only
who has the token. ``messages`` is the protocol, and the page is in the folder ``page``.
"""

from tricover.studio.session import Answer, Session
from tricover.studio.timeline import Live, Recorded, Timeline
from tricover.studio.variant import Variant
from tricover.studio.widget import view

__all__ = ["Answer", "Live", "Recorded", "Session", "Timeline", "Variant", "view"]
