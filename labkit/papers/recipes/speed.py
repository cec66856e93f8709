"""One query against n sentences: embeddings are precomputed, while a cross-encoder must read every pair.

In: a case on pairs. Out: CPU milliseconds on one thread per query for each n, an extrapolation to a million by the
slope from first to last, and the accuracy on the pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor

from labkit.corpora import Pairs
from labkit.device import device_of
from labkit.evaluation import pair_classification
from labkit.evaluation.scores import score
from labkit.papers.recipes import Case
from labkit.progress import Progress, silent
from labkit.settings import setting
from labkit.text import buckets
from labkit.training import Training, train
from labkit.training.encoders import CrossEncoder, Words, joined
from labkit.training.reader import Reader, reader_and_vectors
from labkit.trials.engine import Result

# --- the cross-encoder ------------------------------------------------------------------------------------------------

BATCH = 256  # pairs that are scored at a time


@dataclass(frozen=True, kw_only=True)
class CrossSettings(Training):
    """The settings of the scorer."""

    epochs: int = setting(6, "how often all training pairs are seen", minimum=1, maximum=10_000)
    learning_rate: float = setting(0.003, "step size of Adam", above=0, maximum=10)
    size: int = setting(100, "numbers that the BiLSTM keeps of a word", minimum=2, maximum=10_000)
    dimension: int = setting(100, "length of a word vector", minimum=1, maximum=10_000)


class PairReader:
    """A cross-encoder: a vocabulary and a network that reads two sentences as one row and scores them.

    It is not a method, because it has no sentence vectors, but recipes compare methods with it. In: pairs labelled 0 or
    1. Out: a score for each pair, larger is closer. The training loop minimises the cross-entropy of its score.
    """

    module: CrossEncoder
    reader: Reader

    def __init__(self, settings: CrossSettings | None = None) -> None:
        self.settings = settings or CrossSettings()

    def fit(self, corpus: Pairs, *, seed: int = 0, progress: Progress = silent) -> None:
        """Learn from the training pairs; dev, if available, selects the epoch."""
        self.reader, vectors = reader_and_vectors(corpus, dimension=self.settings.dimension, seed=seed)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = CrossEncoder(Words(vectors), self.settings.size)
        self.module = network.to(device_of(self.settings.device))
        part = corpus.part("train")
        self._rows, self._seed = self._numbers(part.text_a, part.text_b), seed
        self._labels = torch.tensor(part.values, dtype=torch.float32)
        dev = partial(self._dev, corpus.part("dev")) if "dev" in corpus.splits else None
        train(self, self.settings, seed=seed, progress=progress, dev=dev)

    def _dev(self, dev: Pairs) -> tuple[str, float]:
        return "dev_auc", float(roc_auc_score(dev.labels, self.scores(dev.text_a, dev.text_b)))

    def scores(self, a: Sequence[str], b: Sequence[str]) -> np.ndarray:
        """A score for each pair, (n,)."""
        rows = self._numbers(a, b)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        scores = np.empty(len(rows), np.float32)
        self.module.eval()
        with torch.inference_mode():
            for start in range(0, len(rows), BATCH):
                part = order[start : start + BATCH]
                scores[part] = self._read([rows[row] for row in part]).cpu().numpy()
        return scores

    def _numbers(self, a: Sequence[str], b: Sequence[str]) -> list[list[int]]:
        """Both sentences of each pair as one row of word numbers."""
        return [joined(self.reader.numbers(x), self.reader.numbers(y)) for x, y in zip(a, b, strict=True)]

    def _read(self, rows: list[list[int]]) -> Tensor:
        """Rows of word numbers to scores, (n,)."""
        device = self.module.words.table.weight.device
        numbers, lengths = self.reader.batch(rows)
        scores: Tensor = self.module(numbers.to(device), lengths.to(device))
        return scores

    # the training loop's interface: batches of pairs of similar length, their scores, and the loss

    def batches(self, epoch: int) -> list[list[int]]:
        return list(buckets(list(map(len, self._rows)), self.settings.batch, seed=self._seed * 100_003 + epoch))

    def outputs(self, batch: list[int], rows: slice = slice(None)) -> Tensor:
        return self._read([self._rows[row] for row in batch[rows]])

    def loss(self, scores: Tensor, batch: list[int]) -> tuple[Tensor, Callable[[], dict[str, Tensor]]]:
        return F.binary_cross_entropy_with_logits(scores, self._labels[batch].to(scores.device)), dict


# --- the recipes ------------------------------------------------------------------------------------------------------

SIZES = (100, 1_000)
MANY = 100_000  # rows above which the slope of the comparison time is visible
ROUNDS = 25


def bi_encoder(case: Case) -> Result:
    """Encode the query and compare it with stored rows."""
    method = case.fitted()
    texts = _texts(case)
    known = np.asarray(method.encode(texts))
    rows = np.resize(known, (MANY, known.shape[1]))

    def ask(query: str, count: int) -> None:
        method.similarity(np.asarray(method.encode([query])), rows[:count])

    return Result(_times(ask, texts, (*SIZES, MANY)) | {"accuracy": score(method, case.corpus).figures["accuracy"]})


def cross_encoder(case: Case) -> Result:
    """Train the scorer on the pairs, then read the query with each sentence."""
    corpus = case.corpus
    assert isinstance(corpus, Pairs)
    reader = PairReader(CrossSettings.of(case.settings))
    reader.fit(corpus, seed=case.seed, progress=case.progress)
    texts = _texts(case)

    def ask(query: str, count: int) -> None:
        reader.scores([query] * count, texts[:count])

    dev, test = (corpus.part(split) for split in ("dev", "test"))
    scores = [reader.scores(part.text_a, part.text_b) for part in (dev, test)]
    accuracy = pair_classification(scores[0], dev.labels, scores[1], test.labels).accuracy
    return Result(_times(ask, texts, SIZES) | {"accuracy": accuracy})


def _texts(case: Case) -> list[str]:
    """As many test sentences as the largest n, repeated if the test split has fewer."""
    return list(islice(cycle(case.corpus.part("test").sentences()), max(SIZES)))


def _times(ask: Callable[[str, int], None], texts: list[str], sizes: Sequence[int]) -> dict[str, float]:
    """Milliseconds per query, the minimum over several rounds; the slope extrapolates to a million."""
    least: dict[int, float] = {}
    for size in sizes:
        spent = []
        for number in range(ROUNDS):
            start = time.process_time()
            ask(texts[number % len(texts)], size)
            spent.append(1000 * (time.process_time() - start))
        least[size] = min(spent)  # other load and one-time costs only add time
    few, many = sizes[0], sizes[-1]
    slope = max(least[many] - least[few], 0.0) / (many - few)
    return {str(size): took for size, took in least.items()} | {"1000000": least[few] + slope * (1_000_000 - few)}
