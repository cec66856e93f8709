"""Notebook 11: learning curves, their crossing, a forecast by a line, and whether a lead is worth its price."""

from __future__ import annotations

from typing import Any

import numpy as np

from labkit.course.exercise import Cases, Unfit, array, exercise, several


@exercise(
    "11.1",
    ("return values", "return values.mean(1)", "that is the mean of each share: keep the score of every seed"),
    ("return values", "return values.ravel()",
     "the scores are right, but in one row: give each share a row of its own"),
    ("share, seed))", "share, seeds[0]))", "share, seeds[-1]))", "all your columns have the same seed"),
)  # fmt: skip
def worlds(random: np.random.Generator) -> Cases:
    for shares, seeds in (([0.1, 0.5], [0, 1, 2]), ([0.25, 0.5, 1.0], [0, 1, 2, 3, 4]), ([0.2, 0.4, 1.0], [0, 7])):
        found = {(share, seed): float(random.uniform(0.5, 0.9)) for share in shares for seed in seeds}
        yield lambda share, seed: (share, seed), found.__getitem__, shares, seeds


@exercise(
    "11.2",
    ("ddof=1", "ddof=0", "your standard deviation divides by n: use `ddof=1`"),
    (" / np.sqrt(n)", "", "that is for one more seed: for the mean, divide by √n"),
    ("t.ppf(0.975, n - 1)", "1.96", "1.96 is for many seeds: with few, use Student's t"),
    ("0.975", "0.95", "2.5 % lies beyond each end of a 95 % interval: `t.ppf(0.975, n - 1)`"),
    ("values.shape", "(values := values.T).shape", "you take a mean for each column: take one for each row"),
    read=several("expected three arrays, as in `return mean, low, high`", array, array, array),
)
def tables(random: np.random.Generator) -> Cases:
    return [(random.uniform(0.5, 0.9, size=shape),) for shape in ((4, 3), (2, 5), (6, 4))]


@exercise(
    "11.3",
    ("np.exp2((1 - gone) * np.log2(labels[at - 1]) + gone * np.log2(labels[at]))",
     "(1 - gone) * labels[at - 1] + gone * labels[at]",
     "that line is straight over the labels themselves: use their logarithm, as in the figure"),
    ("before / (before - after)", "1.0", "0.0",
     "that is one of the measured points: the lines cross between two of them, where the gap is 0"),
    ("before / (before - after)", "after / (after - before)",
     "the two shares are swapped: the crossing is near the point with the small gap"),
    ("np.inf", "labels[-1]", "if a never catches up, return infinity"),
    ("range(len(labels))", "range(len(labels) if a[-1] >= b[-1] else 0)",
     "a may fall behind again later: return the first time that it catches up"),
    tolerance=1e-4,
)  # fmt: skip
def gaps(random: np.random.Generator) -> Cases:
    """Curves that catch up, never do, lead from the start, are level, or fall behind again later."""
    falls_back, never, level = (-2, -1, 1.5, -0.7, 2), (-4, -1, -2.5, -3), (-3, -1, 0)
    for each in ((-3, -2, -1.4, 0.6, 1.5), falls_back, falls_back[1:4], never, (1, 2, 3), (-1, 2, 3, 4), level):
        labels = random.integers(80, 130) * 2.0 ** np.cumsum(random.integers(1, 3, size=len(each)))
        b = 0.7 + np.sort(random.uniform(0, 0.1, size=len(each)))
        yield labels, b + 0.01 * np.array(each) * random.uniform(0.9, 1.1, size=len(each)), b


@exercise(
    "11.4",
    ("np.polyfit(np.log2(labels), scores, 1)",
     "np.polyfit(labels, scores, 1)\n    return (target - c) / g if g > 0 else np.inf",
     "that line is straight over the labels themselves: take their logarithm"),
    ("np.exp2", "", "that is log2 of the number of labels: `np.exp2` gives the number"),
    ("np.log2(labels)", "np.log(labels)", "log2 and exp2 belong together: one undoes the other"),
    ("g <= 0", "False", "if the line does not rise, it never reaches the target: return infinity"),
    ("np.log2(labels), scores", "np.log2(labels[-2:]), scores[-2:]",
     "your line goes through the last two points only: fit it to all of them"),
    tolerance=1e-4,
)  # fmt: skip
def lines(random: np.random.Generator) -> Cases:
    for count, gain in ((3, 0.04), (4, 0.02), (5, 0.06), (3, -0.03)):
        labels = random.integers(80, 300) * 2.0 ** np.arange(count)
        scores = 0.6 + gain * np.arange(count) + random.uniform(-0.008, 0.008, size=count)
        yield labels, scores, float(random.uniform(0.85, 0.9))


def _verdict(answer: Any) -> np.ndarray:
    """One of three words."""
    if answer not in ("yes", "no", "measure more"):
        raise Unfit(f'expected "yes", "no" or "measure more", got {answer!r:.40}')
    return np.asarray(answer)


@exercise(
    "11.5",
    ("cost =", "low = high = (low + high) / 2; cost =",
     "you look only at the middle of the interval: what do its two ends say?"),
    (" / 100", "", "a hundredth is 0.01 of the lead: divide by 100"),
    ("low >", "high >", "'yes' requires that even the *lower* end is above what is needed"),
    ('"yes"\n    if high < need:\n        return "no"', '"no"\n    if high < need:\n        return "yes"',
     "yes and no are swapped"),
    ("cost / hundredth / 100", "0", "you compare with 0: compare with the lead that pays for the labels"),
    read=_verdict,
)  # fmt: skip
def prices(random: np.random.Generator) -> Cases:
    """Intervals above, below and around the lead that is needed, given as shares of it."""
    above, below, around = ((1.2, 1.9), (1.1, 3.0)), ((0.3, 0.8), (0.5, 0.95), (-1.5, -0.2)), ((0.6, 2.0), (0.1, 1.3))
    for worth in (0.4, 30.0, 900.0):
        for ends in (*above, *below, *around, (-0.6, 0.7), (-0.4, 1.8)):
            need, labels = random.uniform(0.01, 0.04), int(random.integers(100, 4_000))
            hundredth = float(worth * random.uniform(0.7, 1.4))
            low, high = (float(need * (end + random.uniform(-0.03, 0.03))) for end in ends)
            yield low, high, labels, float(100 * need * hundredth / labels), hundredth
