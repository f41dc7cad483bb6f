"""Compiled kernels for polygons that nobody enters: points and straight ways against them.

Polygons are closed: their edges belong to them. Where a sign decides (does a way meet an edge, is a point inside), it
is exact. Distances have the rounding of floats; ``slack`` says how near counts as touching.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._predicates import orient2d

__all__ = [
    "TILES",
    "Field",
    "apart_by",
    "crossing",
    "first_near",
    "holding",
    "hull_free",
    "least",
    "length_inside",
    "list_near",
    "near_box",
    "self_crossing",
    "to_segment",
    "ways_near",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TILES = 64  # per axis of the table in which a box is looked up: 16 kB, and any number around it will do


class Field(NamedTuple):
    """Polygons as compiled loops want them."""

    corners: Floats
    """(K, 2) of all polygons, one after another, each counter-clockwise."""
    starts: Ints
    """(Z+1,) polygon z has the corners starts[z] … starts[z + 1]."""
    boxes: Floats
    """(Z, 4) least x and y, largest x and y of each."""
    tiles: Ints
    """(TILES+1, TILES+1) how many tiles with a polygon's box lie below and left: differences count them in a box."""
    frame: Floats
    """(4,) least x and y of all, and tiles per metre along x and y."""


@kernel
def near_box(field: Field, x0: float, y0: float, x1: float, y1: float) -> bool:
    """Whether some polygon's box may meet this one: never False where it does. One that is NaN meets none."""
    if not (x0 <= x1 and y0 <= y1):
        return False
    left = int(max(0.0, min(TILES, np.floor((x0 - field.frame[0]) * field.frame[2]))))
    low = int(max(0.0, min(TILES, np.floor((y0 - field.frame[1]) * field.frame[3]))))
    right = int(max(0.0, min(TILES, np.floor((x1 - field.frame[0]) * field.frame[2]) + 1)))
    high = int(max(0.0, min(TILES, np.floor((y1 - field.frame[1]) * field.frame[3]) + 1)))
    tiles = field.tiles
    return bool(tiles[right, high] - tiles[left, high] - tiles[right, low] + tiles[left, low] > 0)


@kernel
def _apart(field: Field, zone: int, x0: float, y0: float, x1: float, y1: float) -> bool:
    """Whether a polygon's box does not meet this one."""
    box = field.boxes[zone]
    return bool(x1 < box[0] or x0 > box[2] or y1 < box[1] or y0 > box[3])


@kernel
def holding(field: Field, zone: int, x: float, y: float) -> bool:
    """Whether a polygon holds a point, its edges included: how often a ray to the right meets it, exactly."""
    corners, first, last = field.corners, field.starts[zone], field.starts[zone + 1]
    inside = False
    b = last - 1
    for a in range(first, last):
        ax, ay, bx, by = corners[a, 0], corners[a, 1], corners[b, 0], corners[b, 1]
        if (ay > y) != (by > y):
            turn = orient2d(ax, ay, bx, by, x, y)
            if turn == 0.0:
                return True
            if (turn > 0.0) == (by > ay):
                inside = not inside
        elif (
            min(ay, by) <= y <= max(ay, by)
            and min(ax, bx) <= x <= max(ax, bx)
            and orient2d(ax, ay, bx, by, x, y) == 0.0
        ):
            return True
        b = a
    return inside


@kernel
def _meet(ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float) -> bool:
    """Whether the segments ab and cd have a point in common, exactly."""
    if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx):
        return False
    if max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
        return False
    c, d = orient2d(ax, ay, bx, by, cx, cy), orient2d(ax, ay, bx, by, dx, dy)
    if (c > 0.0 and d > 0.0) or (c < 0.0 and d < 0.0):
        return False
    a, b = orient2d(cx, cy, dx, dy, ax, ay), orient2d(cx, cy, dx, dy, bx, by)
    # All four zero: on one line, where the boxes, which overlap, decide.
    return not ((a > 0.0 and b > 0.0) or (a < 0.0 and b < 0.0))


@kernel
def to_segment(x: float, y: float, ax: float, ay: float, bx: float, by: float) -> float:
    """Distance of a point to a segment."""
    sx, sy = bx - ax, by - ay
    square = sx * sx + sy * sy
    along = 0.0
    if square > 0.0:
        along = min(1.0, max(0.0, ((x - ax) * sx + (y - ay) * sy) / square))
    return float(np.hypot(x - ax - along * sx, y - ay - along * sy))


@kernel
def apart_by(ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float) -> float:
    """Distance of the segments ab and cd."""
    if _meet(ax, ay, bx, by, cx, cy, dx, dy):
        return 0.0
    ends = min(to_segment(ax, ay, cx, cy, dx, dy), to_segment(bx, by, cx, cy, dx, dy))
    return min(ends, min(to_segment(cx, cy, ax, ay, bx, by), to_segment(dx, dy, ax, ay, bx, by)))


@kernel
def way_to_edges(field: Field, zone: int, ax: float, ay: float, bx: float, by: float, enough: float) -> float:
    """Distance of a straight way to a polygon's edges; any number up to ``enough`` will do for one that is as near."""
    corners, first, last = field.corners, field.starts[zone], field.starts[zone + 1]
    best = np.inf
    d = last - 1
    for c in range(first, last):
        found = apart_by(ax, ay, bx, by, corners[c, 0], corners[c, 1], corners[d, 0], corners[d, 1])
        best = min(best, found)
        if best <= enough:
            return best
        d = c
    return best


@kernel
def crossing(field: Field, zone: int, ax: float, ay: float, bx: float, by: float, slack: float) -> bool:
    """Whether a straight way comes within ``slack`` of a polygon, or is in it."""
    if _apart(field, zone, min(ax, bx) - slack, min(ay, by) - slack, max(ax, bx) + slack, max(ay, by) + slack):
        return False
    return holding(field, zone, ax, ay) or way_to_edges(field, zone, ax, ay, bx, by, slack) <= slack


@kernel
def first_near(field: Field, ax: float, ay: float, bx: float, by: float, slack: float) -> int:
    """The first polygon, by number, within ``slack`` of a straight way; -1 if there is none."""
    x0, y0, x1, y1 = min(ax, bx) - slack, min(ay, by) - slack, max(ax, bx) + slack, max(ay, by) + slack
    if near_box(field, x0, y0, x1, y1):
        for zone in range(len(field.boxes)):
            if crossing(field, zone, ax, ay, bx, by, slack):
                return zone
    return -1


@kernel
def ways_near(field: Field, before: Floats, after: Floats, slack: float, first: int, last: int, zones: Ints) -> None:
    """``first_near`` of ways; ``slack`` is relative to the largest coordinate of each."""
    for i in range(first, last):
        ax, ay, bx, by = before[i, 0], before[i, 1], after[i, 0], after[i, 1]
        largest = max(max(abs(ax), abs(ay)), max(abs(bx), abs(by)))
        zones[i] = first_near(field, ax, ay, bx, by, slack * largest)


@kernel
def _in_triangle(x: float, y: float, ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> bool:
    """Whether a closed triangle, in either direction, holds a point, exactly."""
    a = orient2d(bx, by, cx, cy, x, y)
    b = orient2d(cx, cy, ax, ay, x, y)
    c = orient2d(ax, ay, bx, by, x, y)
    return bool((a >= 0.0 and b >= 0.0 and c >= 0.0) or (a <= 0.0 and b <= 0.0 and c <= 0.0))


@kernel
def list_near(field: Field, x0: float, y0: float, x1: float, y1: float, zones: Ints) -> int:
    """Write down the polygons whose boxes meet this one; returns how many there are."""
    count = 0
    for zone in range(len(field.boxes)):
        if not _apart(field, zone, x0, y0, x1, y1):
            zones[count] = zone
            count += 1
    return count


@kernel
def hull_free(field: Field, zones: Ints, x: float, y: float, triangle: Floats, slack: float) -> bool:
    """Whether none of some polygons comes within ``slack`` of the convex hull of a point and a triangle (3, 2).

    The hull's edges are among the six segments between the four points. A polygon that meets none of them and does not
    hold the point is outside the hull, or wholly inside: then its first corner is in one of the four triangles.
    """
    x0, x1 = min(x, triangle[:, 0].min()) - slack, max(x, triangle[:, 0].max()) + slack
    y0, y1 = min(y, triangle[:, 1].min()) - slack, max(y, triangle[:, 1].max()) + slack
    for zone in zones:
        if _apart(field, zone, x0, y0, x1, y1):
            continue
        if holding(field, zone, x, y):
            return False
        px, py = field.corners[field.starts[zone], 0], field.corners[field.starts[zone], 1]
        a, b, c = triangle[0], triangle[1], triangle[2]
        if _in_triangle(px, py, a[0], a[1], b[0], b[1], c[0], c[1]):
            return False
        for k in range(3):
            a, b = triangle[k], triangle[(k + 1) % 3]
            if _in_triangle(px, py, a[0], a[1], b[0], b[1], x, y):
                return False
            if way_to_edges(field, zone, a[0], a[1], b[0], b[1], slack) <= slack:
                return False
            if way_to_edges(field, zone, x, y, a[0], a[1], slack) <= slack:
                return False
    return True


@kernel
def length_inside(field: Field, zone: int, ax: float, ay: float, bx: float, by: float) -> float:
    """How much of a straight way is in a polygon, in metres: between two edges it is in or out, as its middle is."""
    corners, first, last = field.corners, field.starts[zone], field.starts[zone + 1]
    sx, sy = bx - ax, by - ay
    square = sx * sx + sy * sy
    cuts = np.empty(4 * (last - first) + 2)
    cuts[0], cuts[1] = 0.0, 1.0
    count = 2
    d = last - 1
    for c in range(first, last):
        ex, ey = corners[d, 0] - corners[c, 0], corners[d, 1] - corners[c, 1]
        ox, oy = corners[c, 0] - ax, corners[c, 1] - ay
        cross = sx * ey - sy * ex
        if cross != 0.0:
            cuts[count] = (ox * ey - oy * ex) / cross
            count += 1
        if square > 0.0:  # an edge along the way ends at its corners
            cuts[count] = (ox * sx + oy * sy) / square
            count += 1
        d = c
    shares = np.sort(np.clip(cuts[:count], 0.0, 1.0))
    inside = 0.0
    for k in range(count - 1):
        middle = (shares[k] + shares[k + 1]) / 2
        if shares[k + 1] > shares[k] and holding(field, zone, ax + middle * sx, ay + middle * sy):
            inside += shares[k + 1] - shares[k]
    return float(inside * np.sqrt(square))


@kernel
def least(field: Field, before: Floats, after: Floats, best: float) -> tuple[float, int, int]:
    """The least distance of a way to a polygon, if it is less than ``best``, with the way and the polygon; else -1."""
    way, which = -1, -1
    for i in range(len(before)):
        ax, ay, bx, by = before[i, 0], before[i, 1], after[i, 0], after[i, 1]
        # What is as near as the nearest so far has a box within reach; most have none.
        around = min(ax, bx) - best, min(ay, by) - best, max(ax, bx) + best, max(ay, by) + best
        if not near_box(field, around[0], around[1], around[2], around[3]):
            continue
        for zone in range(len(field.boxes)):
            box = field.boxes[zone]
            # No polygon is nearer than its box.
            gap_x = max(0.0, max(box[0] - max(ax, bx), min(ax, bx) - box[2]))
            gap_y = max(0.0, max(box[1] - max(ay, by), min(ay, by) - box[3]))
            if np.hypot(gap_x, gap_y) >= best:
                continue
            found = 0.0
            if not holding(field, zone, ax, ay):
                found = way_to_edges(field, zone, ax, ay, bx, by, 0.0)
            if found < best:
                best, way, which = found, i, zone
    return best, way, which


@kernel
def self_crossing(ring: Floats, order: Ints, rights: Floats) -> tuple[int, int]:
    """Two sides (from their corners on) of a polygon that meet where they should not; (-1, -1) if there are none.

    ``order`` are the sides by their leftmost point, ``rights`` (K,) their rightmost x: a side is compared only with
    those that begin before it ends.
    """
    count = len(ring)
    for place in range(count):
        i = order[place]
        a, b = ring[i], ring[(i + 1) % count]
        for other in range(place + 1, count):
            j = order[other]
            c, d = ring[j], ring[(j + 1) % count]
            if min(c[0], d[0]) > rights[i]:
                break
            if (i + 1) % count == j or (j + 1) % count == i:
                # Neighbours share a corner, and no more: b to itself, unless the second side turns back.
                first, second = (i, j) if (i + 1) % count == j else (j, i)
                p, q, r = ring[first], ring[second], ring[(second + 1) % count]
                back = (q[0] - p[0]) * (r[0] - q[0]) + (q[1] - p[1]) * (r[1] - q[1]) < 0.0
                if back and orient2d(p[0], p[1], q[0], q[1], r[0], r[1]) == 0.0:
                    return first, second
            elif _meet(a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]):
                return min(i, j), max(i, j)
    return -1, -1
