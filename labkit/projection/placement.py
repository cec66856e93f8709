"""Place new sentences in a picture that is already drawn, and find the sentences near them in the space.

PCA          its own basis, exactly: y = (x - centre) directions + offset
t-SNE, UMAP  y = Σ_j w_j y_j over the k nearest embeddings. w_j = exp(-β d_j²) / Σ, with β such that about three of them
             count (`t_sne.conditional`): the conditional similarity of t-SNE with a small perplexity
LLE          y = Σ_j w_j y_j with the weights that best reconstruct x from its neighbours, Σ w = 1, as in LLE itself

A sentence whose embedding is in the picture lands on its point. All of this also holds if the picture was rotated and
scaled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.arrays import vectors
from labkit.projection.picture import Projection, checked_embeddings
from labkit.projection.t_sne import conditional

if TYPE_CHECKING:
    from labkit.corpora.records import Labelled
    from labkit.method import Method

NEIGHBOURS = 10
COUNTING = 3.0  # perplexity of the weights; more would pull every sentence to the middle of its cluster
COPY = 1e-6  # rows closer than this share of the largest embedding's length are copies


@dataclass(frozen=True, eq=False)
class Placement:
    """New points float32 (m, p), `how` they were found, and the rows and weights of their means (m, k), if any."""

    points: np.ndarray
    how: str
    neighbours: np.ndarray | None = None
    weights: np.ndarray | None = None


def place(projection: Projection, embeddings: Any, new: Any) -> Placement:
    """Place new embeddings in a picture made from `embeddings`, whose order is that of the picture's points.

    >>> from labkit.projection import tsne
    >>> rows = np.random.default_rng(0).normal(size=(30, 5))
    >>> place(tsne(rows), rows, rows[:2]).points.shape
    (2, 2)
    """
    rows = checked_embeddings(embeddings)
    if rows.shape[0] != len(projection.points):
        raise ValueError(
            f"embeddings has {rows.shape[0]} rows, expected {len(projection.points)} as in the picture; "
            "use the vectors that it was made from"
        )
    fresh = vectors("new", new, like=rows, keep_single=True)
    if projection.basis is not None:
        return Placement(projection.basis(fresh), "computed exactly, with PCA's own basis")
    wanted = projection.settings["neighbours"] if projection.method == "lle" else NEIGHBOURS
    from labkit.sbert_lp.graph import mixed, mixtures  # this imports scikit-learn, which takes a second

    k = min(int(wanted), rows.shape[0])
    copy_within = COPY * np.sqrt(abs(rows).max() ** 2 * rows.shape[1])
    if projection.method == "lle":
        how, weigh = f"the mixture of its {k} nearest embeddings that reconstructs it best", None
    else:
        how = f"the mean of its {k} nearest embeddings' points, of which about {COUNTING:g} have a large weight"
        weigh = partial(conditional, perplexity=min(COUNTING, (k + 1) / 2))
    near, weights = mixtures(fresh, rows, k, copy_within=copy_within, weigh=weigh)
    return Placement(mixed(projection.points, near, weights).astype(np.float32), how, near, weights)


@dataclass(frozen=True)
class SimilarSentence:
    """A sentence near the query: its row among the sentences shown, and its similarity to the query."""

    row: int
    similarity: float
    label: str
    text: str


def neighbours(
    method: Method, asked: Any, embeddings: Any, shown: Labelled, *, k: int = 8, without: int | None = None
) -> tuple[SimilarSentence, ...]:
    """Return the k nearest of the sentences shown, ties by row; `without` is the row of the query itself."""
    similarity = np.asarray(method.similarity(asked, embeddings))[0]
    if len(similarity) != len(shown):
        raise ValueError(f"embeddings has {len(similarity)} rows, expected {len(shown)}, one for each sentence shown")
    order = [row for row in np.argsort(-similarity, kind="stable")[: k + 1].tolist() if row != without][:k]
    return tuple(SimilarSentence(row, float(similarity[row]), shown.labels[row], shown.texts[row]) for row in order)


def matching(texts: Sequence[str], query: str, *, most: int = 500) -> list[int]:
    """Return the rows of at most `most` texts that contain every word of the query, ignoring case.

    >>> matching(["Red cars", "a red bike", "blue"], "RED a")
    [0, 1]
    """
    wanted = query.casefold().split()
    found = (row for row, text in enumerate(texts) if all(word in text.casefold() for word in wanted))
    return list(islice(found, most))


def unknown_words(method: Method, sentence: str) -> tuple[tuple[str, ...], bool]:
    """Return the words of a sentence that a method has never seen, and whether it knows at least one word.

    If it knows none, the vector is meaningless. A method without a vocabulary of its own (SBERT, a matrix of vectors)
    reads all words.
    """
    from labkit.text import words

    distinct = list(dict.fromkeys(words(sentence)))
    knows = _knows(method)
    unknown = tuple(word for word in distinct if not knows(word))
    return unknown, len(unknown) < len(distinct) or not distinct


def _knows(method: Any) -> Callable[[str], bool]:
    """Return a function that says whether a word contributes to the vectors of the method or of its base."""
    while hasattr(method, "base"):
        method = method.base
    if hasattr(method, "vectorizer"):
        terms, columns = method.vectorizer.build_analyzer(), method.vectorizer.vocabulary_
        return lambda word: not terms(word) or any(term in columns for term in terms(word))
    if hasattr(method, "vectors"):
        numbers, known = method.vectors.vocabulary.numbers, method.vectors.known
        return lambda word: bool(known[numbers.get(word, 1)])
    reader = getattr(method, "reader", None)
    if reader is not None:
        knows: Callable[[str], bool] = reader.knows
        return knows
    vocabulary = getattr(method, "vocabulary", None)
    return lambda word: vocabulary is None or word in vocabulary.numbers
