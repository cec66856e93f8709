"""Batches of sentences with their two masks, made of a corpus of any shape.

    Pairs       both sentences of B pairs; positives lie in one component of the graph of the pairs labelled 1, and
                all others of the batch are negatives; with `labelled` the pairs themselves alone count
    Labelled    B sentences: K of each of B / K classes          Groups    the same, with groups for classes
    Triplets    B anchors with a positive and one or two negatives each; nothing else is known, so nothing else counts,
                unless with `in_batch` what belongs to other anchors is a negative, as the titles of other sections are
    graded      both sentences of B pairs with all their grades, for a loss of grades
    any shape   B sentences, each twice, for a loss without labels: a sentence's positive is its twin

In: the training split, and what the loss needs: "masks", "grades" or "texts". Out: a `BatchSource`, which makes the
batches of any epoch from a seed alone. But for the last kind no batch holds a sentence twice, in whatever
spelling: "Why is it?" beside "why  is it?" would be a negative that is none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Sentences, Triplets, grade_ends
from labkit.corpora.relations import components, opened, train_sentences
from labkit.text import buckets, normalise

NEGATIVES = 2  # of a triplet's anchor in one batch: one from the section before, one from the one after


@dataclass(frozen=True)
class Batch:
    """Sentences by number, and either a class each, or which pairs (row, row) are positive and negative.

    Where `crossed` names rows and others, each of these others is a negative of each of these rows, too, unless it is
    the same or a positive. `grades` are those of the pairs in `positive` and then of those in `negative`. With `twice`
    the second half of the sentences is the first once more: the positive of a row is its twin in the other half, its
    negatives are the others there.
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
        """P and N of the rows in `anchors`, of all without it: bool (k, m)."""
        total = len(self.sentences)
        start, stop, _ = anchors.indices(total)
        if self.classes is not None:
            classes = self._classes.to(device)  # (m,)
            P = classes[start:stop, None] == classes
            N = ~P
            P.diagonal(start).fill_(False)  # a row is no pair of itself; of anchors from `start` on, that diagonal
            return P, N
        if self.twice:
            row, column = torch.arange(start, stop, device=device)[:, None], torch.arange(total, device=device)
            other = (row < total // 2) != (column < total // 2)  # (k, m): in the other half
            twin = (row - column).abs() == total // 2
            return other & twin, other & ~twin
        P, N = torch.zeros(2, stop - start, total, dtype=torch.bool)  # (k, m) each: what nobody said is unknown
        for mask, (rows, others) in zip((P, N), self._pairs, strict=True):
            inside = (start <= rows) & (rows < stop)
            mask[rows[inside] - start, others[inside]] = True
        if self.crossed[0]:
            rows, others = (
                torch.zeros(total, dtype=torch.bool).index_fill_(0, torch.tensor(each), True) for each in self.crossed
            )
            N |= rows[start:stop, None] & others & ~P  # (k, 1) & (m,) & (k, m)
            N.diagonal(start).fill_(False)
        return P.to(device), N.to(device)

    def graded(self, device: torch.device) -> Tensor:
        """The grade of each pair in one of the two masks, (m, m), 0 elsewhere."""
        grades = torch.zeros(len(self.sentences), len(self.sentences), dtype=torch.float64)
        rows, others = torch.cat(self._pairs, 1)
        grades[rows, others] = torch.tensor(self.grades, dtype=torch.float64)
        return grades.to(torch.float32).to(device)

    @cached_property
    def _classes(self) -> Tensor:
        return torch.tensor(self.classes)

    @cached_property
    def _pairs(self) -> list[Tensor]:
        """Rows and others of the positive pairs, and of the negative ones, each (2, n)."""
        return [torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T for pairs in (self.positive, self.negative)]


class BatchSource(Protocol):
    """The training sentences, and the batches of an epoch."""

    texts: list[str]

    def batches(self, lengths: Sequence[int], size: int, seed: int) -> list[Batch]:
        """All batches of one epoch; `lengths` of the texts, so that a batch holds sentences of like length."""


def batch_source(
    corpus: Corpus, *, per_class: int, in_batch: bool = False, labelled: bool = False, needs: str = "masks"
) -> BatchSource:
    """The source that fits the shape of a training split, and what the loss `needs` ("masks", "grades", "texts"); a
    ValueError says what is missing for pairs to be learned."""
    if needs == "texts":
        return TwiceSource(corpus)
    if isinstance(corpus, Sentences):
        raise corpus.without_labels(
            "this loss needs to know which sentences belong together (loss=simcse with dropout=0.1 does not)"
        )
    if isinstance(corpus, Articles):
        corpus = opened(corpus)
    corpus = in_one_spelling(corpus)
    if isinstance(corpus, Triplets):
        return triplet_source(corpus, in_batch=in_batch)
    if isinstance(corpus, Pairs) and corpus.graded and needs == "grades":
        return graded_source(corpus)
    if isinstance(corpus, Pairs):
        return pair_source(near_and_far(corpus) if corpus.graded else corpus, labelled=labelled)
    assert isinstance(corpus, Labelled | Groups)
    return ClassSource(corpus, per_class)


def in_one_spelling(corpus: Corpus) -> Corpus:
    """The corpus with one spelling of each text, the first: `normalise` says which spellings are of one text."""
    first: dict[str, str] = {}
    spelled: dict[str, Any] = {
        column: [first.setdefault(normalise(text), text) for text in getattr(corpus, column)] for column in corpus.TEXTS
    }
    return replace(corpus, **spelled) if len(first) < len(corpus.sentences()) else corpus


@dataclass
class RowSource:
    """Batches of rows, which are pairs, graded pairs or triplets.

    `sentences` has the sentences of each row, by number; `batch` makes a batch of rows, which are given by number, too.
    """

    texts: list[str]
    sentences: Sequence[Sequence[int]]
    batch: Callable[[list[int]], Batch]
    contradictions: int = 0  # pairs labelled 0 whose sentences are joined by others labelled 1

    def batches(self, lengths: Sequence[int], size: int, seed: int) -> list[Batch]:
        longest = [max(lengths[sentence] for sentence in row) for row in self.sentences]
        return [self.batch(rows) for rows in buckets(longest, size, seed=seed)]


# --- pairs -----------------------------------------------------------------------------------------------------


def pair_source(corpus: Pairs, *, labelled: bool = False) -> RowSource:
    """Both sentences of B pairs; the class of a sentence is its component, or with `labelled` only its label counts."""
    texts, component = components(corpus)  # (sentences,)
    ends, same = corpus.numbered()[1], corpus.scores > 0  # (pairs, 2), (pairs,)
    if not same.any():
        raise ValueError(
            f"corpus {corpus.name!r} has no positive pair among {len(corpus)} in training; add pairs labelled 1"
        )
    if not component.any() and (same.all() or not labelled):
        raise ValueError(
            f"corpus {corpus.name!r}: its training pairs labelled 1 join all sentences into one class, but at least "
            "two are needed"
        )
    pairs, classes = ends.tolist(), component.tolist()

    def batch(rows: list[int]) -> Batch:
        if labelled:
            return labelled_batch([(*pairs[row], bool(same[row])) for row in rows])
        sentences = list(dict.fromkeys(sentence for row in rows for sentence in pairs[row]))
        return Batch(sentences, [classes[sentence] for sentence in sentences])

    joined = component[ends[:, 0]] == component[ends[:, 1]]
    return RowSource(texts, pairs, batch, contradictions=int((joined & ~same).sum()))


def labelled_batch(pairs: Sequence[tuple[int, int, bool]]) -> Batch:
    """These pairs alone, each way: (sentence, sentence, the same?). Of a pair told both, "the same" counts."""
    sentences = list(dict.fromkeys(sentence for a, b, _ in pairs for sentence in (a, b)))
    place = {sentence: number for number, sentence in enumerate(sentences)}
    kinds: dict[bool, set[tuple[int, int]]] = {True: set(), False: set()}
    for a, b, same in pairs:
        kinds[same] |= {(place[a], place[b]), (place[b], place[a])} if a != b else set()
    return Batch(sentences, None, sorted(kinds[True]), sorted(kinds[False] - kinds[True]))


def near_and_far(corpus: Pairs) -> Pairs:
    """Graded pairs as 0/1: from four fifths of the top grade on the same, up to two fifths another, between unknown."""
    top = max(corpus.values)
    near, far = grade_ends(corpus.scores, top)
    if not (near | far).any():
        raise ValueError(
            f"corpus {corpus.name!r}: no grade is at least 80 % or at most 40 % of the top one ({top:g}); "
            "a pair loss needs pairs that are clearly near or far"
        )
    ends = corpus.take(np.flatnonzero(near | far).tolist())
    return replace(ends, values=near[near | far].astype(float).tolist(), graded=False)


def graded_source(corpus: Pairs) -> RowSource:
    """Both sentences of B pairs, each pair with its grade: positive from half of the scale on, else negative.

    Nothing is known of sentences of two pairs. A pair that is there more than once has its mean grade.
    """
    texts, ends = corpus.numbered()
    pairs = mean_grades(zip(*ends.T.tolist(), corpus.values, strict=True))
    among = {grade for _, _, grade in pairs}
    if len(among) < 2:
        raise ValueError(
            f"corpus {corpus.name!r} has only one grade among {len(corpus)} training pairs, but at least two are needed"
        )
    middle = (min(among) + max(among)) / 2
    return RowSource(
        texts, [(a, b) for a, b, _ in pairs], lambda rows: graded_batch([pairs[row] for row in rows], middle)
    )


def mean_grades(pairs: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Each pair of two sentences once, with the mean of the grades it was given; its sentences in either order."""
    grades: dict[tuple[int, int], list[float]] = defaultdict(list)
    for a, b, grade in pairs:
        if a != b:
            grades[min(a, b), max(a, b)].append(grade)
    return [(*pair, sum(given) / len(given)) for pair, given in grades.items()]


def graded_batch(pairs: Sequence[tuple[int, int, float]], middle: float) -> Batch:
    """These pairs alone, each with its grade: positive from `middle` on, else negative."""
    sentences = list(dict.fromkeys(number for a, b, _ in pairs for number in (a, b)))
    row = {sentence: place for place, sentence in enumerate(sentences)}
    high = [pair for pair in pairs if pair[2] >= middle]
    low = [pair for pair in pairs if pair[2] < middle]
    positive, negative = ([(row[a], row[b]) for a, b, _ in kind] for kind in (high, low))
    return Batch(sentences, None, positive, negative, grades=[grade for _, _, grade in high + low])


# --- classes ---------------------------------------------------------------------------------------------------


class ClassSource:
    """K sentences of each of B / K classes. A class of one sentence can only be a negative."""

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
    """The members in random order, `count` at a time; of a class of at least two, none is left alone."""
    order = random.sample(members, len(members))
    cuts = list(range(0, len(order), count))
    if len(order) > 1 and len(order) - cuts[-1] == 1:
        cuts.pop()
    yield from (order[start:stop] for start, stop in zip(cuts, [*cuts[1:], len(order)], strict=True))


# --- triplets --------------------------------------------------------------------------------------------------


def triplet_source(corpus: Triplets, *, in_batch: bool = False) -> RowSource:
    """B (anchor, positive) pairs with the negatives given for them, at most two at a time.

    With `in_batch` the positives and negatives of the batch's other anchors are negatives too.
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
    return RowSource(
        texts,
        [(a, p, *far) for a, p, far in triplets],
        lambda rows: triplet_batch([triplets[row] for row in rows], in_batch=in_batch),
    )


def triplet_batch(triplets: Sequence[tuple[int, int, Sequence[int]]], *, in_batch: bool) -> Batch:
    """Anchors, each with a positive and negatives; with `in_batch` all that belongs to the others is negative, too."""
    sentences = list(dict.fromkeys(number for a, p, far in triplets for number in (a, p, *far)))
    row = {sentence: place for place, sentence in enumerate(sentences)}
    positive = {(row[a], row[p]) for a, p, _ in triplets if a != p}
    negative = {(row[a], row[n]) for a, _, far in triplets for n in far if a != n}
    crossed: tuple[list[int], list[int]] = ([], [])
    if in_batch:
        others = {row[number] for _, p, far in triplets for number in (p, *far)}
        crossed = sorted({row[a] for a, _, _ in triplets}), sorted(others)
    return Batch(sentences, None, sorted(positive), sorted(negative - positive), crossed)


# --- texts -----------------------------------------------------------------------------------------------------


class TwiceSource:
    """B distinct sentences of any corpus, each twice: dropout makes two vectors of it, and these are to be near."""

    def __init__(self, corpus: Corpus) -> None:
        self.texts = list({normalise(text): text for text in reversed(train_sentences(corpus))}.values())[::-1]
        if len(self.texts) < 2:
            raise ValueError(
                f"corpus {corpus.name!r} has only one distinct sentence in training, but at least two are needed"
            )

    def batches(self, lengths: Sequence[int], size: int, seed: int) -> list[Batch]:
        return [Batch([*rows, *rows], twice=True) for rows in buckets(lengths, size, seed=seed)]
