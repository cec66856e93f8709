"""Is a difference more than chance? Two questions, two records.

    over seeds   the figures of several runs of one method -> mean ± spread; two of them -> who leads, or "tie"
    on items     the figures of two methods on the same test items -> a paired test -> who leads, or "tie"

A difference inside the spread is a tie, and so is one that the test cannot tell from chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from labkit.evaluation.inputs import numbers, seeded, whole

Verdict: TypeAlias = Literal["first", "second", "tie"]

SEEDS = 3  # runs that a spread needs at least
ENUMERATED = 16  # up to this many differing items, all sign patterns are tried
CHUNK = 2**22  # entries of a block of resamples


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (n - 1 below the line) of one figure over the seeds it was run with."""

    mean: float
    spread: float
    values: tuple[float, ...]

    def __str__(self) -> str:
        if len(self.values) == 1:
            return f"{self.mean:.4f} (deterministic)"
        return f"{self.mean:.4f} ± {self.spread:.4f} ({len(self.values)} seeds)"


def over_seeds(values: ArrayLike, *, deterministic: bool = False) -> Spread:
    """One figure per seed (n,) to its mean and spread. A method without chance needs one run: say so."""
    found = numbers("values", values).astype(np.float64)
    if deterministic and np.ptp(found):
        raise ValueError(f"values is {found.tolist()}, expected equal ones of a deterministic method; leave it out")
    if not deterministic and len(found) < SEEDS:
        raise ValueError(
            f"values has {len(found)} figures, expected at least {SEEDS}, one for each seed; run more seeds, or "
            "say deterministic=True if there is nothing random in the method"
        )
    spread = float(found.std(ddof=1)) if len(found) > 1 else 0.0
    return Spread(float(found.mean()), spread, tuple(found.tolist()))


def leader(first: Spread, second: Spread, *, larger_is_better: bool = True) -> Verdict:
    """Who is better by more than the larger of the two spreads; else "tie"."""
    gap = first.mean - second.mean
    if abs(gap) <= max(first.spread, second.spread):
        return "tie"
    return "first" if (gap > 0) == larger_is_better else "second"


@dataclass(frozen=True)
class PairedTest:
    """Mean of first - second over the items, its 95 % bootstrap interval, and the chance of as large a mean.

    `p_value` is of the sign-flip test: were the methods alike, every item's difference could as well have the other
    sign. `wins` and `losses` count the items on which the first is above and below the second.
    """

    difference: float
    low: float
    high: float
    p_value: float
    wins: int
    losses: int
    items: int
    verdict: Verdict

    def __str__(self) -> str:
        outcome = "tie" if self.verdict == "tie" else f"the {self.verdict} is better"
        return (
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], p {self.p_value:.4f}, {self.wins} wins "
            f"and {self.losses} losses on {self.items} items: {outcome}"
        )


def paired_test(
    first: ArrayLike, second: ArrayLike, *, seed: int = 0, rounds: int = 2_000, larger_is_better: bool = True
) -> PairedTest:
    """Figures of two methods on the same n items (right 1 or wrong 0, an error, a rank) to the record.

    Not a tie only if the interval leaves out 0 and p < 0.05. For right/wrong items the p-value is exact (it is the
    sign test, McNemar's), also where at most ENUMERATED items differ; else from `rounds` random flips.
    """
    first = numbers("first", first).astype(np.float64)
    second = numbers("second", second, like=first).astype(np.float64)
    whole("rounds", rounds, 100, 10**7, "resamples that give an interval")
    random = np.random.default_rng(seeded(seed))
    gaps = first - second
    low, high = _interval(gaps, rounds, random)
    p_value = _sign_flip(gaps[gaps != 0], rounds, random)
    verdict: Verdict = "tie"
    if p_value < 0.05 and not low <= 0 <= high:
        verdict = "first" if (gaps.mean() > 0) == larger_is_better else "second"
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    return PairedTest(float(gaps.mean()), low, high, p_value, wins, losses, len(gaps), verdict)


def _interval(gaps: np.ndarray, rounds: int, random: np.random.Generator) -> tuple[float, float]:
    step = max(1, CHUNK // len(gaps))
    means = [
        gaps[random.integers(0, len(gaps), (min(step, rounds - start), len(gaps)))].mean(axis=1)
        for start in range(0, rounds, step)
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def _sign_flip(gaps: np.ndarray, rounds: int, random: np.random.Generator) -> float:
    """Two-sided: the share of sign patterns whose sum is at least as far from 0 as the one seen."""
    size = np.abs(gaps)
    if not len(gaps):
        return 1.0
    if np.ptp(size) == 0:
        from scipy.stats import binomtest  # takes a second, and few comparisons need it

        return float(binomtest(int((gaps > 0).sum()), len(gaps)).pvalue)
    # sums in another order differ by rounding, and must count as equal
    seen = abs(gaps.sum()) - 1e-12 * size.sum()
    if len(gaps) <= ENUMERATED:
        patterns = (np.arange(2 ** len(gaps))[:, None] >> np.arange(len(gaps))) & 1
        return float((np.abs((1 - 2 * patterns) @ size) >= seen).mean())
    step = max(1, CHUNK // len(gaps))
    as_far = 0
    for start in range(0, rounds, step):
        signs = 1 - 2 * random.integers(0, 2, size=(min(step, rounds - start), len(gaps)), dtype=np.int8)
        as_far += int((np.abs(signs @ size) >= seen).sum())
    # the pattern seen is one of those that chance could have made
    return (as_far + 1) / (rounds + 1)
