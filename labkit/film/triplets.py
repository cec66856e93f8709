"""A corpus of any shape as FILM sees it: sparse rows of TF-IDF, and triplets (i, j, k), "i is closer to j than to k".

Rows. In: texts. Out: CSR (n, D), unit rows.

    x_w = (1 + log count) · idf_w / length        idf_w = log((1 + n) / (1 + df_w)) + 1

scikit-learn counts; a word is what `labkit.text` calls one, cut at hyphens and apostrophes. Texts from different hands
differ there ("what's", "what 's") in nothing that matters, and FILM would learn the hand.

Triplets. The paper leaves open how it makes them ("clustering triplet generating method"). Here j is of i's cluster; k
is what a person told apart from a sentence of that cluster, then near sentences of other clusters, then any other ones.
In: the training part of a corpus. Out: distinct texts, and int64 (t, 3) of their numbers, in the order of the anchors.

    Pairs            clusters: the components of the pairs labelled 1; those labelled 0 are told apart
    graded Pairs     the same: 1 from four fifths of the highest grade on, 0 up to two fifths, nothing in between
    Labelled, Groups clusters: the classes, the groups
    Triplets         the triplets as they are
    Articles         triplets of paragraph openings: same section, section before or after

Two texts of the same words in the same order are one: case and punctuation tell the source of a text, not its meaning.
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
from labkit.arrays import whole
from labkit.corpora.records import Articles, Corpus, Pairs, Sentences, Triplets, grade_ends
from labkit.corpora.relations import opened
from labkit.corpora.splits import connected

# --- clusters to triplets ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each sentence (n,), the pairs told apart (p, 2), and those told apart within one cluster (q, 2).

    The last contradict the pairs that tie the cluster; they are not among the first.
    """

    of: np.ndarray
    apart: np.ndarray
    contradictions: np.ndarray

    @classmethod
    def from_pairs(cls, pairs: np.ndarray, same: np.ndarray, count: int) -> Clusters:
        """Components of the graph of the pairs (p, 2) that are the `same` (p,), over `count` sentences."""
        near, far = pairs[same], pairs[~same]
        of = connected(count, *near.T)
        inside = of[far[:, 0]] == of[far[:, 1]]
        return cls(of, far[~inside], far[inside])

    @classmethod
    def from_classes(cls, classes: np.ndarray) -> Clusters:
        """The clusters that are the classes (n,)."""
        none = np.zeros((0, 2), np.int64)
        return cls(np.unique(classes, return_inverse=True)[1].ravel().astype(np.int64), none, none)


@dataclass(frozen=True)
class Recipe:
    """The numbers of each kind that an anchor gets, where there are so many; its triplets are all (j, k) of them."""

    positives: int = 2
    apart: int = 2
    near: int = 0
    random: int = 5

    def __post_init__(self) -> None:
        whole("positives", self.positives, 1, 2**31, "how many of its cluster an anchor gets")
        for name in ("apart", "near", "random"):
            whole(name, getattr(self, name), 0, 2**31, "how many such negatives an anchor gets")


def cluster_triplets(
    clusters: Clusters, recipe: Recipe | None = None, *, neighbours: np.ndarray | None = None, seed: int = 0
) -> np.ndarray:
    """Triplets (t, 3) of every sentence that is not alone in its cluster.

    `neighbours` (n, c): candidates for near negatives, nearest first; they are looked at only with `recipe.near`.
    """
    recipe = recipe or Recipe()
    of = clusters.of
    if of.max(initial=0) == 0:
        raise ValueError(
            f"all {len(of)} sentences mean the same by their labels, so that none is further than another; "
            "give some that do not"
        )
    size = np.bincount(of)
    anchors = np.flatnonzero(size[of] > 1)
    if not len(anchors):
        raise ValueError(
            f"no two of {len(of)} sentences mean the same by their labels, so that none is closer than another; "
            "give at least two that do"
        )
    random = np.random.default_rng(seed)
    mates = _mates(of, anchors, recipe.positives, random)
    others = [_told_apart(clusters, anchors, recipe.apart, random)]
    if recipe.near and neighbours is not None:
        others.append(_near(of, anchors, neighbours, recipe.near))
    others.append(_any(of, anchors, recipe.random, random))
    negatives = np.hstack(others)
    i = np.broadcast_to(anchors[:, None, None], (len(anchors), mates.shape[1], negatives.shape[1]))
    j = np.broadcast_to(mates[:, :, None], i.shape)
    k = np.broadcast_to(negatives[:, None, :], i.shape)
    there = (j >= 0) & (k >= 0)
    triplets = np.stack([i[there], j[there], k[there]], axis=1)
    if not len(triplets):
        raise ValueError(
            "no sentence is left to be the further one of a triplet, expected some; let `random`, the negatives that "
            "are drawn, be at least 1"
        )
    return triplets


# each of the following gives (anchors, at most so many) row numbers, -1 where there are no more


def _mates(of: np.ndarray, anchors: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """Others of the anchor's cluster, taken in turn from a random one on."""
    order = np.argsort(of, kind="stable")
    start = np.searchsorted(of[order], of[anchors])
    others = np.bincount(of)[of[anchors]] - 1
    own = np.empty(len(of), np.int64)
    own[order] = np.arange(len(of))
    turns = 1 + (random.integers(others)[:, None] + np.arange(most)) % others[:, None]
    mates = order[start[:, None] + (own[anchors][:, None] - start[:, None] + turns) % (others[:, None] + 1)]
    return np.where(np.arange(most) < others[:, None], mates, -1)


def _told_apart(clusters: Clusters, anchors: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """Sentences that were told apart from any sentence of the anchor's cluster."""
    both = np.concatenate([clusters.apart, clusters.apart[:, ::-1]])
    both = np.unique(np.stack([clusters.of[both[:, 0]], both[:, 1]], axis=1), axis=0)  # cluster, sentence
    start = np.searchsorted(both[:, 0], clusters.of[anchors])
    there = np.searchsorted(both[:, 0], clusters.of[anchors], side="right") - start
    if not len(both):
        return np.empty((len(anchors), 0), np.int64)
    turn = (random.integers(np.maximum(there, 1))[:, None] + np.arange(most)) % np.maximum(there, 1)[:, None]
    sentences = both[np.minimum(start[:, None] + turn, len(both) - 1), 1]
    return np.where(np.arange(most) < there[:, None], sentences, -1)


def _near(of: np.ndarray, anchors: np.ndarray, neighbours: np.ndarray, most: int) -> np.ndarray:
    """The nearest sentences of other clusters."""
    candidates = neighbours[anchors]
    other = of[candidates] != of[anchors][:, None]
    first = np.argsort(~other, axis=1, kind="stable")[:, :most]
    return np.where(np.take_along_axis(other, first, 1), np.take_along_axis(candidates, first, 1), -1)


def _any(of: np.ndarray, anchors: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Sentences of other clusters, all equally likely."""
    drawn = random.integers(len(of), size=(len(anchors), count))
    while (wrong := of[drawn] == of[anchors][:, None]).any():
        drawn[wrong] = random.integers(len(of), size=int(wrong.sum()))
    return drawn


# --- texts to rows -----------------------------------------------------------------------------------------------

_CUT = str.maketrans("'’-", "   ")


def terms(sentence: str, *, pairs: bool = False) -> list[str]:
    """The words of a sentence; with `pairs` also two that stand together.

    >>> terms("What's up?", pairs=True)
    ['what', 's', 'up', 'what s', 's up']
    """
    words = " ".join(text.words(sentence)).translate(_CUT).split()
    return words + [f"{a} {b}" for a, b in pairwise(words)] if pairs else words


def fitted_vectorizer(sentences: Sequence[str], *, min_count: int = 1, pairs: bool = False) -> TfidfVectorizer:
    """A vectorizer that knows the words of at least `min_count` of the sentences."""
    vectorizer = _empty(pairs, min_df=min_count)
    try:
        return vectorizer.fit(sentences)
    except ValueError as error:  # scikit-learn says in two ways that nothing is left to count
        raise ValueError(
            f"no word occurs in {min_count} of the {len(sentences)} training sentences, expected at least one; lower "
            "`min_count`, or look whether the texts hold words at all"
        ) from error


def restored_vectorizer(words: Sequence[str], idf: np.ndarray, *, pairs: bool = False) -> TfidfVectorizer:
    """The vectorizer with these words in order of its columns, and their idf (D,)."""
    columns = {word: column for column, word in enumerate(words)}
    if len(columns) != len(words) or idf.shape != (len(words),):
        raise ValueError(
            f"words are {len(words)}, {len(columns)} of them different, with idf of shape {idf.shape}; expected each "
            "word once, with one number"
        )
    vectorizer = _empty(pairs, vocabulary=columns)
    vectorizer.idf_ = np.asarray(idf, dtype=np.float64)
    return vectorizer


def _empty(pairs: bool, **known: Any) -> TfidfVectorizer:
    return TfidfVectorizer(analyzer=partial(terms, pairs=pairs), sublinear_tf=True, dtype=np.float64, **known)


# --- a corpus to clusters or triplets ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FilmSource:
    """Distinct texts; their clusters, or else triplets of their numbers; and pairs that contradict the rest."""

    texts: list[str]
    clusters: Clusters | None
    fixed: np.ndarray
    contradictions: tuple[tuple[str, str], ...] = ()

    def triplets(self, recipe: Recipe, *, neighbours: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
        """Triplets (t, 3) of numbers of texts."""
        if self.clusters is None:
            return self.fixed
        return cluster_triplets(self.clusters, recipe, neighbours=neighbours, seed=seed)


def source_of(part: Corpus) -> FilmSource:
    """The texts of one split of a corpus, with their clusters or triplets."""
    if isinstance(part, Sentences):
        raise part.without_labels("FILM learns from what belongs together (lsa takes texts alone)")
    if isinstance(part, Articles):
        part = opened(part)
    numbered = _Numbered()
    if isinstance(part, Pairs):
        return _of_pairs(part, numbered)
    if isinstance(part, Triplets):
        i, j, k = (numbered.rows(column) for column in (part.anchors, part.positives, part.negatives))
        usable = (i != j) & (i != k) & (j != k)
        if not usable.any():
            raise ValueError(
                f"corpus {part.name!r} has no triplet of three different sentences among {len(part)}; give some"
            )
        return FilmSource(numbered.texts, None, np.stack([i, j, k], axis=1)[usable])
    return _of_classes(*part.classified(), numbered)


def _of_pairs(part: Pairs, numbered: _Numbered) -> FilmSource:
    pairs = np.stack([numbered.rows(part.text_a), numbered.rows(part.text_b)], axis=1)
    value = part.scores
    top = value.max() if part.graded else 1.0
    near, far = grade_ends(value, top)
    clear = near | far
    clusters = Clusters.from_pairs(pairs[clear], near[clear], len(numbered.texts))
    named = tuple((numbered.texts[a], numbered.texts[b]) for a, b in clusters.contradictions)
    return FilmSource(numbered.texts, clusters, np.zeros((0, 3), np.int64), named)


def _of_classes(texts: Sequence[str], classes: Sequence[str], numbered: _Numbered) -> FilmSource:
    """The source of texts in classes; a text in two classes stays in the one it came in first."""
    rows = numbered.rows(texts)
    codes = np.unique(np.asarray(classes), return_inverse=True)[1].ravel()
    first = np.unique(rows, return_index=True)[1]
    of = codes[first]
    other = np.flatnonzero(codes != of[rows])
    named = tuple(
        (texts[row], texts[first_row])
        for row, first_row in zip(other.tolist(), first[rows[other]].tolist(), strict=True)
    )
    return FilmSource(numbered.texts, Clusters.from_classes(of), np.zeros((0, 3), np.int64), named)


class _Numbered:
    """A counter that gives each text a number, the same to texts of the same words."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        numbers = np.empty(len(texts), np.int64)
        for row, sentence in enumerate(texts):
            key = tuple(terms(sentence)) or (sentence,)
            number = self._numbers.setdefault(key, len(self.texts))
            if number == len(self.texts):
                self.texts.append(sentence)
            numbers[row] = number
        return numbers
