"""What a miner and a loss make of every pair of a batch. In: vectors (m, d) and settings. Out: an `Examined`.

The settings are those of a training (`PairSettings`), and so are miner and loss: what is shown is what would train.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from labkit.methods.contract import unit
from labkit.methods.sentpwnet import PairSettings, loss_of, miner_of
from labkit.pairs import pair_weights, weight_parts
from labkit.weighing.sentences import SentenceBatch


@dataclass(frozen=True, eq=False)
class Examined:
    """Arrays (m, m), a row an anchor: similarity S, the pairs the miner keeps, weights `m · |dL/dS|`.

    `own` and `relative` are the two parts of a kept pair's weight, `w = 1 / (own + relative)` (eq. 9, 10): only the
    locality loss has them, with another they are NaN. `value` is the loss.
    """

    batch: SentenceBatch
    settings: PairSettings
    similarity: np.ndarray
    kept_positive: np.ndarray
    kept_negative: np.ndarray
    weight: np.ndarray
    own: np.ndarray
    relative: np.ndarray
    value: float

    @property
    def kept(self) -> np.ndarray:
        """Pairs of either kind that the loss sees."""
        return self.kept_positive | self.kept_negative

    def share_kept(self, kind: str) -> float:
        """Of all positive or negative pairs of the batch; NaN if it has none."""
        mask, kept = {
            "positive": (self.batch.positive, self.kept_positive),
            "negative": (self.batch.negative, self.kept_negative),
        }[kind]
        return float(kept.sum() / mask.sum()) if mask.any() else float("nan")

    def floor(self, anchor: int) -> float:
        """`min_{k∈P} S_ik - ε` of eq. 11: a negative above it is kept. +∞ for an anchor without a positive."""
        return float(np.min(self.similarity[anchor], where=self.batch.positive[anchor], initial=np.inf)) - self._slack

    def ceiling(self, anchor: int) -> float:
        """`max_{k∈N} S_ik + ε` of eq. 12: a positive below it is kept. -∞ for an anchor without a negative."""
        return float(np.max(self.similarity[anchor], where=self.batch.negative[anchor], initial=-np.inf)) + self._slack

    @property
    def _slack(self) -> float:
        return self.settings.epsilon


def cosines(vectors: Any) -> np.ndarray:
    """Vectors (m, d), dense or CSR, as `encode` gives them -> S (m, m) in float64, within [-1, 1]; 0 for a zero row.

    >>> cosines(np.array([[3.0, 0.0], [4.0, 3.0]])).round(2).tolist()
    [[1.0, 0.8], [0.8, 1.0]]
    """
    dense = np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, dtype=np.float64)
    if dense.ndim != 2 or not np.isfinite(dense).all():
        raise ValueError(
            f"vectors have shape {dense.shape}, expected finite numbers (m, d), a row a sentence; give what encode "
            "returned"
        )
    rows = unit(dense)
    return np.clip(rows @ rows.T, -1.0, 1.0)


def examine(batch: SentenceBatch, similarity: np.ndarray, settings: PairSettings) -> Examined:
    """From the cosines of a batch (m, m) to all that can be said of its pairs."""
    if similarity.shape != (len(batch), len(batch)):
        raise ValueError(
            f"similarity has shape {similarity.shape}, expected {(len(batch), len(batch))}, a row and a column for "
            "each sentence of the batch; encode the batch's own texts"
        )
    S, P, N = (torch.as_tensor(array) for array in (similarity, batch.positive, batch.negative))
    kept_P, kept_N = miner_of(settings)(S, P, N)
    loss = loss_of(settings)
    own, relative = _parts(S, kept_P, kept_N, settings)
    return Examined(
        batch=batch,
        settings=settings,
        similarity=similarity,
        kept_positive=kept_P.numpy(),
        kept_negative=kept_N.numpy(),
        weight=pair_weights(loss, S, kept_P, kept_N).numpy(),
        own=own,
        relative=relative,
        value=float(loss(S, kept_P, kept_N)),
    )


def _parts(S: Tensor, P: Tensor, N: Tensor, settings: PairSettings) -> tuple[np.ndarray, np.ndarray]:
    if settings.loss != "locality":
        nothing = np.full(tuple(S.shape), np.nan)
        return nothing, nothing
    found = weight_parts(S, P, N, alpha=settings.alpha, beta=settings.beta, base=settings.base)
    return found.own.numpy(), found.relative.numpy()
