"""A corpus of any shape as FILM's input: sparse rows of TF-IDF, and triplets (i, j, k), "i is closer to j than to k".

    x_w = (1 + log count) · idf_w / length        idf_w = log((1 + n) / (1 + df_w)) + 1

scikit-learn counts the words of `labkit.text`, split at hyphens and apostrophes: writers use these differently without
a change of meaning ("what's", "what 's"), and FILM would learn to recognise the writer.

The paper does not specify its "clustering triplet generating method". Here j is in i's cluster; k is first a sentence
labelled as different from that cluster, then a near sentence of another cluster, then any other. In: the training
split. Out: distinct texts, and int64 (t, 3) of their numbers, by anchor.

    Pairs            clusters: the components of the pairs labelled 1; pairs labelled 0 are different
    graded Pairs     as Pairs: 1 from four fifths of the top grade up, 0 up to two fifths, others unused
    Labelled, Groups clusters: the classes, the groups
    Triplets         the triplets as they are
    Articles         triplets of paragraph openings: same section, section before or after
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labkit import text
from labkit.corpora.records import Articles, Corpus, Pairs, Sentences, Triplets, grade_ends
from labkit.corpora.relations import opened
from labkit.corpora.splits import connected

# --- clusters to triplets ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each sentence (n,), and the pairs labelled different between two clusters (p, 2)."""

    of: np.ndarray
    apart: np.ndarray

    @classmethod
    def from_pairs(cls, pairs: np.ndarray, same: np.ndarray, count: int) -> Clusters:
        """Components of the graph of the `same` (p,) pairs among the pairs (p, 2), over `count` sentences."""
        of, far = connected(count, *pairs[same].T), pairs[~same]
        return cls(of, far[of[far[:, 0]] != of[far[:, 1]]])

    @classmethod
    def from_classes(cls, classes: np.ndarray) -> Clusters:
        """One cluster for each class (n,)."""
        return cls(np.unique(classes, return_inverse=True)[1].ravel().astype(np.int64), np.zeros((0, 2), np.int64))


@dataclass(frozen=True)
class Recipe:
    """The maximum number of sentences of each kind per anchor; its triplets are all pairs (j, k) of these."""

    positives: int = 2
    apart: int = 2
    near: int = 0
    random: int = 5


def cluster_triplets(
    clusters: Clusters, recipe: Recipe, *, neighbours: np.ndarray | None = None, seed: int = 0
) -> np.ndarray:
    """Triplets (t, 3) for every sentence that is not alone in its cluster.

    `neighbours` (n, c): candidates for near negatives, nearest first; used only with `recipe.near`.
    """
    of = clusters.of
    anchors = np.flatnonzero(np.bincount(of)[of] > 1)
    if not len(anchors) or of.max() == 0:
        which = "all" if len(anchors) else "no two"
        raise ValueError(
            f"{which} of the {len(of)} sentences mean the same thing by their labels, but a triplet needs two that do "
            "and one that does not; add such sentences"
        )
    random = np.random.default_rng(seed)
    positives = mates(of, anchors, recipe.positives, random)
    further = [_told_apart(clusters, anchors, recipe.apart, random)]
    if recipe.near and neighbours is not None:
        further.append(_near(of, anchors, neighbours, recipe.near))
    further.append(others(of, anchors, recipe.random, random))
    negatives = np.hstack(further)
    i, j, k = np.broadcast_arrays(anchors[:, None, None], positives[:, :, None], negatives[:, None, :])
    drawn = (j >= 0) & (k >= 0)
    if not drawn.any():
        raise ValueError("no sentence can be the negative of a triplet; set `random` to at least 1")
    return np.stack([i[drawn], j[drawn], k[drawn]], axis=1)


# each of the following functions returns row numbers (anchors, most), padded with -1


def mates(of: np.ndarray, anchors: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """Other sentences of the anchor's cluster, cyclically from a random one; no anchor is alone in its cluster."""
    order = np.argsort(of, kind="stable")  # one cluster after the other
    start = np.searchsorted(of[order], of[anchors])[:, None]
    size = np.bincount(of)[of[anchors]][:, None]
    place = np.argsort(order)[anchors][:, None] - start  # position of the anchor in its cluster
    turns = 1 + (random.integers(size - 1) + np.arange(most)) % (size - 1)
    return np.where(np.arange(most) < size - 1, order[start + (place + turns) % size], -1)


def _told_apart(clusters: Clusters, anchors: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """Sentences labelled different from any sentence of the anchor's cluster."""
    if not len(clusters.apart):
        return np.empty((len(anchors), 0), np.int64)
    both = np.concatenate([clusters.apart, clusters.apart[:, ::-1]])
    both = np.unique(np.stack([clusters.of[both[:, 0]], both[:, 1]], axis=1), axis=0)  # cluster, sentence
    start, stop = (np.searchsorted(both[:, 0], clusters.of[anchors], side=side)[:, None] for side in ("left", "right"))
    count = np.maximum(stop - start, 1)
    turns = (random.integers(count) + np.arange(most)) % count
    sentences = both[np.minimum(start + turns, len(both) - 1), 1]
    return np.where(np.arange(most) < stop - start, sentences, -1)


def _near(of: np.ndarray, anchors: np.ndarray, neighbours: np.ndarray, most: int) -> np.ndarray:
    """The nearest sentences of other clusters."""
    candidates = neighbours[anchors]
    other = of[candidates] != of[anchors][:, None]
    first = np.argsort(~other, axis=1, kind="stable")[:, :most]
    return np.where(np.take_along_axis(other, first, 1), np.take_along_axis(candidates, first, 1), -1)


def others(of: np.ndarray, anchors: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Sentences of other clusters, all equally likely."""
    drawn = random.integers(len(of), size=(len(anchors), count))
    while (wrong := of[drawn] == of[anchors][:, None]).any():
        drawn[wrong] = random.integers(len(of), size=int(wrong.sum()))
    return drawn


# --- texts to rows -----------------------------------------------------------------------------------------------

_CUT = str.maketrans("'’-", "   ")


def terms(sentence: str, *, pairs: bool = False) -> list[str]:
    """The words of a sentence; with `pairs` also every two consecutive words.

    >>> terms("What's up?", pairs=True)
    ['what', 's', 'up', 'what s', 's up']
    """
    words = " ".join(text.words(sentence)).translate(_CUT).split()
    return words + [f"{a} {b}" for a, b in pairwise(words)] if pairs else words


def fitted_vectorizer(sentences: Sequence[str], *, min_count: int = 1, pairs: bool = False) -> TfidfVectorizer:
    """A vectorizer fitted to the words that occur in at least `min_count` sentences."""
    vectorizer = new_vectorizer(pairs=pairs, min_df=min_count)
    try:
        return vectorizer.fit(sentences)
    except ValueError as error:  # scikit-learn has two messages for an empty vocabulary
        raise ValueError(
            f"no word occurs in {min_count} of the {len(sentences)} training sentences. Lower `min_count`, or check "
            "that the texts contain words"
        ) from error


def new_vectorizer(*, pairs: bool, **known: Any) -> TfidfVectorizer:
    """A vectorizer that is not fitted yet."""
    return TfidfVectorizer(analyzer=partial(terms, pairs=pairs), sublinear_tf=True, dtype=np.float64, **known)


# --- a corpus to clusters or triplets ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FilmSource:
    """Distinct texts, with their clusters or with triplets of their numbers."""

    texts: list[str]
    clusters: Clusters | None
    fixed: np.ndarray | None = None

    def triplets(self, recipe: Recipe, *, neighbours: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
        """Triplets (t, 3) of text numbers."""
        if self.clusters is None:
            assert self.fixed is not None
            return self.fixed
        return cluster_triplets(self.clusters, recipe, neighbours=neighbours, seed=seed)


def source_of(part: Corpus) -> FilmSource:
    """The texts of one split of a corpus, with their clusters or triplets."""
    if isinstance(part, Sentences):
        raise part.without_labels("FILM needs to know which sentences belong together (lsa needs only texts)")
    if isinstance(part, Articles):
        part = opened(part)
    if isinstance(part, Pairs):
        texts, columns = _numbered(part.text_a, part.text_b)
        pairs, value = np.stack(columns, axis=1), part.scores
        near, far = grade_ends(value, value.max() if part.graded else 1.0)
        clear = near | far
        return FilmSource(texts, Clusters.from_pairs(pairs[clear], near[clear], len(texts)))
    if isinstance(part, Triplets):
        texts, (i, j, k) = _numbered(part.anchors, part.positives, part.negatives)
        usable = (i != j) & (i != k) & (j != k)
        if not usable.any():
            raise ValueError(f"corpus {part.name!r} has no triplet of three different sentences; add some")
        return FilmSource(texts, None, np.stack([i, j, k], axis=1)[usable])
    texts, classes = part.classified()
    distinct, (rows,) = _numbered(texts)
    first = np.unique(rows, return_index=True)[1]  # a text in two classes stays in the first
    return FilmSource(distinct, Clusters.from_classes(np.asarray(classes)[first]))


def _numbered(*columns: Sequence[str]) -> tuple[list[str], list[np.ndarray]]:
    """Distinct texts, and for each column the numbers of its texts; texts with equal words share a number."""
    texts: list[str] = []
    known: dict[tuple[str, ...], int] = {}

    def number(sentence: str) -> int:
        found = known.setdefault(tuple(terms(sentence)) or (sentence,), len(texts))
        if found == len(texts):
            texts.append(sentence)
        return found

    numbers = [np.array([number(sentence) for sentence in column], dtype=np.int64) for column in columns]
    return texts, numbers
