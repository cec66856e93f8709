"""Several runs on one test split: runs that differ only in the seed form one line, and the best line comes first.

In: a `Result` for each run, and the score that ranks them. Out: a `Line` for each method and its settings: means, the
spread over seeds, and whether the line is behind the best by more than chance. The verdict depends on the interval of
the lead (`labkit.evaluation.comparison.lead_of`) over test items and seeds. It is open if the interval contains 0, if
the test items or seeds are too few for an interval, or if another line ties with the first. A score for which neither
larger nor smaller is better has no order. A line that was fitted to the test sentences gets no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from labkit.evaluation.comparison import SEEDS, Lead, Parts, Spread, lead_of
from labkit.evaluation.scores import Scores
from labkit.figure_names import ordered

Verdict: TypeAlias = Literal["best", "open", "behind", "no order", "saw test"]
APART = ("device",)  # settings that change where a method is trained, but not its results
UNITS = 6  # units needed if the lead is equal on all of them: with five, its probability by chance is still 1 in 32


@dataclass(frozen=True, eq=False)
class Result:
    """One run: its identity, and its scores on the common split."""

    run: str
    method: str
    settings: Mapping[str, Any]
    trained_on: str
    fingerprint: str
    seed: int
    scores: Scores

    @classmethod
    def of(cls, run: str, record: Mapping[str, Any], model: Any, scores: Scores) -> Self:
        """Make a result from the record in a run's folder and its model, whose settings have the names of today."""
        about = {name: record[name] for name in ("method", "fingerprint", "seed")}
        return cls(run=run, trained_on=record["corpus"], settings=model.settings.values(), scores=scores, **about)

    def kind(self) -> tuple[Any, ...]:
        """Return a key that runs share if they differ only in the seed."""
        settings = {name: value for name, value in self.settings.items() if name not in APART}
        return self.method, self.fingerprint, *sorted(settings.items())


@dataclass(frozen=True, eq=False)
class Line:
    """The runs of one kind, ranked by `figure`.

    `spread` is None with fewer than three seeds; `lead` is the lead of the best line over this one.
    """

    name: str
    results: tuple[Result, ...]
    means: Mapping[str, float]
    figure: str
    spread: Spread | None
    verdict: Verdict = "best"
    lead: Lead | None = None

    @property
    def mean(self) -> float:
        """The mean of the score, or NaN if the line has none."""
        return self.means.get(self.figure, math.nan)

    @property
    def difference(self) -> str:
        """The difference from the best with its 95 % interval, negative if this line is worse; empty without one."""
        if self.lead is None:
            return ""
        low, high = self.lead.interval()
        values = (f"{round(-value, 3) or 0:+.3f}" for value in (self.lead.lead, high, low))
        return "{} [{}, {}]".format(*values).replace("+0.000", "0.000").replace("-", "−")

    @property
    def saw_test(self) -> bool:
        """Whether a run was fitted on its test sentences, without their classes, by a method that embeds them
        together."""
        return any(
            each.settings.get("embedded") == "all" and each.trained_on == each.scores.corpus for each in self.results
        )

    @property
    def sample(self) -> str:
        """The sample that the scores of this line come from, in words; empty if they come from all sentences."""
        return "; ".join(dict.fromkeys(result.scores.sample for result in self.results if result.scores.sample))


def leaderboard(results: Sequence[Result], figure: str | None = None) -> list[Line]:
    """Return the lines, best first by `figure` (default: the leading score); each seed of a kind counts once."""
    figure = figure or results[0].scores.measure
    kinds: dict[tuple[Any, ...], dict[int, Result]] = {}
    for result in results:
        kinds.setdefault(result.kind(), {}).setdefault(result.seed, result)
    groups = [tuple(by_seed.values()) for by_seed in kinds.values()]
    lines = [_line(name, group, figure) for name, group in zip(names(groups), groups, strict=True)]
    lines.sort(key=lambda line: -math.inf if math.isnan(line.mean) else line.mean, reverse=True)
    if not ordered(figure) or math.isnan(lines[0].mean):
        verdict: Verdict = "open" if ordered(figure) else "no order"
        return [replace(line, verdict=verdict) for line in lines]
    judged = [line for line in lines if not line.saw_test]
    level = len(judged) > 1 and judged[1].mean == judged[0].mean
    return [_judged(line, judged[0] if judged else None, level=level) for line in lines]


def names(groups: Sequence[Sequence[Result]]) -> list[str]:
    """Name each kind: its method, the settings that distinguish it, and its corpus if the runs have several."""
    several = len({group[0].fingerprint for group in groups}) > 1
    lines = []
    for mine, *_ in groups:
        others = [other[0].settings for other in groups if other[0].method == mine.method]
        differing = [
            f"{name}={value}"
            for name, value in mine.settings.items()
            if name not in APART and any(other.get(name) != value for other in others)
        ]
        lines.append(" ".join([mine.method, *differing, *([f"on {mine.trained_on}"] if several else [])]))
    return lines


def _line(name: str, group: tuple[Result, ...], figure: str) -> Line:
    scores = [result.scores.figures for result in group]
    figures = {name: [each[name] for each in scores] for name in scores[0] if all(name in each for each in scores)}
    values = figures.get(figure, [])
    spread = Spread.of(values) if len(values) >= SEEDS and all(map(math.isfinite, values)) else None
    return Line(name, group, {name: float(np.mean(each)) for name, each in figures.items()}, figure, spread)


def _judged(line: Line, best: Line | None, *, level: bool) -> Line:
    """Return the line with its verdict; `level`: whether another line has the same score as the best."""
    if best is None or line.saw_test:
        return replace(line, verdict="saw test")
    if line is best:
        return replace(line, verdict="open" if level else "best")
    pair = _paired(best, line)
    if pair is None:
        return replace(line, verdict="open")
    lead = lead_of(*pair)
    low, high = lead.interval()
    certain = not low <= 0 <= high and (lead.error > 0 or len(pair[0][0].above) >= UNITS)
    return replace(line, verdict="behind" if certain else "open", lead=lead)


def _paired(best: Line, line: Line) -> tuple[list[Parts], list[Parts]] | None:
    """Return the parts of both lines, over test items or else over seeds alone; paired by seed if both have several.

    Seeds that only one line has are omitted, unless the lines share fewer than two.
    """
    sides = [
        {each.seed: each.scores for each in sorted(side.results, key=lambda each: each.seed)} for side in (best, line)
    ]
    common = [seed for seed in sides[0] if seed in sides[1]]
    fewer = min(map(len, sides))
    kept = [
        [side[seed] for seed in common] if len(common) > 1 else list(side.values())[: fewer if fewer > 1 else None]
        for side in sides
    ]
    values = [[scores.figures.get(best.figure, math.nan) for scores in side] for side in kept]
    if not all(map(math.isfinite, [*values[0], *values[1]])):
        return None
    split = [[scores.parts[best.figure] for scores in side if best.figure in scores.parts] for side in kept]
    if list(map(len, split)) == list(map(len, kept)) and len({len(each.above) for side in split for each in side}) == 1:
        return split[0], split[1]
    if max(map(len, kept)) < SEEDS:
        return None
    first, second = ([Parts(np.array([value]), np.ones(1)) for value in side] for side in values)
    return first, second
