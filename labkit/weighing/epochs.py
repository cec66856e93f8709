"""How the weights moved while a run was trained: its probe sentences' vectors at each epoch, weighed anew.

In: a run's `Snapshots` and settings. Out: `EpochWeights`, a row an epoch. The probe is no batch of the training, but
the same sentences at every epoch, so that what moves is the space and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from labkit.history import Snapshots
from labkit.methods.sentpwnet import PairSettings
from labkit.pairs import masks_from_labels
from labkit.weighing.examined import Examined, cosines, examine
from labkit.weighing.sentences import SentenceBatch

MOST = 120  # probe sentences: all their pairs are weighed at every epoch
QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class EpochWeights:
    """For each epoch (e,): quantiles (e, 3) of the kept pairs' weights of either kind, and the shares kept (e,)."""

    epochs: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    kept_positive: np.ndarray
    kept_negative: np.ndarray
    sentences: int

    def rows(self) -> list[dict[str, float]]:
        """A line of a table for each epoch: the medians, and the shares kept."""
        columns = {
            "epoch": self.epochs,
            "positive_median": self.positive[:, 1],
            "negative_median": self.negative[:, 1],
            "positives_kept": self.kept_positive,
            "negatives_kept": self.kept_negative,
        }
        lines = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, line, strict=True)) for line in lines]


def probe_batch(snapshots: Snapshots, *, most: int = MOST) -> tuple[SentenceBatch, list[int]]:
    """The probe's sentences of the classes with two or more, at most `most`; and their rows of the probe."""
    rows = _of_shared_classes(snapshots.labels)[:most]
    if not rows:
        raise ValueError(
            "the run's probe has no two sentences of one class, expected classes; train on a corpus with labels, "
            "groups or pairs labelled 1"
        )
    classes = [snapshots.labels[row] for row in rows]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(classes))}
    positive, negative = (mask.numpy() for mask in masks_from_labels(torch.tensor([numbers[name] for name in classes])))
    return SentenceBatch(tuple(snapshots.texts[row] for row in rows), tuple(classes), positive, negative), rows


def epoch_weights(snapshots: Snapshots, settings: PairSettings, *, most: int = MOST) -> EpochWeights:
    """Every kept epoch of the run."""
    if not len(snapshots.epochs):
        raise ValueError(
            "the run has no snapshots, expected vectors of its probe at some epochs; train a method that goes in "
            "epochs, such as `labkit train sentpwnet --corpus topics`"
        )
    batch, rows = probe_batch(snapshots, most=most)
    found = [examine(batch, cosines(vectors[rows]), settings) for vectors in snapshots.vectors]
    return EpochWeights(
        epochs=snapshots.epochs,
        positive=np.stack([_quantiles(each, each.kept_positive) for each in found]),
        negative=np.stack([_quantiles(each, each.kept_negative) for each in found]),
        kept_positive=np.array([each.share_kept("positive") for each in found]),
        kept_negative=np.array([each.share_kept("negative") for each in found]),
        sentences=len(batch),
    )


def _quantiles(found: Examined, kept: np.ndarray) -> np.ndarray:
    return np.quantile(found.weight[kept], QUANTILES) if kept.any() else np.full(len(QUANTILES), np.nan)


def _of_shared_classes(labels: Sequence[str]) -> list[int]:
    """Rows by class, the classes in order of first appearance; nameless ones and those of a single row left out."""
    members: dict[str, list[int]] = {}
    for row, name in enumerate(labels):
        if name:
            members.setdefault(name, []).append(row)
    return [row for found in members.values() if len(found) > 1 for row in found]
