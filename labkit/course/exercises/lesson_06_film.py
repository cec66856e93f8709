"""Notebook 06: a similarity read word by word, and a metric learned in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from labkit.course.exercise import Unfit, array, check, find_mistake, number

Learner = Callable[..., np.ndarray]


@check("06.1")
def check_contributions(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """x_u (L_u · L_v) x'_v / (‖y‖ ‖y'‖), the largest first."""
    cases = []
    for d, words, empty in ((2, 5, 2), (4, 3, 0), (3, 7, 3)):
        x_a, x_b = random.uniform(0.2, 1, size=(2, words))
        x_a[random.permutation(words)[:empty]] = x_b[random.permutation(words)[:empty]] = 0
        cases.append((x_a, x_b, random.normal(size=(d, words))))

    def parts(x_a: Any, x_b: Any, G: Any, lengths: Any = 1.0, all_words: bool = False) -> list[Any]:
        of_a, of_b = (np.arange(len(x)) if all_words else np.flatnonzero(x) for x in (x_a, x_b))
        return [(u, v, x_a[u] * x_b[v] * G[u, v] / lengths) for u in of_a for v in of_b]

    def by(
        order: Callable[[float], float] = lambda part: -abs(part),
        cosine: bool = True,
        every: bool = False,
        of_x: bool = False,
    ) -> Any:
        def rows(x_a: Any, x_b: Any, L: Any) -> Any:
            of_a, of_b = (np.linalg.norm(x if of_x else L @ x) for x in (x_a, x_b))
            lengths = of_a * of_b if cosine else 1.0
            return sorted(parts(x_a, x_b, L.T @ L, lengths, every), key=lambda row: order(row[2]))

        return rows

    def without_L(x_a: Any, x_b: Any, L: Any) -> Any:
        return sorted(parts(x_a, x_b, np.ones((len(x_a), len(x_a)))), key=lambda row: -abs(row[2]))

    mistakes = (
        (by(cosine=False), by(of_x=True),
         "yours do not add up to the cosine: divide by the lengths of both y, which are L @ x_a and L @ x_b"),
        (by(lambda part: -part), "a large part below 0 is large, too: sort by the size, `abs(part)`"),
        (by(abs), "turned round: the largest comes first"),
        (by(every=True), "words that a sentence does not have are in yours: their x is 0"),
        (without_L, "L is missing: that is TF-IDF with every word near every other"),
    )  # fmt: skip
    return find_mistake(answer, by(), cases, mistakes)


@check("06.2")
def check_attraction(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The symmetric part of Σ x_i (x_j - x_k)ᵀ / (|T_i| + 1)."""
    cases = []
    for n, words, count in ((7, 4, 20), (5, 6, 9), (9, 3, 30)):
        i = random.integers(0, n - 2, count)  # the last two are not anchors
        others = (i + random.integers(1, n, (2, count))) % n
        cases.append((random.uniform(size=(n, words)), np.stack([i, *others], axis=1)))

    def by(
        share: Callable[[Any], Any] = lambda size: 1 / (size + 1),
        far: float = 1.0,
        both: bool = True,
        sign: float = 1.0,
    ) -> Learner:
        def A(X: Any, triplets: Any) -> np.ndarray:
            i, j, k = triplets.T
            size = np.bincount(i, minlength=len(X))[i]
            found = sign * (X[i] * share(size)[:, None]).T @ (X[j] - far * X[k])
            return (found + found.T) / 2 if both else found

        return A

    def last_triplets(X: Any, triplets: Any) -> np.ndarray:
        """The result of `D[i] += ...` with an array i: of equal rows only the last counts."""
        last = np.array(list({i: row for row, i in enumerate(triplets[:, 0].tolist())}.values()))
        i, j, k = triplets[last].T
        share = 1 / (np.bincount(triplets[:, 0], minlength=len(X))[i] + 1)
        found = (X[i] * share[:, None]).T @ (X[j] - X[k])
        return np.asarray((found + found.T) / 2)

    mistakes = (
        (by(both=False), "that is A itself; its symmetric part (A + Aᵀ) / 2 is asked for"),
        (by(lambda size: 1 / size), by(lambda size: 1.0 + 0 * size),
         "divide each triplet by |T_i| + 1: the number of triplets of its anchor, and 1"),
        (last_triplets,
         "`D[i] += …` with an array i adds once where a row repeats: loop over the triplets, or use `np.add.at`"),
        (by(sign=-1), "j and k are swapped: x_j - x_k, because j should be nearer"),
        (by(far=0), "x_k is missing: a triplet also wants the anchor to be far from k"),
    )  # fmt: skip
    return find_mistake(answer, by(), cases, mistakes)


def gram(answer: Any) -> np.ndarray:
    """LᵀL, which determines all similarities: rows may be rotated and have any sign."""
    L = array(answer)
    if L.ndim != 2:
        raise Unfit(f"L with rows and columns was expected, and something of shape {L.shape} came")
    return np.asarray(L.T @ L)


def eigenrows(A: np.ndarray, d: int, power: float = 0.5, largest: bool = True, below_0: bool = False) -> np.ndarray:
    """Eigenvectors of the d largest eigenvalues, as rows, times a power of the positive ones."""
    values, vectors = np.linalg.eigh(A)
    order = np.argsort(-values if largest else values)[:d]
    if largest and not below_0:
        order = order[values[order] > 0]
    return np.asarray(np.abs(values[order])[:, None] ** power * vectors[:, order].T)


@check("06.3")
def check_closed_form(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """√s Pᵀ of the d largest positive eigenvalues."""
    cases = []
    for size, d, positive in ((5, 2, 3), (6, 4, 2), (4, 1, 4)):
        vectors = np.linalg.qr(random.normal(size=(size, size)))[0]
        values = random.uniform(0.5, 3, size) * np.where(np.arange(size) < positive, 1, -1)
        cases.append((vectors * values @ vectors.T, d))

    def kept(A: np.ndarray, order: np.ndarray) -> np.ndarray:
        """The rows of these eigenvalues, without those below 0."""
        values, vectors = np.linalg.eigh(A)
        order = order[values[order] > 0]
        return np.asarray((vectors[:, order] * np.sqrt(values[order])).T)

    mistakes = (
        (lambda A, d: eigenrows(A, d, 1.0), lambda A, d: eigenrows(A, d, 0.0),
         "G holds s, so L holds its root: multiply each eigenvector by √s"),
        (lambda A, d: eigenrows(A, d, largest=False), lambda A, d: kept(A, np.arange(d)),
         "those are the smallest eigenvalues: `eigh` sorts upwards"),
        (lambda A, d: kept(A, np.argsort(-abs(np.linalg.eigvalsh(A)))[:d]),
         "yours are the largest by absolute value: sort the eigenvalues themselves, then take the d largest"),
        (lambda A, d: eigenrows(A, d, below_0=True),
         "an eigenvalue below 0 is among yours: s must not be negative, so leave that direction out"),
        (lambda A, d: eigenrows(A, len(A)), "yours has more than d rows"),
    )  # fmt: skip
    return find_mistake(answer, lambda A, d: eigenrows(A, d), cases, mistakes, read=gram)


@check("06.4")
def check_scaled_closed_form(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """L̃ R⁻¹, with R Rᵀ = XᵀX + ε I and L̃ the closed form of R⁻¹ A R⁻ᵀ."""
    cases = []
    for n, words, d, ridge in ((9, 4, 2, 1.0), (7, 5, 3, 0.4), (8, 3, 1, 2.5)):
        A = random.normal(size=(words, words))
        cases.append((random.normal(size=(n, words)), A + A.T, d, ridge))

    def by(back: Callable[[Any], Any] = lambda inverse: inverse, ridge_of: Callable[[float], float] = float) -> Learner:
        def L(X: Any, A: Any, d: int, ridge: float) -> np.ndarray:
            inverse = np.linalg.inv(np.linalg.cholesky(X.T @ X + ridge_of(ridge) * np.eye(len(A))))
            return np.asarray(eigenrows(inverse @ A @ inverse.T, d) @ back(inverse))

        return L

    def whole_inverse(X: Any, A: Any, d: int, ridge: float) -> np.ndarray:
        inverse = np.linalg.inv(X.T @ X + ridge * np.eye(len(A)))
        return np.asarray(eigenrows(inverse @ A @ inverse.T, d) @ inverse)

    mistakes = (
        (by(lambda inverse: np.eye(len(inverse))), "step 3 is missing: L has to act on x, so go back with @ inverse"),
        (by(np.transpose), by(np.linalg.inv), "the way back is L̃ R⁻¹, not L̃ R⁻ᵀ or L̃ R"),
        (by(ridge_of=lambda ridge: 0.0), "the ridge is missing: C + ε I"),
        (whole_inverse, "yours scales by C + ε I itself; its Cholesky factor R is half of it"),
        (lambda X, A, d, ridge: eigenrows(A, d), "that is the closed form without a change of scale"),
    )
    return find_mistake(answer, by(), cases, mistakes, read=gram)


@check("06.5")
def check_mixed(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share whose mixture has the largest AUC on dev, and the test scores mixed by it."""

    def auc(labels: Any, scores: Any) -> float:
        same = labels == 1
        above = rankdata(scores)[same].sum() - same.sum() * (same.sum() + 1) / 2
        return float(above / (same.sum() * (~same).sum()))

    def drawn(strength: tuple[float, float], width: float) -> tuple[Any, ...]:
        """Draw scores, labels and shares with one clear best share, so that rounding cannot change the answer."""
        while True:
            labels = (random.random(450) < 0.35).astype(int)
            plain, learned = (each * labels + random.standard_t(2, 450) for each in strength)
            shares = [0.0, 1.0, *random.choice(np.arange(5, 95, 5) / 100, 8, replace=False).tolist()]
            values = sorted(auc(labels, share * plain + (1 - share) * width * learned) for share in shares)
            if values[-1] > values[-2] + 1e-4:
                shares = [shares[at] for at in random.permutation(10)]
                return plain, width * learned, labels, shares, *random.normal(size=(2, 6))

    cases = [drawn((0.5, 1.0), 0.6), drawn((1.0, 0.5), 1.5), drawn((0.9, 0.8), 3.0)]

    def by(
        worth: Callable[[Any, Any], float] = auc,
        swapped: bool = False,
        rest: Callable[[float], float] = lambda s: 1 - s,
    ) -> Callable[..., Any]:
        def mixture(plain: Any, learned: Any, labels: Any, shares: Any, plain_test: Any, learned_test: Any) -> Any:
            def mix(share: float, one: Any, other: Any) -> Any:
                return rest(share) * one + share * other if swapped else share * one + rest(share) * other

            best = max(shares, key=lambda share: worth(labels, mix(share, plain, learned)))
            return best, mix(best, plain_test, learned_test)

        return mixture

    def dev_scores(plain: Any, learned: Any, labels: Any, shares: Any, *test: Any) -> Any:
        return by()(plain, learned, labels, shares, plain, learned)

    def best_auc(plain: Any, learned: Any, labels: Any, shares: Any, *test: Any) -> Any:
        best, scores = by()(plain, learned, labels, shares, *test)
        return auc(labels, best * plain + (1 - best) * learned), scores

    def read(given: Any) -> tuple[np.ndarray, ...]:
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise Unfit("two things were expected, as in `return best, scores`")
        return np.asarray(number(given[0])), array(given[1])

    mistakes = (
        (by(swapped=True), "the share is TF-IDF's; in yours it goes to the learned score"),
        (best_auc, "the first thing you return is the best AUC; return the share that has it"),
        (dev_scores, "those are the dev scores; mix the test scores with the share that dev chose"),
        (by(rest=lambda share: 1.0), "the learned score's part is (1 - share)"),
        (by(lambda labels, scores: float(np.mean((scores > 0.5) == labels))),
         "that share has the best accuracy; AUC needs no threshold and looks at the order of all pairs"),
    )  # fmt: skip
    return find_mistake(answer, by(), cases, mistakes, read=read)
