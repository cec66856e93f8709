"""Weight against similarity, for all three losses: the pairs of one anchor with the closed form they lie on, and a pair
that is alone with its anchor.

The kept pairs of one anchor share their sums, so that the weight of each is a function of its own similarity s alone:

    locality       positive  e^(-α(s - λ)) / (1 + Σ_P e^(-α(S - λ)))    negative  e^(β(s - λ)) / (1 + Σ_N e^(β(S - λ)))
    soft triplet   positive  Σ_N σ(S_n - s)                             negative  Σ_P σ(s - S_p)
    contrastive    positive  1                                          negative  1 above λ, else 0

In: an `Examined` and an anchor. Out: an `AnchorCurve` for each loss and kind, the points by automatic differentiation,
the curve by the formulas here: that they meet is what the picture shows. Or in: settings. Out: a `LoneCurve` for each
loss and kind, and `Triplet`s, all by formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp

from labkit.methods.sentpwnet import LOSSES, PairSettings
from labkit.weighing.examined import Examined, examine


@dataclass(frozen=True, eq=False)
class AnchorCurve:
    """Of one loss and kind: the anchor's kept pairs (similarity, weight), and the closed form on a grid of s.

    The grid goes from the least similar pair to the most similar: the sums hold for these pairs and no other.
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
class Triplet:
    """One positive and one negative of an anchor, their similarities, and the weights with which a loss moves them."""

    loss: str
    positive: float
    negative: float
    pull: float
    push: float


def anchor_curves(found: Examined, anchor: int, *, steps: int = 201) -> tuple[AnchorCurve, ...]:
    """Six curves: each loss with the same pairs kept, positives and negatives. Without pairs of a kind, no curve."""
    S, made = found.similarity[anchor], []
    kept = {"positive": found.kept_positive[anchor], "negative": found.kept_negative[anchor]}
    for loss in LOSSES:
        weight = examine(found.batch, found.similarity, replace(found.settings, loss=loss)).weight[anchor]
        for kind, mask in kept.items():
            if mask.any():
                grid = np.linspace(S[mask].min(), S[mask].max(), steps)
                closed = closed_form(replace(found, settings=replace(found.settings, loss=loss)), anchor, kind, grid)
                made.append(AnchorCurve(loss, kind, S[mask], weight[mask], grid, closed))
    return tuple(made)


def closed_form(found: Examined, anchor: int, kind: str, s: np.ndarray) -> np.ndarray:
    """The weight of a kept pair of similarity s, for the loss of the settings; the formulas stand above."""
    settings, S = found.settings, found.similarity[anchor]
    P, N = S[found.kept_positive[anchor]], S[found.kept_negative[anchor]]
    if settings.loss == "locality":
        scale, members = (-settings.alpha, P) if kind == "positive" else (settings.beta, N)
        total = logsumexp(np.append(scale * (members - settings.base), 0.0))
        return np.exp(scale * (s - settings.base) - total)
    if settings.loss == "soft-triplet":
        return expit(N[:, None] - s).sum(0) if kind == "positive" else expit(s - P[:, None]).sum(0)
    return np.ones_like(s) if kind == "positive" else (s > settings.margin).astype(float)


def lone_curves(settings: PairSettings, *, other: float = 0.5, steps: int = 401) -> tuple[LoneCurve, ...]:
    """Six curves: each loss, positives and negatives, from -1 to 1; `other` is the third of a triplet, and stands."""
    grid = np.linspace(-1.0, 1.0, steps)
    return tuple(
        LoneCurve(loss, kind, grid, *lone_pair(loss, kind, grid, settings, other))
        for loss in ("locality", "soft-triplet", "contrastive")
        for kind in ("positive", "negative")
    )


def one_triplet(positive: float, negative: float, settings: PairSettings) -> tuple[Triplet, ...]:
    """An anchor with one positive and one negative at these similarities, under each loss."""
    found = []
    for loss in ("contrastive", "soft-triplet", "locality"):
        pull = lone_pair(loss, "positive", np.array(positive), settings, negative)[1]
        push = lone_pair(loss, "negative", np.array(negative), settings, positive)[1]
        found.append(Triplet(loss, positive, negative, float(pull), float(push)))
    return tuple(found)


def lone_pair(
    loss: str, kind: str, s: np.ndarray, settings: PairSettings, other: float
) -> tuple[np.ndarray, np.ndarray]:
    """The pair's part of the loss, and its weight; the third of a soft triplet has the similarity `other`.

    With x = s - λ, or s - other: a negative adds `[x]₊`, `log(1 + e^x)`, or `log(1 + e^(βx)) / β`; a positive the same
    of -x with α for β, but -s to the contrastive loss.
    """
    sign = -1.0 if kind == "positive" else 1.0
    if loss == "contrastive":
        x = s - settings.margin
        return (-s, np.ones_like(s)) if kind == "positive" else (np.maximum(x, 0), (x > 0).astype(float))
    if loss == "soft-triplet":
        x = sign * (s - other)
        return np.logaddexp(0, x), expit(x)
    scale = settings.alpha if kind == "positive" else settings.beta
    x = scale * sign * (s - settings.base)
    return np.logaddexp(0, x) / scale, expit(x)
