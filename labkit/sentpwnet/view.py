"""What a miner and a loss make of every pair of a batch, as records to look at; nothing here learns.

    sentence_batch    a corpus -> `SentenceBatch`: a batch in class order, with its texts and its masks P and N
    examine           its cosines (m, m) and settings -> `Examined`: pairs kept, weights and their two parts
    anchor_curves     one anchor -> weight against similarity for each loss; `lone_curves` of a pair that is alone
    epoch_weights     the probe of a run -> how the weights moved while it was trained

The settings are those of a training (`PairSettings`), and so are miner and loss: what is shown is what would train.
`wording.py` puts a pair into words; the mathematics is `labkit.pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from scipy.special import expit, logsumexp

from labkit.corpora.records import Corpus
from labkit.corpora.splits import connected
from labkit.evaluation.inputs import unit, whole
from labkit.pairs import masks_from_labels, pair_weights, weight_parts
from labkit.pairs.gallery import GALLERY, LOSSES
from labkit.runs import Snapshots
from labkit.sentpwnet.batches import batch_source
from labkit.sentpwnet.method import PairSettings, loss_of, miner_of
from labkit.text import words

# --- sentences ---------------------------------------------------------------------------------------------------

MOST_SENTENCES = 400  # of a batch: all their pairs are drawn, and a loss over triplets grows with the third power


@dataclass(frozen=True, eq=False)
class SentenceBatch:
    """m texts with a class each, those of one class side by side, and the masks P and N, bool (m, m)."""

    texts: tuple[str, ...]
    classes: tuple[str, ...]
    positive: np.ndarray
    negative: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: list[int]) -> SentenceBatch:
        """These sentences, in this order."""
        texts, classes = ([column[row] for row in rows] for column in (self.texts, self.classes))
        cut = np.ix_(rows, rows)
        return SentenceBatch(tuple(texts), tuple(classes), self.positive[cut], self.negative[cut])

    @property
    def busiest(self) -> int:
        """The row with the most positives, the first among equals: a good one to look at first."""
        return int(self.positive.sum(axis=1).argmax())

    def kind(self, anchor: int, other: int) -> str:
        """What the other sentence is to the anchor: itself, positive, negative or unknown.

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
    """Draw about `size` sentences of one split; another seed, another batch.

    Where there are classes, `per_class` of each; otherwise whole pairs or triplets.
    """
    whole("size", size, 4, MOST_SENTENCES, "sentences of the batch")
    whole("per_class", per_class, 2, MOST_SENTENCES, "sentences of one class")
    part = corpus.part(split)
    source = batch_source(part, per_class=per_class)
    in_one = len(part.TEXTS) or 3  # sentences of a row; of articles come triplets
    lengths = [len(words(text)) for text in source.texts]
    batches = source.batches(lengths, max(1, size // in_one), seed)
    batch = max(batches, key=lambda batch: len(batch.sentences) > 1)  # the first that has a pair at all
    positive, negative = (mask.numpy() for mask in batch.masks(torch.device("cpu")))
    texts = tuple(source.texts[number] for number in batch.sentences)
    drawn = SentenceBatch(texts, _classes(part, texts, positive), positive, negative)
    places = {name: place for place, name in reversed(list(enumerate(drawn.classes)))}
    return drawn.take(sorted(range(len(drawn)), key=lambda row: places[drawn.classes[row]]))


def _classes(part: Corpus, texts: tuple[str, ...], positive: np.ndarray) -> tuple[str, ...]:
    """The corpus' own names; where it has none, the numbers of the groups that positive pairs tie together."""
    if named := dict(zip(*part.classified(), strict=True)):
        return tuple(named[text] for text in texts)
    tied = connected(len(texts), *positive.nonzero())
    return tuple(f"group {number + 1}" for number in tied.tolist())


# --- examined ----------------------------------------------------------------------------------------------------


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
        """Give the share of the batch's positive or negative pairs that is kept; NaN if it has none."""
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
    """Work out of the cosines of a batch (m, m) all that can be said of its pairs."""
    if similarity.shape != (len(batch), len(batch)):
        raise ValueError(
            f"similarity has shape {similarity.shape}, expected {(len(batch), len(batch))}, a row and a column for "
            "each sentence of the batch; encode the batch's own texts"
        )
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

OF_PAIRS = tuple(loss.name for loss in GALLERY if loss.needs != "texts")  # losses whose curves can be drawn
PAPER = ("locality", "contrastive", "soft-triplet")  # those of SentPWNet's section 3, which stand in its pictures
MOST_LOSSES = 6  # in one picture: more curves cannot be told apart


@dataclass(frozen=True, eq=False)
class AnchorCurve:
    """An anchor's kept pairs under one loss, of one kind: similarity and weight (p,), and the formula on a grid of s.

    The weights are derivatives, the formula is that of `weight_formula`: that they meet is what the picture shows. The
    grid goes from the least similar pair to the most similar: the sums hold for these pairs and no other.
    """

    loss: str
    kind: str
    similarity: np.ndarray
    weight: np.ndarray
    grid: np.ndarray
    closed: np.ndarray

    def rows(self) -> list[dict[str, Any]]:
        """A line of a table for each pair."""
        pairs = zip(self.similarity.tolist(), self.weight.tolist(), strict=True)
        return [{"loss": self.loss, "kind": self.kind, "similarity": s, "weight": w} for s, w in pairs]


@dataclass(frozen=True, eq=False)
class LoneCurve:
    """What a pair alone with its anchor adds to a loss, and the pair's weight, over its similarity."""

    loss: str
    kind: str
    similarity: np.ndarray
    value: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class WeighedTriplet:
    """One positive and one negative of an anchor, their similarities, and the weights with which a loss moves them."""

    loss: str
    positive: float
    negative: float
    pull: float
    push: float


def anchor_curves(
    examined: Examined, anchor: int, *, losses: Sequence[str] = PAPER, steps: int = 201
) -> tuple[AnchorCurve, ...]:
    """Two curves for each loss with the same pairs kept, positives and negatives. Without pairs of a kind, no curve.

    They are of the anchor's own term: InfoNCE is taken one way.
    """
    S, curves = examined.similarity[anchor], []
    kept = {"positive": examined.kept_positive[anchor], "negative": examined.kept_negative[anchor]}
    for loss in checked_losses(losses):
        settings = replace(examined.settings, loss=loss, symmetric=False)
        weight = examine(examined.batch, examined.similarity, settings).weight[anchor]
        for kind, mask in kept.items():
            if mask.any():
                grid = np.linspace(S[mask].min(), S[mask].max(), steps)
                closed = weight_formula(replace(examined, settings=settings), anchor, kind, grid)
                curves.append(AnchorCurve(loss, kind, S[mask], weight[mask], grid, closed))
    return tuple(curves)


def weight_formula(examined: Examined, anchor: int, kind: str, s: np.ndarray) -> np.ndarray:
    """Compute the weight of a kept pair of similarity s under the loss of the settings.

    The kept pairs of one anchor share their sums, so that the weight of each is a function of its own s alone:

        locality       positive  e^(-α(s - λ)) / (1 + Σ_P e^(-α(S - λ)))
                       negative  e^(β(s - λ)) / (1 + Σ_N e^(β(S - λ)))
        soft triplet   positive  Σ_N σ((S_n - s)/τ)    negative  Σ_P σ((s - S_p)/τ)
        margin triplet positive  |S_n > s - margin|    negative  |S_p < s + margin|
        contrastive    positive  1                     negative  1 above the margin, else 0
        logistic       positive  σ((λ - s)/τ)          negative  σ((s - λ)/τ)
        InfoNCE        positive  σ(log Σ_N e^(S_n/τ) - s/τ) / |P|τ
                       negative  Σ_p e^(s/τ) / (e^(S_p/τ) + Σ_N e^(S_n/τ)) / |P|τ
        supervised     positive  |e^(s/τ) / Σ_{P∪N} e^(S/τ) - 1/|P|| / τ      negative  e^(s/τ) / Σ_{P∪N} e^(S/τ) / τ
        CoSENT         positive  e^(-s/τ) Σ e^(S_n/τ) m/τ / (1 + Σ Σ e^((S_n - S_p)/τ)), the sums over the whole batch
                       negative  e^(s/τ) Σ e^(-S_p/τ) m/τ / (1 + Σ Σ e^((S_n - S_p)/τ))
    """
    settings, S, near = examined.settings, examined.similarity[anchor], kind == "positive"
    P, N = S[examined.kept_positive[anchor]], S[examined.kept_negative[anchor]]
    base, margin, tau = settings.base, settings.margin, settings.temperature
    if settings.loss == "locality":
        scale, members = (-settings.alpha, P) if near else (settings.beta, N)
        return np.exp(scale * (s - base) - logsumexp(np.append(scale * (members - base), 0.0)))
    if settings.loss == "soft-triplet":
        return expit((N[:, None] - s) / tau).sum(0) if near else expit((s - P[:, None]) / tau).sum(0)
    if settings.loss == "margin-triplet":
        short = N[:, None] - s + margin > 0 if near else s - P[:, None] + margin > 0
        return short.sum(0).astype(float)
    if settings.loss == "contrastive":
        return np.ones_like(s) if near else (s > margin).astype(float)
    if settings.loss == "logistic":
        return expit((base - s if near else s - base) / tau)
    if settings.loss == "cosent":
        all_P, all_N = (examined.similarity[kept] / tau for kept in (examined.kept_positive, examined.kept_negative))
        up, down = _log_total(all_N), _log_total(-all_P)
        own = up - s / tau if near else down + s / tau
        return np.exp(own - np.logaddexp(0.0, up + down)) * len(examined.batch) / tau
    if not len(P):
        return np.zeros_like(s)  # both of the others are means over the anchor's positives
    if settings.loss == "supcon":
        share = np.exp(s / tau - _log_total(np.append(P, N) / tau))
        return np.abs(share - near / len(P)) / tau
    rivals = _log_total(N / tau)
    q = np.logaddexp(P / tau, rivals)[:, None]  # of each positive, with all negatives
    return (expit(rivals - s / tau) if near else np.exp(s / tau - q).sum(0)) / (len(P) * tau)


def _log_total(exponents: np.ndarray) -> float:
    """`log Σ e^x`; -∞ of none."""
    return float(logsumexp(exponents)) if exponents.size else -np.inf


def checked_losses(losses: Sequence[str]) -> list[str]:
    """The names of these losses of pairs, without repetition; a ValueError for a stranger, for none or too many."""
    for name in losses:
        if name not in LOSSES or LOSSES[name].name not in OF_PAIRS:
            raise ValueError(f"losses have {name!r}, expected names among {', '.join(OF_PAIRS)}; choose one of these")
    names = list(dict.fromkeys(LOSSES[name].name for name in losses))
    if not 1 <= len(names) <= MOST_LOSSES:
        raise ValueError(f"losses are {len(names)}, expected 1 to {MOST_LOSSES}: more curves cannot be told apart")
    return names


def lone_curves(
    settings: PairSettings,
    *,
    losses: Sequence[str] = ("locality", "soft-triplet", "contrastive"),
    other: float = 0.5,
    steps: int = 401,
) -> tuple[LoneCurve, ...]:
    """Two curves for each loss, positives and negatives, from -1 to 1; `other` is the third of a triplet and stands."""
    grid = np.linspace(-1.0, 1.0, steps)
    return tuple(
        LoneCurve(loss, kind, grid, *lone_pair(loss, kind, grid, settings, other))
        for loss in checked_losses(losses)
        for kind in ("positive", "negative")
    )


def one_triplet(
    positive: float,
    negative: float,
    settings: PairSettings,
    *,
    losses: Sequence[str] = ("contrastive", "soft-triplet", "locality"),
) -> tuple[WeighedTriplet, ...]:
    """An anchor with one positive and one negative at these similarities, under each loss."""
    triplets = []
    for loss in checked_losses(losses):
        pull = lone_pair(loss, "positive", np.array(positive), settings, negative)[1]
        push = lone_pair(loss, "negative", np.array(negative), settings, positive)[1]
        triplets.append(WeighedTriplet(loss, positive, negative, float(pull), float(push)))
    return tuple(triplets)


def lone_pair(
    loss: str, kind: str, s: np.ndarray, settings: PairSettings, other: float
) -> tuple[np.ndarray, np.ndarray]:
    """The pair's part of the loss, and its weight; the third of a triplet has the similarity `other`.

    With x = s - λ, or s - other: a negative adds `[x]₊` or `τ log(1 + e^(x/τ))`, and to the locality loss
    `log(1 + e^(βx)) / β`; a positive the same of -x with α for β, but -s to the contrastive loss. InfoNCE, supervised
    contrastive and CoSENT are of one triplet the same: the soft triplet's without the factor τ.
    """
    sign, tau = -1.0 if kind == "positive" else 1.0, settings.temperature
    if loss == "contrastive":
        x = s - settings.margin
        return (-s, np.ones_like(s)) if kind == "positive" else (np.maximum(x, 0), (x > 0).astype(float))
    if loss == "margin-triplet":
        x = sign * (s - other) + settings.margin
        return np.maximum(x, 0), (x > 0).astype(float)
    if loss != "locality":
        x = sign * (s - (settings.base if loss == "logistic" else other)) / tau
        scale = tau if loss in ("soft-triplet", "logistic") else 1.0
        return scale * np.logaddexp(0, x), scale / tau * expit(x)
    scale = settings.alpha if kind == "positive" else settings.beta
    x = scale * sign * (s - settings.base)
    return np.logaddexp(0, x) / scale, expit(x)


# --- epochs ------------------------------------------------------------------------------------------------------

MOST_PROBED = 120  # probe sentences: all their pairs are weighed at every epoch
QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class EpochWeights:
    """Quantiles (e, 3) of the kept pairs' weights of either kind, and the shares kept (e,), at each epoch (e,)."""

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


def probe_batch(snapshots: Snapshots) -> tuple[SentenceBatch, list[int]]:
    """Choose the probe's sentences of the classes with two or more; and give their rows of the probe."""
    rows = _of_shared_classes(snapshots.labels)[:MOST_PROBED]
    if not rows:
        raise ValueError(
            "the run's probe has no two sentences of one class, expected classes; train on a corpus with labels, "
            "groups or pairs labelled 1"
        )
    classes = [snapshots.labels[row] for row in rows]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(classes))}
    positive, negative = (mask.numpy() for mask in masks_from_labels(torch.tensor([numbers[name] for name in classes])))
    return SentenceBatch(tuple(snapshots.texts[row] for row in rows), tuple(classes), positive, negative), rows


def epoch_weights(snapshots: Snapshots, settings: PairSettings) -> EpochWeights:
    """Weigh the vectors of a run's probe anew at each epoch that was kept.

    The probe is no batch of the training, but the same sentences at every epoch: what moves is the space alone.
    """
    if not len(snapshots.epochs):
        raise ValueError(
            "the run has no snapshots, expected vectors of its probe at some epochs; train a method that goes in "
            "epochs, such as `labkit train sentpwnet --corpus topics`"
        )
    batch, rows = probe_batch(snapshots)
    of_epochs = [examine(batch, cosines(vectors[rows]), settings) for vectors in snapshots.vectors]
    return EpochWeights(
        epochs=snapshots.epochs,
        positive=np.stack([_quantiles(each, each.kept_positive) for each in of_epochs]),
        negative=np.stack([_quantiles(each, each.kept_negative) for each in of_epochs]),
        kept_positive=np.array([each.share_kept("positive") for each in of_epochs]),
        kept_negative=np.array([each.share_kept("negative") for each in of_epochs]),
        sentences=len(batch),
    )


def _quantiles(examined: Examined, kept: np.ndarray) -> np.ndarray:
    return np.quantile(examined.weight[kept], QUANTILES) if kept.any() else np.full(len(QUANTILES), np.nan)


def _of_shared_classes(labels: Sequence[str]) -> list[int]:
    """Rows by class, the classes in order of first appearance; nameless ones and those of a single row left out."""
    members: dict[str, list[int]] = {}
    for row, name in enumerate(labels):
        if name:
            members.setdefault(name, []).append(row)
    return [row for rows in members.values() if len(rows) > 1 for row in rows]
