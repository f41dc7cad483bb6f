"""CSV: one point per line, columns named in a header (see ``columns``) or x, y[, z[, weight]] without one.

Fields are separated by commas, semicolons, tabs or blanks, whichever the first line shows. Lines that start with ``#``
are comments, empty lines are skipped. Numbers are written so that they read back bit for bit.
"""

import csv
import io

import numpy as np

from tricover.errors import FileFormatError
from tricover.formats.columns import NAMELESS, from_columns, roles, to_columns
from tricover.formats.points import Points
from tricover.formats.projection import Projection

__all__ = ["from_csv", "to_csv"]


LONG = 1 << 20  # characters from which on a table is read as numbers first


def _rows(text: str) -> tuple[list[list[str]], list[int]]:
    """Fields of every line that holds any, and the line's number."""
    first = next((line for line in io.StringIO(text) if line.strip() and not line.startswith("#")), "")
    delimiter = next((mark for mark in ",;\t" if mark in first), " ")
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    numbered = [(row, reader.line_num) for row in reader if any(row) and not row[0].startswith("#")]
    return [row for row, _ in numbered], [number for _, number in numbered]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _all_numbers(text: str, path: object, projection: Projection | None) -> Points | None:
    """Points of a long table that holds nothing but good numbers below its header, read at once; else None."""
    first, _, rest = text.partition("\n")
    if len(text) < LONG or "#" in text or "," not in first:
        return None
    named = not any(map(_is_number, first.split(",")))
    names = first.split(",") if named else NAMELESS.get(first.count(",") + 1, ())
    lines = rest if named else text
    if not lines.strip():
        return None
    try:
        which = roles(names, path)
        columns = np.loadtxt(io.StringIO(lines), delimiter=",", ndmin=2).T
        if "id" in which or len(columns) != len(names):
            return None
        return from_columns({role: columns[index] for role, index in which.items()}, lambda *_: "", projection)
    except ValueError:  # something else is in it: to be read, or complained about, field by field
        return None


def from_csv(data: bytes, path: object, projection: Projection | None = None) -> Points:
    """Points of a CSV file; errors name the file, the line and the column."""
    try:
        text = data.decode("utf-8-sig")
        if (found := _all_numbers(text, path, projection)) is not None:
            return found
        rows, lines = _rows(text)
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path} is not a CSV text file in UTF-8: {error}") from error
    if rows and not any(map(_is_number, rows[0])):
        names, rows, lines = rows[0], rows[1:], lines[1:]
    else:
        names = list(NAMELESS.get(len(rows[0]), ())) if rows else []
        if rows and not names:
            raise FileFormatError(f"{path} has {len(rows[0])} columns and no header: expected x, y[, z[, weight]]")
    if not rows:
        raise FileFormatError(f"{path} holds no points")
    ragged = next((index for index, row in enumerate(rows) if len(row) != len(names)), None)
    if ragged is not None:
        raise FileFormatError(
            f"{path}, line {lines[ragged]}: {len(rows[ragged])} fields where {len(names)} are expected"
        )
    which, columns = roles(names, path), list(zip(*rows, strict=True))
    return from_columns(
        {role: columns[index] for role, index in which.items()},
        lambda role, row: f"{path}, line {lines[row]}, column {which[role] + 1} ({names[which[role]].strip()})",
        projection,
    )


def to_csv(points: Points) -> str:
    """The points as a CSV table with a header; longitude and latitude where they have a projection."""
    columns = to_columns(points)
    text = io.StringIO()
    # Python quotes no lonely carriage return and no leading blank, but does not read them without quotes either.
    awkward = any(name[:1].isspace() or "\r" in name for name in points.ids or ())
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if awkward else csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
