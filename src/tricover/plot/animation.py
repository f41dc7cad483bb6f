"""``animate``: a run as a film, MP4 or GIF.

Time runs evenly through the steps, however many there are: a long run is thinned to a film of some seconds, a short
one is stretched, and between two steps agents are on the way, so that the jumps of the motion ``reach`` read as
movement. The film ends when the team has settled, and holds there.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError, listed
from tricover.formats import draft_of
from tricover.plot.encoders import ENDINGS, check_encoder, write_gif, write_mp4
from tricover.plot.scene import Scene
from tricover.simulation import Run

__all__ = ["animate", "check_film"]

STEP, LONGEST = 0.8, 12.0  # seconds: of a step where there are few, of a film where there are many
SOFT = 0.4  # seconds of a step from which on agents start and stop softly


def animate(
    run: Run,
    path: str | os.PathLike[str],
    *,
    fps: float | None = None,
    seconds: float | None = None,
    hold: float = 1.0,
    size: int = 720,
    links: bool = True,
    trails: int = 10,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write a film of a run, as MP4 or GIF by the path's ending; whole or not at all.

    Args:
        run: finished or not.
        path: where to; a file that is there is replaced.
        fps: frames per second; None: 30 for MP4, 20 for GIF.
        seconds: how long the motion takes; None: 0.8 s for each step, at most 12 s.
        hold: seconds for which the end is held; the start for half of that.
        size: width in pixels; the height follows from the formation and the targets. Both are even.
        links: whether to draw who listens to whom.
        trails: how many steps back the trails reach; 0: none.
        progress: called with the number of frames that are done, and of all.
    """
    ending = check_film(path)
    fps = (20 if ending == ".gif" else 30) if fps is None else fps
    end = run.steps if run.settled_at is None else run.settled_at
    motion = min(STEP * end, LONGEST) if seconds is None else seconds
    _check(fps, motion, hold, size, trails)
    times = _times(end, motion, hold, fps)
    scene = Scene(run, size, links, trails)
    ease = motion >= SOFT * end

    def frames() -> Iterator[NDArray[np.uint8]]:
        for count, time in enumerate(times.tolist(), 1):
            yield scene.picture(time, ease)
            if progress is not None:
                progress(count, len(times))

    with draft_of(path) as draft:
        if ending == ".gif":
            sample = [scene.picture(time, ease).copy() for time in (0, end / 2, end)]
            write_gif(draft, frames(), sample, fps)
        else:
            write_mp4(draft, frames(), scene.size, fps)


def check_film(path: str | os.PathLike[str]) -> str:
    """The path's ending, one of a film that can be written here."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise FileFormatError(f"{path}: unknown ending {ending!r} for a film; expected {listed(ENDINGS)}")
    check_encoder(ending)
    return ending


def _times(end: int, motion: float, hold: float, fps: float) -> NDArray[np.float64]:
    """The time of each frame, in steps."""
    before, after = round(fps * hold / 2), round(fps * hold)
    return np.pad(np.linspace(0, end, round(fps * motion) + 1), (before, after), mode="edge")


def _check(fps: float, seconds: float, hold: float, size: int, trails: int) -> None:
    if not 0 < fps <= 120:
        raise InputError(f"fps must be between 0 and 120 frames per second, not {fps}")
    if not 0 <= seconds <= 3600 or not 0 <= hold <= 3600:
        raise InputError(f"seconds and hold must be between 0 and 3600, not {seconds} and {hold}")
    if not 160 <= size <= 4096 or size % 2:
        raise InputError(f"size must be an even number of pixels between 160 and 4096, not {size}")
    if not 0 <= trails <= 1000:
        raise InputError(f"trails must be between 0 and 1000 steps, not {trails}")
