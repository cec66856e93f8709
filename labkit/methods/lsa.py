"""Latent semantic analysis: TF-IDF rows X (n, words) in the few directions that keep most of them.

    X ≈ U Σ Vᵀ, the d largest singular values; a sentence x becomes x V

Words that stand in the same sentences come to share directions, and the vectors are dense. In: sentences. Out: float32
(n, d), not of length 1; a sentence without a known word is a row of zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.extmath import randomized_svd

from labkit.corpora.records import Corpus
from labkit.corpora.sentences import train_sentences
from labkit.methods.contract import History, Keeper, Method, setting
from labkit.methods.parts import by_parts
from labkit.methods.tfidf import TfidfSettings, fitted_vectorizer, restored_vectorizer, vectorizer_state
from labkit.progress import Progress


@dataclass(frozen=True, kw_only=True)
class LsaSettings(TfidfSettings):
    """What is counted, and how much of it is kept."""

    dimension: int = setting(100, "directions kept", least=1, most=10_000)


class Lsa(Method):
    """Truncated singular value decomposition of TF-IDF."""

    name = "lsa"
    Settings = LsaSettings

    vectorizer: TfidfVectorizer
    directions: np.ndarray  # V: float32 (words, d), columns of length 1

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        progress(0, None, "counting words")
        self.vectorizer = fitted_vectorizer(corpus, self.settings)
        X = self.vectorizer.transform(train_sentences(corpus))
        progress(0, None, "singular vectors")
        rank = min(self.settings.dimension, *X.shape)
        # so many turns and spare directions find a thousandth less than the exact ones, in a fraction of the time
        _, _, transposed = randomized_svd(X, rank, n_iter=10, n_oversamples=50, random_state=seed)
        self.directions = np.ascontiguousarray(transposed.T, dtype=np.float32)
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return np.concatenate(by_parts(self._rows, sentences, progress))

    def _rows(self, sentences: list[str]) -> np.ndarray:
        return self.vectorizer.transform(sentences) @ self.directions

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = vectorizer_state(self.vectorizer)
        return arrays | {"directions": self.directions}, words

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.vectorizer = restored_vectorizer(self.settings, words["words"], arrays["idf"])
        self.directions = arrays["directions"]
        if self.directions.ndim != 2 or len(self.directions) != len(words["words"]):
            raise ValueError(
                f"model.safetensors has directions of shape {self.directions.shape}, expected a row for each of "
                f"{len(words['words'])} words of vocabulary.json"
            )
