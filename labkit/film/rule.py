"""The paper's decision rule (section 3.3, figure 4): two sentences are the same if each is among the other's k nearest.

    R = max(rank of b among a's neighbours, rank of a among b's)          same iff R <= k

`mutual_ranks`   rows of all sentences of a split, and pairs of row numbers -> R of every pair, never n x n in memory
`curves`         R and labels -> the rates for every k at once; `two_level` -> the log loss for every k, with the
                 probabilities that a rule of yes and no does not give
`mutual_rule`    a method, and a corpus that says which sentences are the same -> a `Rule`: the rates on test for every
                 k, with two log losses, and the k chosen on dev
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from labkit.arrays import binary, vectors, whole
from labkit.corpora.records import Corpus, Pairs, Sentences
from labkit.device import cuda_or_cpu
from labkit.evaluation.retrieval import not_zero
from labkit.progress import Progress, silent

# --- ranks, rates and losses ----------------------------------------------------------------------------------

MOST = 55  # neighbours
_ENTRIES = 2**24  # of a block of similarities: 64 MB in float32
_DENSE = 0.3  # a column of sparse rows fuller than this is worked on as a dense one


def mutual_ranks(
    rows: np.ndarray | sparse.spmatrix,
    pairs: np.ndarray,
    *,
    most: int = MOST,
    device: str = "cpu",
    progress: Progress = silent,
) -> np.ndarray:
    """The rank R of each pair (p,), 1 to `most`, or `most` + 1 for further away: rows (n, d), row numbers (p, 2).

    Neighbours are by cosine among all rows but the sentence itself; equals (within rounding) stand in row order. A row
    paired with itself has R = 1: nothing is closer. A row of zeros is near to nothing, another such row included.
    """
    known = vectors("rows", rows, keep_single=True)
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(f"pairs has shape {pairs.shape}, expected (p, 2) row numbers, at least one pair")
    if pairs.min() < 0 or pairs.max() >= known.shape[0]:
        raise ValueError(
            f"pairs name rows {pairs.min()} to {pairs.max()}, expected 0 to {known.shape[0] - 1}; number them anew"
        )
    whole("most", most, 1, 2**31, "how many neighbours count")
    both = np.concatenate([pairs, pairs[:, ::-1]])
    ranks = _ranks(_Similarities(known, cuda_or_cpu(device)), both, progress)
    ranks[~not_zero(known)[both].all(axis=1)] = most + 1
    ranks[both[:, 0] == both[:, 1]] = 1
    return np.minimum(np.maximum(ranks[: len(pairs)], ranks[len(pairs) :]), most + 1)


@dataclass(frozen=True, eq=False)
class Curves:
    """The numbers of pairs of each kind that the rule gets right and wrong for k = 1, 2, ..., (k,) each."""

    k: np.ndarray
    true_positive: np.ndarray
    false_positive: np.ndarray
    true_negative: np.ndarray
    false_negative: np.ndarray

    @property
    def tpr(self) -> np.ndarray:
        return self.true_positive / (self.true_positive + self.false_negative)

    @property
    def fnr(self) -> np.ndarray:
        return 1 - self.tpr

    @property
    def fpr(self) -> np.ndarray:
        return self.false_positive / (self.false_positive + self.true_negative)

    @property
    def tnr(self) -> np.ndarray:
        return 1 - self.fpr

    @property
    def total(self) -> np.ndarray:
        return self.true_positive + self.false_positive + self.true_negative + self.false_negative

    @property
    def accuracy(self) -> np.ndarray:
        return (self.true_positive + self.true_negative) / self.total


def curves(ranks: np.ndarray, labels: np.ndarray, *, most: int = MOST) -> Curves:
    """All rates for all k from two histograms of R, one of each kind of pair (figure 4 of the paper)."""
    same = binary("labels", labels, count=len(ranks))
    if same.all() or not same.any():
        raise ValueError("labels are all alike, expected pairs of both kinds; without them half the rates do not exist")

    def within(R: np.ndarray) -> np.ndarray:
        return np.bincount(np.minimum(R, most + 1), minlength=most + 2)[1 : most + 1].cumsum()

    tp, fp = within(ranks[same]), within(ranks[~same])
    return Curves(np.arange(1, most + 1), tp, fp, (~same).sum() - fp, same.sum() - tp)


def hard_log_loss(scored: Curves, *, clip: float = 1e-15) -> np.ndarray:
    """The cross-entropy of figure 4, (k,): yes is 1 - clip, no is clip. It is the error times `|log clip|`."""
    return -(scored.accuracy * np.log1p(-clip) + (1 - scored.accuracy) * np.log(clip))


def two_level(fitted: Curves, scored: Curves) -> np.ndarray:
    """The log loss for each k, (k,), when yes and no each get the share of duplicates they had on other pairs.

    `(n₁ + 1)/(n + 2)` on either side of k, from `fitted`. This is what k is chosen by.
    """
    yes = (fitted.true_positive + 1) / (fitted.true_positive + fitted.false_positive + 2)
    no = (fitted.false_negative + 1) / (fitted.false_negative + fitted.true_negative + 2)
    said_yes = scored.true_positive * np.log(yes) + scored.false_positive * np.log1p(-yes)
    return -(said_yes + scored.false_negative * np.log(no) + scored.true_negative * np.log1p(-no)) / scored.total


class _Similarities:
    """Cosines of some rows with all: dense rows by one product; of sparse ones the few full columns apart."""

    def __init__(self, rows: np.ndarray | sparse.csr_matrix, device: str) -> None:
        self._thin: sparse.csr_matrix | None = None
        if not isinstance(rows, np.ndarray):
            lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
            rows = sparse.csr_matrix(sparse.diags(_inverses(lengths)) @ rows).astype(np.float32)
            full = np.bincount(rows.indices, minlength=rows.shape[1]) > _DENSE * rows.shape[0]
            self._thin, dense = rows[:, ~full], rows[:, full].toarray()
        else:
            dense = rows * _inverses(np.linalg.norm(rows, axis=1))[:, None].astype(rows.dtype)
        self._dense = torch.as_tensor(dense).to(device)
        self._thin_t = None if self._thin is None else self._thin.T.tocsr()
        self.count = len(dense)

    def of(self, which: np.ndarray) -> torch.Tensor:
        cosines = self._dense[torch.as_tensor(which, device=self._dense.device)] @ self._dense.T
        if self._thin is not None:
            cosines += torch.as_tensor((self._thin[which] @ self._thin_t).toarray()).to(cosines.device)
        return cosines


def _ranks(similarities: _Similarities, both: np.ndarray, progress: Progress) -> np.ndarray:
    """Rank of the second among the first's neighbours for each line of `both`, each distinct first looked at once."""
    order = np.argsort(both[:, 0], kind="stable")
    asked, start = np.unique(both[order, 0], return_index=True)
    ends = np.append(start, len(both))
    ranks = np.empty(len(both), np.int64)
    step = max(1, _ENTRIES // similarities.count)
    for first in range(0, len(asked), step):
        block = asked[first : first + step]
        S = similarities.of(block)
        S[torch.arange(len(block)), torch.as_tensor(block)] = -torch.inf
        rounding = 16 * torch.finfo(S.dtype).eps
        lines = order[ends[first] : ends[first + len(block)]]
        for part in np.array_split(lines, -(-len(lines) // step)):
            target = torch.as_tensor(both[part, 1], device=S.device)[:, None]
            line = S[torch.as_tensor(np.searchsorted(block, both[part, 0]), device=S.device)]
            excess = line - line.gather(1, target)
            before = torch.arange(S.shape[1], device=S.device) < target
            closer = (excess > rounding) | ((excess >= -rounding) & before)
            ranks[part] = 1 + closer.sum(dim=1).cpu().numpy()
        progress(first + len(block), len(asked), "ranks of pairs")
    return ranks


def _inverses(lengths: np.ndarray) -> np.ndarray:
    return 1 / np.where(lengths > 0, lengths, 1)


# --- the rule on a corpus ----------------------------------------------------------------------------------------

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
        """The rates and losses, a row for each k."""
        columns = {name: getattr(self.test, name) for name in ("k", "tpr", "tnr", "fpr", "fnr", "accuracy")}
        columns |= {"cross_entropy_hard": self.hard, "cross_entropy_two_level": self.soft}
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*(c.tolist() for c in columns.values()), strict=True)
        ]


def mutual_rule(method: Any, corpus: Corpus, *, most: int = MOST, seed: int = 0, progress: Progress = silent) -> Rule:
    """Ranks among all sentences of each split. What a yes or a no is worth is learned on dev, and scored on test."""
    if isinstance(corpus, Sentences):
        raise corpus.without_labels("the rule is measured on pairs of which it is known whether they are the same")
    dev, test = (_curves(method, corpus.part(split), most, seed, progress) for split in ("dev", "test"))
    chosen, part = int(np.argmin(two_level(dev, dev))) + 1, corpus.part("test")
    drawn = not isinstance(part, Pairs)
    return Rule(test, hard_log_loss(test), two_level(dev, test), chosen, len(part.sentences()), drawn)


def judged_pairs(part: Corpus, *, seed: int = 0) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The sentences of a split, pairs of their numbers (p, 2), and 1 where the two are the same (p,).

    Labelled pairs as they are; of classes and groups up to 2,000 pairs of one class and 2,000 of two, drawn by lot.
    """
    if isinstance(part, Pairs) and not part.graded:
        return *part.numbered(), part.labels
    texts, classes = part.sentences(), dict(zip(*part.classified(), strict=True))
    if not classes:
        raise ValueError(
            f"corpus {part.name!r} has graded pairs, triplets or articles, expected 0/1 pairs, labels or groups: the "
            "rule needs to know of two sentences whether they are the same; choose another corpus"
        )
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
