"""Rows of a memory: what some of the agents remember, looked up when it is asked for, as plans are large."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Memory", "rows_of"]

Memory: TypeAlias = Mapping[str, NDArray[Any]]


def rows_of(memory: Memory, rows: NDArray[np.int64]) -> Memory:
    """The memory of some of the agents."""
    if isinstance(memory, _Rows):
        return _Rows(memory.whole, memory.rows[rows])
    return _Rows(memory, rows)


@dataclass(frozen=True, eq=False)
class _Rows(Mapping[str, NDArray[Any]]):
    whole: Memory
    rows: NDArray[np.int64]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return np.asarray(self.whole[name][self.rows])

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)
