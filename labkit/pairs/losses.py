"""The pair losses: functions (S, P, N) -> scalar, and their entries in the table `LOSSES`.

    S   similarity (m, m): row i is anchor i; cosines; float16 and bfloat16 are converted to float32
    P   positive[i, j]: j is a positive of anchor i (m, m), bool        N   likewise for negatives

Each loss is the mean over all m anchors of the anchor's own term, so that `pair_weights` (m · |dL/dS|) gives the
weights of the paper; only `cosent` compares the pairs of all anchors. If an anchor has no positives or no negatives,
their term is 0. Each docstring has the formula; the code computes it without overflow and without holding all triplets,
using the functions at the end of this file.

To add a loss, write a function and add an entry to `_TABLE`; `--set loss=`, the curves, the weights and the adapters
use that table. Its keyword arguments are hyperparameters with the same names as the training settings.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from labkit.pairs.masks import check_number, checked_triple, highest, lowest

Temperature = float | Tensor  # a tensor if it is learned
_TRIPLETS_AT_ONCE = 1 << 22


def contrastive(similarity: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.5) -> Tensor:
    """Anchor's term `Σ_N [S - margin]₊ - Σ_P S` (eq. 6): all positives pull equally, negatives beyond the margin push.

    Eq. 7 prints `S = 1` for the weights and means `w = 1`.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(contrastive(S, P, ~P, margin=0.2).item(), 3)
    -0.7
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_number("margin", margin)
    push = (S - margin).relu() * N.to(S.dtype)  # (m, m): 0 for a negative below the margin
    pull = S * P.to(S.dtype)  # (m, m): converted, because multiplying by a bool tensor is five times slower
    return (push - pull).sum(1).mean()


def soft_triplet(similarity: Tensor, positive: Tensor, negative: Tensor, *, temperature: Temperature = 1.0) -> Tensor:
    """Anchor's term `Σ_{p∈P, n∈N} τ log(1 + e^((S_n - S_p)/τ))` over all its triplets; with τ = 1 it is eq. 4.

    Eq. 5 gives each triplet the weight 1; the derivative is `σ((S_n - S_p)/τ)`, with τ = 1 and cosines between 0.119
    and 0.881.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(soft_triplet(S, P, ~P).item(), 3)
    0.474
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    return _mean_over_triplets(S, P, N, lambda difference: temperature * _softplus(difference / temperature))


def margin_triplet(similarity: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.5) -> Tensor:
    """Anchor's term `Σ_{p∈P, n∈N} [S_n - S_p + margin]₊`: a triplet that keeps the margin adds 0.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(margin_triplet(S, P, ~P, margin=0.6).item(), 3)
    0.1
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_number("margin", margin)
    return _mean_over_triplets(S, P, N, lambda difference: (difference + margin).relu())


def locality(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> Tensor:
    """Anchor's term `1/α log(1 + Σ_P e^(-α(S - λ))) + 1/β log(1 + Σ_N e^(β(S - λ)))` (eq. 8), λ = `base`.

    It is the multi-similarity loss (Wang et al. 2019), with its usual defaults. The paper prints the second half
    outside the sum over anchors; it belongs inside. The derivative is eq. 9 for negatives, eq. 10 for positives.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(locality(S, P, ~P).item(), 3)
    0.219
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_locality(alpha, beta, base)
    pull: Tensor = _Log1pSumExp.apply(S, P, -alpha, base) / alpha  # (m,): how far away the positives are
    push: Tensor = _Log1pSumExp.apply(S, N, beta, base) / beta  # (m,): how near the negatives are
    return (pull + push).mean()


def logistic(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, base: float = 0.5, temperature: Temperature = 0.1
) -> Tensor:
    """Anchor's term `Σ_P τ log(1 + e^((λ - S)/τ)) + Σ_N τ log(1 + e^((S - λ)/τ))`, λ = `base`.

    Each pair is classified on its own as same or different, with probability `σ((S - λ)/τ)`. As τ goes to 0 the terms
    become hinges.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(logistic(S, P, ~P).item(), 3)
    0.018
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_number("base", base)
    check_temperature(temperature)
    sign = N.to(S.dtype) - P.to(S.dtype)  # (m, m): one formula for both kinds
    return (temperature * _softplus(sign * (S - base) / temperature) * (P | N)).sum(1).mean()


def infonce(
    similarity: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    temperature: Temperature = 0.05,
    symmetric: bool = False,
) -> Tensor:
    """Anchor's term: the mean over its positives of `-log(e^(S_p/τ) / (e^(S_p/τ) + Σ_N e^(S_n/τ)))`.

    Each positive competes with the anchor's negatives, but not with its other positives. `symmetric` averages this with
    the loss of (Sᵀ, Pᵀ, Nᵀ).

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(infonce(S, P, ~P, temperature=0.5).item(), 3)
    0.313
    """
    if symmetric:
        back = infonce(similarity.T, positive.T, negative.T, temperature=temperature)
        return (infonce(similarity, positive, negative, temperature=temperature) + back) / 2
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    Z = S / temperature
    terms = _softplus(_log_sum_exp(Z, N) - Z) * P  # (m, m): log(1 + Σ_N e^(Z_n) / e^(Z_p)); 0 without a negative
    return (terms.sum(1) / P.sum(1).clamp(min=1)).mean()


def supcon(similarity: Tensor, positive: Tensor, negative: Tensor, *, temperature: Temperature = 0.1) -> Tensor:
    """Anchor's term `-1/|P| Σ_p log(e^(S_p/τ) / Σ_{P∪N} e^(S/τ))`: positives also compete with each other.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(supcon(S, P, ~P, temperature=0.5).item(), 3)
    0.313
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    Z, count = S / temperature, P.sum(1)
    terms = _log_sum_exp(Z, P | N)[:, 0] - (Z * P).sum(1) / count.clamp(min=1)  # (m,)
    return terms.masked_fill(count == 0, 0).mean()


def cosent(
    similarity: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    temperature: Temperature = 0.05,
    grades: Tensor | None = None,
) -> Tensor:
    """`log(1 + Σ e^((S_kl - S_ij)/τ))` over all known pairs ij, kl with ij graded higher: no mean over anchors.

    A pair is known if it is in P or N. Its grade comes from `grades` (m, m), or is 1 in P and 0 in N. The double sum is
    computed from single sums: a product for two grades, cumulative sums for more.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> round(cosent(S, P, ~P, temperature=0.5).item(), 3)
    0.313
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    if grades is None:
        Z = (S / temperature).reshape(1, -1)
        return _softplus(_log_sum_exp(Z, N.reshape(1, -1)) + _log_sum_exp(-Z, P.reshape(1, -1)))[0, 0]
    known = P | N
    if not isinstance(grades, Tensor) or grades.shape != S.shape:
        shape = tuple(grades.shape) if isinstance(grades, Tensor) else type(grades).__name__
        raise ValueError(f"grades have shape {shape}, expected {tuple(S.shape)} like similarity; grade each pair")
    if not grades[known].isfinite().all():
        raise ValueError("grades are NaN or infinite for pairs in the masks; remove these pairs from the masks")
    grade, order = grades[known].sort(stable=True)  # (n,)
    Z = S[known][order] / temperature  # (n,): from the lowest grade to the highest
    below = torch.searchsorted(grade, grade)  # (n,): how many pairs have a lower grade
    higher = below > 0
    sums = torch.logcumsumexp(Z, 0)[below[higher] - 1]  # log Σ e^Z of the pairs with a lower grade
    return _softplus(torch.logsumexp(sums - Z[higher], 0))


# --- the table ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairLoss:
    """A loss with its title, LaTeX formula, origin and a description of its weights.

    `temperature` is the initial value in training. `needs` is "masks" (positives and negatives), "grades" (if there are
    any) or "texts". `by_anchor`: the loss is a mean over anchors, so a batch can be computed in strips.
    `learns_temperature`: the loss has its minimum at a useful τ, so τ can be learned. `one_kind`: an anchor with
    only positives or only negatives has a gradient.

    >>> LOSSES["locality"].hyperparameters
    ('alpha', 'beta', 'base')
    >>> LOSSES["locality"].title
    'locality (multi-similarity)'
    """

    name: str
    function: Callable[..., Tensor]
    title: str
    latex: str
    origin: str
    weight: str
    temperature: float = 1.0
    needs: str = "masks"
    by_anchor: bool = True
    learns_temperature: bool = False
    one_kind: bool = False

    @cached_property
    def hyperparameters(self) -> tuple[str, ...]:
        """The names of the loss's numeric keyword arguments, which are also training settings."""
        return tuple(name for name in inspect.signature(self.function).parameters if name not in NO_HYPERPARAMETERS)


NO_HYPERPARAMETERS = ("similarity", "positive", "negative", "grades")

_TABLE = (
    PairLoss(
        "locality",
        locality,
        "locality (multi-similarity)",
        r"\frac{1}{\alpha}\log\Big(1+\sum_{P_i} e^{-\alpha(S_{ij}-\lambda)}\Big)"
        r"+\frac{1}{\beta}\log\Big(1+\sum_{N_i} e^{\beta(S_{ij}-\lambda)}\Big)",
        "Wang, Han, Huang, Dong, Scott: Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning, "
        "CVPR 2019; its miner is SentPWNet's eq. 11 and 12",
        "The weight depends on how near the pair's similarity is to λ, and on the anchor's other pairs of the same "
        "kind.",
        one_kind=True,
    ),
    PairLoss(
        "contrastive",
        contrastive,
        "contrastive",
        r"\sum_{N_i}\,[S_{ij}-\text{margin}]_+ - \sum_{P_i} S_{ij}",
        "Hadsell, Chopra, LeCun: Dimensionality Reduction by Learning an Invariant Mapping, CVPR 2006; with cosines as "
        "in SentPWNet's eq. 6",
        "The weight is exactly 1 for every positive and for every negative beyond the margin.",
        one_kind=True,
    ),
    PairLoss(
        "soft-triplet",
        soft_triplet,
        "soft triplet",
        r"\sum_{p\in P_i}\sum_{n\in N_i}\tau\log\big(1+e^{(S_{in}-S_{ip})/\tau}\big)",
        "Hermans, Beyer, Leibe: In Defense of the Triplet Loss for Person Re-Identification, 2017; with τ = 1 "
        "SentPWNet's eq. 4",
        "The weight is a sum over the pair's triplets: how far each of them is from being safely ordered.",
        temperature=0.2,
    ),
    PairLoss(
        "margin-triplet",
        margin_triplet,
        "margin triplet",
        r"\sum_{p\in P_i}\sum_{n\in N_i}\,[S_{in}-S_{ip}+\text{margin}]_+",
        "Schroff, Kalenichenko, Philbin: FaceNet: A Unified Embedding for Face Recognition and Clustering, CVPR 2015",
        "The weight is the number of the pair's triplets that violate the margin.",
    ),
    PairLoss(
        "infonce",
        infonce,
        "InfoNCE (multiple negatives)",
        r"-\frac{1}{|P_i|}\sum_{p\in P_i}\log\frac{e^{S_{ip}/\tau}}{e^{S_{ip}/\tau}+\sum_{n\in N_i}e^{S_{in}/\tau}}",
        "van den Oord, Li, Vinyals: Representation Learning with Contrastive Predictive Coding, 2018; as multiple "
        "negatives ranking: Henderson et al., Efficient Natural Language Response Suggestion, 2017",
        "The weight is the probability that the positive is missed, or the negative picked instead, divided by τ.",
        temperature=0.05,
        learns_temperature=True,
    ),
    PairLoss(
        "supcon",
        supcon,
        "supervised contrastive",
        r"-\frac{1}{|P_i|}\sum_{p\in P_i}\log\frac{e^{S_{ip}/\tau}}{\sum_{k\in P_i\cup N_i}e^{S_{ik}/\tau}}",
        "Khosla et al.: Supervised Contrastive Learning, NeurIPS 2020 (L_out)",
        "How far the pair's share of the anchor's sum is from its target, 1/|P| or 0, divided by τ; a positive above "
        "its share is pushed away.",
        temperature=0.1,
        learns_temperature=True,
    ),
    PairLoss(
        "logistic",
        logistic,
        "logistic",
        r"\sum_{P_i}\tau\log\big(1+e^{(\lambda-S_{ij})/\tau}\big)"
        r"+\sum_{N_i}\tau\log\big(1+e^{(S_{ij}-\lambda)/\tau}\big)",
        "Guillaumin, Verbeek, Schmid: Is That You? Metric Learning Approaches for Face Identification, ICCV 2009; "
        "today's sigmoid loss: Zhai et al., ICCV 2023",
        "The weight is the probability that the pair, by itself, is classified as the other kind.",
        temperature=0.1,
        one_kind=True,
    ),
    PairLoss(
        "cosent",
        cosent,
        "CoSENT",
        r"\log\Big(1+\sum_{S_{kl}\prec S_{ij}} e^{(S_{kl}-S_{ij})/\tau}\Big)",
        "Su, kexue.fm 2022; Huang et al.: CoSENT: Consistent Sentence Embedding via Similarity Ranking, IEEE/ACM "
        "TASLP 2024",
        "How strongly the ranking of all pairs in the batch pulls at this one; it grows with the batch, so only "
        "ratios compare.",
        temperature=0.05,
        needs="grades",
        by_anchor=False,
    ),
    PairLoss(
        "simcse",
        infonce,
        "SimCSE",
        r"\text{InfoNCE; } P \text{ is the sentence's twin under other dropout, } N \text{ the other twins}",
        "Gao, Yao, Chen: SimCSE: Simple Contrastive Learning of Sentence Embeddings, EMNLP 2021",
        "The weight is the probability that another sentence is taken for the twin, divided by τ. Labels are not used.",
        temperature=0.05,
        needs="texts",
        learns_temperature=True,
    ),
)
LOSSES: dict[str, PairLoss] = {loss.name: loss for loss in _TABLE}
ALIASES = {"multi-similarity": "locality"}  # alternative names of a loss


def check_locality(alpha: float, beta: float, base: float) -> None:
    """Raise ValueError unless the locality loss has two positive scales and a finite base."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        check_number(name, value)
        if value <= 0:
            raise ValueError(f"{name} is {value}, expected a number above 0, such as 2 or 50")
    check_number("base", base)


def check_temperature(temperature: Temperature) -> None:
    """Raise ValueError unless the temperature is a number above 0."""
    value = float(temperature.detach()) if isinstance(temperature, Tensor) else temperature
    check_number("temperature", value)
    if value <= 0:
        raise ValueError(f"temperature is {value}, expected a number above 0, usually 0.05 to 1")


# --- the steps that keep numbers finite and memory small ---------------------------------------------------------


class _Log1pSumExp(torch.autograd.Function):
    """`log(1 + Σ e^L)` of each row over the mask, (m,), with `L = scale · (S - base)`.

    The largest exponent is factored out first, so that nothing overflows at any scale. One (m, m) tensor is kept for
    the backward pass, `e^L / (1 + Σ e^L)`, where autograd would keep six; second derivatives are not supported.
    """

    @staticmethod
    def forward(ctx: Any, S: Tensor, mask: Tensor, scale: float, base: float) -> Tensor:
        inside = mask.to(S.dtype)
        shift = highest(S, inside).clamp_(min=base) if scale > 0 else lowest(S, inside).clamp_(max=base)
        # Outside the mask the exponent may be anything; where e^x underflows to 0, exp is ten times slower.
        terms = torch.sub(S, shift).mul_(scale).clamp_(math.log(torch.finfo(S.dtype).tiny), 0).exp_().mul_(inside)
        largest = scale * (shift - base)
        rest = terms.sum(1, keepdim=True).add_(torch.expm1(-largest))  # 1 + rest = e^-largest + Σ terms
        ctx.save_for_backward(terms.div_(1 + rest))
        ctx.scale = scale
        return (largest + rest.log1p())[:, 0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        (shares,) = ctx.saved_tensors
        return shares * (ctx.scale * upstream)[:, None], None, None, None


def _log_sum_exp(Z: Tensor, mask: Tensor) -> Tensor:
    """`log Σ e^Z` of each row over the mask, (m, 1); -∞ if a row has none."""
    return Z.masked_fill(~mask, -math.inf).logsumexp(1, keepdim=True)


def _softplus(x: Tensor) -> Tensor:
    """`log(1 + e^x)`. torch's version returns x above 20, which is inexact in double precision."""
    return F.softplus(x, threshold=40)


def _mean_over_triplets(S: Tensor, P: Tensor, N: Tensor, cost: Callable[[Tensor], Tensor]) -> Tensor:
    """Mean over the anchors of the summed cost of `S_n - S_p` over their triplets, without an (m, m, m) tensor."""
    anchors, positives = P.nonzero(as_tuple=True)
    few = max(1, _TRIPLETS_AT_ONCE // S.shape[1])  # (few, m) triplets at a time, recomputed in the backward pass
    if len(anchors) <= few:  # checkpointing would save nothing here, and its import takes seconds
        return _triplet_terms(S, N, anchors, positives, cost) / len(S)
    parts = [
        checkpoint(_triplet_terms, S, N, a, p, cost, use_reentrant=False, preserve_rng_state=False)
        for a, p in zip(anchors.split(few), positives.split(few), strict=True)
    ]
    return torch.stack(parts).sum() / len(S)


def _triplet_terms(
    S: Tensor, N: Tensor, anchors: Tensor, positives: Tensor, cost: Callable[[Tensor], Tensor]
) -> Tensor:
    """Sum over the given (anchor, positive) pairs and all negatives of the anchor."""
    differences = S.index_select(0, anchors) - S[anchors, positives][:, None]  # (pairs, m): S_n - S_p
    return (cost(differences) * N[anchors]).sum()
