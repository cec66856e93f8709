"""The positive side of the streaming loss. Rows are sorted by class, so positives are small blocks on the diagonal.

In: unit rows V (m, d) in class order. Out: the least similar positive of each row, before any negative is looked at;
later the positives' share of the loss and its gradient. Blocks are made again when they are needed and never exceed
a fixed size, so one class of all m rows costs no m x m either.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

_NUMBERS_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows in class order: `order` (m,) of the rows, `number` (m,) of their class, and (size, count) of the classes.

    Classes are numbered by size, so that all of one size lie together.
    """

    order: Tensor
    number: Tensor
    sizes: list[tuple[int, int]]


def classes_of(labels: Tensor) -> Classes:
    """Sort rows by the size of their class, then by label."""
    _, found, counts = torch.unique(labels, return_inverse=True, return_counts=True)
    number = counts.argsort(stable=True).argsort()[found]
    order = number.argsort(stable=True)
    sizes, classes = torch.unique(counts, return_counts=True)
    return Classes(order, number[order], list(zip(sizes.tolist(), classes.tolist(), strict=True)))


def lowest_positive(V: Tensor, classes: Classes) -> Tensor:
    """`min_{k∈P_i} S_ik` (m,); +∞ for a row that is alone in its class."""
    lowest = V.new_full((len(V),), math.inf)
    for strip, _, S in _blocks(V, classes):
        strip.of(lowest).copy_(S.amin(-1))
    return lowest


def positive_terms(V: Tensor, classes: Classes, ceiling: Tensor, alpha: float, base: float) -> Tensor:
    """`log(1 + Σ_P e^(-α(S - λ)))` (m,) over the positives below the ceiling."""
    total = V.new_zeros(len(V))
    for strip, _, S in _blocks(V, classes):
        exponents = _exponents(S, strip.of(ceiling), alpha, base)
        strip.of(total).copy_(torch.logaddexp(exponents.logsumexp(-1), V.new_zeros(())))
    return total


def add_positive_gradient(
    gradient: Tensor, V: Tensor, classes: Classes, ceiling: Tensor, total: Tensor, alpha: float, base: float
) -> None:
    """Add the derivative of `Σ_i total_i / α` to `gradient` (m, d): weights `e^(-α(S - λ) - total)` pull both ends."""
    for strip, block, S in _blocks(V, classes):
        weights = torch.exp(_exponents(S, strip.of(ceiling), alpha, base) - strip.of(total)[..., None])
        strip.of(gradient).sub_(weights @ block.of(V))
        block.of(gradient).sub_(weights.mT @ strip.of(V))


@dataclass(frozen=True)
class _Rows:
    """`count` classes of `size` rows each from row `start` on, of each class the rows `first` to `stop`."""

    start: int
    count: int
    size: int
    first: int
    stop: int

    def of(self, numbers: Tensor) -> Tensor:
        """These rows of (m, ...) as a view (count, stop - first, ...)."""
        inside = numbers[self.start : self.start + self.count * self.size]
        return inside.unflatten(0, (self.count, self.size))[:, self.first : self.stop]


def _blocks(V: Tensor, classes: Classes) -> Iterator[tuple[_Rows, _Rows, Tensor]]:
    """Rows, all rows of their classes, and S (count, rows, size) between them, in which a row meets itself at +∞.

    Many small classes of one size go together; a large class goes in strips of rows.
    """
    start = 0
    for size, count in classes.sizes:
        together = max(1, _NUMBERS_AT_ONCE // size**2)
        height = max(1, min(size, _NUMBERS_AT_ONCE // size))
        for done in range(0, count, together):
            block = _Rows(start + done * size, min(together, count - done), size, 0, size)
            for first in range(0, size, height):
                strip = _Rows(block.start, block.count, size, first, min(size, first + height))
                S = strip.of(V) @ block.of(V).mT
                S.diagonal(first, 1, 2).fill_(math.inf)
                yield strip, block, S
        start += size * count


def _exponents(S: Tensor, ceiling: Tensor, alpha: float, base: float) -> Tensor:
    kept = S.lt(ceiling[..., None])
    return (-alpha * (S - base)).masked_fill(~kept, -math.inf)
