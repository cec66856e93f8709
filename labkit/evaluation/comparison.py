"""Is a difference more than chance?

    over_seeds, leader   the scores of several runs of one method -> mean ± spread; two of them -> who leads, or "tie"
    lead_of              the scores of two methods, each with several seeds, taken apart over the same test units
                         -> the lead and its interval

A difference inside the spread is a tie, and so is an interval that holds 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from labkit.arrays import numbers

Verdict: TypeAlias = Literal["first", "second", "tie"]

SEEDS = 3  # runs that a spread needs at least
ROUNDS = 2_000  # bootstrap resamples
TOGETHER = 64  # resamples that are multiplied at once


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (n - 1 below the line) of one figure over the seeds it was run with."""

    mean: float
    spread: float
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        """The spread of however few figures there are, (n,); that of one is 0, and that of equal ones."""
        figures = np.asarray(values, np.float64)
        spread = float(figures.std(ddof=1)) if np.ptp(figures) else 0.0  # rounding makes more of three times 0.1
        return cls(float(figures.mean()), spread, tuple(figures.tolist()))

    def __str__(self) -> str:
        if len(self.values) == 1:
            return f"{self.mean:.4f} (deterministic)"
        return f"{self.mean:.4f} ± {self.spread:.4f} ({len(self.values)} seeds)"


def over_seeds(values: ArrayLike, *, deterministic: bool = False) -> Spread:
    """One figure per seed (n,) to its mean and spread. A method without chance needs one run: say so."""
    figures = numbers("values", values).astype(np.float64)
    if deterministic and np.ptp(figures):
        raise ValueError(f"values is {figures.tolist()}, expected equal ones of a deterministic method; leave it out")
    if not deterministic and len(figures) < SEEDS:
        raise ValueError(
            f"values has {len(figures)} figures, expected at least {SEEDS}, one for each seed; run more seeds, or "
            "say deterministic=True if there is nothing random in the method"
        )
    return Spread.of(figures)


def leader(first: Spread, second: Spread) -> Verdict:
    """Who is larger by more than the larger of the two spreads; else "tie"."""
    gap = first.mean - second.mean
    if abs(gap) <= max(first.spread, second.spread):
        return "tie"
    return "first" if gap > 0 else "second"


# --- seeds and units together ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Parts:
    """A figure taken apart over the units of the test set: it is Σ above / Σ below, (n,) each.

    A unit is what could have been drawn without the others: an article with its triplets, a place with its records,
    pairs that share a sentence. Accuracy has the number of right answers above and of all answers below; F1 has
    2 · true positives above and 2 · true positives + errors below; a correlation has 1 below, and above itself plus
    the influence of the unit on it.
    """

    above: np.ndarray
    below: np.ndarray

    @property
    def figure(self) -> float:
        return float(self.above.sum() / self.below.sum())

    @classmethod
    def by(cls, units: ArrayLike, above: ArrayLike, below: ArrayLike | None = None) -> Parts:
        """Add up single items, (m,) each, by the unit they are of; an item counts 1 below if nothing is said."""
        codes = np.unique(np.asarray(units), return_inverse=True)[1].ravel()
        under = np.ones(len(codes)) if below is None else np.asarray(below, np.float64)
        return cls(np.bincount(codes, np.asarray(above, np.float64)), np.bincount(codes, under))


@dataclass(frozen=True)
class Lead:
    """first - times · second, and the standard error that another draw of seeds and of test units gives it.

    `freedom`: how many free differences the error rests on; with few of them (five seeds) intervals are wider.
    """

    lead: float
    error: float
    freedom: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's interval, from both sides."""
        from scipy.stats import t  # takes a second

        if not self.error:
            return self.lead, self.lead
        half = float(t.ppf(0.5 + level / 2, self.freedom)) * self.error
        return self.lead - half, self.lead + half


def lead_of(first: Sequence[Parts], second: Sequence[Parts], *, times: float = 1.0, rounds: int = ROUNDS) -> Lead:
    """The lead of one method over another, the parts of a seed in each; both on the same units, in the same order.

    Two levels add to its variance: seeds, and units, which a bootstrap draws anew, the same ones for both methods and
    all seeds. Where one of the two has one run (nothing in it is random), that run stands against every seed.

        variance = var(d_s) / S  +  var*(mean of d_s)  -  mean of var*(d_s - mean of d_s) / (S - 1)

    The last term is what single seeds do on single units: it is in both others, and counts once. (To draw seeds from
    themselves, too, would count it three times, and five seeds drawn from five lie too close together.) Intervals are
    Student's with Satterthwaite's degrees of freedom.
    """
    runs = _paired_runs(first, second)
    count, seeds = len(first[0].above), len(runs)
    drawn = np.stack([_redrawn(a, rounds) - times * _redrawn(b, rounds) for a, b in runs])  # (seeds, rounds)
    seen = np.array([a.figure - times * b.figure for a, b in runs])
    middle = drawn.mean(axis=0)
    by_units = float(middle.var()) * count / max(1, count - 1)
    by_seeds = both = 0.0
    if seeds > 1:
        by_seeds = float(seen.var(ddof=1)) / seeds
        both = float((drawn - middle).var(axis=1).mean()) / (seeds - 1)
    variance = max(by_seeds + by_units - both, by_seeds, by_units)
    if not variance:
        return Lead(float(seen.mean()), 0.0, np.inf)
    shares = by_seeds / variance, by_units / variance
    freedom = 1 / (shares[0] ** 2 / max(1, seeds - 1) + shares[1] ** 2 / max(1, count - 1))
    return Lead(float(seen.mean()), float(np.sqrt(variance)), freedom)


def _paired_runs(first: Sequence[Parts], second: Sequence[Parts]) -> list[tuple[Parts, Parts]]:
    sizes = {len(side) for parts in (*first, *second) for side in (parts.above, parts.below)}
    if not first or not second or len(sizes) != 1:
        raise ValueError(
            f"first and second have {len(first)} and {len(second)} runs, which were scored on {sorted(sizes)} test "
            "items, expected at least one run each, all on the same items; score both on one test set"
        )
    if len(first) != len(second) and min(len(first), len(second)) > 1:
        raise ValueError(
            f"first has {len(first)} runs and second {len(second)}, expected as many, seed by seed, or one run where "
            "nothing is random; give the seeds that both have"
        )
    runs = max(len(first), len(second))
    return [(first[at % len(first)], second[at % len(second)]) for at in range(runs)]


@lru_cache(maxsize=512)
def _redrawn(parts: Parts, rounds: int) -> np.ndarray:
    """The figure in each draw of units, (rounds,); cached, since one row of a table is compared with many others."""
    if len(parts.above) == 1:
        return np.full(rounds, parts.figure)
    draws, sides = _draws(len(parts.above), rounds), np.stack([parts.above, parts.below], axis=1)
    above, below = np.concatenate([draws[at : at + TOGETHER] @ sides for at in range(0, rounds, TOGETHER)]).T
    return np.divide(above, below, out=np.full(rounds, parts.figure), where=below != 0)


@lru_cache(maxsize=1)
def _draws(count: int, rounds: int) -> np.ndarray:
    """How often each of the units is drawn, (rounds, units); a unit drawn 256 times is beyond all chance.

    Cached, since every two rows of a table need the same: one byte each, 40 MB for 20,000 units.
    """
    random = np.random.default_rng(0)
    draws = np.empty((rounds, count), np.uint8)
    for number in range(rounds):
        draws[number] = np.bincount(random.integers(0, count, count), minlength=count)
    return draws
