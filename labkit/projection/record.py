"""What a picture is: its points, how it was made, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NAMES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP", "lle": "LLE"}  # as a person reads them


@dataclass(frozen=True)
class Quality:
    """How much of the embedding space is left in the picture.

    trustworthiness    1: the k nearest in the picture are near in the embedding space, too
    preserved          share of the k nearest in the embedding space that are among the k nearest in the picture
    points, of         measured on so many, of so many: a sample where there are more than a few thousand
    kl                 t-SNE: KL(P||Q), what it minimises         shown    PCA: share of the variance
    """

    trustworthiness: float
    preserved: float
    k: int
    points: int
    of: int
    kl: float | None = None
    shown: float | None = None

    def __str__(self) -> str:
        told = [f"trustworthiness {self.trustworthiness:.3f}", f"{self.preserved:.0%} of the {self.k} nearest kept"]
        if self.kl is not None:
            told.append(f"KL {self.kl:.3f}")
        if self.shown is not None:
            told.append(f"{self.shown:.0%} of the variance")
        if self.points < self.of:
            told.append(f"neighbours of a sample of {self.points:,} of {self.of:,}")
        return ", ".join(told)


@dataclass(frozen=True, eq=False)
class Basis:
    """y = (x - centre) directions + offset: rows (n, d) to points (n, p). Only PCA has one."""

    centre: np.ndarray
    directions: np.ndarray
    offset: np.ndarray

    def __call__(self, rows: Any) -> np.ndarray:
        """Dense or sparse rows; sparse ones stay so."""
        points = rows @ self.directions - self.centre @ self.directions + self.offset
        return np.asarray(points, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Projection:
    """Points float32 (n, 2) or (n, 3). `name` is for the eye, `method` for `project`; `settings` are those in force.

    `shown`, `kl`: as in `Quality`; `basis`: PCA's, for new sentences.
    """

    name: str
    points: np.ndarray
    shown: float | None = None
    kl: float | None = None
    method: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    quality: Quality | None = None
    basis: Basis | None = None
