"""What the training loop trains: one network or two, each with triplets of its own.

In: encoders, a reader, triplets for each encoder. Out: a `Task` of the loop: batches, their loss, dev's figure.

Triplets that follow each other in the corpus come from one section and share sentences. So a few neighbours stay in
one batch, where every sentence is encoded once: that saves most of the work, and a batch still mixes many articles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.corpora.records import Triplets
from labkit.evaluation import triplet_accuracy
from labkit.progress import silent
from labkit.thematic.network import DISTANCES, LOSSES, ThematicSettings
from labkit.training.encoders import Encoder, embed, encode
from labkit.training.reader import Reader

# --- batches -----------------------------------------------------------------------------------------------------

PART = 64  # sentences padded to one length


@dataclass(frozen=True, eq=False)
class TripletRows:
    """Distinct sentences, and the triplets as their numbers."""

    texts: list[str]
    triplets: np.ndarray  # int64 (n, 3): anchor, positive, negative

    @classmethod
    def of(cls, corpus: Triplets) -> TripletRows:
        texts = corpus.sentences()
        number = {text: row for row, text in enumerate(texts)}
        columns = (corpus.anchors, corpus.positives, corpus.negatives)
        return cls(texts, np.array([[number[text] for text in column] for column in columns], dtype=np.int64).T)


@dataclass(frozen=True, eq=False)
class TripletBatch:
    """The network that learns from it, its sentences by number, and its triplets as places among these."""

    network: int
    sentences: list[int]
    triplets: np.ndarray  # int64 (b, 3)


def batches(rows: TripletRows, size: int, neighbours: int, *, seed: int, network: int = 0) -> list[TripletBatch]:
    """Make batches of all triplets once, `size` a batch, in which runs of `neighbours` stand as in the corpus."""
    starts = list(range(0, len(rows.triplets), neighbours))
    Random(seed).shuffle(starts)
    runs = max(1, size // neighbours)
    made = []
    for first in range(0, len(starts), runs):
        chosen = [rows.triplets[start : start + neighbours] for start in starts[first : first + runs]]
        sentences, places = np.unique(np.concatenate(chosen), return_inverse=True)
        made.append(TripletBatch(network, sentences.tolist(), places.reshape(-1, 3)))
    return made


def of_like_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Cut the places of sentences of these lengths into pieces of like length, so that little is padded."""
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    return (order[start : start + PART] for start in range(0, len(order), PART))


# --- task --------------------------------------------------------------------------------------------------------


class TripletTask:
    """Batches of triplets, each for one network to learn from, and their mean loss."""

    def __init__(
        self,
        encoders: Sequence[Encoder],
        triplets: Sequence[Triplets],
        reader: Reader,
        settings: ThematicSettings,
        *,
        seed: int,
    ) -> None:
        self.module = nn.ModuleList(encoders)
        self._encoders, self._reader, self._settings, self._seed = encoders, reader, settings, seed
        self._train = [TripletRows.of(corpus.part("train")) for corpus in triplets]
        self._numbers = [[reader.numbers(text) for text in rows.texts] for rows in self._train]
        self.dev_triplets = [TripletRows.of(corpus.part("dev")) for corpus in triplets if "dev" in corpus.splits]

    def batches(self, epoch: int) -> Sequence[TripletBatch]:
        settings, seed = self._settings, self._seed * 100_003 + epoch
        made = [
            batch
            for network, rows in enumerate(self._train)
            for batch in batches(rows, settings.batch, settings.neighbours, seed=seed, network=network)
        ]
        Random(seed).shuffle(made)  # two networks take turns
        return made

    def loss(self, batch: TripletBatch) -> tuple[Tensor, Callable[[], dict[str, Tensor]]]:
        scale, loss = self._settings.scale, LOSSES[self._settings.loss]
        sides = self._sides(self.embeddings(batch), batch.triplets)
        near, far = self._distances(*sides)
        return loss(scale * near, scale * far).mean(), partial(_figures, near, far, *sides)

    def embeddings(self, batch: TripletBatch) -> Tensor:
        """The batch's sentences, (m, d), encoded in pieces of like length."""
        rows = [self._numbers[batch.network][sentence] for sentence in batch.sentences]
        pieces = list(of_like_length([len(row) for row in rows]))
        encoder, half = self._encoders[batch.network], self._settings.half
        made = torch.cat([embed(encoder, self._reader, [rows[i] for i in piece], half=half) for piece in pieces])
        back = torch.tensor([place for piece in pieces for place in piece]).argsort()
        return made[back.to(made.device)]

    def dev(self) -> tuple[str, float]:
        """Measure the share of dev's triplets that are right; of two networks the mean, each asked of its own kind."""
        right = []
        for encoder, rows in zip(self._encoders, self.dev_triplets, strict=True):
            vectors = torch.from_numpy(encode(encoder, self._reader, rows.texts, 256, silent))
            near, far = self._distances(*self._sides(vectors, rows.triplets))
            right.append(triplet_accuracy(-near.numpy(), -far.numpy()))
        return "dev_triplets", float(np.mean(right))

    def _sides(self, vectors: Tensor, triplets: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """The vectors of anchors, positives and negatives, (n, d) each."""
        anchors, positives, negatives = torch.from_numpy(triplets).to(vectors.device).T
        return vectors[anchors], vectors[positives], vectors[negatives]

    def _distances(self, anchors: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        """d⁺ and d⁻, (n,) each."""
        distance = DISTANCES[self._settings.distance]
        return distance(anchors, positives), distance(anchors, negatives)


def _figures(near: Tensor, far: Tensor, *sides: Tensor) -> dict[str, Tensor]:
    """The share of a batch's triplets that are right, and the standard deviation of their cosines."""
    anchors, positives, negatives = (side.detach() for side in sides)
    cosines = torch.cat([F.cosine_similarity(anchors, other) for other in (positives, negatives)])
    return {"right": (near < far).double().mean(), "spread": cosines.std(correction=0)}
