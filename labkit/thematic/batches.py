"""Triplets of sentences to batches. In: a corpus of triplets. Out: its distinct sentences, and batches of any epoch.

Triplets that follow each other in the corpus come from one section and share sentences. So a few neighbours stay in
one batch, where every sentence is encoded once: that saves most of the work, and a batch still mixes many articles.
`parts` cuts a batch into pieces of like length, so that little is padded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from labkit.corpora.records import Triplets

PART = 64  # sentences padded to one length


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct sentences, and the triplets as their numbers."""

    texts: list[str]
    triplets: np.ndarray  # int64 (n, 3): anchor, positive, negative

    @classmethod
    def of(cls, corpus: Triplets) -> Rows:
        texts = corpus.sentences()
        number = {text: row for row, text in enumerate(texts)}
        columns = (corpus.anchors, corpus.positives, corpus.negatives)
        return cls(texts, np.array([[number[text] for text in column] for column in columns], dtype=np.int64).T)


@dataclass(frozen=True, eq=False)
class Batch:
    """The network that learns from it, its sentences by number, and its triplets as places among these."""

    network: int
    sentences: list[int]
    triplets: np.ndarray  # int64 (b, 3)


def batches(rows: Rows, size: int, neighbours: int, *, seed: int, network: int = 0) -> list[Batch]:
    """All triplets once, `size` a batch, in which runs of `neighbours` stand as in the corpus."""
    starts = list(range(0, len(rows.triplets), neighbours))
    Random(seed).shuffle(starts)
    runs = max(1, size // neighbours)
    made = []
    for first in range(0, len(starts), runs):
        chosen = [rows.triplets[start : start + neighbours] for start in starts[first : first + runs]]
        sentences, places = np.unique(np.concatenate(chosen), return_inverse=True)
        made.append(Batch(network, sentences.tolist(), places.reshape(-1, 3)))
    return made


def parts(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of sentences of these lengths, in pieces of like length."""
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    return (order[start : start + PART] for start in range(0, len(order), PART))
