"""One sentence before and after: who is near it, and of whom it is a mixture. In: an `Embedded`. Out: `Around`.

before    its k nearest in the base, and the weights w that rebuild it from them:  d ≈ Σ w_j d_j
after     its k nearest by cosine in the new space, and the weights that rebuild it there
kept      |y - Σ w_j y_j|² / |y|²: how well the weights of before hold for the vectors of after, which is what the
          method tries for
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.locally_linear.weights import reconstruction_weights
from labkit.methods.contract import unit
from labkit.methods.neighbourhoods import Embedded


@dataclass(frozen=True)
class Spoke:
    """A neighbour. `number`: the first sentence that has this vector; `rank`: 1 is the nearest; `both`: near in
    either space."""

    number: int
    text: str
    rank: int
    weight: float
    cosine: float
    both: bool


@dataclass(frozen=True)
class Around:
    """A sentence, its neighbours on either side, and what is left over of it, as a share of its squared length."""

    number: int
    text: str
    before: tuple[Spoke, ...]
    after: tuple[Spoke, ...]
    error_before: float
    error_after: float
    kept: float

    @property
    def shared(self) -> int:
        """How many of the neighbours stayed."""
        return sum(spoke.both for spoke in self.before)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each sentence that is near in either space, those of before first."""
        sides = [{spoke.number: spoke for spoke in side} for side in (self.before, self.after)]
        for number in dict.fromkeys([*sides[0], *sides[1]]):
            old, new = (side.get(number) for side in sides)
            told = old or new
            assert told is not None
            yield {
                "no.": number,
                "sentence": told.text,
                "rank before": old and old.rank,
                "weight before": old and old.weight,
                "cosine before": old and old.cosine,
                "rank after": new and new.rank,
                "weight after": new and new.weight,
                "cosine after": new and new.cosine,
            }


def around(space: Embedded, sentence: str) -> Around:
    """Of a sentence that was embedded."""
    if sentence not in space.number:
        raise ValueError(
            f"sentence {sentence[:60]!r} is none of the {len(space.sentences)} that were embedded together, expected "
            "one of them; embed it with them"
        )
    row = space.number[sentence]
    first = _first(space)
    old = unit(space.rows.astype(np.float64))
    new = unit(space.embedding.astype(np.float64))
    k = space.neighbours.shape[1]
    near_old = space.neighbours[row]
    near_new = np.argsort(-np.where(np.arange(len(new)) == row, -np.inf, new @ new[row]), kind="stable")[:k]
    y = space.embedding.astype(np.float64)
    solved = reconstruction_weights(y[[row]], y, near_new[None], reg=space.reg)
    w = space.weights[row].astype(np.float64)
    d = space.rows.astype(np.float64)
    return Around(
        number=space.sentences.index(sentence),
        text=sentence,
        before=_spokes(space, first, near_old, w, old[near_old] @ old[row], set(near_new.tolist())),
        after=_spokes(space, first, near_new, solved.values[0], new[near_new] @ new[row], set(near_old.tolist())),
        error_before=_share(d[row] - w @ d[near_old], d[row]),
        error_after=_share(y[row] - solved.values[0] @ y[near_new], y[row]),
        kept=_share(y[row] - w @ y[near_old], y[row]),
    )


def _first(space: Embedded) -> dict[int, int]:
    """distinct row -> the first sentence that has it."""
    return dict(zip(reversed(space.place.tolist()), reversed(range(len(space.sentences))), strict=True))


def _spokes(
    space: Embedded, first: dict[int, int], near: np.ndarray, weights: np.ndarray, cosines: np.ndarray, others: set[int]
) -> tuple[Spoke, ...]:
    """The nearest first."""
    order = np.argsort(-cosines, kind="stable").tolist()
    rows = [(int(near[at]), float(weights[at]), float(cosines[at])) for at in order]
    return tuple(
        Spoke(first[row], space.sentences[first[row]], rank, weight, cosine, row in others)
        for rank, (row, weight, cosine) in enumerate(rows, 1)
    )


def _share(left: np.ndarray, whole: np.ndarray) -> float:
    return float(left @ left / max(float(whole @ whole), 1e-300))
