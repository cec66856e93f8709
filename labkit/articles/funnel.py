"""What each rule removed, as a table that adds up.

In: a tally (rule, what it counts) -> how many. Out: a `Funnel`; in each column what was read, less what the rules
removed, is what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labkit.articles.dump import DISAMBIGUATION, ELSEWHERE, NOT_TEXT, REDIRECT, TOO_LARGE
from labkit.articles.rules import (
    EMPTY,
    FEW,
    JOINED,
    PAIR_RULES,
    READ,
    REPEATED,
    SECTION_RULES,
    SENTENCE_RULES,
    UNCLOSED,
)
from labkit.articles.triplets import ALONE, BARREN, LIMIT, NO_SIDE, NOT_FIRST, REPEATS

UNITS = ("articles", "sections", "sentences", "pairs", "triplets")
LEFT = "left"
# as they are asked
ORDER = (ELSEWHERE, REDIRECT, NOT_TEXT, TOO_LARGE, DISAMBIGUATION, REPEATED, UNCLOSED, *SECTION_RULES, JOINED,
         *SENTENCE_RULES, EMPTY, FEW, *PAIR_RULES, LIMIT, NOT_FIRST, NO_SIDE, ALONE, REPEATS, BARREN)  # fmt: skip


@dataclass(frozen=True)
class Funnel:
    """Counts by rule and unit."""

    counts: Mapping[tuple[str, str], int]

    @property
    def rules(self) -> list[str]:
        """Those that removed something, in the order in which they are asked."""
        found = {rule for (rule, _), count in self.counts.items() if count}
        return [rule for rule in ORDER if rule in found]

    def removed(self, rule: str, unit: str) -> int:
        return self.counts.get((rule, unit), 0)

    def read(self, unit: str) -> int:
        """How many there were before any rule."""
        return self.removed(READ, unit)

    def left(self, unit: str) -> int:
        """How many are left after all of them."""
        return self.read(unit) - sum(self.removed(rule, unit) for rule in self.rules)

    def rows(self) -> list[tuple[str, ...]]:
        """Cells of the table, its header first; an empty cell is a rule that does not ask about this unit."""
        body = [(READ, *(f"{self.read(unit):,}" for unit in UNITS))]
        for rule in self.rules:
            body.append((rule, *(f"-{gone:,}" if (gone := self.removed(rule, unit)) else "" for unit in UNITS)))
        return [("", *UNITS), *body, (LEFT, *(f"{self.left(unit):,}" for unit in UNITS))]
