"""Files, links and what is taken away: below the folder alone, whole, and the same when they come back."""

import base64
import io
import json
import zipfile
import zlib

import numpy as np
import pytest

import tricover as tc
from tests.studio.teams import do, session, team, texts
from tricover.errors import InputError
from tricover.studio.links import linked
from tricover.studio.takeaway import KINDS, made


@pytest.fixture
def studio(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return session(folder)


def bring(studio, name, data, **words):
    return do(studio, "bring", name=name, content=base64.b64encode(data).decode(), **words)


def test_a_scenario_that_is_saved_can_be_opened(studio):
    do(studio, "set", key="seed", value=9)
    said = texts(do(studio, "save", path="mine").asker, "done")[0]
    assert said["text"] == "Saved mine.toml"
    do(studio, "set", key="seed", value=10)
    assert texts(do(studio, "files").asker, "files")[0]["files"] == ["mine.toml"]
    do(studio, "open", path="mine.toml")
    assert studio.variants[0].scenario == team(seed=9)


def test_a_run_can_be_opened_and_points_too(studio):
    run = tc.simulate(team(), studio.folder / "old.zarr")
    (studio.folder / "field.csv").write_text("x,y,weight\n1,2,1\n3,4,5\n30,30,1\n")
    assert texts(do(studio, "files").asker, "files")[0]["files"] == ["field.csv", "old.zarr"]
    do(studio, "open", path="field.csv")
    assert studio.variants[0].scenario.targets.weights.tolist() == [1, 5, 1]
    do(studio, "open", path="old.zarr")
    assert studio.variants[0].timeline.length == run.steps


@pytest.mark.parametrize("path", ["../out.toml", "/etc/hosts", "a/../../out.toml", "link/out.toml", "a\0b"])
def test_nothing_is_read_or_written_elsewhere(studio, path):
    (studio.folder / "link").symlink_to(studio.folder.parent)
    for name in ("open", "save"):
        with pytest.raises(InputError, match=r"only below|null character"):
            do(studio, name, path=path)
    assert [entry.name for entry in studio.folder.parent.iterdir()] == ["work"]


def test_a_scenario_that_names_files_elsewhere_or_code_is_refused(studio):
    outside = studio.folder.parent / "team.csv"
    outside.write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in team().reference))
    (studio.folder / "bad.toml").write_text(f'formation.file = "{outside}"\ntargets.positions = [[1, 1]]\n')
    with pytest.raises(InputError, match="only below"):
        do(studio, "open", path="bad.toml")
    text = team().to_toml().replace('goal = "centroid"', 'goal = "os:system"')
    with pytest.raises(InputError, match="names code"):
        bring(studio, "own.toml", text.encode())
    with pytest.raises(InputError, match="did not come along"):
        bring(studio, "more.toml", b'formation.file = "team.csv"\ntargets.positions = [[1, 1]]\n')


def test_files_that_are_dropped_become_the_scenario_the_targets_or_the_team(studio):
    bring(studio, "other.toml", team(seed=3).to_toml().encode())
    assert studio.variants[0].scenario == team(seed=3)
    bring(studio, "field.csv", b"x,y\n1,2\n3,4\n30,30\n")
    assert studio.variants[0].scenario.targets.positions.tolist() == [[1, 2], [3, 4], [30, 30]]
    packed = io.BytesIO()
    np.save(packed, np.array([[0, 0], [9, 0], [9, 9], [0, 9], [4, 4], [3, 5.0]]))
    bring(studio, "team.npy", packed.getvalue(), use="agents")
    assert len(studio.variants[0].scenario.reference) == 6


@pytest.mark.parametrize(
    ("name", "data"),
    [("x.toml", b"\xff\xfe"), ("x.toml", b"seed = "), ("x.exe", b"MZ"), ("x.csv", b"x,y\nq,1\n"), ("x.npy", b"\x93")],
)
def test_broken_files_are_refused_and_nothing_changes(studio, name, data):
    with pytest.raises(InputError):
        bring(studio, name, data)
    with pytest.raises(InputError, match="broken"):
        do(studio, "bring", name=name, content="no base64!")
    assert studio.variants[0].scenario == team()


def test_a_link_opens_the_same_state(studio, tmp_path):
    do(studio, "drop", agent=5, place=[20, 31])
    do(studio, "seek", step=2)
    link = texts(do(studio, "link").asker, "link")[0]["link"]
    other = session(tmp_path)
    do(other, "follow", link=link)
    assert other.step == 2
    np.testing.assert_array_equal(other.variants[0].scenario.reference, studio.variants[0].scenario.reference)
    np.testing.assert_array_equal(other.variants[0].timeline.positions(2), studio.variants[0].timeline.positions(2))


def packed(plain):
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(plain).encode())).decode()


@pytest.mark.parametrize(
    "link",
    ["", "x", "é", "AAAA", packed([1]), packed([-1, ""]), packed({"a": 1}), packed([0, " " * 5_000_000])],
    ids=range(8),
)
def test_broken_links_are_refused(tmp_path, link):
    with pytest.raises(InputError, match="this link is broken"):
        linked(link, tmp_path)


def test_a_scenario_too_large_for_a_link_says_so(tmp_path):
    many = np.random.default_rng(1).uniform(0, 40, (20_000, 2))
    with pytest.raises(InputError, match="too large for a link"):
        do(session(tmp_path, team().replace(targets=many)), "link")


def test_what_is_taken_away_is_the_run(studio, tmp_path):
    do(studio, "seek", step=60)
    run = studio.run(0)
    content = {what: made(what, run) for what in KINDS}
    (tmp_path / "mine.toml").write_bytes(content["scenario.toml"])
    assert tc.Scenario.load(tmp_path / "mine.toml") == team()
    zipfile.ZipFile(io.BytesIO(content["run.zip"])).extractall(tmp_path)
    np.testing.assert_array_equal(tc.Run.open(tmp_path / "run.zarr").positions, run.positions)
    assert b'<figure class="playback"' in content["report.html"]
    assert content["figure.svg"].startswith(b"<?xml")
    assert content["film.gif"].startswith(b"GIF89a")
    with pytest.raises(InputError, match=r"there is no x\.exe"):
        made("x.exe", run)
