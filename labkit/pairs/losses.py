"""The three pair losses as one would write them on a board: functions (S, P, N) -> scalar, in plain torch.

    S   similarities (m, m): row i is anchor i, float
    P   P[i, j]: j is a positive of anchor i (m, m), bool        N   the same for negatives

Each is the mean over all m anchors of the anchor's own term, so that `pair_weights` (m · |dL/dS|) gives the weights of
the paper. An anchor without positives or negatives just adds nothing for them. Nothing is checked, and nothing is done
for speed, memory or large exponents: that is `fast.py`, whose losses of the same names and values `labkit.pairs` hands
out and trainings use. A test holds the two together.
"""

from __future__ import annotations

from torch import Tensor

from labkit.pairs.masks import check_number


def contrastive(S: Tensor, P: Tensor, N: Tensor, *, margin: float = 0.5) -> Tensor:
    """Anchor's term `Σ_N [S - margin]₊ - Σ_P S` (eq. 6): every positive pulls alike, negatives push beyond the margin.

    Eq. 7 prints `S = 1` for the weights and means `w = 1`.
    """
    push = (S - margin).relu() * N  # (m, m), 0 for a negative that is far enough
    pull = S * P  # (m, m)
    return (push - pull).sum(1).mean()


def soft_triplet(S: Tensor, P: Tensor, N: Tensor) -> Tensor:
    """Anchor's term `Σ_{p∈P, n∈N} log(1 + e^(S_n - S_p))` (eq. 4), over all its triplets.

    Eq. 5 gives each triplet the weight 1; the derivative is `σ(S_n - S_p)`, between 0.119 and 0.881 for cosines.
    """
    difference = S[:, None, :] - S[:, :, None]  # (m, m, m): [i, p, n] is S_in - S_ip
    triplet = P[:, :, None] & N[:, None, :]  # (m, m, m)
    return (difference.exp().log1p() * triplet).sum((1, 2)).mean()


def locality(S: Tensor, P: Tensor, N: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5) -> Tensor:
    """Anchor's term `1/α log(1 + Σ_P e^(-α(S - λ))) + 1/β log(1 + Σ_N e^(β(S - λ)))` (eq. 8), λ = `base`.

    It is the multi-similarity loss (Wang et al. 2019), and the defaults are usual for it. The paper prints the second
    half outside the sum over anchors; it belongs inside.
    """
    pull = ((-alpha * (S - base)).exp() * P).sum(1).log1p() / alpha  # (m,): how far the positives are
    push = ((beta * (S - base)).exp() * N).sum(1).log1p() / beta  # (m,): how near the negatives are
    return (pull + push).mean()


def check_locality(alpha: float, beta: float, base: float) -> None:
    """Refuse settings of the locality loss other than two positive scales and a finite base."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        check_number(name, value)
        if value <= 0:
            raise ValueError(f"{name} is {value}, expected a number above 0; the paper's kind of value is 2 or 50")
    check_number("base", base)
