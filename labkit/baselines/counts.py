"""TF-IDF: words in fewer sentences weigh more. The vectors are sparse, with one column per word. x_w = tf(w) idf(w),
idf(w) = log((1 + n) / (1 + n_w)) + 1, and the row scaled to length 1

n training sentences, of which n_w contain w, as in scikit-learn. A sentence without a known word is a row of zeros.

`Lsa`, latent semantic analysis, keeps the leading directions of these rows X: X ≈ U Σ Vᵀ with the d largest singular
values, and a sentence x becomes x V (n, d), not normalised. Words that occur in the same sentences share directions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.extmath import randomized_svd

from labkit.baselines.averages import by_parts
from labkit.baselines.base import require_shapes
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import Embeddings, History, Keeper, Method, Settings, setting
from labkit.progress import Progress
from labkit.settings import RENAMED

# --- tfidf -------------------------------------------------------------------------------------------------------

ANALYZERS = {"words": "word", "characters": "char"}


@dataclass(frozen=True, kw_only=True)
class TfidfSettings(Settings):
    """Settings of the n-grams to count."""

    earlier_names = RENAMED | {"longest": "max_ngram"}

    unit: str = setting("words", "tokens of a sentence", choices=tuple(ANALYZERS), tune=("words", "characters"))
    min_ngram: int = setting(1, "length of the shortest n-grams", minimum=1, maximum=20)
    max_ngram: int = setting(1, "length of the longest n-grams", minimum=1, maximum=20, tune=(1, 4))
    min_count: int = setting(1, "minimum number of training sentences that contain an n-gram", minimum=1, tune=(1, 3))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_ngram < self.min_ngram:
            raise ValueError(
                f"setting max_ngram is {self.max_ngram}, but must be at least min_ngram ({self.min_ngram}); raise it"
            )


class Tfidf(Method):
    """Weighted counts of words or character n-grams.

    >>> from labkit import Tfidf, load
    >>> method = Tfidf().fit(load("questions").take(range(100)))
    >>> print(method.encode(["How do I keep a cat?"]).format)
    csr
    """

    name = "tfidf"
    Settings = TfidfSettings

    vectorizer: TfidfVectorizer

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        progress(0, None, "counting words")
        settings: TfidfSettings = self.settings
        vectorizer = _empty(settings, min_df=settings.min_count)
        sentences = train_sentences(corpus)
        try:
            vectorizer.fit(sentences)
        except ValueError as error:  # scikit-learn has three messages for an empty vocabulary
            raise ValueError(
                f"corpus {corpus.name!r} has no {settings.unit} that occur in at least {settings.min_count} training "
                "sentences (words need at least two letters). Add texts, or set unit=characters or min_count=1"
            ) from error
        self.vectorizer = restored(_empty(settings), vectorizer.get_feature_names_out(), vectorizer.idf_)
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> Embeddings:
        return sparse.csr_array(sparse.vstack(by_parts(self.vectorizer.transform, sentences, progress), "csr"))

    @property
    def ways(self) -> tuple[str, ...]:
        return ("exact", LEFT_OUT)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        return parts_of_counts(self.vectorizer, sentence)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"idf": self.vectorizer.idf_}, {"words": list(self.vectorizer.vocabulary)}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        require_shapes(arrays, idf=(len(words["words"]),))
        self.vectorizer = restored(_empty(self.settings), words["words"], arrays["idf"])


def restored(vectorizer: TfidfVectorizer, words: Sequence[str], idf: np.ndarray) -> TfidfVectorizer:
    """A new vectorizer with these words as columns, in order, and these weights."""
    vectorizer.set_params(vocabulary={str(word): column for column, word in enumerate(words)})
    vectorizer.idf_ = np.asarray(idf, dtype=vectorizer.dtype)
    return vectorizer


def _empty(settings: TfidfSettings, **known: Any) -> TfidfVectorizer:
    span = (settings.min_ngram, settings.max_ngram)
    return TfidfVectorizer(analyzer=ANALYZERS[settings.unit], ngram_range=span, dtype=np.float32, **known)


def parts_of_counts(vectorizer: TfidfVectorizer, sentence: str) -> Parts:
    """A row for each counted term, in the order of the sentence; they add up to the row of `transform`."""
    counts = Counter(_analyzer(vectorizer)(sentence))
    met = [each for each in counts if each in vectorizer.vocabulary_]
    columns = np.array([vectorizer.vocabulary_[each] for each in met], np.int64)
    times = np.array([counts[each] for each in met], np.float64)
    weights = vectorizer.idf_[columns] * (1 + np.log(times) if vectorizer.sublinear_tf else times)
    weights /= np.linalg.norm(weights) or 1.0
    rows = sparse.csr_array((weights, columns, np.arange(len(met) + 1)), (len(met), len(vectorizer.idf_)))
    return Parts.of_sum(met, rows, unknown=tuple(each for each in counts if each not in vectorizer.vocabulary_))


@lru_cache(maxsize=4)
def _analyzer(vectorizer: TfidfVectorizer) -> Any:
    """The vectorizer's analyzer, cached because building it is slower than using it."""
    return vectorizer.build_analyzer()


# --- lsa ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LsaSettings(TfidfSettings):
    """Settings of the n-grams to count and the dimensions to keep."""

    dimension: int = setting(100, "number of directions to keep", minimum=1, maximum=10_000, tune=(25, 400))


class Lsa(Tfidf):
    """Truncated singular value decomposition of TF-IDF.

    >>> from labkit import Lsa, load
    >>> method = Lsa(dimension=10).fit(load("questions").take(range(100)))
    >>> method.encode(["How do I keep a cat?"]).shape
    (1, 10)
    """

    name = "lsa"
    Settings = LsaSettings

    directions: np.ndarray  # V: float32 (words, d), columns of length 1

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        super()._fit(corpus, seed, progress, keeper)
        X = self.vectorizer.transform(train_sentences(corpus))
        progress(0, None, "singular vectors")
        rank = min(self.settings.dimension, *X.shape)
        # this many iterations and spare directions are exact to a thousandth and take a fraction of the time
        _, _, transposed = randomized_svd(X, rank, n_iter=10, n_oversamples=50, random_state=seed)
        self.directions = np.ascontiguousarray(transposed.T, dtype=np.float32)
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return np.concatenate(by_parts(self._rows, sentences, progress))

    def _rows(self, sentences: list[str]) -> np.ndarray:
        return self.vectorizer.transform(sentences) @ self.directions

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        return super()._parts(sentence, way, steps).through(lambda rows: rows @ self.directions)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = super()._state()
        return arrays | {"directions": self.directions}, words

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        super()._restore(arrays, words)
        require_shapes(arrays, directions=(len(words["words"]), None))
        self.directions = arrays["directions"]
