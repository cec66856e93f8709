"""Which sentences are embedded together, and what a corpus says of them. In: any corpus and a split. Out: `Compared`.

    Pairs                 grades or labels     judged by Spearman's correlation of cosines with them
    Labelled, Groups      classes              judged by Hit@1: is the nearest other sentence of the same class
    Triplets, Articles    nearer and farther   judged by the share of triplets in the right order

The method is transductive: a split is embedded as a whole, so a large one is thinned to what a page can wait for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labkit.corpora.classes import classes_of
from labkit.corpora.records import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.evaluation import hit_at, spearman_error, triplet_accuracy
from labkit.evaluation.inputs import whole
from labkit.scores import asked
from labkit.sweeps import Judge, by_grades, cosines


@dataclass(frozen=True, eq=False)
class Compared:
    """`rows` of one split, their distinct `sentences`, and the place of each text of a row among these, (n, texts)."""

    rows: Corpus
    split: str
    sentences: list[str]
    places: np.ndarray

    @property
    def measure(self) -> str:
        """What the judge's figure is, in words."""
        if isinstance(self.rows, Pairs):
            return f"Spearman of cosine and {'grade' if self.rows.graded else 'label'}"
        return "triplet accuracy" if isinstance(self.rows, Triplets) else "Hit@1"

    def judge(self) -> Judge:
        """Transformed vectors of `sentences` -> one figure, larger is better."""
        if isinstance(self.rows, Pairs):
            return by_grades(self.places[:, 0].tolist(), self.places[:, 1].tolist(), self.rows.values)
        if isinstance(self.rows, Triplets):
            anchor, near, far = self.places.T.tolist()
            return lambda vectors: triplet_accuracy(cosines(vectors, anchor, near), cosines(vectors, anchor, far))
        assert isinstance(self.rows, Labelled | Groups)
        labels = dict(zip(self.rows.texts, classes_of(self.rows), strict=True))
        return lambda vectors: _hits(vectors, [labels[text] for text in self.sentences])

    def noise(self, value: float) -> float:
        """About how far the judge's figure would move with other rows of the same kind: its standard error.

        A share: √(v (1 - v) / n). Spearman's: `labkit.evaluation.spearman_error`.
        """
        n = len(self.rows)
        if isinstance(self.rows, Pairs):
            return spearman_error(value, n)
        return float(np.sqrt(max(value * (1 - value), 0.0) / n))

    def known(self, vectors: np.ndarray) -> tuple[Compared, np.ndarray]:
        """Without the rows in which a sentence has a vector of zeros: it has no neighbours. And the vectors left."""
        told = np.asarray(vectors.any(axis=1))
        if told.all():
            return self, vectors
        kept = np.flatnonzero(told[self.places].all(axis=1))
        if not len(kept):
            raise ValueError(
                f"vectors are zeros in every row of split {self.split!r}, expected sentences with words that the base "
                "knows; take another base"
            )
        left = _of(self.rows.take(kept.tolist()), self.split)
        number = {text: row for row, text in enumerate(self.sentences)}
        return left, vectors[[number[text] for text in left.sentences]]


def compared(corpus: Corpus, *, split: str = "test", most: int = 1200) -> Compared:
    """At most `most` sentences of a split, spread evenly over its rows; a group stays whole.

    >>> from labkit.corpora import load
    >>> told = compared(load("relatedness"), split="dev", most=100)
    >>> len(told.sentences), told.measure
    (100, 'Spearman of cosine and grade')
    """
    whole("most", most, 4, 20_000, "sentences embedded together")
    part = asked(corpus.part(split))
    if isinstance(part, Groups):
        return _of(_whole_groups(part, most), split)
    fit = min(len(part), max(1, most // len(part.TEXTS)))
    return _of(part.take((np.arange(fit) * len(part) // fit).tolist()), split)


def _whole_groups(part: Groups, most: int) -> Groups:
    """The first groups, as many as fit, at least one."""
    kept: list[int] = []
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(part.groups):
        rows.setdefault(group, []).append(row)
    for found in rows.values():
        if kept and len(kept) + len(found) > most:
            break
        kept += found
    return part.take(kept)


def _of(rows: Corpus, split: str) -> Compared:
    sentences = rows.sentences()
    number = {text: place for place, text in enumerate(sentences)}
    columns = [[number[text] for text in getattr(rows, name)] for name in rows.TEXTS]
    return Compared(rows, split, sentences, np.array(columns).T)


def _hits(vectors: np.ndarray, labels: list[str]) -> float:
    """Hit@1 of the rows that have a direction."""
    known = np.flatnonzero(np.asarray(vectors).any(axis=1))
    return hit_at(vectors[known], [labels[row] for row in known], (1,))[1]
