"""The gallery: every pair loss with its formula, where it comes from, its forms in code, and the data it takes.

    LOSSES["infonce"].formula, .origin     in one line each
    .plain, .fast, .weights                functions of (S, P, N) and of its dials, in `losses`, `fast` and `weights`
    .dials                                 names of its numbers: those of its keywords, and of a training's settings
    takes(loss), shapes_table()            which loss learns from which shape of data

Multi-similarity and locality are one entry under two names. `simcse` is InfoNCE on a batch that holds every sentence
twice: what is new there is the batch (`labkit.sentpwnet.batches.TwiceSource`), not the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from labkit.pairs import fast, losses, weights
from labkit.pairs.large_batch import streaming_locality

Formula = Callable[..., Tensor]


@dataclass(frozen=True, kw_only=True)
class PairLoss:
    """One loss: `plain` as on a board, `fast` as trainings use it, `weights` in closed form, all of (S, P, N).

    `needs` is what it learns from: "masks" of positives and negatives, "grades" of pairs where there are any, or
    "texts" alone. `temperature` is what trainings take where none is said: of triplets chosen on dev, else the usual.
    `by_anchor`: the loss is a mean of what each anchor's row gives, so that rows may come in strips. `weight` is one
    sentence on what `m · |dL/dS|` says of a pair; `also` are other names that lead here.
    """

    name: str
    title: str
    formula: str
    origin: str
    plain: Formula
    fast: Formula
    weights: Formula
    weight: str
    dials: tuple[str, ...] = ()
    temperature: float = 1.0
    needs: str = "masks"
    by_anchor: bool = True
    streaming: Formula | None = None
    also: tuple[str, ...] = ()


GALLERY = (
    PairLoss(
        name="locality",
        title="locality (multi-similarity)",
        formula="mean over anchors of 1/α log(1 + Σ_P e^(-α(S - λ))) + 1/β log(1 + Σ_N e^(β(S - λ)))",
        origin="Wang, Han, Huang, Dong, Scott: Multi-Similarity Loss with General Pair Weighting for Deep Metric "
        "Learning, CVPR 2019; its miner is SentPWNet's eq. 11 and 12",
        plain=losses.locality,
        fast=fast.locality,
        weights=weights.locality_weights,
        weight="How near a pair is to λ by itself, and how it stands among the anchor's other pairs of its kind.",
        dials=("alpha", "beta", "base"),
        streaming=streaming_locality,
        also=("multi-similarity",),
    ),
    PairLoss(
        name="contrastive",
        title="contrastive",
        formula="mean over anchors of Σ_N [S - margin]₊ - Σ_P S",
        origin="Hadsell, Chopra, LeCun: Dimensionality Reduction by Learning an Invariant Mapping, CVPR 2006; with "
        "cosines as in SentPWNet's eq. 6",
        plain=losses.contrastive,
        fast=fast.contrastive,
        weights=weights.contrastive_weights,
        weight="1 for every positive and for every negative beyond the margin, never more, never less.",
        dials=("margin",),
    ),
    PairLoss(
        name="soft-triplet",
        title="soft triplet",
        formula="mean over anchors of Σ_P Σ_N τ log(1 + e^((S_n - S_p)/τ))",
        origin="Hermans, Beyer, Leibe: In Defense of the Triplet Loss for Person Re-Identification, 2017; with τ = 1 "
        "SentPWNet's eq. 4",
        plain=losses.soft_triplet,
        fast=fast.soft_triplet,
        weights=weights.soft_triplet_weights,
        weight="Over the triplets of the pair, how far each is from being surely in order.",
        dials=("temperature",),
        temperature=0.2,
    ),
    PairLoss(
        name="margin-triplet",
        title="margin triplet",
        formula="mean over anchors of Σ_P Σ_N [S_n - S_p + margin]₊",
        origin="Schroff, Kalenichenko, Philbin: FaceNet: A Unified Embedding for Face Recognition and Clustering, "
        "CVPR 2015",
        plain=losses.margin_triplet,
        fast=fast.margin_triplet,
        weights=weights.margin_triplet_weights,
        weight="How many triplets of the pair are not in order by the margin.",
        dials=("margin",),
    ),
    PairLoss(
        name="infonce",
        title="InfoNCE (multiple negatives)",
        formula="mean over anchors of the mean over P of -log(e^(S_p/τ) / (e^(S_p/τ) + Σ_N e^(S_n/τ)))",
        origin="van den Oord, Li, Vinyals: Representation Learning with Contrastive Predictive Coding, 2018; as "
        "multiple negatives ranking: Henderson and others, Efficient Natural Language Response Suggestion, 2017",
        plain=losses.infonce,
        fast=fast.infonce,
        weights=weights.infonce_weights,
        weight="The chance that the positive is missed, or that the negative is picked in its place, over τ.",
        dials=("temperature", "symmetric"),
        temperature=0.05,
    ),
    PairLoss(
        name="supcon",
        title="supervised contrastive",
        formula="mean over anchors of -1/|P| Σ_p log(e^(S_p/τ) / Σ_{P∪N} e^(S/τ))",
        origin="Khosla and others: Supervised Contrastive Learning, NeurIPS 2020 (L_out)",
        plain=losses.supcon,
        fast=fast.supcon,
        weights=weights.supcon_weights,
        weight="How far the pair's share of the anchor's sum is from what it should be, 1/|P| or 0, over τ; a positive "
        "beyond its share is pushed.",
        dials=("temperature",),
        temperature=0.1,
    ),
    PairLoss(
        name="logistic",
        title="logistic",
        formula="mean over anchors of Σ_P τ log(1 + e^((λ - S)/τ)) + Σ_N τ log(1 + e^((S - λ)/τ))",
        origin="Guillaumin, Verbeek, Schmid: Is That You? Metric Learning Approaches for Face Identification, ICCV "
        "2009; today's sigmoid loss: Zhai and others, ICCV 2023",
        plain=losses.logistic,
        fast=fast.logistic,
        weights=weights.logistic_weights,
        weight="The probability that the pair, by itself, is taken for the other kind.",
        dials=("base", "temperature"),
        temperature=0.1,
    ),
    PairLoss(
        name="cosent",
        title="CoSENT",
        formula="log(1 + Σ e^((S_kl - S_ij)/τ)) over all pairs ij graded higher than kl",
        origin="Su, kexue.fm 2022; Huang and others: CoSENT: Consistent Sentence Embedding via Similarity Ranking, "
        "IEEE/ACM TASLP 2024",
        plain=losses.cosent,
        fast=fast.cosent,
        weights=weights.cosent_weights,
        weight="How hard the order of all pairs of the batch pulls at this one; it is no mean over anchors, so the "
        "number grows with the batch and only ratios compare.",
        dials=("temperature",),
        temperature=0.05,
        needs="grades",
        by_anchor=False,
    ),
    PairLoss(
        name="simcse",
        title="SimCSE",
        formula="InfoNCE where P is the sentence's twin under other dropout, N the other sentences' twins",
        origin="Gao, Yao, Chen: SimCSE: Simple Contrastive Learning of Sentence Embeddings, EMNLP 2021",
        plain=losses.infonce,
        fast=fast.infonce,
        weights=weights.infonce_weights,
        weight="The chance that another sentence is taken for the twin, over τ: no label has a part in it.",
        dials=("temperature",),
        temperature=0.05,
        needs="texts",
    ),
)
LOSSES: dict[str, PairLoss] = {name: loss for loss in GALLERY for name in (loss.name, *loss.also)}
LEARNED = ("infonce", "supcon", "simcse")  # losses that are lower where τ is right: it can be learned with the rest

SHAPES = ("pairs", "graded pairs", "classes", "groups", "triplets", "articles", "unlabelled texts")


def takes(loss: PairLoss) -> dict[str, str]:
    """What the loss makes of each shape of data: "yes", "ends of the scale", "all grades", "without labels", or "".

    >>> takes(LOSSES["cosent"])["graded pairs"], takes(LOSSES["contrastive"])["graded pairs"]
    ('all grades', 'ends of the scale')
    """
    if loss.needs == "texts":
        return dict.fromkeys(SHAPES, "without labels")
    labelled = dict.fromkeys(SHAPES, "yes") | {"unlabelled texts": ""}
    return labelled | {"graded pairs": "all grades" if loss.needs == "grades" else "ends of the scale"}


def shapes_table() -> str:
    """Make a table in Markdown that says which loss takes which shape of data."""
    rows = [[f"`{loss.name}`", *takes(loss).values()] for loss in GALLERY]
    return "\n".join(f"| {' | '.join(row)} |" for row in [["loss", *SHAPES], ["---"] * (1 + len(SHAPES)), *rows])


def taking(dial: str) -> str:
    """The condition under which a setting of this name counts, as `setting(only=...)` wants it.

    >>> taking("alpha"), taking("margin")
    ('loss=locality', 'loss=contrastive|margin-triplet')
    """
    return "loss=" + "|".join(loss.name for loss in GALLERY if dial in loss.dials)
