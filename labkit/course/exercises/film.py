"""Notebook 06: triplets, the Stiefel manifold and FILM's words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from labkit.arrays import unit
from labkit.course.exercise import Unnamed, check, find_mistake, known_mistake, number
from labkit.film.stiefel import bb_length, cayley_direct, random_point, stationarity


@check("06.1")
def check_anchor_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 5: Σ_i max(0, Σ_t (sim_ik + m - sim_ij) / (|T_i| + 1))."""
    cases: list[tuple[Any, ...]] = []
    for n, d, count, m in ((9, 3, 24, 0.4), (6, 5, 11, 1.3), (12, 2, 30, 0.15)):
        i = random.integers(0, n - 2, count)  # the last two are no anchors
        others = (i + random.integers(1, n, (2, count))) % n
        cases.append((random.normal(size=(n, d)), np.stack([i, *others], 1), m))

    def gaps(Y: Any, triplets: Any) -> Any:
        i, j, k = triplets.T
        return (Y[i] * Y[k]).sum(1) - (Y[i] * Y[j]).sum(1)

    def by(how: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
        """Something made of an adder over the anchors, their numbers of triplets and each triplet's gap and margin."""

        def loss(Y: Any, triplets: Any, m: float) -> Any:
            def added(values: Any) -> Any:
                return np.bincount(triplets[:, 0], values, len(Y))

            return how(added, np.bincount(triplets[:, 0], minlength=len(Y)), gaps(Y, triplets) + m)

        return loss

    def right(Y: Any, triplets: Any, m: float) -> Any:
        return by(lambda added, size, z: np.maximum(0, added(z) / (size + 1)).sum())(Y, triplets, m)

    mistakes = (
        (by(lambda added, size, z: np.maximum(0, z).mean()),
         "that is eq. 3, the mean over triplets; eq. 5 has a hinge an anchor"),
        (by(lambda added, size, z: (added(np.maximum(0, z)) / (size + 1)).sum()),
         "yours takes the hinge of each triplet; eq. 5 adds an anchor's triplets first, then takes the hinge"),
        (by(lambda added, size, z: np.maximum(0, added(z) / np.maximum(size, 1)).sum()),
         "yours divides by |T_i|; eq. 5 has |T_i| + 1 there"),
        (by(lambda added, size, z: np.maximum(0, added(z) / (size + 1)).mean()),
         "that is the mean over the anchors; eq. 5 has their sum"),
        (by(lambda added, size, z: (added(z) / (size + 1)).sum()), "the hinge is missing: an anchor costs 0 or more"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("06.2")
def check_margin(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """m |T_i| / (|T_i| + 1)."""
    cases = [(m, np.array([0, 1, *random.integers(1, 9, n), 10 * n])) for m, n in ((0.4, 3), (1.7, 6), (0.25, 4))]
    mistakes = (
        (lambda m, n: m + 0 * n, lambda m, n: m, "that is eq. 10 as it is printed: m, whatever the number of triplets"),
        (lambda m, n: m / (n + 1), "in eq. 5 m is added once for each triplet, |T_i| times in all"),
        (lambda m, n: m * n, "the sum is divided by |T_i| + 1, and the margins in it are divided too"),
        (lambda m, n: m * (n + 1) / n, "the fraction is upside down"),
        (lambda m, n: n / (n + 1), "the share is right; what is it a share of? m is missing"),
    )
    with np.errstate(all="ignore"):
        return find_mistake(answer, lambda m, size: m * size / (size + 1), cases, mistakes)


@check("06.3")
def check_smoothing(answer: Any, random: np.random.Generator) -> str | None:
    """log(1 + e^0.01) / 0.01, to two digits: 69 (cut off), 69.8 and 70 are all read off well."""
    given, value = number(answer), math.log1p(math.exp(0.01))
    if 68.95 <= given < 70.55:
        return None
    mistakes = (
        (value, "that is about μ(0.01) itself; divide it by max(0, 0.01)"),
        (100 * value - 1, "that is 1 too small: by how much μ(x) is larger, in units of x, or σ(x) instead of σ(-x)"),
        (1.0, "a factor of 1 is what smoothing should give, and does far from 0"),
        (0.01 / value, "upside down: μ(0.01) is the larger one"),
        (1e4 * value, "that is in percent; which factor is it?"),
    )
    if named := known_mistake(given, mistakes, 3e-3):
        return named
    if given < 1:
        return "μ(0.01) is the larger of the two, and both are above 0, so the factor is above 1"
    return Unnamed("compute log(1 + e^0.01), and divide by 0.01")


@check("06.4")
def check_cayley_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 24, with the gradient in A."""
    cases = [
        (random_point(r, d, int(random.integers(1000))), random.normal(size=(r, d)), length)
        for r, d, length in ((7, 3, 0.6), (5, 4, 1.7), (9, 2, 0.25), (4, 1, 3.0))
    ]

    def right(P: Any, gradient: Any, length: float) -> Any:
        return cayley_direct(P, gradient, length)

    def turned(P: Any, G: Any, below: float, above: float) -> Any:
        A, one = G @ P.T - P @ G.T, np.eye(len(P))
        return np.linalg.solve(one + below * A, (one - above * A) @ P)

    mistakes = (
        (lambda P, G, t: P - t * stationarity(P, G), "that is eq. 22, a straight step: it leaves the manifold"),
        (lambda P, G, t: P - t * G, "that is the gradient step of school: nothing keeps the columns orthonormal"),
        (lambda P, G, t: right(P, G, -t), "yours goes uphill: the sign of A, or the two factors, are exchanged"),
        (lambda P, G, t: right(P, G, 2 * t), "eq. 24 has τ/2 in both factors, yours τ"),
        (lambda P, G, t: turned(P, G, t / 2, t), lambda P, G, t: turned(P, G, t, t / 2),
         "eq. 24 has τ/2 in both factors; yours has τ in one of them"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("06.5")
def check_long_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """⟨dP, dP⟩ / |⟨dP, dF⟩|, where ⟨dP, dF⟩ may have either sign."""
    cases = []
    for r, d, slope, size in ((6, 2, -0.5, 1), (4, 4, 0.5, 1), (5, 3, -1.4, 1), (3, 2, 0.6, 1e-4)):
        dP = random.normal(size=(r, d))
        cases.append(
            (size * dP, size * (slope * dP + 0.2 * random.normal(size=(r, d))))
        )  # near the end steps are small
    mistakes = (
        (lambda dP, dF: (dP * dP).sum() / (dP * dF).sum(),
         "the size bars are missing: a step length below 0 goes uphill"),
        (lambda dP, dF: bb_length(dP, dF, long=False),
         "that is the short length, eq. 27; eq. 26 is the long one with ⟨ΔP, ΔP⟩ above the line"),
        (lambda dP, dF: abs((dP * dF).sum()) / (dP * dP).sum(), "upside down"),
        (lambda dP, dF: np.linalg.norm(dP) / abs((dP * dF).sum()), "eq. 26 has the square of ‖ΔP‖ above the line"),
        (lambda dP, dF: (dP * dP).sum() / abs(dP * dF).sum(),
         "tr adds up all products first, with their signs; the size bars stand round the sum"),
    )  # fmt: skip
    return find_mistake(answer, lambda dP, dF: bb_length(dP, dF, long=True), cases, mistakes)


@check("06.6")
def check_word_parts(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """x_u (LᵀL)_uv x'_v."""
    cases = [
        tuple(random.normal(size=shape) for shape in (words, words, (d, words)))
        for d, words in ((2, 5), (4, 3), (3, 7), (14, 4))
    ]

    def right(x_a: Any, x_b: Any, L: Any) -> Any:
        return x_a[:, None] * (L.T @ L) * x_b

    mistakes = (
        (lambda a, b, L: right(b, a, L), "the sides are exchanged: rows are the words of a, columns those of b"),
        (
            lambda a, b, L: a @ L.T @ L @ b,
            "that is the similarity itself; wanted is what each pair of words adds to it",
        ),
        (lambda a, b, L: np.outer(a, b), "L is missing: that is TF-IDF with every word near every other"),
        (lambda a, b, L: np.outer(L @ a, L @ b), "that is for each pair of rows of L; wanted is each pair of words"),
        (lambda a, b, L: a * b, lambda a, b, L: np.diag(a * b), "that is plain TF-IDF; L ties different words"),
    )
    return find_mistake(answer, right, cases, mistakes)


@check("06.7")
def check_mutual_rank(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """max(rank of b among a's neighbours, rank of a among b's), a sentence not being its own neighbour."""
    cases = []
    for n in (8, 5, 70, 6):
        rows = unit(random.normal(size=(n, 3)) + 0.5)
        if n == 6:
            rows[5] = rows[0]  # twins
        S = (rows @ rows.T).round(9)
        pairs = [random.choice(n, 2, replace=False) for _ in range(9)] if n != 6 else [(0, 5)]
        cases += [(S, int(a), int(b)) for a, b in (*pairs, (0, S[0].argmin()))]

    def rank(S: Any, a: int, b: int, itself: bool = False) -> int:
        return int(1 + sum(S[a, c] > S[a, b] for c in range(len(S)) if itself or c != a))

    def by(how: Callable[[int, int], Any], itself: bool = False) -> Callable[..., Any]:
        return lambda S, a, b: how(rank(S, a, b, itself), rank(S, b, a, itself))

    def right(S: Any, a: int, b: int) -> int:
        return int(by(max)(S, a, b))

    mistakes = (
        (by(lambda *both: max(both) - 1), "the nearest has rank 1, not 0"),
        (
            by(max, itself=True),
            by(lambda *both: max(both) + 1),
            "1 too many: is a sentence in its own list, or is the nearest at 2?",
        ),
        (by(min), "that is the smaller of both ranks: both must be near"),
        (rank, "yours looks at a's neighbours only; b's count too"),
        (by(lambda one, other: (one + other) / 2), "the two ranks are not averaged: the larger one counts"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("06.8")
def check_best_share(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share whose mixture has the largest AUC; some scores lie far out, which their order does not care for."""

    def auc(labels: Any, scores: Any) -> float:
        same = labels == 1
        above = rankdata(scores)[same].sum() - same.sum() * (same.sum() + 1) / 2
        return float(above / (same.sum() * (~same).sum()))

    def drawn(strength: tuple[float, float], width: float) -> tuple[Any, ...]:
        """Scores, labels and shares for which one of the two scores is best, beyond rounding."""
        while True:
            labels = (random.random(450) < 0.35).astype(int)
            plain, learned = (each * labels + random.standard_t(2, 450) for each in strength)
            shares = [0.0, 1.0, *random.choice(np.arange(5, 95, 5) / 100, 8, replace=False).tolist()]
            values = sorted(auc(labels, share * plain + (1 - share) * width * learned) for share in shares)
            if values[-1] > values[-2] + 1e-4:
                return plain, width * learned, labels, [shares[at] for at in random.permutation(10)]

    cases = [drawn((0.5, 1.0), 0.6), drawn((1.0, 0.5), 1.5), drawn((0.9, 0.8), 3.0), drawn((-1.3, 0.4), 1.0)]

    def by(
        worth: Callable[[Any, Any], float], rest: Callable[[float], float] = lambda share: 1 - share
    ) -> Callable[..., Any]:
        """The share of largest worth, where the learned score has the rest."""
        return lambda plain, learned, labels, shares: max(
            shares, key=lambda share: worth(labels, share * plain + rest(share) * learned)
        )

    def right(plain: Any, learned: Any, labels: Any, shares: Any) -> Any:
        return by(auc)(plain, learned, labels, shares)

    mistakes = (
        (lambda plain, learned, *rest: right(learned, plain, *rest),
         "the share is of TF-IDF; in yours it goes to the learned score"),
        (by(lambda labels, scores: -auc(labels, scores)), "that share has the smallest AUC of all"),
        (lambda plain, learned, labels, shares: max(auc(labels, s * plain + (1 - s) * learned) for s in shares),
         "that is the best AUC; asked is the share that has it"),
        (by(auc, lambda share: 1.0), lambda plain, learned, labels, shares: max(
            shares, key=lambda share: auc(labels, plain + share * learned)),
         "the mixture's other part is (1 - share) times the learned score"),
        (by(lambda labels, scores: np.mean((scores > 0.5) == labels)),
         "that is the best accuracy; AUC needs no threshold, and looks at the order of all pairs"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)
