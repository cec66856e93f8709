"""Notebook 11: each check takes the right answer in every form and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import stats

from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def half_width(d, quantile=0.975, spread=1):  # type: ignore[no-untyped-def]
    return stats.t.ppf(quantile, len(d) - 1) * d.std(ddof=spread) / len(d) ** 0.5


def around(middle, half):  # type: ignore[no-untyped-def]
    return middle - half, middle + half


def interval_by_scipy(a, b):  # type: ignore[no-untyped-def]
    found = stats.ttest_rel(a, b).confidence_interval(0.95)
    return [found.low, found.high]


def interval_by_the_package(a, b):  # type: ignore[no-untyped-def]
    from labkit.evaluation.comparison import Parts, lead_of

    return lead_of(*([Parts(np.array([v]), np.ones(1)) for v in each] for each in (a, b))).interval()


def interval_by_loops(a, b):  # type: ignore[no-untyped-def]
    d = [x - y for x, y in zip(a, b, strict=True)]
    mean = sum(d) / len(d)
    error = math.sqrt(sum((each - mean) ** 2 for each in d) / (len(d) - 1) / len(d))
    half = float(stats.t(len(d) - 1).ppf(0.975)) * error
    return mean - half, mean + half


def crossed(labels, a, b, position=np.log2, back=np.exp2, behind=math.inf):  # type: ignore[no-untyped-def]
    """Where a catches up with b; `position` and `back`: the axis on which a straight line is drawn."""
    gap = np.asarray(a) - np.asarray(b)
    ahead = np.flatnonzero(gap >= 0)
    if not len(ahead):
        return behind
    at = int(ahead[0])
    if at == 0:
        return labels[0]
    share = -gap[at - 1] / (gap[at] - gap[at - 1])
    one, two = position(labels[at - 1]), position(labels[at])
    return back(one + share * (two - one))


def crossed_by_interp(labels, a, b):  # type: ignore[no-untyped-def]
    for at in range(len(labels)):
        if a[at] >= b[at]:
            if at == 0:
                return labels[0]
            return math.exp(np.interp(0, (a - b)[at - 1 : at + 1], np.log(labels[at - 1 : at + 1])))
    return np.inf


def crossed_by_products(labels, a, b):  # type: ignore[no-untyped-def]
    """A straight line over logarithms is a product of powers."""
    if (a < b).all():
        return float("inf")
    at = next(place for place in range(len(a)) if a[place] >= b[place])
    if not at:
        return labels[at]
    before, after = b[at - 1] - a[at - 1], a[at] - b[at]
    return labels[at - 1] ** (after / (before + after)) * labels[at] ** (before / (before + after))


def ruled(low, high, labels, price, hundredth):  # type: ignore[no-untyped-def]
    need = labels * price / hundredth / 100
    return "yes" if low > need else "no" if high < need else "measure more"


def ruled_in_money(low, high, labels, price, hundredth):  # type: ignore[no-untyped-def]
    least, most = (100 * end * hundredth - labels * price for end in (low, high))
    if least > 0:
        return "yes"
    if most < 0:
        return "no"
    return "measure more"


def ruled_by_signs(low, high, labels, price, hundredth):  # type: ignore[no-untyped-def]
    need = labels * price / (100 * hundredth)
    return {2: "yes", 1: "measure more", 0: "no"}[int(low > need) + int(high > need)]


def said_otherwise(**words):  # type: ignore[no-untyped-def]
    return lambda *case: words.get(ruled(*case).replace(" ", "_"), ruled(*case))


def by_need(need):  # type: ignore[no-untyped-def]
    """The rule with another need."""

    def rule(low, high, labels, price, hundredth):  # type: ignore[no-untyped-def]
        wanted = need(labels, price, hundredth)
        return "yes" if low > wanted else "no" if high < wanted else "measure more"

    return rule


RIGHT = {
    "11.1": [crossed, crossed_by_interp, crossed_by_products],
    "11.2": [
        lambda a, b: around((a - b).mean(), half_width(a - b)),
        interval_by_scipy,
        interval_by_the_package,
        interval_by_loops,
    ],
    "11.3": [
        lambda nothing, taught, something: (taught - nothing) / (something - nothing),
        lambda nothing, taught, something: 1 - (something - taught) / (something - nothing),
        lambda nothing, taught, something: torch.tensor(taught - nothing) / (something - nothing),
        lambda nothing, taught, something: np.polyval(np.polyfit([nothing, something], [0, 1], 1), taught),
    ],
    "11.4": [
        lambda start, learned, share: (1 - share) * learned + share * start,
        lambda start, learned, share: learned + share * (start - learned),
        lambda start, learned, share: torch.lerp(torch.tensor(learned), torch.tensor(start), share),
        lambda start, learned, share: np.average([learned, start], axis=0, weights=[1 - share, share]),
    ],
    "11.5": [ruled, ruled_in_money, ruled_by_signs],
}
WRONG = {
    "11.1": [
        (lambda labels, a, b: crossed(labels, a, b, float, float), "logarithm"),
        (lambda labels, a, b: crossed(labels, a, b, back=float), "logarithm of the number"),
        (lambda labels, a, b: next((labels[i] for i in range(len(a)) if a[i] >= b[i]), np.inf), "between"),
        (lambda labels, a, b: labels[a < b][-1] if (a < b).any() else labels[0], "still behind"),
        (lambda labels, a, b: labels[abs(a - b).argmin()], "nearest"),
        (lambda labels, a, b: crossed(labels, a, b, behind=labels[-1]), "never"),
        (lambda labels, a, b: crossed(labels, a, b, behind=0.0), "never"),
        (lambda labels, a, b: crossed(labels, a, b, behind=math.nan), "never"),
        (lambda labels, a, b: crossed(labels, b, a), "changed places"),
        (lambda labels, a, b: np.exp2(np.interp(0, a - b, np.log2(labels))), "never"),
        (lambda labels, a, b: crossed(labels, a, b) / labels[-1], "share"),
        (lambda labels, a, b: np.flatnonzero(a >= b)[0] if (a >= b).any() else np.inf, "the place"),
        (lambda labels, a, b: crossed(labels, a, b, position=np.sqrt, back=np.square), "yours is"),
        (lambda labels, a, b: np.inf, "does catch up"),
        (lambda labels, a, b: crossed(labels, a, b) if a[-1] >= b[-1] else np.inf, "falls back"),
        (lambda labels, a, b: 2 ** np.interp(0, a - b, np.log2(labels)) if (a >= b).any() else np.inf, "falls back"),
        (lambda labels, a, b: crossed(labels, a, b) if (a > b).any() else np.inf, "level"),
    ],
    "11.2": [
        (lambda a, b: around((a - b).mean(), stats.t.ppf(0.975, len(a) - 1)
                             * ((a.var(ddof=1) + b.var(ddof=1)) / len(a)) ** 0.5), "pair"),
        (lambda a, b: around((a - b).mean(), stats.t.ppf(0.975, 2 * len(a) - 2)
                             * ((a.var(ddof=1) + b.var(ddof=1)) / len(a)) ** 0.5), "pair"),
        (lambda a, b: around((a - b).mean(), half_width(a - b, spread=0)), "n - 1"),
        (lambda a, b: around((a - b).mean(), half_width(a - b) * len(a) ** 0.5), "√n"),
        (lambda a, b: around((a - b).mean(), 1.96 * (a - b).std(ddof=1) / len(a) ** 0.5), "1.96"),
        (lambda a, b: around((a - b).mean(), half_width(a - b, 0.95)), "0.975"),
        (lambda a, b: around((a - b).mean(), stats.t.ppf(0.975, len(a)) * (a - b).std(ddof=1) / len(a) ** 0.5),
         "n - 1 degrees"),
        (lambda a, b: around((b - a).mean(), half_width(a - b)), "a less b"),
        (lambda a, b: ((a - b).mean(), half_width(a - b)), "two ends"),
        (lambda a, b: half_width(a - b), "two ends"),
        (lambda a, b: ((a - b).min(), (a - b).max()), "smallest and the largest"),
        (lambda a, b: around((a - b).mean(), (a - b).std(ddof=1)), "one spread"),
        (lambda a, b: around((a - b).mean(), (a - b).std(ddof=1) / len(a) ** 0.5), "standard error"),
        (lambda a, b: around(a.mean(), half_width(a)), "a alone"),
        (lambda a, b: around((a - b).mean(), half_width(a - b))[::-1], "lower end"),
        (lambda a, b: around((a - b).mean(), half_width(a - b) / len(a) ** 0.5), "√n"),
        (lambda a, b: np.percentile(a - b, [2.5, 97.5]), "percentiles"),
        (lambda a, b: (*around((a - b).mean(), half_width(a - b)), 0), "two ends"),
        (lambda a, b: around((a - b).mean() + 1, half_width(a - b)), "yours is"),
        (lambda a, b: around(abs(a - b).mean(), half_width(abs(a - b))), "signs"),
    ],
    "11.3": [
        (lambda nothing, taught, something: (something - taught) / (something - nothing), "what is left"),
        (lambda nothing, taught, something: taught / something, "begins at"),
        (lambda nothing, taught, something: (taught - nothing) / something, "the whole way"),
        (lambda nothing, taught, something: taught - nothing, "how much"),
        (lambda nothing, taught, something: (taught - nothing) / nothing, "the whole way"),
        (lambda nothing, taught, something: (taught - nothing) / (something - taught), "left to go"),
        (lambda nothing, taught, something: 100 * (taught - nothing) / (something - nothing), "per cent"),
        (lambda nothing, taught, something: min(1, max(0, (taught - nothing) / (something - nothing))), "beyond"),
        (lambda nothing, taught, something: abs(taught - nothing) / (something - nothing), "sign"),
        (lambda nothing, taught, something: (something - nothing) / (taught - nothing), "upside down"),
        (lambda nothing, taught, something: (nothing - taught) / (something - nothing), "sign"),
        (lambda nothing, taught, something: 1 - taught / something, "begins at"),
        (lambda nothing, taught, something: something - taught, "how much"),
        (lambda nothing, taught, something: (taught - nothing) / (taught + something - 2 * nothing), "yours is"),
        (lambda nothing, taught, something: (taught - nothing) / abs(something - nothing), "lead down"),
    ],
    "11.4": [
        (lambda start, learned, share: (1 - share) * start + share * learned, "turned round"),
        (lambda start, learned, share: start + share * learned, "1 - share"),
        (lambda start, learned, share: learned + share * start, "1 - share"),
        (lambda start, learned, share: (start + learned) / 2, "use share"),
        (lambda start, learned, share: share * (start - learned), "step"),
        (lambda start, learned, share: share * (learned - start), "step"),
        (lambda start, learned, share: learned - share * (start - learned), "away"),
        (lambda start, learned, share: (1 - share) * learned, "start itself"),
        (lambda start, learned, share: learned - share * start, "1 - share"),
        (lambda start, learned, share: (1 - share) * learned + start, "by share"),
        (lambda start, learned, share: ((1 - share) * learned + share * start) / 2, "mean"),
        (lambda start, learned, share: np.where(np.arange(learned.size).reshape(learned.shape) < share * learned.size,
                                                start, learned), "each number"),
        (lambda start, learned, share: start, "start itself"),
        (lambda start, learned, share: np.sign(learned) * abs(learned) ** (1 - share) * abs(start) ** share,
         "yours is"),
    ],
    "11.5": [
        (lambda low, high, *costs: ruled((low + high) / 2, (low + high) / 2, *costs),
         "middle"),
        (lambda low, high, *costs: "yes" if low > 0 else "no" if high < 0 else "measure more", "costs"),
        (lambda low, high, *costs: ruled(high, low, *costs), "changed places"),
        (by_need(lambda labels, price, hundredth: labels * price / hundredth), "hundredth"),
        (by_need(lambda labels, price, hundredth: price / hundredth / 100), "one label"),
        (by_need(lambda labels, price, hundredth: hundredth / (labels * price) / 100), "upside down"),
        (by_need(lambda labels, price, hundredth: labels * price * hundredth / 100), "divide"),
        (by_need(lambda labels, price, hundredth: labels / hundredth / 100), "price"),
        (said_otherwise(yes="no", no="yes"), "turned round"),
        (said_otherwise(measure_more="no"), "not known"),
        (said_otherwise(measure_more="yes"), "not known"),
        (said_otherwise(measure_more="no", no="measure more"), "changed places"),
        (lambda low, high, *costs: "measure more" if low < 0 < high else ruled((low + high) / 2, (low + high) / 2,
                                                                              *costs), "0"),
        (lambda *case: ruled(*case) == "yes", "word"),
        (lambda *case: "yes", "whatever"),
        (lambda *case: "measure more", "whatever"),
        (lambda *case: ruled(*case).upper() + "!", "word"),
        (lambda low, high, *costs: ruled(low - (high - low), high, *costs), "yours is"),
    ],
}  # fmt: skip
