"""NiceGUI showing moving points as its users do: a timer that gives a scatter chart new data.

Its scene, a cloud of points by three.js, is no faster.
"""

import itertools
import threading
import time

import numpy as np
import uvicorn
from fastapi import FastAPI
from nicegui import ui


def serve(points: str, rate: float, port: int) -> str:
    """Show points (frames, N, 2), over and over, so many frames a second; returns the address."""
    frames = np.load(points)

    def page() -> None:
        coming = itertools.cycle(frames)
        series = {"type": "scatter", "symbolSize": 3, "large": True, "data": next(coming).tolist()}
        axis = {"type": "value"}
        chart = ui.echart({"animation": False, "xAxis": axis, "yAxis": axis, "series": [series]})
        chart.style("width: 930px; height: 590px")

        def update() -> None:
            series["data"] = next(coming).tolist()
            chart.options["series"] = [series]
            chart.update()

        ui.timer(1 / rate, update)

    ui.page("/")(page)
    app = FastAPI()
    ui.run_with(app)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return f"http://127.0.0.1:{port}/"
