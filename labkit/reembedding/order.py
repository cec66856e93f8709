"""Which pairs changed order, in the manner of the paper's table 4, both ways. In: pairs and vectors. Out: `Changed`.

Two pairs of sentences with different grades should have cosines in the same order. Mended: they have so only after
the embedding. Spoilt: only before. (The table shows one of the first kind, and is silent on the second.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.corpora.records import Pairs
from labkit.evaluation import Reversal, Reversals, correlation, reversals
from labkit.reembedding.compared import Compared
from labkit.sweeps import cosines


@dataclass(frozen=True, eq=False)
class Changed:
    """The counts and examples, the pairs they are of, and Spearman's correlation with the grades, before and after."""

    found: Reversals
    pairs: Pairs
    before: np.ndarray
    after: np.ndarray
    spearman: tuple[float, float]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Two rows for each example, the pair with the higher grade first, as in table 4."""
        for kind, examples in (("mended", self.found.mended_examples), ("spoilt", self.found.spoilt_examples)):
            for number, example in enumerate(examples, 1):
                for side, pair in enumerate((example.higher, example.lower)):
                    yield {
                        "what": f"{kind} {number}",
                        "should be": ("closer", "farther")[side],
                        "sentence 0": self.pairs.text_a[pair],
                        "sentence 1": self.pairs.text_b[pair],
                        "grade": example.gold[side],
                        "before": example.before[side],
                        "after": example.after[side],
                    }

    @property
    def examples(self) -> tuple[tuple[str, Reversal], ...]:
        """(mended or spoilt, example)."""
        return tuple(
            (kind, each)
            for kind, found in (("mended", self.found.mended_examples), ("spoilt", self.found.spoilt_examples))
            for each in found
        )


def changed(told: Compared, before: np.ndarray, after: np.ndarray, *, examples: int = 4, least: float = 0.0) -> Changed:
    """`before` and `after`: vectors of `told.sentences` in the base and in the new space, a row each.

    `least`: pairs of pairs whose grades differ by no more are not asked.
    """
    if not isinstance(told.rows, Pairs):
        raise ValueError(
            f"corpus {told.rows.name!r} has the shape {type(told.rows).__name__}, expected Pairs: only pairs with "
            "grades or labels have an order; take relatedness or questions"
        )
    for name, rows in (("before", before), ("after", after)):
        if len(rows) != len(told.sentences):
            raise ValueError(
                f"{name} has {len(rows)} rows, expected {len(told.sentences)}, one a sentence; encode told.sentences"
            )
    a, b = told.places.T.tolist()
    scores = [cosines(rows, a, b) for rows in (before, after)]
    gold = told.rows.values
    return Changed(
        found=reversals(gold, *scores, examples=examples, least=least),
        pairs=told.rows,
        before=scores[0],
        after=scores[1],
        spearman=(correlation(scores[0], gold).spearman, correlation(scores[1], gold).spearman),
    )
