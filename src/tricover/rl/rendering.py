"""Pictures of an episode: those of our films, of the run so far."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.plot.scene import Scene
from tricover.simulation import Mission, Run

__all__ = ["Window", "picture"]

Floats = NDArray[np.float64]
Pixels = NDArray[np.uint8]

SIZE, TRAILS = 720, 10  # pixels across, and steps that trails go back
_ROOM = 0.03  # around everybody, of the extent
_MOMENTS = 50  # at which moving targets are looked at


def _corners(mission: Mission) -> tuple[Floats, Floats]:
    """The corners of a box around all that an episode can show, in metres: the same for every picture of it.

    Followers stay in the hull of where they started and where anchors go.
    """
    steps = np.unique(np.linspace(0, mission.scenario.steps, _MOMENTS).astype(int)).tolist()
    moments = [0] if mission.targets.still else steps
    parts = [mission.start().positions, *(mission.targets_at(step).points for step in moments)]
    parts += [epoch.told.paths.reshape(-1, 2) for epoch in mission.epochs]
    points = np.concatenate(parts)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    room = _ROOM * float((high - low).max())
    return low - room, high + room


def picture(run: Run) -> Pixels:
    """A run at its end, (height, width, 3)."""
    scene = Scene(run, SIZE, trails=TRAILS, corners=_corners(run.mission))
    return scene.picture(run.steps)[..., :3].copy()


class Window:
    """A window of Matplotlib that shows one picture after another, where there is a screen."""

    def __init__(self) -> None:
        self._figure: Any = None

    def show(self, pixels: Pixels) -> None:
        """Show a picture."""
        import matplotlib.pyplot as plt

        if self._figure is None:
            height, width = pixels.shape[:2]
            self._figure = plt.figure("tricover", figsize=(width / 100, height / 100), dpi=100)
            self._image = self._figure.add_axes((0, 0, 1, 1), frameon=False)
            self._image.set_axis_off()
        self._image.clear()
        self._image.imshow(pixels)
        if self._figure.canvas.required_interactive_framework:  # there is a screen
            self._figure.canvas.manager.show()
        self._figure.canvas.draw_idle()
        self._figure.canvas.flush_events()

    def close(self) -> None:
        """Close the window."""
        if self._figure is not None:
            import matplotlib.pyplot as plt

            plt.close(self._figure)
            self._figure = None
