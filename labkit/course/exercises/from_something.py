"""Notebook 11: learning curves, where they cross, how sure a lead is, and whether it is worth its price."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from scipy import stats

from labkit.course.exercise import Unfit, array, check, find_mistake, number, several


def half_width(values: np.ndarray, n: int) -> Any:
    """Half of Student's 95 % interval of a mean."""
    return stats.t.ppf(0.975, n - 1) * values.std(axis=-1, ddof=1) / n**0.5


@check("11.1")
def check_learning_curve(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Means over the seeds, and Student's interval of each."""

    def world(shares: list[float], seeds: list[int]) -> tuple[Any, ...]:
        found = {(share, seed): float(random.uniform(0.5, 0.9)) for share in shares for seed in seeds}
        return lambda share, seed: (share, seed), lambda method: found[method], shares, seeds

    cases = [world([0.1, 0.5], [0, 1, 2]), world([0.25, 0.5, 1.0], [0, 1, 2, 3, 4]), world([0.2, 1.0], [3, 7])]

    def by(half: Callable[[np.ndarray, int], Any] = half_width, axis: int = 1) -> Callable[..., Any]:
        def curve(train: Any, score: Any, shares: Any, seeds: Any) -> Any:
            values = np.array([[score(train(share, seed)) for seed in seeds] for share in shares])
            values = values if axis else values.T
            mean, width = values.mean(axis=1), half(values, values.shape[1])
            return mean, mean - width, mean + width

        return curve

    mistakes = (
        (by(lambda v, n: half_width(v, n) * v.std(axis=1) / v.std(axis=1, ddof=1)),
         "your standard deviation divides by n; use `ddof=1`"),
        (by(lambda v, n: half_width(v, n) * n**0.5), "that is for one more seed; for the mean divide by √n"),
        (by(lambda v, n: 1.96 * v.std(axis=1, ddof=1) / n**0.5), "1.96 is for many seeds; for few use Student's t"),
        (by(lambda v, n: half_width(v, n) * stats.t.ppf(0.95, n - 1) / stats.t.ppf(0.975, n - 1)),
         "a fortieth is left out at either end: `t.ppf(0.975, n - 1)`"),
        (by(axis=0), "yours has a mean for each seed; for each share is asked (`axis=1`)"),
    )  # fmt: skip
    read = several(3, array, "three arrays were expected, as in `return mean, low, high`")
    return find_mistake(answer, by(), cases, mistakes, read=read)


@check("11.2")
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
        """Where a catches up, on an axis of one's own, with another share of the way between two points."""

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
         "on a straight line over the labels themselves; over their logarithm, as is drawn here, it lies elsewhere"),
        (crossing(np.log2, np.exp2, lambda before, after: 1.0), crossing(np.log2, np.exp2, lambda *both: 0.0),
         "that is a point at which both are measured; the lines cross between two points, where the gap is 0"),
        (crossing(np.log2, np.exp2, lambda before, after: after / (after - before)),
         "the two shares are exchanged: near the point where the gap is small"),
        (lambda labels, a, b: min(right(labels, a, b), labels[-1]), "if a never catches up, return infinity"),
        (lambda labels, a, b: right(labels, a, b) if a[-1] >= b[-1] else inf,
         "where a falls back later it has caught up all the same: the first time counts"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=1e-4)


@check("11.3")
def check_lead(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean of a - b, Student's interval, and a word for it."""
    cases = []
    for count, lead in ((5, 0.08), (4, -0.09), (8, 0.001)):  # in the last some seeds are ahead, some behind
        luck = random.normal(scale=0.02, size=count)  # which both share
        own = random.permutation(np.linspace(-0.01, 0.01, count))
        cases.append((0.81 + lead + luck + own, 0.81 + luck))

    def by(half: Callable[[np.ndarray, int], Any], paired: bool = True) -> Callable[..., Any]:
        """The answer with this half of the width."""

        def found(a: np.ndarray, b: np.ndarray) -> Any:
            d = a - b
            width = half(d, len(d)) if paired else half(a, len(a)) + half(b, len(b))
            low, high = d.mean() - width, d.mean() + width
            return d.mean(), low, high, "ahead" if low > 0 else "behind" if high < 0 else "open"

        return found

    def read(given: Any) -> tuple[np.ndarray, ...]:
        if not isinstance(given, tuple | list) or len(given) != 4 or given[3] not in ("ahead", "behind", "open"):
            raise Unfit('four things were expected: mean, low, high, and "ahead", "behind" or "open"')
        return *(np.asarray(number(each)) for each in given[:3]), np.asarray(given[3])

    right = by(half_width)
    mistakes = (
        (by(lambda d, n: half_width(d, n) * d.std() / d.std(ddof=1)), "your spread divides by n: use `ddof=1`"),
        (by(lambda d, n: half_width(d, n) * n**0.5), "that is for one more seed; for the mean of n divide by √n"),
        (by(lambda d, n: 1.96 * d.std(ddof=1) / n**0.5), "1.96 is for many seeds; for few use Student's t"),
        (by(half_width, paired=False), "you add two intervals; take the one interval of the differences d"),
        (lambda a, b: right(b, a), "that is the lead of b over a"),
    )
    return find_mistake(answer, right, cases, mistakes, read=read)


@check("11.4")
def check_way_back(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(share, home, elsewhere) at learned + share (start - learned)."""
    cases = []
    for shape in ((4, 3), (5, 2), (6,)):
        shares = [0.0, *random.uniform(0.1, 0.9, size=2).tolist(), 1.0]
        cases.append((random.normal(size=shape), random.normal(size=shape), shares, np.sum, np.ptp))

    def by(weights: Callable[[Any, Any, float], Any]) -> Callable[..., Any]:
        def rows(start: Any, learned: Any, shares: Any, home: Any, elsewhere: Any) -> Any:
            return [(share, home(w := weights(start, learned, share)), elsewhere(w)) for share in shares]

        return rows

    right = by(lambda start, learned, share: learned + share * (start - learned))
    mistakes = (
        (by(lambda s, w, p: s + p * (w - s)), "turned round: share 0 is what was learned, share 1 is the start"),
        (by(lambda s, w, p: w + p * s), "what is put in must be taken off: learned + share * (start - learned)"),
        (by(lambda s, w, p: p * (s - w)), "that is the step alone; it starts from `learned`"),
        (by(lambda s, w, p: w - p * (s - w)), "yours goes away from the start: the way back is start - learned"),
        (lambda s, w, shares, home, elsewhere: [(p, b, a) for p, a, b in right(s, w, shares, home, elsewhere)],
         "home comes second and elsewhere third"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("11.5")
def check_worth(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """What the labels cost, as a lead; above it, below it, or around it."""
    above, below, around = ((1.2, 1.9), (1.1, 3.0)), ((0.3, 0.8), (0.5, 0.95), (-1.5, -0.2)), ((0.6, 2.0), (0.1, 1.3))
    cases: list[tuple[float, ...]] = []
    for worth in (0.4, 30.0, 900.0):
        for ends in (*above, *below, *around, (-0.6, 0.7), (-0.4, 1.8)):  # in shares of what is needed
            need, labels = random.uniform(0.01, 0.04), int(random.integers(100, 4_000))
            hundredth = float(worth * random.uniform(0.7, 1.4))
            low, high = (float(need * (end + random.uniform(-0.03, 0.03))) for end in ends)
            cases.append((low, high, labels, float(100 * need * hundredth / labels), hundredth))

    def by(scale: float) -> Callable[..., str]:
        """The rule, with another need."""

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
        raise Unfit(f'a word of three was expected, "yes", "no" or "measure more", and {answer!r:.40} came')
    return np.asarray(answer)
