"""How a miner and a loss treat every pair of a batch, as records and in words; nothing is trained here.

    sentence_batch    a corpus -> `SentenceBatch`: a batch in class order, with its texts and its masks P and N
    examine           its cosines (m, m) and settings -> `Examined`: pairs kept, weights and their two parts
    anchor_curves     one anchor -> weight against similarity for each loss
    weights_over      one pair -> its weight at each value of a setting
    pair_rows         one anchor -> a table row for each of its pairs: whether and why it is kept, and its weight
    weight_in_latex   one pair -> its weight as a formula, and as a formula with numbers (never with text)

Settings (`PairSettings`), miner and loss are those of training; the mathematics is in `labkit.pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
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
        """The row with the most positives (for ties, the first): a good anchor to start with."""
        return int(self.positive.sum(axis=1).argmax())

    def kind(self, anchor: int, other: int) -> str:
        """The relation of the other sentence to the anchor: itself, positive, negative or unknown.

        >>> two = SentenceBatch(("a", "b"), ("x", "x"), ~np.eye(2, dtype=bool), np.zeros((2, 2), bool))
        >>> two.kind(0, 0), two.kind(0, 1)
        ('itself', 'positive')
        """
        if anchor == other:
            return "itself"
        return "positive" if self.positive[anchor, other] else "negative" if self.negative[anchor, other] else "unknown"


def sentence_batch(
    corpus: Corpus, *, size: int = 32, per_class: int = 4, seed: int = 0, split: str = "train"
) -> SentenceBatch:
    """Draw about `size` sentences of one split; each seed gives a different batch.

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
    if named := dict(zip(*part.classified(), strict=True)):
        classes = [named[text] for text in texts]
    else:
        classes = [f"group {number + 1}" for number in connected(len(texts), *positive.nonzero()).tolist()]
    rows = sorted(range(len(texts)), key=lambda row: classes.index(classes[row]))  # sorted by class
    cut = np.ix_(rows, rows)
    texts, classes = ([column[row] for row in rows] for column in (texts, classes))
    return SentenceBatch(tuple(texts), tuple(classes), positive[cut], negative[cut])


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
        """The share of the batch's positive or negative pairs that is kept; NaN if the batch has no such pairs."""
        mask = self.batch.positive if kind == "positive" else self.batch.negative
        return float(self.kept[mask].mean()) if mask.any() else float("nan")

    def floor(self, anchor: int) -> float:
        """`min_{k∈P} S_ik - ε` of eq. 11: a negative above it is kept. +∞ for an anchor without a positive."""
        positives = self.similarity[anchor][self.batch.positive[anchor]]
        return float(positives.min(initial=np.inf)) - self.settings.epsilon

    def ceiling(self, anchor: int) -> float:
        """`max_{k∈N} S_ik + ε` of eq. 12: a positive below it is kept. -∞ for an anchor without a negative."""
        negatives = self.similarity[anchor][self.batch.negative[anchor]]
        return float(negatives.max(initial=-np.inf)) + self.settings.epsilon


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
    P, N = miner_of(settings)(S, P, N)
    loss = loss_of(settings)
    own = relative = np.full(similarity.shape, np.nan)
    if settings.loss == "locality":
        parts = weight_parts(S, P, N, alpha=settings.alpha, beta=settings.beta, base=settings.base)
        own, relative = parts.own.numpy(), parts.relative.numpy()
    weight, value = pair_weights(loss, S, P, N).numpy(), float(loss(S, P, N))
    return Examined(batch, settings, similarity, P.numpy(), N.numpy(), weight, own, relative, value)


# --- curves ------------------------------------------------------------------------------------------------------

OF_PAIRS = tuple(name for name, loss in LOSSES.items() if loss.needs != "texts")  # losses whose curves can be drawn
PAPER = ("locality", "contrastive", "soft-triplet")  # the losses in SentPWNet's section 3 and its figures
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

    The curves show the anchor's own term, so InfoNCE is computed in one direction only.
    """
    S, curves = examined.similarity[anchor], []
    kept_P, kept_N = examined.kept_positive[anchor], examined.kept_negative[anchor]
    hardest = {  # kind -> its kept pairs, and the hardest of these
        "positive": (kept_P, int(np.where(kept_P, S, 2.0).argmin())),
        "negative": (kept_N, int(np.where(kept_N, S, -2.0).argmax())),
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
    """The weight that a kept pair would have at these similarities (g,), by differentiation with all others fixed."""
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


def main_setting(settings: PairSettings, kind: str) -> str:
    """The setting that most shapes the weight of a pair of this kind: α or β, else the temperature, margin or base."""
    if settings.loss == "locality":
        return "alpha" if kind == "positive" else "beta"
    return next(name for name in ("temperature", "margin", "base") if name in LOSSES[settings.loss].hyperparameters)


def weights_over(examined: Examined, anchor: int, other: int, setting: str, values: Sequence[float]) -> np.ndarray:
    """The weight of one pair at each of these values of a setting (v,), by differentiation; all others stay."""
    changes: list[dict[str, Any]] = [{setting: value} for value in values]
    each = (replace(examined.settings, **change) for change in changes)
    found = [examine(examined.batch, examined.similarity, settings).weight[anchor, other] for settings in each]
    return np.array(found, np.float64)


def checked_losses(losses: Sequence[str]) -> list[str]:
    """The names of these losses without repetition; raises ValueError for an unknown name."""
    names = list(dict.fromkeys(ALIASES.get(name, name) for name in losses))
    for name in names:
        if name not in OF_PAIRS:
            raise ValueError(f"losses have {name!r}, expected names among {', '.join(OF_PAIRS)}; choose one of these")
    return names


def one_triplet(
    positive: float, negative: float, settings: PairSettings, *, losses: Sequence[str] = (*PAPER[1:], PAPER[0])
) -> tuple[WeighedTriplet, ...]:
    """One anchor with one positive and one negative at these similarities, under each loss."""
    S = torch.tensor([[positive, negative]], dtype=torch.float64)
    P, N = torch.tensor([[True, False]]), torch.tensor([[False, True]])
    triplets = []
    for loss in checked_losses(losses):
        weight = pair_weights(loss_of(replace(settings, loss=loss, symmetric=False)), S, P, N)
        triplets.append(WeighedTriplet(loss, positive, negative, *weight[0].tolist()))
    return tuple(triplets)


# --- in words ----------------------------------------------------------------------------------------------------

DERIVATIVE = r"w_{ij} = m\,\Big|\frac{\partial L}{\partial S_{ij}}\Big|"
PRINTED = {  # the weights that SentPWNet prints: eq. 9 and 10, 7, and 5 with its factor
    ("locality", "positive"): r"w = 1 / (e^{\alpha(S_{ij}-\lambda)} + \sum_{k\in P_i} e^{\alpha(S_{ij}-S_{ik})})",
    ("locality", "negative"): r"w = 1 / (e^{\beta(\lambda-S_{ij})} + \sum_{k\in N_i} e^{\beta(S_{ik}-S_{ij})})",
    ("contrastive", "positive"): r"w = 1",
    ("contrastive", "negative"): r"w = [\,S_{ij} > \text{margin}\,]",
    ("soft-triplet", "positive"): r"w = \sum_{n\in N_i} \sigma((S_{in}-S_{ij})/\tau)",
    ("soft-triplet", "negative"): r"w = \sum_{p\in P_i} \sigma((S_{ij}-S_{ip})/\tau)",
}


@dataclass(frozen=True)
class PairRow:
    """One pair of an anchor. `own` and `relative` are NaN for a weight without these parts."""

    number: int
    text: str
    group: str
    similarity: float
    kind: str
    kept: bool
    why: str
    weight: float
    own: float
    relative: float
    sum: str


def pair_rows(examined: Examined, anchor: int) -> tuple[PairRow, ...]:
    """All other sentences of the batch, in order of decreasing weight, then of decreasing similarity."""
    others = [row for row in range(len(examined.batch)) if row != anchor]
    others.sort(key=lambda row: (-examined.weight[anchor, row], -examined.similarity[anchor, row]))
    rows = []
    for other in others:
        kept, weight = bool(examined.kept[anchor, other]), float(examined.weight[anchor, other])
        own, relative = (float(part[anchor, other]) if kept else np.nan for part in (examined.own, examined.relative))
        rows.append(
            PairRow(
                number=other,
                text=examined.batch.texts[other],
                group=examined.batch.classes[other],
                similarity=float(examined.similarity[anchor, other]),
                kind=examined.batch.kind(anchor, other),
                kept=kept,
                why=reason(examined, anchor, other),
                weight=weight,
                own=own,
                relative=relative,
                sum=f"1 / ({own:.4g} + {relative:.4g}) = {weight:.4g}" if np.isfinite(own) else f"{weight:.4g}",
            )
        )
    return tuple(rows)


def batch_rows(examined: Examined) -> list[dict[str, Any]]:
    """One table row per pair of the batch."""
    texts = examined.batch.texts
    return [
        {"anchor": anchor, "anchor_text": texts[anchor], **asdict(row)}
        for anchor in range(len(texts))
        for row in pair_rows(examined, anchor)
    ]


def reason(examined: Examined, anchor: int, other: int) -> str:
    """Why the miner keeps or drops the pair, including the two numbers that it compares."""
    kind, miner = examined.batch.kind(anchor, other), examined.settings.miner
    if kind in ("itself", "unknown"):
        return "not a pair, but the anchor itself" if kind == "itself" else "unknown whether both mean the same thing"
    kept = bool(examined.kept[anchor, other])
    verdict = "kept" if kept else "dropped"
    if miner == "hardest":
        place = "the least similar positive" if kind == "positive" else "the most similar negative"
        why = f"it is {place} of its anchor" if kept else f"only {place} of an anchor that has both kinds is kept"
        return f"{verdict}: {why}"
    if miner != "informative":
        return f"{verdict}: {'every pair is' if miner == 'none' else 'this miner chooses at random'}"
    limit = examined.floor(anchor) if kind == "negative" else examined.ceiling(anchor)
    missing, sign = ("positive", ">" if kept else "≤") if kind == "negative" else ("negative", "<" if kept else "≥")
    if np.isinf(limit):
        return f"dropped: the anchor has no {missing} in this batch to compare with"
    bound = "its least similar positive - ε" if kind == "negative" else "its most similar negative + ε"
    return f"{verdict}: {examined.similarity[anchor, other]:.3f} {sign} {limit:.3f}, {bound}"


def weight_in_latex(examined: Examined, anchor: int, other: int) -> tuple[str, ...]:
    """The weight of a pair in LaTeX: the formula, and the formula with numbers. Empty if there is no pair."""
    kind = examined.batch.kind(anchor, other)
    if kind not in ("positive", "negative"):
        return ()
    settings, weight = examined.settings, latex_number(examined.weight[anchor, other])
    formula = PRINTED.get((settings.loss, kind), DERIVATIVE)
    if not examined.kept[anchor, other]:
        return (formula, r"w = 0 \quad\text{because the miner dropped the pair}")
    if settings.loss != "locality":
        return (formula, f"w = {weight}")
    S, base = (
        f"({value:.3f})" if value < 0 else f"{value:.3f}"
        for value in (examined.similarity[anchor, other], settings.base)
    )
    alone = rf"{settings.alpha:g}\,({S} - {base})" if kind == "positive" else rf"{settings.beta:g}\,({base} - {S})"
    own, relative = (latex_number(part[anchor, other]) for part in (examined.own, examined.relative))
    count = int((examined.kept_positive if kind == "positive" else examined.kept_negative)[anchor].sum())
    return (
        formula,
        rf"\text{{own part}} = e^{{{alone}}} = {own}",
        rf"\text{{relative part ({count} kept {kind}{'s' * (count != 1)})}} = {relative}",
        rf"w = 1 / ({own} + {relative}) = {weight}",
    )


def latex_number(value: float) -> str:
    """A number of any size in LaTeX.

    >>> latex_number(0.25), latex_number(13400.0), latex_number(7.7e-05)
    ('0.25', '1.34\\\\cdot 10^{4}', '7.7\\\\cdot 10^{-5}')
    """
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.4g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return rf"{float(mantissa):g}\cdot 10^{{{int(exponent)}}}"
