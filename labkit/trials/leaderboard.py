"""Several runs on one test split: runs that differ only in the seed form one line, and the best line comes first.

In: a `Result` for each run, and the score that ranks them. Out: a `Line` for each method and its settings: means, the
spread over seeds, and the verdict of `labkit.trials.verdict`. A score for which neither larger nor smaller is better
has no order. A line that was fitted to the test sentences gets no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from labkit.evaluation.comparison import SEEDS, Parts, Spread
from labkit.evaluation.scores import Scores
from labkit.figure_names import ordered, written
from labkit.trials.verdict import UNITS, Ranked, ranked

Verdict: TypeAlias = Literal["best", "behind", "tie", "open", "no order", "saw test"]
APART = ("device",)  # settings that change where a method is trained, but not its results


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
        """Make a result from the record in a run's folder and its model, whose settings have their current names."""
        about = {name: record[name] for name in ("method", "fingerprint", "seed")}
        return cls(run=run, trained_on=record["corpus"], settings=model.settings.values(), scores=scores, **about)

    def kind(self) -> tuple[Any, ...]:
        """Return a key that runs share if they differ only in the seed."""
        settings = {name: value for name, value in self.settings.items() if name not in APART}
        return self.method, self.fingerprint, *sorted(settings.items())


@dataclass(frozen=True, eq=False)
class Line:
    """The runs of one kind, ranked by `figure`.

    `spread` is None with fewer than three seeds; `lead` has the lead of the best line over this one.
    """

    name: str
    results: tuple[Result, ...]
    means: Mapping[str, float]
    figure: str
    spread: Spread | None
    verdict: Verdict = "open"
    lead: Ranked | None = None

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
        return "{} [{}, {}]".format(*(written(-value) for value in (self.lead.lead, high, low)))

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
    judged = _judged([line for line in lines if line.verdict == "open" and not math.isnan(line.mean)])
    others = [line for line in lines if line.verdict != "open" or math.isnan(line.mean)]
    return sorted(judged + others, key=lambda line: -math.inf if math.isnan(line.mean) else line.mean, reverse=True)


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
    line = Line(name, group, {name: float(np.mean(each)) for name, each in figures.items()}, figure, spread)
    if not ordered(figure):
        return replace(line, verdict="no order")
    return replace(line, verdict="saw test") if line.saw_test else line


def _judged(lines: Sequence[Line]) -> list[Line]:
    """The lines, best first, each with its verdict; if scores are equal, none is the best.

    Without parts for every test item, they are compared over seeds alone. A lead on too few test items has no interval.
    """
    runs = {str(place): _parts(line) for place, line in enumerate(lines)}
    units = {len(parts.above) for mine in runs.values() for parts in mine.values()}
    if seeds_alone := len(units) > 1 or units == {1}:
        runs = {name: {seed: Parts.of(parts.figure) for seed, parts in mine.items()} for name, mine in runs.items()}
    rows = ranked(runs, lowest=-math.inf, seeds_alone=seeds_alone) if runs else []
    judged = [
        replace(lines[int(row.name)], verdict=row.against_best, lead=row if seeds_alone or row.units >= UNITS else None)
        for row in rows
    ]
    judged = [line if line.lead and math.isfinite(line.lead.lead_low) else replace(line, lead=None) for line in judged]
    if len(rows) > 1 and rows[1].score == rows[0].score:
        judged[0] = replace(judged[0], verdict=judged[1].verdict)
    return [replace(judged[0], lead=None), *judged[1:]] if judged else []


def _parts(line: Line) -> dict[int, Parts]:
    """The parts of each seed; the score itself where it is not split over test items."""
    scores = {each.seed: each.scores for each in line.results}
    return {seed: each.parts.get(line.figure) or Parts.of(each.figures[line.figure]) for seed, each in scores.items()}
