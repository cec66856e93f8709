"""One batch of a corpus, as a training would see it, in class order. In: any corpus. Out: a `SentenceBatch`.

`labkit.methods.batches` makes batches of numbers for the training loop; this is one of them with its texts, to be read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from labkit.corpora.records import Corpus, Groups, Labelled, Pairs
from labkit.evaluation.inputs import whole
from labkit.methods.batches import source_of
from labkit.scores import classes_of
from labkit.text import words

MOST = 400  # sentences: all their pairs are drawn, and a loss over triplets grows with the third power


@dataclass(frozen=True, eq=False)
class SentenceBatch:
    """m texts with a class each, those of one class side by side, and the masks P and N, bool (m, m)."""

    texts: tuple[str, ...]
    classes: tuple[str, ...]
    positive: np.ndarray
    negative: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: list[int]) -> SentenceBatch:
        """These sentences, in this order."""
        texts, classes = ([column[row] for row in rows] for column in (self.texts, self.classes))
        cut = np.ix_(rows, rows)
        return SentenceBatch(tuple(texts), tuple(classes), self.positive[cut], self.negative[cut])

    @property
    def busiest(self) -> int:
        """The row with the most positives, the first among equals: a good one to look at first."""
        return int(self.positive.sum(axis=1).argmax())

    def kind(self, anchor: int, other: int) -> str:
        """What the other sentence is to the anchor: itself, positive, negative or unknown.

        >>> two = SentenceBatch(("a", "b"), ("x", "x"), ~np.eye(2, dtype=bool), np.zeros((2, 2), bool))
        >>> two.kind(0, 0), two.kind(0, 1)
        ('itself', 'positive')
        """
        if anchor == other:
            return "itself"
        masks = ((self.positive, "positive"), (self.negative, "negative"))
        return next((name for mask, name in masks if mask[anchor, other]), "unknown")


def sentence_batch(
    corpus: Corpus, *, size: int = 32, per_class: int = 4, seed: int = 0, split: str = "train"
) -> SentenceBatch:
    """About `size` sentences of one split. `per_class` of each class where there are classes; whole pairs or triplets
    otherwise. Another seed, another batch."""
    whole("size", size, 4, MOST, "sentences of the batch")
    whole("per_class", per_class, 2, MOST, "sentences of one class")
    part = corpus.part(split)
    source = source_of(part, per_class=per_class)
    in_one = 1 if isinstance(part, Labelled | Groups) else 2 if isinstance(part, Pairs) else 3
    lengths = [len(words(text)) for text in source.texts]
    made = source.batches(lengths, max(1, size // in_one), seed)
    batch = max(made, key=lambda found: len(found.sentences) > 1)  # the first that has a pair at all
    positive, negative = (mask.numpy() for mask in batch.masks(torch.device("cpu")))
    texts = tuple(source.texts[number] for number in batch.sentences)
    found = SentenceBatch(texts, _classes(part, texts, positive), positive, negative)
    places = {name: place for place, name in reversed(list(enumerate(found.classes)))}
    return found.take(sorted(range(len(found)), key=lambda row: places[found.classes[row]]))


def _classes(part: Corpus, texts: tuple[str, ...], positive: np.ndarray) -> tuple[str, ...]:
    """The corpus' own names; where it has none, the numbers of the groups that positive pairs tie together."""
    if isinstance(part, Labelled | Groups):
        named = dict(zip(part.texts, classes_of(part), strict=True))
        return tuple(named[text] for text in texts)
    tied = connected_components(coo_array(positive), directed=False)[1]
    return tuple(f"group {number + 1}" for number in tied.tolist())
