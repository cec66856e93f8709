"""A picture: its points, its settings, and how far it can be trusted. Also PCA, the only linear picture."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.arrays import Vectors, same_length, vectors
from labkit.evaluation.neighbours import MOST_ASKING, dots, movement, nearest_others, sampled, squares

if TYPE_CHECKING:
    from labkit.corpora.records import Labelled

# --- records -----------------------------------------------------------------------------------------------------

NAMES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP", "lle": "LLE"}  # names for readers


@dataclass(frozen=True)
class Quality:
    """How much of the embedding space the picture preserves.

    trustworthiness    1 if the k nearest in the picture are also near in the embedding space
    preserved          share of the k nearest in the embedding space that are among the k nearest in the picture
    points, of         the number of points measured, and of all points: above a few thousand, a sample is measured
    kl                 t-SNE: KL(P||Q), which it minimises         shown    PCA: share of the variance
    """

    trustworthiness: float
    preserved: float
    k: int
    points: int
    of: int
    kl: float | None = None
    shown: float | None = None

    def __str__(self) -> str:
        parts = [
            f"trustworthiness {self.trustworthiness:.3f}",
            f"{100 * self.preserved:.0f} % of the {self.k} nearest neighbours preserved",
        ]
        if self.kl is not None:
            parts.append(f"KL {self.kl:.3f}")
        if self.shown is not None:
            parts.append(f"{100 * self.shown:.0f} % of the variance")
        if self.points < self.of:
            parts.append(f"measured on a sample of {self.points:,} of {self.of:,} points")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class Basis:
    """y = (x - centre) directions + offset, which maps rows (n, d) to points (n, p). Only PCA has a basis."""

    centre: np.ndarray
    directions: np.ndarray
    offset: np.ndarray

    def __call__(self, rows: Any) -> np.ndarray:
        """Map dense or sparse rows; sparse rows are not made dense."""
        points = rows @ self.directions - self.centre @ self.directions + self.offset
        return np.asarray(points, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Projection:
    """Points float32 (n, 2) or (n, 3), and the `settings` used. `name` is for readers, `method` for `project`.

    `shown`, `kl`: as in `Quality`; `basis`: PCA's, for new sentences.

    >>> from labkit.projection import project
    >>> rows = np.random.default_rng(0).normal(size=(30, 5))
    >>> project(rows).shown > 0.4
    True
    """

    name: str
    points: np.ndarray
    shown: float | None = None
    kl: float | None = None
    method: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    quality: Quality | None = None
    basis: Basis | None = None


# --- PCA ---------------------------------------------------------------------------------------------------------


def leading_directions(rows: Vectors, dimensions: int, seed: int) -> Projection:
    """Run PCA with `dimensions` principal directions; if the rows have fewer, the rest of the picture is 0."""
    count = min(dimensions, *rows.shape)
    if not isinstance(rows, np.ndarray) and count >= min(rows.shape):
        rows = rows.toarray()  # the sparse solver cannot compute all directions
    centre = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    directions = np.zeros((rows.shape[1], dimensions))
    if varies(rows):
        from sklearn.decomposition import PCA  # takes a second, and stored pictures need none

        solver = "auto" if isinstance(rows, np.ndarray) else "arpack"
        model = PCA(count, svd_solver=solver, random_state=seed).fit(rows)
        directions[:, :count] = model.components_.T
    basis = Basis(centre, directions, np.zeros(dimensions))
    points = basis(rows)
    return Projection("PCA", points, variance_shown(rows, points), method="pca", basis=basis)


def variance_shown(rows: Vectors, points: np.ndarray) -> float | None:
    """Return var(points) / var(rows), each summed over columns; None if nothing varies."""
    if isinstance(rows, np.ndarray):
        total = float(rows.astype(np.float64).var(axis=0).sum())
    else:
        mean = np.asarray(rows.mean(axis=0)).ravel()
        total = float(squares(rows).mean() - mean @ mean)
    return float(points.astype(np.float64).var(axis=0).sum() / total) if total > 0 and varies(rows) else None


def varies(rows: Vectors) -> bool:
    """Return whether any row differs from the first one."""
    return bool(abs(rows - rows[[0] * rows.shape[0]]).max() > 0)


# --- quality -----------------------------------------------------------------------------------------------------

SAMPLE = 2_000  # points measured, in under a second
NEIGHBOURS = 5


def quality(
    rows: Vectors, points: np.ndarray, *, seed: int = 0, kl: float | None = None, shown: float | None = None
) -> Quality:
    """Compare neighbours in the embedding space with neighbours in the picture, both Euclidean.

    Above SAMPLE points, only a sample is measured, and neighbours are sought within it, because every pair is compared.
    `kl` and `shown` are passed through.
    """
    from sklearn.manifold import trustworthiness  # takes a second, and stored pictures need none

    taken = sampled(np.arange(len(points)), SAMPLE, seed)
    k = min(NEIGHBOURS, (len(taken) - 1) // 2)
    original, picture = rows[taken], points[taken]
    kept = float(trust(original, picture, k).mean())
    measured = trustworthiness(original.astype(np.float64), picture.astype(np.float64), n_neighbors=k)
    return Quality(float(measured), kept, k, len(taken), len(points), kl, shown)


def trust(embeddings: Any, points: np.ndarray, k: int | None = None) -> np.ndarray:
    """Return the share of each point's k nearest in the embedding space that are among its k nearest in the picture.

    (n, d) and (n, p) to (n,). The mean over all points is `Quality.preserved`. k is as in `quality`, but all points are
    measured.

    >>> from labkit.projection import pca
    >>> rows = np.random.default_rng(0).normal(size=(30, 5))
    >>> trust(rows, pca(rows).points, k=5).shape
    (30,)
    """
    rows = checked_embeddings(embeddings)
    same_length("points", points, rows.shape[0])
    k = min(NEIGHBOURS, (len(points) - 1) // 2) if k is None else k
    return 1 - movement(rows, points, k).new / k


# --- embeddings as the projections need them ---------------------------------------------------------------------

LEAST = 4  # minimum of points; fewer cannot be arranged
STRONGEST = 50  # directions that sparse rows keep for methods that need dense rows


def checked_embeddings(embeddings: Any) -> Vectors:
    """Check embeddings (n, d): float32 stays float32, all else becomes float64, and CSR stays CSR."""
    rows = vectors("embeddings", embeddings, keep_single=True)
    if rows.shape[0] < LEAST:
        raise ValueError(f"embeddings has {rows.shape[0]} rows, expected at least {LEAST}; choose more sentences")
    return rows


def dense(rows: Vectors, seed: int) -> np.ndarray:
    """Return dense rows as they are, and sparse rows as their strongest directions, (n, at most STRONGEST)."""
    if isinstance(rows, np.ndarray):
        return rows
    from sklearn.decomposition import TruncatedSVD  # takes a second, and few rows are sparse

    rank = min(STRONGEST, min(rows.shape) - 1)
    return TruncatedSVD(rank, random_state=seed).fit_transform(rows) if rank >= 2 else rows.toarray()


# --- a file for embedding-atlas ----------------------------------------------------------------------------------


def atlas_bytes(picture: Projection, shown: Labelled, embeddings: Any, *, k: int = 15) -> bytes:
    """Return a Parquet file with the points and the k nearest rows of each in the embedding space.

        embedding-atlas picture.parquet --text text --x x --y y --neighbors neighbors

    `embeddings` are unit rows (n, d), dense or CSR; distances are 1 - cosine. Above 20,000 sentences, the neighbours
    are omitted, because they would take minutes.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines, count = list(shown.rows()), len(shown)
    columns: dict[str, Any] = {name: [line[name] for line in lines] for name in (lines[0] if lines else ())}
    columns |= dict(zip("xyz", picture.points.T, strict=False))
    if 1 < count <= MOST_ASKING:
        near = nearest_others(embeddings, min(k, count - 1))
        columns["neighbors"] = [
            {"ids": ids.tolist(), "distances": (1 - dots(embeddings[ids], embeddings[[row]]).ravel()).tolist()}
            for row, ids in enumerate(near)
        ]
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()
