"""Smooth inverse frequency (Arora, Liang and Ma 2017): a mean that heeds rare words, less what all sentences share.

    v_s = 1/|s| Σ_w a / (a + p(w)) v_w          p(w): share of w among all words of the training sentences
    v_s - Uᵀ U v_s                              U: the first principal directions of the training sentences

The directions are those of the vectors as they stand, not moved to their mean (algorithm 1): what is taken away is for
the most part that mean. Otherwise this is `mean_vectors`. In: sentences. Out: float32 (n, d), a row of zeros without a
known word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus
from labkit.corpora.sentences import train_sentences
from labkit.methods.contract import History, Keeper, Method, setting
from labkit.methods.mean_vectors import MeanVectorsSettings, restored_vectors, vectors_of, vectors_state
from labkit.methods.parts import by_parts
from labkit.progress import Progress
from labkit.text import words
from labkit.vectors import WordVectors


@dataclass(frozen=True, kw_only=True)
class SifSettings(MeanVectorsSettings):
    """The weights, and what is taken away."""

    a: float = setting(0.001, "words more frequent than this share count little", above=0)
    components: int = setting(1, "principal directions taken away; 0: none", least=0, most=10_000)


class Sif(Method):
    """Weighted averages without their common direction."""

    name = "sif"
    Settings = SifSettings

    vectors: WordVectors  # weighted
    directions: np.ndarray  # U: float32 (components, d), orthonormal rows

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        settings: SifSettings = self.settings
        progress(0, None, "word vectors")
        vectors = vectors_of(corpus, settings, seed)
        if settings.components >= vectors.dimension:
            raise ValueError(
                f"setting components is {settings.components}, expected less than {vectors.dimension}, the length of a "
                "word vector, or nothing would be left; lower it"
            )
        texts = train_sentences(corpus)
        weights = settings.a / (settings.a + shares(vectors, texts))
        matrix = vectors.matrix * weights[:, None].astype(np.float32)
        self.vectors = WordVectors(vectors.vocabulary, matrix, vectors.known)
        self.directions = principal(np.concatenate(by_parts(self.vectors.mean, texts, progress)), settings.components)
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        rows = np.concatenate(by_parts(self.vectors.mean, sentences, progress))
        return rows - (rows @ self.directions.T) @ self.directions

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, known = vectors_state(self.vectors)
        return arrays | {"directions": self.directions}, known

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.vectors = restored_vectors(words["words"], arrays["vectors"])
        self.directions = arrays["directions"]
        if self.directions.shape != (expected := (self.settings.components, self.vectors.dimension)):
            raise ValueError(
                f"model.safetensors has directions of shape {self.directions.shape}, expected {expected}, the "
                "components of its settings and the length of its word vectors"
            )


def shares(vectors: WordVectors, texts: Iterable[str]) -> np.ndarray:
    """p(w): how often each word of the vocabulary occurs, over the number of all words, known or not; (words,)."""
    numbers = [number for text in texts for number in vectors.vocabulary.encode(words(text))]
    return np.bincount(numbers, minlength=len(vectors.vocabulary)) / max(len(numbers), 1)


def principal(rows: np.ndarray, count: int) -> np.ndarray:
    """The `count` right singular vectors of rows (n, d) with the largest singular values: float32 (count, d)."""
    double = rows.astype(np.float64)
    ascending = np.linalg.eigh(double.T @ double).eigenvectors  # in columns
    return np.ascontiguousarray(ascending[:, ::-1][:, :count].T, dtype=np.float32)
