"""All our losses and miners for sentence-transformers and pytorch-metric-learning.

    sentence_transformers_loss(model, "locality", miner="informative")    for its SentenceTransformerTrainer
    metric_learning_loss("locality", miner="informative")                 called with (embeddings, labels, ...)

Both are modules with the loss settings of `labkit train sentpwnet`: the same names, bounds and defaults, except that
the default is no miner. A learned temperature is a parameter of the module.

A dataset's columns are read as our own training code reads a corpus (`labkit.sentpwnet.batches`). Rows with the same
tokens count as one sentence:

    texts                               label    pairs
    sentence1, sentence2                0 or 1   sentences joined by pairs labelled 1 in the batch are a class, all
                                                 other pairs are negative; with `labelled`, the labelled pairs alone
    sentence1, sentence2                grade    from 80 % of `top` as 1, up to 40 % as 0, unknown in between; for
                                                 `cosent`, float labels are grades, and only their order counts
    anchor, positive                             as pairs labelled 1; with `in_batch`, only anchors have pairs, and the
                                                 negatives of an anchor are the positives of all other anchors
    anchor, positive, negative, ...              the anchor's own; with `in_batch`, also those of all other anchors
    sentence                            class    same class: positive, different classes: negative
    any                                          `simcse`, which ignores labels: each sentence is encoded twice

In: the tokens of each column, and labels (B,) or none. Out: a scalar, the mean over the sentences with a known pair.
Our own training divides by the total number of sentences. The two differ only for triplets, by a constant factor, and
when a row pairs a sentence with itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from labkit.corpora.records import grade_ends
from labkit.corpora.splits import connected
from labkit.pairs.losses import LOSSES
from labkit.pairs.masks import unit_rows
from labkit.pairs.pml import as_pml
from labkit.sentpwnet.batches import Batch, graded_batch, labelled_batch, mean_grades, triplet_batch
from labkit.sentpwnet.method import TEMPERATURE, PairSettings, mined_loss, note_few_kept
from labkit.training.loop import IDLE

DIALS = (
    *dict.fromkeys(name for loss in LOSSES.values() for name in loss.hyperparameters),
    "epsilon",
    "share",
    "learn_temperature",
)


def sentence_transformers_loss(
    model: nn.Module,
    loss: str = "locality",
    *,
    miner: str = "none",
    labelled: bool = False,
    in_batch: bool = False,
    top: float = 1.0,
    **dials: float,
) -> SentenceLoss:
    """Return a pair loss as sentence-transformers expects it; `dials` are the settings of the loss and the miner.

    `labelled`, `in_batch` and `top`, the grade of two sentences with the same meaning, determine how columns become
    pairs. The [guide](python.md) shows a complete training run and compares the losses.

    >>> loss = sentence_transformers_loss(model, "locality")  # doctest: +SKIP
    >>> SentenceTransformerTrainer(model, arguments, pairs, loss=loss).train()  # doctest: +SKIP
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"model has type {type(model).__name__}, expected a SentenceTransformer object, not a name")
    if not top > 0:
        raise ValueError(f"top is {top!r}, expected a number above 0: the grade of two sentences with the same meaning")
    columns = {name: said for name, said in {"labelled": labelled, "in_batch": in_batch}.items() if said}
    return SentenceLoss(model, settings_of(loss, miner, dials, columns), top)


def metric_learning_loss(loss: str = "locality", *, miner: str = "none", **dials: float) -> nn.Module:
    """Return a pair loss as pytorch-metric-learning expects it; `dials` are the settings of the loss and the miner.

    The miner chooses from the pairs that are given by the labels or by a miner of pytorch-metric-learning. `simcse` is
    for two views of the same rows: `SelfSupervisedLoss(metric_learning_loss("simcse"), symmetric=False)`.

    >>> loss = metric_learning_loss("contrastive", margin=0.3)
    >>> round(loss(torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), torch.tensor([0, 0, 1])).item(), 3)
    -0.333
    """
    return as_pml(MinedLoss(settings_of(loss, miner, dials, {})))


def settings_of(loss: str, miner: str, dials: Mapping[str, float], columns: Mapping[str, bool]) -> PairSettings:
    if unknown := sorted({*dials} - {*DIALS}):
        raise ValueError(f"no loss or miner has a setting {unknown[0]!r}; choose from {', '.join(DIALS)}")
    settings = PairSettings.of({"loss": loss, "miner": miner, **dials, **columns})
    settings.check_used([*dials, *columns])
    return settings


class MinedLoss(nn.Module):
    """The loss (S, P, N) -> scalar of the pairs that a miner keeps; a learned temperature is its parameter."""

    def __init__(self, settings: PairSettings) -> None:
        super().__init__()
        self.settings = settings
        learned = nn.Parameter(torch.tensor(settings.temperature).log()) if settings.learns_temperature else None
        self.register_parameter(TEMPERATURE, learned)

    def forward(self, S: Tensor, P: Tensor, N: Tensor, grades: Tensor | None = None) -> Tensor:
        return self.with_kept(S, P, N, grades)[0]

    def with_kept(self, S: Tensor, P: Tensor, N: Tensor, grades: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the loss and the mask of the positive pairs that the miner keeps."""
        learned = self._parameters[TEMPERATURE]
        loss, kept, _ = mined_loss(self.settings, S, P, N, grades, None if learned is None else learned.exp())
        return loss, kept


class SentenceLoss(nn.Module):
    """A pair loss with the interface of sentence-transformers, made by `sentence_transformers_loss`."""

    def __init__(self, model: nn.Module, settings: PairSettings, top: float) -> None:
        super().__init__()
        self.model, self.pairs, self.top = model, MinedLoss(settings), top  # their trainer needs `model`
        self.steps, self.learns = 0, False  # the number of steps, up to IDLE, and whether any had a gradient
        self.positives, self.kept = 0, 0  # positive pairs in these steps, and those kept by the miner

    def forward(self, sentence_features: Iterable[dict[str, Any]], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of `sentence_features`, the tokens of each column of texts."""
        columns = list(sentence_features)
        embeddings = [self.model(column)["sentence_embedding"] for column in columns]
        keys = [sentence_keys(column, len(rows)) for column, rows in zip(columns, embeddings, strict=True)]
        if LOSSES[self.pairs.settings.loss].needs == "texts":
            embeddings += [self.model(column)["sentence_embedding"] for column in columns]  # with another dropout
        return self.compute_loss_from_embeddings(embeddings, labels, keys)

    def compute_loss_from_embeddings(
        self, embeddings: Sequence[Tensor], labels: Tensor | None, keys: Sequence[Sequence[Hashable]] | None = None
    ) -> Tensor:
        """Compute the loss of the `embeddings` of each column (B, d); for `simcse`, each column occurs twice.

        Rows with the same key count as one sentence. Without keys, each row counts as a separate sentence.
        """
        settings = self.pairs.settings
        if keys is None:
            once = embeddings[: len(embeddings) // 2] if LOSSES[settings.loss].needs == "texts" else embeddings
            keys = [sentence_keys({}, len(rows)) for rows in once]
        first: dict[Hashable, int] = {}  # sentence -> the row that counts
        row = iter(range(sum(map(len, keys))))
        numbers = [[first.setdefault(key, next(row)) for key in column] for column in keys]
        batch = batch_of_columns(numbers, labels, settings, self.top)
        with torch.autocast(embeddings[0].device.type, enabled=False):
            V = unit_rows(torch.cat(list(embeddings)))[batch.sentences]  # (m, d)
            P, N = batch.masks(V.device)
            anchors = int((P | N).any(1).sum())
            if anchors:
                loss, kept = self.pairs.with_kept(V @ V.T, P, N, batch.graded(V.device) if batch.grades else None)
            else:  # no pair is known, so the gradient is zero
                loss, kept = V.sum() * 0, P
            if self.steps < IDLE and V.requires_grad:
                V.register_hook(partial(self._watch_start, int(P.sum()), int(kept.sum())))
            return loss * (len(V) / anchors) if anchors and LOSSES[settings.loss].by_anchor else loss

    def _watch_start(self, positives: int, kept: int, gradient: Tensor) -> None:
        """Raise ValueError if no pair counts in the first steps, and warn if few do."""
        self.steps, self.learns = self.steps + 1, self.learns or bool(gradient.any())
        self.positives, self.kept = self.positives + positives, self.kept + kept
        if self.steps == IDLE and not self.learns:
            raise ValueError(
                f"nothing is learned, because the first {IDLE} steps had no gradient; {self.pairs.settings.if_idle}"
            )
        if self.steps == IDLE:
            note_few_kept(self.pairs.settings, self.kept / max(self.positives, 1), f"the first {IDLE} steps")


def batch_of_columns(
    columns: Sequence[Sequence[int]], labels: Tensor | None, settings: PairSettings, top: float = 1.0
) -> Batch:
    """Return the numbers of the sentences in a batch, with their known pairs.

    For `simcse`, the second encoding of a sentence has its number plus the number of rows in all columns.
    """
    needs, rows = LOSSES[settings.loss].needs, list(zip(*columns, strict=True))
    if needs == "texts":
        once = list(dict.fromkeys(chain(*columns)))
        return Batch([*once, *(number + sum(map(len, columns)) for number in once)], twice=True)
    shape = f"{len(columns)} of texts, {'none' if labels is None else 'one'} of labels"
    if settings.labelled and (labels is None or len(columns) != 2):
        raise ValueError(f"columns are {shape}, but labelled=True needs two texts and a label; omit labelled")
    if settings.in_batch and (labels is not None or len(columns) < 2):
        raise ValueError(f"columns are {shape}, but in_batch=True needs two or more texts and no labels; omit in_batch")
    if labels is None:
        if len(columns) == 2 and not settings.in_batch:
            return class_batch([(a, b, True) for a, b in rows])
        if len(columns) >= 2:
            return triplet_batch([(a, p, far) for a, p, *far in rows], in_batch=settings.in_batch)
    elif labels.numel() != len(rows):
        raise ValueError(f"labels have {labels.numel()} values, expected {len(rows)}, one for each row of the batch")
    elif len(columns) == 1:
        classes = dict(zip(columns[0], labels.flatten().tolist(), strict=True))
        return Batch(list(classes), list(classes.values()))
    elif len(columns) == 2:
        if needs == "grades" and labels.is_floating_point():
            return graded_batch(mean_grades(zip(*columns, labels.flatten().tolist(), strict=True)), top / 2)
        if not 0 <= labels.min() <= labels.max() <= top:
            raise ValueError(
                f"labels are {labels.tolist()!r:.60}, expected 0 to {top:g}; give the top grade, as in top=5"
            )
        near, far = grade_ends(labels.flatten().tolist(), top)
        told = [(a, b, bool(near[row])) for row, (a, b) in enumerate(rows) if near[row] or far[row]]
        return labelled_batch(told) if settings.labelled else class_batch(told)
    raise ValueError(
        f"columns are {shape}. Expected two text columns, with or without labels; more than two, without labels; or "
        "one, with a class for each row (simcse takes any of these); choose them with dataset.select_columns"
    )


def class_batch(pairs: Sequence[tuple[int, int, bool]]) -> Batch:
    """Return both sentences of each pair; sentences connected by positive pairs, directly or not, form a class."""
    sentences = list(dict.fromkeys(number for a, b, _ in pairs for number in (a, b)))
    same = [(a, b) for a, b, together in pairs if together]
    component = connected(max(sentences, default=0) + 1, [a for a, _ in same], [b for _, b in same])
    return Batch(sentences, component[sentences].tolist())


def sentence_keys(features: Mapping[str, Any], rows: int) -> list[Hashable]:
    """Return keys that identify the sentences of a column: their tokens or, without tokens, a key for each row."""
    ids, offsets, read = (features.get(name) for name in ("input_ids", "offsets", "attention_mask"))
    if ids is not None and offsets is not None:
        return [tuple(part.tolist()) for part in ids.tensor_split(offsets[1:].cpu())]
    if ids is not None and read is not None and ids.shape == read.shape:
        return [tuple(row[inside].tolist()) for row, inside in zip(ids, read.bool(), strict=True)]
    return [object() for _ in range(rows)]
