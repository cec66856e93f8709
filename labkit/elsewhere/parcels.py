"""What owner and worker hand each other: arrays as files of a folder, the rest as what JSON can say. No pickle.

rows       (n, d) dense or CSR; or (e, n, d), those of each epoch
pictures   a `Projection`, or one for each epoch, with its quality; PCA's basis stays behind
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.atomic import room_for
from labkit.projection.record import NAMES, Projection, Quality

ROWS, POINTS = "rows.npz", "points.npz"  # np.save forgets why it failed


def write_rows(folder: Path, rows: Any) -> None:
    """Into the folder."""
    if sparse.issparse(rows):
        sparse.save_npz(folder / ROWS, sparse.csr_matrix(rows))
    else:
        np.savez(folder / ROWS, rows=rows)


def read_rows(folder: Path) -> Any:
    """As they were written."""
    with np.load(folder / ROWS, allow_pickle=False) as found:
        if "rows" in found.files:
            return found["rows"]
    return sparse.load_npz(folder / ROWS)


def write_pictures(folder: Path, pictures: Sequence[Projection]) -> list[dict[str, Any]]:
    """Points into the folder; what is known of each picture, to be told beside them."""
    with room_for(folder / POINTS):
        np.savez(folder / POINTS, points=np.stack([each.points for each in pictures]))
    return [
        {
            "method": each.method,
            "settings": dict(each.settings),
            "quality": None if each.quality is None else asdict(each.quality),
        }
        for each in pictures
    ]


def read_pictures(folder: Path, known: Sequence[Mapping[str, Any]]) -> tuple[Projection, ...]:
    """The pictures as they were, from what was written and what was told."""
    with np.load(folder / POINTS, allow_pickle=False) as found:
        points = found["points"]
    return tuple(_picture(each, about) for each, about in zip(points, known, strict=True))


def _picture(points: np.ndarray, known: Mapping[str, Any]) -> Projection:
    quality = None if known["quality"] is None else Quality(**known["quality"])
    shown, kl = (None, None) if quality is None else (quality.shown, quality.kl)
    return Projection(NAMES[known["method"]], points, shown, kl, known["method"], known["settings"], quality)
