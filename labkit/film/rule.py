"""Figure 4 of the paper for any corpus that says which sentences are the same: the rule of mutual neighbours over k.

In: a method and a corpus. Out: a `Rule`: the rates on test for every k, with two log losses, and the k chosen on dev.
`labkit.film.pairwise_knn` has the rule itself; here pairs are found for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus, Groups, Labelled, Pairs
from labkit.film.pairwise_knn import MOST, Curves, curves, hard_log_loss, mutual_ranks, two_level
from labkit.progress import Progress, silent
from labkit.scores import classes_of

DRAWN = 2_000  # pairs of each kind, where the corpus has classes and no pairs


@dataclass(frozen=True, eq=False)
class Rule:
    """Rates on test, `hard` (what the paper calls cross-entropy) and `soft` log loss of each k; `chosen` k by dev."""

    test: Curves
    hard: np.ndarray
    soft: np.ndarray
    chosen: int
    sentences: int
    drawn: bool

    def rows(self) -> list[dict[str, float]]:
        """A row for each k."""
        columns = {name: getattr(self.test, name) for name in ("k", "tpr", "tnr", "fpr", "fnr", "accuracy")}
        columns |= {"cross_entropy_hard": self.hard, "cross_entropy_two_level": self.soft}
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*(c.tolist() for c in columns.values()), strict=True)
        ]


def mutual_rule(method: Any, corpus: Corpus, *, most: int = MOST, seed: int = 0, progress: Progress = silent) -> Rule:
    """Ranks among all sentences of each split. What a yes or a no is worth is learned on dev, and scored on test."""
    dev, test = (_curves(method, corpus.part(split), most, seed, progress) for split in ("dev", "test"))
    chosen = int(np.argmin(two_level(dev, dev))) + 1
    part = corpus.part("test")
    return Rule(
        test, hard_log_loss(test), two_level(dev, test), chosen, len(part.sentences()), not isinstance(part, Pairs)
    )


def judged_pairs(part: Corpus, *, seed: int = 0) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The sentences of a split, pairs of their numbers (p, 2), and 1 where the two are the same (p,).

    Labelled pairs as they are; of classes and groups up to 2,000 pairs of one class and 2,000 of two, drawn by lot.
    """
    texts = part.sentences()
    number = {text: row for row, text in enumerate(texts)}
    if isinstance(part, Pairs) and not part.graded:
        return (
            texts,
            np.array([(number[a], number[b]) for a, b in zip(part.text_a, part.text_b, strict=True)]),
            part.labels,
        )
    if not isinstance(part, Labelled | Groups):
        raise ValueError(
            f"corpus {part.name!r} has graded pairs, triplets or articles, expected 0/1 pairs, labels or groups: the "
            "rule needs to know of two sentences whether they are the same; choose another corpus"
        )
    classes = dict(zip(part.texts, classes_of(part), strict=True))
    codes = np.unique([classes[text] for text in texts], return_inverse=True)[1]
    random = np.random.default_rng(seed)
    a, b = random.integers(len(texts), size=(2, 200 * DRAWN))
    same = codes[a] == codes[b]
    drawn = np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1)
    kinds = [np.unique(drawn[(a != b) & (same == kind)], axis=0) for kind in (True, False)]
    kept = [random.permutation(kind)[:DRAWN] for kind in kinds]
    return texts, np.concatenate(kept), np.repeat([1, 0], [len(kind) for kind in kept])


def _curves(method: Any, part: Corpus, most: int, seed: int, progress: Progress) -> Curves:
    texts, pairs, labels = judged_pairs(part, seed=seed)
    return curves(mutual_ranks(method.encode(texts), pairs, most=most, progress=progress), labels, most=most)
