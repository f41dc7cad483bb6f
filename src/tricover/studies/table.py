"""The table of a study: a row for each combination, the keys that are varied first, then the measures, then ``error``.

Columns hold what they can: whole numbers, or numbers with NaN where some are missing; truth values; texts. Columns of
mixed kinds are texts. ``table.attrs`` says which columns are keys and which are measures; a Parquet file keeps that.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tricover.errors import FileFormatError, InputError, MissingExtraError, listed
from tricover.formats import draft_of
from tricover.studies.design import WHOLE, Design
from tricover.studies.rows import Row

if TYPE_CHECKING:
    import pandas

__all__ = ["check_pandas", "check_table_name", "import_pandas", "read_table", "table_of", "write_table"]

_ENDINGS = (".parquet", ".csv")


def check_pandas() -> None:
    """Complain where the library pandas is not installed, in an error that names the extra."""
    if find_spec("pandas") is None:
        raise MissingExtraError("studies need the library pandas: pip install 'tricover[cluster]'")


def import_pandas() -> Any:
    """The library pandas; see ``check_pandas``."""
    check_pandas()
    import pandas

    return pandas


def table_of(name: str, design: Design, measures: tuple[str, ...], rows: Mapping[int, Row]) -> "pandas.DataFrame":
    """The rows that are done, in the order of their numbers.

    Args:
        name: of the study.
        design: what each row changes.
        measures: columns that are there in any case, first; others follow in the order of the rows that have them.
        rows: by number; those that are missing are left out.
    """
    pandas = import_pandas()
    done = [rows[number] for number in sorted(rows)]
    labels = [design.labels(row.number) for row in done]
    found = list(dict.fromkeys([*measures, *(column for row in done for column in row.values)]))
    columns = {key: _column([label.get(key) for label in labels]) for key in design.keys}
    columns |= {column: _column([row.values.get(column) for row in done]) for column in found}
    columns["error"] = pandas.Series(
        [row.error for row in done], dtype=object if not any(row.error for row in done) else None
    )
    table = pandas.DataFrame(columns, index=pandas.RangeIndex(len(done)))
    table.attrs = {"study": name, "runs": len(design), "keys": design.keys, "measures": found}
    return table


def _column(values: list[Any]) -> "pandas.Series":
    """A column of one kind; see the module."""
    pandas = import_pandas()
    given = [value for value in values if value is not None]
    kinds = {type(value) for value in given}
    if not given:
        return pandas.Series(values, dtype="float64")
    if kinds == {bool}:
        return pandas.Series(values, dtype="bool" if len(given) == len(values) else "boolean")
    if kinds <= {int, float} and all(abs(value) < WHOLE for value in given if isinstance(value, int)):
        whole = kinds == {int} and len(given) == len(values)
        return pandas.Series(values, dtype="int64" if whole else "float64")
    return pandas.Series([value if value is None or isinstance(value, str) else str(value) for value in values])


def check_table_name(path: str | os.PathLike[str]) -> str:
    """The ending of a table's file, one that tables can be written under."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise FileFormatError(f"{path}: unknown ending {ending!r} for a table; expected {listed(_ENDINGS)}")
    if ending == ".parquet":
        try:
            import pyarrow  # noqa: F401 - here, before long work
        except ModuleNotFoundError:
            raise MissingExtraError(
                "Parquet files need the library pyarrow: pip install 'tricover[cluster]', or write a .csv"
            ) from None
    return ending


def write_table(table: "pandas.DataFrame", path: str | os.PathLike[str]) -> None:
    """Write a table, Parquet or CSV by the path's ending, whole or not at all."""
    ending = check_table_name(path)
    with draft_of(path) as draft:
        if ending == ".parquet":
            table.to_parquet(draft, index=False)
        else:
            table.to_csv(draft, index=False)


def read_table(path: str | os.PathLike[str]) -> "pandas.DataFrame":
    """A table that was written; which columns are keys a Parquet file alone knows."""
    pandas = import_pandas()
    ending = check_table_name(path)
    try:
        return (pandas.read_parquet if ending == ".parquet" else pandas.read_csv)(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no table that can be read: {str(error).splitlines()[0]}") from None
