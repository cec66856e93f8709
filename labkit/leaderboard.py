"""Several runs on one test split, side by side: runs that differ only in the seed are one line, the best comes first.

In: a `Result` of each run. Out: a `Line` for each method with its settings: means, the spread over the seeds, and
whether it is behind the best by more than chance. A difference inside the spread is a tie, and so is one that the
paired test on the items cannot tell from chance; with neither three seeds nor items, the verdict is "unknown".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from labkit.evaluation.comparison import SEEDS, PairedTest, Spread, leader, over_seeds, paired_test
from labkit.scores import Scores

Verdict: TypeAlias = Literal["best", "tie", "behind", "unknown"]
APART = ("device",)  # settings that change where a method is trained, not what it is


@dataclass(frozen=True, eq=False)
class Result:
    """One run: what it is, and its scores on the split that all are compared on."""

    run: str
    method: str
    settings: Mapping[str, Any]
    trained_on: str
    fingerprint: str
    seed: int
    scores: Scores

    @classmethod
    def of(cls, run: str, record: Mapping[str, Any], scores: Scores) -> Self:
        """From the record in a run's folder."""
        about = {name: record[name] for name in ("method", "settings", "fingerprint", "seed")}
        return cls(run=run, trained_on=record["corpus"], scores=scores, **about)

    def kind(self) -> tuple[Any, ...]:
        """The same for runs that differ only in the seed."""
        settings = {name: value for name, value in self.settings.items() if name not in APART}
        return self.method, self.fingerprint, *sorted(settings.items())


@dataclass(frozen=True, eq=False)
class Line:
    """The runs of one kind. `spread` is None where there are fewer than three seeds."""

    name: str
    results: tuple[Result, ...]
    means: Mapping[str, float]
    spread: Spread | None
    items: np.ndarray | None
    verdict: Verdict = "best"
    test: PairedTest | None = None

    @property
    def measure(self) -> str:
        return self.results[0].scores.measure

    @property
    def mean(self) -> float:
        return self.means[self.measure]


def leaderboard(results: Sequence[Result]) -> list[Line]:
    """The lines, the best first; a seed that occurs twice in a kind counts once."""
    kinds: dict[tuple[Any, ...], dict[int, Result]] = {}
    for result in results:
        kinds.setdefault(result.kind(), {}).setdefault(result.seed, result)
    groups = [tuple(found.values()) for found in kinds.values()]
    lines = [_line(name, group) for name, group in zip(names(groups), groups, strict=True)]
    lines.sort(key=lambda line: -math.inf if math.isnan(line.mean) else line.mean, reverse=True)
    return [lines[0], *(_against(lines[0], line) for line in lines[1:])]


def names(groups: Sequence[Sequence[Result]]) -> list[str]:
    """Each kind's method; the settings in which it differs from others of this method; the corpus, if several."""
    corpora = {group[0].fingerprint for group in groups}
    made = []
    for group in groups:
        mine = group[0]
        others = [other[0] for other in groups if other[0].method == mine.method]
        told = [
            f"{name}={value}"
            for name, value in mine.settings.items()
            if name not in APART and any(other.settings.get(name) != value for other in others)
        ]
        if len(corpora) > 1:
            told.append(f"on {mine.trained_on}")
        made.append(" ".join([mine.method, *told]))
    return made


def _line(name: str, group: tuple[Result, ...]) -> Line:
    figures = {
        figure: [result.scores.figures[figure] for result in group]
        for figure in group[0].scores.figures
        if all(figure in result.scores.figures for result in group)
    }
    leading = figures[group[0].scores.measure]
    enough = len(group) >= SEEDS and all(map(math.isfinite, leading))
    items = [result.scores.items for result in group if result.scores.items is not None]
    return Line(
        name=name,
        results=group,
        means={figure: float(np.mean(values)) for figure, values in figures.items()},
        spread=over_seeds(leading) if enough else None,
        items=np.mean(items, axis=0) if len(items) == len(group) else None,
    )


def _against(best: Line, line: Line) -> Line:
    """The line with its verdict."""
    test = None
    if best.items is not None and line.items is not None and len(best.items) == len(line.items):
        test = paired_test(best.items, line.items)
    signs = [test.verdict] if test else []
    if best.spread and line.spread:
        signs.append(leader(best.spread, line.spread))
    verdict: Verdict = "unknown" if not signs else "behind" if set(signs) == {"first"} else "tie"
    return replace(line, verdict=verdict, test=test)
