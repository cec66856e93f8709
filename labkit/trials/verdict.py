"""Which method leads: the scores of several methods on the same test units, and a verdict.

    rows = ranked({"bag": {0: parts of seed 0, 1: of seed 1, …}, "tfidf": {0: parts}})
    verdict_of(rows)       "leads", "tie" or "open"

`lead_of` compares every method with the best one, with intervals that are Bonferroni-corrected for the number of these
comparisons but not for the luck of the best: in simulations with 2, 6 or 12 exactly equal methods, some method is
called behind in 5, 9 or 15 % of the tables. A false "leads", in which all others are called behind, remains as rare as
with two methods.

    behind   the whole interval of the best method's lead is above 0
    tie      the whole interval is within the margin, so that a difference of either sign does not matter; and
             there are at least 3 / margin units, because a difference that no unit shows may still be 3 / n
    open     neither: more seeds or test rows are needed; always if the test split has fewer than UNITS
             independent units, which are too few to estimate chance

If all n units agree, for example because every answer is right, their spread is 0 and says nothing about units that
were not drawn: the interval then reaches 3 / n to each side, by the rule of three.

Scores that are not split over test units are compared over `seeds_alone`, because nothing is known about other test
rows. Then there are no ties, and the comparison of two deterministic methods is open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from labkit.evaluation.comparison import SEEDS, Lead, Parts, lead_of

Verdict: TypeAlias = Literal["leads", "tie", "open"]
Runs: TypeAlias = Mapping[int, Parts]  # seed -> a score, split over the test units
LEVEL = 0.95
UNITS = 20
MARGIN = 0.01  # smaller differences do not matter to most users


@dataclass(frozen=True)
class Ranked:
    """One method: its score with its interval, and the best method's lead over it."""

    name: str
    score: float
    low: float
    high: float
    runs: int
    units: int
    lead: float = 0.0
    lead_low: float = 0.0
    lead_high: float = 0.0
    against_best: Literal["best", "behind", "tie", "open"] = "best"

    def interval(self) -> tuple[float, float]:
        """The bounds of the lead."""
        return self.lead_low, self.lead_high


def in_common(first: Runs, second: Runs) -> tuple[list[Parts], list[Parts]]:
    """The runs of two methods, paired by seed.

    Seeds that only one method has are omitted, unless the two share fewer than two: then seeds are paired in order, as
    many as the method with fewer seeds has. A method with a single run is compared with every run of the other.
    """
    mine, theirs = sorted(first), sorted(second)
    both, fewer = [seed for seed in mine if seed in second], min(len(mine), len(theirs))
    if fewer > 1:
        mine, theirs = (both, both) if len(both) > 1 else (mine[:fewer], theirs[:fewer])
    return [first[seed] for seed in mine], [second[seed] for seed in theirs]


def ranked(
    runs: Mapping[str, Runs], *, margin: float = MARGIN, lowest: float = 0.0, seeds_alone: bool = False
) -> list[Ranked]:
    """The methods, best first, each compared with the best; scores are between `lowest` and 1."""
    means = {name: float(np.mean([each.figure for each in parts.values()])) for name, parts in runs.items()}
    names = sorted(means, key=lambda name: means[name], reverse=True)
    level = 1 - (1 - LEVEL) / max(1, len(names) - 1)
    if seeds_alone:
        return [_by_seeds(name, runs, names[0], level) for name in names]
    return [_ranked(name, runs, names[0], level, margin, lowest) for name in names]


def _by_seeds(name: str, runs: Mapping[str, Runs], best: str, level: float) -> Ranked:
    """One method, with intervals over seeds; a lead that is equal for all seeds may differ on other test rows."""
    own = lead_of([*runs[name].values()], [Parts.of(0.0)])
    about = (name, own.lead, *own.interval(LEVEL), len(runs[name]), 1)
    if name == best:
        return Ranked(*about)
    lead = lead_of(*in_common(runs[best], runs[name]))
    enough = lead.error > 1e-12 and max(len(runs[best]), len(runs[name])) >= SEEDS
    low, high = lead.interval(level) if enough else (-math.inf, math.inf)
    return Ranked(*about, lead.lead, low, high, "behind" if low > 0 else "open")


def _ranked(name: str, runs: Mapping[str, Runs], best: str, level: float, margin: float, lowest: float) -> Ranked:
    mine = [*runs[name].values()]
    count = len(mine[0].above)
    own = lead_of(mine, [Parts(np.zeros(count), np.ones(count))])
    low, high = _interval(own, count, LEVEL) if count > 1 else (lowest, 1.0)  # a single unit says nothing about others
    about = (name, own.lead, max(low, lowest), min(high, 1.0), len(mine), count)
    if name == best:
        return Ranked(*about)
    lead = lead_of(*in_common(runs[best], runs[name]))
    low, high = _interval(lead, count, level) if count > 1 else (lowest - 1, 1 - lowest)
    state: Literal["behind", "tie", "open"] = "open"
    if count >= UNITS:
        alike = -margin <= low <= high <= margin and count * margin >= 3
        state = "behind" if low > 0 else "tie" if alike else "open"
    return Ranked(*about, lead.lead, low, high, state)


def _interval(lead: Lead, count: int, level: float) -> tuple[float, float]:
    """Student's t interval or, if all units agree, the one that the rule of three gives."""
    return lead.interval(level) if lead.error else (lead.lead - 3 / count, lead.lead + 3 / count)


def front(rows: Sequence[Ranked]) -> list[Ranked]:
    """The best method, and all methods not shown to be behind it."""
    return [row for row in rows if row.against_best != "behind"]


def verdict_of(rows: Sequence[Ranked]) -> Verdict:
    """Whether one method leads, several tie for first place, or the best method is open."""
    states = {row.against_best for row in rows}
    return "open" if "open" in states else "tie" if "tie" in states else "leads"
