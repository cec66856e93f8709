"""How a miner and a loss treat every pair of a batch, as records; nothing here learns.

    sentence_batch    a corpus -> `SentenceBatch`: a batch in class order, with its texts and its masks P and N
    examine           its cosines (m, m) and settings -> `Examined`: pairs kept, weights and their two parts
    anchor_curves     one anchor -> weight against similarity for each loss

Settings (`PairSettings`), miner and loss are the same as in training. `wording.py` puts a pair into words; the
mathematics is in `labkit.pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy import sparse

from labkit.arrays import unit
from labkit.corpora.records import Corpus
from labkit.corpora.splits import connected
from labkit.pairs import pair_weights, weight_parts
from labkit.pairs.losses import ALIASES, LOSSES
from labkit.sentpwnet.batches import batch_source
from labkit.sentpwnet.method import PairSettings, loss_of, miner_of
from labkit.text import words

# --- sentences ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SentenceBatch:
    """m texts with their classes, sorted by class, and the masks P and N, bool (m, m)."""

    texts: tuple[str, ...]
    classes: tuple[str, ...]
    positive: np.ndarray
    negative: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def busiest(self) -> int:
        """The row with the most positives, the first if several: a good one to start with."""
        return int(self.positive.sum(axis=1).argmax())

    def kind(self, anchor: int, other: int) -> str:
        """The relation of the other sentence to the anchor: itself, positive, negative or unknown.

        >>> two = SentenceBatch(("a", "b"), ("x", "x"), ~np.eye(2, dtype=bool), np.zeros((2, 2), bool))
        >>> two.kind(0, 0), two.kind(0, 1)
        ('itself', 'positive')
        """
        if anchor == other:
            return "itself"
        masks = ((self.positive, "positive"), (self.negative, "negative"))
        return next((name for mask, name in masks if mask[anchor, other]), "unknown")


def sentence_batch(
    corpus: Corpus, *, size: int = 32, per_class: int = 4, seed: int = 0, split: str = "train"
) -> SentenceBatch:
    """Draw about `size` sentences of one split; another seed gives another batch.

    With classes, `per_class` sentences of each; otherwise whole pairs or triplets.
    """
    part = corpus.part(split)
    source = batch_source(part, per_class=per_class)
    in_one = len(part.TEXTS) or 3  # sentences per row; articles become triplets
    lengths = [len(words(text)) for text in source.texts]
    batches = source.batches(lengths, max(1, size // in_one), seed)
    batch = max(batches, key=lambda batch: len(batch.sentences) > 1)  # the first batch with a pair
    positive, negative = (mask.numpy() for mask in batch.masks(torch.device("cpu")))
    texts = [source.texts[number] for number in batch.sentences]
    classes = _classes(part, texts, positive)
    rows = sorted(range(len(texts)), key=lambda row: classes.index(classes[row]))  # sorted by class
    cut = np.ix_(rows, rows)
    return SentenceBatch(
        tuple(texts[row] for row in rows), tuple(classes[row] for row in rows), positive[cut], negative[cut]
    )


def _classes(part: Corpus, texts: list[str], positive: np.ndarray) -> list[str]:
    """The corpus's class names, or else numbers of the components connected by positive pairs."""
    if named := dict(zip(*part.classified(), strict=True)):
        return [named[text] for text in texts]
    return [f"group {number + 1}" for number in connected(len(texts), *positive.nonzero()).tolist()]


# --- examined ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Examined:
    """Arrays (m, m) with one row per anchor: similarity S, the pairs kept by the miner, weights `m · |dL/dS|`.

    `own` and `relative` are the two parts of a kept pair's weight, `w = 1 / (own + relative)` (eq. 9, 10); they are NaN
    for losses other than the locality loss. `value` is the loss.
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
        """Pairs of either kind that the loss uses."""
        return self.kept_positive | self.kept_negative

    def share_kept(self, kind: str) -> float:
        """The share of the batch's positive or negative pairs that is kept; NaN if it has none."""
        mask, kept = {
            "positive": (self.batch.positive, self.kept_positive),
            "negative": (self.batch.negative, self.kept_negative),
        }[kind]
        return float(kept.sum() / mask.sum()) if mask.any() else float("nan")

    def floor(self, anchor: int) -> float:
        """`min_{k∈P} S_ik - ε` of eq. 11: a negative above it is kept. +∞ for an anchor without a positive."""
        return (
            float(np.min(self.similarity[anchor], where=self.batch.positive[anchor], initial=np.inf))
            - self.settings.epsilon
        )

    def ceiling(self, anchor: int) -> float:
        """`max_{k∈N} S_ik + ε` of eq. 12: a positive below it is kept. -∞ for an anchor without a negative."""
        return (
            float(np.max(self.similarity[anchor], where=self.batch.negative[anchor], initial=-np.inf))
            + self.settings.epsilon
        )


def cosines(vectors: Any) -> np.ndarray:
    """Vectors (m, d) from `encode`, dense or CSR -> S (m, m) in float64, within [-1, 1]; 0 for a zero row.

    >>> cosines(np.array([[3.0, 0.0], [4.0, 3.0]])).round(2).tolist()
    [[1.0, 0.8], [0.8, 1.0]]
    """
    rows = unit(np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, dtype=np.float64))
    return np.clip(rows @ rows.T, -1.0, 1.0)


def examine(batch: SentenceBatch, similarity: np.ndarray, settings: PairSettings) -> Examined:
    """Examine all pairs of a batch, given its cosines (m, m)."""
    S, P, N = (torch.as_tensor(array) for array in (similarity, batch.positive, batch.negative))
    kept_P, kept_N = miner_of(settings)(S, P, N)
    loss = loss_of(settings)
    own = relative = np.full(similarity.shape, np.nan)
    if settings.loss == "locality":
        parts = weight_parts(S, kept_P, kept_N, alpha=settings.alpha, beta=settings.beta, base=settings.base)
        own, relative = parts.own.numpy(), parts.relative.numpy()
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


# --- curves ------------------------------------------------------------------------------------------------------

OF_PAIRS = tuple(name for name, loss in LOSSES.items() if loss.needs != "texts")  # losses whose curves can be drawn
PAPER = ("locality", "contrastive", "soft-triplet")  # the losses in SentPWNet's section 3 and its figures
MOST_LOSSES = 6  # in one plot: more curves cannot be told apart
GRID = 101  # similarities at which a curve is computed


@dataclass(frozen=True, eq=False)
class AnchorCurve:
    """An anchor's kept pairs of one kind under one loss: similarity and weight (p,), and the hardest pair's curve.

    `moved` (g,) is the weight that the hardest pair of the kind (the least similar positive, the most similar negative)
    would have at the similarities of `grid` (g,) while all others stay fixed.
    """

    loss: str
    kind: str
    similarity: np.ndarray
    weight: np.ndarray
    grid: np.ndarray
    moved: np.ndarray

    def rows(self) -> list[dict[str, Any]]:
        """One table row per pair."""
        pairs = zip(self.similarity.tolist(), self.weight.tolist(), strict=True)
        return [{"loss": self.loss, "kind": self.kind, "similarity": s, "weight": w} for s, w in pairs]


@dataclass(frozen=True)
class WeighedTriplet:
    """One positive and one negative of an anchor, their similarities, and the weights that a loss gives them."""

    loss: str
    positive: float
    negative: float
    pull: float
    push: float


def anchor_curves(examined: Examined, anchor: int, *, losses: Sequence[str] = PAPER) -> tuple[AnchorCurve, ...]:
    """Two curves per loss, for kept positives and negatives; a kind without pairs has no curve.

    They show the anchor's own term, so InfoNCE is taken in one direction only.
    """
    S, curves = examined.similarity[anchor], []
    hardest = {  # kind -> its kept pairs, and the hardest of them
        "positive": (examined.kept_positive[anchor], int(np.where(examined.kept_positive[anchor], S, 2.0).argmin())),
        "negative": (examined.kept_negative[anchor], int(np.where(examined.kept_negative[anchor], S, -2.0).argmax())),
    }
    for loss in checked_losses(losses):
        settings = replace(examined.settings, loss=loss, symmetric=False)
        under = examine(examined.batch, examined.similarity, settings)
        for kind, (mask, other) in hardest.items():
            if mask.any():
                grid = np.linspace(S[mask].min(), S[mask].max(), GRID)
                moved = moved_weights(under, anchor, other, grid)
                curves.append(AnchorCurve(loss, kind, S[mask], under.weight[anchor][mask], grid, moved))
    return tuple(curves)


def moved_weights(examined: Examined, anchor: int, other: int, grid: np.ndarray) -> np.ndarray:
    """The weight that a kept pair would have at these similarities (g,), with the others fixed, by differentiation."""
    loss = loss_of(examined.settings)
    S, P, N = (torch.as_tensor(each) for each in (examined.similarity, examined.kept_positive, examined.kept_negative))
    if LOSSES[examined.settings.loss].by_anchor:  # each point of the grid becomes an anchor
        rows = S[anchor].repeat(len(grid), 1)  # (g, m)
        rows[:, other] = torch.as_tensor(grid)
        masks = (mask[anchor].expand(len(grid), -1) for mask in (P, N))
        return pair_weights(loss, rows, *masks)[:, other].numpy()
    weights, S = np.empty_like(grid), S.clone()
    for place, s in enumerate(grid.tolist()):
        S[anchor, other] = s
        weights[place] = pair_weights(loss, S, P, N)[anchor, other]
    return weights


def checked_losses(losses: Sequence[str]) -> list[str]:
    """The names of these losses without repetition; raises ValueError for an unknown name."""
    names = list(dict.fromkeys(ALIASES.get(name, name) for name in losses))
    for name in names:
        if name not in OF_PAIRS:
            raise ValueError(f"losses have {name!r}, expected names among {', '.join(OF_PAIRS)}; choose one of these")
    return names


def one_triplet(
    positive: float,
    negative: float,
    settings: PairSettings,
    *,
    losses: Sequence[str] = ("contrastive", "soft-triplet", "locality"),
) -> tuple[WeighedTriplet, ...]:
    """One anchor with one positive and one negative at these similarities, under each loss."""
    S = torch.tensor([[positive, negative]], dtype=torch.float64)
    P, N = torch.tensor([[True, False]]), torch.tensor([[False, True]])
    triplets = []
    for loss in checked_losses(losses):
        weight = pair_weights(loss_of(replace(settings, loss=loss, symmetric=False)), S, P, N)
        triplets.append(WeighedTriplet(loss, positive, negative, *weight[0].tolist()))
    return tuple(triplets)
