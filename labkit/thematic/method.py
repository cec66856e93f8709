"""Thematic triplets: a sentence encoder that learns from the sections of articles (Ein Dor et al. 2018).

    articles -> triplets by a rule -> network -> d⁺, d⁻ -> loss(scale · d⁺, scale · d⁻)

In: articles, or triplets of your own. Out: vectors of `size` numbers. The rule `both` gives twice as many: those of a
network that learned from sentences beside those of one that learned from section titles (triplets-sen-titles).
Settings, network, loss and batches are in `labkit.thematic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.spatial.distance import cdist
from torch import nn

from labkit.baselines.averages import shares
from labkit.corpora.records import Articles, Corpus, Triplets
from labkit.corpora.relations import train_sentences
from labkit.progress import Progress, silent
from labkit.runs import Snapshots
from labkit.text import UNKNOWN
from labkit.thematic.making import triplets_of
from labkit.thematic.network import ThematicSettings, network_of, sif_vectors, word_weights
from labkit.thematic.rules import eligible
from labkit.thematic.task import TripletTask
from labkit.training.encoders import Encoder, encode
from labkit.training.loop import Dev
from labkit.training.reader import UNITS, reader_and_vectors
from labkit.training.trained import PROBE, TrainedReader, probe_of
from labkit.vectors import WordVectors


@dataclass(frozen=True, eq=False)
class Attended:
    """The words of a sentence as the network reads them, the attention to each, and its share of the vector.

    Weights sum to 1, and so do shares. A share is the weight times the length of what is weighted: with word vectors
    that are short where the word is frequent, it is what tells which words count.
    """

    words: tuple[str, ...]
    weights: np.ndarray  # float32 (n,)
    shares: np.ndarray  # float32 (n,)

    def __str__(self) -> str:
        return " ".join(f"{word} {share:.2f}" for word, share in zip(self.words, self.shares, strict=True))


class Thematic(TrainedReader):
    """One network, or two side by side."""

    name = "thematic"
    Settings = ThematicSettings

    network: nn.ModuleList  # of one encoder, or for `both` of that of sentences and that of titles
    word_table = "0.words.table.weight"

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> TripletTask:
        settings: ThematicSettings = self.settings
        triplets = triplets_of_rule(corpus, settings.rule, seed, progress)
        progress(0, None, "word vectors")
        self.reader, vectors = reader_and_vectors(
            corpus,
            unit="words",
            vectors=settings.vectors,
            dimension=settings.dimension,
            least=settings.least,
            longest=settings.longest,
            seed=seed,
        )
        frequencies = shares(vectors, train_sentences(corpus)) if settings.a else np.ones(len(vectors.vocabulary))
        self.network = self._started(seed, lambda: self._network(sif_vectors(vectors, frequencies, settings.a)))
        return TripletTask(self.encoders, triplets, self.reader, settings, seed=seed)

    def _network(self, vectors: WordVectors) -> nn.ModuleList:
        settings: ThematicSettings = self.settings
        return nn.ModuleList(
            network_of(
                vectors,
                encoder=settings.encoder,
                size=settings.size,
                pace=settings.pace,
                dropout=settings.dropout,
                normalised=settings.distance == "cosine",
            )
            for _ in _kinds(settings.rule)
        )

    def _dev(self, corpus: Corpus, task: TripletTask) -> Dev | None:
        return task.dev if task.dev_triplets else None

    def _probe(self, corpus: Corpus) -> Snapshots:
        return sections_of(corpus) if isinstance(corpus, Articles) else probe_of(corpus)

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        parts = [encode(encoder, self.reader, sentences, batch_size, progress) for encoder in self.encoders]
        return np.concatenate(parts, axis=1)

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        """Compare as trained: minus the L1 distance, or the cosine (for `both`, the two networks' mean), (n_a, n_b)."""
        if self.settings.distance == "cosine":
            return super().similarity(a, b)
        a, b = self._alike(a, b)
        return -cdist(a, b, "cityblock").reshape(len(a), len(b))

    def pairwise_similarity(self, a: Any, b: Any) -> np.ndarray:
        """Compare so each row of `a` with the same row of `b`, (n,)."""
        if self.settings.distance == "cosine":
            return super().pairwise_similarity(a, b)
        a, b = self._alike(a, b)
        if len(a) != len(b):
            raise ValueError(f"a has {len(a)} rows and b {len(b)}, expected as many; give pairs, row by row")
        return -np.abs(a - b).sum(axis=1)

    def _alike(self, a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
        a, b = (np.asarray(self.embedded(rows), np.float64) for rows in (a, b))
        if a.shape[1] != b.shape[1]:
            raise ValueError(
                f"a has {a.shape[1]} columns and b {b.shape[1]}, expected as many; use one method for both"
            )
        return a, b

    @property
    def similarity_name(self) -> str:  # type: ignore[override]
        return {"cosine": "cosine", "l1": "manhattan"}[self.settings.distance]

    def attend(self, sentence: str, *, network: int = 0) -> Attended:
        """What the network looks at; of `both`, network 0 learned from sentences, 1 from titles."""
        self._known()
        if not isinstance(sentence, str):
            raise ValueError(f"sentence is {type(sentence).__name__}, expected one text")
        if network not in range(len(self.network)):
            raise ValueError(f"network is {network!r}, expected a number from 0 to {len(self.network) - 1}")
        encoder = self.encoders[network].eval()
        numbers, lengths = self.reader.batch([self.reader.numbers(sentence)])
        device = encoder.words.table.weight.device
        with torch.inference_mode():
            found = word_weights(encoder, numbers.to(device), lengths.to(device))
        weights, parts = (each[0].cpu().numpy() for each in found)
        words = UNITS[self.reader.unit](sentence)[: self.reader.longest] or [UNKNOWN]
        return Attended(tuple(words), weights, parts)

    @property
    def encoders(self) -> list[Encoder]:
        """The networks: one, or for `both` that of sentences and that of titles."""
        return [network for network in self.network if isinstance(network, Encoder)]


def triplets_of_rule(corpus: Corpus, rule: str, seed: int, progress: Progress = silent) -> list[Triplets]:
    """Make the triplets, in all splits, that each network learns from."""
    if isinstance(corpus, Articles):
        return [triplets_of(corpus, rule=kind, seed=seed, progress=progress) for kind in _kinds(rule)]
    if not isinstance(corpus, Triplets):
        raise ValueError(
            f"corpus {corpus.name!r} has the shape {type(corpus).__name__}, expected Articles or Triplets; the method "
            "sentpwnet learns from pairs, classes and groups"
        )
    if rule != "adjacent":
        raise ValueError(
            f"setting rule is {rule!r}, but corpus {corpus.name!r} has triplets made already, expected adjacent (the "
            "default); leave it out, or give articles"
        )
    return [corpus]


def sections_of(corpus: Articles) -> Snapshots:
    """The probe of articles: up to 300 sentences of dev's first articles (else train's), labelled by their sections."""
    labelled = {
        text: f"{article.title}: {title}"
        for article in corpus.part("dev" if "dev" in corpus.splits else "train").articles[:PROBE]
        for title, found in eligible(article)
        for _, text in found
    }
    return Snapshots(tuple(labelled)[:PROBE], tuple(labelled.values())[:PROBE])


def _kinds(rule: str) -> tuple[str, ...]:
    return ("adjacent", "titles") if rule == "both" else (rule,)
