"""SentPWNet and its baselines: each combines a miner, a pair loss and an encoder.

    sentpwnet   informative pairs (eq. 11, 12), locality loss (eq. 8)
    siamese     every pair, contrastive loss (eq. 6)
    triplet     the hardest pair of each kind, soft-margin triplet loss (eq. 4)
    bag         labelled pairs only, contrastive loss; the mean of learned word-piece vectors
    static      like bag, but the vectors are initially distilled from a sentence-transformers model

The first three share encoder, batches and epochs; they differ only in miner and loss. The bag is the simplest learned
model: a network is worth its cost only if it beats the bag. `static` with epochs=0 is Model2Vec without training.

Eq. 8 with eq. 11 and 12 is the multi-similarity loss with its miner (Wang et al., Multi-Similarity Loss with General
Pair Weighting for Deep Metric Learning, CVPR 2019), usually with λ 0.5, β 50, ε 0.1; our defaults are in `settings.py`.

A batch of more than 2,048 sentences is computed without an m x m matrix (`labkit.pairs.large_batch`) and encoded in
chunks (`embed_in_chunks`). Results are equal up to rounding, except that dropout draws its numbers chunk by chunk.
A loss that is not a mean over anchors is limited to 2,048 sentences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit import pairs
from labkit.corpora.records import Corpus
from labkit.device import device_of
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import History, Keeper, Snapshots
from labkit.pairs.large_batch import by_anchors, noted_locality
from labkit.pairs.losses import LOSSES
from labkit.pretrained import model_source, opened_model, require_same, sum_of_weights
from labkit.progress import Progress, note
from labkit.sentpwnet.batches import Batch, BatchSource, RowSource, batch_source
from labkit.sentpwnet.settings import BagSettings, PairSettings, SiameseSettings, StaticSettings, TripletSettings
from labkit.training.encoders import ENCODERS, Encoder, Words, embed, embed_in_chunks, encode, vector_parts, ways_of
from labkit.training.loop import Figures
from labkit.training.reader import Reader, Rows
from labkit.training.trained import Network, TrainedReader, arrays_of
from labkit.training.transformer import TRANSFORMER, ModelReader, Transformer
from labkit.vectors import WordVectors

FEW_KEPT = 0.2  # share of the positive pairs; a run that keeps fewer in its first epoch learns little
TEMPERATURE = "log_temperature"  # the network's parameter for a learned temperature
LARGE = 2048  # sentences in a batch above which no m x m matrix is built


class SentPWNet(TrainedReader):
    """A sentence encoder trained on pairs.

    >>> from labkit import SentPWNet, load
    >>> method = SentPWNet(encoder="mean", epochs=2).fit(load("topics").take(range(60)))
    >>> method.encode(["A worn chain slips."]).shape
    (1, 300)
    """

    name = "sentpwnet"
    version = 2  # a batch holds one spelling of each text
    Settings = PairSettings

    network: Encoder | Transformer
    reader: Reader | ModelReader  # type: ignore[assignment] # the latter of a pretrained model
    weights: str  # a digest of the weights of a pretrained model

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> PairTask:
        settings: PairSettings = self.settings
        source = self._source(corpus, seed)
        if isinstance(source, RowSource) and source.contradictions:
            note(
                f"{source.contradictions} training pairs are labelled 0, but pairs labelled 1 connect their "
                "sentences; they count as positive",
                stacklevel=2,
            )
        if settings.encoder == TRANSFORMER:
            progress(0, None, "opening the model")
            self.network = self._started(seed, self._model_network)
            if settings.epochs:
                progress(0, None, "frozen layers")
                self.network.remember(map(self.reader.numbers, self._seen(corpus, source)))
        else:
            vectors = self._read(corpus, settings.unit, seed, progress)
            self.network = self._started(seed, partial(self._network, vectors))
        return PairTask(self.network, self.reader, source, settings, seed)

    def _source(self, corpus: Corpus, seed: int) -> BatchSource:
        """The source of the batches: all of train; a method that uses a share of the labels draws it from the seed."""
        settings: PairSettings = self.settings
        needs = LOSSES[settings.loss].needs if settings.epochs else "texts"  # without training, no labels are needed
        options: dict[str, Any] = {
            "per_class": settings.per_class,
            "in_batch": settings.in_batch,
            "labelled": settings.labelled,
        }
        return batch_source(corpus.part("train"), **options, needs=needs)

    def _seen(self, corpus: Corpus, source: BatchSource) -> Iterable[str]:
        """The sentences that training encodes repeatedly."""
        return dict.fromkeys([*source.texts, *(corpus.part("dev").sentences() if "dev" in corpus.splits else ())])

    def _keep(self, keeper: Keeper | None, history: History, snapshots: Snapshots) -> None:
        super()._keep(keeper, history, snapshots)
        if len(history) == 1:
            note_few_kept(self.settings, history.rows[0].get("kept_positives", 1.0), "epoch 1")

    def _network(self, vectors: WordVectors) -> Encoder:
        settings: PairSettings = self.settings
        words = Words(vectors, tune=settings.tune, sparse=settings.sparse)
        body = ENCODERS[settings.encoder](vectors.dimension, settings.size)
        return self._with_temperature(Encoder(words, body, dropout=settings.dropout))

    def _model_network(self) -> Transformer:
        settings: PairSettings = self.settings
        device, longest = device_of(settings.device, insist=False), settings.max_length
        model = opened_model(model_source(settings.model), str(device)).eval()
        self.reader = ModelReader(model.tokenizer, min(longest, model.max_seq_length or longest))
        self.weights = sum_of_weights(model)
        return self._with_temperature(Transformer(model, layers=settings.layers, rank=settings.adapters))

    def _with_temperature(self, network: Network) -> Network:
        settings: PairSettings = self.settings
        if settings.learns_temperature:
            network.register_parameter(TEMPERATURE, nn.Parameter(torch.tensor(math.log(settings.temperature))))
        return network

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        if self.settings.encoder == TRANSFORMER:
            return arrays_of(self.network), {"weights": self.weights}
        return super()._state()

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        if self.settings.encoder != TRANSFORMER:
            super()._restore(arrays, words)
            return
        self.network = self._filled(self._model_network, arrays)
        require_same(self.settings.model, self.weights, words["weights"])

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return encode(self.network, self.reader, sentences, batch_size, progress)

    @property
    def ways(self) -> tuple[str, ...]:
        if self.settings.encoder == TRANSFORMER:
            return ("integrated", LEFT_OUT)
        return ways_of(self.settings.encoder)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        if isinstance(self.network, Encoder):
            return vector_parts(self.network, self.reader, sentence, way, steps)
        assert isinstance(self.reader, ModelReader)
        return self.network.parts(self.reader, sentence, steps)


class Siamese(SentPWNet):
    """The first baseline, which trains on every pair with the contrastive loss (eq. 6).

    >>> from labkit import Siamese, load
    >>> method = Siamese(encoder="mean", epochs=2).fit(load("topics").take(range(60)))
    >>> len(method.history)
    2
    """

    name = "siamese"
    Settings = SiameseSettings


class Triplet(SentPWNet):
    """The second baseline, which trains on the hardest pair of each kind with the soft-margin triplet loss (eq. 4).

    >>> from labkit import Triplet, load
    >>> method = Triplet(encoder="mean", epochs=2).fit(load("topics").take(range(60)))
    >>> len(method.history)
    2
    """

    name = "triplet"
    Settings = TripletSettings


class Bag(SentPWNet):
    """The simplest learned model: the mean of word-piece vectors, trained on labelled pairs only.

    >>> from labkit import Bag, load
    >>> method = Bag(epochs=2).fit(load("questions").take(range(60)))
    >>> method.similarity_pairwise("How do I keep a cat?", "What does a cat need?").shape
    (1,)
    """

    name = "bag"
    Settings = BagSettings


class Static(Bag):
    """A bag initialised from a large model, with one vector for each of its word pieces.

    >>> from labkit import Static, load
    >>> method = Static(epochs=2).fit(load("questions"))  # doctest: +SKIP
    >>> method.encode("How do I keep a cat?").shape  # doctest: +SKIP
    (384,)
    """

    name = "static"
    Settings = StaticSettings


def note_few_kept(settings: PairSettings, share: float, when: str) -> None:
    """Add a note if an informative miner keeps only a small share of the positive pairs."""
    chosen = settings.miner == "informative" or (settings.miner == "hardest" and settings.labelled)
    if chosen and share < FEW_KEPT:
        note(f"only {100 * share:.0f} % of the positive pairs were kept in {when}: {settings.if_idle}", stacklevel=2)


def loss_of(settings: PairSettings) -> partial[Tensor]:
    """The loss (S, P, N) -> scalar of these settings."""
    loss = LOSSES[settings.loss]
    return partial(loss.function, **{name: getattr(settings, name) for name in loss.hyperparameters})


def miner_of(settings: PairSettings) -> Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The miner (S, P, N) -> (P', N') of these settings; `random` draws from the generator seeded by the loop."""
    miners: Mapping[str, Any] = {
        "informative": partial(pairs.informative, epsilon=settings.epsilon),
        "hardest": pairs.hardest,
        "random": partial(pairs.random_pairs, share=settings.share, generator=torch.default_generator),
        "none": lambda S, P, N: (P, N),
    }
    return miners[settings.miner]


def mined_loss(
    settings: PairSettings, S: Tensor, P: Tensor, N: Tensor, grades: Tensor | None, temperature: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of the pairs that the miner keeps, and their masks; a learned temperature replaces the setting."""
    loss = loss_of(settings) if temperature is None else partial(loss_of(settings), temperature=temperature)
    if grades is not None:  # graded pairs are all compared with each other, so a miner has no anchors
        return loss(S, P, N, grades=grades), P, N
    kept = miner_of(settings)(S.detach().clamp(-1, 1), P, N)
    return loss(S, *kept), *kept


class PairTask:
    """Batches of sentences, all their similarities, and the loss of the pairs that the miner keeps."""

    def __init__(self, encoder: Any, reader: Any, source: BatchSource, settings: PairSettings, seed: int) -> None:
        self.module, self._source, self._settings, self._seed = encoder, source, settings, seed
        self._rows = Rows(map(reader.numbers, source.texts))
        self._lengths = self._rows.lengths.tolist()
        self._log_temperature = encoder.get_parameter(TEMPERATURE) if settings.learns_temperature else None

    def batches(self, epoch: int) -> Sequence[Batch]:
        settings = self._settings
        batches = self._source.batches(self._lengths, settings.batch, self._seed * 100_003 + epoch)
        largest = max((len(batch) for batch in batches), default=0)
        symmetric = settings.symmetric and settings.loss == "infonce"
        if largest > LARGE and (symmetric or not LOSSES[settings.loss].by_anchor):
            raise ValueError(
                f"a batch has {largest:,} sentences, but "
                f"loss={settings.loss}{' with symmetric=yes' if symmetric else ''} allows at most {LARGE:,}, because "
                f"it compares the pairs of all anchors at once. Lower batch, which is {settings.batch:,}"
            )
        return [batch for batch in batches if len(batch) > 1]  # a single sentence has no pair

    def outputs(self, batch: Batch, rows: slice = slice(None)) -> Tensor:
        """The vectors of the batch's sentences, (m, d)."""
        sentences = batch.sentences[rows]
        if len(sentences) > LARGE:
            return embed_in_chunks(self.module, self._rows, sentences, amp=self._settings.amp)
        return embed(self.module, *self._rows.batch(sentences), amp=self._settings.amp)

    def loss(self, embeddings: Tensor, batch: Batch) -> tuple[Tensor, Callable[[], Figures]]:
        """The mean loss of vectors and prefixes (Kusupati et al. 2022); statistics are of the full vectors."""
        temperature = None if self._log_temperature is None else self._log_temperature.exp()
        cuts = self._settings.cuts
        if cuts and cuts[-1] >= embeddings.shape[1]:
            raise ValueError(
                f"setting matryoshka_dims is {self._settings.matryoshka_dims!r}, but the numbers must be below "
                f"{embeddings.shape[1]}, the length of the sentence vectors"
            )
        loss_of_rows = self._loss_of_large if len(batch) > LARGE else self._loss_of
        value, note = loss_of_rows(embeddings, batch, temperature, 1 + len(cuts))
        for cut in cuts:
            value = value + loss_of_rows(F.normalize(embeddings[:, :cut], dim=1), batch, temperature, 1)[0]
        noted = {} if temperature is None else {"temperature": temperature.detach()}
        return value / (1 + len(cuts)), lambda: {**note(), **noted}

    def _loss_of(
        self, embeddings: Tensor, batch: Batch, temperature: Tensor | None, parts: int
    ) -> tuple[Tensor, Callable[[], Figures]]:
        """The loss of normalised vectors; only its gradient, not its statistics, is divided by `parts`."""
        S = embeddings @ embeddings.T
        if S.requires_grad:
            S.retain_grad()
        P, N = batch.masks(S.device)
        grades = batch.graded(S.device) if batch.grades else None
        value, kept_P, kept_N = mined_loss(self._settings, S, P, N, grades, temperature)
        return value, lambda: _figures(S, P, N, kept_P, kept_N, parts)

    def _loss_of_large(
        self, embeddings: Tensor, batch: Batch, temperature: Tensor | None, parts: int
    ) -> tuple[Tensor, Callable[[], Figures]]:
        settings = self._settings
        if batch.classes is not None and (settings.loss, settings.miner) == ("locality", "informative"):
            scales = {name: getattr(settings, name) for name in ("alpha", "beta", "base", "epsilon")}
            value, figures = noted_locality(embeddings, batch.classes, **scales)
        else:
            masks = partial(batch.masks, embeddings.device)
            value, figures = by_anchors(embeddings, masks, miner_of(settings), loss_of(settings), temperature)
        return value, lambda: figures


def _figures(S: Tensor, P: Tensor, N: Tensor, kept_P: Tensor, kept_N: Tensor, parts: int) -> dict[str, Tensor]:
    """Batch statistics: shares kept, mean weights `m |dL/dS|` (eq. 1-3) of kept pairs, spread of S."""
    scale = len(S) * parts
    weights = torch.zeros_like(S) if S.grad is None else S.grad.abs()
    pull, push = ((weights * kept.to(S.dtype)).sum() * scale for kept in (kept_P, kept_N))
    positives, negatives = P.count_nonzero(), N.count_nonzero()
    kept_positives, kept_negatives = kept_P.count_nonzero(), kept_N.count_nonzero()
    others = S.detach().flatten()[1:].view(len(S) - 1, len(S) + 1)[:, :-1]  # without the diagonal
    return {
        "kept_positives": 1 - (positives - kept_positives) / positives.clamp(min=1),  # 1 if there are none
        "kept_negatives": 1 - (negatives - kept_negatives) / negatives.clamp(min=1),
        "weight_positives": pull / kept_positives.clamp(min=1),
        "weight_negatives": push / kept_negatives.clamp(min=1),
        "spread": others.std(correction=0),
    }
