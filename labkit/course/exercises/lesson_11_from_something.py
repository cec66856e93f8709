"""Notebook 11: learning curves, their crossing, a forecast by a line, and whether a lead is worth its price."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from scipy import stats

from labkit.course.exercise import Unfit, array, check, find_mistake, several


@check("11.1")
def check_learning_curve(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """One row of scores per share, one column per seed."""

    def world(shares: list[float], seeds: list[int]) -> tuple[Any, ...]:
        found = {(share, seed): float(random.uniform(0.5, 0.9)) for share in shares for seed in seeds}
        return lambda share, seed: (share, seed), lambda method: found[method], shares, seeds

    def right(train: Any, score: Any, shares: Any, seeds: Any) -> np.ndarray:
        return np.array([[score(train(share, seed)) for seed in seeds] for share in shares])

    cases = [world([0.1, 0.5], [0, 1, 2]), world([0.25, 0.5, 1.0], [0, 1, 2, 3, 4]), world([0.2, 0.4, 1.0], [0, 7])]
    mistakes = (
        (lambda *case: right(*case).mean(1), "that is the mean of each share: keep the score of every seed"),
        (lambda *case: right(*case).ravel(), "the scores are right, but in one row: give each share a row of its own"),
        (lambda train, score, shares, seeds: right(train, score, shares, [seeds[0]] * len(seeds)),
         lambda train, score, shares, seeds: right(train, score, shares, [seeds[-1]] * len(seeds)),
         "all columns of yours have the same seed"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("11.2")
def check_interval(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Student's 95 % interval of the mean of each row."""
    cases = [(random.uniform(0.5, 0.9, size=shape),) for shape in ((4, 3), (2, 5), (6, 4))]

    def by(ddof: int = 1, factor: Callable[[int], float] | None = None, axis: int = 1) -> Callable[..., Any]:
        def found(values: np.ndarray) -> Any:
            n, mean = values.shape[axis], values.mean(axis=axis)
            times = factor(n) if factor else stats.t.ppf(0.975, n - 1) / n**0.5
            half = times * values.std(axis=axis, ddof=ddof)
            return mean, mean - half, mean + half

        return found

    mistakes = (
        (by(ddof=0), "your standard deviation divides by n: use `ddof=1`"),
        (by(factor=lambda n: stats.t.ppf(0.975, n - 1)), "that is for one more seed: for the mean, divide by √n"),
        (by(factor=lambda n: 1.96 / n**0.5), "1.96 is for many seeds: with few, use Student's t"),
        (by(factor=lambda n: stats.t.ppf(0.95, n - 1) / n**0.5),
         "2.5 % are beyond each end of a 95 % interval: `t.ppf(0.975, n - 1)`"),
        (by(axis=0), "yours has a mean for each column: take one for each row, `axis=1`"),
    )  # fmt: skip
    read = several(3, array, "expected three arrays, as in `return mean, low, high`")
    return find_mistake(answer, by(), cases, mistakes, read=read)


@check("11.3")
def check_crossing(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The crossing on a straight line over log2 of the labels, from the last point behind to the first that is not."""
    falls_back, never, level = (-2, -1, 1.5, -0.7, 2), (-4, -1, -2.5, -3), (-3, -1, 0)
    cases = []
    for gaps in ((-3, -2, -1.4, 0.6, 1.5), falls_back, falls_back[1:4], never, (1, 2, 3), (-1, 2, 3, 4), level):
        labels = random.integers(80, 130) * 2.0 ** np.cumsum(random.integers(1, 3, size=len(gaps)))
        b = 0.7 + np.sort(random.uniform(0, 0.1, size=len(gaps)))
        cases.append((labels, b + 0.01 * np.array(gaps) * random.uniform(0.9, 1.1, size=len(gaps)), b))

    def crossing(
        position: Callable[[float], float],
        back: Callable[[float], float],
        share: Callable[[float, float], float] = lambda before, after: before / (before - after),
    ) -> Callable[..., Any]:
        """The crossing on another axis, or with another share of the distance between two points."""

        def found(labels: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
            ahead = np.flatnonzero(a >= b)
            if not len(ahead) or ahead[0] == 0:
                return labels[0] if len(ahead) else inf
            at = int(ahead[0])
            gone = share(a[at - 1] - b[at - 1], a[at] - b[at])
            return back((1 - gone) * position(labels[at - 1]) + gone * position(labels[at]))

        return found

    def right(labels: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
        return crossing(np.log2, np.exp2)(labels, a, b)

    mistakes = (
        (crossing(float, float),
         "that line is straight over the labels themselves: use their logarithm, as in the figure"),
        (crossing(np.log2, np.exp2, lambda before, after: 1.0), crossing(np.log2, np.exp2, lambda *both: 0.0),
         "that is one of the measured points: the lines cross between two of them, where the gap is 0"),
        (crossing(np.log2, np.exp2, lambda before, after: after / (after - before)),
         "the two shares have changed places: the crossing is near the point with the small gap"),
        (lambda labels, a, b: min(right(labels, a, b), labels[-1]), "if a never catches up, return infinity"),
        (lambda labels, a, b: right(labels, a, b) if a[-1] >= b[-1] else inf,
         "a may fall behind again later: return the first time that it catches up"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=1e-4)


@check("11.4")
def check_forecast(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Where the least-squares line over log2 of the labels reaches the target."""
    cases = []
    for count, gain in ((3, 0.04), (4, 0.02), (5, 0.06), (3, -0.03)):
        labels = random.integers(80, 300) * 2.0 ** np.arange(count)
        scores = 0.6 + gain * np.arange(count) + random.uniform(-0.008, 0.008, size=count)
        cases.append((labels, scores, float(random.uniform(0.85, 0.9))))

    def by(position: Callable[[Any], Any], back: Callable[[Any], Any], falling: Any = inf) -> Callable[..., Any]:
        """The same on another axis; `falling` is the result for a line that does not rise, None without a check."""

        def found(labels: np.ndarray, scores: np.ndarray, target: float) -> Any:
            slope, start = np.polyfit(position(labels), scores, 1)
            return back((target - start) / slope) if slope > 0 or falling is None else falling

        return found

    right = by(np.log2, np.exp2)
    mistakes = (
        (by(float_array, float_array), "that line is straight over the labels themselves: take their logarithm"),
        (by(np.log2, float_array), "that is log2 of the number of labels: `np.exp2` gives the number"),
        (by(np.log, np.exp2), by(np.log2, np.exp), "log2 and exp2 belong together: one undoes the other"),
        (by(np.log2, np.exp2, None), "if the line does not rise, it never reaches the target: return infinity"),
        (lambda labels, scores, target: right(labels[-2:], scores[-2:], target),
         "your line goes through the last two points only: fit it to all of them"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=1e-4)


def float_array(values: Any) -> Any:
    """The same numbers: an axis without a logarithm."""
    return np.asarray(values, dtype=float)


@check("11.5")
def check_worth(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The cost of the labels as a lead: above it, below it, or around it."""
    above, below, around = ((1.2, 1.9), (1.1, 3.0)), ((0.3, 0.8), (0.5, 0.95), (-1.5, -0.2)), ((0.6, 2.0), (0.1, 1.3))
    cases: list[tuple[float, ...]] = []
    for worth in (0.4, 30.0, 900.0):
        for ends in (*above, *below, *around, (-0.6, 0.7), (-0.4, 1.8)):  # as shares of the required lead
            need, labels = random.uniform(0.01, 0.04), int(random.integers(100, 4_000))
            hundredth = float(worth * random.uniform(0.7, 1.4))
            low, high = (float(need * (end + random.uniform(-0.03, 0.03))) for end in ends)
            cases.append((low, high, labels, float(100 * need * hundredth / labels), hundredth))

    def by(scale: float) -> Callable[..., str]:
        """The rule with another required lead."""

        def rule(low: float, high: float, labels: int, price: float, hundredth: float) -> str:
            need = labels * price / hundredth / scale
            return "yes" if low > need else "no" if high < need else "measure more"

        return rule

    def right(low: float, high: float, labels: int, price: float, hundredth: float) -> str:
        return by(100)(low, high, labels, price, hundredth)

    def middle(low: float, high: float, *costs: Any) -> str:
        return right((low + high) / 2, (low + high) / 2, *costs)

    mistakes = (
        (middle, "yours looks at the middle of the interval alone: what do its two ends say?"),
        (by(1), "a hundredth is 0.01 of the lead: divide by 100"),
        (lambda low, high, *costs: right(high, high, *costs),
         "'yes' is where even the *lower* end is above what is needed"),
        (lambda *case: {"yes": "no", "no": "yes"}.get(right(*case), right(*case)), "yes and no are exchanged"),
        (lambda low, high, *costs: "yes" if low > 0 else "no" if high < 0 else "measure more",
         "yours compares with 0: what is needed is what the labels cost, as a lead"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_verdict)


def _verdict(answer: Any) -> np.ndarray:
    """One of three words."""
    if answer not in ("yes", "no", "measure more"):
        raise Unfit(f'expected "yes", "no" or "measure more", got {answer!r:.40}')
    return np.asarray(answer)
