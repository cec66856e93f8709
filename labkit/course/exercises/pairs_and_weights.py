"""Notebook 01: pairs, losses and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy.optimize import brentq
from torch import Tensor
from torch.nn.functional import softplus

from labkit.course.exercise import (
    Unfit,
    Unnamed,
    array,
    check,
    close,
    find_mistake,
    known_mistake,
    mask,
    number,
    several,
)
from labkit.course.exercises.draws import cosines
from labkit.pairs import contrastive, informative, locality, masks_from_labels, pair_weights, weight_parts

Masks: TypeAlias = tuple[Tensor, Tensor]


def batch(
    random: np.random.Generator, sizes: Sequence[int] = (3, 3, 2), d: int = 3, kept: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    """S (m, m) and the masks of classes of these sizes.

    `kept` below 1 leaves that share of the pairs in the masks: they are then not symmetric, and not each other's rest.
    """
    S, labels = cosines(random, sizes, d, apart=0.3)
    P, N = masks_from_labels(torch.from_numpy(labels))
    if kept < 1:
        stays = torch.from_numpy(random.random(S.shape) < kept)
        P, N = P & stays, N & stays
    return torch.from_numpy(S), P, N


@check("01.1")
def check_masks(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """P: same class, but not itself. N: another class."""
    labels = ((0, 1, 0, 2, 1, 0), (7, 3, 3, 7, 7, 12, 3, 0, 3), (2, 2, 1, 2))
    cases = [(torch.from_numpy(random.permutation(np.array(each) + random.integers(9))),) for each in labels]

    def changed(how: Callable[[Tensor, Tensor, Tensor], Any]) -> Callable[[Tensor], Any]:
        return lambda labels: how(*masks_from_labels(labels), torch.eye(len(labels), dtype=torch.bool))

    mistakes = (
        (changed(lambda P, N, own: (P | own, N)),
         "the diagonal of your positive mask is set: a sentence is no positive of itself"),
        (changed(lambda P, N, own: (P, N | own)),
         "the diagonal of your negative mask is set: a sentence is no negative of itself"),
        (changed(lambda P, N, own: (N, P)), changed(lambda P, N, own: (N, P | own)),
         "the two are swapped: positives have the same label"),
        (changed(lambda P, N, own: (P.triu(), N.triu())), changed(lambda P, N, own: (P.tril(), N.tril())),
         "each pair stands in yours once; both (i, j) and (j, i) are wanted: every sentence is an anchor"),
        (changed(lambda P, N, own: (own, ~own)), "yours compares places, not labels: every sentence has its own class"),
    )  # fmt: skip
    read = several(2, mask, "two masks of True and False were expected, as in `return positive, negative`")
    return find_mistake(answer, masks_from_labels, cases, mistakes, read=read)


@check("01.2")
def check_contrastive_weights(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 7, with w where it prints S."""
    made = (((4, 4, 3), 3, 1.0), ((4, 1, 3, 2), 3, 0.7), ((2, 5, 2), 4, 1.0))
    cases = [
        (*batch(random, sizes, d, kept), margin)
        for (sizes, d, kept), margin in zip(made, (0.5, 0.1, -0.25), strict=True)
    ]

    def right(S: Tensor, P: Tensor, N: Tensor, margin: float) -> Tensor:
        return pair_weights(partial(contrastive, margin=margin), S, P, N)

    mistakes = (
        (lambda S, P, N, t: S * right(S, P, N, t), lambda S, P, N, t: P * S + (N & (S > t)),
         "eq. 7 prints S = 1, but it is the slope of -S with respect to S that is 1 in size"),
        (lambda S, P, N, t: P | N, "every negative has a weight in yours: below the margin [S - λ]₊ is flat, slope 0"),
        (lambda S, P, N, t: (N & (S > t)).double() - P.double(), lambda S, P, N, t: P.double() - (N & (S > t)).double(),
         "a weight is the size of the slope, |∂L/∂S|: yours has a sign"),
        (lambda S, P, N, t: (P | N) & (S > t), "you ask positives to be above the margin: eq. 6 has none for them"),
        (lambda S, P, N, t: P | (N & (S < t)), "your negatives weigh below the margin; [S - λ]₊ rises above it"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("01.3")
def check_triplet_weight(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """σ(S_n - S_p)."""
    cases = [
        (torch.from_numpy(random.uniform(-1, 1, n)), torch.from_numpy(random.uniform(-1, 1, n))) for n in (4, 6, 9)
    ]

    def right(negative: Tensor, positive: Tensor) -> Tensor:
        return torch.sigmoid(negative - positive)

    mistakes = (
        (lambda n, p: torch.ones_like(n), lambda n, p: 1.0,
         "1 is what eq. 5 of the paper says, and it is not the slope of log(1 + e^x)"),
        (lambda n, p: right(p, n),
         "yours is large where the triplet is in order: it is σ of the difference the other way round"),
        (lambda n, p: softplus(n - p), "that is the loss itself: take its derivative"),
        (lambda n, p: (n > p).double(), "that is the hinge's derivative, a step; log(1 + e^x) bends smoothly"),
        (lambda n, p: right(n, 0 * p) - right(p, 0 * n), "take the difference first, then σ of it"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("01.4")
def check_triplet_range(answer: Any, random: np.random.Generator) -> str | None:
    """Cosines differ by at most 2: σ(-2) to σ(2)."""
    given = array(answer).squeeze()
    if given.shape != (2,):
        raise Unfit("two numbers were expected, (smallest, largest)")
    if close(given, [0.1192, 0.8808], 0.0025):
        return None
    mistakes = (
        ([0.0, 1.0], "0 and 1 are reached for differences without end; two cosines differ by no more than 2"),
        ([0.2689, 0.7311], "that is σ(-1) and σ(1): a cosine goes from -1 to 1, so how far apart can two be?"),
        ([0.8808, 0.1192], "the right two numbers, the other way round"),
        ([-1.0, 1.0], "between these lies a cosine; the weight is σ of a difference of two of them"),
        ([-2.0, 2.0], "between these lies S_n - S_p; the weight is σ of it"),
    )
    general = Unnamed("evaluate σ at the smallest and the largest S_n - S_p of two cosines, to three places")
    return known_mistake(given, mistakes, 0.006) or general


def half(S: Tensor, mask: Tensor, scale: float, base: float, one: float = 1.0) -> Tensor:
    """`log(1 + Σ e^(scale · (S - base))) / |scale|` of each row."""
    return torch.log(one + (torch.exp(scale * (S - base)) * mask).sum(1)) / abs(scale)


@check("01.5")
def check_locality_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 8 with its brace in place."""
    cases = [
        (*batch(random), 2.0, 12.0, 0.5),
        (*batch(random, (4, 2, 3, 2), 4), 5.0, 3.0, -0.2),
        (*batch(random, (2, 5, 2), 3, 0.8), 0.7, 7.0, 0.3),
    ]

    def right(S: Tensor, P: Tensor, N: Tensor, alpha: float, beta: float, base: float) -> Tensor:
        return locality(S, P, N, alpha=alpha, beta=beta, base=base)

    def of(how: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
        """A mistake with the two halves of every anchor."""
        return lambda S, P, N, a, b, t: how(half(S, P, -a, t), half(S, N, b, t))

    mistakes = (
        (of(lambda pull, push: (pull + push).sum()), "that is the sum over the anchors; the house takes their mean"),
        (of(lambda pull, push: pull.mean() + push.sum()), of(lambda pull, push: pull.mean() + push[-1]),
         "the second term stands outside the mean over the anchors, as eq. 8 is printed"),
        (lambda S, P, N, a, b, t: (half(S, P, a, t) + half(S, N, b, t)).mean(),
         "positives have the wrong sign: a near positive must cost little, e^(-α(S - λ))"),
        (lambda S, P, N, a, b, t: (a * half(S, P, -a, t) + b * half(S, N, b, t)).mean(),
         "the factors 1/α and 1/β are missing"),
        (lambda S, P, N, a, b, t: (half(S, P, -a, t, 0) + half(S, N, b, t, 0)).mean(),
         "the 1 inside the logarithms is missing: it lets far negatives count for nothing"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("01.6")
def check_negative_weight(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 9, for negatives: 1 / (e^(β(λ - S_ij)) + Σ_{k∈N_i} e^(β(S_ik - S_ij)))."""
    cases = []
    for sizes, kept, beta, base in (
        ((3, 3, 2), 1.0, 10.0, 0.5),
        ((4, 1, 3, 2), 0.7, 4.0, -0.2),
        ((2, 5, 2), 0.6, 6.5, 0.8),
    ):
        S, _, N = batch(random, sizes, 4, kept)
        cases.append((S, N, beta, base))

    def right(S: Tensor, N: Tensor, beta: float, base: float) -> Tensor:
        return weight_parts(S, torch.zeros_like(N), N, beta=beta, base=base).weight

    def gaps(S: Tensor, beta: float) -> Tensor:
        return torch.exp(beta * (S[:, None, :] - S[:, :, None]))  # [i, j, k]

    def by(relative: Callable[..., Tensor]) -> Callable[..., Any]:
        """A mistake in the second part."""
        return lambda S, N, b, t: torch.where(N, 1 / (torch.exp(b * (t - S)) + relative(S, N, b)), 0.0)

    mistakes = (
        (by(lambda S, N, b: gaps(S, b).sum(2)), "your weights sum over the whole row; eq. 9 only sums N_i"),
        (by(lambda S, N, b: (gaps(S, -b) * N[:, None, :]).sum(2)),
         "the differences in the sum are the wrong way round: S_ik - S_ij"),
        (by(lambda S, N, b: (gaps(S, b) * N[:, None, :]).sum(1)),
         "the sum runs over the wrong axis: S[:, None, :] - S[:, :, None] is [i, j, k], and k is to go (axis 2)"),
        (by(lambda S, N, b: (gaps(S, b) ** N[:, None, :]).sum(2)),
         "the mask stands inside the exponent in yours: a k outside N then counts e^0 = 1. Multiply after exp"),
        (by(lambda S, N, b: (gaps(S, b) * N[:, None, :]).mean(2)),
         by(lambda S, N, b: (gaps(S, b) * N[:, None, :]).sum(2) / N.sum(1, keepdim=True)),
         "the relative part is a sum over the negatives; yours is a mean"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("01.8")
def check_keep_rule(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 11 and 12, and what becomes of an anchor without a positive."""
    cases = [
        (*batch(random, (5, 4)), 0.1),
        (*batch(random, (4, 3, 3), 4), 0.3),
        (*batch(random, (3, 1, 4, 1)), -0.05),
        (*batch(random, (6, 2), 2, 0.6), 0.2),
    ]
    S, P, N = batch(random, (4, 5))
    cases.append(((8 * S).round() / 8, P, N, 0.25))  # many pairs stand just at a bound

    def right(S: Tensor, P: Tensor, N: Tensor, epsilon: float) -> Masks:
        return informative(S, P, N, epsilon=epsilon)

    def by(below: Callable[..., Any], above: Callable[..., Any]) -> Callable[..., Masks]:
        """Positives below the one, negatives above the other."""
        return lambda S, P, N, e: (P & (S < below(S, N) + e), N & (S > above(S, P) - e))

    def least(S: Tensor, M: Tensor, axis: int = 1) -> Tensor:
        return S.masked_fill(~M, torch.inf).amin(axis, keepdim=True)

    def most(S: Tensor, M: Tensor, axis: int = 1) -> Tensor:
        return S.masked_fill(~M, -torch.inf).amax(axis, keepdim=True)

    mistakes = (
        (lambda S, P, N, e: right(S, P, N, -e), "ε has the wrong sign: it makes the rule milder"),
        (by(least, most), "eq. 11 holds negatives against the farthest positive, eq. 12 positives against the nearest "
         "negative: your ends are exchanged"),
        (by(most, most), "your negatives are held against the nearest positive; eq. 11 takes the farthest"),
        (by(lambda S, M: most(S, M).T, lambda S, M: least(S, M).T), by(partial(most, axis=0), partial(least, axis=0)),
         "row i is held against another row's bound: an anchor is a row, axis 1, and its bound a column (`keepdim`)"),
        (lambda S, P, N, e: (S < most(S, N) + e, S > least(S, P) - e),
         "the kept must be subsets: positives kept are in P, negatives kept in N. Combine with `&`"),
    )  # fmt: skip

    def of_any_kind(kept: Any) -> Any:
        """No later cell chooses with these: an array will do."""
        return mask(torch.from_numpy(kept) if isinstance(kept, np.ndarray) else kept)

    read = several(2, of_any_kind, "two masks were expected: the positives kept and the negatives kept")
    return find_mistake(answer, right, cases, mistakes, read=read)


NEGATIVES = (0.62, 0.58, 0.55, 0.31, 0.12, -0.20)  # similarities of one anchor's negatives


def nearest_share(beta: float) -> float:
    """The share of the largest weight in all of eq. 9: e^(βS) over their sum, for the own part is common to all."""
    return float(torch.softmax(beta * torch.tensor(NEGATIVES, dtype=torch.float64), 0).max())


@check("01.7")
def check_scale_for_half(answer: Any, random: np.random.Generator) -> str | None:
    """The β at which the nearest negative has half of all weight."""
    given, right = number(answer), brentq(lambda beta: nearest_share(beta) - 0.5, 0, 1000)
    if abs(given - right) <= 0.05 * right:
        return None
    if given == 0.5:
        return "that is the share; asked for is the β that gives it"
    if given <= 0:
        return "β is a scale above 0"
    share = nearest_share(given)
    more = "larger" if share < 0.5 else "smaller"
    return f"at β = {given:g} the nearest negative has {share:.0%} of the weight: take a {more} one"
