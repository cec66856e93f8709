"""Does it help? Many k and p on dev, the best of each way told on test. In: a base, a corpus. Out: `Tried`.

(Section 4.6.1 of the paper finds k by a grid search and does not say on which split; chosen on test, the best of
twenty ways flatters itself.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus
from labkit.methods.base import base_rows
from labkit.methods.contract import Method, unit
from labkit.progress import Progress, silent
from labkit.reembedding.compared import Compared, compared
from labkit.sweeps import LP, RAW, TRANSFORMS, Grid, Point, best, sweep, transformed

SMALL = Grid(neighbours=(5, 10, 20, 40), dimensions=(8, 16, 32, 64, 128), removed=(1, 2, 4, 8))


@dataclass(frozen=True)
class Tried:
    """Every way on dev; by transform the one that is best there, and what it is worth on test."""

    measure: str
    points: tuple[Point, ...]
    chosen: tuple[Point, ...]
    test: tuple[float, ...]
    sentences: tuple[int, int]  # of dev, of test
    noise: float  # standard error of the raw vectors' figure on test

    @property
    def verdict(self) -> str:
        """Whether locality preserving helped here, in a sentence."""
        figure = {point.transform: value for point, value in zip(self.chosen, self.test, strict=True)}
        if LP not in figure:
            return "There are too few sentences for any of the neighbourhoods that were asked for."
        gap = figure[LP] - figure[RAW]
        way = "makes no difference that one could trust" if abs(gap) <= self.noise else "helps" if gap > 0 else "hurts"
        return (
            f"On test, locality preserving {way} here: {figure[LP]:.3f} against {figure[RAW]:.3f} of the vectors as "
            f"they are ({gap:+.3f}, where ± {self.noise:.3f} is chance)."
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each way, and the figure on test of those that were chosen."""
        test = dict(zip(self.chosen, self.test, strict=True))
        for point in self.points:
            yield {**asdict(point), "test": test.get(point)}


def tried(
    base: Method, corpus: Corpus, grid: Grid = SMALL, *, most: int = 800, seed: int = 0, progress: Progress = silent
) -> Tried:
    """All sentences of dev, and for what is chosen all of test, embedded together; each split thinned to `most`."""
    dev, rows = _rows(base, compared(corpus, split="dev", most=most))
    points = sweep(rows, dev.judge(), grid, seed=seed, progress=progress)
    ways = [name for name in TRANSFORMS if any(point.transform == name for point in points)]
    chosen = tuple(best(points, name) for name in ways)
    test, others = _rows(base, compared(corpus, split="test", most=most))
    judge = test.judge()
    progress(len(points), len(points), "what was chosen, on test")
    values = tuple(judge(transformed(others, point, reg=grid.reg, seed=seed)) for point in chosen)
    counts = (len(dev.sentences), len(test.sentences))
    return Tried(dev.measure, points, chosen, values, counts, test.noise(values[ways.index(RAW)]))


def _rows(base: Method, told: Compared) -> tuple[Compared, np.ndarray]:
    """The base's vectors at length 1, of the sentences that it knows."""
    return told.known(unit(base_rows(base, told.sentences, 256, silent)))
