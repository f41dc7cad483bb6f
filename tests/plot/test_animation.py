"""Films, decoded again by FFmpeg's own reader and by Pillow: they show what the run did."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image, ImageSequence
from tests.export.runs import eventful, interrupted, scenario

import tricover as tc
from tricover.errors import FileFormatError, InputError, MissingExtraError
from tricover.plot import animate
from tricover.plot.animation import _paces, _times
from tricover.plot.scene import Scene

SMALL = {"size": 240, "hold": 0.2}


@pytest.fixture(scope="module")
def run():
    return tc.simulate(scenario())


def decoded_mp4(path):
    """Codec, colours and frames per second as FFmpeg tells them, and the frames."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    about = re.search(r"Video: (\w+).*?, (\w+)\(.*?, (\d+)x(\d+).*? ([\d.]+) fps", done.stderr.decode())
    codec, colours, width, height, fps = about.groups()
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, int(height), int(width), 3)
    return (codec, colours, float(fps)), frames


def decoded_gif(path):
    with Image.open(path) as film:
        frames = [np.array(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
        delays = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    return frames, delays


def pixel(scene, place):
    """Column and row of a place in the picture."""
    x, y = scene._ax.transData.transform(place)
    return round(x), scene.size[1] - 1 - round(y)


def around(picture, scene, place, reach=1):
    column, row = pixel(scene, place)
    return picture[row - reach : row + reach + 1, column - reach : column + reach + 1, :3].reshape(-1, 3).astype(int)


def is_dark(colour):
    return (colour < 120).all(axis=-1)


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_as_many_frames_of_the_size_as_asked(run, tmp_path, ending):
    path, seen = tmp_path / f"film.{ending}", []
    animate(run, path, fps=10, seconds=1.5, progress=lambda done, total: seen.append((done, total)), **SMALL)
    assert list(tmp_path.iterdir()) == [path]
    count = 1 + 16 + 2  # the start is held for a tenth of a second, the end for two
    assert seen == [(number, count) for number in range(1, count + 1)]
    if ending == "mp4":
        about, frames = decoded_mp4(path)
        assert about == ("h264", "yuv420p", 10)
        assert len(frames) == count
    else:
        frames, delays = decoded_gif(path)
        assert sum(delays) == 100 * count  # frames that are held are merged
        assert len(frames) <= count
    assert frames[0].shape[1] == 240
    assert frames[0].shape[0] % 2 == 0


def test_both_films_show_the_pictures(run, tmp_path):
    """Frames are those of the scene, up to what each encoder loses."""
    scene, moments = Scene(run, 240), np.linspace(0, run.settled_at, 81)
    for ending, decode in (("mp4", lambda path: decoded_mp4(path)[1]), ("gif", lambda path: decoded_gif(path)[0])):
        animate(run, tmp_path / f"film.{ending}", fps=5, seconds=4, size=240, hold=0)
        frames = decode(tmp_path / f"film.{ending}")
        assert len(frames) == 21
        for number in (0, 7, 20):
            known = [0.0] if number == 0 else [run.settled_at] if number == 20 else moments
            apart = [np.abs(frames[number] - scene.picture(time)[..., :3].astype(int)).mean() for time in known]
            assert min(apart) < 3
            assert np.median(frames[number]) == 255  # the paper is white


def test_a_step_with_a_far_move_takes_longer():
    """A step that is eight times as long as the others has eight of twelve intervals; others have one each."""
    paces = np.array([8.0, 1, 1, 1, 1])
    times, soft = _times(paces, motion=3.0, hold=0.0, fps=4)
    np.testing.assert_allclose(times, [*np.arange(9) / 8, 2, 3, 4, 5])
    np.testing.assert_array_equal(soft, [True] * 8 + [False] * 5)
    reference = scenario().reference
    network = tc.build_network(reference)
    run = tc.simulate(scenario(anchors=reference[network.anchors] + [500, 0]))
    found = _paces(run, run.settled_at)
    assert found.max() > 2
    assert found.min() == 1
    ways = np.linalg.norm(np.diff(run.positions, axis=0), axis=2).max(axis=1)[: run.settled_at]
    np.testing.assert_allclose(found, np.clip(ways / np.median(ways), 1, 8))


def test_pixels_move_where_agents_move(run):
    """With nothing but agents: each is where it is, and nothing is left where it was."""
    scene = Scene(run, 480, links=False, trails=0)
    anchors, core = run.network.boundary, run.network.core
    before, after = (scene.picture(step).copy() for step in (0, run.steps))
    for picture, places in ((before, run.positions[0]), (after, run.positions[-1])):
        for agent in anchors:
            assert is_dark(around(picture, scene, places[agent])).all()
        red, green, blue = around(picture, scene, places[core]).mean(axis=0)
        assert red > 180 > green > blue
    moved = [agent for agent in run.network.followers if np.linalg.norm(np.ptp(run.positions[:, agent], axis=0)) > 15]
    assert moved
    for agent in moved:
        others = np.delete(run.positions[-1], agent, axis=0)
        if np.linalg.norm(others - run.positions[0, agent], axis=1).min() > 6:
            assert not is_dark(around(after, scene, run.positions[0, agent])).any()
    changed = (before != after).any(axis=2)
    assert 0.001 < changed.mean() < 0.2
    rows, columns = np.nonzero(changed)
    top = pixel(scene, run.positions.max(axis=(0, 1)))
    assert columns.max() <= scene.size[0]
    assert rows.min() <= top[1] + 20


def test_between_steps_agents_are_on_the_way(run):
    scene = Scene(run, 480, links=False, trails=0)
    step = int(np.argmax(np.linalg.norm(np.diff(run.positions, axis=0), axis=2).max(axis=1)))
    agent = int(np.argmax(np.linalg.norm(run.positions[step + 1] - run.positions[step], axis=1)))
    for part, eased in ((0.5, 0.5), (0.25, 0.15625)):
        here = run.positions[step, agent]
        way = run.positions[step + 1, agent] - here
        for ease, share in ((False, part), (True, eased)):
            picture = scene.picture(step + part, ease)
            assert (around(picture, scene, here + share * way, reach=0).mean(axis=-1) < 200).all()


def test_links_and_trails_are_drawn_when_wanted(run):
    step = 6
    bare, linked, trailed = (
        Scene(run, 480, links=links, trails=trails).picture(step).copy()
        for links, trails in ((False, 0), (True, 0), (False, 10))
    )
    follower = int(run.network.followers[-1])
    scene = Scene(run, 480)
    middle = run.positions[step, [follower, run.network.in_neighbors[follower, 0]]].mean(axis=0)
    assert (around(linked, scene, middle).min(axis=0) < around(bare, scene, middle).min(axis=0)).any()
    assert (trailed != bare).any()
    assert (linked != trailed).any()


def test_the_settled_end_says_so(run):
    scene = Scene(run, 480)
    title = slice(0, 30), slice(240, 480)
    pictures = {step: scene.picture(step).copy()[title] for step in (0, 1, run.settled_at - 1, run.settled_at)}
    assert (pictures[0] != pictures[1]).any()
    blue = [(picture[..., 2].astype(int) - picture[..., 0] > 80).sum() for picture in pictures.values()]
    assert blue[:3] == [0, 0, 0]
    assert blue[3] > 50


def test_links_are_drawn_from_the_end_of_the_launch_on():
    """On the way from the pads nobody listens, and the counter says so."""
    run = tc.simulate(tc.Scenario.load(Path(__file__).parents[2] / "examples" / "from-pads.toml"))
    launch, bare, linked = run.mission.launch, Scene(run, 480, links=False), Scene(run, 480)
    for step in (0, launch - 1):
        assert np.array_equal(bare.picture(step), linked.picture(step))
        assert linked._counter.get_text() == f"from the pads, step {step}"
    assert not np.array_equal(bare.picture(launch), linked.picture(launch))
    assert linked._counter.get_text() == f"step {launch}"


@pytest.mark.parametrize("made", [lambda: tc.simulate(eventful()), lambda: interrupted(eventful(), 6)])
def test_agents_that_come_and_go_and_targets_that_move(made, tmp_path):
    run = made()
    scene = Scene(run, 480, links=True, trails=3)
    for step in (0, 3.5, 4, run.steps):
        network = run.network_at(int(step))
        scene.picture(step)
        drawn = sum(len(markers.get_offsets()) for agents, markers in scene._markers)
        assert drawn == len(network)  # the lost as crosses; those still to come not at all
        assert len(scene._segments) == 3 * len(network.followers)
        np.testing.assert_array_equal(scene._targets.get_offsets(), run.mission.targets_at(int(step)).points)
    animate(run, tmp_path / "film.gif", seconds=1, fps=10, **SMALL)
    assert len(decoded_gif(tmp_path / "film.gif")[0]) > 5


def test_of_a_huge_team_the_first_layers_are_filmed(run, monkeypatch):
    """As in the figures: whoever is drawn has its in-neighbours there, and stands where it stands."""
    monkeypatch.setattr("tricover.plot.agents.first_agents.__defaults__", (9,))
    scene, layer = Scene(run, 480, trails=3), run.network.layer
    scene.picture(4)
    shown = scene._agents
    assert len(shown) == 9
    assert layer[shown].max() <= np.delete(layer, shown).min()
    drawn = np.concatenate([np.asarray(markers.get_offsets()) for _, markers in scene._markers])
    assert sorted(drawn.tolist()) == sorted(run.positions[4, shown].tolist())
    followers = shown[layer[shown] > 0]
    ends = [run.positions[4, [j, i]].tolist() for i in followers for j in run.network.in_neighbors[i]]
    assert sorted(scene._segments.tolist()) == sorted(ends)
    assert scene._tails.shape == (9, 4, 2)
    assert [text.get_text() for text in scene._ax.texts] == [f"9 of {len(layer)} agents: first layers"]


def test_a_stored_run_read_in_blocks_gives_the_same_film(run, tmp_path, monkeypatch):
    kept = tc.simulate(scenario(), tmp_path / "run.zarr")
    animate(run, tmp_path / "memory.gif", seconds=1, **SMALL)
    monkeypatch.setattr("tricover.plot.scene.BLOCK", 3 * 16)
    animate(kept, tmp_path / "blocks.gif", seconds=1, **SMALL)
    assert (tmp_path / "memory.gif").read_bytes() == (tmp_path / "blocks.gif").read_bytes()


def test_a_long_run_is_thinned_and_a_short_one_stretched(tmp_path):
    long = tc.simulate(scenario(vehicle="anywhere", steps=400, stop_when_settled=False))
    short = tc.simulate(scenario(control={"motion": "reach"}))
    still = tc.simulate(scenario(steps=0))
    counts, totals = {}, []
    for name, run in (("long", long), ("short", short), ("still", still)):
        animate(run, tmp_path / "film.gif", fps=2, size=160, progress=lambda _, total: totals.append(total))
        counts[name] = totals[-1]
    assert counts == {"long": 1 + 25 + 2, "short": 1 + round(1.6 * short.settled_at) + 1 + 2, "still": 1 + 1 + 2}


def test_no_screen_is_needed_and_pyplot_is_left_alone(tmp_path):
    code = (
        "import numpy as np, sys, tricover as tc; from tricover.plot import animate;"
        "rng = np.random.default_rng(0);"
        "run = tc.simulate(tc.Scenario(reference=rng.random((9, 2)), targets=rng.random((9, 2))));"
        f"animate(run, {str(tmp_path / 'film.mp4')!r}, seconds=0.2, hold=0, size=160);"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    bare = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "PATH", "MPLBACKEND")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**bare, "PATH": ""}, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert len(decoded_mp4(tmp_path / "film.mp4")[1]) == 7


@pytest.mark.parametrize(("library", "ending"), [("imageio_ffmpeg", "mp4"), ("PIL", "gif")])
def test_a_missing_library_names_the_extra(run, tmp_path, monkeypatch, library, ending):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"\.{ending} films need the library .* 'tricover\[video\]'"):
        animate(run, tmp_path / f"film.{ending}")


def test_a_missing_or_broken_encoder_is_told(run, tmp_path, monkeypatch):
    broken = tmp_path / "ffmpeg"
    broken.write_text("#!/bin/sh\necho 'no such codec' >&2\nexit 3\n")
    broken.chmod(0o755)
    for executable, message in ((tmp_path / "none", "does not start: No such file"), (broken, "failed: no such codec")):
        monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(executable))
        with pytest.raises(FileFormatError, match=f"the video encoder .*{message}"):
            animate(run, tmp_path / "film.mp4", seconds=1, **SMALL)
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE")

    def gone():
        raise RuntimeError("No ffmpeg exe could be found")

    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", gone)
    with pytest.raises(MissingExtraError, match=r"there is no FFmpeg: .* or write a \.gif"):
        animate(run, tmp_path / "film.mp4", seconds=1, **SMALL)
    assert list(tmp_path.iterdir()) == [broken]


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_a_film_that_is_cut_short_leaves_what_was_there(run, tmp_path, ending):
    path = tmp_path / f"film.{ending}"
    path.write_text("old")

    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        animate(run, path, seconds=1, progress=stop, **SMALL)
    assert [(left, left.read_text()) for left in tmp_path.iterdir()] == [(path, "old")]


def test_killed_half_way_there_is_no_film(tmp_path):
    scenario(agents=200).save(tmp_path / "team.toml")
    code = "from tricover.cli.main import command; command()"
    arguments = ["animate", tmp_path / "team.toml", "-o", tmp_path / "film.mp4", "--seconds", "600"]
    process = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stderr=subprocess.PIPE)
    try:
        while not list(tmp_path.glob(".tricover-*.part")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert not (tmp_path / "film.mp4").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fps": 0}, "fps must be between 0 and 120"),
        ({"fps": float("nan")}, "fps must be"),
        ({"seconds": -1}, "seconds and hold must be between 0 and 3600, not -1"),
        ({"hold": float("inf")}, "seconds and hold must be"),
        ({"size": 241}, "size must be an even number of pixels between 160 and 4096, not 241"),
        ({"size": 20}, "size must be an even number"),
        ({"trails": -1}, "trails must be between 0 and 1000"),
    ],
)
def test_settings_that_cannot_be_are_named(run, tmp_path, settings, message):
    with pytest.raises(InputError, match=re.escape(message)):
        animate(run, tmp_path / "film.mp4", **settings)


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_a_full_disk_is_told_and_leaves_nothing(run, tmp_path, ending):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, before[1]))
    try:
        with pytest.raises(FileFormatError, match=r"the video encoder failed|cannot write .*: File too large"):
            animate(run, tmp_path / f"film.{ending}", seconds=1, **SMALL)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_names_are_no_formulas_and_leave_room_for_the_counter():
    for name in ("costs $5 and \\frac{", "a long name " * 50):
        scene = Scene(tc.simulate(scenario(name=name, steps=1)), 480)
        shown = scene._figure.texts[0].get_window_extent(scene._canvas.get_renderer())
        assert 50 < shown.x1 < 0.8 * scene.size[0]


def test_an_unknown_ending_is_named(run, tmp_path):
    with pytest.raises(
        FileFormatError, match=r"film\.avi: unknown ending '\.avi' for a film; expected \.mp4 and \.gif"
    ):
        animate(run, tmp_path / "film.avi")
    with pytest.raises(FileFormatError, match=r"cannot write .*film\.gif: No such file or directory"):
        animate(run, tmp_path / "nowhere" / "film.gif", seconds=0, **SMALL)
