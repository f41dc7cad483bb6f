"""Bokeh showing moving points as its users do: a server's callback that gives a scatter plot, by WebGL, new data."""

import asyncio
import itertools
import threading
from queue import SimpleQueue
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from bokeh.server.server import Server


def serve(points: str, rate: float, port: int) -> str:
    """Show points (frames, N, 2), over and over, so many frames a second; returns the address."""
    frames = np.load(points)

    def page(document: Any) -> None:
        coming = itertools.cycle(frames)
        first = next(coming)
        source = ColumnDataSource({"x": first[:, 0], "y": first[:, 1]})
        plot = figure(width=930, height=590, output_backend="webgl")
        plot.scatter("x", "y", source=source, size=3)

        def update() -> None:
            x, y = next(coming).T
            source.data = {"x": x, "y": y}

        document.add_root(plot)
        document.add_periodic_callback(update, round(1000 / rate))

    ready: SimpleQueue[None] = SimpleQueue()

    def run() -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        server = Server({"/": page}, port=port, allow_websocket_origin=[f"127.0.0.1:{port}"])
        server.start()
        ready.put(None)
        server.io_loop.start()

    threading.Thread(target=run, daemon=True).start()
    ready.get(timeout=60)
    return f"http://127.0.0.1:{port}/"
