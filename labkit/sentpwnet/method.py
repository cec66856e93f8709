"""SentPWNet, and what it is measured against: a miner, a pair loss and an encoder put together.

    sentpwnet   informative pairs (eq. 11, 12), locality loss (eq. 8)
    siamese     every pair, contrastive loss (eq. 6)
    triplet     the hardest pair of each kind, soft-margin triplet loss (eq. 4)
    bag         the labelled pairs alone, contrastive loss; the mean of word pieces that learn, and nothing else

The first three have the same encoder, batches and epochs: they differ in two settings, and every other combination is
one more method. The last is the simplest thing that learns, and no paper's: what does not lead it has yet to show what
its network is for.

Eq. 8 with eq. 11 and 12 is the multi-similarity loss with its miner (Wang et al., Multi-Similarity Loss with General
Pair Weighting for Deep Metric Learning, CVPR 2019). λ 0.9, β 20 and ε 0.3 were chosen on dev for `sentpwnet` alone;
the settings of the two others are as they first stood, so it is no even race. With the usual values of that loss
(λ 0.5, β 50, ε 0.1) `sentpwnet` is behind `triplet` on `questions`: notebooks/ablations/sentpwnet-values.json.

A batch of more than 2,048 sentences is learned from without an m x m matrix (`labkit.pairs.large_batch`), and encoded
in chunks (`embed_in_chunks`). What it gives is what the matrix would give, to rounding; dropout draws its numbers chunk
by chunk. Up to 2,048 the matrices take little (17 MB each, some ten of them), and the encoder would read each sentence
twice for nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit import pairs
from labkit.corpora.records import Corpus
from labkit.method import setting
from labkit.pairs.large_batch import by_anchors, noted_locality
from labkit.pairs.weights import Loss
from labkit.progress import Progress
from labkit.sentpwnet.batches import Batch, BatchSource, PairSource, batch_source
from labkit.training import Training
from labkit.training.encoders import ENCODERS, Encoder, Words, embed, embed_in_chunks, encode
from labkit.training.loop import Figures
from labkit.training.reader import LEARNED, UNITS, Reader, Rows
from labkit.training.trained import TrainedReader
from labkit.vectors import WordVectors

LOSSES = ("locality", "contrastive", "soft-triplet")
MINERS = ("informative", "hardest", "random", "none")
LARGE = 2048  # sentences of a batch, beyond which no m x m matrix is made


@dataclass(frozen=True, kw_only=True)
class PairSettings(Training):
    """Miner, loss, encoder, words and batches."""

    epochs: int = setting(12, "how often all training sentences are seen; 0: untrained", least=0, most=10_000)
    batch: int = setting(
        64,
        "pairs, triplets or sentences a step learns from; beyond 2,048 sentences no matrix of all pairs is held, with "
        "any loss and miner (locality with informative is quickest)",
        least=2,
        most=100_000,
        only="epochs",
    )
    learning_rate: float = setting(0.003, "step size of Adam", above=0, most=10, only="epochs")
    longest: int = setting(100, "words (characters of places) of a sentence that are read", least=1, most=100_000)
    encoder: str = setting("cnn", "how words become a sentence", choices=tuple(ENCODERS))
    loss: str = setting("locality", "what pulls and pushes", choices=LOSSES, only="epochs")
    miner: str = setting("informative", "which pairs the loss sees", choices=MINERS, only="epochs")
    alpha: float = setting(2.0, "locality: scale of positives", above=0, only="epochs, loss=locality")
    beta: float = setting(20.0, "locality: scale of negatives", above=0, only="epochs, loss=locality")
    base: float = setting(
        0.9, "locality: the similarity λ both kinds are measured from", least=-1, most=1, only="epochs, loss=locality"
    )
    margin: float = setting(
        0.5,
        "contrastive: negatives below this similarity count nothing",
        least=-1,
        most=1,
        only="epochs, loss=contrastive",
    )
    epsilon: float = setting(
        0.3, "informative: slack ε of the keep rule; the paper's is 0.1", only="epochs, miner=informative"
    )
    share: float = setting(0.5, "random: share of the pairs kept", above=0, most=1, only="epochs, miner=random")
    size: int = setting(300, "length of a sentence's vector", least=3, most=10_000, only="encoder!=bag")
    dropout: float = setting(0.2, "share of word vector entries dropped in training", least=0, most=0.95, only="epochs")
    unit: str = setting("auto", "what a sentence consists of", choices=("auto", *UNITS))
    vectors: str = setting("auto", "word vectors to start with: auto, ppmi, random, or a file (GloVe, word2vec, .npz)")
    dimension: int = setting(
        100, "length of a word vector made here", least=1, most=10_000, only="vectors=auto|ppmi|random"
    )
    pieces: str = setting(
        LEARNED,
        "whose: learned from the training sentences, or a sentence-transformers model's",
        only="unit=pieces",
        added=True,
    )
    most: int = setting(
        8_000, "how many pieces are learned", least=2, most=1_000_000, only="unit=pieces, pieces=learned", added=True
    )
    tune: bool = setting(True, "let training move the word vectors", only="epochs")
    sparse: bool = setting(True, "move only the word vectors a batch has read", only="epochs, tune")
    least: int = setting(2, "a word must occur so often in training to be known", least=1, only="unit!=pieces")
    per_class: int = setting(
        4, "classes and groups: sentences of one class in a batch", least=2, only="epochs, corpus=Labelled|Groups"
    )
    labelled: bool = setting(
        False,
        "pairs: those that are labelled count, not all others of the batch",
        only="epochs, corpus=Pairs",
        added=True,
    )
    in_batch: bool = setting(
        False,
        "triplets: what belongs to the batch's other anchors is negative, too",
        only="epochs, corpus=Triplets|Articles",
    )


@dataclass(frozen=True, kw_only=True)
class SiameseSettings(PairSettings):
    loss: str = setting("contrastive", "what pulls and pushes", choices=LOSSES, only="epochs")
    miner: str = setting("none", "which pairs the loss sees", choices=MINERS, only="epochs")


@dataclass(frozen=True, kw_only=True)
class TripletSettings(PairSettings):
    loss: str = setting("soft-triplet", "what pulls and pushes", choices=LOSSES, only="epochs")
    miner: str = setting("hardest", "which pairs the loss sees", choices=MINERS, only="epochs")


@dataclass(frozen=True, kw_only=True)
class BagSettings(SiameseSettings):
    epochs: int = setting(6, "how often all training sentences are seen; 0: untrained", least=0, most=10_000)
    batch: int = setting(128, "pairs, triplets or sentences a step learns from", least=2, most=100_000, only="epochs")
    encoder: str = setting("bag", "how words become a sentence", choices=tuple(ENCODERS))
    dropout: float = setting(0.0, "share of word vector entries dropped in training", least=0, most=0.95, only="epochs")
    unit: str = setting("pieces", "what a sentence consists of", choices=("auto", *UNITS))
    vectors: str = setting(
        "random", "word vectors to start with: auto, ppmi, random, or a file (GloVe, word2vec, .npz)"
    )
    dimension: int = setting(
        256, "length of a word vector made here", least=1, most=10_000, only="vectors=auto|ppmi|random"
    )
    labelled: bool = setting(
        True, "pairs: those that are labelled count, not all others of the batch", only="epochs, corpus=Pairs"
    )


class SentPWNet(TrainedReader):
    """A sentence encoder trained on pairs."""

    name = "sentpwnet"
    Settings = PairSettings

    network: Encoder

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> PairTask:
        settings: PairSettings = self.settings
        source = batch_source(
            corpus.part("train"), per_class=settings.per_class, in_batch=settings.in_batch, labelled=settings.labelled
        )
        if isinstance(source, PairSource) and source.contradictions:
            warnings.warn(
                f"{source.contradictions} training pairs are labelled 0 although others labelled 1 join their "
                "sentences; they count as positive",
                stacklevel=2,
            )
        vectors = self._read(corpus, settings.unit, seed, progress)
        self.network = self._started(seed, partial(self._network, vectors))
        return PairTask(self.network, self.reader, source, settings, seed)

    def _network(self, vectors: WordVectors) -> Encoder:
        settings: PairSettings = self.settings
        words = Words(vectors, tune=settings.tune, sparse=settings.sparse)
        return Encoder(words, ENCODERS[settings.encoder](vectors.dimension, settings.size), dropout=settings.dropout)

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return encode(self.network, self.reader, sentences, batch_size, progress)


class Siamese(SentPWNet):
    """The first baseline: every pair counts, under the contrastive loss (eq. 6)."""

    name = "siamese"
    Settings = SiameseSettings


class Triplet(SentPWNet):
    """The second baseline: the hardest pair of each kind, under the soft-margin triplet loss (eq. 4)."""

    name = "triplet"
    Settings = TripletSettings


class Bag(SentPWNet):
    """The simplest thing that learns: the mean of word pieces, by the labelled pairs alone."""

    name = "bag"
    Settings = BagSettings


def loss_of(settings: PairSettings) -> Loss:
    """Give the loss (S, P, N) -> scalar of these settings."""
    losses: Mapping[str, Loss] = {
        "locality": partial(pairs.locality, alpha=settings.alpha, beta=settings.beta, base=settings.base),
        "contrastive": partial(pairs.contrastive, margin=settings.margin),
        "soft-triplet": pairs.soft_triplet,
    }
    return losses[settings.loss]


def miner_of(settings: PairSettings) -> Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Give the miner (S, P, N) -> (P', N') of these settings; `random` draws from the generator the loop has seeded."""
    miners: Mapping[str, Any] = {
        "informative": partial(pairs.informative, epsilon=settings.epsilon),
        "hardest": pairs.hardest,
        "random": partial(pairs.random_pairs, share=settings.share, generator=torch.default_generator),
        "none": lambda S, P, N: (P, N),
    }
    return miners[settings.miner]


class PairTask:
    """Batches of sentences, all their similarities, and the loss of the pairs that the miner keeps."""

    def __init__(
        self, encoder: Encoder, reader: Reader, source: BatchSource, settings: PairSettings, seed: int
    ) -> None:
        self.module, self._reader, self._settings = encoder, reader, settings
        self._source, self._seed = source, seed
        self._rows = Rows(map(reader.numbers, source.texts))
        self._lengths = self._rows.lengths
        self._loss, self._miner = loss_of(settings), miner_of(settings)

    def batches(self, epoch: int) -> Sequence[Batch]:
        batches = self._source.batches(self._lengths, self._settings.batch, self._seed * 100_003 + epoch)
        return [batch for batch in batches if len(batch.sentences) > 1]  # one sentence alone has no pair

    def loss(self, batch: Batch) -> tuple[Tensor, Callable[[], Figures]]:
        embeddings = self.embeddings(batch)
        if len(batch.sentences) > LARGE:
            loss, figures = self._loss_of_large(embeddings, batch)
            return loss, lambda: figures
        S = embeddings @ embeddings.T
        if S.requires_grad:
            S.retain_grad()
        P, N = batch.masks(S.device)
        kept_P, kept_N = self._miner(S.clamp(-1, 1), P, N)
        return self._loss(S, kept_P, kept_N), partial(_figures, S, P, N, kept_P, kept_N)

    def _loss_of_large(self, embeddings: Tensor, batch: Batch) -> tuple[Tensor, Figures]:
        settings = self._settings
        if batch.classes is None or (settings.loss, settings.miner) != ("locality", "informative"):
            return by_anchors(embeddings, partial(batch.masks, embeddings.device), self._miner, self._loss)
        scales = {"alpha": settings.alpha, "beta": settings.beta, "base": settings.base}
        return noted_locality(embeddings, batch.classes, **scales, epsilon=settings.epsilon)

    def embeddings(self, batch: Batch) -> Tensor:
        """The whole batch, (m, d)."""
        rows = [self._rows[sentence] for sentence in batch.sentences]
        encode_rows = embed_in_chunks if len(rows) > LARGE else embed
        return encode_rows(self.module, self._reader, rows, half=self._settings.half)


def _figures(S: Tensor, P: Tensor, N: Tensor, kept_P: Tensor, kept_N: Tensor) -> dict[str, Tensor]:
    """What to note of a batch: shares kept, mean weights `m |dL/dS|` (eq. 1-3) of the kept, spread of S."""
    weights = torch.zeros_like(S) if S.grad is None else S.grad.abs() * len(S)
    others = ~torch.eye(len(S), dtype=torch.bool, device=S.device)
    return {
        "kept_positives": 1 - (P.sum() - kept_P.sum()) / P.sum().clamp(min=1),  # where there is none, none is dropped
        "kept_negatives": 1 - (N.sum() - kept_N.sum()) / N.sum().clamp(min=1),
        "weight_positives": (weights * kept_P).sum() / kept_P.sum().clamp(min=1),
        "weight_negatives": (weights * kept_N).sum() / kept_N.sum().clamp(min=1),
        "spread": S.detach()[others].std(correction=0),
    }
