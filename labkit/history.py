"""What a training tells: a row of figures for each epoch, and the vectors of a few sentences at each.

No clock times: two trainings with one seed have the same history, byte for byte.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np


@dataclass(frozen=True)
class History:
    """A dict of figures for each epoch or iteration, the first key `epoch`; empty for methods that do not iterate."""

    rows: tuple[Mapping[str, float], ...] = ()

    def __post_init__(self) -> None:
        # as Python's own numbers: numpy's write themselves as `np.float64(0.5)`
        rows = tuple({name: _plain(value) for name, value in row.items()} for row in self.rows)
        object.__setattr__(self, "rows", rows)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[float]:
        """One figure over the epochs; NaN where an epoch has none."""
        if self.rows and not any(name in row for row in self.rows):
            raise ValueError(f"name is {name!r}, expected one of {', '.join(self.columns)}")
        return [row.get(name, float("nan")) for row in self.rows]

    @property
    def columns(self) -> list[str]:
        """The names of all figures, in order of first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def csv(self) -> str:
        """As a table with a header line; numbers keep every digit, so that reading gives them back exactly."""
        text = io.StringIO()
        table = csv.DictWriter(text, self.columns or ["epoch"], lineterminator="\n")
        table.writeheader()
        table.writerows({name: repr(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()

    @classmethod
    def of_csv(cls, text: str) -> History:
        """Back from `csv`."""

        try:
            header, *lines = csv.reader(io.StringIO(text), strict=True)
            rows = [{name: _number(cell) for name, cell in zip(header, cells, strict=True) if cell} for cells in lines]
        except (ValueError, csv.Error) as error:
            raise ValueError(
                f"history.csv is not a table of numbers with a header ({error}); it was edited or cut off"
            ) from error
        return cls(tuple(rows))


def _plain(value: float) -> float:
    return int(value) if isinstance(value, Integral) else float(value)


def _number(cell: str) -> float:
    return int(cell) if cell.lstrip("-").isdecimal() else float(cell)


@dataclass(frozen=True, eq=False)
class Snapshots:
    """The probe: some sentences with their labels, and their vectors at some epochs (0: before training)."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    epochs: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # (e,)
    vectors: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))  # (e, n, d)

    def with_epoch(self, epoch: int, vectors: np.ndarray) -> Snapshots:
        """One epoch more."""
        before = self.vectors if len(self.epochs) else np.zeros((0, *vectors.shape), np.float32)
        return Snapshots(
            self.texts,
            self.labels,
            np.append(self.epochs, epoch).astype(np.int64),
            np.concatenate([before, vectors[None].astype(np.float32)]),
        )


def probe_rows(snapshots: Snapshots) -> Iterable[dict[str, str]]:
    """The lines of probe.csv."""
    return ({"text": text, "label": label} for text, label in zip(snapshots.texts, snapshots.labels, strict=True))
