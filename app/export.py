"""A picture as a table: a line for each sentence with its class, its columns and where it lies.

In: a projection and its sentences. Out: rows for `labkit.embedding_files`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labkit.corpora.records import Labelled
from labkit.projection.picture import Projection


def picture_rows(projection: Projection, shown: Labelled) -> Iterator[dict[str, Any]]:
    """One line a sentence."""
    axes = [f"{projection.name} {number}" for number in range(1, projection.points.shape[1] + 1)]
    for row, (line, place) in enumerate(zip(shown.rows(), projection.points.tolist(), strict=True)):
        yield {"row": row, **line, **dict(zip(axes, place, strict=True))}
