"""``export_run``: one verb for all formats. Each format has a file of its own, and writes while it reads the run."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tricover.errors import FileFormatError, InputError, advice, listed
from tricover.export.delimited import write_csv
from tricover.export.flight import flight_of
from tricover.export.geojson import write_geojson
from tricover.export.graphml import write_graphml
from tricover.export.kml import write_kml
from tricover.export.mcap import write_mcap
from tricover.export.qgroundcontrol import Plans, write_plans
from tricover.formats import Projection, draft_of
from tricover.simulation import Run

__all__ = ["KINDS", "Kind", "export_run", "kind_of", "plane_of"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Kind:
    """A format: who writes it, how its file ends (None: a folder), if it is in degrees, and what of a flight it has."""

    write: Callable[..., Any]
    ending: str | None
    on_earth: bool = False
    flight: tuple[str, ...] = ()
    """Which settings of a ``Flight`` it takes."""


_LEVELS = ("altitude", "spacing", "clearance")
_FLIGHT = ("altitude", "spacing", "speed", "climb", "clearance", "delay", "still", "landing", "stay", "margin")

KINDS = {
    "csv": Kind(write_csv, ".csv"),
    "geojson": Kind(write_geojson, ".geojson", on_earth=True),
    "kml": Kind(write_kml, ".kml", on_earth=True, flight=_LEVELS),
    "graphml": Kind(write_graphml, ".graphml"),
    "mcap": Kind(write_mcap, ".mcap"),
    "qgroundcontrol": Kind(write_plans, None, on_earth=True, flight=_FLIGHT),
}


def export_run(
    run: Run,
    path: str | os.PathLike[str],
    kind: str | None = None,
    *,
    origin: Sequence[float] | None = None,
    altitude: float | None = None,
    spacing: float | None = None,
    speed: float | None = None,
    climb: float | None = None,
    clearance: float | None = None,
    delay: float | None = None,
    still: float | None = None,
    landing: str | None = None,
    stay: float | None = None,
    margin: float | None = None,
    progress: Progress | None = None,
) -> Plans | None:
    """Write a run as a file, or with the kind "qgroundcontrol" as a folder with a plan for each agent.

    Args:
        run: finished or not; what is there is written, in blocks, so that it may be longer than memory (but for plans).
        path: a file is replaced, a folder must be new or empty; either is there whole or not at all.
        kind: one of ``KINDS``; None: by the path's ending.
        origin: longitude and latitude, in degrees, of the point (0, 0), for a run that does not know where on earth it
            is. "geojson", "kml" and "qgroundcontrol" cannot do without; the others hold degrees beside metres with it.
        altitude: of the lowest level above the place of take-off, in metres; if left out that of the run's vehicle, or
            30 where it has none. This and all that follow belong to "qgroundcontrol"; with altitude, spacing or
            clearance given, "kml" has heights, too.
        spacing: metres between a level and the next; if left out 5, or the separation that the scenario asks for if
            that is more.
        speed: metres per second that no leg exceeds; if left out the vehicle's ``max_speed``, or 5.
        climb: metres per second, up and down; 1.5 if left out.
        clearance: agents that come nearer in the plane than so many metres fly at different levels; if left out the
            separation that the scenario asks for, or 5.
        delay: seconds by which a vehicle may start too early or too late; 0 if left out.
        still: metres; who moves by no more stands still, and no plan leaves the run's motion by more; 0.05 if left out.
        landing: "pad": back the way they came, and land where they took off; "place": land where the run ends.
        stay: seconds that all hover at the end of the run; 0 if left out.
        margin: metres from the motion to the fence around it; 10 if left out.
        progress: called with how much is done, and of how much.

    Returns:
        For "qgroundcontrol" the plans that were written, with their least distance as flown; else None.

    >>> import tricover as tc
    >>> team = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    >>> run = tc.simulate(tc.Scenario(reference=team, targets=[[1, 1], [0, 2]]))
    >>> export_run(run, "run.geojsn")
    Traceback (most recent call last):
    tricover.errors.FileFormatError: run.geojsn: unknown ending '.geojsn'; did you mean '.geojson'?
    """
    if not isinstance(run, Run):
        raise InputError(f"export_run takes a Run, not {type(run).__name__}: Run.open reads one")
    name = kind_of(path, kind)
    how = KINDS[name]
    options: dict[str, Any] = {"plane": plane_of(run.mission.projection, name, origin)}
    settings = (altitude, spacing, speed, climb, clearance, delay, still, landing, stay, margin)
    given: dict[str, Any] = {key: value for key, value in zip(_FLIGHT, settings, strict=True) if value is not None}
    if foreign := [key for key in given if key not in how.flight]:
        raise InputError(f"{name} has no {listed(foreign)}: leave it out; it belongs to the kind 'qgroundcontrol'")
    if name == "qgroundcontrol" or given:
        options["flight"] = flight_of(run.mission.vehicle, separation=run.scenario.safety.separation, **given)
    _check_folder(Path(path), how)
    with draft_of(path) as draft:
        plans: Plans | None = how.write(run, draft, progress or _silent, **options)
    return plans


def kind_of(path: str | os.PathLike[str], kind: str | None = None) -> str:
    """The kind that is asked for, by name or else by the path's ending; an error names the nearest."""
    ending = Path(path).suffix.lower()
    if kind is not None:
        if kind not in KINDS:
            raise InputError(f"unknown kind {kind!r}; {advice(kind, KINDS)}")
        wanted = KINDS[kind].ending
        if wanted is None and ending == ".plan":
            raise FileFormatError(f"{path}: a plan for each agent needs a folder: name one without an ending")
        return kind
    endings = {how.ending: name for name, how in KINDS.items() if how.ending is not None}
    if ending in endings:
        return endings[ending]
    if not ending or ending == ".plan":
        raise FileFormatError(f"{path}: the name does not say what to write: give the kind, {', '.join(KINDS)}")
    raise FileFormatError(f"{path}: unknown ending {ending!r}; {advice(ending, endings)}")


def plane_of(own: Projection | None, kind: str, origin: Sequence[float] | None) -> Projection | None:
    """The plane on earth of a run's metres, its own or by ``origin``; an error where the kind needs one."""
    if own is not None and origin is not None:
        raise InputError(
            f"this run knows where on earth it is, around {own.longitude:.6g}, {own.latitude:.6g}: leave origin out"
        )
    if own is None and origin is None and KINDS[kind].on_earth:
        raise InputError(
            f"{kind} holds longitude and latitude, and this run only metres: give as origin (--origin LON,LAT) "
            "the longitude and latitude of its point (0, 0)"
        )
    return own if origin is None else Projection.at(origin)


def _check_folder(path: Path, how: Kind) -> None:
    if how.ending is None and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileFormatError(f"{path} exists: choose another folder or remove it")


def _silent(done: int, total: int) -> None:
    pass
