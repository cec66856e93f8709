"""Notebook 06: triplets, the Stiefel manifold and FILM's words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from labkit.check.exercise import Lesson
from labkit.check.trying import array, close, number, slip, wrong_entries
from labkit.film.stiefel import bb_length, cayley_direct, random_point, stationarity

LESSON = Lesson("06", predictions=("06.a", "06.b", "06.c", "06.d", "06.e"))

MARGIN = 0.4
TRIPLETS = np.array([[0, 1, 2], [0, 1, 3], [0, 4, 2], [1, 0, 3], [1, 4, 2], [3, 2, 0]])  # 2 and 4 have none


@LESSON.exercise(
    "06.1",
    "Write the loss of eq. 5: the hinge of each anchor's mean, summed over the anchors.",
    (
        "Two steps: first a sum over the triplets of each anchor, then a hinge of each sum.",
        "`np.bincount(i, something, len(Y))` sums something over the triplets of each anchor.",
        "`np.maximum(0, np.bincount(i, nearer + m, len(Y)) / (size + 1)).sum()`",
    ),
    "an anchor is content when its triplets are in order on average; one bad one among good ones may be forgiven",
)
def anchor_loss(answer: Callable[..., Any]) -> str | None:
    """Eq. 5: Σ_i max(0, Σ_t (sim_ik + m - sim_ij) / (|T_i| + 1))."""
    Y = np.random.default_rng(22).standard_normal((5, 3))
    i, j, k = TRIPLETS.T
    size = np.bincount(i, minlength=5)

    def loss(sign: float = 1.0, margin: float = MARGIN, below: int = 1) -> np.ndarray:
        each = sign * ((Y[i] * Y[k]).sum(1) - (Y[i] * Y[j]).sum(1)) + margin
        return np.maximum(0, np.bincount(i, each, 5) / np.maximum(size + below, 1))

    each = (Y[i] * Y[k]).sum(1) + MARGIN - (Y[i] * Y[j]).sum(1)
    right = loss().sum()
    given = number(answer(Y, TRIPLETS.copy(), MARGIN))
    slips = (
        (np.maximum(0, each).mean(), "that is eq. 3, the mean over all triplets; eq. 5 has one hinge for each anchor"),
        (
            (np.bincount(i, np.maximum(0, each), 5) / (size + 1)).sum(),
            "yours takes the hinge of each triplet; eq. 5 adds an anchor's triplets first and takes the hinge of that",
        ),
        (loss(below=0).sum(), "yours divides by |T_i|; the paper has |T_i| + 1, which spares the anchors without any"),
        (loss().mean(), "that is the mean over the anchors; eq. 5 has their sum"),
        (loss(margin=0.0).sum(), "the margin m is missing"),
        (loss(-1.0).sum(), "the two similarities are swapped: an anchor pays when k is nearer than j"),
        (np.maximum(0, np.bincount(i, each, 5)).sum(), "the division by |T_i| + 1 is missing"),
        ((np.bincount(i, each, 5) / (size + 1)).sum(), "the hinge is missing: an anchor in good order would be paid"),
    )
    if close(given, right):
        return None
    return slip(given, slips) or f"for the case of the check the loss is {right:.4f}; yours is {given:.4f}"


@LESSON.exercise(
    "06.2",
    "Write the margin m_i that makes the hinge of z_i + m_i the one of eq. 5.",
    (
        "m stands inside the sum over the triplets. How often is it added? By what is the sum divided?",
        "It is added |T_i| times, and the sum is divided by |T_i| + 1.",
        "`m * size / (size + 1)`",
    ),
    "an anchor with one triplet has half the margin that eq. 10 gives it",
)
def margin(answer: Callable[..., Any]) -> str | None:
    """m |T_i| / (|T_i| + 1)."""
    size = np.array([0.0, 1.0, 2.0, 5.0])
    right = MARGIN * size / (size + 1)
    given = array(answer(MARGIN, size))
    if given.shape == ():
        given = np.full(4, float(given))
    slips = (
        (np.full(4, MARGIN), "that is eq. 10 as it is printed: m, whatever the number of triplets"),
        (MARGIN / (size + 1), "in eq. 5 m is added once for each triplet, |T_i| times in all"),
        (MARGIN * size, "the sum is divided by |T_i| + 1, and the margins in it are divided too"),
        (MARGIN * (size + 1) / np.maximum(size, 1e-300), "the fraction is upside down"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "06.3",
    "By which factor is μ(0.01) larger than max(0, 0.01)?",
    (
        "Put x = 0.01 into eq. 18. σ(-0.01) is a little below one half.",
        "μ(x) = -log σ(-x) = log(1 + e^x), and at 0.01 that is log 2 and a little more.",
        "0.698 / 0.01",
    ),
    "near 0 the smoothed hinge is log 2, whatever goes in: there is no temperature that says what small means",
)
def smoothing(answer: Any) -> str | None:
    """log(1 + e^0.01) / 0.01."""
    given = number(answer)
    value = math.log1p(math.exp(0.01))
    right = value / 0.01
    slips = (
        (1.0, "a factor of 1 is what smoothing should give, and does far from 0"),
        (value, "that is μ(0.01) itself; divide it by max(0, 0.01)"),
        (math.log(2), "that is μ(0); divide μ(0.01) by 0.01"),
        (0.01 / value, "upside down: μ(0.01) is the larger one"),
    )
    if abs(given - right) <= 0.01 * right:
        named = abs(given - (right - 1)) < 0.2  # log(1 + e^-0.01) / 0.01
        return "μ(x) is -log σ(-x), with a minus inside; you have taken σ(x)" if named else None
    if abs(given - (right - 1)) < 0.2:
        return "μ(x) is -log σ(-x), with a minus inside; you have taken σ(x)"
    named_slip = next((says for wrong, says in slips if abs(given - wrong) <= 0.02 * wrong), None)
    return named_slip or "compute log(1 + e^0.01), and divide by 0.01"


@LESSON.exercise(
    "06.4",
    "Write the Cayley step of eq. 24.",
    (
        "A needs the gradient, an (r, d) matrix. φ itself is a number: eq. 24's A cannot be made of that.",
        "`A = G @ P.T - P @ G.T`. Then the inverse belongs to the factor with the plus sign: solve, do not invert.",
        "`np.linalg.solve(I + length / 2 * A, (I - length / 2 * A) @ P)` with `I = np.eye(len(P))`",
    ),
    "A is skew-symmetric, so the factor in front of P is a rotation, and a rotation keeps columns orthonormal",
)
def cayley_step(answer: Callable[..., Any]) -> str | None:
    """Eq. 24, with the gradient in A."""
    random = np.random.default_rng(4)
    P, G, length = random_point(7, 3, 1), random.standard_normal((7, 3)), 0.6
    A, unit = G @ P.T - P @ G.T, np.eye(7)
    right = cayley_direct(P, G, length)
    given = array(answer(P.copy(), G.copy(), length))
    half = length / 2
    plain = (unit - half * A) @ P
    slips = (
        (P - length * stationarity(P, G), "that is eq. 22, a straight step: it leaves the manifold"),
        (P - length * G, "that is the gradient step of school: nothing keeps the columns orthonormal"),
        (np.linalg.solve(unit + length * A, (unit - length * A) @ P), "eq. 24 has τ/2 in both factors, yours τ"),
        (cayley_direct(P, G, -length), "yours goes uphill: the sign of A, or the two factors, are exchanged"),
        (plain, "the inverse of (I + τ/2 A) is missing"),
        ((unit + half * A) @ plain, "the factor (I + τ/2 A) must be inverted: solve with it"),
        (np.linalg.solve(unit + half * A, P), "the factor (I - τ/2 A) is missing"),
        (np.linalg.qr(P - length * stationarity(P, G))[0], "orthonormal, but by repair; eq. 24 needs none"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "06.5",
    "Write the long Barzilai-Borwein length, eq. 26.",
    (
        "tr(XᵀY) is the sum of the products of their entries: `(X * Y).sum()`.",
        "Above the line: how far P went, squared. Below: how F changed along the way, without its sign.",
        "`(dP * dP).sum() / abs((dP * dF).sum())`",
    ),
    "how far we went, over how much the slope changed on the way: one over the curvature",
)
def long_step(answer: Callable[..., Any]) -> str | None:
    """⟨dP, dP⟩ / |⟨dP, dF⟩|, where ⟨dP, dF⟩ is negative."""
    random = np.random.default_rng(5)
    dP = random.standard_normal((6, 2))
    dF = -0.3 * dP + 0.2 * random.standard_normal((6, 2))
    mixed = float((dP * dF).sum())
    right = bb_length(dP, dF, long=True)
    assert right is not None
    assert mixed < 0
    given = number(answer(dP.copy(), dF.copy()))
    own, other = float((dP * dP).sum()), float((dF * dF).sum())
    slips = (
        (own / mixed, "the size bars are missing: a step length below 0 goes uphill"),
        (abs(mixed) / other, "that is the short length, eq. 27; eq. 26 has ⟨dP, dP⟩ above the line"),
        (abs(mixed) / own, "upside down"),
        (math.sqrt(own) / abs(mixed), "eq. 26 has the square of ‖dP‖ above the line"),
        (math.sqrt(own / other), "that is ‖dP‖ / ‖dF‖, which lies between eq. 27 and eq. 26"),
        (own / other, "below the line stands |⟨dP, dF⟩|, not ⟨dF, dF⟩"),
    )
    if close(given, right):
        return None
    return slip(given, slips) or f"for the case of the check the length is {right:.4f}; yours is {given:.4f}"


@LESSON.exercise(
    "06.6",
    "Write what each pair of words adds to yᵀy', for all pairs of words at once.",
    (
        "yᵀy' = xᵀ Lᵀ L x'. Write it as a double sum over words u and v.",
        "The summand is x_u (LᵀL)_uv x'_v.",
        "`x_a[:, None] * (L.T @ L) * x_b[None, :]`",
    ),
    "nothing is estimated here: the parts add up to the similarity, and no other account of it is needed",
)
def word_parts(answer: Callable[..., Any]) -> str | None:
    """x_u (LᵀL)_uv x'_v."""
    random = np.random.default_rng(7)
    L, x_a, x_b = random.standard_normal((2, 5)), random.random(5), random.random(5)
    right = x_a[:, None] * (L.T @ L) * x_b
    given = array(answer(x_a.copy(), x_b.copy(), L.copy()))
    if given.shape == (2,) or given.shape == (2, 5):
        return "yours has a line for each row of L; wanted is one for each pair of words"
    if given.shape == ():
        return "that is one number, the similarity itself perhaps; wanted is what each pair of words adds to it"
    slips = (
        (right.T, "the sides are exchanged: rows are the words of a, columns those of b"),
        (np.outer(x_a, x_b), "L is missing: that is TF-IDF with every word near every other"),
        (np.diag(x_a * x_b), "that is what plain TF-IDF adds: only a word with itself. L ties different words"),
        (x_a[:, None] * (L.T @ L), "the words of b are missing"),
        ((L.T @ L) * x_b, "the words of a are missing"),
        (right * np.eye(5), "the pairs of different words are missing, and they are what L is for"),
        (L.T @ L, "that is what words have to do with one another in general; these two sentences are missing"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "06.7",
    "Write R of the pairwise rule: the larger of the two ranks.",
    (
        "The rank of b among a's neighbours: 1 + how many others are nearer to a than b is. a is no other.",
        "Take a out of its own list first: whoever is nearer than b, but neither a nor b.",
        "`1 + sum(S[a, c] > S[a, b] for c in range(len(S)) if c != a)`, the same with a and b swapped, and `max`.",
    ),
    "the larger rank counts: a sentence that is near to everybody does not make everybody its twin",
)
def mutual_rank(answer: Callable[..., Any]) -> str | None:
    """max(rank of b among a's neighbours, rank of a among b's), a sentence not being its own neighbour."""
    S = _cosines()
    pairs = [(a, b) for a in range(8) for b in range(8) if a != b]
    given = np.array([number(answer(S.copy(), a, b)) for a, b in pairs])
    there = np.array([_rank(S, a, b) for a, b in pairs])
    back = np.array([_rank(S, b, a) for a, b in pairs])
    right = np.maximum(there, back)
    if (given == right).all():
        return None
    slips = (
        (right - 1, "the nearest has rank 1, not 0"),
        (right + 1, "each sentence is its own nearest in yours: leave it out of its list"),
        (np.minimum(there, back), "that is the smaller of the two ranks: both must be near"),
        (there, "yours looks at a's neighbours only; b's count too"),
        (back, "yours looks at b's neighbours only; a's count too"),
        (there + back, "the two ranks are not added: the larger one counts"),
        ((there + back) / 2, "the two ranks are not averaged: the larger one counts"),
    )
    first = int((given != right).argmax())
    ranks = f"the ranks are {there[first]} and {back[first]}"
    return slip(given, slips) or f"for one pair {ranks}, so R is {right[first]}; yours is {given[first]:g}"


def _cosines() -> np.ndarray:
    """Of 8 rows, in general position."""
    rows = np.random.default_rng(11).standard_normal((8, 3)) + 0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


def _rank(S: np.ndarray, a: int, b: int) -> int:
    return 1 + sum(S[a, c] > S[a, b] for c in range(len(S)) if c not in (a, b))


SHARES = tuple(number / 10 for number in range(11))


@LESSON.exercise(
    "06.8",
    "Choose the share of TF-IDF by the AUC on dev.",
    (
        "Mix the two scores for each share, and take the AUC of each mixture.",
        "`share * plain + (1 - share) * learned`: a share of 1 is TF-IDF alone.",
        "`max(shares, key=lambda share: auc(labels, share * plain + (1 - share) * learned))`",
    ),
    "chosen on dev, to be reported on test: the other way round it would be a figure about luck",
)
def best_share(answer: Callable[..., Any]) -> str | None:
    """The share whose mixture has the largest AUC, on three cases that wrong rules get wrong."""
    for seed, strength in ((0, (0.4, 1.0)), (1, (1.0, 0.3)), (2, (0.9, 0.8))):
        plain, learned, labels = _scores(seed, *strength)
        values = [roc_auc_score(labels, share * plain + (1 - share) * learned) for share in SHARES]
        given = number(answer(plain, learned, labels, SHARES))
        if close(given, SHARES[int(np.argmax(values))]):
            continue
        turned = [roc_auc_score(labels, (1 - share) * plain + share * learned) for share in SHARES]
        errors = [np.mean((share * plain + (1 - share) * learned > 0.5) == labels) for share in SHARES]
        slips = (
            (SHARES[int(np.argmax(turned))], "the share is of TF-IDF; in yours it goes to the learned score"),
            (SHARES[int(np.argmin(values))], "that share has the smallest AUC of all"),
            (float(max(values)), "that is the best AUC; asked is the share that has it"),
            (int(np.argmax(values)), "that is its place in the list; asked is the share itself"),
            (SHARES[int(np.argmax(errors))], "that is the best accuracy at 0.5; AUC needs no threshold"),
        )
        best = SHARES[int(np.argmax(values))]
        return (
            slip(given, slips)
            or f"in a case of the check {best:g} has the best AUC, {max(values):.3f}; yours {given:g}"
        )
    return None


def _scores(seed: int, plain: float, learned: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two scores of different strength, each seeing something that the other does not."""
    random = np.random.default_rng(seed)
    labels = np.arange(200) % 2
    return (*(strength * labels + random.standard_normal(200) for strength in (plain, learned)), labels)  # type: ignore[return-value]
