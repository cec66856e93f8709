"""The mean of a sentence's word vectors, without word order; `mean-vectors` weights all words equally.

    mean-vectors   v = 1/|s| Σ_w v_w over the words of s that have a vector
    sif            v_s = 1/|s| Σ_w a / (a + p(w)) v_w, minus common directions: v_s - Uᵀ U v_s

Smooth inverse frequency (Arora, Liang and Ma 2017) favours rare words: p(w) is the share of w among all training words,
and U has the first principal directions of the sentence vectors, which are not centred (algorithm 1), so the first
direction is close to their mean. In: sentences. Out: float32 (n, d), not normalised; zeros for a sentence without known
words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.baselines.base import require_shapes
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import History, Keeper, Method, Settings, setting
from labkit.progress import Progress
from labkit.settings import Conditions
from labkit.text import PAD, UNKNOWN, Vocabulary, tokenised, words
from labkit.vectors import WordVectors, load_vectors, ppmi_vectors

PART = 5_000  # sentences


def by_parts(encode: Callable[[list[str]], Any], sentences: list[str], progress: Progress) -> list[Any]:
    """Encode many sentences in parts, so that memory stays constant and progress is visible."""
    parts = []
    for start in range(0, len(sentences), PART):
        parts.append(encode(sentences[start : start + PART]))
        progress(min(start + PART, len(sentences)), len(sentences), "encoding")
    return parts


# --- mean vectors ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MeanVectorsSettings(Settings):
    """Settings of the word vectors: their file, or how they are computed."""

    vectors: str = setting("ppmi", "word vectors: ppmi (computed here) or a file (GloVe, word2vec, .npz)")
    dimension: int = setting(100, "ppmi: length of a word vector", minimum=1, maximum=10_000, tune=(50, 300))
    window: int = setting(10, "ppmi: context window, in words on either side", minimum=1, maximum=1_000, tune=(2, 20))

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """A file determines the dimension."""
        return dict.fromkeys(("dimension", "window"), (self.vectors == "ppmi", "with vectors=ppmi"))


class MeanVectors(Method):
    """Sentences as plain means of their word vectors.

    >>> from labkit import MeanVectors, load
    >>> method = MeanVectors().fit(load("questions").take(range(100)))
    >>> method.encode(["How do I keep a cat?"]).shape
    (1, 100)
    """

    name = "mean-vectors"
    Settings = MeanVectorsSettings

    vectors: WordVectors

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        settings: MeanVectorsSettings = self.settings
        progress(0, None, "word vectors")
        if settings.vectors == "ppmi":
            cut = tokenised(train_sentences(corpus))
            vectors = ppmi_vectors(cut, dimension=settings.dimension, window=settings.window, seed=seed)
        else:  # read the vectors of all words of the corpus, in any split
            seen = Vocabulary.of(words(text) for text in corpus.sentences())
            vectors = load_vectors(settings.vectors, seen, seed=seed)
        known = np.flatnonzero(vectors.known)
        self.vectors = known_vectors([vectors.vocabulary.words[row] for row in known], vectors.matrix[known])
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return np.concatenate(by_parts(self.vectors.mean, sentences, progress))

    @property
    def ways(self) -> tuple[str, ...]:
        return ("exact", LEFT_OUT)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        met, numbers = words(sentence), self.vectors.vocabulary.encode(words(sentence))
        known = [(word, number) for word, number in zip(met, numbers, strict=True) if self.vectors.known[number]]
        rows = self.vectors.matrix[[number for _, number in known]] / max(len(known), 1)
        unknown = [word for word, number in zip(met, numbers, strict=True) if not self.vectors.known[number]]
        return Parts.of_sum([word for word, _ in known], rows, unknown=tuple(dict.fromkeys(unknown)))

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"vectors": self.vectors.matrix[2:]}, {"words": list(self.vectors.vocabulary.words[2:])}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        require_shapes(arrays, vectors=(len(words["words"]), None))
        self.vectors = known_vectors(words["words"], arrays["vectors"])


def known_vectors(known: list[str], matrix: np.ndarray) -> WordVectors:
    """Build word vectors from words and rows; padding and the unknown word get zeros."""
    nothing = np.zeros((2, matrix.shape[1]), dtype=np.float32)
    vocabulary = Vocabulary((PAD, UNKNOWN, *known))
    return WordVectors(vocabulary, np.concatenate([nothing, matrix]), np.arange(len(vocabulary)) > 1)


# --- sif ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SifSettings(MeanVectorsSettings):
    """Settings of the weights and of the directions to remove."""

    a: float = setting(0.001, "frequency above which words are down-weighted", above=0, tune=(0.00001, 0.1))
    components: int = setting(1, "number of principal directions to remove", minimum=0, maximum=10_000, tune=(0, 3))


class Sif(MeanVectors):
    """Weighted averages without their common directions; the method stores weighted word vectors.

    >>> from labkit import Sif, load
    >>> method = Sif(components=1).fit(load("questions").take(range(100)))
    >>> method.directions.shape
    (1, 100)
    """

    name = "sif"
    Settings = SifSettings

    directions: np.ndarray  # U: float32 (components, d), orthonormal rows

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        settings: SifSettings = self.settings
        super()._fit(corpus, seed, progress, keeper)
        vectors = self.vectors
        if settings.components >= vectors.dimension:
            raise ValueError(
                f"setting components is {settings.components}, expected less than {vectors.dimension}, the length of "
                "a word vector; otherwise nothing remains. Lower it"
            )
        texts = train_sentences(corpus)
        weights = settings.a / (settings.a + shares(vectors, texts))
        matrix = vectors.matrix * weights[:, None].astype(np.float32)
        self.vectors = WordVectors(vectors.vocabulary, matrix, vectors.known)
        self.directions = principal_directions(super()._encode(texts, PART, progress), settings.components)
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return self._without_directions(super()._encode(sentences, batch_size, progress))

    def _without_directions(self, rows: np.ndarray) -> np.ndarray:
        return rows - (rows @ self.directions.T) @ self.directions

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        return super()._parts(sentence, way, steps).through(self._without_directions)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = super()._state()
        return arrays | {"directions": self.directions}, words

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        super()._restore(arrays, words)
        require_shapes(arrays, directions=(self.settings.components, self.vectors.dimension))
        self.directions = arrays["directions"]


def shares(vectors: WordVectors, texts: Iterable[str]) -> np.ndarray:
    """p(w): the count of each vocabulary word divided by the total number of words, known or not; (words,)."""
    numbers = [number for text in texts for number in vectors.vocabulary.encode(words(text))]
    return np.bincount(numbers, minlength=len(vectors.vocabulary)) / max(len(numbers), 1)


def principal_directions(rows: np.ndarray, count: int) -> np.ndarray:
    """The `count` right singular vectors of rows (n, d) with the largest singular values: float32 (count, d)."""
    double = rows.astype(np.float64)
    ascending = np.linalg.eigh(double.T @ double).eigenvectors  # as columns
    return np.ascontiguousarray(ascending[:, ::-1][:, :count].T, dtype=np.float32)
