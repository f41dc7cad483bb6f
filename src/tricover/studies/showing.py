"""What figures and pages show of a study: what it says itself, and else what suits its table."""

from typing import TYPE_CHECKING, Any

from tricover.errors import InputError
from tricover.report import StudyView
from tricover.statistics import levels_of, numbers_of
from tricover.studies.study import FigureSettings, Study

if TYPE_CHECKING:
    import pandas

__all__ = ["view_of"]

_PANELS = 3  # measures of a figure, unless told
_LINES = 6  # values of a key that are told apart as lines


def view_of(study: Study, table: "pandas.DataFrame") -> StudyView:
    """The table, with the keys and measures that figures and pages are about."""
    asked = study.figure or FigureSettings.model_validate({})
    keys = tuple(key for key in study.design.keys if len(levels_of(table, key)) > 1)
    measures = tuple(
        name for name in table.columns if name not in (*study.design.keys, "error") and _has_numbers(table, name)
    )
    for name in filter(None, (asked.over, asked.by, asked.across, *asked.measures)):
        if name not in table:
            levels_of(table, name)
    over = asked.over or _axis(table, keys)
    by = asked.by or (
        None if asked.over else next((key for key in keys if key not in (over, "seed") and _few(table, key)), None)
    )
    return StudyView(
        study.name, table, keys, measures, over, by, asked.across, asked.measures or measures[:_PANELS], _text(study)
    )


def _axis(table: "pandas.DataFrame", keys: tuple[str, ...]) -> str | None:
    """The key with most numbers, seeds last; else the first of words."""
    ranked = sorted(keys, key=lambda key: (key == "seed", not _has_numbers(table, key), -len(levels_of(table, key))))
    return ranked[0] if ranked else None


def _few(table: Any, key: str) -> bool:
    return len(levels_of(table, key)) <= _LINES


def _has_numbers(table: Any, column: str) -> bool:
    try:
        numbers_of(table, column)
    except InputError:
        return False
    return True


def _text(study: Study) -> str | None:
    try:
        return study.to_toml()
    except InputError:
        return None
