"""Notebook 09: how a training breaks, and how it is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.evaluation import geometry
from labkit.lab.course.exercise import Unfit, Unnamed, array, check, close, find_mistake, known_mistake, number


def leaning_rows(seed: int) -> list[np.ndarray]:
    """Rows of different lengths that point more one way than others, more of them than columns."""
    draw = np.random.default_rng(seed)
    return [
        draw.normal(size=(n, d)) * draw.uniform(0.5, 2.0, size=(n, 1)) + draw.normal(size=d)
        for n, d in ((5, 3), (7, 4), (9, 2))
    ]


def off_diagonal(S: np.ndarray) -> np.ndarray:
    """The entries of two different rows."""
    entries: np.ndarray = S[~np.eye(len(S), dtype=bool)]
    return entries


@check("09.1")
def check_mean_cosine(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(|Σ x|² - n) / (n (n - 1)) of rows of length 1."""

    def right(V: np.ndarray) -> Any:
        return geometry.mean_cosine(V)

    def of(how: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
        """A mistake with the square of cosines."""
        return lambda V: how(unit(V) @ unit(V).T)

    mistakes = (
        (of(np.mean), "the diagonal is in your mean: each row has the cosine 1 with itself"),
        (lambda V: off_diagonal(V @ V.T).mean(), "those are dot products: divide each row by its length first"),
        (lambda V: (V @ V.T).mean(),
         "those are dot products, and the diagonal is in: divide each row by its length, and leave it out"),
        (of(lambda S: off_diagonal(S).sum()), "that is the sum over all pairs, not their mean"),
        (of(lambda S: np.triu(S, 1).sum()), "that is the sum over all pairs, each once, not their mean"),
        (of(lambda S: (S.sum() - len(S)) / S.size), "the diagonal is out of your sum, but not out of the count"),
        (of(lambda S: np.triu(S, 1).sum() / (len(S) * (len(S) - 1))),
         lambda V: right(V) / 2, "half: your sum has each pair once, and your count has it twice"),
        (of(lambda S: np.triu(S, 1).mean()), of(lambda S: np.tril(S, -1).mean()),
         "the zeros of the other triangle are in your mean"),
        (of(lambda S: S[np.triu_indices(len(S))].mean()), "the diagonal is in your triangle: begin one above it"),
        (of(lambda S: np.diag(S, 1).mean()), "only each row with the next: all pairs are asked for"),
        (of(lambda S: S[0, 1:].mean()), of(lambda S: S[0].mean()),
         "only the first row with the others: take all pairs"),
        (lambda V: (unit(V) @ unit(V.mean(0, keepdims=True))[0]).mean(),
         "that is the cosine with the mean vector, not of two rows"),
        (of(lambda S: abs(off_diagonal(S)).mean()), "a negative cosine counts as it is: leave its sign"),
        (of(lambda S: 1 - off_diagonal(S).mean()), "that is a distance, 1 - cos: the mean cosine itself is asked for"),
        (of(lambda S: np.median(off_diagonal(S))), "that is the median of the cosines"),
        (of(lambda S: off_diagonal(S).max()), "that is the largest cosine"),
        (lambda V: right(V.T), "a row is a vector here; yours compares columns"),
        (lambda V: right(V - V.mean(0)), "you take the mean off first: what all rows share is just what is looked for"),
        (lambda V: off_diagonal(np.corrcoef(V)).mean(), "those are correlations: no mean is taken off a row"),
    )  # fmt: skip
    return find_mistake(answer, right, [(V,) for V in leaning_rows(11)], mistakes)


@check("09.2")
def check_effective_rank(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """exp(-Σ p log p) with p = σ / Σ σ."""
    cases = [(np.array(each),) for each in ([4.0, 2.0, 1.0, 1.0], [5.0, 3.0, 0.5, 0.0], [1.5, 0.9, 0.8, 0.3, 0.1, 0.0])]

    def entropy(p: np.ndarray) -> Any:
        held = p[p > 0]
        return -(held * np.log(held)).sum()

    def right(sigma: np.ndarray) -> Any:
        return np.exp(entropy(sigma / sigma.sum()))

    def of(how: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
        """A mistake with the shares."""
        return lambda sigma: how(sigma / sigma.sum())

    mistakes = (
        (of(entropy), "that is the entropy; its exponential says it as a number of directions"),
        (of(lambda p: entropy(p) / np.log(2)),
         "that is the entropy in bits; take exp of the one with natural logarithms"),
        (of(lambda p: np.exp(entropy(p) / np.log(2))), of(lambda p: 2 ** entropy(p)),
         "exp and log do not belong together: exp with the natural logarithm, or 2 ** with log2"),
        (of(lambda p: np.exp(-entropy(p))), "the sign: the entropy is -Σ p log p, above 0"),
        (of(lambda p: -entropy(p)), "that is Σ p log p: the sign and exp are missing"),
        (lambda sigma: right(sigma**2), "those are shares of the squares, the variance; here σ itself is shared out"),
        (lambda sigma: right(sigma**0.5), "those are shares of the roots; here σ itself is shared out"),
        (lambda sigma: np.exp(entropy(sigma)), "make them shares first: they must add up to 1"),
        (lambda sigma: np.exp(entropy(sigma / sigma.max())),
         "divide by their sum, not by the largest: shares add up to 1"),
        (lambda sigma: np.exp(entropy(unit(sigma[None])[0])), "divide by their sum, not by their length"),
        (lambda sigma: (sigma > 0).sum(), "that is the plain rank: however small a direction is, it counts whole"),
        (lambda sigma: len(sigma), "that is how many values there are: how unequal they are must count"),
        (of(lambda p: 1 / (p**2).sum()),
         "that is the participation ratio, 1/Σp²; a cousin, but here the entropy counts"),
        (lambda sigma: sigma.sum() / sigma.max(), "the sum over the largest: a cousin, but here the entropy counts"),
        (of(lambda p: entropy(p) / np.log(len(p))), "that is the entropy as a share of the most there can be"),
        (of(lambda p: np.exp(entropy(p) / len(p))), of(lambda p: np.exp(entropy(p) / (p > 0).sum())),
         "a mean over the values is not asked for: the p are the weights"),
        (lambda sigma: np.exp(entropy(np.exp(sigma) / np.exp(sigma).sum())),
         "that is a softmax; shares are σ divided by their sum"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("09.3")
def check_loss_of_a_point(answer: Any, random: np.random.Generator) -> str | None:
    """[1 - 1 + 0.2]₊ = 0.2."""
    given = number(answer)
    mistakes = (
        (0.0, "S_n - S_p is 0, but the margin is added: the loss asks for a lead of 0.2, and there is none"),
        (1.2, "S_n is 1, and so is S_p: the one is taken off the other"),
        (-0.2, "[x]₊ is never below 0, and the margin is added, not taken off"),
        (1.0, "that is the cosine of the pairs: put both of them into [S_n - S_p + margin]₊"),
        (0.8, "S_n is 1, not 0, and S_p is 1, too: then the margin is added to their difference"),
        (2.2, "S_p is taken off: 1 - 1 + 0.2, not 1 + 1 + 0.2"),
        (0.1, "one triplet costs the whole of it: nothing is halved"),
        (0.4, "the hardest pair of each kind make one triplet, not two"),
        (0.04, "nothing is squared in this loss"),
        (np.log(2), "that is the soft-margin loss of notebook 1, log(1 + e⁰); this one has a hinge, [x]₊"),
        (0.5, "0.5 is the margin where none is said; here it is 0.2"),
        (0.198, "all vectors are one: the cosines are exactly 1"),
        (20.0, "as the loss itself, please, not in per cent"),
    )  # fmt: skip
    if close(given, 0.2):
        return None
    return known_mistake(given, mistakes, 0.004) or Unnamed("put the two cosines into [S_n - S_p + margin]₊")


@check("09.4")
def check_along(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """g - (g · v) v, row by row."""
    draw = np.random.default_rng(5)
    cases = [(unit(draw.normal(size=shape)), draw.normal(size=shape)) for shape in ((3, 3), (4, 3), (2, 5))]

    def dot(v: np.ndarray, pull: np.ndarray) -> np.ndarray:
        return (v * pull).sum(1, keepdims=True)

    def right(v: np.ndarray, pull: np.ndarray) -> Any:
        return pull - dot(v, pull) * v

    mistakes = (
        (lambda v, g: dot(v, g) * v, "that is the part along v itself: what is left when it is taken off is asked for"),
        (lambda v, g: g, "that is the whole pull: its part along v is still in it"),
        (lambda v, g: g + dot(v, g) * v, "take the part along v off, do not add it"),
        (lambda v, g: dot(v, g) * v - g, "turned round: the pull less its part along v, not the other way"),
        (lambda v, g: g - dot(v, g), "the dot product is a number: it goes along v, so multiply it by v"),
        (lambda v, g: g - v, "how much of the pull goes along v is their dot product: take that many v off"),
        (lambda v, g: g - abs(dot(v, g)) * v, "the dot product has a sign, and it counts"),
        (lambda v, g: g - (v * g).sum() * v, "each row has its own dot product: sum along axis 1 only"),
        (lambda v, g: g - (v * g).sum(0) * v,
         "the dot product is a sum along a row, axis 1; yours goes down the columns"),
        (lambda v, g: g - (v * g).mean(1, keepdims=True) * v,
         "a dot product is the sum of the products, not their mean"),
        (lambda v, g: g - v * g, "add the products of a row up: `.sum(1, keepdims=True)`"),
        (lambda v, g: g - dot(v, g) * g, "the part to take off goes along v, not along the pull"),
        (lambda v, g: v - dot(v, g) * g, lambda v, g: v - dot(v, g) * v,
         "take it off the pull, not off v"),
        (lambda v, g: unit(right(v, g)), "its length counts, too: do not divide by it"),
        (lambda v, g: unit(v + g), "that is where the vector stands after the pull; the part of the pull is asked for"),
        (lambda v, g: unit(v + g) - v,
         "that is the whole way after a step; the pull's own part along the sphere is asked for"),
        (lambda v, g: g - dot(v, unit(g)) * v, "you divide the pull by its length first; take it as it is"),
        (lambda v, g: g - (g @ v.T) @ v, "row with row only: `g @ v.T` has each pull with every vector"),
        (lambda v, g: np.linalg.norm(right(v, g), axis=1), "that is how long it is; the part itself is asked for"),
        (lambda v, g: right(v, g) / 2, lambda v, g: 2 * right(v, g), "right but for a factor"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


def turned_away(answer: Any) -> np.ndarray:
    """What stays of rows (n, d) however they are turned: their dot products (n, n)."""
    rows = array(answer)
    if rows.ndim != 2:
        raise Unfit(f"rows (n, d) were expected, and something of shape {rows.shape} came")
    products: np.ndarray = rows @ rows.T
    return products


@check("09.5")
def check_whiten(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Centred rows times directions over the roots of the variances; any turn of it is as right."""

    def parts(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        centred = X - X.mean(0)
        values, directions = np.linalg.eigh(centred.T @ centred / len(X))
        return centred, values, directions

    def scaled(power: float) -> Callable[[np.ndarray], Any]:
        def by(X: np.ndarray) -> Any:
            centred, values, directions = parts(X)
            with np.errstate(all="ignore"):  # a mistake may have left a direction without variance
                scale: np.ndarray = values**power
            return centred @ directions * scale

        return by

    right = scaled(-0.5)

    def named(X: np.ndarray) -> Any:
        return right(X)

    def raw(X: np.ndarray) -> Any:
        values, directions = np.linalg.eigh(X.T @ X / len(X))
        return X @ directions / np.sqrt(values)

    def not_centred(X: np.ndarray) -> Any:
        _, values, directions = parts(X)
        return X @ directions / np.sqrt(values)

    def fewer(X: np.ndarray) -> Any:
        return right(X)[:, 1:]

    def largest_first(X: np.ndarray) -> Any:
        centred, values, directions = parts(X)
        return centred @ directions / np.sqrt(values[::-1])

    mistakes = (
        (raw, "the mean is still in: take it off before the covariance is made"),
        (lambda X: raw(X) - raw(X).mean(0), "take the mean off first: it is in your covariance"),
        (not_centred, "the mean is out of the covariance, but not out of the rows that you turn"),
        (scaled(0),
         "the mean is off, turned or not, and no direction is scaled: divide each by the root of its variance"),
        (scaled(-1), "divided by the variance; its root is the size of a direction"),
        (scaled(0.5), "multiplied by the root of the variance: divide by it"),
        (scaled(1), "multiplied by the variance: divide by its root"),
        (lambda X: X, "that is what came in"),
        (lambda X: (X - X.mean(0)) / X.std(0), lambda X: (X - X.mean(0)) / X.std(0, ddof=1),
         "each column has variance 1 now, but two columns still go together: turn to the eigenvectors first"),
        (lambda X: right(X) * np.sqrt((len(X) - 1) / len(X)),
         "right but for n - 1 in the place of n: `np.cov` divides by n - 1, unless it is told bias=True"),
        (lambda X: right(X) / np.sqrt(len(X)),
         "without a mean over the rows: the covariance is `X.T @ X / len(X)`; singular vectors need the root of n"),
        (lambda X: right(X) * np.sqrt(len(X)), "the covariance is a mean over the rows: divide by n"),
        (lambda X: unit(right(X)), "right, and then each row divided by its length: that is not asked for"),
        (lambda X: unit(X), "that makes each row 1 long; each direction of the whole is to have variance 1"),
        (lambda X: unit(X - X.mean(0)),
         "that makes each row 1 long; each direction of the whole is to have variance 1"),
        (lambda X: right(unit(X)), "do not divide the rows by their lengths first"),
        (lambda X: (X - X.mean(0)) / X.std(), "one number for all directions: each has its own"),
        (fewer, "a direction is missing: keep all"),
        (largest_first, "the values stand in another order than the directions: `eigh` gives both the smallest first"),
        (lambda X: parts(X)[0] @ parts(X)[2].T / np.sqrt(parts(X)[1]),
         "the eigenvectors are the columns of what `eigh` gives: without `.T`"),
    )  # fmt: skip
    return find_mistake(answer, named, [(X,) for X in leaning_rows(3)], mistakes, read=turned_away)


@check("09.6")
def check_false_share(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean of meaning[anchor] == meaning[negative]."""
    draw = np.random.default_rng(8)
    cases = []
    for rows, kinds, count in ((9, 3, 12), (6, 2, 9), (12, 4, 25)):
        meaning = draw.permutation(np.arange(rows) % kinds) + 5
        anchors = np.sort(draw.integers(0, rows - 2, count))
        others = draw.integers(1, rows, size=(count, 2))
        cases.append((np.column_stack([anchors, (anchors + others.T).T % rows]), meaning))

    def right(triplets: np.ndarray, meaning: np.ndarray) -> Any:
        return (meaning[triplets[:, 0]] == meaning[triplets[:, 2]]).mean()

    def same(one: int, other: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return lambda triplets, meaning: meaning[triplets[:, one]] == meaning[triplets[:, other]]

    def by_anchor(triplets: np.ndarray, meaning: np.ndarray) -> np.ndarray:
        anchors = triplets[:, 0]
        return np.array([same(0, 2)(triplets, meaning)[anchors == each].mean() for each in np.unique(anchors)])

    mistakes = (
        (lambda t, m: same(0, 1)(t, m).mean(), "column 1 has the positives; the negatives stand in column 2"),
        (lambda t, m: same(1, 2)(t, m).mean(),
         "a negative is one of its anchor, column 0: yours is compared with the positive"),
        (lambda t, m: 1 - right(t, m), lambda t, m: (~same(0, 2)(t, m)).mean(),
         "that is the share of true negatives: a false one means the *same* as its anchor"),
        (lambda t, m: same(0, 2)(t, m).sum(), "that is how many; divide by the number of triplets"),
        (lambda t, m: (~same(0, 2)(t, m)).sum(), "that is how many are true; the share of false ones is asked for"),
        (lambda t, m: same(0, 2)(t, m).sum() / len(m), "divide by the number of triplets, not of sentences"),
        (lambda t, m: (t[:, 0] == t[:, 2]).mean(),
         "those are row numbers, and two sentences have two of them: compare what `meaning` says of them"),
        (lambda t, m: (m[t[:, 0]] == t[:, 2]).mean(), lambda t, m: (t[:, 0] == m[t[:, 2]]).mean(),
         "a meaning is compared with a row number: look both up in `meaning`"),
        (lambda t, m: (by_anchor(t, m) > 0).mean(),
         "that is the share of anchors with one or more; each negative counts"),
        (lambda t, m: by_anchor(t, m).mean(), "that is a mean of the anchors' own shares; each negative counts alike"),
        (lambda t, m: (same(0, 2)(t, m) & same(0, 1)(t, m)).mean(),
         lambda t, m: (same(0, 2)(t, m) | same(0, 1)(t, m)).mean(),
         "the positive has no part in it: anchor and negative only"),
        (lambda t, m: (m[:, None] == m).mean(),
         "that is over all pairs of sentences; only the mined ones are asked about"),
        (lambda t, m: 100 * right(t, m), "as a share between 0 and 1, please, not in per cent"),
        (lambda t, m: same(0, 2)(t, m).astype(float), "one number is asked for: the mean over the triplets"),
        (lambda t, m: same(0, 2)(t, m).sum() / max(1, (~same(0, 2)(t, m)).sum()),
         "that is false to true; the share is of all"),
        (lambda t, m: right(t[:1], m), "that is the first triplet alone; take the mean over all"),
        (lambda t, m: (np.diff(m[t[:, [0, 2]]], axis=1) ** 2).mean(),
         lambda t, m: abs(m[t[:, 0]] - m[t[:, 2]]).mean(),
         "meanings are names, not sizes: only whether two are the same counts"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)
