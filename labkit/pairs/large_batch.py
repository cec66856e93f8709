"""The locality loss with mining for large batches: from embeddings (m, d) to the same scalar, never an m x m matrix.

Dense form: `locality(S, *informative(S, P, N))` with S of the normalised rows. Here S is only ever seen in tiles, and
four things make it quick: rows sorted by class (positives are small blocks, so the mining floor is known before the
sweep), symmetry (half the tiles), the derivative in closed form, and short lists of the pairs that count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from labkit.pairs.losses import check_locality
from labkit.pairs.masks import checked_labels, row_lengths, single_or_double
from labkit.pairs.mining import check_epsilon

# --- positives ---------------------------------------------------------------------------------------------------
#
# The positive side of the streaming loss. Rows are sorted by class, so positives are small blocks on the diagonal.
#
# In: unit rows V (m, d) in class order. Out: the least similar positive of each row, before any negative is looked at;
# later the positives' share of the loss and its gradient. Blocks are made again when they are needed and never exceed
# a fixed size, so one class of all m rows costs no m x m either.


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


# --- negatives ---------------------------------------------------------------------------------------------------
#
# The negative side of the streaming loss: one sweep over square tiles of S, of which half suffice, as S is symmetric.
#
# In: unit rows V (m, d) in class order, the floor above which a negative counts. Out: `log(1 + Σ_N e^(β(S - λ)))` and
# the most similar negative of each row, later the gradient. Of a tile in which few pairs count, a short list of them
# waits for the gradient; of the others as many as there is room for, and the rest is made again. Memory stays
# proportional to m · d.


_SIDE = {True: 512, False: 4096}  # of a tile on a CPU (it stays in the cache), elsewhere
_FEW = 0.1  # share of a tile up to which a list of its pairs is cheaper than the tile
_ROOM = 3  # times the memory of V may go into lists and tiles that wait for the gradient


@dataclass(frozen=True, eq=False)
class Listed:
    """The pairs of one tile that count: rows and columns of S, as (start, stop), places in the tile, similarities."""

    rows: slice
    columns: slice
    places: Tensor
    similarities: Tensor


@dataclass(frozen=True, eq=False)
class Negatives:
    """`total` (m,) = log(1 + Σ), `highest` (m,), and for the gradient: lists, whole tiles, tiles to make again."""

    total: Tensor
    highest: Tensor
    listed: list[Listed]
    whole: list[tuple[slice, slice, Tensor]]
    again: list[tuple[int, int]]


def sweep(V: Tensor, classes: Classes, floor: Tensor, beta: float, base: float) -> Negatives:
    """All that the loss needs to know of the negatives above the floor (m,), in one sweep.

    Sums of `e^(β(S - λ))` may be taken as they are while the largest of them fits the type; beyond that a sweep for
    the maxima comes first, and the largest exponent of each row is taken out of its sum.
    """
    reference = V.new_zeros(len(V))
    if beta * (1 - base) + math.log(len(V)) > math.log(torch.finfo(V.dtype).max) - 1:
        largest = _highest(V, classes)
        reference = (largest - base).mul_(beta).clamp_(min=0) * (largest > floor)  # 0 where nothing is above the floor
    shift = base + reference / beta  # e^(β(S - shift)) = e^(β(S - λ) - reference)
    sums, highest = V.new_zeros(len(V)), V.new_full((len(V),), -math.inf)
    listed: list[Listed] = []
    whole: list[tuple[slice, slice, Tensor]] = []
    again: list[tuple[int, int]] = []
    room = _ROOM * V.numel()
    few = _FEW if V.device.type == "cpu" else 0  # lists are slow elsewhere
    for rows, columns, S in _tiles(V, classes):
        _raise(highest, rows, columns, S)
        found = _list(rows, columns, S, floor, min(room // 2, int(few * S.numel())))
        if found is None:
            if room >= S.numel():
                room -= S.numel()
                whole.append((rows, columns, S.clone()))
            else:
                again.append((rows.start, columns.start))
            sums[rows] += _kept(S, shift[rows, None], floor[rows, None], beta).sum(1)
            if rows != columns:
                sums[columns] += _kept(S, shift[columns], floor[columns], beta).sum(0)
        elif len(found.places):
            room -= 2 * len(found.places)
            listed.append(found)
            for ends in _ends(found)[: 1 if rows == columns else 2]:
                sums.index_add_(0, ends, _kept(found.similarities, shift[ends], floor[ends], beta))
    return Negatives(reference + torch.log1p(sums + torch.expm1(-reference)), highest, listed, whole, again)


def add_negative_gradient(
    gradient: Tensor, V: Tensor, classes: Classes, floor: Tensor, negatives: Negatives, beta: float, base: float
) -> None:
    """Add the derivative of `Σ_i total_i / β` to `gradient` (m, d): weights `e^(β(S - λ) - total)` push both ends."""
    shift = base + negatives.total / beta  # e^(β(S - shift)) = e^(β(S - λ) - total)
    for tile in negatives.listed:
        S, (a, b) = tile.similarities, _ends(tile)
        weights = _kept(S, shift[a], floor[a], beta) + _kept(S, shift[b], floor[b], beta)
        places = torch.stack([a - tile.rows.start, b - tile.columns.start])
        shape = (tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
        sparse = torch.sparse_coo_tensor(places, weights, shape, check_invariants=False)
        gradient[tile.rows] += torch.sparse.mm(sparse, V[tile.columns])
        if tile.rows != tile.columns:
            gradient[tile.columns] += torch.sparse.mm(sparse.t(), V[tile.rows])
    for rows, columns, S in chain(negatives.whole, _tiles(V, classes, negatives.again)):
        weights = _kept(S, shift[rows, None], floor[rows, None], beta)
        if rows == columns:
            gradient[rows].addmm_(weights + weights.T, V[rows])
        else:
            weights += _kept(S, shift[columns], floor[columns], beta)
            gradient[rows].addmm_(weights, V[columns])
            gradient[columns].addmm_(weights.T, V[rows])


def _kept(S: Tensor, shift: Tensor, floor: Tensor, beta: float) -> Tensor:
    """`e^(β(S - shift))` where S is above the floor, else 0."""
    kind = torch.finfo(S.dtype)
    terms = torch.sub(S, shift).mul_(beta)
    # Smaller is 0 to rounding, and exp ten times slower there; larger is not above the floor, and ∞ · 0 is no number.
    terms.clamp_(math.log(kind.tiny), math.log(kind.max) - 1).exp_()
    return terms.mul_(torch.gt(S, floor, out=torch.empty_like(S)))  # 1.0 and 0.0: bool times float is slow


def _list(rows: slice, columns: slice, S: Tensor, floor: Tensor, most: int) -> Listed | None:
    """The pairs above the floor of either of their ends; None if there are more than `most`."""
    if not most:
        return None
    above = torch.gt(S, torch.minimum(floor[rows, None], floor[columns]), out=torch.empty_like(S)).view(-1)
    if above.sum() > most:
        return None
    places = above.nonzero()[:, 0]
    return Listed(rows, columns, places.int(), S.view(-1).index_select(0, places))


def _ends(tile: Listed) -> tuple[Tensor, Tensor]:
    """Row and column of the listed pairs, counted in the whole of S."""
    width = tile.columns.stop - tile.columns.start
    places = tile.places.long()
    return tile.rows.start + places // width, tile.columns.start + places % width


def _raise(highest: Tensor, rows: slice, columns: slice, S: Tensor) -> None:
    torch.maximum(highest[rows], S.amax(1), out=highest[rows])
    if rows != columns:
        torch.maximum(highest[columns], S.amax(0), out=highest[columns])


def _highest(V: Tensor, classes: Classes) -> Tensor:
    highest = V.new_full((len(V),), -math.inf)
    for rows, columns, S in _tiles(V, classes):
        _raise(highest, rows, columns, S)
    return highest


def _tiles(
    V: Tensor, classes: Classes, corners: list[tuple[int, int]] | None = None
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Rows, columns and S of each tile on or above the diagonal, -∞ within a class; S is overwritten by the next.

    Tiles within one class hold no negative and are left out.
    """
    m, side = len(V), _SIDE[V.device.type == "cpu"]
    if corners is None:
        corners = [(i, j) for i in range(0, m, side) for j in range(i, m, side)]
    first = classes.number[::side].tolist()
    last = [*classes.number[side - 1 :: side].tolist(), int(classes.number[-1])]
    buffer = V.new_empty(min(m, side) ** 2)
    for i, j in corners:
        rows, columns = slice(i, min(m, i + side)), slice(j, min(m, j + side))
        if first[i // side] == last[j // side]:
            continue
        shape = (rows.stop - i, columns.stop - j)
        S = torch.mm(V[rows], V[columns].T, out=buffer[: shape[0] * shape[1]].view(shape))
        if last[i // side] >= first[j // side]:
            S.masked_fill_(classes.number[rows, None] == classes.number[columns], -math.inf)
        yield rows, columns, S


# --- streaming ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Settings:
    alpha: float
    beta: float
    base: float
    epsilon: float


def streaming_locality(
    embeddings: Tensor,
    labels: Tensor | Sequence[int],
    *,
    alpha: float = 2.0,
    beta: float = 50.0,
    base: float = 0.5,
    epsilon: float = 0.1,
) -> Tensor:
    """Loss of the rows, normalised here, after mining with margin `epsilon` (∞: all pairs of anchors with both kinds).

    Negatives that together weigh less than rounding are left out of an anchor's sum.
    """
    lengths = row_lengths(embeddings.detach() if isinstance(embeddings, Tensor) else embeddings)
    found = checked_labels(labels, len(embeddings)).to(embeddings.device)
    check_locality(alpha, beta, base)
    check_epsilon(epsilon)
    with torch.autocast(embeddings.device.type, enabled=False):
        loss: Tensor = _Streaming.apply(embeddings, lengths, found, _Settings(alpha, beta, base, epsilon))
    return loss


class _Streaming(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, lengths: Tensor, labels: Tensor, settings: _Settings) -> Tensor:
        classes = classes_of(labels)
        lengths = lengths[classes.order]
        V = single_or_double(X)[classes.order].div_(lengths)
        floor = _floor(lowest_positive(V, classes), settings)
        negatives = sweep(V, classes, floor, settings.beta, settings.base)
        ceiling = negatives.highest + settings.epsilon  # NaN where there is no negative and ε = ∞: keeps nothing
        pull = positive_terms(V, classes, ceiling, settings.alpha, settings.base)
        ctx.save_for_backward(V, lengths, floor, ceiling, pull)
        ctx.rest = classes, negatives, settings, X.dtype
        return (pull / settings.alpha + negatives.total / settings.beta).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        V, lengths, floor, ceiling, pull = ctx.saved_tensors
        classes, negatives, settings, dtype = ctx.rest
        with torch.autocast(V.device.type, enabled=False):
            slope = torch.zeros_like(V)
            add_positive_gradient(slope, V, classes, ceiling, pull, settings.alpha, settings.base)
            add_negative_gradient(slope, V, classes, floor, negatives, settings.beta, settings.base)
            slope.addcmul_(V, torch.linalg.vecdot(slope, V)[:, None], value=-1)  # what would only lengthen a row
            slope.mul_(upstream / len(V) / lengths)
            unsorted = torch.empty_like(slope, dtype=dtype)
            unsorted[classes.order] = slope.to(dtype)
        return unsorted, None, None, None


def _floor(lowest: Tensor, settings: _Settings) -> Tensor:
    """Above it a negative counts: the mining margin below the lowest positive, or where its weight begins to show.

    At the second floor even m negatives weigh no more than rounding: `m e^(β(floor - λ)) = eps`.
    """
    rounding = math.log(torch.finfo(lowest.dtype).eps / len(lowest))
    floor = (lowest - settings.epsilon).clamp_(min=settings.base + rounding / settings.beta)
    return floor.masked_fill_(lowest == math.inf, math.inf)
