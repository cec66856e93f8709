"""Is a difference larger than chance would explain?

    Spread     the mean and standard deviation of one score over several seeds, without a verdict
    lead_of    the scores of two methods, each with several seeds and split over the same test units
               -> the lead and its interval

If the interval contains 0, it is undecided which of the two is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

SEEDS = 3  # seeds needed to estimate how much another run would differ


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (n - 1 in the denominator) of one score over its seeds."""

    mean: float
    spread: float
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        """The spread of any number of scores, (n,); 0 for one score or for equal scores."""
        figures = np.asarray(values, np.float64)
        spread = float(figures.std(ddof=1)) if np.ptp(figures) else 0.0  # 3 · [0.1] would have a spread by rounding
        return cls(float(figures.mean()), spread, tuple(figures.tolist()))

    def __str__(self) -> str:
        if len(self.values) == 1:
            return f"{self.mean:.4f} (deterministic)"
        return f"{self.mean:.4f} ± {self.spread:.4f} ({len(self.values)} seeds)"


# --- seeds and units together ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Parts:
    """A score split over the units of the test set. The score is Σ above / Σ below, (n,) each.

    A unit is drawn independently of the others: an article with its triplets, a place with its records, or pairs that
    share a sentence. For accuracy, `above` counts the right answers and `below` all answers; for F1, 2 · true positives
    and 2 · true positives + errors; for a correlation, the correlation plus the unit's influence, and 1.

    >>> accuracy = Parts.by(["article 1", "article 1", "article 2"], [1, 0, 1])  # right, wrong, right
    >>> accuracy.above, accuracy.below
    (array([1., 1.]), array([2., 1.]))
    """

    above: np.ndarray
    below: np.ndarray

    @classmethod
    def of(cls, value: float) -> Parts:
        """A score that is not split over test units."""
        return cls(np.array([value]), np.ones(1))

    @property
    def figure(self) -> float:
        """The score: the sum of `above` divided by the sum of `below`."""
        return float(self.above.sum() / self.below.sum())

    @property
    def influence(self) -> np.ndarray:
        """The contribution of each unit to the score, (n,), to first order; their mean is the score itself."""
        return self.figure + len(self.above) * (self.above - self.figure * self.below) / self.below.sum()

    @classmethod
    def by(cls, units: ArrayLike, above: ArrayLike, below: ArrayLike | None = None) -> Parts:
        """Sum the values of items, (m,) each, by unit; by default each item adds 1 to `below`."""
        codes = np.unique(np.asarray(units), return_inverse=True)[1].ravel()
        under = np.ones(len(codes)) if below is None else np.asarray(below, np.float64)
        return cls(np.bincount(codes, np.asarray(above, np.float64)), np.bincount(codes, under))


@dataclass(frozen=True)
class Lead:
    """The lead `first - times · second`, and its standard error over draws of seeds and of test units.

    `freedom`: the degrees of freedom of the error; with few of them (five seeds) intervals are wider.
    """

    lead: float
    error: float
    freedom: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's two-sided interval."""
        from scipy.stats import t  # takes a second

        if not self.error:
            return self.lead, self.lead
        half = float(t.ppf(0.5 + level / 2, self.freedom)) * self.error
        return self.lead - half, self.lead + half


def lead_of(first: Sequence[Parts], second: Sequence[Parts], *, times: float = 1.0) -> Lead:
    """The lead of one method over another, given the parts of each seed, on the same units in the same order.

    Seeds and test units are crossed samples: every seed is scored on every unit. Let D (S, U) be the difference of the
    influences. Its two-way analysis of variance gives

        v_seeds = var(row means) / S        v_units = var(column means) / U        v_rest = residual mean square / (S U)
        variance = max(v_seeds + v_units - v_rest, v_seeds, v_units)

    Both other terms contain the residual, so it is subtracted once. The degrees of freedom are Satterthwaite's. A
    deterministic method has a single run, which is compared with every seed of the other method.

    >>> units = range(6)
    >>> ours, theirs = Parts.by(units, [1, 1, 1, 1, 0, 1]), Parts.by(units, [1, 0, 0, 1, 0, 1])
    >>> found = lead_of([ours], [theirs])
    >>> round(found.lead, 3), round(found.error, 3)
    (0.333, 0.211)
    """
    runs = _paired_runs(first, second)
    D = np.stack([a.influence - times * b.influence for a, b in runs])  # (S, U)
    S, U = D.shape
    by_seed, by_unit, lead = D.mean(axis=1), D.mean(axis=0), float(D.mean())
    v_seeds = float(by_seed.var(ddof=1)) / S if S > 1 else 0.0
    v_units = float(by_unit.var(ddof=1)) / U if U > 1 else 0.0
    rest = D - by_seed[:, None] - by_unit + lead
    v_rest = float((rest**2).sum()) / ((S - 1) * (U - 1)) / (S * U) if min(S, U) > 1 else 0.0
    variance = max(v_seeds + v_units - v_rest, v_seeds, v_units)
    if not variance:
        return Lead(lead, 0.0, np.inf)
    freedom = 1 / ((v_seeds / variance) ** 2 / max(1, S - 1) + (v_units / variance) ** 2 / max(1, U - 1))
    return Lead(lead, float(np.sqrt(variance)), freedom)


def _paired_runs(first: Sequence[Parts], second: Sequence[Parts]) -> list[tuple[Parts, Parts]]:
    sizes = {len(side) for parts in (*first, *second) for side in (parts.above, parts.below)}
    counts = sorted((len(first), len(second)))
    if not counts[0] or len(sizes) != 1 or counts[0] not in (1, counts[1]):
        raise ValueError(
            f"first and second have {len(first)} and {len(second)} runs, scored on {sorted(sizes)} test items. Give "
            "both the same number of runs, seed by seed, or a single run of a deterministic method, all scored on "
            "the same items"
        )
    return [(first[at % len(first)], second[at % len(second)]) for at in range(counts[1])]
