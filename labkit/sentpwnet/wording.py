"""Explain one pair: whether and why it is kept, and its weight as a formula with numbers.

In: an `Examined` and the numbers of anchor and other. Out: sentences, LaTeX, and a table row. Formulas contain numbers
only, never text from the corpus.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from labkit.sentpwnet.view import Examined

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
    """All other sentences of the batch, by falling weight, then by falling similarity."""
    others = [row for row in range(len(examined.batch)) if row != anchor]
    others.sort(key=lambda row: (-examined.weight[anchor, row], -examined.similarity[anchor, row]))
    return tuple(_row(examined, anchor, row) for row in others)


def batch_rows(examined: Examined) -> list[dict[str, Any]]:
    """One table row per pair of the batch."""
    texts = examined.batch.texts
    return [
        {"anchor": anchor, "anchor_text": texts[anchor], **asdict(row)}
        for anchor in range(len(texts))
        for row in pair_rows(examined, anchor)
    ]


def reason(examined: Examined, anchor: int, other: int) -> str:
    """Why the miner keeps or drops the pair, with the two numbers it compares."""
    kind = examined.batch.kind(anchor, other)
    if kind in ("itself", "unknown"):
        return "not a pair: it is the anchor" if kind == "itself" else "not a pair: unknown whether they mean the same"
    kept = bool(examined.kept[anchor, other])
    if examined.settings.miner != "informative":
        return ("kept: " if kept else "dropped: ") + _plain_reason(examined.settings.miner, kind, kept)
    limit = examined.floor(anchor) if kind == "negative" else examined.ceiling(anchor)
    missing, sign = ("positive", ">" if kept else "≤") if kind == "negative" else ("negative", "<" if kept else "≥")
    if np.isinf(limit):
        return f"dropped: the anchor has no {missing} in this batch to compare with"
    bound = "its least similar positive - ε" if kind == "negative" else "its most similar negative + ε"
    verdict = "kept" if kept else "dropped"
    return f"{verdict}: {examined.similarity[anchor, other]:.3f} {sign} {limit:.3f}, {bound}"


def weight_in_latex(examined: Examined, anchor: int, other: int) -> tuple[str, ...]:
    """The weight of a pair in LaTeX: the formula, and the formula with numbers. Empty if there is no pair."""
    kind = examined.batch.kind(anchor, other)
    if kind not in ("positive", "negative"):
        return ()
    settings, weight = examined.settings, latex_number(examined.weight[anchor, other])
    formula = PRINTED.get((settings.loss, kind), DERIVATIVE)
    if not examined.kept[anchor, other]:
        return (formula, r"w = 0 \quad\text{: the miner dropped the pair, so the loss does not see it}")
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


def _row(examined: Examined, anchor: int, other: int) -> PairRow:
    weight, own, relative = (float(each[anchor, other]) for each in (examined.weight, examined.own, examined.relative))
    kept = bool(examined.kept[anchor, other])
    parts = f"1 / ({own:.4g} + {relative:.4g}) = {weight:.4g}" if kept and np.isfinite(own) else f"{weight:.4g}"
    return PairRow(
        number=other,
        text=examined.batch.texts[other],
        group=examined.batch.classes[other],
        similarity=float(examined.similarity[anchor, other]),
        kind=examined.batch.kind(anchor, other),
        kept=kept,
        why=reason(examined, anchor, other),
        weight=weight,
        own=own if kept else float("nan"),
        relative=relative if kept else float("nan"),
        sum=parts,
    )


def _plain_reason(miner: str, kind: str, kept: bool) -> str:
    """Why a miner without a margin keeps or drops a pair."""
    if miner == "hardest":
        place = "the least similar positive" if kind == "positive" else "the most similar negative"
        return f"it is {place} of its anchor" if kept else f"only {place} of an anchor that has both kinds is kept"
    return "every pair is" if miner == "none" else "drawn by lot"
