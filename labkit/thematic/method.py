"""Thematic triplets: a sentence encoder that learns from the sections of articles (Ein Dor et al. 2018).

    articles -> triplets by a rule -> network -> d⁺, d⁻ -> loss(scale · d⁺, scale · d⁻)

In: articles, or your own triplets. Out: vectors of `size` numbers. The rule `both` concatenates the vectors of two
networks, one trained on sentences and one on section titles (triplets-sen-titles). Settings, network and loss are in
`labkit.thematic.network`.

Consecutive triplets of the corpus share sentences. Short runs of them stay together in a batch, where each sentence is
encoded only once; a batch still mixes many articles. Triplets in a folder of Arrow files are read batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial.distance import cdist
from torch import Tensor, nn

from labkit.baselines.averages import shares
from labkit.corpora.article_rules import eligible
from labkit.corpora.article_triplets import triplets_of
from labkit.corpora.records import Articles, Corpus, Sentences, Triplets
from labkit.corpora.relations import train_sentences
from labkit.evaluation import triplet_accuracy
from labkit.explanation import LEFT_OUT, Parts
from labkit.progress import Progress, note, silent
from labkit.runs import Snapshots
from labkit.text import UNKNOWN
from labkit.thematic.network import DISTANCES, LOSSES, ThematicSettings, network_of, sif_vectors, word_weights
from labkit.training.encoders import embed, encode, vector_parts
from labkit.training.loop import Dev
from labkit.training.trained import PROBE, TrainedReader, probe_of
from labkit.vectors import WordVectors

SAMPLED = 200_000  # triplets sampled from a corpus on disk to learn words
MEASURED = 100_000  # dev triplets of such a corpus that are scored

# --- method ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Attended:
    """The words of a sentence as read by the network, the attention to each, and its share of the vector.

    Both weights and shares sum to 1. A share is proportional to the weight times the length of the weighted vector:
    if frequent words have short vectors, it shows which words count.
    """

    words: tuple[str, ...]
    weights: np.ndarray  # float32 (n,)
    shares: np.ndarray  # float32 (n,)


class Thematic(TrainedReader):
    """A network trained on triplets from articles, or two such networks with concatenated outputs.

    >>> from labkit import Thematic, load
    >>> method = Thematic(epochs=1).fit(load("articles").take(range(12)))
    >>> method.encode(["The town lies on a river."]).shape
    (1, 300)
    """

    name = "thematic"
    Settings = ThematicSettings

    network: nn.ModuleList
    word_table = "0.words.table.weight"

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> TripletTask:
        triplets, a = triplets_of_rule(corpus, self.settings.rule, seed, progress), self.settings.a
        if corpus.mapped:
            corpus = spread(corpus.part("train"), SAMPLED)  # for learning the words
        vectors = self._read(corpus, "words", seed, progress)
        frequencies = shares(vectors, train_sentences(corpus)) if a else np.ones(len(vectors.vocabulary))
        self.network = self._started(seed, lambda: self._network(sif_vectors(vectors, frequencies, a)))
        return (MappedTask if triplets[0].mapped else TripletTask)(self, triplets, seed)

    def _network(self, vectors: WordVectors) -> nn.ModuleList:
        return nn.ModuleList(network_of(vectors, self.settings) for _ in _kinds(self.settings.rule))

    def _dev(self, corpus: Corpus, task: TripletTask) -> Dev | None:
        return task.dev if task.dev_triplets else None

    def _probe(self, corpus: Corpus) -> Snapshots:
        if corpus.mapped:
            corpus = spread(corpus.part("dev" if "dev" in corpus.sizes else "train"), PROBE)
        return sections_of(corpus) if isinstance(corpus, Articles) else probe_of(corpus)

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        parts = [encode(encoder, self.reader, sentences, batch_size, progress) for encoder in self.encoders]
        return np.concatenate(parts, axis=1)

    @property
    def ways(self) -> tuple[str, ...]:
        cosine = self.settings.distance == "cosine"
        return ("attention", "integrated", LEFT_OUT) if cosine else (LEFT_OUT,)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        """The parts of each network, concatenated; each network's vector has length 1."""
        each = [vector_parts(encoder, self.reader, sentence, way, steps) for encoder in self.encoders]
        lengths = [np.linalg.norm(part.vector) for part in each]
        scaled = [(p.rows / n, p.rest / n, p.vector / n) for p, n in zip(each, lengths, strict=True)]
        rows, rest, vector = (np.concatenate(side, axis=-1) for side in zip(*scaled, strict=True))
        weights = tuple(np.mean([part.weights for part in each], axis=0).tolist())  # empty if the parts have no weights
        return Parts(each[0].names, rows, rest, vector, weights, each[0].unknown)

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        """Compare as in training: minus the L1 distance, or the cosine (for `both`, the networks' mean), (n_a, n_b)."""
        if self.settings.distance == "cosine":
            return super().similarity(a, b)
        a, b = (np.asarray(self.embedded(rows), np.float64) for rows in (a, b))
        return -cdist(a, b, "cityblock").reshape(len(a), len(b))

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        """Compare each row of `a` with the same row of `b`, (n,)."""
        a, b = self.embedded(a), self.embedded(b)
        cosines = super().similarity_pairwise(a, b)  # refuses rows that do not fit
        return cosines if self.settings.distance == "cosine" else -np.abs(a.astype(np.float64) - b).sum(axis=1)

    @property
    def similarity_name(self) -> str:  # type: ignore[override]
        return "cosine" if self.settings.distance == "cosine" else "manhattan"

    def attend(self, sentence: str, *, network: int = 0) -> Attended:
        """The attention of a network; for `both`, network 0 was trained on sentences, 1 on titles."""
        (sentence,) = self._one_each(sentence)
        encoder = self.encoders[network].eval()
        numbers, lengths = self.reader.batch([self.reader.numbers(sentence)])
        device = encoder.words.table.weight.device
        with torch.inference_mode():
            columns = word_weights(encoder, numbers.to(device), lengths.to(device))
        weights, parts = (column[0].cpu().numpy() for column in columns)
        words = self.reader.units(sentence)[: self.reader.max_length] or [UNKNOWN]
        return Attended(tuple(words), weights, parts)

    @property
    def encoders(self) -> list[Any]:
        """The networks: a single one or, for `both`, one for sentences and one for titles."""
        return list(self.network)


def triplets_of_rule(corpus: Corpus, rule: str, seed: int, progress: Progress = silent) -> list[Triplets]:
    """The triplets for each network, in all splits."""
    if isinstance(corpus, Articles):
        return [triplets_of(corpus, rule=kind, seed=seed, progress=progress) for kind in _kinds(rule)]
    if isinstance(corpus, Sentences):
        raise corpus.without_labels("thematic needs articles with sections, or triplets (pv-dbow needs only texts)")
    if not isinstance(corpus, Triplets):
        raise ValueError(
            f"corpus {corpus.name!r} has {corpus.KIND}, expected articles or triplets. Use sentpwnet for pairs, "
            "classes and groups"
        )
    if rule != "adjacent":
        raise ValueError(
            f"setting rule is {rule!r}, but corpus {corpus.name!r} already has triplets; omit rule, or give articles"
        )
    return [corpus]


def spread(corpus: Any, count: int) -> Any:
    """At most `count` rows, evenly spaced over the corpus."""
    return corpus.take(np.linspace(0, len(corpus) - 1, min(count, len(corpus))).round().astype(np.int64))


def sections_of(corpus: Articles) -> Snapshots:
    """The probe of articles: up to 300 sentences from dev's first articles (else train's), labelled by section."""
    labelled = {
        text: f"{article.title}: {title}"
        for article in corpus.part("dev" if "dev" in corpus.splits else "train").articles[:PROBE]
        for title, sentences in eligible(article)
        for _, text in sentences
    }
    return Snapshots(tuple(labelled)[:PROBE], tuple(labelled.values())[:PROBE])


def _kinds(rule: str) -> tuple[str, ...]:
    return ("adjacent", "titles") if rule == "both" else (rule,)


# --- batches -----------------------------------------------------------------------------------------------------

PART = 64  # sentences padded to one length


@dataclass(frozen=True, eq=False)
class TripletBatch:
    """The network to train, the sentences, and the triplets as positions among these."""

    network: int
    sentences: Sequence[Any]  # numbers of sentences; for a corpus on disk, their texts
    triplets: np.ndarray  # int64 (b, 3)

    def __len__(self) -> int:
        return len(self.sentences)


def batches(triplets: np.ndarray, size: int, neighbours: int, *, seed: int, network: int = 0) -> list[TripletBatch]:
    """Batches of `size` triplets (n, 3), each used once; runs of `neighbours` keep the order of the corpus."""
    starts = list(range(0, len(triplets), neighbours))
    Random(seed).shuffle(starts)
    runs = max(1, size // neighbours)
    of_epoch = []
    for first in range(0, len(starts), runs):
        chosen = [triplets[start : start + neighbours] for start in starts[first : first + runs]]
        sentences, places = np.unique(np.concatenate(chosen), return_inverse=True)
        of_epoch.append(TripletBatch(network, sentences.tolist(), places.reshape(-1, 3)))
    return of_epoch


# --- task --------------------------------------------------------------------------------------------------------


class TripletTask:
    """Batches of triplets, each for one network, and their mean loss."""

    def __init__(self, method: Thematic, triplets: Sequence[Triplets], seed: int) -> None:
        self.module, self._encoders, self._seed = method.network, method.encoders, seed
        self._reader, self._settings = method.reader, method.settings
        self.dev_triplets = [dev_part(corpus).numbered() for corpus in triplets if "dev" in corpus.sizes]
        self._open([corpus.part("train") for corpus in triplets])

    def _open(self, train: Sequence[Triplets]) -> None:
        """Read the training triplets of each network."""
        self._train = [corpus.numbered() for corpus in train]  # distinct sentences, and triplets of their numbers
        self._numbers = [[self._reader.numbers(text) for text in texts] for texts, _ in self._train]

    def dev(self) -> tuple[str, float]:
        """The share of dev's triplets in the right order; for two networks, the mean over both kinds."""
        right = []
        for encoder, (texts, triplets) in zip(self._encoders, self.dev_triplets, strict=True):
            vectors = torch.from_numpy(encode(encoder, self._reader, texts, 256, silent))
            near, far = self._distances(*sides_of(vectors, triplets))
            right.append(triplet_accuracy(-near.numpy(), -far.numpy()))
        return "dev_triplets", float(np.mean(right))

    def _distances(self, anchors: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        """d⁺ and d⁻, (n,) each."""
        distance = DISTANCES[self._settings.distance]
        return distance(anchors, positives), distance(anchors, negatives)

    def batches(self, epoch: int) -> Sequence[TripletBatch]:
        settings, seed = self._settings, self._seed * 100_003 + epoch
        of_epoch = [
            batch
            for network, (_, triplets) in enumerate(self._train)
            for batch in batches(triplets, settings.batch, settings.neighbours, seed=seed, network=network)
        ]
        Random(seed).shuffle(of_epoch)  # two networks take turns
        return of_epoch

    def loss(self, outputs: Tensor, batch: TripletBatch) -> tuple[Tensor, Callable[[], dict[str, Tensor]]]:
        scale, loss = self._settings.scale, LOSSES[self._settings.loss]
        sides = sides_of(outputs, batch.triplets)
        near, far = self._distances(*sides)
        return loss(scale * near, scale * far).mean(), partial(_figures, near, far, *sides)

    def outputs(self, batch: TripletBatch, rows: slice = slice(None)) -> Tensor:
        """The vectors of the batch's sentences, (m, d), encoded in groups of similar length to save padding."""
        numbers, encoder, amp = self._numbers_of(batch)[rows], self._encoders[batch.network], self._settings.amp
        order = sorted(range(len(numbers)), key=lambda place: len(numbers[place]))
        pieces = [[numbers[place] for place in order[start : start + PART]] for start in range(0, len(order), PART)]
        vectors = torch.cat([embed(encoder, *self._reader.batch(piece), amp=amp) for piece in pieces])
        return vectors[torch.tensor(order).argsort().to(vectors.device)]

    def _numbers_of(self, batch: TripletBatch) -> list[list[int]]:
        """The word numbers of each sentence."""
        return [self._numbers[batch.network][sentence] for sentence in batch.sentences]


def sides_of(vectors: Tensor, triplets: np.ndarray) -> tuple[Tensor, ...]:
    """The vectors of anchors, positives and negatives, (n, d) each."""
    return tuple(vectors[column] for column in torch.from_numpy(triplets).to(vectors.device).T)


def dev_part(corpus: Triplets) -> Triplets:
    """The triplets of dev; for a corpus on disk at most `MEASURED` of them."""
    dev = corpus.part("dev")
    if not dev.mapped or len(dev) <= MEASURED:
        return dev
    note(f"dev has {len(dev):,} triplets; an even sample of {MEASURED:,} is scored", stacklevel=2)
    return spread(dev, MEASURED)


def _figures(near: Tensor, far: Tensor, *sides: Tensor) -> dict[str, Tensor]:
    """The share of a batch's triplets in the right order, and the spread of their cosines with the anchors."""
    anchors, positives, negatives = (side.detach() for side in sides)
    cosines = torch.cat([F.cosine_similarity(anchors, other) for other in (positives, negatives)])
    return {"right": (near < far).double().mean(), "spread": cosines.std(correction=0)}


# --- the task, from disk -----------------------------------------------------------------------------------------


class MappedBatches(Sequence[Any]):
    """Batches given by the first rows of their runs of neighbours, each read on access."""

    def __init__(self, starts: list[np.ndarray], read: Callable[[np.ndarray], TripletBatch]) -> None:
        self.starts, self._read = starts, read

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: Any) -> TripletBatch:  # type: ignore[override]
        return self._read(self.starts[number])


class MappedTask(TripletTask):
    """Batches of one corpus on disk, each read when needed."""

    def _open(self, train: Sequence[Triplets]) -> None:
        (self._corpus,) = train

    def batches(self, epoch: int) -> MappedBatches:
        settings, count = self._settings, len(self._corpus)
        starts = np.arange(0, count, settings.neighbours)
        np.random.default_rng([self._seed, epoch]).shuffle(starts)
        runs = max(1, settings.batch // settings.neighbours)
        return MappedBatches([starts[first : first + runs] for first in range(0, len(starts), runs)], self._read)

    def _read(self, starts: np.ndarray) -> TripletBatch:
        """The batch with its distinct sentences."""
        rows = (starts[:, None] + np.arange(self._settings.neighbours)).ravel()
        return TripletBatch(0, *self._corpus.take(rows[rows < len(self._corpus)]).numbered())

    def _numbers_of(self, batch: TripletBatch) -> list[list[int]]:
        return [self._reader.numbers(text) for text in batch.sentences]
