"""The pair losses as one would write them on a board: functions (S, P, N) -> scalar, in plain torch.

    S   similarities (m, m): row i is anchor i, float
    P   P[i, j]: j is a positive of anchor i (m, m), bool        N   the same for negatives

Each is the mean over all m anchors of the anchor's own term, so that `pair_weights` (m · |dL/dS|) gives the weights of
the paper; only `cosent` compares the pairs of all anchors with one another. An anchor without positives or negatives
just adds nothing for them. Nothing is checked, and nothing is done for speed, memory or large exponents: that is
`fast.py`, whose losses of the same names and values `labkit.pairs` hands out and trainings use. A test holds the two
together. Where each comes from, and what it is called elsewhere: `gallery.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.pairs.masks import check_number

Temperature = float | Tensor  # a tensor where it is learned


def contrastive(S: Tensor, P: Tensor, N: Tensor, *, margin: float = 0.5) -> Tensor:
    """Anchor's term `Σ_N [S - margin]₊ - Σ_P S` (eq. 6): every positive pulls alike, negatives push beyond the margin.

    Eq. 7 prints `S = 1` for the weights and means `w = 1`.
    """
    push = (S - margin).relu() * N  # (m, m), 0 for a negative that is far enough
    pull = S * P  # (m, m)
    return (push - pull).sum(1).mean()


def soft_triplet(S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 1.0) -> Tensor:
    """Anchor's term `Σ_{p∈P, n∈N} τ log(1 + e^((S_n - S_p)/τ))` over all its triplets; with τ = 1 it is eq. 4.

    Eq. 5 gives each triplet the weight 1; the derivative is `σ((S_n - S_p)/τ)`, with τ = 1 and cosines between 0.119
    and 0.881.
    """
    difference = (S[:, None, :] - S[:, :, None]) / temperature  # (m, m, m): [i, p, n] is (S_in - S_ip) / τ
    triplet = P[:, :, None] & N[:, None, :]  # (m, m, m)
    return (temperature * difference.exp().log1p() * triplet).sum((1, 2)).mean()


def margin_triplet(S: Tensor, P: Tensor, N: Tensor, *, margin: float = 0.5) -> Tensor:
    """Anchor's term `Σ_{p∈P, n∈N} [S_n - S_p + margin]₊`: a triplet in order by the margin counts nothing."""
    difference = S[:, None, :] - S[:, :, None]  # (m, m, m): [i, p, n] is S_in - S_ip
    triplet = P[:, :, None] & N[:, None, :]  # (m, m, m)
    return ((difference + margin).relu() * triplet).sum((1, 2)).mean()


def locality(S: Tensor, P: Tensor, N: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5) -> Tensor:
    """Anchor's term `1/α log(1 + Σ_P e^(-α(S - λ))) + 1/β log(1 + Σ_N e^(β(S - λ)))` (eq. 8), λ = `base`.

    It is the multi-similarity loss (Wang et al. 2019), and the defaults are usual for it. The paper prints the second
    half outside the sum over anchors; it belongs inside.
    """
    pull = ((-alpha * (S - base)).exp() * P).sum(1).log1p() / alpha  # (m,): how far the positives are
    push = ((beta * (S - base)).exp() * N).sum(1).log1p() / beta  # (m,): how near the negatives are
    return (pull + push).mean()


def logistic(S: Tensor, P: Tensor, N: Tensor, *, base: float = 0.5, temperature: Temperature = 0.1) -> Tensor:
    """Anchor's term `Σ_P τ log(1 + e^((λ - S)/τ)) + Σ_N τ log(1 + e^((S - λ)/τ))`, λ = `base`.

    Each pair alone is asked "the same or not", with the probability `σ((S - λ)/τ)`; τ makes it comparable with the
    hinges, which it becomes when τ goes to 0.
    """
    pull = ((base - S) / temperature).exp().log1p() * P  # (m, m)
    push = ((S - base) / temperature).exp().log1p() * N  # (m, m)
    return (temperature * (pull + push)).sum(1).mean()


def infonce(S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 0.05, symmetric: bool = False) -> Tensor:
    """Anchor's term: the mean over its positives of `-log(e^(S_p/τ) / (e^(S_p/τ) + Σ_N e^(S_n/τ)))`.

    Each positive is to be picked out among the anchor's negatives; its other positives are no rivals. `symmetric` is
    the mean of this and of the same with anchors and others exchanged, (Sᵀ, Pᵀ, Nᵀ).
    """
    if symmetric:
        back = infonce(S.T, P.T, N.T, temperature=temperature)
        return (infonce(S, P, N, temperature=temperature) + back) / 2
    e = (S / temperature).exp()  # (m, m)
    share = e / (e + (e * N).sum(1, keepdim=True))  # (m, m): the probability that the positive is picked
    return (-(share.log() * P).sum(1) / P.sum(1).clamp(min=1)).mean()


def supcon(S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 0.1) -> Tensor:
    """Anchor's term `-1/|P| Σ_p log(e^(S_p/τ) / Σ_{P∪N} e^(S/τ))`: positives are each other's rivals, too."""
    e = (S / temperature).exp()  # (m, m)
    share = e / (e * (P | N)).sum(1, keepdim=True)  # (m, m)
    return -torch.where(P, share.log(), 0).sum(1).div(P.sum(1).clamp(min=1)).mean()


def cosent(S: Tensor, P: Tensor, N: Tensor, *, temperature: Temperature = 0.05, grades: Tensor | None = None) -> Tensor:
    """`log(1 + Σ e^((S_kl - S_ij)/τ))` over every two known pairs, ij graded higher than kl: no mean over anchors.

    A pair is known where P or N has it, and its grade is that of `grades` (m, m); without them 1 in P and 0 in N.
    """
    known = P | N
    s, grade = S[known] / temperature, (P if grades is None else grades)[known]  # (n,) each
    return ((s - s[:, None]).exp() * (grade < grade[:, None])).sum().log1p()  # [ij, kl], (n, n)


def check_locality(alpha: float, beta: float, base: float) -> None:
    """Refuse settings of the locality loss other than two positive scales and a finite base."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        check_number(name, value)
        if value <= 0:
            raise ValueError(f"{name} is {value}, expected a number above 0; the paper's kind of value is 2 or 50")
    check_number("base", base)


def check_temperature(temperature: Temperature) -> None:
    """Refuse a temperature that is no number above 0."""
    value = float(temperature.detach()) if isinstance(temperature, Tensor) else temperature
    check_number("temperature", value)
    if value <= 0:
        raise ValueError(f"temperature is {value}, expected a number above 0; usual are 0.05 to 1")
