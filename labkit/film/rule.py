"""The paper's decision rule (section 3.3, figure 4): two sentences match if each is among the other's k nearest.

R = max(rank of b among a's neighbours, rank of a among b's)          same iff R <= k
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labkit.arrays import binary, unit, vectors
from labkit.corpora.records import Corpus, Pairs, Sentences
from labkit.evaluation.neighbours import nearest_others
from labkit.evaluation.retrieval import not_zero
from labkit.film.triplets import mates, others
from labkit.progress import Progress, silent

# --- ranks, rates and losses -------------------------------------------------------------------------------------

MOST = 55  # neighbours


def mutual_ranks(rows: np.ndarray | sparse.spmatrix, pairs: np.ndarray, *, most: int = MOST) -> np.ndarray:
    """The rank R of each pair (p,), 1 to `most`, or `most` + 1 if farther away: rows (n, d), row numbers (p, 2).

    Neighbours are ranked by cosine among all other rows, ties by row order. A row paired with itself has R = 1. A row
    of zeros is near no row, not even another row of zeros.
    """
    rows = vectors("rows", rows, keep_single=True)
    known = np.flatnonzero(not_zero(rows))
    place = np.full(rows.shape[0], -1)
    place[known] = np.arange(len(known))
    a, b = place[pairs].T  # among the nonzero rows; -1 for a row of zeros
    ranks = np.full(len(pairs), most + 1)
    both = (a >= 0) & (b >= 0) & (a != b)
    if both.any():
        asking, at = np.unique([a[both], b[both]], return_inverse=True)
        near = nearest_others(unit(rows[known]), min(most, len(known) - 1), asking)  # (asking, most)
        at = at.reshape(2, -1)
        sides = [_rank(near[at[0]], b[both], most), _rank(near[at[1]], a[both], most)]
        ranks[both] = np.maximum(*sides)
    ranks[pairs[:, 0] == pairs[:, 1]] = 1
    return ranks


def _rank(near: np.ndarray, other: np.ndarray, most: int) -> np.ndarray:
    """The position of `other` (p,) among the neighbours (p, k), from 1; `most` + 1 if it is missing."""
    found = near == other[:, None]
    return np.where(found.any(axis=1), found.argmax(axis=1) + 1, most + 1)


@dataclass(frozen=True, eq=False)
class Curves:
    """The number of pairs of each kind that the rule gets right and wrong for k = 1, 2, ..., (k,) each."""

    k: np.ndarray
    true_positive: np.ndarray
    false_positive: np.ndarray
    true_negative: np.ndarray
    false_negative: np.ndarray

    @property
    def rates(self) -> dict[str, np.ndarray]:
        """`tpr`, `tnr`, `fpr`, `fnr` and `accuracy`, (k,) each."""
        tpr = self.true_positive / (self.true_positive + self.false_negative)
        fpr = self.false_positive / (self.false_positive + self.true_negative)
        right = self.true_positive + self.true_negative
        accuracy = right / (right + self.false_positive + self.false_negative)
        return {"tpr": tpr, "tnr": 1 - fpr, "fpr": fpr, "fnr": 1 - tpr, "accuracy": accuracy}


def curves(ranks: np.ndarray, labels: np.ndarray, *, most: int = MOST) -> Curves:
    """The rates for all k from two histograms of R, one per kind of pair (figure 4 of the paper)."""
    same = binary("labels", labels, count=len(ranks))
    if same.all() or not same.any():
        raise ValueError("labels are all the same, but pairs of both kinds are needed")

    def within(R: np.ndarray) -> np.ndarray:
        return np.bincount(R, minlength=most + 2)[1 : most + 1].cumsum()

    tp, fp = within(ranks[same]), within(ranks[~same])
    return Curves(np.arange(1, most + 1), tp, fp, (~same).sum() - fp, same.sum() - tp)


def hard_log_loss(scored: Curves, *, clip: float = 1e-15) -> np.ndarray:
    """The cross-entropy of figure 4, (k,): 1 - clip for yes, clip for no. It is the error times `|log clip|`."""
    accuracy = scored.rates["accuracy"]
    return -(accuracy * np.log1p(-clip) + (1 - accuracy) * np.log(clip))


def two_level(fitted: Curves, scored: Curves) -> np.ndarray:
    """The log loss for each k, (k,), where yes and no predict their shares of duplicates on other pairs.

    The shares are `(n₁ + 1)/(n + 2)` on either side of k, from `fitted`. This loss is used to select k.
    """
    yes = (fitted.true_positive + 1) / (fitted.true_positive + fitted.false_positive + 2)
    no = (fitted.false_negative + 1) / (fitted.false_negative + fitted.true_negative + 2)
    tp, fp, tn, fn = scored.true_positive, scored.false_positive, scored.true_negative, scored.false_negative
    said_yes = tp * np.log(yes) + fp * np.log1p(-yes)
    return -(said_yes + fn * np.log(no) + tn * np.log1p(-no)) / (tp + fp + tn + fn)


# --- the rule on a corpus ----------------------------------------------------------------------------------------

DRAWN = 2_000  # pairs of each kind, if the corpus has classes instead of pairs


@dataclass(frozen=True, eq=False)
class Rule:
    """Rates on test, `hard` (the paper's cross-entropy) and `soft` log loss for each k; dev selects `chosen`."""

    test: Curves
    hard: np.ndarray
    soft: np.ndarray
    chosen: int
    sentences: int
    drawn: bool

    def rows(self) -> list[dict[str, float]]:
        """One row of rates and losses for each k."""
        losses = {"cross_entropy_hard": self.hard, "cross_entropy_two_level": self.soft}
        columns = {"k": self.test.k} | self.test.rates | losses
        values = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in values]


def mutual_rule(method: Any, corpus: Corpus, *, most: int = MOST, seed: int = 0, progress: Progress = silent) -> Rule:
    """Rank among all sentences of each split; the probabilities of yes and no come from dev, the scores from test."""
    if isinstance(corpus, Sentences):
        raise corpus.without_labels("the rule is scored on pairs labelled as same or different")
    found = []
    for number, split in enumerate(("dev", "test")):
        progress(number, 2, f"ranks of pairs on {split}")
        texts, pairs, labels = judged_pairs(corpus.part(split), seed=seed)
        found.append(curves(mutual_ranks(method.encode(texts), pairs, most=most), labels, most=most))
    dev, test = found
    chosen = int(np.argmin(two_level(dev, dev))) + 1
    drawn = not isinstance(corpus, Pairs)
    return Rule(test, hard_log_loss(test), two_level(dev, test), chosen, len(texts), drawn)


def judged_pairs(part: Corpus, *, seed: int = 0) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The sentences of a split, pairs of their numbers (p, 2), and 1 if the two match (p,).

    Labelled pairs are used unchanged. In classes and groups, up to 2,000 random sentences are each paired once with
    a sentence of their class and once with a sentence of another class.
    """
    if isinstance(part, Pairs) and not part.graded:
        return *part.numbered(), part.labels
    texts, classes = part.sentences(), dict(zip(*part.classified(), strict=True))
    if not classes:
        raise ValueError(
            f"corpus {part.name!r} has graded pairs, triplets or articles, but the rule needs to know whether two "
            "sentences mean the same thing. Choose a corpus with 0/1 pairs, labels or groups"
        )
    codes = np.unique([classes[text] for text in texts], return_inverse=True)[1]
    anchors = np.flatnonzero(np.bincount(codes)[codes] > 1)
    if not len(anchors) or codes.max() == 0:
        raise ValueError(f"corpus {part.name!r} needs at least two classes, one of them with two sentences; add some")
    random = np.random.default_rng(seed)
    anchors = random.permutation(anchors)[:DRAWN]
    drawn = [draw(codes, anchors, 1, random)[:, 0] for draw in (mates, others)]
    kinds = [np.unique(np.sort([anchors, other], axis=0), axis=1).T for other in drawn]
    return texts, np.concatenate(kinds), np.repeat([1, 0], [len(kind) for kind in kinds])
