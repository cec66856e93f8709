"""Where a new sentence lands in a picture that is already drawn, and how that was found.

In: a projection, the embeddings (n, d) it was made of, new embeddings (m, d). Out: `Placement`, points (m, p).

PCA          its own basis, exactly: y = (x - centre) directions + offset
t-SNE, UMAP  y = Σ_j w_j y_j over the k nearest embeddings. w_j = exp(-β d_j²) / Σ, with β such that about three of them
             count (`affinities.conditional`): the conditional similarity of t-SNE, with a small perplexity
LLE          y = Σ_j w_j y_j with the weights that rebuild x from its neighbours best, Σ w = 1, as LLE places its own

A sentence whose embedding is in the picture lands where that one is. All of it holds after turning and scaling, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.evaluation.inputs import Vectors, vectors
from labkit.evaluation.neighbours import nearest_rows
from labkit.projection.picture import Projection, checked
from labkit.projection.t_sne import conditional

if TYPE_CHECKING:
    from labkit.corpora.records import Labelled
    from labkit.method import Method


# --- placement ---------------------------------------------------------------------------------------------------

NEIGHBOURS = 10
COUNTING = 3.0  # perplexity of the weights: more would draw every sentence into the middle of its cluster
COPY = 1e-6  # of the largest embedding's length: nearer is the same


@dataclass(frozen=True, eq=False)
class Placement:
    """Points float32 (m, p), `how` in words, and whose weighted mean they are: (m, k) each, None for PCA."""

    points: np.ndarray
    how: str
    neighbours: np.ndarray | None = None
    weights: np.ndarray | None = None


def place(projection: Projection, embeddings: Any, new: Any) -> Placement:
    """New embeddings in a picture. `embeddings` are those it was made of, in the order of its points."""
    rows = checked(embeddings)
    if rows.shape[0] != len(projection.points):
        raise ValueError(
            f"embeddings has {rows.shape[0]} rows, expected {len(projection.points)} like the picture; "
            "give those it was made of"
        )
    fresh = vectors("new", new, like=rows, keep_single=True)
    if projection.basis is not None:
        return Placement(projection.basis(fresh), "PCA's own basis, exactly")
    wanted = projection.settings["neighbours"] if projection.method == "lle" else NEIGHBOURS
    k = min(int(wanted), rows.shape[0])
    found, distances = nearest_rows(fresh, rows, k)
    if projection.method == "lle":
        weights = _rebuilding(fresh, rows, found)
        how = f"the mixture of its {k} nearest embeddings that rebuilds it best"
    else:
        weights = conditional(distances**2, min(COUNTING, (k + 1) / 2))
        how = f"the mean of its {k} nearest embeddings' points, the nearer the more (about {COUNTING:g} count)"
    copied = distances[:, 0] <= COPY * np.sqrt(abs(rows).max() ** 2 * rows.shape[1])
    weights[copied] = np.eye(k)[0]
    points = np.einsum("mk,mkp->mp", weights, projection.points[found])
    return Placement(points.astype(np.float32), how, found, weights)


def _rebuilding(fresh: Vectors, rows: Vectors, found: np.ndarray) -> np.ndarray:
    from labkit.sbert_lp.weights import reconstruction_weights

    return reconstruction_weights(fresh, rows, found).values


# --- neighbourhood -----------------------------------------------------------------------------------------------
#
# The sentences nearest to one, by a method's own similarity of embeddings; sentences by the words in them; and the
# words of a sentence that a method has never met.
#
# In: a method, the embeddings (n, d) of n sentences, and one more embedding (1, d). Out: `Neighbour`s, the nearest
# first.


@dataclass(frozen=True)
class Neighbour:
    """A sentence, its row among those shown, and its similarity with the one asked about."""

    row: int
    similarity: float
    label: str
    text: str


def neighbours(
    method: Method, asked: Any, embeddings: Any, shown: Labelled, *, k: int = 8, without: int | None = None
) -> tuple[Neighbour, ...]:
    """The k nearest of the sentences shown; `without` is the row of the asked one itself. Equals by row."""
    similarity = np.asarray(method.similarity(asked, embeddings))[0]
    if len(similarity) != len(shown):
        raise ValueError(f"embeddings has {len(similarity)} rows, expected {len(shown)}, one for each sentence shown")
    order = [row for row in np.argsort(-similarity, kind="stable")[: k + 1].tolist() if row != without][:k]
    return tuple(Neighbour(row, float(similarity[row]), shown.labels[row], shown.texts[row]) for row in order)


def matching(texts: Sequence[str], query: str, among: Iterable[int] | None = None, *, most: int = 500) -> list[int]:
    """Rows of at most `most` texts that have every word of the query somewhere, large letters or small.

    >>> matching(["Red cars", "a red bike", "blue"], "RED a")
    [0, 1]
    """
    wanted = query.casefold().split()
    found: list[int] = []
    for row in range(len(texts)) if among is None else among:
        if len(found) == most:
            break
        text = texts[row].casefold()
        if all(word in text for word in wanted):
            found.append(row)
    return found


def unknown_words(method: Method, sentence: str) -> tuple[tuple[str, ...], bool]:
    """The words of a sentence that a method has never met, and whether it knows any: of none, its vector says nothing.

    A method without a vocabulary of its own (SBERT, a matrix of vectors) reads all of them.
    """
    from labkit.text import words

    said = list(dict.fromkeys(words(sentence)))
    knows = _knows(method)
    unknown = tuple(word for word in said if not knows(word))
    return unknown, len(unknown) < len(said) or not said


def _knows(method: Any) -> Callable[[str], bool]:
    """Whether a word has a part in the vectors of the method, or of the one that it stands on."""
    from labkit.training.reader import UNITS

    while hasattr(method, "base"):
        method = method.base
    if hasattr(method, "vectorizer"):
        terms, columns = method.vectorizer.build_analyzer(), method.vectorizer.vocabulary_
        return lambda word: not (found := terms(word)) or any(term in columns for term in found)
    if hasattr(method, "vectors"):
        numbers, known = method.vectors.vocabulary.numbers, method.vectors.known
        return lambda word: bool(known[numbers.get(word, 1)])
    reader = method.reading.reader if hasattr(method, "reading") else getattr(method, "reader", None)
    if reader is not None:
        return lambda word: any(unit in reader.vocabulary.numbers for unit in UNITS[reader.unit](word))
    vocabulary = getattr(method, "vocabulary", None)
    return lambda word: vocabulary is None or word in vocabulary.numbers
