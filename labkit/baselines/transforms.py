"""Affine maps of a base's vectors: y = (x - μ) A. Each method computes its own μ and A.

A row of zeros stays a row of zeros: it is a sentence without known words. In: sentences. Out: float32 (n, p).

    all-but-the-top   A = I - U_c U_cᵀ           the mean and the c dominant directions are removed
    pca               A = U_p                    the p directions of the largest variances are kept
    whitening         A = U diag(λ)^(-1/2)       all directions have equal variance: mean 0, covariance I

XᵀX/n = U diag(λ) Uᵀ, X the centred training rows. Unlike `sif` and `lsa` these subtract the mean. Whitening (Su et al.
2021) also amplifies noise; fewer directions avoid that.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.baselines.base import BasedSettings, base_of, base_rows, packed, require_shapes, unpacked
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.explanation import Parts
from labkit.method import History, Keeper, Method, setting
from labkit.progress import Progress

# --- affine ------------------------------------------------------------------------------------------------------

_ROUNDING = 1e-6  # a direction with a smaller share of the largest variance is float32 rounding
_BATCH = 32


@dataclass(frozen=True)
class Affine:
    """centre μ (d,), matrix A (d, p), both float32."""

    centre: np.ndarray
    matrix: np.ndarray

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """y = (x - μ) A, but 0 for x = 0."""
        moved = (rows - self.centre) @ self.matrix
        moved[~rows.any(axis=1)] = 0
        return moved


def principal_axes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The principal axes of rows (n, d), largest variance first: XᵀX/n = U diag(λ) Uᵀ, X = rows - μ.

    Returns the mean μ (d,), the variance along each axis, λ (r,), and the axes as columns, U (d, r).
    """
    double = np.asarray(rows, dtype=np.float64)
    centre = double.mean(axis=0)
    moved = double - centre
    variances, directions = np.linalg.eigh(moved.T @ moved / len(moved))
    variances, directions = variances[::-1], directions[:, ::-1]
    spread = np.abs(moved).max(initial=0) > _ROUNDING * np.abs(double).max(initial=0)
    rank = int((variances > _ROUNDING * variances[0]).sum()) if spread else 0
    if not rank:
        raise ValueError(
            f"the base gives all {len(rows)} sentences the same vector; give more sentences, or use another base"
        )
    return centre, variances[:rank], directions[:, :rank]


class AffineMethod(Method):
    """A base and an affine map of its vectors, learned without labels."""

    Settings = BasedSettings

    base: Method
    map: Affine

    @abstractmethod
    def _learned(self, rows: np.ndarray) -> Affine:
        """Compute the map from these rows (n, d)."""

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        self.base = base_of(self.settings.base, corpus, seed=seed, progress=progress)
        rows = base_rows(self.base, train_sentences(corpus), _BATCH, progress)
        progress(0, None, "principal axes")
        self.map = self._learned(rows)
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return self.map(base_rows(self.base, sentences, batch_size, progress))

    @property
    def ways(self) -> tuple[str, ...]:
        return self.base.ways if self.fitted else super().ways

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        parts = self.base._parts(sentence, way, steps)
        if not parts.vector.any():  # centred, it would look like a sentence with known words
            return parts.through(lambda rows: np.zeros((rows.shape[0], self.map.matrix.shape[1])))
        return parts.through(lambda rows: rows @ self.map.matrix, -self.map.centre @ self.map.matrix)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = packed(self.base)
        return {**arrays, "centre": self.map.centre, "matrix": self.map.matrix}, words

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.base = unpacked(arrays, words)
        require_shapes(arrays, matrix=(arrays["centre"].size, None), centre=arrays["matrix"].shape[:1])
        self.map = Affine(arrays["centre"], arrays["matrix"])


def single(centre: np.ndarray, matrix: np.ndarray) -> Affine:
    """The map in single precision, as it is stored."""
    return Affine(centre.astype(np.float32), np.ascontiguousarray(matrix, dtype=np.float32))


# --- all but the top ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AllButTheTopSettings(BasedSettings):
    """Settings of all-but-the-top: a base, and the number of directions to remove."""

    components: int = setting(
        0, "number of directions to remove; 0: one per hundred columns", minimum=0, maximum=10_000, tune=(1, 10)
    )


def all_but_the_top(rows: np.ndarray, components: int = 0) -> Affine:
    """The map that removes the mean and the `components` largest principal axes of rows (n, d); 0: d/100, or 1."""
    centre, variances, directions = principal_axes(rows)
    width = rows.shape[1]
    count = components or max(1, round(width / 100))
    if count >= len(variances):
        raise ValueError(
            f"components is {count}, expected less than {len(variances)}, the number of directions in which the "
            "rows vary; otherwise nothing remains. Lower it or add sentences"
        )
    top = directions[:, :count]
    return single(centre, np.eye(width) - top @ top.T)


class AllButTheTop(AffineMethod):
    """Vectors without their common directions (Mu and Viswanath 2018).

    >>> from labkit import AllButTheTop, load
    >>> method = AllButTheTop(base="lsa", components=2).fit(load("questions").take(range(100)))
    >>> method.encode(["How do I keep a cat?"]).shape
    (1, 76)
    """

    name = "all-but-the-top"
    Settings = AllButTheTopSettings

    def _learned(self, rows: np.ndarray) -> Affine:
        return all_but_the_top(rows, self.settings.components)


# --- pca ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PcaSettings(BasedSettings):
    """Settings of principal components: a base, and the number of directions to keep."""

    dimension: int = setting(100, "number of directions to keep", minimum=1, maximum=10_000, tune=(20, 100))


def pca(rows: np.ndarray, dimension: int) -> Affine:
    """The map onto the `dimension` largest principal axes of rows (n, d), or onto all if there are fewer."""
    centre, _, directions = principal_axes(rows)
    return single(centre, directions[:, :dimension])


class Pca(AffineMethod):
    """Vectors in their directions of largest variance.

    >>> from labkit import Pca, load
    >>> method = Pca(base="lsa", dimension=10).fit(load("questions").take(range(100)))
    >>> method.encode(["How do I keep a cat?"]).shape
    (1, 10)
    """

    name = "pca"
    Settings = PcaSettings

    def _learned(self, rows: np.ndarray) -> Affine:
        return pca(rows, self.settings.dimension)


# --- whitening ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WhiteningSettings(BasedSettings):
    """Settings of whitening: a base, and the number of directions to keep."""

    dimension: int = setting(0, "number of directions to keep; 0: all", minimum=0, maximum=10_000, tune=(20, 100))


def whitening(rows: np.ndarray, dimension: int = 0) -> Affine:
    """The map that gives rows (n, d) mean 0 and covariance I in their `dimension` largest directions; 0: in all."""
    centre, variances, directions = principal_axes(rows)
    kept = dimension or len(variances)
    return single(centre, directions[:, :kept] / np.sqrt(variances[:kept]))


class Whitening(AffineMethod):
    """Vectors with equal variance in every direction.

    >>> from labkit import Whitening, load
    >>> method = Whitening(base="lsa", dimension=10).fit(load("questions").take(range(100)))
    >>> method.encode(["How do I keep a cat?"]).shape
    (1, 10)
    """

    name = "whitening"
    Settings = WhiteningSettings

    def _learned(self, rows: np.ndarray) -> Affine:
        return whitening(rows, self.settings.dimension)
