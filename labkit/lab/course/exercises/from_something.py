"""Notebook 11: what labels bring to who starts from nothing, and to who starts from something."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from labkit.evaluation.comparison import Parts, lead_of
from labkit.lab.course.exercise import Arrays, Unfit, array, check, find_mistake, number

VERDICTS = ("yes", "no", "measure more")


# --- where two lines cross --------------------------------------------------------------------------------------

Curves: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # numbers of labels, the figures of two methods


def drawn_curves(seed: int) -> list[Curves]:
    """Some that catch up and stay ahead, some that fall back, one that never catches up, and one level at the last."""
    draw = np.random.default_rng(seed)
    cases = []
    back, level = ((-2, -1, 1.5, -0.7, 2), (-2, 1.5, -0.7, -1)), (-3, -1, 0)
    for gaps in ((-3, -2, -1.4, 0.6, 1.5), *back, (-4, -1, -2.5, -3), (1, 2, 3), (-1, 2, 3, 4), level):
        labels = draw.integers(80, 130) * 2.0 ** np.cumsum(draw.integers(1, 3, size=len(gaps)))
        b = 0.7 + np.sort(draw.uniform(0, 0.1, size=len(gaps)))
        cases.append((labels, b + 0.01 * np.array(gaps) * draw.uniform(0.9, 1.1, size=len(gaps)), b))
    return cases


def crossing_on(
    position: Callable[[float], float], back: Callable[[float], float], behind: Callable[[np.ndarray], float]
) -> Callable[..., Any]:
    """Give the rule of where a catches up, on an axis of one's own; `behind`: what comes where it never does."""

    def found(labels: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
        gap = a - b
        ahead = np.flatnonzero(gap >= 0)
        if not len(ahead):
            return behind(labels)
        if ahead[0] == 0:
            return labels[0]
        at = int(ahead[0])
        share = gap[at - 1] / (gap[at - 1] - gap[at])
        return back((1 - share) * position(labels[at - 1]) + share * position(labels[at]))

    return found


@check("11.1")
def check_crossing(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The crossing on a straight line over log2 of the labels, from the last point behind to the first that is not."""
    right = crossing_on(np.log2, np.exp2, lambda labels: inf)

    def named(labels: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
        return right(labels, a, b)

    def at_point(of: Callable[[int], int]) -> Callable[..., Any]:
        """A measured point in the place of one between two."""

        def found(labels: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
            ahead = np.flatnonzero(a >= b)
            return inf if not len(ahead) else labels[max(0, of(int(ahead[0])))]

        return found

    def last_behind(labels: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
        return labels[a < b][-1] if (a < b).any() else labels[0]

    first_ahead, before_it = at_point(lambda at: at), at_point(lambda at: at - 1)
    between = "the lines cross between two points: go so far from one to the other as the gap says"
    mistakes = (
        (crossing_on(float, float, lambda labels: inf), crossing_on(float, float, lambda labels: labels[-1]),
         "on a straight line over the labels themselves; over their logarithm, as is drawn here, it lies elsewhere"),
        (crossing_on(np.log2, float, lambda labels: inf), crossing_on(np.log, float, lambda labels: inf),
         "that is the logarithm of the number; raise 2 (or e) to it"),
        (lambda labels, a, b: right(labels, a, b) if a[-1] >= b[-1] else inf,
         lambda labels, a, b: np.exp2(np.interp(0, a - b, np.log2(labels))) if (a >= b).any() else inf,
         "where a falls back later it has caught up all the same: the first time counts (np.interp wants rising gaps)"),
        (lambda labels, a, b: right(labels, a, b) if (a > b).any() else inf, "level is caught up: a gap of 0 counts"),
        (first_ahead, f"that is the first point at which a is not behind; {between}"),
        (before_it, last_behind, f"that is a point at which a is still behind; {between}"),
        (lambda labels, a, b: labels[abs(a - b).argmin()], f"that is the point where they are nearest; {between}"),
        (crossing_on(np.log2, np.exp2, lambda labels: labels[-1]), crossing_on(np.log2, np.exp2, lambda labels: 0.0),
         crossing_on(np.log2, np.exp2, lambda labels: nan), crossing_on(np.log2, np.exp2, lambda labels: -1.0),
         lambda labels, a, b: np.exp2(np.interp(0, a - b, np.log2(labels))),
         "where a never catches up no number of labels is known: np.inf (np.interp would give the last one)"),
        (lambda labels, a, b: inf, "in some of the cases a does catch up: look where the gap is 0 or more"),
        (lambda labels, a, b: right(labels, b, a), "a and b have changed places: a is the one that is to catch up"),
        (lambda labels, a, b: right(labels, a, b) / labels[-1], "as a number of labels, please, not as a share of all"),
        (lambda labels, a, b: np.flatnonzero(a >= b)[0] if (a >= b).any() else inf,
         f"that is the place in the list; the number of labels is asked for, and {between}"),
        (lambda labels, a, b: crossing_on(np.log2, np.exp2, lambda labels: inf)(labels[::-1], a[::-1], b[::-1]),
         "from the left: the first time that a catches up counts"),
        (lambda *case: (first_ahead(*case) + before_it(*case)) / 2,
         lambda *case: (first_ahead(*case) * before_it(*case)) ** 0.5,
         "that is the middle between two points; the gaps say how far from either the lines cross"),
    )  # fmt: skip
    return find_mistake(answer, named, drawn_curves(31), mistakes, tolerance=1e-4)


# --- a paired interval ------------------------------------------------------------------------------------------


def _two_ends(answer: Any) -> Arrays:
    """Two numbers, in whatever they came."""
    values = [*answer] if isinstance(answer, tuple | list | np.ndarray) and np.ndim(answer) else array(answer).ravel()
    if len(values) != 2:
        raise Unfit("two ends were expected, as in `return low, high`")
    return tuple(np.asarray(number(each)) for each in values)


@check("11.2")
def check_paired_interval(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Student's interval of the mean of a - b."""
    draw = np.random.default_rng(23)
    cases = []
    for count, lead in ((5, 0.03), (3, 0.03), (8, -0.004)):  # in the last some seeds are ahead, some behind
        luck = draw.normal(scale=0.02, size=count)  # which both share
        cases.append(tuple(level + luck + draw.normal(scale=0.01, size=count) for level in (0.81 + lead, 0.81)))

    def right(a: np.ndarray, b: np.ndarray) -> Any:
        lead = lead_of(*([Parts(np.array([value]), np.ones(1)) for value in each] for each in (a, b)))
        return lead.interval()

    def by(half: Callable[[np.ndarray], Any]) -> Callable[..., Any]:
        """A mistake of half the width."""
        return lambda a, b: ((a - b).mean() - half(a - b), (a - b).mean() + half(a - b))

    def error(d: np.ndarray, less: int = 1) -> float:
        return float(d.std(ddof=less) / len(d) ** 0.5)

    def t(d: np.ndarray, share: float = 0.975) -> float:
        return float(stats.t.ppf(share, len(d) - 1))

    def alone(which: int) -> Callable[..., Any]:
        def of(*both: np.ndarray) -> Any:
            x = both[which]
            return x.mean() - t(x) * error(x), x.mean() + t(x) * error(x)

        return of

    def unpaired(freedom: Callable[[int], int]) -> Callable[..., Any]:
        def of(a: np.ndarray, b: np.ndarray) -> Any:
            half = stats.t.ppf(0.975, freedom(len(a))) * (error(a) ** 2 + error(b) ** 2) ** 0.5
            return a.mean() - b.mean() - half, a.mean() - b.mean() + half

        return of

    mistakes = (
        (unpaired(lambda n: n - 1), unpaired(lambda n: 2 * n - 2), unpaired(lambda n: 10**9),
         "those are two spreads added: the runs are pairs, a seed each, so take the differences first"),
        (by(lambda d: t(d) * error(d, 0)), "your spread divides by n; of a few seeds divide by n - 1 (`ddof=1`)"),
        (by(lambda d: t(d) * d.std(ddof=1)), by(lambda d: t(d) * d.std()),
         "that is for one more seed; the mean of n is surer: divide by √n"),
        (by(lambda d: t(d) * error(d) / len(d) ** 0.5), by(lambda d: t(d) * d.std() / len(d)),
         "you divide by n, or twice by √n: once by √n"),
        (by(lambda d: 1.96 * error(d)), by(lambda d: 2 * error(d)), by(lambda d: stats.norm.ppf(0.975) * error(d)),
         "1.96 is for many seeds; of so few the spread itself is unsure, and Student's t is larger"),
        (by(lambda d: t(d, 0.95) * error(d)),
         "from both sides: a fortieth is left out at either end, `t.ppf(0.975, n - 1)`"),
        (by(lambda d: stats.t.ppf(0.975, len(d)) * error(d)), by(lambda d: stats.t.ppf(0.975, len(d) - 2) * error(d)),
         "n differences have n - 1 degrees of freedom"),
        (lambda a, b: right(b, a), "a less b: yours is the lead of b"),
        (lambda a, b: right(abs(a - b), 0 * a), "some seeds are behind: leave the differences their signs"),
        (lambda a, b: ((a - b).mean(), t(a - b) * error(a - b)),
         "that is the middle and half the width; the two ends are asked for"),
        (lambda a, b: ((a - b).min(), (a - b).max()),
         "those are the smallest and the largest of the seeds: with more seeds they would go apart, and this draws in"),
        (by(lambda d: d.std(ddof=1)), by(lambda d: d.std()),
         "that is one spread of the seeds to either side, which says nothing of how sure the mean is"),
        (by(error), by(lambda d: error(d, 0)),
         "that is one standard error to either side; 95 % take t.ppf(0.975, n - 1) of them"),
        (alone(0), "that is the interval of a alone; the lead is asked for"),
        (alone(1), "that is the interval of b alone; the lead is asked for"),
        (lambda a, b: right(a, b)[::-1], "the lower end comes first"),
        (lambda a, b: np.percentile(a - b, [2.5, 97.5]),
         "percentiles of a few seeds are hardly more than their ends; take Student's interval of the mean"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_two_ends)


# --- how much of a way ------------------------------------------------------------------------------------------


@check("11.3")
def check_gap_closed(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(taught - nothing) / (something - nothing), below 0 and above 1 as it comes."""
    draw = np.random.default_rng(11)
    cases = []
    for share, sign in ((0.4, 1), (1.3, 1), (-0.2, 1), (0.8, 1), (0.7, -1)):  # the last way leads down, as with places
        nothing, way = draw.uniform(0.4, 0.6), sign * draw.uniform(0.1, 0.3)
        cases.append((nothing, nothing + way * (share + draw.uniform(-0.05, 0.05)), nothing + way))

    def right(nothing: float, taught: float, something: float) -> Any:
        return (taught - nothing) / (something - nothing)

    mistakes = (
        (lambda n, t, s: (s - t) / (s - n), "that is what is left of the way; what is gone is asked for"),
        (lambda n, t, s: t / s, lambda n, t, s: 1 - t / s,
         "the way does not begin at 0: it begins at `nothing`, which is taken off both"),
        (lambda n, t, s: (t - n) / s, lambda n, t, s: (t - n) / n, "divide by the whole way, `something - nothing`"),
        (lambda n, t, s: t - n, lambda n, t, s: s - t, lambda n, t, s: s - n,
         "that is how much, not which share: divide by the whole way, `something - nothing`"),
        (lambda n, t, s: (t - n) / (s - t), "that is what is gone over what is left to go; divide by the whole way"),
        (lambda n, t, s: 100 * right(n, t, s), "as a share, please, not in per cent: 1 is the whole way"),
        (lambda n, t, s: min(1, max(0, right(n, t, s))), lambda n, t, s: min(1, right(n, t, s)),
         lambda n, t, s: max(0, right(n, t, s)),
         "who goes beyond the end has more than 1, and who falls behind less than 0: do not cut it off"),
        (lambda n, t, s: abs(right(n, t, s)), lambda n, t, s: -right(n, t, s), lambda n, t, s: abs(t - n) / (s - n),
         "the sign counts: above 0 where labels have gone towards the end"),
        (lambda n, t, s: (t - n) / abs(s - n), "a way may lead down: leave `something - nothing` its sign"),
        (lambda n, t, s: 1 / right(n, t, s), "upside down: the whole way stands below the line"),
        (lambda n, t, s: 1 - right(n, t, s), "that is what is left of the way; what is gone is asked for"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


# --- a way back -------------------------------------------------------------------------------------------------


@check("11.4")
def check_way_back(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(1 - share) · learned + share · start."""
    draw = np.random.default_rng(47)
    cases = [
        (draw.normal(size=shape), draw.normal(size=shape), draw.uniform(*share))
        for shape, share in (((4, 3), (0.2, 0.4)), ((5, 2), (0.6, 0.8)), ((6,), (0.05, 0.15)))
    ]

    def right(start: np.ndarray, learned: np.ndarray, share: float) -> Any:
        return (1 - share) * learned + share * start

    mistakes = (
        (lambda s, w, p: right(w, s, p), "turned round: share 0 is what was learned, share 1 is the start"),
        (lambda s, w, p: w + p * s, lambda s, w, p: s + p * w, lambda s, w, p: w - p * s,
         "what is put in must be taken off the other: 1 - share of what was learned"),
        (lambda s, w, p: p * (s - w), lambda s, w, p: p * (w - s),
         "that is the step alone: where does it start from?"),
        (lambda s, w, p: w - p * (s - w), "yours goes away from the start: the way back is `start - learned`"),
        (lambda s, w, p: (1 - p) * w, lambda s, w, p: p * w,
         "those are smaller weights: a share of the start itself is missing"),
        (lambda s, w, p: p * s, "a share of the start; that of what was learned is missing"),
        (lambda s, w, p: (1 - p) * w + s, lambda s, w, p: w + s, "the start counts by share, too, not whole"),
        (lambda s, w, p: right(s, w, p) / 2, "a mean of two is halved; the two shares here are 1 together already"),
        (lambda s, w, p: s, "that is the start itself, whatever the share"),
        (lambda s, w, p: w, "that is what was learned, whatever the share"),
        (lambda s, w, p: np.where(np.arange(w.size).reshape(w.shape) < p * w.size, s, w),
         "each number goes a share of its way; yours puts some back whole and leaves others"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


# --- a decision -------------------------------------------------------------------------------------------------


def _verdict(answer: Any) -> np.ndarray:
    """One of three words."""
    if not isinstance(answer, str) or answer not in VERDICTS:
        raise Unfit(f'a word of three was expected, "yes", "no" or "measure more", and {answer!r:.40} came')
    return np.asarray(answer)


def drawn_decisions(seed: int) -> list[tuple[float, ...]]:
    """Intervals above, below and around what the costs ask for, with 0 inside and outside; dear labels and cheap."""
    draw = np.random.default_rng(seed)
    #: ends of the interval as shares of what is needed; the two of "measure more" have their middles on either side
    above, below, around = ((1.2, 1.9), (1.1, 3.0)), ((0.3, 0.8), (0.5, 0.95)), ((0.6, 2.0), (0.1, 1.3))
    with_0_inside = ((-0.6, 0.7), (-0.4, 1.8))
    ends = (*above, *below, (-1.5, -0.2), *around, *with_0_inside)
    cases: list[tuple[float, ...]] = []
    for worth in (0.4, 30.0, 900.0):
        for low, high in ends:
            need = draw.uniform(0.01, 0.04)
            labels, hundredth = int(draw.integers(100, 4_000)), worth * draw.uniform(0.7, 1.4)
            price = 100 * need * hundredth / labels
            low, high = (need * (end + draw.uniform(-0.03, 0.03)) for end in (low, high))
            cases.append((low, high, labels, price, hundredth))
    return cases


@check("11.5")
def check_worth(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """What the labels cost, as a lead; above it, below it, or around it."""

    def by(need: Callable[..., float]) -> Callable[..., str]:
        def rule(low: float, high: float, labels: int, price: float, hundredth: float) -> str:
            wanted = need(labels, price, hundredth)
            return "yes" if low > wanted else "no" if high < wanted else "measure more"

        return rule

    rule = by(lambda labels, price, hundredth: labels * price / hundredth / 100)

    def right(low: float, high: float, labels: int, price: float, hundredth: float) -> Any:
        return rule(low, high, labels, price, hundredth)

    def said(**instead: str) -> Callable[..., str]:
        """Another word in the place of the right one."""
        return lambda *case: instead.get(rule(*case).replace(" ", "_"), rule(*case))

    def middle(low: float, high: float, *costs: Any) -> str:
        return rule((low + high) / 2, (low + high) / 2, *costs)

    mistakes = (
        *((lambda *case, word=word: word, f"yours says {word!r} whatever the case is: look at it")
          for word in ("yes", "measure more")),
        (middle, "yours looks at the middle of the interval alone: what do its two ends say?"),
        (by(lambda labels, price, hundredth: 0), by(lambda labels, price, hundredth: price / hundredth / 100),
         lambda low, high, *costs: "yes" if low > 0 else "no",
         "yours asks for a lead above 0, or above what one label costs; what all of them cost is labels · price"),
        (by(lambda labels, price, hundredth: labels * price / hundredth),
         "yours says 'no' to all: a lead of 1 is a hundred hundredths, so divide by 100, too"),
        (by(lambda labels, price, hundredth: labels * price * hundredth / 100),
         "costs divided by what a hundredth is worth are hundredths: divide, do not multiply"),
        (by(lambda labels, price, hundredth: labels * price / 100),
         "that is money, and an interval has none: divide by what a hundredth is worth"),
        (by(lambda labels, price, hundredth: hundredth / (labels * price) / 100),
         "upside down: the more the labels cost, the larger a lead they need"),
        (by(lambda labels, price, hundredth: labels / hundredth / 100), "the price of a label is missing"),
        (by(lambda labels, price, hundredth: price * 100 / hundredth / 100),
         "the number of labels is missing"),
        (said(yes="no", no="yes"), 'turned round: "yes" where even the lower end is above what is needed'),
        (said(measure_more="no"),
         "where what is needed lies inside the interval it is not known yet, and your rule says no"),
        (said(measure_more="yes"),
         "where what is needed lies inside the interval it is not known yet, and your rule says yes: have the two ends "
         "changed places?"),
        (said(measure_more="no", no="measure more"), 'your "no" and "measure more" have changed places'),
        (said(measure_more="yes", yes="measure more"), 'your "yes" and "measure more" have changed places'),
        (lambda low, high, *costs: "measure more" if low <= 0 <= high else middle(low, high, *costs),
         lambda low, high, *costs: "measure more" if low <= 0 <= high else said(measure_more="yes")(low, high, *costs),
         lambda low, high, *costs: "measure more" if low <= 0 <= high else rule(low, high, *costs),
         "whether 0 is inside says whether there is a lead; here it has to be above what the labels cost"),
        (lambda low, high, *costs: rule(abs(low), abs(high), *costs), "a lead below 0 is none: leave the sign"),
    )  # fmt: skip
    return find_mistake(answer, right, drawn_decisions(59), mistakes, read=_verdict)
