"""GeoJSON (RFC 7946): points as they are, polygons filled with points, degrees projected to local metres.

A feature's ``weight`` property goes to each of its points, its id (or ``name`` property) names them. Altitudes are kept
when every point has one. Lines are an error: they have no place in a set of points.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError, shown
from tricover.formats.filling import Filling, area_of, filled
from tricover.formats.points import Points
from tricover.formats.projection import Projection

__all__ = ["from_geojson", "is_geojson", "polygons_of", "to_geojson"]

Floats = NDArray[np.float64]
Value = TypeVar("Value")

# What the coordinates of a geometry hold, as a list of point sets or of polygons.
_POINTS: dict[str, Callable[[Any], Any]] = {"Point": lambda values: [[values]], "MultiPoint": lambda values: [values]}
_POLYGONS: dict[str, Callable[[Any], Any]] = {"Polygon": lambda values: [values], "MultiPolygon": lambda values: values}
_COLLECTIONS = {"FeatureCollection": "features", "GeometryCollection": "geometries"}
_KINDS = (*_POINTS, *_POLYGONS, *_COLLECTIONS, "Feature", "LineString", "MultiLineString")
_DEEPEST = 16  # collections within collections, which RFC 7946 advises against


@dataclass(frozen=True)
class _Shape:
    """Positions of a (multi)point, or the rings of one polygon, in degrees (K, 2 or 3)."""

    where: str
    parts: list[Floats]
    polygon: bool
    weight: float | None
    name: str | None


def is_geojson(document: object) -> bool:
    """Whether a JSON document is GeoJSON."""
    return isinstance(document, dict) and document.get("type") in _KINDS


def _coordinates(values: object, where: str) -> Floats:
    """Positions (K, 2 or 3) of a list of positions."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] < 2:
        raise FileFormatError(f"{where}: coordinates must be lists of longitude, latitude and perhaps altitude")
    if not np.isfinite(array).all():
        raise FileFormatError(f"{where}: a coordinate is NaN or infinite")
    return array[:, :3]


def _rings(values: object, where: str) -> list[Floats]:
    if not isinstance(values, list) or not values:
        raise FileFormatError(f"{where}: a polygon needs at least one ring")
    rings = [_coordinates(ring, where)[:, :2] for ring in values]
    for ring in rings:
        if len(ring) < 4 or (ring[0] != ring[-1]).any():
            raise FileFormatError(f"{where}: a ring needs four positions or more, the last equal to the first")
    return rings


def _weight(properties: Mapping[str, Any], where: str) -> float | None:
    weight = properties.get("weight")
    if weight is not None and not (isinstance(weight, int | float) and 0 <= weight < np.inf):
        raise FileFormatError(f"{where}: weight {shown(weight)} is not a non-negative number")
    return None if weight is None else float(weight)


def _name(feature: Mapping[str, Any], properties: Mapping[str, Any], where: str) -> str | None:
    name = feature.get("id", properties.get("name"))
    if name is not None and not isinstance(name, str | int | float):
        raise FileFormatError(f"{where}: the id or name {shown(name)} is neither text nor a number")
    return None if name is None else str(name)


def _shapes(node: object, where: str, feature: Mapping[str, Any] | None = None, depth: int = 0) -> Iterator[_Shape]:
    """Every point set and polygon below a GeoJSON object, in the file's order."""
    if not isinstance(node, dict) or node.get("type") not in _KINDS:
        raise FileFormatError(f"{where}: not a GeoJSON object with a known type")
    if depth > _DEEPEST:
        raise FileFormatError(f"{where}: collections are nested more than {_DEEPEST} deep")
    kind, feature = node["type"], feature or {}
    if kind == "Feature":
        if node.get("geometry") is not None:
            yield from _shapes(node["geometry"], where, node, depth + 1)
    elif kind in _COLLECTIONS:
        key = _COLLECTIONS[kind]
        if not isinstance(node.get(key), list):
            raise FileFormatError(f"{where}: a {kind} needs a list of {key}")
        for index, member in enumerate(node[key]):
            yield from _shapes(member, f"{where}, {key}[{index}]", feature, depth + 1)
    elif kind in _POINTS or kind in _POLYGONS:
        properties = feature.get("properties") or {}
        if not isinstance(properties, dict):
            raise FileFormatError(f"{where}: properties must be an object, not {shown(properties)}")
        name, weight = _name(feature, properties, where), _weight(properties, where)
        shapes = (_POINTS | _POLYGONS)[kind](node.get("coordinates"))
        if not isinstance(shapes, list):
            raise FileFormatError(f"{where}: a {kind} needs coordinates")
        for shape in shapes:
            parts = [_coordinates(shape, where)] if kind in _POINTS else _rings(shape, where)
            yield _Shape(where, parts, kind in _POLYGONS, weight, name)
    else:
        raise FileFormatError(f"{where}: a {kind} holds no targets; use points or polygons")


def _check_reference(document: Mapping[str, Any], path: object) -> None:
    """Files from before RFC 7946 may name a coordinate system of their own; only WGS84 degrees are read."""
    named: Any = document.get("crs") or "CRS84"
    for key in ("properties", "name"):
        named = named.get(key, "CRS84") if isinstance(named, dict) else named
    if not isinstance(named, str) or not named.endswith(("CRS84", "4326")):
        named = named if isinstance(named, str) else shown(named)
        raise FileFormatError(f"{path} uses the coordinate system {named}: only WGS84 longitude and latitude are read")


def from_geojson(
    document: Mapping[str, Any],
    path: object,
    projection: Projection | None = None,
    filling: Filling | None = None,
) -> Points:
    """Points of a GeoJSON document; ``filling`` says how many points its polygons get."""
    shapes = list(_shapes(document, str(path)))
    _check_reference(document, path)
    if not shapes:
        raise FileFormatError(f"{path} holds no points")
    if projection is None:
        projection = Projection.around(np.vstack([part[:, :2] for shape in shapes for part in shape.parts]))
    positions = _positions(_projected(shapes, projection), filling or Filling(), path)
    counts = [len(part) for part in positions]
    columns = min(part.shape[1] for part in positions)
    weights = None if all(shape.weight is None for shape in shapes) else [_or(shape.weight, 1.0) for shape in shapes]
    names = None if all(shape.name is None for shape in shapes) else _repeated(shapes, counts)
    return Points(
        np.vstack([part[:, :columns] for part in positions]),
        None if weights is None else np.repeat(weights, counts),
        names,
        projection,
    )


def polygons_of(document: Mapping[str, Any], path: object, projection: Projection) -> list[Floats]:
    """The polygons of a GeoJSON document, (K, 2) corners each, in the plane; without their holes, and closed."""
    shapes = list(_shapes(document, str(path)))
    _check_reference(document, path)
    others = [shape for shape in shapes if not shape.polygon]
    if others:
        raise FileFormatError(f"{others[0].where}: a point is no polygon; leave it out")
    if not shapes:
        raise FileFormatError(f"{path} holds no polygons")
    return [shape.parts[0] for shape in _projected(shapes, projection)]


def _repeated(shapes: list[_Shape], counts: list[int]) -> list[str]:
    """The name of each point: a list, as an array would be as wide as the longest of them."""
    return [_or(shape.name, "") for shape, count in zip(shapes, counts, strict=True) for _ in range(count)]


def _or(value: Value | None, default: Value) -> Value:
    return default if value is None else value


def _projected(shapes: list[_Shape], projection: Projection) -> list[_Shape]:
    """The shapes in metres; all positions are projected in one go."""
    parts = [part for shape in shapes for part in shape.parts]
    cuts = np.cumsum([len(part) for part in parts])[:-1]
    metres = iter(np.split(projection.to_metres(np.vstack([part[:, :2] for part in parts])), cuts))
    return [replace(shape, parts=[np.hstack([next(metres), part[:, 2:]]) for part in shape.parts]) for shape in shapes]


def _positions(shapes: list[_Shape], filling: Filling, path: object) -> list[Floats]:
    """Metres (K, 2 or 3) of each shape's points."""
    polygons = [shape for shape in shapes if shape.polygon]
    if filling.points is not None and not polygons:
        raise FileFormatError(f"{path} has no polygons to be filled with {filling.points} points: leave points out")
    counts = iter(_counts(polygons, filling))
    rng = None if filling.seed is None else np.random.default_rng(filling.seed)
    return [
        _told(shape, filled, shape.parts, next(counts), rng) if shape.polygon else shape.parts[0] for shape in shapes
    ]


def _counts(polygons: list[_Shape], filling: Filling) -> list[int]:
    """How many points each polygon gets."""
    if polygons and filling.density is None and filling.points is None:
        raise FileFormatError(
            f"{polygons[0].where}: say how many points are to fill the polygons (points, --points N), "
            "or give a density, in points per square metre"
        )
    areas = [_told(shape, area_of, shape.parts) for shape in polygons]
    counts = filling.counts(areas)
    if 0 in counts:
        empty = counts.index(0)
        raise FileFormatError(
            f"{polygons[empty].where}: polygon of {areas[empty]:.3g} m² gets no point at {filling.density:.3g} "
            "points per m²: raise the density"
        )
    return counts


def _told(shape: _Shape, work: Callable[..., Value], *given: Any) -> Value:
    """What the work on a shape gives; an error says where the shape stands in the file."""
    try:
        return work(*given)
    except InputError as error:
        raise FileFormatError(f"{shape.where}: {error}") from error


def to_geojson(points: Points) -> str:
    """A FeatureCollection with one Point feature per point."""
    weights = [None] * len(points) if points.weights is None else points.weights.tolist()
    ids = [None] * len(points) if points.ids is None else points.ids
    features = [
        {
            "type": "Feature",
            **({} if name is None else {"id": name}),
            "properties": {} if weight is None else {"weight": weight},
            "geometry": {"type": "Point", "coordinates": position},
        }
        for position, weight, name in zip(points.degrees.tolist(), weights, ids, strict=True)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}) + "\n"
