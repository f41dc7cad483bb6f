"""A view of a notebook without the notebook: what its front end would say, and what it would be sent."""


class Heard:
    """A widget whose messages to the front end are kept: each a text and its blocks of numbers."""

    def __init__(self, view):
        self.view, self.sent = view, []
        view.send = self._keep

    def _keep(self, content, buffers=None):
        self.sent.append((content, buffers or []))

    def say(self, what, /, **words):
        self.view._hear(None, {"do": what, **words}, [])
