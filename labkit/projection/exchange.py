"""A picture as a Parquet file that embedding-atlas opens, with the neighbours of each point in the embedding space.

    embedding-atlas picture.parquet --text text --x x --y y --neighbors neighbors

In: a picture of sentences and their embeddings at unit length. Out: the bytes of the file, with the columns of the
sentences, `x`, `y` (and `z`), and `neighbors`: {"ids": rows of the file, "distances": 1 - cosine}, nearest first.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from labkit.corpora import Labelled
from labkit.evaluation.neighbours import MOST_ASKING, nearest_others
from labkit.projection.picture import Projection

NEIGHBOURS = 15


def atlas_bytes(picture: Projection, shown: Labelled, embeddings: Any, *, k: int = NEIGHBOURS) -> bytes:
    """Return the file; `embeddings` are unit rows (n, d), dense or CSR.

    Above 20,000 sentences the neighbours, which would take minutes, are left out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines, count = list(shown.rows()), len(shown)
    columns: dict[str, Any] = {name: [line[name] for line in lines] for name in (lines[0] if lines else ())}
    columns |= dict(zip("xyz", picture.points.T, strict=False))
    if 1 < count <= MOST_ASKING:
        near = nearest_others(embeddings, min(k, count - 1))
        columns["neighbors"] = [
            {"ids": ids.tolist(), "distances": (1 - _cosines(embeddings, row, ids)).tolist()}
            for row, ids in enumerate(near)
        ]
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def _cosines(embeddings: Any, row: int, others: np.ndarray) -> np.ndarray:
    cosines = embeddings[others] @ embeddings[[row]].T
    return np.asarray(cosines if isinstance(cosines, np.ndarray) else cosines.toarray()).ravel()
