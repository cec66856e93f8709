"""Notebook 01: pairs, losses and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize, softplus

from labkit.lab.course.exercise import (
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
from labkit.pairs import contrastive, informative, locality, masks_from_labels, pair_weights, weight_parts

Masks: TypeAlias = tuple[Tensor, Tensor]


def case(
    seed: int, sizes: Sequence[int] = (3, 3, 2), d: int = 3, *, kept: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    """S (m, m) of vectors that are neither all near nor all far, and the masks of classes of these sizes, mixed.

    `kept` below 1 leaves that share of the pairs in the masks: they are then not symmetric, and not each other's rest.
    """
    draw = torch.Generator().manual_seed(seed)
    labels = torch.repeat_interleave(torch.tensor(sizes))[torch.randperm(sum(sizes), generator=draw)]
    rows = normalize(torch.randn(len(labels), d, generator=draw, dtype=torch.float64), dim=1)
    P, N = masks_from_labels(labels)
    if kept < 1:
        stays = torch.rand(P.shape, generator=draw) < kept
        P, N = P & stays, N & stays
    return (rows @ rows.T).clamp(-1, 1), P, N


def eye(S: Tensor) -> Tensor:
    """True on the diagonal."""
    return torch.eye(len(S), dtype=torch.bool)


def parted(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The answer with two masks in one tensor (2, m, m) taken apart."""

    def call(*arguments: Any) -> Any:
        given = answer(*arguments)
        return tuple(given) if isinstance(given, Tensor | np.ndarray) and given.ndim == 3 else given

    return call


@check("01.1")
def check_masks(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """P: same class, but not itself. N: another class."""
    cases = [(torch.tensor(each),) for each in ([0, 1, 0, 2, 1, 0], [7, 3, 3, 7, 7, 12, 3, 0, 3], [2, 2, 1, 2])]

    def same(labels: Tensor) -> Tensor:
        return labels[:, None] == labels[None, :]

    def right(labels: Tensor) -> Masks:
        return masks_from_labels(labels)

    def changed(how: Callable[[Tensor, Tensor, Tensor], Any]) -> Callable[[Tensor], Any]:
        return lambda labels: how(*right(labels), eye(labels))

    itself = "the diagonal of your positive mask is set: a sentence is no positive of itself"
    not_itself = "the diagonal of your negative mask is set: a sentence is no negative of itself"
    mistakes = (
        (changed(lambda P, N, own: (P | own, N)), itself),
        (changed(lambda P, N, own: (P, N | own)), not_itself),
        (changed(lambda P, N, own: (P | own, N | own)), f"{itself}, and no negative"),
        (changed(lambda P, N, own: (N, P)), changed(lambda P, N, own: (N, P | own)),
         changed(lambda P, N, own: (N | own, P)),
         "the two are swapped: positives have the same label"),
        (changed(lambda P, N, own: (P.triu(), N.triu())), changed(lambda P, N, own: (P.tril(), N.tril())),
         "each pair stands in yours once; both (i, j) and (j, i) are wanted: every sentence is an anchor"),
        (changed(lambda P, N, own: (own, ~own)), "yours compares places, not labels: every sentence has its own class"),
        (changed(lambda P, N, own: (P, ~own)), "your negatives hold the positives, too: another label is wanted"),
        (changed(lambda P, N, own: (~own, N)), "your positives hold the negatives, too: the same label is wanted"),
        (changed(lambda P, N, own: (P, P)), "both masks are the same: negatives have another label"),
        (lambda labels: (labels[:, None] > labels[None, :], labels[:, None] <= labels[None, :]),
         "labels are names, not sizes: compare them with =="),
    )  # fmt: skip
    read = several(2, mask, "two masks were expected, as in `return positive, negative`")
    return find_mistake(parted(answer), right, cases, mistakes, read=read)


@check("01.2")
def check_contrastive_weights(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 7, with w where it prints S."""
    cases = [(*case(1), 0.5), (*case(2, (4, 1, 3, 2), kept=0.7), 0.1), (*case(3, (2, 5, 2), 4), -0.25)]

    def right(S: Tensor, P: Tensor, N: Tensor, margin: float) -> Tensor:
        return pair_weights(partial(contrastive, margin=margin), S, P, N)

    def above(S: Tensor, N: Tensor, margin: float) -> Tensor:
        return N & (S > margin)

    mistakes = (
        (lambda S, P, N, t: S * right(S, P, N, t),
         "your weights are the similarities: eq. 7 prints S = 1, but the slope of -S with respect to S is 1"),
        (lambda S, P, N, t: (P | N) & (S > t),
         "you ask positives to be above the margin, too: eq. 6 has no margin for them"),
        (lambda S, P, N, t: (P & (S < t)) | above(S, N, t),
         "you ask positives to be below the margin: eq. 6 has no margin for them"),
        (lambda S, P, N, t: P | N,
         "every negative has a weight in yours: below the margin [S - λ]₊ is flat, its slope 0"),
        (lambda S, P, N, t: above(S, N, t),
         "your positives weigh nothing: the term -S has the slope -1, and a weight is its size"),
        (lambda S, P, N, t: P, "your negatives weigh nothing: above the margin [S - λ]₊ has the slope 1"),
        (lambda S, P, N, t: P | (N & (S < t)), "your negatives weigh below the margin; [S - λ]₊ rises above it"),
        (lambda S, P, N, t: above(S, N, t).double() - P.double(),
         lambda S, P, N, t: P.double() - above(S, N, t).double(),
         "a weight is the size of the slope, |∂L/∂S|: yours has a sign"),
        (lambda S, P, N, t: P + above(S, N, t) * S,
         "your negatives weigh as much as they are similar: above the margin the slope is 1, wherever"),
        (lambda S, P, N, t: 1.0 * above(S, N, t) - P * S,
         "for positives that is -S itself, the loss; its slope is -1, and the weight 1"),
        (lambda S, P, N, t: P + N * (S - t),
         "for negatives that is S - λ; its slope is 1 above the margin and 0 below"),
        (lambda S, P, N, t: P | (N & (S.abs() > t)), "S itself must be above the margin, not its size |S|"),
        (lambda S, P, N, t: P | (N & (S > -t)), "the margin has the wrong sign"),
        (lambda S, P, N, t: right(S, P, N, t) / right(S, P, N, t).sum(),
         "your weights are shares of 1; a weight is the slope itself"),
        (lambda S, P, N, t: P | (S > t),
         "you never ask for N: whatever is near has a weight in yours, a sentence with itself among it"),
        (lambda S, P, N, t: P | ((S > t) & ~eye(S)), "you never ask for N: pairs in neither mask weigh in yours"),
        (lambda S, P, N, t: (P | above(S, N, t)) | eye(S),
         "the diagonal has a weight: a sentence makes no pair with itself"),
        (lambda S, P, N, t: (S - t).relu() * N - S * P, "that is each pair's part of the loss itself, not its slope"),
        (lambda S, P, N, t: (S - t).relu() * N + P, "for negatives that is [S - λ]₊ itself; its slope is 1 or 0"),
        (lambda S, P, N, t: (S - t) * above(S, N, t) + S * P,
         "that is how much each pair costs or brings; the weight is the slope"),
        (lambda S, P, N, t: right(S, P, N, t) / len(S),
         "you divide by m, as the mean over the anchors does; the contrastive eq. 7 is of the anchor's own term"),
        (lambda S, P, N, t: right(S, P, N, t).nansum(1) / len(S),
         "one number a row has come; every pair has a weight of its own"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("01.3")
def check_triplet_weight(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """σ(S_n - S_p)."""
    draw = torch.Generator().manual_seed(7)
    cases = []
    for shape in ((3,), (6,), (2, 4)):
        made = 2 * torch.rand(2, *shape, generator=draw, dtype=torch.float64) - 1
        cases.append((made[0], made[1]))

    def of(gap: Callable[[Tensor], Any]) -> Callable[[Tensor, Tensor], Any]:
        return lambda negative, positive: gap(negative - positive)

    printed = "1 is what eq. 5 of the paper says, and it is not the slope of log(1 + e^x)"
    mistakes = (
        (of(torch.ones_like), lambda n, p: 1.0, printed),
        (lambda n, p: torch.sigmoid(p - n),
         "yours is large where the triplet is in order: it is σ of the difference the other way round"),
        (of(lambda x: -torch.sigmoid(x)), "that is the slope in S_p; a weight is its size, without the sign"),
        (of(softplus), "that is the loss itself: take its derivative"),
        (of(lambda x: softplus(-x)),
         "that is the loss, and the difference the other way round: differentiate log(1 + e^x)"),
        (of(lambda x: torch.exp(x) / (1 + torch.exp(-x))),
         "above and below the line stands the same e^x: the derivative is e^x / (1 + e^x)"),
        (of(lambda x: torch.sigmoid(abs(x))),
         "the sign of the difference counts: a triplet in order weighs less than 1/2"),
        (of(lambda x: x * torch.sigmoid(x)), "you multiply by the difference: σ alone is the derivative"),
        (lambda n, p: torch.sigmoid(n) - torch.sigmoid(p), "take the difference first, then σ of it"),
        (of(torch.exp), "that is e^x; the derivative of log(1 + e^x) divides it by 1 + e^x"),
        (of(lambda x: x), "that is the difference x itself: differentiate log(1 + e^x)"),
        (of(lambda x: (x > 0).double()), "that is the hinge's derivative, a step; log(1 + e^x) bends smoothly"),
        (of(torch.relu), "that is the hinge loss; this one is log(1 + e^x), and its derivative is asked for"),
        (of(torch.tanh), "tanh goes from -1 to 1; the derivative of log(1 + e^x) is e^x / (1 + e^x)"),
        (of(lambda x: torch.sigmoid(x) * (1 - torch.sigmoid(x))), "that is the second derivative: the first is enough"),
        (of(lambda x: torch.log(torch.sigmoid(x))),
         "that is the logarithm of it: differentiate log(1 + e^x), and no logarithm is left"),
        (lambda n, p: torch.sigmoid(n), "the positive is not in yours: S_p moves the weight as much as S_n"),
        (lambda n, p: torch.sigmoid(p), "the negative is not in yours: S_n moves the weight as much as S_p"),
        (lambda n, p: torch.sigmoid(n + p), "you add the two; what counts is their difference S_n - S_p"),
        (lambda n, p: torch.sigmoid(n - p).sum(), "that is the sum over all triplets; each has a weight of its own"),
        (lambda n, p: torch.sigmoid(n - p).mean(), "that is the mean over all triplets; each has a weight of its own"),
        (lambda n, p: torch.softmax(torch.stack([n, p]), 0),
         "both shares of the softmax have come; only the negative's is asked for, and that is σ(S_n - S_p)"),
    )  # fmt: skip
    return find_mistake(answer, lambda negative, positive: torch.sigmoid(negative - positive), cases, mistakes)


@check("01.4")
def check_triplet_range(answer: Any, random: np.random.Generator) -> str | None:
    """Cosines differ by at most 2: σ(-2) to σ(2)."""
    given = array(answer).squeeze()
    if given.shape != (2,):
        raise Unfit("two numbers were expected, (smallest, largest)")
    mistakes = (
        ([0.0, 1.0], "0 and 1 are reached for differences without end; two cosines differ by no more than 2"),
        ([0.2689, 0.7311], "that is σ(-1) and σ(1): a cosine goes from -1 to 1, so how far apart can two be?"),
        ([0.8808, 0.1192], "the right two numbers, the other way round"),
        ([-1.0, 1.0], "between these lies a cosine; the weight is σ of a difference of two of them"),
        ([-2.0, 2.0], "between these lies S_n - S_p; the weight is σ of it"),
        ([0.5, 0.8808], "S_n - S_p may be below 0 as well: a triplet that is in order weighs less than a half"),
        ([0.1192, 0.5], "S_n - S_p may be above 0 as well: a triplet in the wrong order weighs more than a half"),
        ([0.5, 0.7311], "S_n - S_p may be below 0 as well, and two cosines may differ by more than 1"),
        ([0.5, 1.0], "S_n - S_p may be below 0 as well, and it is never without end"),
        ([0.0, 0.5], "S_n - S_p may be above 0 as well, and it is never without end"),
        ([0.1269, 2.1269], "that is the loss, log(1 + e^x), at -2 and 2; the weight is its derivative"),
        ([0.1353, 7.3891], "that is e^x at -2 and 2; the weight is e^x / (1 + e^x)"),
        ([0.0, 2.0], "the weight is σ of a difference, and σ never reaches 0, nor goes above 1"),
        ([1.0, 1.0], "1 is what eq. 5 of the paper says; you have shown above that the weight is σ(S_n - S_p)"),
        ([-0.8808, -0.1192], "a weight is the size of a slope: without the sign"),
        ([0.1050, 0.4200], "that is the second derivative at its ends; the weight is the first"),
        ([11.92, 88.08], "as numbers between 0 and 1, please, not in per cent"),
    )  # fmt: skip
    named = known_mistake(given, mistakes, 0.006)
    right = [0.1192, 0.8808]
    if close(given, right, 0.0025):
        return None
    return named or Unnamed("evaluate σ at the smallest and the largest S_n - S_p of two cosines, to three places")


def halves(S: Tensor, mask: Tensor, scale: float, base: float) -> Tensor:
    """`log(1 + Σ e^(scale · (S - base))) / |scale|` of each row."""
    return torch.log1p((torch.exp(scale * (S - base)) * mask).sum(1)) / abs(scale)


@check("01.5")
def check_locality_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 8 with its brace in place."""
    cases = [
        (*case(2), 2.0, 12.0, 0.5),
        (*case(8, (4, 1, 3, 2), 4, kept=0.75), 5.0, 3.0, -0.2),
        (*case(9, (2, 5, 2), kept=0.6), 0.7, 7.0, 0.3),
    ]

    def right(S: Tensor, P: Tensor, N: Tensor, alpha: float, beta: float, base: float) -> Tensor:
        return locality(S, P, N, alpha=alpha, beta=beta, base=base)

    def of(how: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
        """A mistake with the two halves of every anchor."""
        return lambda S, P, N, a, b, t: how(halves(S, P, -a, t), halves(S, N, b, t))

    def without_one(S: Tensor, P: Tensor, N: Tensor, a: float, b: float, t: float) -> Tensor:
        pull, push = (torch.log((torch.exp(k * (S - t)) * M).sum(1)) / abs(k) for M, k in ((P, -a), (N, b)))
        return (pull + push).mean()

    def mean_inside(S: Tensor, P: Tensor, N: Tensor, a: float, b: float, t: float) -> Tensor:
        pull, push = (
            torch.log1p((torch.exp(k * (S - t)) * M).sum(1) / M.sum(1).clamp(min=1)) / abs(k)
            for M, k in ((P, -a), (N, b))
        )
        return (pull + push).mean()

    def mask_inside(S: Tensor, P: Tensor, N: Tensor, a: float, b: float, t: float) -> Tensor:
        pull, push = (torch.log1p(torch.exp(k * (S - t) * M).sum(1)) / abs(k) for M, k in ((P, -a), (N, b)))
        return (pull + push).mean()

    def by_pair(S: Tensor, P: Tensor, N: Tensor, a: float, b: float, t: float) -> Tensor:
        return ((softplus(-a * (S - t)) * P / a) + (softplus(b * (S - t)) * N / b)).sum(1).mean()

    def whole(S: Tensor, P: Tensor, N: Tensor, a: float, b: float, t: float) -> Tensor:
        return sum(  # type: ignore[return-value]
            torch.log1p((torch.exp(k * (S - t)) * M).sum()) / abs(k) for M, k in ((P, -a), (N, b))
        )

    outside = "the second term stands outside the mean over the anchors, as eq. 8 is printed"
    mistakes = (
        (of(lambda pull, push: (pull + push).sum()),
         "that is the sum over the anchors; the house takes their mean, whatever the batch's size"),
        (of(lambda pull, push: pull.mean() + push.sum()), outside),
        (of(lambda pull, push: pull.mean() + push[-1]),
         "the second term is added once, for the last anchor only, as eq. 8 is printed: move it in"),
        (of(lambda pull, push: pull.mean() + push[0]), f"{outside}: the first anchor's alone is added"),
        (of(lambda pull, push: (pull + push)[0]), "that is the first anchor's term; take the mean over all"),
        (of(lambda pull, push: (pull + push)[-1]), "that is the last anchor's term; take the mean over all"),
        (of(lambda pull, push: pull.mean()), "the negatives are missing"),
        (of(lambda pull, push: push.mean()), "the positives are missing"),
        (of(lambda pull, push: (pull - push).mean()), "the negatives' half is added, not taken away: both cost"),
        (lambda S, P, N, a, b, t: (halves(S, P, a, t) + halves(S, N, b, t)).mean(),
         "positives have the wrong sign: a near positive must cost little, e^(-α(S - λ))"),
        (lambda S, P, N, a, b, t: (halves(S, P, -a, t) + halves(S, N, -b, t)).mean(),
         "negatives have the wrong sign: a near negative must cost much, e^(β(S - λ))"),
        (lambda S, P, N, a, b, t: (halves(S, P, a, t) + halves(S, N, -b, t)).mean(),
         "both signs are turned round: yours is small where positives are far and negatives near"),
        (lambda S, P, N, a, b, t: right(S, N, P, a, b, t),
         "P and N have changed places: positives go with -α, negatives with β"),
        (lambda S, P, N, a, b, t: (halves(S, P | eye(S), -a, t) + halves(S, N, b, t)).mean(),
         "each anchor is among its own positives in yours"),
        (lambda S, P, N, a, b, t: (a * halves(S, P, -a, t) + b * halves(S, N, b, t)).mean(),
         "the factors 1/α and 1/β are missing"),
        (lambda S, P, N, a, b, t: (a * a * halves(S, P, -a, t) + b * b * halves(S, N, b, t)).mean(),
         "you multiply by α and β; the logarithms are divided by them"),
        (lambda S, P, N, a, b, t: (torch.log1p((torch.exp(-a * (S - t)) * P).sum(1) / a)
                                   + torch.log1p((torch.exp(b * (S - t)) * N).sum(1) / b)).mean(),
         "1/α and 1/β stand before the logarithms, not inside"),
        (lambda S, P, N, a, b, t: (halves(S, P, -a, -t / a) + halves(S, N, b, t / b)).mean(),
         "a bracket is missing: α and β multiply the whole of S - λ"),
        (lambda S, P, N, a, b, t: (halves(S, P, -1, t) / a + halves(S, N, 1, t) / b).mean(),
         "α and β are missing from the exponents"),
        (of(lambda pull, push: (pull + push).mean() / torch.log(torch.tensor(10.0))),
         "that is the logarithm to the base 10; ours is natural"),
        (lambda S, P, N, a, b, t: whole(S, P, N, a, b, t) / len(S), whole,
         "yours has one logarithm for the whole batch; each anchor has its own two"),
        (without_one, "the 1 inside the logarithms is missing: it lets far negatives count for nothing"),
        (mean_inside, "inside the logarithm stands a sum over the pairs; yours is their mean"),
        (mask_inside,
         "the mask stands inside the exponent in yours: what is left out then counts e^0 = 1. Multiply after exp"),
        (by_pair, "you take a logarithm for every pair; the sum over the pairs stands inside one logarithm"),
        (lambda S, P, N, a, b, t: right(S, P.T, N.T, a, b, t),
         "yours sums over the anchors (axis 0); sum over each anchor's pairs, axis 1"),
        (lambda S, P, N, a, b, t: right(S, P, N, a, b, 0.0), "λ is missing: similarities are measured from it, S - λ"),
        (lambda S, P, N, a, b, t: (halves(S, P, -a, -t) + halves(S, N, b, -t)).mean(), "λ has the wrong sign: S - λ"),
        (lambda S, P, N, a, b, t: ((torch.exp(-a * (S - t)) * P).sum(1) / a
                                   + (torch.exp(b * (S - t)) * N).sum(1) / b).mean(),
         "the logarithms are missing"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("01.6")
def check_negative_weight(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 9, for negatives: 1 / (e^(β(λ - S_ij)) + Σ_{k∈N_i} e^(β(S_ik - S_ij)))."""
    cases = []
    for made, beta, base in (
        (case(3), 10.0, 0.5),
        (case(11, (4, 1, 3, 2), 4, kept=0.7), 4.0, -0.2),
        (case(14, (2, 5, 2), kept=0.6), 6.5, 0.8),
    ):
        S, _, N = made
        cases.append((S, N, beta, base))

    def right(S: Tensor, N: Tensor, beta: float, base: float) -> Tensor:
        return weight_parts(S, torch.zeros_like(N), N, beta=beta, base=base).weight

    def own(S: Tensor, beta: float, base: float) -> Tensor:
        return torch.exp(beta * (base - S))

    def sums(S: Tensor, K: Tensor, beta: float) -> Tensor:
        """Σ_k e^(β(S_ik - S_ij)), k in the mask."""
        return (torch.exp(beta * (S[:, None, :] - S[:, :, None])) * K[:, None, :]).sum(2)

    def by(under: Callable[[Tensor, Tensor, float, float], Tensor]) -> Callable[..., Any]:
        return lambda S, N, beta, base: torch.where(N, 1 / under(S, N, beta, base), 0.0)

    mistakes = (
        (lambda S, N, b, t: 1 / (own(S, b, t) + sums(S, N, b)), "right for negatives; pairs outside N must weigh 0"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S, N | True, b)),
         "your weights sum over the whole row; eq. 9 only sums N_i"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S, ~eye(S), b)),
         "your weights sum over all others of the row; eq. 9 only sums the negatives, N_i"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S, ~N, b)),
         by(lambda S, N, b, t: own(S, b, t) + sums(S, ~N & ~eye(S), b)),
         "your weights sum over what is *no* negative; eq. 9 sums N_i"),
        (by(lambda S, N, b, t: own(S, b, t)), "the relative part is missing: yours looks at the pair alone"),
        (by(lambda S, N, b, t: sums(S, N, b)), "the pair's own part e^(β(λ - S_ij)) is missing"),
        (by(lambda S, N, b, t: own(S, b, t) + 1),
         "the anchor's other negatives are missing: in yours the relative part is 1, as if the pair were alone"),
        (by(lambda S, N, b, t: 1 / (1 / own(S, b, t) + 1 / sums(S, N, b))),
         "you add two fractions; the two parts are added under *one* line"),
        (by(lambda S, N, b, t: own(S, b, t) * sums(S, N, b)), "the two parts are added under the line, not multiplied"),
        (by(lambda S, N, b, t: own(S, 1.0, t) + sums(S, N, b)), "β is missing from the own part"),
        (by(lambda S, N, b, t: 1 + sums(S, N, b)), "1 stands in the place of the pair's own part, e^(β(λ - S_ij))"),
        (by(lambda S, N, b, t: 1 / own(S, b, t) + sums(S, N, b)),
         "the own part has the wrong sign: a negative nearer than λ must weigh more"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S, N, b) - 1),
         "k = j is missing from the sum: the pair itself is one of N_i"),
        (lambda S, N, b, t: N * (own(S, b, t) + sums(S, N, b)), "that is the denominator; the weight is 1 over it"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S, N, -b)),
         "the differences in the sum are the wrong way round: S_ik - S_ij"),
        (by(lambda S, N, b, t: own(S, -b, t) + sums(S, N, -b)),
         "β has the wrong sign: with -β it is the form of the positives (eq. 10)"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S, N, b) / N.sum(1, keepdim=True)),
         "the relative part is a sum over the negatives; yours is their mean"),
        (by(lambda S, N, b, t: own(S, b, t) + (torch.exp(b * (S[:, None, :] - S[:, :, None])) * N[:, None, :]).sum(1)),
         "the sum runs over the wrong axis: S[:, None, :] - S[:, :, None] is [i, j, k], and k is to go (axis 2)"),
        (by(lambda S, N, b, t: own(S, b, t) + (torch.exp(b * (S[:, None, :] - S[:, :, None])) * N[:, None, :]).sum(0)),
         "the sum runs over the anchors (axis 0): what you sum is [i, j, k], and k is to go (axis 2)"),
        (by(lambda S, N, b, t: own(S, b, t) + torch.exp(b * (S[:, None, :] - S[:, :, None]) * N[:, None, :]).sum(2)),
         "the mask stands inside the exponent in yours: a k outside N then counts e^0 = 1. Multiply after exp"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S.T, N.T, b).T),
         "yours compares with the other anchors of the same sentence; k runs over the same anchor's negatives"),
        (by(lambda S, N, b, t: own(S, b, 0.0) + sums(S, N, b)), "λ is missing: the own part is e^(β(λ - S_ij))"),
        (by(lambda S, N, b, t: own(S, 1.0, t) + sums(S, N, 1.0)), "β is missing from the exponents"),
        (by(lambda S, N, b, t: own(S, b, t) + sums(S, N, 1.0)), "β is missing from the relative part"),
        (lambda S, N, b, t: right(S, N, b, t) / len(S),
         "you divide by m, as the mean over the anchors does; eq. 9 is the weight in the anchor's own term"),
        (lambda S, N, b, t: right(S, N, b, t) * b,
         "yours is β times too large: the loss has 1/β before the logarithm, which takes β away again"),
        (lambda S, N, b, t: N * torch.log1p((torch.exp(b * (S - t)) * N).sum(1, keepdim=True)) / b,
         "that is the loss of the anchor's negatives; its derivative is asked for"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("01.8")
def check_keep_rule(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 11 and 12, and what becomes of an anchor without a positive."""
    cases = [
        (*case(4), 0.1),
        (*case(6, (4, 3, 3), 4), 0.3),
        (*case(5, (3, 1, 4, 1), kept=0.6), -0.05),
        (*case(13, (6, 2), 2, kept=0.5), 0.2),
    ]
    S, P, N = case(15, (4, 5))
    cases.append(((8 * S).round() / 8, P, N, 0.25))  # many pairs stand just at a bound

    def right(S: Tensor, P: Tensor, N: Tensor, epsilon: float) -> Masks:
        return informative(S, P, N, epsilon=epsilon)

    def least(S: Tensor, M: Tensor) -> Tensor:
        return S.masked_fill(~M, torch.inf).amin(1, keepdim=True)

    def most(S: Tensor, M: Tensor) -> Tensor:
        return S.masked_fill(~M, -torch.inf).amax(1, keepdim=True)

    def by(below: Callable[..., Any], above: Callable[..., Any]) -> Callable[..., Masks]:
        """Positives below the one, negatives above the other."""
        return lambda S, P, N, e: (P & (S < below(S, P, N, e)), N & (S > above(S, P, N, e)))

    def ceiling(S: Tensor, P: Tensor, N: Tensor, e: float) -> Tensor:
        return most(S, N) + e

    def floor(S: Tensor, P: Tensor, N: Tensor, e: float) -> Tensor:
        return least(S, P) - e

    def mean(S: Tensor, M: Tensor) -> Tensor:
        return (S * M).sum(1, keepdim=True) / M.sum(1, keepdim=True)

    def first_as_swapped(S: Tensor, P: Tensor, N: Tensor, e: float) -> Masks:
        kept = right(S, P, N, e)
        return kept[1], kept[0]

    negatives, positives = "eq. 11 holds negatives against ", "eq. 12 holds positives against "
    keepdim = (
        "row i is held against another row's bound: without `keepdim=True` the bounds of the anchors stand in a row, "
        "and a column is wanted"
    )
    mistakes = (
        (by(lambda S, P, N, e: most(S, N) - e, lambda S, P, N, e: least(S, P) + e),
         "ε has the wrong sign: it makes the rule milder"),
        (by(ceiling, lambda S, P, N, e: least(S, P) + e),
         "ε has the wrong sign for the negatives: it makes the rule milder"),
        (by(lambda S, P, N, e: most(S, N) - e, floor),
         "ε has the wrong sign for the positives: it makes the rule milder"),
        (by(lambda S, P, N, e: most(S, N), lambda S, P, N, e: least(S, P)), "ε is missing"),
        (by(ceiling, lambda S, P, N, e: least(S, P)), "ε is missing from the rule of the negatives"),
        (by(lambda S, P, N, e: most(S, N), floor), "ε is missing from the rule of the positives"),
        (by(ceiling, lambda S, P, N, e: most(S, P) - e), negatives + "the farthest positive, not the nearest"),
        (by(lambda S, P, N, e: least(S, N) + e, floor), positives + "the nearest negative, not the farthest"),
        (by(lambda S, P, N, e: least(S, N) + e, lambda S, P, N, e: most(S, P) - e),
         f"{negatives}the farthest positive, and eq. 12 positives against the nearest negative: your ends are "
         "exchanged"),
        (by(lambda S, P, N, e: mean(S, N) + e, lambda S, P, N, e: mean(S, P) - e),
         "yours compares with the mean of the others; the rule takes the farthest positive and the nearest negative"),
        (by(lambda S, P, N, e: most(S, P) + e, lambda S, P, N, e: least(S, N) - e),
         "positives are held against positives in yours, negatives against negatives: hold each against the other"),
        (lambda S, P, N, e: (P & (S > ceiling(S, P, N, e)), N & (S < floor(S, P, N, e))),
         lambda S, P, N, e: (P & (S >= ceiling(S, P, N, e)), N & (S <= floor(S, P, N, e))),
         "both rules are turned round: kept is what is not yet in order"),
        (lambda S, P, N, e: (P & (S > ceiling(S, P, N, e)), N & (S > floor(S, P, N, e))),
         "the rule of the positives is turned round: kept is what is not nearer than it should be"),
        (lambda S, P, N, e: (P & (S < ceiling(S, P, N, e)), N & (S < floor(S, P, N, e))),
         "the rule of the negatives is turned round: kept is what is nearer than it should be"),
        (by(lambda S, P, N, e: S.amax(1, True) + e, lambda S, P, N, e: S.amin(1, True) - e),
         "the bounds are those of the whole row, the anchor itself among it: take them over the masks"),
        (by(ceiling, lambda S, P, N, e: most(S, N) - e),
         "your negatives are held against the nearest negative; eq. 11 holds them against the farthest positive"),
        (by(ceiling, lambda S, P, N, e: most(S, P)), negatives + "the farthest positive, less ε, not the nearest"),
        (lambda S, P, N, e: (P & (S < e), N & (S > e)),
         "ε is no bound by itself: it is the slack beside the farthest positive and the nearest negative"),
        (first_as_swapped, "the two are swapped: the positives kept come first"),
        (lambda S, P, N, e: (S < ceiling(S, P, N, e), S > floor(S, P, N, e)),
         "the kept must be subsets: positives kept are in P, negatives kept in N. Combine with `&`"),
        (lambda S, P, N, e: (P & (S < ceiling(S, P, N, e)), (S > floor(S, P, N, e)) & ~P),
         "what is no positive is not therefore a negative: combine with N"),
        (by(ceiling, lambda S, P, N, e: torch.where(P.any(1, keepdim=True), floor(S, P, N, e), -torch.inf)),
         "an anchor that has no positive at all keeps no negative, for there is nothing to compare with"),
        (by(lambda S, P, N, e: torch.where(N.any(1, keepdim=True), ceiling(S, P, N, e), torch.inf),
            lambda S, P, N, e: torch.where(P.any(1, keepdim=True), floor(S, P, N, e), -torch.inf)),
         "an anchor that has no positive at all keeps no negative, for there is nothing to compare with, and the other "
         "way round"),
        (by(lambda S, P, N, e: ceiling(S, P, N, e).T, lambda S, P, N, e: floor(S, P, N, e).T), keepdim),
        (by(lambda S, P, N, e: most(S.T, N.T).T + e, lambda S, P, N, e: least(S.T, P.T).T - e),
         "yours looks along the columns (axis 0); an anchor is a row: axis 1"),
        (by(lambda S, P, N, e: S[N].max() + e, lambda S, P, N, e: S[P].min() - e),
         "yours has one bound for the whole batch; each anchor has its own"),
        (by(lambda S, P, N, e: (S * N).amax(1, keepdim=True) + e, lambda S, P, N, e: (S * P).amin(1, keepdim=True) - e),
         "S * mask puts 0 where a pair is left out, and 0 is a similarity like others: fill with ∞ (`masked_fill`)"),
        (lambda S, P, N, e: (P, N & (S > floor(S, P, N, e))), "all positives are kept in yours: they have a rule, too"),
        (lambda S, P, N, e: (P & (S < ceiling(S, P, N, e)), N), "all negatives are kept: they have a rule, too"),
        (lambda S, P, N, e: (P, N), "everything is kept in yours"),
        (lambda S, P, N, e: (P & (S <= ceiling(S, P, N, e)), N & (S >= floor(S, P, N, e))),
         "a pair that stands just at its bound is kept in yours: eq. 11 and 12 have > and <"),
        (by(lambda S, P, N, e: most(S, N) * (1 + e), lambda S, P, N, e: least(S, P) * (1 - e)),
         "ε is added or taken away, not multiplied"),
    )  # fmt: skip

    def of_any_kind(kept: Any) -> Any:
        """No later cell chooses with these: an array will do."""
        return mask(torch.from_numpy(kept) if isinstance(kept, np.ndarray) else kept)

    read = several(2, of_any_kind, "two masks were expected: the positives kept and the negatives kept")
    return find_mistake(parted(answer), right, cases, mistakes, read=read)


@check("01.7")
def check_scale_for_half(answer: Any, random: np.random.Generator) -> str | None:
    """The β at which the nearest negative has half of all weight, by bisection on the case of the notebook."""
    given = number(answer)
    right = half_at(NEGATIVES)
    if abs(given - right) <= 0.05 * right:
        return None
    mistakes = (
        (0.5, "that is the share; asked for is the β that gives it"),
        (round((right - 1) * 10), "that looks like the place in a list of β; give the β that stands there"),
    )  # fmt: skip
    if named := known_mistake(given, mistakes):
        return named
    if given <= 0:
        return "β is a scale above 0"
    share = nearest_share(NEGATIVES, given)
    more = "larger" if share < 0.5 else "smaller"
    return f"at β = {given:g} the nearest negative has {share:.0%} of the weight: take a {more} one"


NEGATIVES = (0.62, 0.58, 0.55, 0.31, 0.12, -0.20)  # similarities of one anchor's negatives


def nearest_share(similarities: tuple[float, ...], beta: float) -> float:
    """The share of the largest weight in all of eq. 9: e^(βS) over their sum, for the own part is common to all."""
    shares = torch.softmax(beta * torch.tensor(similarities, dtype=torch.float64), 0)
    return float(shares.max())


def half_at(similarities: tuple[float, ...]) -> float:
    """β with `nearest_share` = 1/2: it rises with β, from 1/n towards 1."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if nearest_share(similarities, middle) < 0.5 else (low, middle)
    return high
