"""``animate``: a run as a film, MP4 or GIF.

A long run is thinned to a film of some seconds, a short one is stretched. Between two steps agents are on the way, so
that the jumps of the motion ``reach`` read as movement; a step in which someone moves further than usual, such as the
first one of anchors, takes so much longer. The film ends when the team has settled, and holds there.
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

Floats = NDArray[np.float64]

STEP, LONGEST = 0.8, 12.0  # seconds: of a step where there are few, of a film where there are many
SOFT = 0.4  # seconds of a step from which on agents start and stop softly
TRAIL = 1.5  # seconds
SLOWEST = 8.0  # times longer than usual: the step with the furthest moves


def animate(
    run: Run,
    path: str | os.PathLike[str],
    *,
    fps: float | None = None,
    seconds: float | None = None,
    hold: float = 1.0,
    size: int = 720,
    links: bool = True,
    trails: int | None = None,
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
        trails: how many steps back the trails reach; 0: none; None: as many as pass in 1.5 s.
        progress: called with the number of frames that are done, and of all.
    """
    if not isinstance(run, Run):
        raise InputError(f"animate takes a Run, not {type(run).__name__}: Run.open reads one")
    ending = check_film(path)
    fps = (20 if ending == ".gif" else 30) if fps is None else fps
    end = run.steps if run.settled_at is None else run.settled_at
    motion = min(STEP * end, LONGEST) if seconds is None else seconds
    if trails is None:
        trails = int(np.clip(round(TRAIL * end / max(motion, TRAIL)), 2, 50))
    _check(fps, motion, hold, size, trails)
    times, soft = _times(_paces(run, end), motion, hold, fps)
    scene = Scene(run, size, links, trails)

    def frames() -> Iterator[NDArray[np.uint8]]:
        for count, (time, ease) in enumerate(zip(times.tolist(), soft.tolist(), strict=True), 1):
            yield scene.picture(time, ease)
            if progress is not None:
                progress(count, len(times))

    with draft_of(path) as draft:
        if ending == ".gif":
            sample = [scene.picture(time).copy() for time in (0, end / 2, end)]
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


def _paces(run: Run, end: int) -> Floats:
    """How long each of the first ``end`` steps takes, over the usual: from 1 on, as far as its furthest move asks."""
    moves, before = [np.empty(0)], np.empty((0, *run.read("positions", 0, 1).shape[1:]))
    for _, block in run.blocks("positions"):
        ways = np.diff(np.concatenate([before, block]), axis=0)
        moves.append(np.hypot(ways[..., 0], ways[..., 1]).max(axis=1))
        before = block[-1:]
    furthest = np.concatenate(moves)[:end]
    usual = np.median(furthest[furthest > 0]) if furthest.any() else 1.0
    return np.clip(furthest / usual, 1.0, SLOWEST)


def _times(paces: Floats, motion: float, hold: float, fps: float) -> tuple[Floats, NDArray[np.bool_]]:
    """The time of each frame, in steps, and whether its step is slow enough to start and stop softly."""
    passed = np.append(0.0, np.cumsum(paces))
    frames = np.linspace(0.0, passed[-1], round(fps * motion) + 1)
    times = np.interp(frames, passed, np.arange(len(passed)))
    slow = np.append(paces * motion >= SOFT * passed[-1], False)
    held = (round(fps * hold / 2), round(fps * hold))
    return np.pad(times, held, mode="edge"), np.pad(slow[times.astype(int)], held, mode="edge")


def _check(fps: float, seconds: float, hold: float, size: int, trails: int) -> None:
    if not 0 < fps <= 120:
        raise InputError(f"fps must be between 0 and 120 frames per second, not {fps}")
    if not 0 <= seconds <= 3600 or not 0 <= hold <= 3600:
        raise InputError(f"seconds and hold must be between 0 and 3600, not {seconds} and {hold}")
    if not 160 <= size <= 4096 or size % 2:
        raise InputError(f"size must be an even number of pixels between 160 and 4096, not {size}")
    if not 0 <= trails <= 1000:
        raise InputError(f"trails must be between 0 and 1000 steps, not {trails}")
