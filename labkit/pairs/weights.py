"""What a loss makes of each pair, `w = m · |dL/dS|`, of any loss and in the formulas of each in the gallery.

    pair_weights          of any loss, by automatic differentiation
    ..._weights           of each loss as one would write it on a board: not checked, and large exponents overflow
    weight_parts          own and relative similarity, the two parts that a weight of the locality loss consists of

In: a loss and (S, P, N), or the settings of the loss. Out: (m, m) tensors, 0 outside the masks. A test holds the
formulas to the derivatives of the losses that trainings use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from labkit.pairs.losses import Temperature, check_locality
from labkit.pairs.masks import checked_triple

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


class WeightParts(NamedTuple):
    """The denominator of a weight in two parts, float64 (m, m), both 0 where a pair is in neither mask.

    `own`: `e^(β(λ - S_ij))` of a negative, `e^(α(S_ij - λ))` of a positive: how similar the pair is by itself.
    `relative`: `Σ_k e^(β(S_ik - S_ij))` or `Σ_k e^(α(S_ij - S_ik))`: how it stands among the anchor's, itself included.
    """

    own: Tensor
    relative: Tensor

    @property
    def weight(self) -> Tensor:
        """`1 / (own + relative)`, eq. 9 (negatives) and eq. 10 (positives); 0 where a pair is in neither mask."""
        total = self.own + self.relative
        return torch.where(total > 0, 1 / total, 0.0)


def pair_weights(loss: Loss, similarity: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """`m · |dL/dS|` (eq. 1-3) by automatic differentiation, for any loss; 0 outside the masks.

    Settings go in through `functools.partial`.
    """
    S, P, N = checked_triple(similarity, positive, negative, cosine=False)
    with torch.inference_mode(False), torch.enable_grad():
        # what was made in inference mode cannot be differentiated, only its copy
        S, P, N = (part.clone() if part.is_inference() else part for part in (S, P, N))
        leaf = S.detach().requires_grad_()
        value = loss(leaf, P, N)
        if not isinstance(value, Tensor) or value.ndim:
            kind = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(f"loss returns {kind}, expected a scalar tensor; take the mean over the anchors")
        slope = torch.autograd.grad(value, leaf, allow_unused=True)[0] if value.requires_grad else None
    return torch.zeros_like(S) if slope is None else slope.abs() * len(S) * (P | N)


def contrastive_weights(S: Tensor, P: Tensor, N: Tensor, *, margin: float = 0.5) -> Tensor:
    """Weight 1 for every positive, and 1 for every negative beyond the margin (eq. 7): never more, never less."""
    return (P | (N & (margin < S))).to(S.dtype)  # (m, m)


def soft_triplet_weights(S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 1.0) -> Tensor:
    """Sum of `σ((S_n - S_p)/τ)` over the triplets that a pair is part of; eq. 5 prints 1 for each triplet."""
    share = ((S[:, None, :] - S[:, :, None]) / temperature).sigmoid()  # (m, m, m): [i, p, n] is σ((S_in - S_ip)/τ)
    share = share * (P[:, :, None] & N[:, None, :])  # triplets only
    return share.sum(2) + share.sum(1)  # of a pair as the positive, and as the negative


def margin_triplet_weights(S: Tensor, P: Tensor, N: Tensor, *, margin: float = 0.5) -> Tensor:
    """How many triplets a pair is part of in which the negative is not further by the margin."""
    short = (S[:, None, :] - S[:, :, None] + margin > 0) & P[:, :, None] & N[:, None, :]  # (m, m, m)
    return (short.sum(2) + short.sum(1)).to(S.dtype)


def locality_weights(
    S: Tensor, P: Tensor, N: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> Tensor:
    """`e^L / (1 + Σ_k e^L_k)` among the anchor's negatives (eq. 9, L = β(S - λ)) and positives (eq. 10, L = -α(S - λ)).

    Both are the paper's `1 / (own + relative)`, multiplied through by `e^L`.
    """
    push = (beta * (S - base)).exp() * N  # (m, m)
    pull = (-alpha * (S - base)).exp() * P  # (m, m)
    return push / (1 + push.sum(1, keepdim=True)) + pull / (1 + pull.sum(1, keepdim=True))


def logistic_weights(S: Tensor, P: Tensor, N: Tensor, *, base: float = 0.5, temperature: Temperature = 0.1) -> Tensor:
    """`σ((λ - S)/τ)` of a positive, `σ((S - λ)/τ)` of a negative: how far the pair is from sure, by itself alone."""
    z = (S - base) / temperature
    return (-z).sigmoid() * P + z.sigmoid() * N  # (m, m)


def infonce_weights(
    S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 0.05, symmetric: bool = False
) -> Tensor:
    """`(1 - e^(S_p/τ)/q_p) / |P|τ` of a positive, where `q_p = e^(S_p/τ) + Σ_N e^(S_n/τ)`, and of a negative
    `Σ_p e^(S_n/τ)/q_p / |P|τ`: the chance that it is picked in a positive's place.

    `symmetric`: half of it as the anchor's pair, half as the other's.
    """
    if symmetric:
        back = infonce_weights(S.T, P.T, N.T, temperature=temperature).T * (S.shape[0] / S.shape[1])
        return (infonce_weights(S, P, N, temperature=temperature) + back) / 2
    e = (S / temperature).exp()
    q = e + (e * N).sum(1, keepdim=True)  # (m, m): of the positive in this column
    pull = (1 - e / q) * P
    push = e * N * (P / q).sum(1, keepdim=True)
    return (pull + push) / (temperature * P.to(S.dtype).sum(1, keepdim=True).clamp(min=1))


def supcon_weights(S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 0.1) -> Tensor:
    """`|1/|P| - q| / τ` of a positive, `q / τ` of a negative, with `q = e^(S/τ) / Σ_{P∪N} e^(S/τ)`.

    A positive with more than its share 1/|P| is pushed, not pulled.
    """
    e = (S / temperature).exp() * (P | N)
    q = e / e.sum(1, keepdim=True)  # (m, m)
    wanted = P / P.to(S.dtype).sum(1, keepdim=True)  # (m, m); an anchor without a positive has none, and counts nothing
    return ((q - wanted).abs() / temperature).masked_fill(~P.any(1, keepdim=True), 0)


def cosent_weights(
    S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 0.05, grades: Tensor | None = None
) -> Tensor:
    """`m/τ` times the share of a pair in `1 + Σ e^((S_kl - S_ij)/τ)`: its terms as kl less its terms as ij, the size.

    It says how hard the order of all pairs pulls at this one, and grows with m, for the loss is no mean over anchors.
    """
    known = P | N
    s, grade = S[known] / temperature, (P if grades is None else grades)[known]  # (n,) each
    terms = (s - s[:, None]).exp() * (grade < grade[:, None])  # (n, n): [ij, kl]
    weights = torch.zeros_like(S)
    weights[known] = (terms.sum(0) - terms.sum(1)).abs() / (1 + terms.sum()) * len(S) / temperature
    return weights


def weight_parts(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> WeightParts:
    """Own and relative similarity, the two parts of the denominator in eq. 9 (negatives) and eq. 10 (positives).

    In float64, finite at S = -1 and λ = 0.5 up to β = 350; beyond that a part may be infinite and its weight 0.
    """
    S, P, N = checked_triple(similarity, positive, negative)
    S = S.detach().double()
    check_locality(alpha, beta, base)
    own, relative = torch.zeros_like(S), torch.zeros_like(S)
    for mask, scale in ((P, -alpha), (N, beta)):
        logits = scale * (S - base)
        total = logits.masked_fill(~mask, -torch.inf).logsumexp(1, keepdim=True)
        own[mask] = torch.exp(-logits)[mask]
        relative[mask] = torch.exp(total - logits)[mask]
    return WeightParts(own, relative)
