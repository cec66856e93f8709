"""Notebook 01: pairs, losses and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from labkit.check.exercise import Lesson
from labkit.check.trying import array, close, number, slip, wrong_entries
from labkit.pairs import contrastive, informative, locality, masks_from_labels, pair_weights, weight_parts

LESSON = Lesson("01", predictions=("01.a", "01.b", "01.c"))

MARGIN, ALPHA, BETA, BASE, EPSILON = 0.5, 2.0, 50.0, 0.5, 0.1


def case(seed: int = 0, *, lonely: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """S (8, 8) of vectors that are neither all near nor all far, and the masks of three classes."""
    draw = torch.Generator().manual_seed(seed)
    rows = torch.nn.functional.normalize(torch.randn(8, 3, generator=draw, dtype=torch.float64), dim=1)
    labels = torch.tensor([0, 0, 0, 1, 1, 1, 2, 3 if lonely else 2])
    return (rows @ rows.T).clamp(-1, 1), *masks_from_labels(labels)


@LESSON.exercise(
    "01.1",
    "Make the masks P and N from labels.",
    (
        "Compare the labels as a column with the labels as a row: one broadcast gives all pairs.",
        "`same = labels[:, None] == labels[None, :]` has the positives and the diagonal in it.",
        "`positive = same & ~torch.eye(len(labels), dtype=bool)` and `negative = ~same`.",
    ),
    "every pair is a positive, a negative, or the sentence with itself",
)
def masks(answer: Callable[..., Any]) -> str | None:
    """P: same class, but not itself. N: another class."""
    labels = torch.tensor([0, 1, 0, 2, 1, 0])
    given = answer(labels)
    if not isinstance(given, tuple) or len(given) != 2:
        return "two masks were expected, as in `return positive, negative`"
    positive, negative = (array(mask).astype(bool) for mask in given)
    P, N = (mask.numpy() for mask in masks_from_labels(labels))
    if positive.shape != P.shape or negative.shape != N.shape:
        return f"for 6 labels both masks are 6 by 6; yours are {positive.shape} and {negative.shape}"
    if positive.diagonal().all() and (positive | P == positive).all():
        return "the diagonal of your positive mask is set: a sentence is no positive of itself"
    if negative.diagonal().any():
        return "the diagonal of your negative mask is set: a sentence is no negative of itself"
    if (positive == N).all() and (negative == P).all():
        return "the two are swapped: positives have the same label"
    if not (positive == P).all():
        return "your positive mask is not 'the same label, and not itself'"
    return None if (negative == N).all() else "your negative mask is not 'another label'"


@LESSON.exercise(
    "01.2",
    "Write the weights of the contrastive loss, eq. 7.",
    (
        "A weight is the size of the slope. What is the slope of -S? Of [S - λ]₊ below λ, and above it?",
        "All positives weigh 1, whatever their similarity; negatives weigh 1 above the margin and else 0.",
        "`(P | (N & (S > margin))).double()`",
    ),
    "all pairs that count at all count the same: that is what the other losses change",
)
def contrastive_weights(answer: Callable[..., Any]) -> str | None:
    """Eq. 7, with w where it prints S."""
    S, P, N = case(1)
    right = pair_weights(lambda s, p, n: contrastive(s, p, n, margin=MARGIN), S, P, N)
    given = array(answer(S, P, N, MARGIN))
    if close(given, right):
        return None
    above = (S > MARGIN) & N
    slips = (
        (
            S * right,
            "your weights are the similarities: eq. 7 prints S = 1, but the slope of -S with respect to S is 1",
        ),
        ((P & (S > MARGIN)) | above, "you ask positives to be above the margin, too: eq. 6 has no margin for them"),
        (P | N, "every negative has a weight in yours: below the margin [S - λ]₊ is flat, its slope 0"),
        (above, "your positives weigh nothing: the term -S has the slope -1, and a weight is its size"),
        ((S < MARGIN) & N | P, "your negatives weigh below the margin; [S - λ]₊ rises above it"),
        (above.double() - P.double(), "a weight is the size of the slope, |∂L/∂S|: yours has a sign"),
        (right + torch.eye(8), "the diagonal has a weight: a sentence makes no pair with itself"),
    )
    return slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "01.3",
    "Write the weight of one triplet under the soft-margin triplet loss.",
    (
        "Put x = S_n - S_p and differentiate log(1 + e^x).",
        "The derivative is e^x / (1 + e^x). It has a name.",
        "`torch.sigmoid(negative - positive)`",
    ),
    "so eq. 5 of the paper, which says 1, is a slip",
)
def triplet_weight(answer: Callable[..., Any]) -> str | None:
    """σ(S_n - S_p)."""
    negative, positive = torch.tensor([0.9, 0.1, 0.4], dtype=torch.float64), torch.tensor([0.2, 0.8, 0.4]).double()
    gap = negative - positive
    right = torch.sigmoid(gap)
    given = array(answer(negative, positive))
    slips = (
        (torch.ones(3), "1 is what eq. 5 of the paper says, and it is not the slope of log(1 + e^x)"),
        (torch.tensor(1.0), "1 is what eq. 5 of the paper says, and it is not the slope of log(1 + e^x)"),
        (
            torch.sigmoid(-gap),
            "yours is large where the triplet is in order: it is σ of the difference the other way round",
        ),
        (torch.nn.functional.softplus(gap), "that is the loss itself: take its derivative"),
        (torch.exp(gap), "that is e^x; the derivative of log(1 + e^x) divides it by 1 + e^x"),
        ((gap > 0).double(), "that is the hinge's derivative, a step; log(1 + e^x) bends smoothly"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "01.4",
    "Between which two numbers does a triplet's weight lie, when S are cosines?",
    (
        "A cosine lies in [-1, 1]. What are the smallest and the largest S_n - S_p?",
        "From -2 to 2.",
        "σ(-2) = 0.119 and σ(2) = 0.881.",
    ),
    "even a hopeless triplet weighs only seven times as much as one that is long since in order",
)
def triplet_range(answer: Any) -> str | None:
    """Cosines differ by at most 2: σ(-2) to σ(2)."""
    given = array(answer)
    if given.shape != (2,):
        return "two numbers were expected, (smallest, largest)"
    if close(given, [0.0, 1.0], 0.02):
        return "0 and 1 are reached for differences without end; two cosines differ by no more than 2"
    if close(given, [0.2689, 0.7311], 0.01):
        return "that is σ(-1) and σ(1): a cosine goes from -1 to 1, so how far apart can two be?"
    if close(given, [0.8808, 0.1192], 0.01):
        return "the right two numbers, the other way round"
    right = [0.1192, 0.8808]
    return None if close(given, right, 0.002) else "evaluate σ at the smallest and the largest S_n - S_p of two cosines"


@LESSON.exercise(
    "01.5",
    "Write the locality loss, eq. 8 with its brace in place, as plain loops or in one line.",
    (
        "Write the term of one anchor first: two logarithms. Then take the mean over the anchors.",
        "For a row i: `pull = log(1 + Σ_{j in P_i} exp(-α(S_ij - λ))) / α`, `push` with +β over N_i.",
        "`((1 + (exp(-α(S-λ)) * P).sum(1)).log()/α + (1 + (exp(β(S-λ)) * N).sum(1)).log()/β).mean()`",
    ),
    "with the brace as printed, the negatives of all anchors but one would be lost",
)
def locality_loss(answer: Callable[..., Any]) -> str | None:
    """Eq. 8 with its brace in place."""
    S, P, N = case(2)
    right = float(locality(S, P, N, alpha=ALPHA, beta=BETA, base=BASE))
    given = number(answer(S, P, N, ALPHA, BETA, BASE))
    if close(given, right):
        return None
    pull = torch.log1p((torch.exp(-ALPHA * (S - BASE)) * P).sum(1)) / ALPHA
    push = torch.log1p((torch.exp(BETA * (S - BASE)) * N).sum(1)) / BETA
    flipped = torch.log1p((torch.exp(ALPHA * (S - BASE)) * P).sum(1)) / ALPHA
    own = torch.log1p((torch.exp(-ALPHA * (S - BASE)) * (P | torch.eye(8, dtype=torch.bool))).sum(1)) / ALPHA
    slips = (
        (
            (pull + push).sum(),
            "that is the sum over the anchors; the house takes their mean, whatever the batch's size",
        ),
        (pull.mean() + push.sum(), "the second term stands outside the mean over the anchors, as eq. 8 is printed"),
        (
            pull.mean() + push[-1],
            "the second term is added once, for the last anchor only, as eq. 8 is printed: move it in",
        ),
        (pull.mean(), "the negatives are missing"),
        (push.mean(), "the positives are missing"),
        ((flipped + push).mean(), "positives have the wrong sign: a near positive must cost little, e^(-α(S - λ))"),
        ((own + push).mean(), "each anchor is among its own positives in yours"),
        ((pull * ALPHA + push * BETA).mean(), "the factors 1/α and 1/β are missing"),
        (_without_one(S, P, N), "the 1 inside the logarithms is missing: it lets far negatives count for nothing"),
    )
    return slip(given, slips) or f"for the case of the check the loss is {right:.4f}; yours is {given:.4f}"


def _without_one(S: Tensor, P: Tensor, N: Tensor) -> Tensor:
    pull = torch.log((torch.exp(-ALPHA * (S - BASE)) * P).sum(1)) / ALPHA
    push = torch.log((torch.exp(BETA * (S - BASE)) * N).sum(1)) / BETA
    return (pull + push).mean()


@LESSON.exercise(
    "01.6",
    "Write the weight of every negative pair in closed form, eq. 9.",
    (
        "Two parts under the line: the pair's own, e^(β(λ - S_ij)), and a sum over the anchor's negatives k.",
        "`S[:, None, :] - S[:, :, None]` is S_ik - S_ij for all i, j, k: mask k with N, sum it away.",
        "`relative = (torch.exp(beta * (S[:, None, :] - S[:, :, None])) * N[:, None, :]).sum(2)`",
    ),
    "own and relative similarity, and it agrees with automatic differentiation to the last digits",
)
def negative_weight(answer: Callable[..., Any]) -> str | None:
    """Eq. 9: 1 / (e^(β(λ - S_ij)) + Σ_{k∈N_i} e^(β(S_ik - S_ij)))."""
    S, P, N = case(3)
    parts = weight_parts(S, P, N, alpha=ALPHA, beta=10.0, base=BASE)
    right = torch.where(N, parts.weight, 0.0)
    given = array(answer(S, N, 10.0, BASE))
    inside = given * array(N)
    if close(inside, right):
        return None if close(given, right) else "right for the negatives; pairs outside N must weigh 0"
    everybody = torch.exp(10 * (S[:, None, :] - S[:, :, None]))  # [i, j, k]
    own = torch.exp(10 * (BASE - S))
    others = (everybody * N[:, None, :]).sum(2)
    slips = (
        (N / (own + everybody.sum(2)), "your weights sum over the whole row; eq. 9 only sums N_i"),
        (
            N / (own + (everybody * (P | N)[:, None, :]).sum(2)),
            "your weights sum positives and negatives together; eq. 9 only sums N_i",
        ),
        (N / own, "the relative part is missing: yours looks at the pair alone"),
        (N / others, "the pair's own part e^(β(λ - S_ij)) is missing"),
        (N / (1 / own + others), "the own part has the wrong sign: a negative nearer than λ must weigh more"),
        (
            N / (own + (everybody * N[:, None, :]).sum(2) - 1),
            "k = j is missing from the sum: the pair itself is one of N_i",
        ),
        (N * (own + others), "that is the denominator; the weight is 1 over it"),
        (
            N / (own + (N[:, None, :] / everybody).sum(2)),
            "the differences in the sum are the wrong way round: S_ik - S_ij",
        ),
    )
    return slip(inside, slips) or wrong_entries(inside, right)


@LESSON.exercise(
    "01.8",
    "Write the keep rule, eq. 11 and 12.",
    (
        "A negative is kept if it is nearer than the farthest positive, up to ε; a positive the same way round.",
        "The farthest positive of a row: S outside P filled with +∞, then the minimum. With no positive it is +∞.",
        "`N & (S > S.masked_fill(~P, inf).amin(1, keepdim=True) - epsilon)`, and P with the maximum over N plus ε.",
    ),
    "what is already in order by more than ε is left out of the loss",
)
def keep_rule(answer: Callable[..., Any]) -> str | None:
    """Eq. 11 and 12, and what becomes of an anchor without a positive."""
    for seed, lonely in ((4, False), (6, False), (5, True)):
        S, P, N = case(seed, lonely=lonely)
        given = answer(S, P, N, EPSILON)
        if not isinstance(given, tuple) or len(given) != 2:
            return "two masks were expected: the positives kept and the negatives kept"
        kept = tuple(array(mask).astype(bool) for mask in given)
        right = tuple(mask.numpy() for mask in informative(S, P, N, epsilon=EPSILON))
        if all((mine == wanted).all() for mine, wanted in zip(kept, right, strict=True)):
            continue
        return _keep_slip(kept, S, P, N, lonely) or _which(kept, right)
    return None


def _keep_slip(kept: tuple[Any, ...], S: Tensor, P: Tensor, N: Tensor, lonely: bool) -> str | None:
    farthest, nearest = S.masked_fill(~P, torch.inf).amin(1, True), S.masked_fill(~P, -torch.inf).amax(1, True)
    hardest = S.masked_fill(~N, -torch.inf).amax(1, True)
    slips = (  # what negatives must be above, positives below, and the word for it
        (farthest + EPSILON, hardest - EPSILON, "ε has the wrong sign: it makes the rule milder"),
        (farthest, hardest, "ε is missing"),
        (nearest - EPSILON, hardest + EPSILON, "eq. 11 holds negatives against the farthest positive, not the nearest"),
    )
    for floor, ceiling, says in slips:
        if (kept[0] == (P & S.lt(ceiling)).numpy()).all() and (kept[1] == (N & S.gt(floor)).numpy()).all():
            return says
    turned = P & S.gt(hardest + EPSILON), N & S.lt(farthest - EPSILON)
    if all((mine == wrong.numpy()).all() for mine, wrong in zip(kept, turned, strict=True)):
        return "both rules are turned round: kept is what is not yet in order"
    if lonely:
        return (
            "in this case an anchor has no positive at all: it keeps no negative, for there is nothing to compare with"
        )
    return None


def _which(kept: tuple[Any, ...], right: tuple[Any, ...]) -> str:
    for name, rule, mine, wanted in zip(("positives", "negatives"), ("12", "11"), kept, right, strict=True):
        extra, missing = int((mine & ~wanted).sum()), int((wanted & ~mine).sum())
        if extra or missing:
            return f"of the {name} you keep {extra} too many and {missing} too few: look at eq. {rule} again"
    return "the masks differ"


@LESSON.exercise(
    "01.7",
    "Find β at which the nearest negative has half of the anchor's negative weight.",
    (
        "With β near 0 all negatives share alike; with β large the nearest takes all. Try some values between.",
        "The weights of one anchor's negatives are a softmax of β S. Write its largest share as a function of β.",
        "Halve the interval from 1 to 100 again and again: the share rises with β.",
    ),
    "β is how much the loss listens to the nearest: half at a gap of a few hundredths of a cosine",
)
def scale_for_half(answer: Any) -> str | None:
    """The β at which the nearest negative has half of all weight, by bisection on the case of the notebook."""
    given = number(answer)
    if given <= 0:
        return "β is a scale above 0"
    right = half_at(NEGATIVES)
    if abs(given - right) <= 0.05 * right:
        return None
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
