"""What somebody has marked in a picture: single points, or areas of it.

In: the event that a plotly picture sends, as untrusted as all that comes from a browser. Out: a `Brush`, and from it
the rows of the points it holds. Of few points the picture names each; of many it sends the corners of boxes, no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.figures.clusters import MOST

AREAS = 20  # boxes at once


@dataclass(frozen=True)
class Brush:
    """Rows, each once, and boxes (lowest x, highest x, lowest y, highest y)."""

    rows: tuple[int, ...] = ()
    boxes: tuple[tuple[float, float, float, float], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows or self.boxes)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """The rows marked, of a picture's points (n, 2): named or within a box, ascending, int64."""
        held = np.zeros(len(points), dtype=bool)
        held[[row for row in self.rows if row < len(points)]] = True
        for low_x, high_x, low_y, high_y in self.boxes:
            x, y = points[:, 0], points[:, 1]
            held |= (low_x <= x) & (x <= high_x) & (low_y <= y) & (y <= high_y)
        return np.flatnonzero(held)


def brush(event: Any, count: int) -> Brush:
    """The event of a picture of `count` points. Above MOST points only boxes count; what makes no sense is left out."""
    selection = _part(event, "selection", Mapping)
    if count > MOST:
        boxes = [_box(area) for area in _part(selection, "box", list)[:AREAS]]
        return Brush(boxes=tuple(found for found in boxes if found is not None))
    named = [_row(point, count) for point in _part(selection, "points", list)[: 2 * MOST]]
    return Brush(rows=tuple(dict.fromkeys(row for row in named if row is not None)))


def carried(rows: Sequence[int], texts: Sequence[str], onto: Sequence[str]) -> list[int]:
    """Rows of these texts as rows of others; a sentence that is not among them is left out.

    >>> carried([0, 2], ["a", "b", "c"], ["c", "b"])
    [0]
    """
    if texts == onto:
        return list(rows)
    place = {text: row for row, text in enumerate(onto)}
    return [place[texts[row]] for row in rows if texts[row] in place]


def _part(whole: Any, name: str, kind: type) -> Any:
    found = whole.get(name) if isinstance(whole, Mapping) else None
    return found if isinstance(found, kind) else kind() if kind is list else {}


def _row(point: Any, count: int) -> int | None:
    """A point of the picture carries its row; one that was drawn on top of it carries none."""
    row = point.get("customdata") if isinstance(point, Mapping) else None
    row = row[0] if isinstance(row, list) and row else row
    return int(row) if isinstance(row, (int, float)) and row == row and 0 <= row < count else None


def _box(area: Any) -> tuple[float, float, float, float] | None:
    sides = [_part(area, axis, list) for axis in ("x", "y")]
    corners = [corner for side in sides for corner in side]
    if [len(side) for side in sides] != [2, 2]:
        return None
    if not all(isinstance(corner, (int, float)) and math.isfinite(corner) for corner in corners):
        return None
    (x, y) = (sorted(float(corner) for corner in side) for side in sides)
    return x[0], x[1], y[0], y[1]
