"""Notebook 11: what labels bring to who starts from nothing, and to who starts from something."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from scipy import stats

from labkit.course.exercise import Unfit, check, find_mistake, number, several
from labkit.evaluation.comparison import Parts, lead_of


@check("11.1")
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
        (lambda labels, a, b: min(right(labels, a, b), labels[-1]), "where a never catches up infinity was asked for"),
        (lambda labels, a, b: right(labels, a, b) if a[-1] >= b[-1] else inf,
         "where a falls back later it has caught up all the same: the first time counts"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=1e-4)


@check("11.2")
def check_paired_interval(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Student's interval of the mean of a - b."""
    cases = []
    for count, lead in ((5, 0.03), (3, 0.03), (8, -0.004)):  # in the last some seeds are ahead, some behind
        luck = random.normal(scale=0.02, size=count)  # which both share
        cases.append(tuple(level + luck + random.normal(scale=0.01, size=count) for level in (0.81 + lead, 0.81)))

    def right(a: np.ndarray, b: np.ndarray) -> Any:
        lead = lead_of(*([Parts(np.array([value]), np.ones(1)) for value in each] for each in (a, b)))
        return lead.interval()

    def by(half: Callable[[np.ndarray, int], Any]) -> Callable[..., Any]:
        """A mistake of half the width."""
        return lambda a, b: tuple((a - b).mean() + side * half(a - b, len(a)) for side in (-1, 1))

    def t(n: int, share: float = 0.975) -> float:
        return float(stats.t.ppf(share, n - 1))

    mistakes = (
        (by(lambda d, n: t(n) * d.std() / n**0.5),
         "your spread divides by n; of a few seeds divide by n - 1 (`ddof=1`)"),
        (by(lambda d, n: t(n) * d.std(ddof=1)), "that is for one more seed; the mean of n is surer: divide by √n"),
        (by(lambda d, n: 1.96 * d.std(ddof=1) / n**0.5),
         "1.96 is for many seeds; of so few the spread itself is unsure, and Student's t is larger"),
        (by(lambda d, n: t(n, 0.95) * d.std(ddof=1) / n**0.5),
         "from both sides: a fortieth is left out at either end, `t.ppf(0.975, n - 1)`"),
        (by(lambda d, n: t(n + 1) * d.std(ddof=1) / n**0.5), "n differences have n - 1 degrees of freedom"),
    )  # fmt: skip
    read = several(2, number, "two ends were expected, as in `return low, high`")
    return find_mistake(answer, right, cases, mistakes, read=read)


@check("11.3")
def check_gap_closed(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(taught - nothing) / (something - nothing), below 0 and above 1 as it comes."""
    cases = []
    for share, sign in ((0.4, 1), (1.3, 1), (-0.2, 1), (0.8, 1), (0.7, -1)):  # the last way leads down, as with places
        nothing, way = float(random.uniform(0.4, 0.6)), sign * float(random.uniform(0.1, 0.3))
        cases.append((nothing, nothing + way * (share + float(random.uniform(-0.05, 0.05))), nothing + way))

    def right(nothing: float, taught: float, something: float) -> Any:
        return (taught - nothing) / (something - nothing)

    mistakes = (
        (lambda n, t, s: (s - t) / (s - n), "that is what is left of the way; what is gone is asked for"),
        (lambda n, t, s: t / s, "the way does not begin at 0: it begins at `nothing`, which is taken off both"),
        (lambda n, t, s: (t - n) / s, lambda n, t, s: (t - n) / n, lambda n, t, s: t - n,
         "divide by the whole way, `something - nothing`"),
        (lambda n, t, s: min(1, max(0, right(n, t, s))),
         "who goes beyond the end has more than 1, and who falls behind less than 0: do not cut it off"),
        (lambda n, t, s: (t - n) / abs(s - n), "a way may lead down: leave `something - nothing` its sign"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("11.4")
def check_way_back(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(1 - share) · learned + share · start."""
    cases = [
        (random.normal(size=shape), random.normal(size=shape), float(random.uniform(*share)))
        for shape, share in (((4, 3), (0.2, 0.4)), ((5, 2), (0.6, 0.8)), ((6,), (0.05, 0.15)))
    ]

    def right(start: np.ndarray, learned: np.ndarray, share: float) -> Any:
        return (1 - share) * learned + share * start

    mistakes = (
        (lambda s, w, p: right(w, s, p), "turned round: share 0 is what was learned, share 1 is the start"),
        (lambda s, w, p: w + p * s, "what is put in must be taken off the other: 1 - share of what was learned"),
        (lambda s, w, p: p * (s - w), "that is the step alone: where does it start from?"),
        (lambda s, w, p: w - p * (s - w), "yours goes away from the start: the way back is `start - learned`"),
        (lambda s, w, p: p * s, "a share of the start; that of what was learned is missing"),
    )
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
