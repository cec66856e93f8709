"""Notebook 06: triplets, the Stiefel manifold and FILM's words."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import norm, qr, solve
from scipy.linalg import expm
from scipy.stats import rankdata

from labkit.film.stiefel import bb_length, cayley_direct, random_point, stationarity
from labkit.lab.course.exercise import Unnamed, check, find_mistake, number


@check("06.1")
def check_anchor_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 5: Σ_i max(0, Σ_t (sim_ik + m - sim_ij) / (|T_i| + 1))."""

    def each(Y: Any, triplets: Any, m: float, sign: int = 1) -> Any:
        i, j, k = triplets.T
        return sign * ((Y[i] * Y[k]).sum(1) - (Y[i] * Y[j]).sum(1)) + m

    def added(Y: Any, triplets: Any, values: Any) -> Any:
        return np.bincount(triplets[:, 0], values, len(Y))

    def size(Y: Any, triplets: Any) -> Any:
        return np.bincount(triplets[:, 0], minlength=len(Y))

    def means(Y: Any, T: Any, m: float, sign: int = 1) -> Any:
        return added(Y, T, each(Y, T, m, sign)) / (size(Y, T) + 1)

    def losses(Y: Any, T: Any, m: float, sign: int = 1) -> Any:
        return np.maximum(0, means(Y, T, m, sign))

    def right(Y: Any, triplets: Any, m: float) -> Any:
        return losses(Y, triplets, m).sum()

    def hinges(Y: Any, T: Any, m: float) -> Any:
        return np.maximum(0, each(Y, T, m))

    def inner(Y: Any, T: Any) -> Any:
        return added(Y, T, each(Y, T, 0)) / (size(Y, T) + 1)

    def own(Y: Any, T: Any, m: float) -> Any:
        return added(Y, T, each(Y, T, m)) / np.maximum(size(Y, T), 1)

    def unit(Y: Any) -> Any:
        return Y / norm(Y, axis=1, keepdims=True)

    def farther(Y: Any, T: Any, m: float) -> Any:
        i, j, k = T.T
        return norm(Y[i] - Y[j], axis=1) - norm(Y[i] - Y[k], axis=1) + m

    def grouped(Y: Any, T: Any, m: float, column: int) -> Any:
        groups = T[:, [column, column, column]]
        return (np.maximum(0, added(Y, groups, each(Y, T, m)) / (size(Y, groups) + 1))).sum()

    def of(Y: Any, T: Any, one: int, other: int) -> Any:
        return (Y[T[:, one]] * Y[T[:, other]]).sum(1)

    def hardest(Y: Any, T: Any, m: float) -> Any:
        worst = np.full(len(Y), -np.inf)
        np.maximum.at(worst, T[:, 0], each(Y, T, m))
        return np.maximum(0, worst).sum()

    triplets_own = "yours takes the hinge of each triplet; eq. 5 adds an anchor's triplets first, then takes the hinge"
    one_only = "that is the loss of one anchor alone; eq. 5 adds those of all anchors"
    mistakes = (
        (lambda Y, T, m: hinges(Y, T, m).mean(), "that is eq. 3, the mean over triplets; eq. 5 has a hinge an anchor"),
        (lambda Y, T, m: (added(Y, T, hinges(Y, T, m)) / (size(Y, T) + 1)).sum(),
         lambda Y, T, m: (added(Y, T, hinges(Y, T, m)) / np.maximum(size(Y, T), 1)).sum(),
         lambda Y, T, m: hinges(Y, T, m).sum(), lambda Y, T, m: np.maximum(0, each(Y, T, m)).sum() / (len(T) + 1),
         triplets_own),
        (lambda Y, T, m: np.maximum(0, own(Y, T, m)).sum(), "yours divides by |T_i|; eq. 5 has |T_i| + 1 there"),
        (lambda Y, T, m: np.maximum(0, own(Y, T, m) + 1).sum(),
         "a / b + 1 adds 1 after the division: put brackets round |T_i| + 1"),
        (lambda Y, T, m: losses(Y, T, m).mean(), "that is the mean over the anchors; eq. 5 has their sum"),
        (lambda Y, T, m: losses(Y, T, m)[size(Y, T) > 0].mean(),
         "that is the mean over the anchors that have triplets; eq. 5 has the sum"),
        (lambda Y, T, m: losses(Y, T, m), "the losses of the anchors are right: their sum is still missing"),
        (lambda Y, T, m: losses(Y, T, m).max(), "that is the largest loss of an anchor; eq. 5 adds those of all"),
        (lambda Y, T, m: losses(Y, T, m)[T[0, 0]], lambda Y, T, m: losses(Y, T, m)[T[-1, 0]],
         lambda Y, T, m: losses(Y, T, m)[0], lambda Y, T, m: losses(Y, T, m)[T[:, 0].min()],
         lambda Y, T, m: losses(Y, T, m)[T[:, 0].max()], one_only),
        (lambda Y, T, m: losses(Y, T, 0).sum(), "the margin m is missing"),
        (lambda Y, T, m: losses(Y, T, -m).sum(),
         "the margin has the wrong sign: a triplet is to be in order by *more* than 0"),
        (lambda Y, T, m: np.maximum(0, inner(Y, T) + m)[size(Y, T) > 0].sum(),
         "yours adds m once for each anchor; in eq. 5 it stands inside the sum, once for each triplet"),
        (lambda Y, T, m: np.maximum(0, inner(Y, T) + m).sum(),
         "yours adds m once for each anchor, even to those without triplets; in eq. 5 it stands inside the sum"),
        (lambda Y, T, m: np.maximum(0, inner(Y, T) + m / (size(Y, T) + 1))[size(Y, T) > 0].sum(),
         "yours adds m once to the sum over an anchor's triplets; in eq. 5 it stands inside, once for each triplet"),
        (lambda Y, T, m: losses(Y, T, m, -1).sum(),
         "the similarities are swapped: an anchor pays if k is nearer than j"),
        (lambda Y, T, m: np.maximum(0, -means(Y, T, m)).sum(), "the sign within the hinge is turned round"),
        (lambda Y, T, m: np.maximum(0, added(Y, T, each(Y, T, m))).sum(), "the division by |T_i| + 1 is missing"),
        (lambda Y, T, m: np.maximum(0, added(Y, T, each(Y, T, m))).sum() / len(T),
         "yours divides by the number of all triplets; eq. 5 divides each anchor's sum by |T_i| + 1"),
        (lambda Y, T, m: np.maximum(0, added(Y, T, each(Y, T, m))).sum() / (len(T) + 1),
         "yours divides by the number of all triplets and 1; |T_i| is the number of triplets of one anchor"),
        (lambda Y, T, m: (np.maximum(0, added(Y, T, each(Y, T, m))) / (len(Y) + 1)).sum(),
         "yours divides by the number of sentences and 1; |T_i| is the number of triplets of one anchor"),
        (lambda Y, T, m: means(Y, T, m).sum(), "the hinge is missing: an anchor in good order would be paid"),
        (lambda Y, T, m: max(0, means(Y, T, m).sum()),
         "yours takes one hinge of everything; eq. 5 takes one for each anchor, before the sum"),
        (lambda Y, T, m: (losses(Y, T, m) ** 2).sum(), "yours squares the hinges; eq. 5 adds them as they are"),
        (lambda Y, T, m: (losses(Y, T, m) > 0).sum(), "that is how many hinges are active; eq. 5 adds what they give"),
        (lambda Y, T, m: np.logaddexp(0, means(Y, T, m)).sum(), "yours is smoothed, log(1 + e^x); eq. 5 has max(0, x)"),
        (lambda Y, T, m: right(unit(Y), T, m), "yours divides by the lengths of the rows; eq. 1 is the dot product"),
        (lambda Y, T, m: np.maximum(0, added(Y, T, farther(Y, T, m)) / (size(Y, T) + 1)).sum(),
         "yours compares distances; eq. 1 is the dot product"),
        (lambda Y, T, m: grouped(Y, T, m, 1), "yours adds up the triplets of each j; eq. 5 those of each anchor i"),
        (lambda Y, T, m: grouped(Y, T, m, 2), "yours adds up the triplets of each k; eq. 5 those of each anchor i"),
        (lambda Y, T, m: abs(means(Y, T, m)).sum(), "a hinge is max(0, x), not |x|: an anchor in order pays nothing"),
        (lambda Y, T, m: np.minimum(0, means(Y, T, m)).sum(),
         "that is the smaller of 0 and the sum; a hinge has the larger"),
        (lambda Y, T, m: np.maximum(m, inner(Y, T)).sum(),
         "the margin does not stand in the place of 0: it is added to each triplet, then comes max(0, …)"),
        (lambda Y, T, m: losses(Y, T, m)[T[:, 0]].sum(), "an anchor counts once; in yours as often as it has triplets"),
        (lambda Y, T, m: losses(Y, T, m)[T[:, 0]].mean(),
         "eq. 5 adds the losses, each anchor once; yours is a mean over triplets"),
        (lambda Y, T, m: np.maximum(0, each(Y, T, m).sum()) / (len(T) + 1),
         "yours takes one hinge of everything; eq. 5 one for each anchor"),
        (lambda Y, T, m: np.maximum(0, added(Y, T, m + of(Y, T, 0, 2)) / (size(Y, T) + 1)).sum(),
         "the similarity to j is missing"),
        (lambda Y, T, m: np.maximum(0, added(Y, T, m - of(Y, T, 0, 1)) / (size(Y, T) + 1)).sum(),
         "the similarity to k is missing"),
        (lambda Y, T, m: np.maximum(0, added(Y, T, m + of(Y, T, 1, 2) - of(Y, T, 0, 1)) / (size(Y, T) + 1)).sum(),
         "k is compared with the anchor i, not with j"),
        *((lambda Y, T, m, order=order: right(Y, T[:, order], m),
           "the columns of triplets are i, j and k, in this order; yours takes them in another")
          for order in ([1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0])),
        (lambda Y, T, m: np.maximum(0, added(Y, T, each(Y, T, 0) / Y.shape[1] + m) / (size(Y, T) + 1)).sum(),
         "a dot product is the sum of the products; yours is their mean"),
        (lambda Y, T, m: np.maximum(0, inner(Y, T) + m / (size(Y, T) + 1)).sum(),
         "yours adds m once to each anchor's sum, even to an empty one; in eq. 5 it stands inside, once a triplet"),
        (lambda Y, T, m: losses(Y, T, m).sum() / len(T),
         "the sum over the anchors is right, and then yours divides it by the number of triplets; eq. 5 does not"),
        (lambda Y, T, m: (added(Y, T, hinges(Y, T, 0) + m) / (size(Y, T) + 1)).sum(),
         "yours takes the hinge of each triplet, before the margin; eq. 5 takes it of an anchor's whole sum"),
        (hardest, "yours takes each anchor's worst triplet; eq. 5 takes the sum over |T_i| + 1"),
    )  # fmt: skip
    return find_mistake(answer, right, _of_triplets(), mistakes)


@cache
def _of_triplets() -> tuple[tuple[Any, ...], ...]:
    """Several active anchors, some that are not, some without triplets, in mixed order; one sum below 0."""
    draw = np.random.default_rng(22)
    cases: list[tuple[Any, ...]] = []
    for n, d, count, m in ((9, 3, 24, 0.4), (6, 5, 11, 1.3), (12, 2, 30, 0.15)):
        Y = draw.normal(size=(n, d))
        i = draw.integers(0, n - 2, count)  # the last two are no anchors
        j = (i + draw.integers(1, n, count)) % n
        k = (i + draw.integers(1, n, count)) % n
        cases.append((Y, np.stack([i, j, k], 1), m))
    Y, T, m = cases[0]
    nearer = (Y[T[:, 0]] * Y[T[:, 2]]).sum(1) > (Y[T[:, 0]] * Y[T[:, 1]]).sum(1)
    cases.append((Y, np.where((nearer & (T[:, 0] > 2))[:, None], T[:, [0, 2, 1]], T), m / 4))
    return tuple(cases)


@check("06.2")
def check_margin(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """m |T_i| / (|T_i| + 1)."""
    draw = np.random.default_rng(2)
    cases = [(m, np.array([0, 1, *draw.integers(1, 9, n), 10 * n])) for m, n in ((0.4, 3), (1.7, 6), (0.25, 4))]

    mistakes = (
        (lambda m, n: m + 0 * n, lambda m, n: m, "that is eq. 10 as it is printed: m, whatever the number of triplets"),
        (lambda m, n: m * (n > 0), "that is m wherever there are triplets; how many there are plays a part, too"),
        (lambda m, n: m / (n + 1), "in eq. 5 m is added once for each triplet, |T_i| times in all"),
        (lambda m, n: m * n, "the sum is divided by |T_i| + 1, and the margins in it are divided too"),
        (lambda m, n: n / (n + 1), "the share is right; what is it a share of? m is missing"),
        (lambda m, n: m * (n + 1) / n, lambda m, n: m * (n + 1) / np.maximum(n, 1), "the fraction is upside down"),
        (lambda m, n: m / n, lambda m, n: m / np.maximum(n, 1),
         "in an anchor's part of eq. 5 m is added |T_i| times, and divided by |T_i| + 1"),
        (lambda m, n: m * (n + 1), "m is added |T_i| times, not once more, and what is added is divided"),
        (lambda m, n: m * n / n + 1, "a / b + 1 adds 1 after the division: put brackets round size + 1"),
        (lambda m, n: m * n / np.maximum(n, 1) + 1, "a / b + 1 adds 1 after the division: brackets are missing"),
        (lambda m, n: m * (n - 1) / n, "the sum has |T_i| margins in it and is divided by |T_i| + 1"),
        (lambda m, n: m * n / (n.max() + 1), "each anchor has its own |T_i| below the line, too"),
        (lambda m, n: m * n / (len(n) + 1), "|T_i| is the number of an anchor's triplets, not that of the anchors"),
        (lambda m, n: m * n / (n.sum() + 1), "each anchor is divided by its own |T_i| + 1, not by that of all"),
        (lambda m, n: m * n.sum() / (n.sum() + 1), lambda m, n: m * n.mean() / (n.mean() + 1),
         "one margin for all anchors: each has its own |T_i|"),
        (lambda m, n: m + n / (n + 1), "m is multiplied by how often it is added, not added to it"),
        (lambda m, n: m * (n - 1) / (n + 1), "m is added |T_i| times, not once less"),
        (lambda m, n: m * (n + 1) / (n + 2), "m is added |T_i| times, and the sum is divided by |T_i| + 1"),
        (lambda m, n: m * n / (n + 1) ** 2, "yours divides by |T_i| + 1 twice"),
        (lambda m, n: m * n // (n + 1), "`//` leaves out what is behind the point: divide by `/`"),
        (lambda m, n: (m * n).sum() / (n + 1), "yours adds up the margins of all anchors; each has its own sum"),
        (lambda m, n: m * n / (n + m), "the sum is divided by |T_i| + 1, not by |T_i| + m"),
        (lambda m, n: (m * n / (n + 1)).sum(), "each anchor keeps its own m_i; yours adds them up"),
        (lambda m, n: (m * n / (n + 1)).mean(), "each anchor keeps its own m_i; yours is their mean"),
        (lambda m, n: (m * n / (n + 1)).reshape(-1, 1), "the numbers are right; wanted are (n,), yours are (n, 1)"),
        (lambda m, n: m - n / (n + 1), "m is multiplied by how often it is added; here the two are subtracted"),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        return find_mistake(answer, lambda m, size: m * size / (size + 1), cases, mistakes)


@check("06.3")
def check_smoothing(answer: Any, random: np.random.Generator) -> str | None:
    """log(1 + e^0.01) / 0.01, to two digits: 69 (cut off), 69.8 and 70 are all read off well."""
    given = number(answer)
    x = 0.01
    value = math.log1p(math.exp(x))
    if 68.95 <= given < 70.55:
        return None
    mistakes = (
        (value / x - 1,
         "that is 1 too small: by how much μ(x) is larger, in units of x, or σ(x) in the place of σ(-x)"),
        (value - x, "that is log 2 less a little: σ(x) in the place of σ(-x), or a difference; and divide by 0.01"),
        (value, "that is about μ(0.01) itself; divide it by max(0, 0.01)"),
        (1.0, "a factor of 1 is what smoothing should give, and does far from 0"),
        (x / value, "upside down: μ(0.01) is the larger one"),
        (value * x, "yours multiplies by 0.01; divide by it"),
        (100 * value / x, "that is in percent; which factor is it?"),
        (-value / x, "the sign: σ is below 1, so its logarithm is negative, and eq. 18 has a minus before it"),
        (-(value - x) / x, "the sign: eq. 18 has a minus before the logarithm, and one within σ"),
        (math.log10(1 + math.exp(x)) / x, "that is the logarithm to the base 10; eq. 18 has the natural one, `np.log`"),
        (math.log2(1 + math.exp(x)) / x, "that is the logarithm to the base 2; eq. 18 has the natural one, `np.log`"),
        (1 / (1 + math.exp(-x)) / x, "that is σ(0.01) / 0.01: the logarithm is missing"),
        (1 / (1 + math.exp(x)) / x, "that is σ(-0.01) / 0.01: the logarithm is missing"),
        (math.log1p(x) / x, "that has log(1 + x); in σ stands e to the power of x"),
        (math.exp(x) / x, "that is e^x / x: the logarithm of 1 + e^x was asked for"),
        ((1 + math.exp(x)) / x, "that is (1 + e^x) / x: its logarithm is missing"),
        (math.log1p(math.exp(0.1)) / 0.1, "that is for x = 0.1; asked is 0.01"),
        (math.log1p(math.exp(0.001)) / 0.001, "that is for x = 0.001; asked is 0.01"),
        (math.log1p(math.exp(1)), "that is for x = 1; asked is 0.01"),
    )  # fmt: skip
    named = next((says for wrong, says in mistakes if abs(given - wrong) <= 0.004 * abs(wrong)), None)
    if named is None and given < 1:
        return "μ(0.01) is the larger of the two, and both are above 0, so the factor is above 1"
    return named or Unnamed("compute log(1 + e^0.01), and divide by 0.01")


@check("06.4")
def check_cayley_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 24, with the gradient in A."""
    draw = np.random.default_rng(4)
    sizes = ((7, 3, 0.6), (5, 4, 1.7), (9, 2, 0.25), (4, 1, 3.0))
    cases = [(random_point(r, d, r), draw.normal(size=(r, d)), length) for r, d, length in sizes]

    def skew(P: Any, G: Any) -> Any:
        return G @ P.T - P @ G.T

    def turned(P: Any, A: Any, below: float, above: float) -> Any:
        unit = np.eye(len(P))
        return solve(unit + below * A, (unit - above * A) @ P)

    def polar(Q: Any) -> Any:
        U, _, Wt = np.linalg.svd(Q, full_matrices=False)
        return U @ Wt

    def signed(Q: Any) -> Any:
        first, R = qr(Q)
        return first * np.where(np.diag(R) < 0, -1, 1)

    def straight(P: Any, G: Any, length: float) -> Any:
        return P - length * stationarity(P, G)

    repaired = "orthonormal, but by repair of a straight step; eq. 24 needs none"
    uphill = "yours goes uphill: the sign of A, or the two factors, are exchanged"
    half_a = "A = ∇φ Pᵀ - P ∇φᵀ has two parts; yours has one of them, so the factor is no rotation"
    mistakes = (
        (straight, "that is eq. 22, a straight step: it leaves the manifold"),
        (lambda P, G, t: P - t / 2 * stationarity(P, G),
         "that is (I - τ/2 A) P, a straight step of half the length: the inverse of (I + τ/2 A) is missing"),
        (lambda P, G, t: P - t * G, "that is the gradient step of school: nothing keeps the columns orthonormal"),
        (lambda P, G, t: P + t * stationarity(P, G), "a straight step, and uphill: eq. 24 has two factors"),
        (lambda P, G, t: turned(P, skew(P, G), t, t), "eq. 24 has τ/2 in both factors, yours τ"),
        (lambda P, G, t: turned(P, skew(P, G), t / 4, t / 4), "eq. 24 has τ/2 in both factors, yours τ/4"),
        (lambda P, G, t: turned(P, skew(P, G), 0.5, 0.5), lambda P, G, t: turned(P, skew(P, G), 1, 1),
         "the length τ is missing: eq. 24 has τ/2 in both factors"),
        (lambda P, G, t: turned(P, skew(P, G), t / 2, t), "eq. 24 has τ/2 in both factors; yours has τ in the second"),
        (lambda P, G, t: turned(P, skew(P, G), t, t / 2), "eq. 24 has τ/2 in both factors; yours has τ in the first"),
        (lambda P, G, t: cayley_direct(P, G, -t),
         lambda P, G, t: np.linalg.inv(turned(np.eye(len(P)), skew(P, G), t / 2, t / 2)) @ P, uphill),
        (lambda P, G, t: (np.eye(len(P)) + t / 2 * skew(P, G)) @ (np.eye(len(P)) - t / 2 * skew(P, G)) @ P,
         "the factor (I + τ/2 A) must be inverted: solve with it"),
        (lambda P, G, t: turned(P, skew(P, G), t / 2, 0), "the factor (I - τ/2 A) is missing"),
        (lambda P, G, t: turned(P, skew(P, G), t / 2, -t / 2), lambda P, G, t: turned(P, skew(P, G), -t / 2, t / 2),
         "both factors have the same sign in yours, and so cancel: in the Cayley step (eq. 24) they differ"),
        (lambda P, G, t: (1 / (np.eye(len(P)) + t / 2 * skew(P, G))) @ (np.eye(len(P)) - t / 2 * skew(P, G)) @ P,
         "1 / matrix divides each entry; the inverse of a matrix is another thing: solve with it"),
        (lambda P, G, t: solve(np.eye(len(P)) + t / 2 * skew(P, G), np.eye(len(P)) - t / 2 * skew(P, G)),
         "that is the rotation itself, (r, r); the Cayley step (eq. 24) applies it to P"),
        (lambda P, G, t: (solve(np.eye(len(P)) + t / 2 * skew(P, G), np.eye(len(P)))
                          * (np.eye(len(P)) - t / 2 * skew(P, G)) @ P),
         "`*` multiplies entry by entry; the factors are matrices, and `@` multiplies these"),
        (lambda P, G, t: solve(np.eye(len(P)) + t / 2 * skew(P, G), P) - t / 2 * skew(P, G) @ P,
         "the inverse belongs before the whole of (I - τ/2 A) P, not before P alone"),
        (lambda P, G, t: solve(np.eye(len(P)) + t / 2 * skew(P, G), P - t / 2 * G),
         "in the second factor stands A P, not the gradient alone"),
        (lambda P, G, t: P - t * skew(P, G) @ (P + straight(P, G, t)) / 2,
         "yours has a straight step in the middle of the two points; a Cayley step (eq. 24) solves for the new P"),
        (lambda P, G, t: skew(P, G), "that is A; eq. 24 makes two factors of it and applies them to P"),
        (lambda P, G, t: turned(P, G @ P.T, t / 2, t / 2), lambda P, G, t: turned(P, -P @ G.T, t / 2, t / 2),
         lambda P, G, t: turned(P, P @ G.T, t / 2, t / 2), half_a),
        (lambda P, G, t: turned(P, G @ P.T + P @ G.T, t / 2, t / 2),
         "A has a minus between its parts: only so is it skew-symmetric, and the factor a rotation"),
        (lambda P, G, t: turned(P, skew(P, stationarity(P, G)), t / 2, t / 2),
         "A is made of the gradient itself; yours is made of F(P)"),
        (lambda P, G, t: turned(G, skew(P, G), t / 2, t / 2), "the rotation is applied to P, not to the gradient"),
        (lambda P, G, t: expm(-t * skew(P, G)) @ P,
         "that is the exponential of A, a rotation too, but another one than the Cayley step of eq. 24"),
        (lambda P, G, t: qr(straight(P, G, t))[0], lambda P, G, t: signed(straight(P, G, t)),
         lambda P, G, t: polar(straight(P, G, t)), lambda P, G, t: polar(P - t * G), lambda P, G, t: qr(P - t * G)[0],
         lambda P, G, t: signed(P - t * G), repaired),
    )  # fmt: skip
    return find_mistake(answer, lambda P, gradient, length: cayley_direct(P, gradient, length), cases, mistakes)


@check("06.5")
def check_long_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """⟨dP, dP⟩ / |⟨dP, dF⟩|, where ⟨dP, dF⟩ may have either sign."""
    draw = np.random.default_rng(5)
    cases = []
    for r, d, slope, size in ((6, 2, -0.3, 1), (4, 4, 0.5, 1), (5, 3, -1.4, 1), (7, 1, 0.2, 1), (3, 2, 0.6, 1e-4)):
        dP = draw.normal(size=(r, d))
        cases.append((size * dP, size * (slope * dP + 0.4 * draw.normal(size=(r, d)))))  # near the end steps are small

    def right(dP: Any, dF: Any) -> Any:
        return bb_length(dP, dF, long=True)

    def own(dP: Any) -> Any:
        return (dP * dP).sum()

    def mixed(dP: Any, dF: Any) -> Any:
        return (dP * dF).sum()

    entries = "tr adds up all products first, with their signs; the size bars stand round the sum"
    norms = "tr(XᵀY) is one sum of products; yours takes the length of a matrix XᵀY"
    mistakes = (
        (lambda dP, dF: own(dP) / mixed(dP, dF), "the size bars are missing: a step length below 0 goes uphill"),
        (lambda dP, dF: -own(dP) / mixed(dP, dF), "a minus is no size: where ⟨ΔP, ΔF⟩ is above 0, yours goes uphill"),
        (lambda dP, dF: own(dP) / abs(dP * dF).sum(), entries),
        (lambda dP, dF: bb_length(dP, dF, long=False),
         "that is the short length, eq. 27; eq. 26 is the long one with ⟨ΔP, ΔP⟩ above the line"),
        (lambda dP, dF: mixed(dP, dF) / own(dF),
         "that is the short eq. 27 without its size bars; eq. 26 is the long one with ⟨ΔP, ΔP⟩ above the line"),
        (lambda dP, dF: abs(dP * dF).sum() / own(dF),
         "that is the short eq. 27 with size bars round each product; asked is the long eq. 26"),
        (lambda dP, dF: abs(mixed(dP, dF)) / own(dP), "upside down"),
        (lambda dP, dF: mixed(dP, dF) / own(dP), "upside down, and the size bars are missing"),
        (lambda dP, dF: norm(dP) / abs(mixed(dP, dF)), "eq. 26 has the square of ‖ΔP‖ above the line"),
        (lambda dP, dF: norm(dP) / norm(dF), "that is ‖ΔP‖ / ‖ΔF‖, which lies between eq. 27 and eq. 26"),
        (lambda dP, dF: own(dP) / own(dF), "below the line stands |⟨ΔP, ΔF⟩|, not ⟨ΔF, ΔF⟩"),
        (lambda dP, dF: own(dF) / abs(mixed(dP, dF)), "above the line stands ⟨ΔP, ΔP⟩, not ⟨ΔF, ΔF⟩"),
        (lambda dP, dF: own(dP) / abs(dP.T @ dF).sum(),
         "|tr(X)| is one number's size: add the diagonal first; yours adds sizes of all entries"),
        (lambda dP, dF: own(dP) / norm(dP * dF),
         "below the line stands the size of one sum; yours is the length of all the products"),
        (lambda dP, dF: own(dP) / norm(dF), "below the line stands |⟨ΔP, ΔF⟩|, not ‖ΔF‖"),
        (lambda dP, dF: abs(dP).sum() / abs(dF).sum(), "that is a quotient of sums of sizes; tr adds up products"),
        (lambda dP, dF: dP.sum() ** 2 / abs(mixed(dP, dF)), "above the line: square first, then add"),
        (lambda dP, dF: dP.sum() / abs(dF.sum()), lambda dP, dF: abs(dP.sum() / dF.sum()),
         "tr adds up products, not the entries themselves"),
        (lambda dP, dF: own(dP) / max(mixed(dP, dF), 1e-12), "size bars turn a sum below 0 round; yours cuts it off"),
        (lambda dP, dF: own(dP) / abs((dP @ dF.T).sum()), lambda dP, dF: (dP.T @ dP).sum() / abs((dP.T @ dF).sum()),
         "tr adds the diagonal of XᵀY alone, not all its entries"),
        (lambda dP, dF: (right(dP, dF) + bb_length(dP, dF, long=False)) / 2,
         "that is the mean of eq. 26 and eq. 27; asked is eq. 26, the long one"),
        (lambda dP, dF: own(dP), "that is what stands above the line; divide it by |⟨ΔP, ΔF⟩|"),
        (lambda dP, dF: abs(mixed(dP, dF)), "that is what stands below the line of eq. 26"),
        (lambda dP, dF: own(dP) / mixed(dP, dF) ** 2, "below the line stands |⟨ΔP, ΔF⟩| itself, not its square"),
        (lambda dP, dF: norm(dP.T @ dP) / norm(dP.T @ dF), norms),
        (lambda dP, dF: norm(dP, 2) ** 2 / abs(mixed(dP, dF)),
         "that norm is the largest singular value; eq. 26 adds all squares"),
        (lambda dP, dF: (dP.T @ dP) / abs(dP.T @ dF),
         "tr is missing above and below the line: the length is one number"),
        (lambda dP, dF: dP * dP / abs(dP * dF), "add up above and below the line first: the length is one number"),
        (lambda dP, dF: (dP * dP / abs(dP * dF)).sum(), "add up first, then divide: yours adds up quotients"),
        (lambda dP, dF: (dP * dP / abs(dP * dF)).mean(), "add up first, then divide: yours takes a mean of quotients"),
        (lambda dP, dF: own(dP[:, 0]) / abs(mixed(dP[:, 0], dF[:, 0])), "that is the first column alone; tr adds all"),
        (lambda dP, dF: ((dP * dP).sum(0) / abs((dP * dF).sum(0))).sum(),
         lambda dP, dF: ((dP * dP).sum(0) / abs((dP * dF).sum(0))).mean(),
         lambda dP, dF: (dP * dP).sum(0) / abs((dP * dF).sum(0)),
         "yours has a quotient for each column; tr adds up all columns first, on either side of the line"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("06.6")
def check_word_parts(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """x_u (LᵀL)_uv x'_v."""
    draw = np.random.default_rng(7)
    cases = []
    for d, words in ((2, 5), (4, 3), (3, 7), (14, 4)):
        x_a, x_b = draw.normal(size=words), draw.normal(size=words)
        x_a[0] = x_b[-1] = 0  # a sentence has few of the words
        cases.append((x_a, x_b, draw.normal(size=(d, words))))

    def right(x_a: Any, x_b: Any, L: Any) -> Any:
        return x_a[:, None] * (L.T @ L) * x_b

    def lengths(a: Any, b: Any, L: Any) -> Any:
        return norm(L @ a) * norm(L @ b)

    by_rows = "yours has a line for each row of L; wanted is one for each pair of words"
    whole = "that is the similarity itself, one number; wanted is what each pair of words adds to it"
    early = "yours has added up one of the two sentences already; wanted is each pair of words"
    mistakes = (
        (lambda a, b, L: right(b, a, L), "the sides are exchanged: rows are the words of a, columns those of b"),
        (lambda a, b, L: a @ L.T @ L @ b, lambda a, b, L: a @ L.T @ L @ b / lengths(a, b, L), whole),
        (lambda a, b, L: right(a, b, L) / lengths(a, b, L),
         "yours divides by the lengths of y and y'; asked is yᵀy' itself"),
        (lambda a, b, L: (L @ a) * (L @ b), lambda a, b, L: L * a * b, lambda a, b, L: L * a, lambda a, b, L: L * b,
         by_rows),
        (lambda a, b, L: np.outer(L @ a, L @ b), "that is for each pair of rows of L; wanted is each pair of words"),
        (lambda a, b, L: L @ L.T, "that is for pairs of rows of L; the words are in LᵀL"),
        (lambda a, b, L: np.outer(a, b), "L is missing: that is TF-IDF with every word near every other"),
        (lambda a, b, L: np.diag(a * b),
         "that is what plain TF-IDF adds: only a word with itself. L ties different words"),
        (lambda a, b, L: a * b, "that is what plain TF-IDF adds, word by word; L ties different words"),
        (lambda a, b, L: a[:, None] * (L.T @ L), "the words of b are missing"),
        (lambda a, b, L: a * (L.T @ L), "the words of b are missing, and those of a belong to the rows"),
        (lambda a, b, L: (L.T @ L) * b, "the words of a are missing"),
        (lambda a, b, L: (L.T @ L) * a * b, "both sentences multiply the columns in yours: a belongs to the rows"),
        (lambda a, b, L: (L.T @ L) * a[:, None] * b[:, None],
         "both sentences multiply the rows in yours: those of b belong to the columns"),
        (lambda a, b, L: right(a, b, L) * np.eye(len(a)), lambda a, b, L: np.diag(right(a, b, L)),
         "the pairs of different words are missing, and they are what L is for"),
        (lambda a, b, L: right(a, b, L) * (1 - np.eye(len(a))),
         "the pairs of a word with itself are missing: they add to the similarity, too"),
        (lambda a, b, L: L.T @ L,
         "that is what words have to do with one another in general; the sentences are missing"),
        (lambda a, b, L: right(a, b, L).sum(1), lambda a, b, L: right(a, b, L).sum(0),
         lambda a, b, L: np.outer(a, L.T @ L @ b), lambda a, b, L: np.outer(L.T @ L @ a, b), early),
        (lambda a, b, L: np.outer(L.T @ L @ a, L.T @ L @ b),
         "LᵀL stands once between the two sentences, yours has it on both"),
        (lambda a, b, L: (right(a, b, L) + right(b, a, L)) / 2,
         "yours takes the mean of both sides; rows are the words of a, columns those of b"),
        (lambda a, b, L: np.triu(right(a, b, L)), lambda a, b, L: np.tril(right(a, b, L)),
         "each pair counts, on both sides of the diagonal: u is of a, v of b"),
        (lambda a, b, L: abs(right(a, b, L)), "a pair of words may push apart, too: the signs belong to it"),
        (lambda a, b, L: (L * a) @ (L * b).T, "that is for pairs of rows of L; wanted is each pair of words"),
        (lambda a, b, L: np.outer(a, b) * (L.T @ L) ** 2, "LᵀL is not squared: it stands once between the sentences"),
        (lambda a, b, L: np.outer(a, b) * abs(L.T @ L), "words may push apart, too: the signs of LᵀL belong to it"),
        (lambda a, b, L: np.outer(a, b) + L.T @ L, "the three are multiplied; yours adds LᵀL"),
        (lambda a, b, L: np.outer(a, b) * L.sum(0), "two words meet through LᵀL; yours has the sums of L's columns"),
        (lambda a, b, L: np.outer(L.sum(0) * a, L.sum(0) * b), "multiply by each row of L, then add; yours adds first"),
        (lambda a, b, L: np.outer(L[0] * a, L[0] * b), "that is the first row of L alone; LᵀL adds up all of them"),
        (lambda a, b, L: np.outer(a > 0, b > 0) * (L.T @ L),
         "how much of a word a sentence has belongs to it, not only whether"),
        (lambda a, b, L: np.outer(a, a) * (L.T @ L) * np.outer(b, b),
         "each word counts once: those of a in the rows, those of b in the columns"),
        (lambda a, b, L: right(a, a, L), "both sides are sentence a in yours; the columns are the words of b"),
        (lambda a, b, L: right(b, b, L), "both sides are sentence b in yours; the rows are the words of a"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("06.7")
def check_mutual_rank(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """max(rank of b among a's neighbours, rank of a among b's), a sentence not being its own neighbour."""
    cases = [(S, a, b) for S in map(_cosines, (8, 5)) for a in range(len(S)) for b in range(len(S)) if a != b]
    cases = cases[::3] + cases[-3:]
    many, twins = _cosines(70), _cosines(6)[:, [0, 1, 2, 3, 4, 0]][[0, 1, 2, 3, 4, 0]]
    cases += [(many, 0, int(many[0].argmin())), (twins, 0, 5)]  # of many a rank may be large; 0 and 5 are twins

    def right(S: Any, a: int, b: int) -> int:
        return max(ranks(S, a, b))

    def with_itself(S: Any, a: int, b: int) -> int:
        return int(1 + (S[a] > S[a, b]).sum())

    def listed(S: Any, a: int, b: int) -> int:
        return int(np.argsort(-S[a])[b])

    def others(S: Any, a: int) -> Any:
        return [c for c in np.argsort(-S[a]) if c != a]

    mistakes = (
        (lambda S, a, b: right(S, a, b) - 1, "the nearest has rank 1, not 0"),
        (lambda S, a, b: right(S, a, b) + 1, lambda S, a, b: max(with_itself(S, a, b), with_itself(S, b, a)),
         "1 too many: is a sentence in its own list, or is the nearest at 2?"),
        (lambda S, a, b: min(ranks(S, a, b)), "that is the smaller of both ranks: both must be near"),
        (lambda S, a, b: min(ranks(S, a, b)) - 1,
         "that is the smaller of the two ranks, and the nearest has rank 1, not 0"),
        (lambda S, a, b: min(with_itself(S, a, b), with_itself(S, b, a)),
         "that is the smaller of the two ranks, and 1 too many"),
        (rank, "yours looks at a's neighbours only; b's count too"),
        (with_itself, "yours looks at a's neighbours only, and has 1 too many"),
        (lambda S, a, b: rank(S, a, b) - 1, "yours looks at a's neighbours only, and the nearest has rank 1, not 0"),
        (lambda S, a, b: rank(S, b, a), "yours looks at b's neighbours only; a's count too"),
        (lambda S, a, b: sum(ranks(S, a, b)), "the two ranks are not added: the larger one counts"),
        (lambda S, a, b: np.mean(ranks(S, a, b)), "the two ranks are not averaged: the larger one counts"),
        (lambda S, a, b: np.prod(ranks(S, a, b)), "the two ranks are not multiplied: the larger one counts"),
        (lambda S, a, b: np.ptp(ranks(S, a, b)), "that is how far the two ranks are apart: the larger one counts"),
        (lambda S, a, b: len(S) - min(ranks(S, a, b)),
         "yours counts from the farthest: a rank counts those that are *nearer*, with a larger S"),
        (lambda S, a, b: len(S) - max(ranks(S, a, b)),
         "yours counts from the farthest, and takes the smaller: count those that are *nearer*, with a larger S"),
        (lambda S, a, b: len(S) - min(ranks(S, a, b)) - 1,
         "yours counts those that are farther: a rank counts those that are *nearer*, with a larger S"),
        (lambda S, a, b: max(listed(S, a, b), listed(S, b, a)),
         lambda S, a, b: max(listed(S, a, b), listed(S, b, a)) + 1,
         "argsort says who stands at each place; asked is the place at which b stands"),
        (ranks, "those are both ranks; R is the larger of them, one number"),
        (lambda S, a, b: max(ranks(S, a, b)) / len(S),
         "R is a rank, a whole number; yours is divided by the number of rows"),
        (lambda S, a, b: 1, "yours is 1, or yes, whatever is asked; R is the larger rank itself"),
        (lambda S, a, b: (S > S[a, b]).sum(), lambda S, a, b: (S > S[a, b]).sum() + 1,
         "yours counts over all pairs; a rank counts in one row, a's or b's"),
        (lambda S, a, b: max(np.argsort(S[a])[b], np.argsort(S[b])[a]),
         "argsort says who stands at each place, from the farthest on; asked is the place at which b stands"),
        (lambda S, a, b: S[a, b], "that is the similarity; its rank among a's and among b's was asked for"),
        (lambda S, a, b: others(S, a)[0], "that is who is nearest to a; asked is at which place b stands"),
        (lambda S, a, b: max(with_itself(S, a, b), rank(S, b, a)),
         "in a's list a itself is counted, in b's list b is not: leave both out"),
        (lambda S, a, b: max(rank(S, a, b), with_itself(S, b, a)),
         "in b's list b itself is counted, in a's list a is not: leave both out"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@cache
def _cosines(n: int) -> np.ndarray:
    """The cosines of n rows in general position: no two are alike."""
    rows = np.random.default_rng(n).standard_normal((n, 3)) + 0.5
    rows /= norm(rows, axis=1, keepdims=True)
    return np.asarray(rows @ rows.T)


def rank(S: Any, a: int, b: int) -> int:
    """The place at which b stands among a's neighbours."""
    return int(1 + sum(S[a, c] > S[a, b] for c in range(len(S)) if c not in (a, b)))


def ranks(S: Any, a: int, b: int) -> tuple[int, int]:
    """The rank of b among a's neighbours, and of a among b's."""
    return rank(S, a, b), rank(S, b, a)


@check("06.8")
def check_best_share(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share whose mixture has the largest AUC, where each other rule has another one in some case."""

    def mixed(plain: Any, learned: Any, share: float) -> Any:
        return share * plain + (1 - share) * learned

    def by(worth: Callable[[Any, Any], float], mix: Callable[..., Any] = mixed) -> Callable[..., Any]:
        def chosen(plain: Any, learned: Any, labels: Any, shares: Any) -> Any:
            return max(shares, key=lambda share: worth(labels, mix(plain, learned, share)))

        return chosen

    def right(plain: Any, learned: Any, labels: Any, shares: Any) -> Any:
        return by(_auc)(plain, learned, labels, shares)

    def values(plain: Any, learned: Any, labels: Any, shares: Any) -> list[float]:
        return [_auc(labels, mixed(plain, learned, share)) for share in shares]

    accuracy = "that is the best accuracy; AUC needs no threshold, and looks at the order of all pairs"
    no_rest = "the mixture's other part is (1 - share) times the learned score"
    mistakes = (
        (by(_auc, lambda p, q, s: mixed(q, p, s)), "the share is of TF-IDF; in yours it goes to the learned score"),
        (by(lambda y, s: abs(_auc(y, s) - 0.5)),
         "that AUC is the farthest from 0.5, on either side; below 0.5 the order is the wrong way round"),
        (by(lambda y, s: -_auc(y, s)), "that share has the smallest AUC of all"),
        (lambda *case: max(values(*case)), "that is the best AUC; asked is the share that has it"),
        (lambda *case: int(np.argmax(values(*case))), "that is its place in the list; asked is the share itself"),
        (values, "those are the AUCs of all shares; asked is the one share that has the largest"),
        (by(lambda y, s: np.mean((s > 0.5) == y)), by(lambda y, s: np.mean((s > 0) == y)),
         by(lambda y, s: np.mean((s > np.median(s)) == y)), by(_best_accuracy),
         by(lambda y, s: np.mean((s > s.mean()) == y)), accuracy),
        (by(lambda y, s: _f1(y, s > 0.5)), "that is the best F1 at 0.5; AUC needs no threshold"),
        (by(lambda y, s: np.corrcoef(y, s)[0, 1]),
         "that is the best correlation; AUC looks at the order of the scores alone, not at their size"),
        (by(lambda y, s: s[y == 1].mean() - s[y == 0].mean()),
         "that is the largest distance of the two means; AUC looks at the order of the scores alone"),
        (by(_average_precision),
         "that is the best average precision, where the head of the list counts most; AUC counts all pairs alike"),
        (by(lambda y, s: -np.mean((s - y) ** 2)), "that is the smallest squared error; AUC was asked for"),
        (by(_auc, lambda p, q, s: s * p + q), no_rest),
        (by(_auc, lambda p, q, s: p + s * q), "the share is of TF-IDF, and the rest of FILM"),
        (by(_auc, lambda p, q, s: s * rankdata(p) + (1 - s) * rankdata(q)),
         "yours mixes ranks; asked is a mixture of the scores as they are"),
        (lambda *case: (right(*case), max(values(*case))), "those are the share and its AUC; asked is the share alone"),
        (by(lambda y, s: np.mean(s[y == 1] > 0.5)),
         "that looks at the pairs that are the same alone; AUC compares them with the others"),
        (by(lambda y, s: s.mean()), "that is the largest mean score; the labels are not looked at"),
        (lambda p, q, y, shares: _auc(y, p) / (_auc(y, p) + _auc(y, q)),
         "that weighs the two AUCs; asked is the share whose mixture has the best one"),
        (lambda *case: case[-1][0], "that is the first share, whatever the scores: keep the one with the best AUC"),
        (lambda *case: case[-1][-1], "that is the last share, whatever the scores: keep the one with the best AUC"),
        (lambda *case: max(case[-1]), "that is the largest share, whatever the scores: keep the one with the best AUC"),
        (lambda *case: min(case[-1]),
         "that is the smallest share, whatever the scores: keep the one with the best AUC"),
        (lambda *case: sorted(case[-1])[len(case[-1]) // 2],
         "that is the share in the middle, whatever the scores: keep the one with the best AUC"),
        (lambda p, q, y, shares: (max if _auc(y, p) > _auc(y, q) else min)(shares),
         "yours takes the better one of the two scores alone; a mixture may be better than both"),
    )  # fmt: skip
    return find_mistake(answer, right, _pairs_scored(), mistakes)


def _auc(labels: Any, scores: Any) -> float:
    """The chance that one that is the same has the larger score."""
    same = labels == 1
    above = rankdata(scores)[same].sum() - same.sum() * (same.sum() + 1) / 2
    return float(above / (same.sum() * (~same).sum()))


def _best_accuracy(labels: Any, scores: Any) -> float:
    return float(max(np.mean((scores >= level) == labels) for level in scores))


def _average_precision(labels: Any, scores: Any) -> float:
    hits = labels[np.argsort(-scores, kind="stable")]
    return float(((hits.cumsum() / np.arange(1, len(hits) + 1)) * hits).sum() / hits.sum())


def _f1(labels: Any, said: Any) -> float:
    return float(2 * (said & (labels == 1)).sum() / (said.sum() + labels.sum()))


@cache
def _pairs_scored() -> tuple[tuple[Any, ...], ...]:
    """Two scores of different strength and scale, each seeing what the other does not; some far out, which the order of
    the scores does not care for. The shares are not the notebook's, nor in order, and 1 and 0 are among them."""
    cases = []
    settings = (  # how much the labels move each of the scores, how wide the second one is, and how many pairs
        ((0.5, 1.0), 0.6, 460),
        ((1.0, 0.5), 1.5, 510),
        ((0.9, 0.8), 3.0, 480),
        ((0.4, 0.7), 1.0, 440),
        ((0.8, 0.9), 0.3, 450),
        ((-1.3, 0.4), 1.0, 420),  # TF-IDF does harm here
        ((-0.6, -0.9), 1.0, 430),  # and here both do
    )
    for seed, (strength, width, count) in enumerate(settings):
        draw = np.random.default_rng(seed)
        labels = (draw.random(count) < 0.35).astype(int)
        plain, learned = (each * labels + draw.standard_t(2, count) for each in strength)
        shares = draw.permutation([0, 1, *draw.choice(np.arange(5 + seed, 95, 5) / 100, 8, replace=False)])
        cases.append((plain, width * learned, labels, [float(share) for share in shares]))
    return tuple(cases)
