"""What a corpus of any shape tells FILM. In: the training part. Out: distinct texts, and clusters or triplets of them.

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

import numpy as np

from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Triplets
from labkit.corpora.sentences import opened
from labkit.film.tfidf import terms
from labkit.film.triplets import Clusters, Recipe, cluster_triplets

NEAR, FAR = 0.8, 0.4  # shares of the highest grade


@dataclass(frozen=True, eq=False)
class Source:
    """Distinct texts; their clusters, or else triplets of their numbers; and pairs of texts that contradict the
    rest."""

    texts: list[str]
    clusters: Clusters | None
    fixed: np.ndarray
    contradictions: tuple[tuple[str, str], ...] = ()

    def triplets(self, recipe: Recipe, *, neighbours: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
        """(t, 3) numbers of texts."""
        if self.clusters is None:
            return self.fixed
        return cluster_triplets(self.clusters, recipe, neighbours=neighbours, seed=seed)


def source_of(part: Corpus) -> Source:
    """From one split of a corpus."""
    if isinstance(part, Articles):
        part = opened(part)
    numbered = _Numbered()
    if isinstance(part, Pairs):
        return _of_pairs(part, numbered)
    if isinstance(part, Triplets):
        columns = (part.anchors, part.positives, part.negatives)
        i, j, k = (numbered.rows(column) for column in columns)
        usable = (i != j) & (i != k) & (j != k)
        if not usable.any():
            raise ValueError(
                f"corpus {part.name!r} has no triplet of three different sentences among {len(part)}; give some"
            )
        return Source(numbered.texts, None, np.stack([i, j, k], axis=1)[usable])
    assert isinstance(part, Labelled | Groups)
    return _of_classes(part.texts, part.labels if isinstance(part, Labelled) else part.groups, numbered)


def _of_pairs(part: Pairs, numbered: _Numbered) -> Source:
    pairs = np.stack([numbered.rows(part.text_a), numbered.rows(part.text_b)], axis=1)
    value = part.scores
    top = value.max() if part.graded else 1.0
    near, far = value >= NEAR * top, value <= FAR * top
    told = near | far
    clusters = Clusters.from_pairs(pairs[told], near[told], len(numbered.texts))
    named = tuple((numbered.texts[a], numbered.texts[b]) for a, b in clusters.contradictions)
    return Source(numbered.texts, clusters, np.zeros((0, 3), np.int64), named)


def _of_classes(texts: Sequence[str], classes: Sequence[str], numbered: _Numbered) -> Source:
    """A text in two classes stays in the one it came in first."""
    rows = numbered.rows(texts)
    codes = np.unique(np.asarray(classes), return_inverse=True)[1].ravel()
    first = np.unique(rows, return_index=True)[1]
    of = codes[first]
    other = np.flatnonzero(codes != of[rows])
    named = tuple(
        (texts[row], texts[first_row])
        for row, first_row in zip(other.tolist(), first[rows[other]].tolist(), strict=True)
    )
    return Source(numbered.texts, Clusters.from_classes(of), np.zeros((0, 3), np.int64), named)


class _Numbered:
    """Gives each text a number; the same to texts of the same words."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        found = np.empty(len(texts), np.int64)
        for row, text in enumerate(texts):
            key = tuple(terms(text)) or (text,)
            number = self._numbers.setdefault(key, len(self.texts))
            if number == len(self.texts):
                self.texts.append(text)
            found[row] = number
        return found
