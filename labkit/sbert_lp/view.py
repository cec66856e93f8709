"""The effect of SBERT-LP on sentences embedded together: the neighbours of a sentence, and pairs that changed order.

`around` finds a sentence's k nearest before (in the base) and after (by cosine in the new space), and the weights that
reconstruct it from them: d ≈ Σ w_j d_j, y ≈ Σ v_j y_j. `changed` is the paper's table 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.corpora.records import Pairs
from labkit.evaluation import Reversal, Reversals, correlation, reversals
from labkit.sbert_lp.graph import reconstruction_weights
from labkit.sbert_lp.method import EmbeddedSentences
from labkit.sbert_lp.sweeps import Compared, pair_cosines

# --- one sentence ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spoke:
    """A neighbour: `number` of the first sentence with its vector; `rank`, 1 is nearest; `both`: before and after."""

    number: int
    text: str
    rank: int
    weight: float
    cosine: float
    both: bool


@dataclass(frozen=True)
class Around:
    """A sentence, and its neighbours before and after."""

    number: int
    text: str
    before: tuple[Spoke, ...]
    after: tuple[Spoke, ...]

    @property
    def shared(self) -> int:
        """The number of neighbours that stayed."""
        return sum(spoke.both for spoke in self.before)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each sentence that is near in either space, starting with the neighbours before."""
        sides = [{spoke.number: spoke for spoke in side} for side in (self.before, self.after)]
        for number in dict.fromkeys([*sides[0], *sides[1]]):
            row: dict[str, Any] = {"no.": number, "sentence": next(s[number].text for s in sides if number in s)}
            for side, when in zip(sides, ("before", "after"), strict=True):
                spoke = side.get(number)
                row |= {f"{name} {when}": spoke and getattr(spoke, name) for name in ("rank", "weight", "cosine")}
            yield row


def around(space: EmbeddedSentences, sentence: str) -> Around:
    """The neighbours of an embedded sentence, before and after."""
    if sentence not in space.number:
        raise ValueError(
            f"sentence {sentence[:60]!r} is not one of the {len(space.sentences)} embedded together; embed it with them"
        )
    row, y = space.number[sentence], space.embedding.astype(np.float64)
    old, new = unit(space.rows.astype(np.float64)), unit(y)
    near_old = space.neighbours[row]
    cosines = np.where(np.arange(len(new)) == row, -np.inf, new @ new[row])
    near_new = np.argsort(-cosines, kind="stable")[: len(near_old)]
    weights = reconstruction_weights(y[[row]], y, near_new[None], reg=space.reg)[0]
    before = _spokes(space, near_old, space.weights[row].astype(np.float64), old[near_old] @ old[row], near_new)
    after = _spokes(space, near_new, weights, new[near_new] @ new[row], near_old)
    return Around(space.sentences.index(sentence), sentence, before, after)


def _spokes(
    space: EmbeddedSentences, near: np.ndarray, weights: np.ndarray, cosines: np.ndarray, others: np.ndarray
) -> tuple[Spoke, ...]:
    """The neighbours in one space, nearest first; `others` are the neighbours in the other space."""
    first = space.first_of_row()
    order = np.argsort(-cosines, kind="stable")
    columns = (near[order].tolist(), weights[order].tolist(), cosines[order].tolist())
    return tuple(
        Spoke(first[row], space.sentences[first[row]], rank, weight, cosine, row in others)
        for rank, (row, weight, cosine) in enumerate(zip(*columns, strict=True), 1)
    )


# --- pairs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Changed:
    """The pairs that changed order: counts, examples, and Spearman's correlation with the grades before and after.

    The cosines of two pairs should be in the order of their grades. Mended: they are in order only after the embedding.
    Broken: only before it. (The paper's table shows one fixed example and no broken one.)
    """

    found: Reversals
    pairs: Pairs
    spearman: tuple[float, float]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Two rows for each example, the pair with the higher grade first, as in table 4."""
        for kind, example in self.examples:
            for side, pair in enumerate((example.higher, example.lower)):
                yield {
                    "what": kind,
                    "should be": ("closer", "farther")[side],
                    "sentence 0": self.pairs.text_a[pair],
                    "sentence 1": self.pairs.text_b[pair],
                    "grade": example.gold[side],
                    "before": example.before[side],
                    "after": example.after[side],
                }

    @property
    def examples(self) -> tuple[tuple[str, Reversal], ...]:
        """Every example with its name, such as "fixed 1" or "broken 2"."""
        kinds = {"fixed": self.found.fixed_examples, "broken": self.found.broken_examples}
        return tuple((f"{kind} {n}", example) for kind, found in kinds.items() for n, example in enumerate(found, 1))


def changed(
    sample: Compared, before: np.ndarray, after: np.ndarray, *, examples: int = 4, least: float = 0.0
) -> Changed:
    """The pairs that changed order. `before` and `after` are the vectors of `sample.sentences` in the base and in the
    new space, one row per sentence. `least`: pairs of pairs whose grades differ by at most this are ignored.
    """
    pairs = sample.rows
    if not isinstance(pairs, Pairs):
        raise ValueError(
            f"corpus {pairs.name!r} has {pairs.KIND}, expected pairs with grades or labels, such as relatedness or "
            "questions"
        )
    a, b = sample.places.T.tolist()
    scores = [pair_cosines(rows, a, b) for rows in (before, after)]
    before_and_after = correlation(scores[0], pairs.values).spearman, correlation(scores[1], pairs.values).spearman
    return Changed(reversals(pairs.values, *scores, examples=examples, least=least), pairs, before_and_after)
