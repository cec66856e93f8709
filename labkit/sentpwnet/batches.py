"""Batches of sentences with their two masks, from a corpus of any shape.

    Pairs       both sentences of B pairs; positives are in one component of the graph of pairs labelled 1, and
                all others in the batch are negatives; with `labelled` only the labelled pairs count
    Labelled    B sentences: K of each of B / K classes          Groups    likewise, with groups as classes
    Triplets    B anchors with a positive and one or two negatives each; other pairs are unknown and ignored,
                unless `in_batch` makes the sentences of other anchors negatives, such as other sections' titles
    graded      both sentences of B pairs with their grades, for a loss that needs grades
    any shape   B sentences, each twice, for a loss without labels: the positive of a sentence is its twin

`batch_source` makes the source of a training split, which gives the batches of any epoch from a seed alone. Except for
the last kind, no batch holds a sentence twice, even in different spellings: "Why is it?" and "why is it?" would be
false negatives.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Sentences, Triplets, grade_ends
from labkit.corpora.relations import components, opened, train_sentences
from labkit.text import buckets, normalise

NEGATIVES = 2  # negatives per anchor in a batch: from the section before and the section after


@dataclass(frozen=True)
class Batch:
    """Sentences by number, and either their classes or the positive and negative pairs (row, row); positive wins.

    `crossed` names rows and others: each of these others is also a negative of each of these rows, unless it is the
    row itself or a positive. `grades` lists the grades of the pairs in `positive`, then in `negative`. With `twice` the
    second half repeats the first: a row's positive is its twin in the other half, all others there are negatives.
    """

    sentences: list[int]
    classes: list[int] | None = None
    positive: Sequence[tuple[int, int]] = ()
    negative: Sequence[tuple[int, int]] = ()
    crossed: tuple[Sequence[int], Sequence[int]] = ((), ())
    grades: Sequence[float] = ()
    twice: bool = False

    def __len__(self) -> int:
        return len(self.sentences)

    def masks(self, device: torch.device, anchors: slice = slice(None)) -> tuple[Tensor, Tensor]:
        """P and N of the rows in `anchors` (default: all rows): bool (k, m)."""
        total = len(self.sentences)
        start, stop, _ = anchors.indices(total)
        if self.classes is not None:
            classes = self._classes.to(device)  # (m,)
            P = classes[start:stop, None] == classes
            N = ~P
            P.diagonal(start).fill_(False)  # a row does not pair with itself; for anchors from `start`, that diagonal
            return P, N
        if self.twice:
            row, column = torch.arange(start, stop, device=device)[:, None], torch.arange(total, device=device)
            other = (row < total // 2) != (column < total // 2)  # (k, m): in the other half
            twin = (row - column).abs() == total // 2
            return other & twin, other & ~twin
        masks = np.zeros((2, stop - start, total), bool)  # (k, m) each: pairs without a label stay unknown
        for mask, (rows, others) in zip(masks, self._pairs, strict=True):
            inside = (start <= rows) & (rows < stop)
            mask[rows[inside] - start, others[inside]] = True
        P, N = torch.from_numpy(masks)
        if self.crossed[0]:
            rows, others = (
                torch.zeros(total, dtype=torch.bool).index_fill_(0, torch.tensor(each), True) for each in self.crossed
            )
            N |= rows[start:stop, None] & others  # (k, 1) & (m,)
            N.diagonal(start).fill_(False)
        return P.to(device), (N & ~P).to(device)

    def graded(self, device: torch.device) -> Tensor:
        """The grade of each pair in the masks, (m, m); 0 elsewhere."""
        grades = np.zeros((len(self), len(self)), np.float32)
        grades[tuple(np.concatenate(self._pairs, 1))] = self.grades
        return torch.from_numpy(grades).to(device)

    @cached_property
    def _classes(self) -> Tensor:
        return torch.tensor(self.classes)

    @cached_property
    def _pairs(self) -> list[np.ndarray]:
        """Rows and others of the positive pairs and of the negative pairs, each (2, n)."""
        return [np.array(pairs, np.int64).reshape(-1, 2).T for pairs in (self.positive, self.negative)]


def batch_source(
    corpus: Corpus, *, per_class: int, in_batch: bool = False, labelled: bool = False, needs: str = "masks"
) -> BatchSource:
    """The batch source for the shape of a training split and what the loss `needs` ("masks", "grades", "texts")."""
    if needs == "texts":
        return TwiceSource(corpus)
    if isinstance(corpus, Sentences):
        raise corpus.without_labels(
            "this loss needs to know which sentences belong together (loss=simcse with dropout=0.1 does not)"
        )
    corpus = in_one_spelling(opened(corpus) if isinstance(corpus, Articles) else corpus)
    if isinstance(corpus, Triplets):
        return triplet_source(corpus, in_batch=in_batch)
    if isinstance(corpus, Pairs) and corpus.graded and needs == "grades":
        return graded_source(corpus)
    if isinstance(corpus, Pairs):
        return pair_source(near_and_far(corpus) if corpus.graded else corpus, labelled=labelled)
    assert isinstance(corpus, Labelled | Groups)
    return ClassSource(corpus, per_class)


def in_one_spelling(corpus: Corpus) -> Corpus:
    """The corpus with each text in its first spelling; `normalise` defines which spellings count as the same text."""
    first: dict[str, str] = {}
    spelled: dict[str, Any] = {
        column: [first.setdefault(normalise(text), text) for text in getattr(corpus, column)] for column in corpus.TEXTS
    }
    return replace(corpus, **spelled) if len(first) < len(corpus.sentences()) else corpus


@dataclass
class RowSource:
    """Rows (pairs, graded pairs or triplets) with their sentences by number, and a function that makes batches of rows.

    Like all sources it has `texts` and `batches(lengths, size, seed)`, which returns all batches of one epoch; with the
    `lengths` of the texts, a batch holds sentences of similar length.
    """

    texts: list[str]
    sentences: np.ndarray  # (rows, 2 to 4), perhaps one twice
    batch: Callable[[list[int]], Batch]
    contradictions: int = 0  # pairs labelled 0 whose sentences are connected by pairs labelled 1

    def batches(self, lengths: Sequence[int], size: int, seed: int) -> list[Batch]:
        longest = np.asarray(lengths)[self.sentences].max(1).tolist()
        return [self.batch(rows) for rows in buckets(longest, size, seed=seed)]


def _once(rows: Iterable[Iterable[int]]) -> tuple[list[int], dict[int, int]]:
    """The distinct sentences of these rows, and the place of each."""
    sentences = list(dict.fromkeys(sentence for row in rows for sentence in row))
    return sentences, {sentence: place for place, sentence in enumerate(sentences)}


# --- pairs -----------------------------------------------------------------------------------------------------


def pair_source(corpus: Pairs, *, labelled: bool = False) -> RowSource:
    """Both sentences of B pairs; a sentence's class is its component; with `labelled` only given labels count."""
    texts, component = components(corpus)  # (sentences,)
    ends, same = corpus.numbered()[1], corpus.scores > 0  # (pairs, 2), (pairs,)
    if not same.any():
        raise ValueError(
            f"corpus {corpus.name!r} has no positive pair among {len(corpus)} training pairs; add pairs labelled 1"
        )
    if not component.any() and (same.all() or not labelled):
        raise ValueError(
            f"corpus {corpus.name!r}: the training pairs labelled 1 connect all sentences into one class, but at least "
            "two are needed"
        )
    pairs, classes = ends.tolist(), component.tolist()
    told = list(zip(*ends.T.tolist(), same.tolist(), strict=True)) if labelled else []

    def batch(rows: list[int]) -> Batch:
        if labelled:
            return labelled_batch([told[row] for row in rows])
        sentences, _ = _once(pairs[row] for row in rows)
        return Batch(sentences, [classes[sentence] for sentence in sentences])

    joined = component[ends[:, 0]] == component[ends[:, 1]]
    return RowSource(texts, ends, batch, contradictions=int((joined & ~same).sum()))


def labelled_batch(pairs: Sequence[tuple[int, int, bool]]) -> Batch:
    """Only these pairs, in both directions: (sentence, sentence, same?). If a pair has both labels, "same" wins."""
    sentences, place = _once((a, b) for a, b, _ in pairs)
    kinds: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for a, b, same in pairs:
        if a != b:
            kinds[not same].extend([(place[a], place[b]), (place[b], place[a])])
    return Batch(sentences, None, *kinds)


def near_and_far(corpus: Pairs) -> Pairs:
    """Graded pairs as 0/1: same from four fifths of the top grade up, different up to two fifths, others dropped."""
    top = max(corpus.values)
    near, far = grade_ends(corpus.scores, top)
    if not (near | far).any():
        raise ValueError(
            f"corpus {corpus.name!r}: no grade is at least 80 % or at most 40 % of the top one ({top:g}). A pair loss "
            "needs pairs that are clearly similar or different"
        )
    ends = corpus.take(np.flatnonzero(near | far).tolist())
    return replace(ends, values=near[near | far].astype(float).tolist(), graded=False)


def graded_source(corpus: Pairs) -> RowSource:
    """Both sentences of B pairs, each pair with its grade: positive in the upper half of the scale, else negative.

    Sentences of different pairs are unknown to each other. A repeated pair has its mean grade.
    """
    texts, ends = corpus.numbered()
    pairs = mean_grades(zip(*ends.T.tolist(), corpus.values, strict=True))
    among = {grade for _, _, grade in pairs}
    if len(among) < 2:
        raise ValueError(
            f"corpus {corpus.name!r} has only one grade among {len(corpus)} training pairs, but at least two are needed"
        )
    middle = (min(among) + max(among)) / 2
    ends_of = [(a, b) for a, b, _ in pairs]
    return RowSource(texts, np.array(ends_of), lambda rows: graded_batch([pairs[row] for row in rows], middle))


def mean_grades(pairs: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Each unordered pair of sentences once, with the mean of its grades."""
    grades: dict[tuple[int, int], list[float]] = defaultdict(list)
    for a, b, grade in pairs:
        if a != b:
            grades[min(a, b), max(a, b)].append(grade)
    return [(*pair, sum(given) / len(given)) for pair, given in grades.items()]


def graded_batch(pairs: Sequence[tuple[int, int, float]], middle: float) -> Batch:
    """Only these pairs, each with its grade: positive from `middle` up, else negative."""
    sentences, row = _once((a, b) for a, b, _ in pairs)
    high = [pair for pair in pairs if pair[2] >= middle]
    low = [pair for pair in pairs if pair[2] < middle]
    positive, negative = ([(row[a], row[b]) for a, b, _ in kind] for kind in (high, low))
    return Batch(sentences, None, positive, negative, grades=[grade for _, _, grade in high + low])


# --- classes ---------------------------------------------------------------------------------------------------


class ClassSource:
    """K sentences from each of B / K classes. A class with a single sentence provides only negatives."""

    def __init__(self, corpus: Labelled | Groups, per_class: int) -> None:
        named = dict(zip(*corpus.classified(), strict=True))  # a repeated sentence counts once
        self.texts = list(named)
        names = {name: code for code, name in enumerate(dict.fromkeys(named.values()))}
        self._codes = [names[name] for name in named.values()]
        self._per_class = per_class
        if len(names) < 2:
            raise ValueError(
                f"corpus {corpus.name!r} has only one class in training, {next(iter(names))!r}, but at least two are "
                "needed"
            )
        if max(Counter(self._codes).values()) < 2:
            raise ValueError(
                f"corpus {corpus.name!r} has a different class for each of {len(names)} training sentences, but some "
                "classes must have two or more"
            )

    def batches(self, lengths: Sequence[int], size: int, seed: int) -> list[Batch]:
        random = Random(seed)
        members = defaultdict(list)
        for sentence, code in enumerate(self._codes):
            members[code].append(sentence)
        chunks = [chunk for of_class in members.values() for chunk in _chunks(of_class, self._per_class, random)]
        longest = [max(lengths[sentence] for sentence in chunk) for chunk in chunks]
        batches = []
        for rows in buckets(longest, max(2, size // self._per_class), seed=random.getrandbits(32)):
            sentences = [sentence for row in rows for sentence in chunks[row]]
            batches.append(Batch(sentences, [self._codes[sentence] for sentence in sentences]))
        return batches


def _chunks(members: list[int], count: int, random: Random) -> Iterator[list[int]]:
    """The members in random order, `count` at a time, without leaving one alone in its class."""
    order = random.sample(members, len(members))
    cuts = list(range(0, len(order), count))
    if len(order) > 1 and len(order) - cuts[-1] == 1:
        cuts.pop()
    yield from (order[start:stop] for start, stop in zip(cuts, [*cuts[1:], len(order)], strict=True))


# --- triplets --------------------------------------------------------------------------------------------------


def triplet_source(corpus: Triplets, *, in_batch: bool = False) -> RowSource:
    """B (anchor, positive) pairs with their negatives, at most two at a time.

    With `in_batch` the positives and negatives of the batch's other anchors are also negatives.
    """
    texts, rows = corpus.numbered()
    negatives: dict[tuple[int, int], list[int]] = defaultdict(list)
    for anchor, positive, negative in rows.tolist():
        negatives[anchor, positive].append(negative)
    triplets = [
        (*pair, far[start : start + NEGATIVES])
        for pair, far in negatives.items()
        for start in range(0, len(far), NEGATIVES)
    ]
    sentences = np.array([(a, p, far[0], far[-1]) for a, p, far in triplets])  # `far` has one or two
    return RowSource(texts, sentences, lambda rows: triplet_batch([triplets[row] for row in rows], in_batch=in_batch))


def triplet_batch(triplets: Sequence[tuple[int, int, Sequence[int]]], *, in_batch: bool) -> Batch:
    """Anchors with a positive and negatives each; with `in_batch` other anchors' sentences are also negatives."""
    sentences, row = _once((a, p, *far) for a, p, far in triplets)
    positive = [(row[a], row[p]) for a, p, _ in triplets if a != p]
    negative = [(row[a], row[n]) for a, _, far in triplets for n in far if a != n]
    crossed: tuple[list[int], list[int]] = ([], [])
    if in_batch:
        others = {row[number] for _, p, far in triplets for number in (p, *far)}
        crossed = sorted({row[a] for a, _, _ in triplets}), sorted(others)
    return Batch(sentences, None, positive, negative, crossed)


# --- texts -----------------------------------------------------------------------------------------------------


class TwiceSource:
    """B distinct sentences of any corpus, each twice: dropout gives two vectors that should be similar."""

    def __init__(self, corpus: Corpus) -> None:
        self.texts = list({normalise(text): text for text in reversed(train_sentences(corpus))}.values())[::-1]
        if len(self.texts) < 2:
            raise ValueError(
                f"corpus {corpus.name!r} has only one distinct sentence in training, but at least two are needed"
            )

    def batches(self, lengths: Sequence[int], size: int, seed: int) -> list[Batch]:
        return [Batch([*rows, *rows], twice=True) for rows in buckets(lengths, size, seed=seed)]


BatchSource: TypeAlias = RowSource | ClassSource | TwiceSource
