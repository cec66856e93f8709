"""Notebook 05: eq. 10, table B.9, P-coherence, collapse, distances and decoding."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.linalg import norm
from scipy.spatial.distance import pdist
from scipy.special import log_softmax
from scipy.stats import linregress

from labkit.arrays import unit
from labkit.evaluation import p_coherence
from labkit.lab.course.exercise import Mistakes, Unfit, Unnamed, array, check, close, find_mistake

ROUNDED = 1e-3  # an answer may be rounded to what is printed of it


@check("05.1")
def check_objective(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(1 - λ) copy + (1 + λ) paraphrase."""
    draw = np.random.default_rng(51)
    losses = draw.uniform(0.3, 6, (5, 2))
    cases = [(*map(float, two), share) for two, share in zip(losses, (0.3, 0.9, 0.05, 0.62, 0.5), strict=True)]

    def right(copy: Any, paraphrase: Any, emphasis: Any) -> Any:
        return (1 - emphasis) * copy + (1 + emphasis) * paraphrase

    mistakes = (
        (lambda a, p, e: (1 + e) * a + (1 - e) * p, "it is the paraphrase that counts more: exchange the two factors"),
        (lambda a, p, e: (1 - e) * a + e * p, "these weights add up to 1; those of eq. 10 add up to 2"),
        (lambda a, p, e: e * a + (1 - e) * p, "these weights add up to 1, and the copy has the λ; look at eq. 10"),
        (lambda a, p, e: a + (1 + e) * p, "the copy must count less by as much: its factor is 1 - λ"),
        (lambda a, p, e: (1 - e) * a + p, "the paraphrase must count more by as much: its factor is 1 + λ"),
        (lambda a, p, e: a + e * p, "the copy must count less, 1 - λ, and the paraphrase more than 1"),
        (lambda a, p, e: right(a, p, e) / 2, "that is half of it: eq. 10 is a sum, not a mean"),
        (lambda a, p, e: a + p, "that is the plain sum: λ is not used"),
        (lambda a, p, e: (a + p) / 2, "that is the plain mean: λ is not used"),
        (lambda a, p, e: e * (p - a), "that is the part with λ alone: the losses themselves are to be added"),
        (lambda a, p, e: (1 - e) * a - (1 + e) * p, "both losses are to be made small: add them, do not subtract"),
        (lambda a, p, e: (1 - e) * a * (1 + e) * p, "the two are added, not multiplied"),
        (lambda a, p, e: 1 - e * a + 1 + e * p, "brackets are missing: without them only the loss is multiplied by λ"),
        (lambda a, p, e: (1 - e) * (a + p), lambda a, p, e: (1 + e) * (a + p), lambda a, p, e: e * (a + p),
         lambda a, p, e: e * a + e * p,
         "the two have different factors: 1 - λ and 1 + λ"),
        (lambda a, p, e: -right(a, p, e), "a loss is made small: without the minus"),
        (lambda a, p, e: 1 - e * a + (1 + e) * p, lambda a, p, e: a - e + (1 + e) * p,
         "brackets are missing round 1 - λ"),
        (lambda a, p, e: (1 - e) * a + 1 + e * p, lambda a, p, e: (1 - e) * a + p + e,
         "brackets are missing round 1 + λ"),
        (lambda a, p, e: e * a + p, "the copy's factor is 1 - λ, the paraphrase's 1 + λ: yours has λ and 1"),
        (lambda a, p, e: e * a + (1 + e) * p, "the copy's factor is 1 - λ: yours is λ"),
        (lambda a, p, e: (1 - e) * a + (2 - e) * p, "the paraphrase's factor grows with λ: 1 + λ"),
        (lambda a, p, e: a + p + e, "λ is a factor, it is not added to the losses"),
        (lambda a, p, e: (1 - e) * a, "that is the copy's part alone: the paraphrase's is to be added"),
        (lambda a, p, e: (1 + e) * p, "that is the paraphrase's part alone: the copy's is to be added"),
        (lambda a, p, e: max((1 - e) * a, (1 + e) * p), "the two are added; yours is the larger of them"),
        (lambda a, p, e: a / (1 - e) + p / (1 + e), "multiply by the factors, do not divide"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=ROUNDED)


@check("05.2")
def check_line(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Least squares: value at 0, slope."""
    draw = np.random.default_rng(52)
    cases = []
    for n, start, slope in ((5, 2.0, 1.5), (8, -1.0, 3.0), (12, 4.0, -2.5), (8, -3.0, -0.7)):
        x = draw.uniform(-0.5, 2.5, n)
        cases.append((x, start + slope * x + draw.normal(size=n)))

    def right(x: Any, y: Any) -> Any:
        return np.polyfit(x, y, 1)[::-1]

    def through(x: Any, y: Any, slope: float) -> Any:
        """The line of this slope through the means."""
        return y.mean() - slope * x.mean(), slope

    def two_points(x: Any, y: Any, i: int, j: int) -> Any:
        slope = (y[j] - y[i]) / (x[j] - x[i])
        return y[i] - slope * x[i], slope

    backwards = "the value at 0 comes first, then the slope: np.polyfit gives them the other way round"
    mistakes = (
        (lambda x, y: np.polyfit(x, y, 1), backwards),
        (lambda x, y: (0.0, x @ y / (x @ x)), lambda x, y: (x @ y / (x @ x), 0.0),
         "your line goes through the origin: let it begin where it likes"),
        (lambda x, y: two_points(x, y, 0, -1), "that is the line through the first and last point; all points count"),
        (lambda x, y: two_points(x, y, 0, 1), "that is the line through the first two points; all points count"),
        (lambda x, y: two_points(x, y, x.argmin(), x.argmax()),
         "that is the line through the outermost points; all points count"),
        (lambda x, y: np.polyfit(x, y, 1)[:1], "two numbers are asked for: the value at 0, and the slope"),
        (lambda x, y: np.polyfit(x, y, 1)[1:], "two numbers are asked for: the slope is missing"),
        (lambda x, y: right(y, x), "x and y have changed places: y is what the line is to give"),
        (lambda x, y: np.polyfit(y, x, 1), "x and y have changed places, and so have the two numbers"),
        (lambda x, y: (y.mean(), right(x, y)[1]), "y's mean is the line's value at the mean of x, not at 0"),
        (lambda x, y: (y[0], right(x, y)[1]), "the first y is no value of the line, and its x is not 0"),
        (lambda x, y: (y[x.argmin()], right(x, y)[1]), "the y of the smallest x is not the line's value at 0"),
        (lambda x, y: (y.mean(), 0.0), "that is the mean of y: a line that does not rise"),
        (lambda x, y: (right(x, y).sum(), right(x, y)[1]), "the first number is the line's value at 1, not at 0"),
        (lambda x, y: (right(x, y)[0], right(x, y).sum()),
         "the second number is the line's value at 1; the slope was asked for"),
        (lambda x, y: right(x, y) * [1, -1], "the slope has the wrong sign"),
        (lambda x, y: right(x, y) * [-1, 1], "the value at 0 has the wrong sign: mean of y less slope times mean of x"),
        (lambda x, y: (y.mean() + right(x, y)[1] * x.mean(), right(x, y)[1]),
         "the value at 0 is the mean of y *less* slope times mean of x"),
        (lambda x, y: through(x, y, np.corrcoef(x, y)[0, 1]),
         "that is the correlation in the place of the slope: it is the slope in units of both spreads"),
        (lambda x, y: (right(x, y)[0], np.corrcoef(x, y)[0, 1]), "the second is the correlation, not the slope"),
        (lambda x, y: through(x, y, np.cov(x, y)[0, 1] / x.var()),
         "np.cov divides by n - 1 and .var() by n: take the same for both"),
        (lambda x, y: through(x, y, np.cov(x, y)[0, 1] / x.std()), "divide by the variance of x, not by its spread"),
        (lambda x, y: through(x, y, np.cov(x, y)[0, 1]), lambda x, y: through(x, y, np.cov(x, y, ddof=0)[0, 1]),
         "that is the covariance; divided by the variance of x it is a slope"),
        (lambda x, y: through(x, y, (np.diff(y) / np.diff(x)).mean()),
         "that is a mean of the slopes from point to point; the sum of squares is to be smallest"),
        (lambda x, y: np.polyfit(x[1:], y[1:], 1)[::-1], "the first point is left out"),
        (lambda x, y: np.polyfit(x[:-1], y[:-1], 1)[::-1], "the last point is left out"),
        (lambda x, y: np.polyfit(x, y, 2)[::-1], "that is a parabola, three numbers: the degree is 1"),
        (lambda x, y: np.polyfit(x, y, 2)[::-1][:2], "these are two of three numbers of a parabola: the degree is 1"),
        (lambda x, y: np.polyval(np.polyfit(x, y, 1), x),
         "these are the line's values at each x; its two numbers are asked for"),
        (lambda x, y: tuple(linregress(x, y)), "that is all that linregress gives: the value at 0 and slope are asked"),
        (lambda x, y: through(x, y, x @ y / (x @ x)),
         "that is the slope of a line through the origin: take the means off x and y before you multiply"),
        (lambda x, y: (right(x, y)[1], y.mean()), "the value at 0 comes first; and y's mean is not that value"),
        (lambda x, y: through(x, y, y.std() / x.std()), "the slope is that times the correlation: yours never falls"),
        (lambda x, y: (y.mean(), y.std() / x.std()), "a mean and a ratio of spreads make no line: least squares does"),
        (lambda x, y: (x @ y / (x @ x),), "that is one number, a line through the origin: let it begin where it likes"),
        (lambda x, y: through(x, y, np.cov(x, y)[0, 1] / y.var(ddof=1)), "divide by the squares of x, not of y"),
        (lambda x, y: through(x, y, (y[-1] - y[0]) / (x[-1] - x[0])),
         "that is the slope from the first point to the last"),
        (lambda x, y: through(x, y, np.ptp(y) / np.ptp(x)), lambda x, y: (right(x, y)[0], np.ptp(y) / np.ptp(x)),
         "a slope is not the range of y over the range of x"),
        (lambda x, y: np.polynomial.Polynomial.fit(x, y, 1).coef,
         "Polynomial.fit moves and scales x before it fits: `.convert()` takes that back"),
        (lambda x, y: right(np.arange(len(x)), y),
         "that is the line over the places of the points, 0, 1, 2 and so on: x is not used"),
        (lambda x, y: right(np.sort(x), np.sort(y)), "each x belongs to its y: do not sort them apart"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=_two, tolerance=ROUNDED)
    return _one_of_two(complaint, answer, right, cases, "the value at 0", "the slope")


def _one_of_two(
    complaint: str | None, answer: Callable[..., Any], right: Callable[..., Any], cases: list[Any], *names: str
) -> str | None:
    """The complaint; where only one of two numbers is wrong and no mistake is known, it says which."""
    if not isinstance(complaint, Unnamed):
        return complaint
    pairs = [(_two(answer(*case)), _two(right(*case))) for case in cases]
    if any(mine.shape != (2,) for mine, _ in pairs):
        return complaint
    good = [all(close(mine[side], wanted[side], ROUNDED) for mine, wanted in pairs) for side in (0, 1)]
    if sum(good) != 1:
        return complaint
    return f"{names[good.index(True)]} is right, and {names[good.index(False)]} is not"


def _two(answer: Any) -> np.ndarray:
    """Two numbers in a row or a column, each alone or in a list of one."""
    if isinstance(answer, tuple) and len(answer) == 4 and not np.isscalar(answer[0]) and np.ndim(answer[2]) == 0:
        raise Unfit("np.linalg.lstsq gives four things: the first of them, `[0]`, has the two numbers")
    if isinstance(answer, np.polynomial.Polynomial):
        raise Unfit("that is a polynomial; its two numbers are asked for: `.convert().coef` has them")
    found = array(answer)
    return found.ravel() if found.size == 2 else found


@check("05.3")
def check_parts(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """copy = (start - slope) / 2, paraphrase = (start + slope) / 2."""
    cases = [(3.0, 1.2), (5.3, -0.7), (1.981, 1.840), (4.4, 0.31), (2.0, 2.6)]  # a fitted line may be steep

    def right(start: Any, slope: Any) -> Any:
        return (start - slope) / 2, (start + slope) / 2

    wrong = "at λ = 0 the objective is the sum of both losses; at λ = 1 it is twice the paraphrase"
    mistakes = (
        (lambda a, b: right(a, b)[::-1], "the copy comes first; where the line rises with λ the paraphrase is larger"),
        (lambda a, b: (a - b, a + b), "each comes in twice when you add or subtract: halve them"),
        (lambda a, b: (a + b, a - b), "each comes in twice when you add or subtract, and the copy comes first"),
        (lambda a, b: (a - b / 2, a + b / 2),
         "brackets are missing: the whole difference and the whole sum are halved"),
        (lambda a, b: (a / 2 - b, a / 2 + b), "the slope is to be halved as well: it is paraphrase less copy"),
        (lambda a, b: (a, a + b), "these are the line's values at λ = 0 and 1: at 0 both losses count alike"),
        (lambda a, b: (a, b), lambda a, b: (b, a), "these are the line's numbers themselves: which losses make them?"),
        (lambda a, b: (a - b, b), wrong),
        (lambda a, b: (a / 2, b / 2), lambda a, b: (b / 2, a / 2), lambda a, b: (-b, a + b),
         "start is copy + paraphrase and slope paraphrase - copy: solve both together"),
        (lambda a, b: (a / 2, a / 2), "the slope is not used: with it the two losses differ"),
        (lambda a, b: ((b - a) / 2, (a + b) / 2), "the copy has the wrong sign: start less slope, halved"),
        (lambda a, b: ((a - b) / 2, (a - b) / 2 + a), "the difference of the two losses is the slope, not start"),
        (lambda a, b: (a - b, (a + b) / 2), "the copy is to be halved too"),
        (lambda a, b: ((a - b) / 2, a + b), "the paraphrase is to be halved too"),
        (lambda a, b: (a / (1 - b), a / (1 + b)), "slope is no λ: sort eq. 10 by powers of λ"),
        (lambda a, b: ((a - b) / 2,), "two numbers are asked for: the paraphrase's loss is missing"),
        (lambda a, b: (a - 2 * b, a + 2 * b), lambda a, b: (2 * (a - b), 2 * (a + b)),
         "halve: twice the copy is start less slope"),
        (lambda a, b: (a + b / 2, a - b / 2), "brackets are missing, and the copy is first: start less slope, halved"),
        (lambda a, b: a - b, "two numbers are asked for, each of them halved"),
        (lambda a, b: (a + b) / 2, "two numbers are asked for: the copy's loss is missing"),
        (lambda a, b: (a / 2, a / 2 + b), "the losses differ by the slope, half of it below start / 2 and half above"),
        (lambda a, b: (a - b, a), "start is the sum of both losses, the slope their difference: solve both together"),
        (lambda a, b: ((a + b) / 2, (b - a) / 2), "the copy comes first, and it is start less slope, halved"),
        (lambda a, b: np.exp(-np.array(right(a, b))), "these are probabilities; the losses are asked"),
        (lambda a, b: (a + b, b - a), "yours goes the way back, as if copy and paraphrase were given"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=_two, tolerance=ROUNDED)
    return _one_of_two(complaint, answer, right, cases, "the copy's loss", "the paraphrase's loss")


@check("05.4")
def check_coherence(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean cosine over the pairs of a group, then over groups (eq. 3 to 5)."""
    draw = np.random.default_rng(54)
    cases = []
    for names, sizes, d in (((2, 0, 1), (2, 3, 4), 4), (("sea", "hill"), (3, 6), 3), ((7, 3, 5, 4), (2, 4, 2, 5), 6)):
        groups = draw.permutation(np.repeat(names, sizes))
        rows = draw.normal(size=(len(groups), d)) + 0.4 * draw.normal(size=d)
        cases.append((rows * draw.uniform(0.3, 3, (len(rows), 1)), groups))

    def right(vectors: Any, groups: Any) -> Any:
        return p_coherence(vectors, groups.tolist()).within

    def cosines(rows: Any) -> Any:
        return unit(rows) @ unit(rows).T

    def over(
        how: Callable[[Any], Any], table: Callable[[Any], Any] = cosines, first: int = 1
    ) -> Callable[..., list[Any]]:
        """`how` of each group's entries above the diagonal (with it, for first = 0)."""

        def each(vectors: Any, groups: Any) -> list[Any]:
            own = [table(vectors[groups == name]) for name in np.unique(groups)]
            return [how(square[np.triu_indices(len(square), first)]) for square in own]

        return each

    def meaned(each: Callable[..., list[Any]]) -> Callable[..., Any]:
        return lambda vectors, groups: np.mean(each(vectors, groups))

    products = meaned(over(np.mean, lambda rows: rows @ rows.T))

    def members(vectors: Any, groups: Any) -> list[Any]:
        return [unit(vectors)[groups == name] for name in np.unique(groups)]

    def between(v: Any, g: Any) -> Any:
        return cosines(v)[g[:, None] != g[None, :]].mean()

    mistakes = (
        (products, "divide rows by their lengths: these are no cosines"),
        (lambda v, g: np.mean([cosines(v[g == c]).mean() for c in np.unique(g)]),
         "a sentence is no paraphrase of itself: leave its cosine with itself, 1, out"),
        (meaned(over(np.mean, first=0)), "leave the diagonal out: triu_indices(len, 1)"),
        (lambda v, g: np.concatenate(over(np.asarray)(v, g)).mean(),
         "large groups count too much: a mean for each group, then over all"),
        (lambda v, g: np.average(over(np.mean)(v, g), weights=np.unique(g, return_counts=True)[1]),
         "large groups count too much: every group counts once"),
        (lambda v, g: cosines(v)[np.triu_indices(len(v), 1)].mean(),
         "that is the mean over all pairs; only those of one group are asked"),
        (between, lambda v, g: np.mean([(unit(v[g == c]) @ unit(v[g != c]).T).mean() for c in np.unique(g)]),
         "these are the pairs of different groups; those of one group are asked"),
        (lambda v, g: right(v, g) - between(v, g), "that is the lift; P-coherence looks within groups only"),
        (lambda v, g: sum(over(np.mean)(v, g)), "that is the sum over the groups: divide by how many"),
        (meaned(over(np.sum)), "within a group it is the mean of the cosines, not their sum"),
        (lambda v, g: sum(over(np.sum)(v, g)), "that is the sum of all cosines: take means"),
        (lambda v, g: right(v, g) / 2, "that is half of it: above the diagonal there are n (n - 1) / 2 pairs"),
        (lambda v, g: right(v, g) * 2, "that is twice of it: each pair counts once"),
        (lambda v, g: over(np.mean)(v, g)[0], "that is one group alone; the mean over all groups is asked"),
        (lambda v, g: over(np.mean)(v, g)[-1], "that is the last group alone; the mean over all groups is asked"),
        (meaned(over(np.median)), "that is the median of a group's cosines; the mean is asked"),
        (meaned(over(np.max)), "that is the largest cosine of a group; the mean is asked"),
        (meaned(over(np.min)), "that is the smallest cosine of a group; the mean is asked"),
        (meaned(over(lambda c: abs(c).mean())), "a cosine below 0 counts as it is, without abs"),
        (meaned(over(lambda c: (c**2).mean())), "these are squares of cosines"),
        (meaned(over(lambda c: 1 - c.mean())), "that is 1 - cosine, a distance; the cosine itself is asked"),
        (lambda v, g: np.mean([pdist(own).mean() for own in members(v, g)]),
         lambda v, g: np.mean([pdist(v[g == c]).mean() for c in np.unique(g)]),
         "that is a distance; a cosine is asked"),
        (lambda v, g: products(v / (v**2).sum(1, keepdims=True), g),
         "you divide by the squares of the lengths: a root is missing"),
        (lambda v, g: products(v / norm(v, axis=0), g),
         "you divide each column by its length; each row is a vector: axis=1"),
        (lambda v, g: products(v / norm(v), g),
         "you divide all by one number: each row has a length of its own, axis=1 and keepdims"),
        (lambda v, g: right(v - v.mean(0), g), "you take off the mean of all first: that changes the cosines"),
        (lambda v, g: np.mean([(own[1:] * own[:-1]).sum(1).mean() for own in members(v, g)]),
         "these are neighbours in a group only: all its pairs count"),
        (lambda v, g: np.mean([(own[1:] @ own[0]).mean() for own in members(v, g)]),
         "these are the pairs with the first sentence of a group only: all its pairs count"),
        (lambda v, g: np.mean([(own @ unit(own.mean(0)[None])[0]).mean() for own in members(v, g)]),
         "that is how near sentences are to the middle of their group; the cosines of its pairs are asked"),
        (meaned(over(lambda c: c[0])), "that is the first pair of a group alone: all its pairs count"),
        (meaned(over(np.std)), "that is the spread of a group's cosines; their mean is asked"),
        (lambda v, g: sum(over(np.sum)(v, g)) / len(v), "divide by a group's number of pairs, then by that of groups"),
        (lambda v, g: np.mean([2 * c.sum() / (n := sum(g == k)) / (n + 1)
                               for k, c in zip(np.unique(g), over(np.asarray)(v, g), strict=True)]),
         "there are n (n - 1) / 2 pairs, not n (n + 1) / 2"),
        (over(np.mean), "these are the means of the groups: one mean over them is asked"),
        (lambda v, g: max(over(np.mean)(v, g)), "that is the best group; the mean over all groups is asked"),
        (lambda v, g: np.median(over(np.mean)(v, g)), "that is the median of the groups; the mean is asked"),
        (lambda v, g: np.mean([np.triu(cosines(v[g == c]), 1).mean() for c in np.unique(g)]),
         "the zeros that triu leaves below the diagonal are in your mean: pick the entries with triu_indices"),
        (lambda v, g: np.mean([(cosines(v[g == c]).sum() - (n := sum(g == c))) / n**2 for c in np.unique(g)]),
         "without the diagonal there are n (n - 1) entries, not n²"),
        (lambda v, g: np.mean([cosines(v[g == c]).sum() / sum(g == c) for c in np.unique(g)]),
         "divide by the number of pairs"),
        (lambda v, g: np.mean([(cosines(v[g == c]).sum() - sum(g == c)) / (sum(g == c) - 1) / 2 for c in np.unique(g)]),
         "divide by the number of pairs, n (n - 1) / 2"),
        (meaned(over(np.mean, np.corrcoef)), "these are correlations: they take the mean off each row first"),
        (meaned(over(np.mean, lambda rows: np.arccos(np.clip(cosines(rows), -1, 1)))),
         "these are angles; their cosines are asked"),
        (lambda v, g: np.mean([(unit(v[g == c]) @ unit(v).T).mean() for c in np.unique(g)]),
         "yours compares with the sentences of all groups; both of a pair are of one group"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=ROUNDED)


@check("05.5")
def check_mixed(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(1 - t) v / |v| + t c, and not brought to length 1 again."""
    draw = np.random.default_rng(55)
    cases = []
    for n, d, share in ((4, 3, 0.8), (6, 5, 0.3), (4, 3, 0.55), (4, 4, 0.0)):
        rows = draw.normal(size=(n, d)) * draw.permutation(np.arange(1, n + 1))[:, None]
        cases.append((rows, unit(draw.normal(size=(1, d)))[0], share))

    def right(vectors: Any, common: Any, t: Any) -> Any:
        return (1 - t) * unit(vectors) + t * common

    def by_row(given: Any) -> np.ndarray:
        found = array(given)
        if found.ndim != 2:
            raise Unfit(f"a row for each sentence was expected, (n, d), and the shape {found.shape} came")
        return found

    def direction(given: Any) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.nan_to_num(by_row(given) / norm(by_row(given), axis=1, keepdims=True))

    alike = "all rows are alike: nothing of the sentence is left; keep a share 1 - t of it"
    mistakes = (
        (lambda v, c, t: (1 - t) * v + t * c, "bring the rows to length 1 first: long ones resist the mixing"),
        (lambda v, c, t: t * unit(v) + (1 - t) * c, "t is the share of the common vector: exchange t and 1 - t"),
        (lambda v, c, t: t * v + (1 - t) * c, "bring the rows to length 1; and t is the share of the common vector"),
        (lambda v, c, t: unit(v) + t * c, "beside t c the row has its whole length: 1 - t belongs to it alone"),
        (lambda v, c, t: v + t * c, "bring the rows to length 1 first; and their share is 1 - t"),
        (lambda v, c, t: (1 - t) * unit(v) + c, "the common vector has a share too: t"),
        (lambda v, c, t: unit(v) + c, "t is not used: a share 1 - t of the row, a share t of the common vector"),
        (lambda v, c, t: v, "nothing is mixed in: these are the rows as they were"),
        (lambda v, c, t: np.tile(c, (len(v), 1)), lambda v, c, t: np.tile(v.mean(0), (len(v), 1)), alike),
        (lambda v, c, t: (1 - t) * unit(v) - t * c, lambda v, c, t: unit(v) - t * c, lambda v, c, t: v - t * c,
         "the common vector is added, not subtracted"),
        (lambda v, c, t: (1 - t) * unit(v) * c, lambda v, c, t: (1 - t) * unit(v) * t * c,
         "the common vector is added, not multiplied"),
        (lambda v, c, t: (1 - t) * v / (v**2).sum(1, keepdims=True) + t * c,
         "both must have length 1 when they are mixed: divide each row by its length, root and all, and only once"),
        (lambda v, c, t: (1 - t) * v * norm(v, axis=1, keepdims=True) + t * c,
         "divide by the length of the row, do not multiply"),
        (lambda v, c, t: t * unit(v) + t * c, "the row's share is 1 - t: together they are 1"),
        (lambda v, c, t: (1 - t) * unit(v) + (1 - t) * c, "the common vector's share is t: together they are 1"),
        (lambda v, c, t: (1 - t) * unit(v) + t, "t c is to be added, not the number t"),
        (lambda v, c, t: (1 - t) * unit(v) + t * unit(v)[0], "yours mixes in the first row: take `common`"),
        (lambda v, c, t: (1 - t) ** 0.5 * unit(v) + t**0.5 * c, "the shares are 1 - t and t, without a root"),
        (lambda v, c, t: (1 - t) * v / norm(v, axis=0) + t * c,
         "you divide each column by its length; each row is a vector: axis=1"),
        (lambda v, c, t: (1 - t) * v / norm(v) + t * c,
         "you divide all by one number: each row has a length of its own, axis=1 and keepdims"),
        (lambda v, c, t: (1 - t) * v / norm(v, axis=1).mean() + t * c,
         "you divide all by one number: each row has a length of its own"),
        (lambda v, c, t: right(v, unit(v.mean(0)[None])[0], t), lambda v, c, t: right(v, v.mean(0), t),
         "yours mixes in the mean of the rows it was given: take `common`"),
        (lambda v, c, t: (1 - t) * v / abs(v).sum(1, keepdims=True) + t * c,
         "a length is the root of the sum of squares"),
        (lambda v, c, t: (1 - t) * v / v.max(1, keepdims=True) + t * c,
         "divide by the length of the row, not by its largest"),
        (lambda v, c, t: v / norm(v, axis=1, keepdims=True) * ((1 - t) + t * c),
         "t c is added to the row; it multiplies it in yours"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=by_row)
    if not isinstance(complaint, Unnamed):
        return complaint
    again = find_mistake(answer, right, cases, mistakes, read=direction)  # a mistake's rows, brought to length 1
    if again is None:
        return "each row points the right way and has another length: give the sum as it is, without dividing it again"
    return again if again in {says for *_, says in mistakes} else complaint


@check("05.6")
def check_own_distance(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """√(2 n d / (n - 1))."""
    cases = [(5, 30), (2, 7), (9, 4), (3, 11), (30, 6)]

    def right(n: Any, d: Any) -> Any:
        return math.sqrt(2 * n * d / (n - 1))

    mistakes = (
        (lambda n, d: math.sqrt(2 * d),
         "of the n² ordered pairs, n are a sentence with itself: over the others it is n/(n-1) more"),
        (lambda n, d: right(n, d) ** 2, lambda n, d: 2 * n * d // (n - 1), "that is the mean square: take its root"),
        (lambda n, d: 2 * d, "that is the mean square over all n² ordered pairs: leave out the n of 0, take the root"),
        (lambda n, d: math.sqrt(n * d / (n - 1)), "(x - y)² has a variance from x and one from y: 2, not 1"),
        (lambda n, d: math.sqrt(d), "(x - y)² has a variance from x and one from y; and n pairs of n² are 0"),
        (lambda n, d: math.sqrt(2 * n / (n - 1)), lambda n, d: right(n, d) / math.sqrt(d),
         "that is one dimension; there are d of them, and their squares add up"),
        (lambda n, d: d * math.sqrt(2 * n / (n - 1)),
         "d comes in once, under the root: the squares of the d dimensions add up"),
        (lambda n, d: math.sqrt(2 * (n - 1) * d / n),
         "leaving out the pairs that give 0 makes the mean larger: turn n/(n-1) over"),
        (lambda n, d: math.sqrt(2 * n * d), "that is not divided by n - 1: a mean over the pairs is asked"),
        (lambda n, d: math.sqrt(2 * n * d) / (n - 1), "n - 1 comes in once, under the root"),
        (lambda n, d: 2 * math.sqrt(n * d / (n - 1)), "√2 times too large: the 2 comes in once, under the root"),
        (lambda n, d: n * math.sqrt(2 * d / (n - 1)), "√n times too large: the n comes in once, under the root"),
        (lambda n, d: math.sqrt(2 * n * (n - 1) * d), "divide by n - 1, do not multiply"),
        (lambda n, d: math.sqrt(2 * d * (n - 1)), "n - 1 is below the line, and an n above it"),
        (lambda n, d: math.sqrt(2 * d / n), "the n is above the line, and n - 1 below it"),
        (lambda n, d: math.sqrt(n * (n - 1) / 2 * d), "n (n - 1) / 2 is the number of pairs: a mean is divided by it"),
        (lambda n, d: math.sqrt(n * (n - 1) * d), "a mean over the pairs is asked: divided by how many there are"),
        (lambda n, d: right(n, d) / d, "that is divided by d: the squares of the dimensions add up, no mean is taken"),
        (lambda n, d: math.sqrt(2 * d) * n / (n - 1), "n / (n - 1) belongs under the root"),
        (lambda n, d: math.sqrt(n * d), "in one dimension the mean square is 2 n / (n - 1), not n"),
        (lambda n, d: n * d, "no root is taken; and the mean square of one dimension is 2 n / (n - 1)"),
        (lambda n, d: n * d / (n - 1), "(x - y)² has a variance from x and one from y; and a root is asked"),
        (lambda n, d: d,
         "that is the squared distance to the middle; two sentences differ by more, and a root is asked"),
        (lambda n, d: math.sqrt(2 * n * d / (n + 1)), "n - 1 others there are for each sentence, not n + 1"),
        (lambda n, d: math.sqrt(2 * d / (n - 1)), "an n is missing: the sum over the n² ordered pairs is 2 n² d"),
        (lambda n, d: n * math.sqrt(d), "that is the root of the sum over the pairs i < j: divide by their number"),
        (lambda n, d: n * math.sqrt(2 * d), "that is the root of the sum over ordered pairs: divide by their number"),
        (lambda n, d: math.sqrt(n * d / 2 / (n - 1)), "(x - y)² has a variance from x and one from y: 2, not 1/2"),
        (lambda n, d: math.sqrt(2 * n * d / n - 1), "brackets: divide by (n - 1)"),
        (lambda n, d: math.sqrt(2 * (n * d - 1) / (n - 1)), "n d numbers in all, and one group: 2 n d over n - 1"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=ROUNDED)


@check("05.7")
def check_greedy(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The likeliest word, read next, until the end or `max_length`."""
    cases = [  # flat distributions, in which whoever draws lots does not get the likeliest, and steep ones
        (_speaker(0, words=30, steep=0.05, end=9), 0, 50),
        (_speaker(1, words=7, steep=3, end=16), 5, 50),
        (_speaker(2, words=12, steep=0.2, end=60), 2, 4),
        (_speaker(3, words=9, steep=1, end=3), 3, 10),
        (_speaker(4, words=9, steep=1, end=7), 1, 6),
        (_speaker(5, words=5, steep=1, end=63), 0, 55),
        (_speaker(6, words=7, steep=6, end=30), 4, 2),
        (_speaker(6, words=7, steep=6, end=30), 4, 50),
    ]
    if len({str(_sentence(answer(*cases[0]))) for _ in range(3)}) > 1:
        return "asked again, yours writes another sentence: do not draw lots, take the likeliest word"

    def changed(**how: Any) -> Callable[..., Any]:
        return lambda *case: _written(*case, **how)

    def rest(log_p: Any) -> int:
        return int(log_p[1:].argmax())

    mistakes: Mistakes = (
        (changed(end=True), "word 0 is the end: it is not written"),
        (lambda *case: [0, *_written(*case)], "word 0 at the beginning is read, not written"),
        (lambda *case: [0, *_written(*case, end=True)], "word 0 is beginning and end: it is not written"),
        (changed(forget=True), "the state must go on: give step the one that it returned last"),
        (changed(blind=True), "the word that was written is read next; yours reads the beginning, 0, at every step"),
        (changed(forget=True, blind=True),
         "yours asks step the same thing every time: both the state and the word go on"),
        (changed(stop=False), "your sentence goes on beyond its end: stop at word 0"),
        (changed(skip=True), "your sentence goes on beyond its end: word 0 is left out, but nothing stops there"),
        (changed(pick=lambda log_p: int(log_p.argmin())),
         "that is the least likely word: the largest log p is wanted, the one nearest to 0"),
        (changed(pick=lambda log_p: rest(log_p) + 1), "the end is a word too, 0: without it no sentence ever stops"),
        (changed(pick=rest), "numbers of words begin with 0: leaving out the first moves them all by one"),
        (changed(pick=lambda log_p: int(log_p.argsort()[-2])), "that is the second of the likeliest words"),
        (lambda *case: [word + 1 for word in _written(*case)], "your numbers are all one too large"),
        (lambda *case: [word - 1 for word in _written(*case)], "your numbers are all one too small"),
        (lambda step, state, limit: _written(step, state, limit + 1), "one word too many where a sentence is cut"),
        (lambda step, state, limit: _written(step, state, limit - 1), "one word too few where a sentence is cut"),
        (lambda step, state, limit: _written(step, state, 50), lambda step, state, limit: _written(step, state, 63),
         "a sentence that does not end is cut after `max_length` words"),
        (lambda *case: _written(*case)[::-1], "the words are in the wrong order: append each at the end"),
        (lambda *case: _written(*case)[:1], "that is the first word only: go on until the end"),
        (lambda *case: _written(*case)[-1:], "that is the last word only: keep them all"),
        (lambda *case: [], "nothing is written: append each word"),
        (lambda *case: _written(*case)[1:], "the first word is missing"),
        (lambda *case: _written(*case)[:-1], "the last word is missing"),
        (lambda *case: sorted(_written(*case)), "the words stand in the order in which they are written, not sorted"),
        (lambda *case: list(dict.fromkeys(_written(*case))), "a word may come again: keep each one"),
        (lambda *case: (_written(*case) + [0] * 99)[: case[2]],
         "a sentence is as long as it is: do not fill it up with 0"),
        (changed(twice=True), "step is asked twice for a word: each time the state goes on"),
        (lambda step, state, limit: step(state, 0)[0].argsort()[::-1][:limit],
         "these are the likeliest first words: each further word needs a step of its own"),
        (lambda step, state, limit: [int(step(state, 0)[0].argmax())] * limit,
         "step is asked once only: each further word needs a step of its own"),
        (changed(late=True), "step must read the word written last, not the one before"),
        (changed(once=True), "yours stops at a word that it has written before: only word 0 ends a sentence"),
    )  # fmt: skip
    complaint = find_mistake(
        answer, lambda step, state, limit: _written(step, state, limit), cases, mistakes, read=_sentence
    )
    return _first_other(answer, cases) if isinstance(complaint, Unnamed) else complaint


_Step: TypeAlias = Callable[[Any, Any], tuple[np.ndarray, int]]
_PATIENCE = 50_000  # calls of step: a loop that never stops is stopped


def _speaker(seed: int, *, words: int, steep: float, end: int) -> _Step:
    """A decoder of so many words whose states are 0, 1, 2 and so on; in state `end` the end is the likeliest."""
    scores = steep * np.random.default_rng([57, seed]).normal(size=(64, words, words))
    scores[:, :, 0] = np.median(scores, axis=2)
    scores[end, :, 0] = scores.max() + steep
    log_p, calls = log_softmax(scores, axis=2), count()

    def step(state: Any, word: Any) -> tuple[np.ndarray, int]:
        if next(calls) > _PATIENCE:
            raise Unfit("your loop never stops: a sentence that does not end is cut after `max_length` words")
        if not isinstance(state, int):
            raise Unfit(
                "step reads the state that it returned last, then the word: it was given something else as state"
            )
        if np.size(word) != 1 or not 0 <= int(word) < words:
            raise Unfit(f"step reads a word's number, 0 to {words - 1} in the case of the check: it was given {word!r}")
        return log_p[state % 64, int(word)].copy(), state + 1

    return step


def _written(
    step: _Step,
    state: int,
    max_length: int,
    *,
    pick: Callable[[np.ndarray], int] = lambda log_p: int(log_p.argmax()),
    end: bool = False,
    forget: bool = False,
    blind: bool = False,
    stop: bool = True,
    skip: bool = False,
    late: bool = False,
    once: bool = False,
    twice: bool = False,
) -> list[int]:
    """Greedy decoding; each word after the star is a mistake that one can make in it."""
    words: list[int] = []
    word = before = 0
    for _ in range(max_length):
        log_p, after = step(state, 0 if blind else before if late else word)
        if twice:
            log_p, after = step(after, word)
        state = state if forget else after
        before, word = word, pick(log_p)
        if once and word in words:
            break
        if word == 0 and skip:
            continue
        if word == 0 and stop:
            return [*words, 0] if end else words
        words.append(word)
    return words


def _sentence(answer: Any) -> np.ndarray:
    """The words' numbers as one text, so that two sentences are shown side by side."""
    if isinstance(answer, str):
        raise Unfit("a list of the words' numbers was expected, and a text came")
    if isinstance(answer, tuple | list) and any(isinstance(each, tuple | list) for each in answer):
        raise Unfit("a list of the words' numbers was expected, and nothing else: there is a list within yours")
    found = array(answer)
    if found.ndim != 1 or (found != found.round()).any():
        raise Unfit("a list of the words' numbers was expected: whole numbers, one a word")
    return np.asarray(" ".join(f"{number:.0f}" for number in found) or "no word")


def _first_other(answer: Callable[..., Any], cases: list[tuple[_Step, int, int]]) -> str:
    """The place at which the answer's sentence leaves the greedy one."""
    for case in cases:
        mine, right = array(answer(*case)).tolist(), _written(*case)
        place = next(
            (k for k, (a, b) in enumerate(zip(mine, right, strict=False)) if a != b), min(len(mine), len(right))
        )
        if mine != right:
            begun = " ".join(map(str, right[:place])) or "nothing"
            wanted = f"word {right[place]}" if place < len(right) else "the end"
            got = f"word {mine[place]:.0f}" if place < len(mine) else "the end"
            return Unnamed(f"in a case of the check, after {begun}, {wanted} comes next; yours has {got}")
    return Unnamed("yours writes another sentence when it is asked again")
