"""Which pairs does one score put in the wrong order and another in the right one? Counted both ways, with examples.

Of two items with different grades the one with the higher grade should score higher: strictly, a tie is wrong. In:
grades and two scores of the same n items, such as cosines of sentence pairs in two spaces. Out: of all couples of items
how many both scores order rightly, only the one before, only the one after, neither. (Table 4 of the SBERT-LP paper
shows one couple that the new space mends, and is silent on those that it spoils.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labkit.evaluation.inputs import numbers, whole
from labkit.evaluation.neighbours import blocks

_SPARE = 40  # candidates for each example that is wanted, since no item may stand in two of them
_ENTRIES = 2**21  # couples that are looked at together


@dataclass(frozen=True)
class Reversal:
    """Two items by number: `higher` has the higher grade; their grades and scores, the higher one's first."""

    higher: int
    lower: int
    gold: tuple[float, float]
    before: tuple[float, float]
    after: tuple[float, float]


@dataclass(frozen=True)
class Reversals:
    """Couples of items by who orders them rightly, and the clearest of those that changed."""

    kept: int
    mended: int
    spoilt: int
    wrong: int
    mended_examples: tuple[Reversal, ...] = ()
    spoilt_examples: tuple[Reversal, ...] = ()

    @property
    def couples(self) -> int:
        """All couples that have an order."""
        return self.kept + self.mended + self.spoilt + self.wrong

    def __str__(self) -> str:
        return (
            f"of {self.couples:,} couples with different grades {self.mended:,} mended "
            f"({self.mended / self.couples:.2%}), {self.spoilt:,} spoilt ({self.spoilt / self.couples:.2%})"
        )


def reversals(
    gold: ArrayLike, before: ArrayLike, after: ArrayLike, *, examples: int = 5, least: float = 0.0
) -> Reversals:
    """Grades and two scores (n,) to the record; `least`: couples whose grades differ by no more are not asked.

    >>> print(reversals([1, 2, 3], before=[0.5, 0.4, 0.9], after=[0.1, 0.4, 0.3]))
    of 3 couples with different grades 1 mended (33.33%), 1 spoilt (33.33%)
    """
    gold = numbers("gold", gold).astype(np.float64)
    scores = [
        numbers(name, each, like=gold).astype(np.float64) for name, each in (("before", before), ("after", after))
    ]
    whole("examples", examples, 0, 1_000, "couples that are shown of each kind")
    if np.ptp(gold) <= least:
        raise ValueError(
            f"all {len(gold)} grades are within {np.ptp(gold):g}, expected two that are more than {least:g} apart "
            "(`least`); take more pairs"
        )
    from scipy.stats import rankdata  # takes a second

    ranks = [rankdata(each) for each in scores]  # the scales of two scores cannot be compared, their ranks can
    counts = np.zeros((2, 2), np.int64)  # [right before, right after]
    found: dict[tuple[bool, bool], list[tuple[float, int, int]]] = {(False, True): [], (True, False): []}
    for block in blocks(len(gold), len(gold), _ENTRIES):
        asked = gold[block, None] - gold[None, :] > least
        gaps = [each[block, None] - each[None, :] for each in ranks]
        right = [gap > 0 for gap in gaps]
        for kind in ((False, False), (False, True), (True, False), (True, True)):
            these = asked & (right[0] == kind[0]) & (right[1] == kind[1])
            counts[int(kind[0]), int(kind[1])] += these.sum()
            if kind in found and examples:
                found[kind] += _clearest(np.where(these, np.minimum(*np.abs(gaps)), -1), block.start, examples)
    chosen = [_apart(found[kind], examples) for kind in ((False, True), (True, False))]
    shown = [tuple(_shown(i, j, gold, *scores) for i, j in couples) for couples in chosen]
    (wrong, mended), (spoilt, kept) = counts.tolist()
    return Reversals(kept, mended, spoilt, wrong, *shown)


def _clearest(strength: np.ndarray, start: int, examples: int) -> list[tuple[float, int, int]]:
    """(strength, higher, lower) of the clearest couples of a block; -1 marks what is none."""
    flat = strength.ravel()
    count = min(_SPARE * examples, len(flat))
    best = np.argpartition(flat, len(flat) - count)[len(flat) - count :]
    rows, columns = np.unravel_index(best[flat[best] >= 0], strength.shape)
    values = strength[rows, columns]
    return list(zip(values.tolist(), (rows + start).tolist(), columns.tolist(), strict=True))


def _apart(found: list[tuple[float, int, int]], examples: int) -> list[tuple[int, int]]:
    """The clearest couples of which no two share an item; equals by number."""
    used: set[int] = set()
    chosen: list[tuple[int, int]] = []
    for _, higher, lower in sorted(found, key=lambda couple: (-couple[0], *couple[1:])):
        if len(chosen) < examples and not used & {higher, lower}:
            chosen.append((higher, lower))
            used |= {higher, lower}
    return chosen


def _shown(i: int, j: int, gold: np.ndarray, before: np.ndarray, after: np.ndarray) -> Reversal:
    pairs = [(float(each[i]), float(each[j])) for each in (gold, before, after)]
    return Reversal(i, j, *pairs)
