"""The mean of a sentence's word vectors: order is forgotten, and a frequent word counts as much as a telling one.

    v = 1/|s| Σ_w v_w over the words of s that have a vector

The vectors are made from the training sentences (PPMI + SVD, `labkit.vectors`) or read from a file. In: sentences.
Out: float32 (n, d), not of length 1; a sentence without a known word is a row of zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus
from labkit.corpora.sentences import train_sentences
from labkit.methods.contract import History, Keeper, Method, Settings, setting
from labkit.methods.parts import by_parts
from labkit.progress import Progress
from labkit.text import PAD, UNKNOWN, Vocabulary, tokenised, words
from labkit.vectors import WordVectors, load_vectors, ppmi_vectors


@dataclass(frozen=True, kw_only=True)
class MeanVectorsSettings(Settings):
    """Where the word vectors come from."""

    vectors: str = setting("ppmi", "word vectors: ppmi makes them here; else a file (GloVe, word2vec, .npz)")
    dimension: int = setting(100, "ppmi: length of a word vector", least=1, most=10_000, only="vectors=ppmi")
    window: int = setting(
        10, "ppmi: words to either side that count as neighbours", least=1, most=1_000, only="vectors=ppmi"
    )


class MeanVectors(Method):
    """Averages."""

    name = "mean-vectors"
    Settings = MeanVectorsSettings

    vectors: WordVectors

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        progress(0, None, "word vectors")
        self.vectors = vectors_of(corpus, self.settings, seed)
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return np.concatenate(by_parts(self.vectors.mean, sentences, progress))

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return vectors_state(self.vectors)

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.vectors = restored_vectors(words["words"], arrays["vectors"])


def vectors_of(corpus: Corpus, settings: MeanVectorsSettings, seed: int) -> WordVectors:
    """Vectors made from the training sentences; or those that a file has for the words of the corpus, in any split."""
    if settings.vectors == "ppmi":
        cut = tokenised(train_sentences(corpus))
        found = ppmi_vectors(cut, dimension=settings.dimension, window=settings.window, seed=seed)
    else:
        seen = Vocabulary.of(words(text) for text in corpus.sentences())
        found = load_vectors(settings.vectors, seen, seed=seed)
    known = np.flatnonzero(found.known)
    return restored_vectors([found.vocabulary.words[row] for row in known], found.matrix[known])


def vectors_state(vectors: WordVectors) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The words that have a vector, and the vectors."""
    return {"vectors": vectors.matrix[2:]}, {"words": list(vectors.vocabulary.words[2:])}


def restored_vectors(known: list[str], matrix: np.ndarray) -> WordVectors:
    """And back; padding and the unknown word get zeros and do not count."""
    if matrix.ndim != 2 or len(matrix) != len(known):
        raise ValueError(
            f"model.safetensors has word vectors of shape {matrix.shape}, expected a row for each of {len(known)} "
            "words of vocabulary.json"
        )
    nothing = np.zeros((2, matrix.shape[1]), dtype=np.float32)
    vocabulary = Vocabulary((PAD, UNKNOWN, *known))
    return WordVectors(vocabulary, np.concatenate([nothing, matrix]), np.arange(len(vocabulary)) > 1)
