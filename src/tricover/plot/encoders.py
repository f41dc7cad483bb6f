"""Frames to film files: MP4 by the FFmpeg that imageio-ffmpeg carries, GIF by Pillow."""

import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, MissingExtraError

__all__ = ["ENDINGS", "check_encoder", "write_gif", "write_mp4"]

Pixels = NDArray[np.uint8]

ENDINGS = (".mp4", ".gif")
_COLOURS = 128  # of a GIF: those of the drawing, and their mixtures at edges


def check_encoder(ending: str) -> Any:
    """The library that writes such a film, or an error that names the extra which brings it."""
    try:
        if ending == ".gif":
            from PIL import Image

            return Image
        import imageio_ffmpeg
    except ImportError as error:
        library = "Pillow" if ending == ".gif" else "imageio-ffmpeg"
        raise MissingExtraError(f"{ending} films need the library {library}: pip install 'tricover[video]'") from error
    return imageio_ffmpeg


def write_mp4(path: Path, frames: Iterable[Pixels], size: tuple[int, int], fps: float) -> None:
    """H.264 with 4:2:0 colours, which plays everywhere; frames (height, width, 4) go through a pipe, one by one."""
    command = [
        *(_ffmpeg(), "-y", "-loglevel", "error"),
        *("-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}", "-r", str(fps), "-i", "-"),
        *("-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p"),
        *("-movflags", "+faststart", "-f", "mp4", str(path)),
    ]
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said)
        except OSError as error:
            raise FileFormatError(f"the video encoder {command[0]} does not start: {error.strerror}") from error
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                for frame in frames:
                    pipe.write(frame.data)
        except BrokenPipeError:
            pass  # it says why
        except BaseException:
            process.kill()
            raise
        finally:
            failed = process.wait()
        if failed:
            said.seek(0)
            words = said.read().decode(errors="replace").strip().splitlines() or [f"exit code {failed}"]
            raise FileFormatError(f"the video encoder failed: {words[-1]}")


def _ffmpeg() -> str:
    try:
        return str(check_encoder(".mp4").get_ffmpeg_exe())
    except RuntimeError as error:
        raise MissingExtraError(
            "there is no FFmpeg: pip install --force-reinstall imageio-ffmpeg brings one, or write a .gif"
        ) from error


def write_gif(path: Path, frames: Iterable[Pixels], sample: list[Pixels], fps: float) -> None:
    """Frames in the colours of a ``sample`` of them, without dithering, so that what stands still takes no room."""
    image = check_encoder(".gif")
    palette = _palette(image, np.concatenate(sample)[..., :3])
    pictures = (image.fromarray(frame[..., :3]).quantize(palette=palette, dither=image.Dither.NONE) for frame in frames)
    delay = max(2, round(100 / fps)) * 10  # a GIF counts in hundredths of a second, and players ignore a single one
    with path.open("xb") as file:
        next(pictures).save(file, "GIF", save_all=True, append_images=pictures, duration=delay, loop=0)


def _palette(image: Any, pixels: Pixels) -> Any:
    """An image with the colours of the film: spread over all that occur, lest rare ones be lost, and pure white."""
    found = image.fromarray(pixels).quantize(_COLOURS, method=image.Quantize.MAXCOVERAGE)
    colours = np.array(found.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) >= 247] = 255  # Pillow looks colours up in steps of four: no neighbour may be nearer
    found.putpalette(colours.ravel().tolist())
    return found
