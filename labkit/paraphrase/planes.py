"""A handful of groups of paraphrases in two planes, before and after: figure 3 of the paper, with a base beside it.

In: groups, and two methods' vectors of the same sentences. Out: `Handful`, then a `Projection` of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np
from scipy import sparse

from labkit.evaluation.inputs import seeded, whole
from labkit.methods.contract import unit
from labkit.projection import PROJECTIONS, Projection


@dataclass(frozen=True)
class Handful:
    """Some groups: their sentences, and the letter of each one's group, A to Z."""

    texts: tuple[str, ...]
    letters: tuple[str, ...]

    @property
    def first(self) -> dict[str, str]:
        """letter -> the first sentence of the group: its name."""
        return dict(zip(reversed(self.letters), reversed(self.texts), strict=True))

    def rows(self, **planes: Projection) -> Iterator[dict[str, Any]]:
        """A row a sentence, with its place in each plane."""
        for row, (letter, text) in enumerate(zip(self.letters, self.texts, strict=True)):
            places = {
                f"{name} {axis}": float(plane.points[row, side])
                for name, plane in planes.items()
                for side, axis in enumerate("xy")
            }
            yield {"group": letter, "sentence": text} | places


def handful(groups: Sequence[Sequence[str]], *, count: int = 6, most: int = 8, seed: int = 0) -> Handful:
    """So many of the groups with two or more different sentences, drawn by lot, and at most `most` sentences of each.

    >>> handful([["a b", "b a"], ["c"], ["d e", "e d", "d e"]], count=2).letters
    ('A', 'A', 'B', 'B')
    """
    whole("count", count, 1, len(ascii_uppercase), "groups that are shown")
    whole("most", most, 2, 1_000, "sentences of a group that are shown")
    several = [kept for group in groups if len(kept := list(dict.fromkeys(group))) > 1]
    if not several:
        raise ValueError(
            f"groups: none of {len(groups)} has two different sentences, expected some that have; choose another corpus"
        )
    drawn = np.random.default_rng(seeded(seed)).permutation(len(several))[:count]
    chosen = [several[number][:most] for number in sorted(drawn.tolist())]
    lettered = [(letter, text) for letter, group in zip(ascii_uppercase, chosen, strict=False) for text in group]
    return Handful(tuple(text for _, text in lettered), tuple(letter for letter, _ in lettered))


def plane(vectors: Any, how: str = "PCA", *, seed: int = 0) -> Projection:
    """Vectors (n, d) at length 1, so that near means a large cosine, in the plane; how: PCA or t-SNE."""
    if how not in PROJECTIONS:
        raise ValueError(f"how is {how!r}, expected one of {', '.join(PROJECTIONS)}")
    rows = unit(vectors)
    return PROJECTIONS[how](rows.toarray() if sparse.issparse(rows) else rows, seed=seed)
