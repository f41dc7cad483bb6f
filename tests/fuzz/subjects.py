"""What is tried: every reader, and every command that takes a file. Each reads a file and uses what it got.

A subject returns where the file was accepted and holds what it should, and raises a ``TricoverError`` where it was
refused. Whatever else it raises is a failure.
"""

import contextlib
import functools
import io
import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np

import tricover as tc
from tests.fuzz.corpus import TARGETS
from tricover.certificates import read_log
from tricover.cli.main import main
from tricover.errors import InputError
from tricover.formats import Points, Projection, read_points, read_polygons, write_points
from tricover.formats.raster import read_raster
from tricover.geometry import as_zones
from tricover.simulation.loop import steps
from tricover.simulation.mission import Mission
from tricover.studies import Study
from tricover.studies.design import changed

__all__ = ["SUBJECTS", "Subject"]

DENSITY = 1e-5  # points per square metre: a few in each of the corpus' polygons
MANY = 10_000  # points that are not written and read again
TRIANGLE = [[-1e3, -1e3], [1e3, -1e3], [0, 1e3]]
# Scenarios that ask for more are cut to this before they run.
AGENTS, COUNT, STEPS, RESOLUTION, ROUNDS = 40, 60, 3, 8, 3
RUNS = 24  # studies with more are only read


ROOM = 2 << 30  # bytes: scenarios that ask for more must be refused as they are


@dataclass(frozen=True)
class Subject:
    """A reader: ``use`` takes a file with this ending; ``kind`` says which valid files are broken for it.

    ``turn`` is how many cases come in a row, before the next subject has its turn: fewer where each takes longer.
    """

    name: str
    kind: str
    ending: str
    use: Callable[[Path], None]
    turn: int = 100


def points(path: Path) -> None:
    """A point file is read, written and read again."""
    found = read_points(path, density=DENSITY)
    check(found)
    copy = path.with_name(f"copy{path.suffix if path.suffix not in ('.txt', '.tsv') else '.csv'}")
    if len(found) <= MANY and (found.projection is None or copy.suffix in (".json", ".geojson")):
        write_points(copy, found)
        back = read_points(copy)
        assert back.ids == found.ids
        assert found.projection is not None or np.array_equal(back.positions, found.positions)
        assert np.array_equal(back.weights, found.weights) if found.weights is not None else back.weights is None
    targets = tc.Targets.from_file(path, density=DENSITY)
    weight, sums = targets.at(0).in_triangles(TRIANGLE)
    assert np.isfinite(weight)
    assert np.isfinite(sums).all()


def area(path: Path) -> None:
    """A map is read as points, as many as there are or fewer."""
    box = (0, 0, 10, 10) if path.suffix == ".npy" else None
    for count in (None, 7):
        found = read_raster(path, extent=box, points=count)
        check(found)
        assert count is None or len(found) <= count


def check(found: Points) -> None:
    assert np.isfinite(found.positions).all()
    assert len(found.positions) > 0
    assert found.weights is None or (found.weights.shape == (len(found),) and np.isfinite(found.weights).all())
    assert found.ids is None or (len(found.ids) == len(found) and all(isinstance(name, str) for name in found.ids))
    if found.projection is not None:
        assert np.isfinite(found.degrees).all()
        assert (np.abs(found.degrees[:, :2]) <= [180, 90]).all()


def zones(path: Path) -> None:
    """Polygons that nobody enters are read, checked, and asked for ways and cells."""
    found = as_zones(read_polygons(path, Projection(7.2, 51.5)))
    assert all(len(ring) >= 3 and np.isfinite(ring).all() for ring in found.polygons)
    again = as_zones(found.polygons)
    assert all(np.array_equal(one, other) for one, other in zip(found.polygons, again.polygons, strict=True))
    middles = np.array([ring.mean(axis=0) for ring in found.polygons])
    corners = np.array([ring[0] for ring in found.polygons])
    assert (found.crossed(middles, corners) >= 0).all()
    assert found.cells(np.array([TRIANGLE], np.float64), tc.CellGrid(5)).shape == (1, 25)


def scenario(path: Path) -> None:
    """A scenario is read, saved and read again; a small one is resolved and run for a few steps."""
    found = tc.Scenario.load(path)
    copy = path.with_name("copy.toml")
    found.save(copy)
    assert tc.Scenario.load(copy) == found
    run(Mission.of(small(found)))


def run(mission: Mission) -> None:
    for step in itertools.islice(steps(mission), ROUNDS + 1):
        assert np.isfinite(step.positions).all()
    assert np.isfinite(mission.ground.reference).all()
    assert np.isfinite(mission.ground.targets.points).all()
    if mission.projection is not None:
        assert np.isfinite(mission.projection.to_degrees(mission.ground.reference)).all()


def small(given: tc.Scenario) -> tc.Scenario:
    """The scenario with fewer agents, targets, steps and cells where it asks for many."""
    formation, targets = given.formation, given.targets
    changes: dict[str, object] = {"steps": min(given.steps, STEPS)}
    if formation.agents is not None and AGENTS < formation.agents <= ROOM // 600:
        changes["formation"] = {"agents": AGENTS}
    if targets.count is not None and COUNT < targets.count <= ROOM // 60:
        changes["targets"] = {"count": COUNT}
    if given.control.resolution > RESOLUTION:
        changes["control"] = {"resolution": RESOLUTION}
    return given.replace(**changes)


def study(path: Path) -> None:
    """A study is read, saved and read again; its first and its last run are begun."""
    found = Study.load(path)
    copy = path.with_name("copy.toml")
    found.save(copy)
    assert Study.load(copy).fingerprint == found.fingerprint
    for row in {0, len(found.design) - 1}:
        run(Mission.of(small(changed(found.scenario, found.design[row]))))


def network(path: Path) -> None:
    """A network file is read and written again, as JSON and as a graph; a plane one gives places to go to."""
    found = tc.Network.from_json(read_text(path))
    text = found.to_json()
    assert tc.Network.from_json(text).to_json() == text
    assert len(found.layers) == found.depth + 1
    assert tc.Network.from_networkx(found.to_networkx()).to_json() == text
    if found.reference.shape[1] == 2:
        desired = tc.desired_configuration(found, TARGETS)
        assert np.isfinite(desired[found.layer >= 0]).all()


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(str(error)) from None


def mission(path: Path) -> None:
    """A mission that came over the wire."""
    run(Mission.from_json(read_text(path)))


def log(path: Path) -> None:
    """A log with its network is certified."""
    certified = tc.certify(read_log(path, tc.Network.from_json((path.parent / "network.json").read_text())))
    document(certified.to_json())


def document(text: str) -> None:
    """A JSON document without NaN, which JSON does not have."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in the output")

    json.loads(text, parse_constant=refuse)


def command(*arguments: object) -> None:
    """A command ends with 0, 1 or 2; what is wrong with its input is one line."""
    out, told = io.StringIO(), io.StringIO()
    code: object = None
    with (
        mock.patch.object(sys, "argv", ["tricover", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(told),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    assert code in (0, 1, 2), f"exit code {code}: {told.getvalue()}"
    if code == 2:
        line = told.getvalue()
        assert not out.getvalue(), "output before an error"
        assert line.startswith("tricover: "), line
        assert line.endswith("\n"), line
        raise InputError(line[:-1])  # its one line is checked as any other
    if "--json" in arguments:
        document(out.getvalue())


def on_points(path: Path, name: str, *more: object) -> None:
    """A command on a point file; every other one with --json."""
    command(name, path, *more, *(["--json"] if path.stat().st_size % 2 else ()))


def on_scenario(path: Path, name: str, *more: object) -> None:
    """A command on a scenario, made small where it can be read."""
    with contextlib.suppress(tc.TricoverError):
        small(tc.Scenario.load(path)).save(path)
    command(name, path, *more)


def on_study(path: Path) -> None:
    """A study of a few small runs is done, in this process; of others it is enough that they can be read."""
    more: tuple[str, ...] = ()
    with contextlib.suppress(tc.TricoverError):
        found = Study.load(path)
        found = found.model_copy(update={"scenario": small(found.scenario)})
        found.save(path)
        runs = [changed(found.scenario, found.design[row]) for row in range(min(len(found.design), RUNS + 1))]
        if len(runs) > RUNS or any(small(each) != each for each in runs):
            return
        more = ("--report", str(path.with_name("study.html"))) if found.seeds else ()
    command("sweep", path, "-o", path.with_name("table.csv"), "--overwrite", "--workers", 1, "--json", *more)


def certify_log(path: Path) -> None:
    command("certify", path, "--network", path.with_name("network.json"), "--json")


def certify_with_network(path: Path) -> None:
    command("certify", path.with_name("log.csv"), "--network", path)


def certify_with_zones(path: Path) -> None:
    words = ("certify", path.with_name("log.csv"), "--network", path.with_name("network.json"))
    command(*words, "--zones", path, "--origin", "7.2,51.5", "--json")


def certify_with_scenario(path: Path) -> None:
    with contextlib.suppress(tc.TricoverError):
        small(tc.Scenario.load(path)).save(path)
    command("certify", path.with_name("log.csv"), "--network", path.with_name("network.json"), "--scenario", path)


def _on_points(name: str, *more: object) -> list[Subject]:
    use = functools.partial(_with, on_points, (name, *more))
    return [Subject(f"tricover {name} {kind}", kind, f".{kind}", use, 10) for kind in _POINT_FILES]


def _on_scenario(title: str, *words: object, turn: int = 10) -> Subject:
    return Subject(f"tricover {title}", "toml", ".toml", functools.partial(_with, on_scenario, words), turn)


def _with(use: Callable[..., None], words: tuple[object, ...], path: Path) -> None:
    use(path, *words)


_POINT_FILES = ("csv", "npy", "json", "geojson")
SUBJECTS = {
    subject.name: subject
    for subject in (
        *(Subject(kind, kind, f".{kind}", points) for kind in (*_POINT_FILES, "tsv", "txt")),
        Subject("map", "map", ".npy", area),
        Subject("tif", "tif", ".tif", area),
        Subject("scenario", "toml", ".toml", scenario),
        Subject("study", "study", ".toml", study),
        Subject("zones", "zones", ".geojson", zones),
        Subject("network", "network", ".json", network),
        Subject("mission", "mission", ".json", mission),
        Subject("log", "log", ".csv", log),
        *_on_points("network"),
        *_on_points("plan", "-n", 5),
        *_on_points("compare", "--agents", 6),
        _on_scenario("run", "run", "--json"),
        Subject("tricover sweep", "study", ".toml", on_study, 5),
        _on_scenario("certify scenario", "certify", "--json"),
        Subject("tricover certify log", "log", ".csv", certify_log, 10),
        Subject("tricover certify --network", "network", ".json", certify_with_network, 10),
        Subject("tricover certify --zones", "zones", ".geojson", certify_with_zones, 10),
        Subject("tricover certify --scenario", "flight", ".toml", certify_with_scenario, 10),
        _on_scenario("export csv", "export", "-o", "out.csv"),
        _on_scenario("export geojson", "export", "-o", "out.geojson"),
        _on_scenario("report", "report", "-o", "out.html", turn=2),
    )
}
