"""Cells on disk: a JSON file each, named by its fingerprint, written whole or not at all; and how long cells took.

In: a folder. Out: what is known of a cell, or None; a file that is damaged counts as none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

from labkit.atomic import in_place
from labkit.papers.records import Outcome, Point

if TYPE_CHECKING:
    from labkit.papers.planning import Cell

SCHEMA = 1


@dataclass(frozen=True)
class Known:
    """What was computed of a cell, and with what."""

    fingerprint: str
    seed: int
    seconds: float
    data: str
    figures: Mapping[str, float]
    points: tuple[Point, ...]
    versions: Mapping[str, str]


def default_folder() -> Path:
    """Of this user."""
    return user_cache_path("labkit") / "papers"


class Store:
    """The folder of cells."""

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self._times: dict[str, float] | None = None

    @property
    def runs(self) -> Path:
        """Where trainings are kept."""
        return self.folder / "runs"

    def find(self, cell: Cell) -> Known | None:
        """What is known of this cell."""
        found = _read(self._file(cell))
        if found is None or found.get("schema") != SCHEMA:
            return None
        try:
            points = tuple((str(name), float(x), float(y)) for name, x, y in found["points"])
            figures = {str(name): float(value) for name, value in found["figures"].items()}
            told = {name: found[name] for name in ("fingerprint", "seed", "seconds", "data", "versions")}
            return Known(**told, figures=figures, points=points)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def keep(self, cell: Cell, outcome: Outcome, seconds: float) -> Known:
        """Write it down; figures that are no numbers are left out."""
        from labkit.runs import versions

        figures = {name: float(value) for name, value in outcome.figures.items() if math.isfinite(value)}
        known = Known(
            cell.fingerprint, cell.seed, seconds, str(cell.data), figures, tuple(outcome.points), dict(versions())
        )
        _write(self._file(cell), {"schema": SCHEMA, **asdict(known), "kind": cell.kind})
        self._times = self._read_times() | {cell.like: seconds}  # another process may have written meanwhile
        _write(self.folder / "times.json", self._times)
        return known

    def seconds(self, cell: Cell) -> float:
        """How long it will take: as its like did, else by guess."""
        return self._known_times().get(cell.like, cell.guess)

    def _file(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.fingerprint[:32]}.json"

    def _known_times(self) -> dict[str, float]:
        if self._times is None:
            self._times = self._read_times()
        return self._times

    def _read_times(self) -> dict[str, float]:
        found = _read(self.folder / "times.json") or {}
        return {name: value for name, value in found.items() if isinstance(value, float)}


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, told: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_place(path) as file:
        file.write(json.dumps(told, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))
