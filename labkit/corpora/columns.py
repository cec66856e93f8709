"""A column of a table on disk that a corpus uses like a tuple; values are read when accessed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, overload

import numpy as np

TOGETHER = 2**13  # values converted to Python objects at once


class Column(Sequence[Any]):
    """A column of an Arrow table, or a selection of its rows in any order."""

    def __init__(self, values: Any) -> None:
        self._chunks = [chunk for chunk in values.chunks if len(chunk)]
        self._ends = np.cumsum([len(chunk) for chunk in self._chunks], dtype=np.int64)  # of their rows
        self._length = len(values)
        self._rows: np.ndarray | None = None  # all of them

    def __len__(self) -> int:
        return self._length if self._rows is None else len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if not isinstance(place, slice):
            return self[place : place + 1 or None][0]
        places = np.arange(*place.indices(len(self)))
        rows = places if self._rows is None else self._rows[places]
        owners = np.searchsorted(self._ends, rows, side="right")
        found = np.empty(len(rows), object)
        for owner in np.unique(owners):
            chunk, here = self._chunks[owner], owners == owner
            found[here] = chunk.take(rows[here] - (self._ends[owner] - len(chunk))).to_pylist()
        return tuple(found.tolist())

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), TOGETHER):
            yield from self[start : start + TOGETHER]

    def take(self, rows: np.ndarray) -> Column:
        """Select rows as a column, without reading them."""
        taken = copy(self)
        taken._rows = rows if self._rows is None else self._rows[rows]
        return taken

    def rows_of(self, value: Any) -> np.ndarray:
        """The rows that have this value, int64."""
        import pyarrow.compute as compute

        equal = [np.asarray(compute.equal(chunk, value)) for chunk in self._chunks]
        every = np.concatenate([np.zeros(0, bool), *equal])
        return np.flatnonzero(every if self._rows is None else every[self._rows])
