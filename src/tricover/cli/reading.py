"""How commands read points: how many polygons or a map become, and where on earth their metres are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.errors import InputError

if TYPE_CHECKING:
    from tricover.formats import Points, Projection
    from tricover.targets import Targets

__all__ = [
    "Density",
    "Extent",
    "Origin",
    "PointCount",
    "numbers",
    "origin_of",
    "place_of",
    "read_beside",
    "read_targets",
    "shown_origin",
]

PointCount = Annotated[
    int | None,
    typer.Option(
        "--points",
        metavar="N",
        min=1,
        help="Fill polygons with exactly N points in all, by their areas; or thin a map to N at most.",
        show_default=False,
    ),
]
Density = Annotated[
    float | None,
    typer.Option(metavar="D", help="Or fill polygons with D points per square metre.", show_default=False),
]
Extent = Annotated[
    str | None,
    typer.Option(
        metavar="X0,Y0,X1,Y1",
        help="Read a 2-D NPY as a map, first row north, in this box in metres.",
        show_default=False,
    ),
]
Origin = Annotated[
    str | None,
    typer.Option(
        metavar="LON,LAT",
        help="Longitude and latitude of the point (0, 0); else the middle of positions in degrees.",
        show_default=False,
    ),
]


def numbers(option: str, text: str | None, what: str, example: str) -> tuple[float, ...] | None:
    """Numbers with commas between them, as many as in the example; an error names the option."""
    if text is None:
        return None
    try:
        found = tuple(map(float, text.split(",")))
    except ValueError:
        found = ()
    if len(found) != example.count(",") + 1:
        raise InputError(f"{option} must be {what}, such as {example}; not {text!r}")
    return found


def origin_of(text: str | None) -> tuple[float, ...] | None:
    """The option --origin as longitude and latitude."""
    return numbers("--origin", text, "longitude and latitude", "7.21,51.48")


def read_targets(
    path: Path, points: int | None, density: float | None, extent: str | None, origin: str | None
) -> "Targets":
    """The targets of a file."""
    from tricover.targets import Targets

    box = numbers("--extent", extent, "x0, y0, x1 and y1 in metres", "0,0,400,300")
    return Targets.from_file(path, points=points, density=density, extent=box, origin=origin_of(origin))


def read_beside(path: Path, plane: "Projection | None", origin: str | None) -> "Points":
    """A point file in the plane of what was read before it."""
    from tricover.formats import read_points

    place = origin_of(origin)
    found = read_points(path, projection=plane if place is None else None, origin=place)
    if plane is None and found.projection is not None:
        raise InputError(f"{path} is in longitude and latitude, and the targets in metres: give --origin LON,LAT")
    return found


def place_of(plane: "Projection | None") -> list[float] | None:
    """Longitude and latitude of the point (0, 0), for a JSON document."""
    return None if plane is None else [plane.longitude, plane.latitude]


def shown_origin(plane: "Projection | None") -> list[str]:
    """A line that says where the point (0, 0) is, if that is known; to a tenth of a millimetre."""
    return [] if plane is None else [f"Point (0, 0): lon {plane.longitude:.9f}, lat {plane.latitude:.9f}"]
