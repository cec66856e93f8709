"""Cross-encoders: networks that read both sentences of a pair at once, and give it a score but no sentence vectors.

They are not methods, because there is nothing to store or compare later, but recipes compare methods with them. In:
pairs labelled 0 or 1. Out: a score for each pair, larger is closer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from labkit.corpora import Pairs
from labkit.device import device_of
from labkit.evaluation import pair_classification
from labkit.evaluation.scores import called_parts
from labkit.papers.recipes import Case
from labkit.pretrained import PACKAGED, model_source, opened_model
from labkit.progress import Progress, silent
from labkit.settings import setting
from labkit.text import buckets
from labkit.training import Training, train
from labkit.training.encoders import CrossEncoder, Words, joined
from labkit.training.reader import Reader, reader_and_vectors
from labkit.trials.engine import Result

BATCH = 256  # pairs that are scored at a time


@dataclass(frozen=True, kw_only=True)
class CrossSettings(Training):
    """The settings of the scorer."""

    epochs: int = setting(6, "number of passes over all training pairs", minimum=1, maximum=10_000)
    learning_rate: float = setting(0.003, "step size of Adam", above=0, maximum=10)
    size: int = setting(100, "number of BiLSTM units per word", minimum=2, maximum=10_000)
    dimension: int = setting(100, "length of a word vector", minimum=1, maximum=10_000)


class PairReader:
    """A BiLSTM that reads two sentences as one row of words; the loop minimises the cross-entropy of its score."""

    module: nn.Module
    reader: Reader

    def __init__(self, settings: CrossSettings | None = None) -> None:
        self.settings = settings or CrossSettings()

    def fit(self, corpus: Pairs, *, seed: int = 0, progress: Progress = silent) -> None:
        """Learn from the training pairs; dev, if available, selects the epoch."""
        self.module = self._network(corpus, seed).to(device_of(self.settings.device))
        part = corpus.part("train")
        self._rows, self._seed = self._numbers(part.text_a, part.text_b), seed
        self._labels = torch.tensor(part.values, dtype=torch.float32)
        dev = partial(self._dev, corpus.part("dev")) if "dev" in corpus.splits else None
        train(self, self.settings, seed=seed, progress=progress, dev=dev)

    def _network(self, corpus: Pairs, seed: int) -> nn.Module:
        self.reader, vectors = reader_and_vectors(corpus, dimension=self.settings.dimension, seed=seed)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return CrossEncoder(Words(vectors), self.settings.size)

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
        device = next(self.module.parameters()).device
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


# --- a pretrained one ------------------------------------------------------------------------------------------------

LONGEST = 128  # word pieces of both sentences together


class _Joined(nn.Module):
    """A transformer that reads both sentences at once, and a linear score of the mean of its last states."""

    def __init__(self, body: nn.Module, size: int) -> None:
        super().__init__()
        self.body, self.head = body, nn.Linear(size, 1)

    def forward(self, pieces: Tensor, second: Tensor, there: Tensor) -> Tensor:
        states = self.body(input_ids=pieces, attention_mask=there, token_type_ids=second).last_hidden_state  # (n, t, d)
        weights = there.unsqueeze(-1).to(states.dtype)
        scores: Tensor = self.head((states * weights).sum(1) / weights.sum(1)).squeeze(-1)
        return scores


class MiniLMReader(PairReader):
    """all-MiniLM-L6-v2 as a cross-encoder; all of its layers learn."""

    def _network(self, corpus: Pairs, seed: int) -> nn.Module:
        model: Any = opened_model(model_source(PACKAGED), "cpu")
        self._tokenizer = model.tokenizer
        body = deepcopy(model[0].auto_model).requires_grad_(True)  # the opened one is frozen and shared
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return _Joined(body, body.config.hidden_size)

    def _numbers(self, a: Sequence[str], b: Sequence[str]) -> list[list[int]]:
        rows: list[list[int]] = self._tokenizer(list(a), list(b), truncation=True, max_length=LONGEST)["input_ids"]
        return rows

    def _read(self, rows: list[list[int]]) -> Tensor:
        device = next(self.module.parameters()).device
        pieces = nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], True, self._tokenizer.pad_token_id)
        there = (pieces != self._tokenizer.pad_token_id).long()
        ends = (pieces == self._tokenizer.sep_token_id).long()
        second = (ends.cumsum(1) - ends).clamp(max=1) * there  # the pieces after the first separator
        scores: Tensor = self.module(pieces.to(device), second.to(device), there.to(device))
        return scores


def read_together(case: Case) -> Result:
    """Train MiniLM on the joined pairs; the threshold comes from dev."""
    corpus = case.corpus
    assert isinstance(corpus, Pairs)
    reader = MiniLMReader(CrossSettings.of(case.settings))
    reader.fit(corpus, seed=case.seed, progress=case.progress)
    dev, test = (corpus.part(split) for split in ("dev", "test"))
    scores = [reader.scores(part.text_a, part.text_b) for part in (dev, test)]
    threshold = pair_classification(scores[0], dev.labels, scores[1], test.labels).threshold
    parts = called_parts(scores[1].astype(np.float64) > threshold, test)
    return Result({name: each.figure for name, each in parts.items()}, parts=parts)
