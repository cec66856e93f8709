"""How hard is a corpus? The scores of three that have learned nothing from its labels.

    chance         a random vector for each sentence
    tf-idf         scikit-learn's TfidfVectorizer as it is, fitted on the training sentences
    mean vectors   the mean of word vectors made from the training sentences (PPMI + SVD, `labkit.vectors`)

In: any corpus. Out: a `Difficulty`, the test split's score of each by the measure that fits the corpus' shape. A corpus
that one of the last two solves, or where neither moves off chance, teaches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labkit.corpora.records import Article, Articles, Corpus, Groups, Labelled, Pairs, Triplets
from labkit.evaluation import correlation, hit_at, knn_accuracy, pair_classification, triplet_accuracy
from labkit.text import sentences, words
from labkit.vectors import ppmi_vectors

Encode = Callable[[Sequence[str]], np.ndarray]  # sentences -> (n, d), rows of unit length (or zero)
OPENING = range(5, 51)  # tokens of a paragraph's first sentence that says something: as in the thematic triplets


@dataclass(frozen=True)
class Difficulty:
    """Scores on the test split, by `measure`, of which 1 is the best possible."""

    measure: str
    chance: float
    tfidf: float
    mean_vectors: float

    def __str__(self) -> str:
        scores = f"chance {self.chance:.3f}, TF-IDF {self.tfidf:.3f}, mean word vectors {self.mean_vectors:.3f}"
        return f"{self.measure}: {scores}"


def difficulty(corpus: Corpus, *, seed: int = 0) -> Difficulty:
    """The three scores of a corpus that has a training and a test split (and dev, where a threshold is needed)."""
    train = train_sentences(corpus)
    scores = [_score(corpus, make(train, seed)) for make in ENCODERS.values()]
    return Difficulty(_measure(corpus), *scores)


# --- the three -------------------------------------------------------------------------------------------------


def _random(train: Sequence[str], seed: int) -> Encode:
    generator = np.random.default_rng(seed)
    drawn: dict[str, np.ndarray] = {}

    def encode(texts: Sequence[str]) -> np.ndarray:
        for text in texts:
            drawn.setdefault(text, generator.standard_normal(32))
        return _unit(np.array([drawn[text] for text in texts]))

    return encode


def _tfidf(train: Sequence[str], seed: int) -> Encode:
    vectorizer = TfidfVectorizer(dtype=np.float32).fit(train)
    return lambda texts: vectorizer.transform(texts).toarray()


def _mean_vectors(train: Sequence[str], seed: int) -> Encode:
    vectors = ppmi_vectors([words(text) for text in train], dimension=100, seed=seed)
    return lambda texts: _unit(vectors.mean(texts))


ENCODERS: dict[str, Callable[[Sequence[str], int], Encode]] = {
    "chance": _random,
    "TF-IDF": _tfidf,
    "mean word vectors": _mean_vectors,
}


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def train_sentences(corpus: Corpus) -> list[str]:
    """What an encoder without labels is fitted on."""
    texts = corpus.part("train").sentences()
    if isinstance(corpus, Articles):
        return [sentence for paragraph in texts for sentence in sentences(paragraph)]
    return texts


# --- the measures ----------------------------------------------------------------------------------------------


def _measure(corpus: Corpus) -> str:
    if isinstance(corpus, Pairs):
        return "Spearman correlation with the score" if corpus.graded else "accuracy, threshold from dev"
    if isinstance(corpus, Labelled):
        return "kNN accuracy, k = 3" if _classes_recur(corpus) else "Hit@1 within test"
    return "Hit@1 within test" if isinstance(corpus, Groups) else "triplet accuracy"


def _classes_recur(corpus: Labelled) -> bool:
    """Whether test asks for classes seen in training (topics) or for new ones (places)."""
    return set(corpus.part("test").labels) <= set(corpus.part("train").labels)


def _score(corpus: Corpus, encode: Encode) -> float:
    test = corpus.part("test")
    if isinstance(test, Pairs):
        return _pairs(corpus, test, encode)
    if isinstance(test, Labelled):
        if not _classes_recur(corpus):  # type: ignore[arg-type]
            return hit_at(encode(test.texts), test.labels, ks=(1,))[1]
        train: Labelled = corpus.part("train")  # type: ignore[assignment]
        return knn_accuracy(encode(train.texts), train.labels, encode(test.texts), test.labels, k=3)
    if isinstance(test, Groups):
        return hit_at(encode(test.texts), test.groups, ks=(1,))[1]
    if isinstance(test, Articles):
        triplets = [triplet for article in test.articles for triplet in opening_triplets(article)]
        columns = [list(column) for column in zip(*triplets, strict=True)]
    else:
        assert isinstance(test, Triplets)
        columns = [list(test.anchors), list(test.positives), list(test.negatives)]
    anchor, positive, negative = map(encode, columns)
    return triplet_accuracy((anchor * positive).sum(axis=1), (anchor * negative).sum(axis=1))


def _pairs(corpus: Corpus, test: Pairs, encode: Encode) -> float:
    def cosine(pairs: Pairs) -> np.ndarray:
        return (encode(pairs.text_a) * encode(pairs.text_b)).sum(axis=1)

    if test.graded:
        return correlation(cosine(test), test.scores).spearman
    dev: Pairs = corpus.part("dev")  # type: ignore[assignment]
    return pair_classification(cosine(dev), dev.labels, cosine(test), test.labels).accuracy


def opening_triplets(article: Article) -> list[tuple[str, str, str]]:
    """(a paragraph's opening, the next paragraph's, an opening of the section before and of the one after).

    Enough to tell how hard articles are; the triplets one trains on have rules of their own.
    """
    openings = [
        [first for paragraph in section.paragraphs if len(words(first := sentences(paragraph)[0])) in OPENING]
        for section in article.sections
        if section.title
    ]
    openings = [found for found in openings if found]
    return [
        (anchor, positive, near[i % len(near)])
        for before, here, after in zip([[], *openings], openings, [*openings[1:], []], strict=False)
        for i, (anchor, positive) in enumerate(pairwise(here))
        for near in (before, after)
        if near
    ]
