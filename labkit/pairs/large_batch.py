"""Losses of large batches: embeddings (m, d) -> a scalar and batch statistics, without an m x m matrix.

    streaming_locality    the locality loss with mining, from labelled rows: the fast path
    noted_locality        the same, with the batch statistics
    by_anchors            any loss, miner and masks, one strip of anchors at a time, with the statistics

Dense form: `locality(S, *informative(S, P, N))` with S of the normalised rows. The fast path computes S in tiles. It is
fast because rows are sorted by class (positives form small blocks, so the mining floor is known before the sweep),
symmetry halves the tiles, the derivative has a closed form, and few pairs count.

Positives: rows V (m, d) are in class order, so positives are blocks on the diagonal. Blocks are recomputed when needed
and have a maximum size, so even a single class needs no m x m matrix.

Negatives: one sweep over square tiles of S; half of them suffice, because S is symmetric. If few pairs of a tile count,
they are listed for the gradient; other tiles are recomputed. Memory is proportional to m · d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from labkit.pairs.losses import check_locality
from labkit.pairs.masks import checked_labels, row_lengths, single_or_double
from labkit.pairs.mining import check_epsilon

_NUMBERS_AT_ONCE = 1 << 18  # in a block of positives
_FEW = 0.1  # share of a tile up to which a list of its pairs is cheaper than the tile
_ROOM = 0.5  # pairs that may be listed, per number in V
_SIDE = {True: 512, False: 4096}  # of a tile: on a CPU it fits the cache
_STRIP = 1 << 22  # similarities in a strip of anchors: 16 MB

Masks = tuple[Tensor, Tensor]


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
    """The loss of the rows, normalised here, mined with margin `epsilon` (∞: all pairs of anchors with both kinds).

    Negatives whose total weight is below rounding error are left out.

    >>> import torch
    >>> rows = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> round(streaming_locality(rows, [0, 0, 1], epsilon=1.0).item(), 3)
    0.179
    """
    return _streamed(embeddings, labels, _Settings(alpha, beta, base, epsilon))[0]


def noted_locality(
    embeddings: Tensor, labels: Sequence[int], *, alpha: float, beta: float, base: float, epsilon: float
) -> tuple[Tensor, dict[str, float]]:
    """The loss of `streaming_locality`, and batch statistics: shares kept, mean weights of kept pairs, spread of S."""
    loss, sums = _streamed(embeddings, labels, _Settings(alpha, beta, base, epsilon))
    return loss, _figures(embeddings, sums)


def by_anchors(
    embeddings: Tensor,
    masks: Callable[[slice], Masks],
    miner: Callable[[Tensor, Tensor, Tensor], Masks],
    loss: Callable[..., Tensor],
    temperature: Tensor | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """`loss(S, *miner(S, P, N))` and batch statistics, for losses and miners that treat each anchor separately.

    Rows (m, d) have unit length; `masks` gives P and N (k, m) for a slice of anchors. The gradient is computed with the
    loss, so that only one strip of S (k, m) is held at a time. A random miner draws its share from each strip. A
    learned temperature is passed to the loss as a fourth argument and gets its gradient, too.
    """
    X, m = embeddings.detach(), len(embeddings)
    learned = [] if temperature is None else [temperature.detach().requires_grad_()]
    warmer = [torch.zeros_like(each) for each in learned]
    value, slope, sums = X.new_zeros(()), torch.zeros_like(X), torch.zeros(6, dtype=torch.float64)
    height = max(1, _STRIP // m)
    for start in range(0, m, height):
        anchors = slice(start, min(m, start + height))
        S = (X[anchors] @ X.T).requires_grad_()  # (k, m)
        P, N = masks(anchors)
        kept_P, kept_N = miner(S.detach().clamp(-1, 1), P, N)
        with torch.enable_grad():
            part = loss(S, kept_P, kept_N, *learned) * (len(S) / m)  # a part of the mean over m
            weights, *warmth = torch.autograd.grad(part, [S, *learned])  # (k, m), signed
        value += part.detach()
        warmer = [total + each for total, each in zip(warmer, warmth, strict=True)]
        slope[anchors] += weights @ X  # S_ij = x_i · x_j: a pair moves both rows
        slope.addmm_(weights.T, X[anchors])
        weights = weights.abs_() * m
        of_strip = P.sum(), N.sum(), kept_P.sum(), kept_N.sum(), (weights * kept_P).sum(), (weights * kept_N).sum()
        sums += torch.tensor([float(number) for number in of_strip], dtype=torch.float64)
    # the value now, the gradient in the backward pass: the second part is 0
    value = value + (slope * (embeddings - X)).sum()
    if temperature is not None:
        value = value + warmer[0] * (temperature - learned[0].detach())
    return value, _figures(X, sums)


def _figures(X: Tensor, sums: Tensor) -> dict[str, float]:
    """Batch statistics from its rows, of any length, and from sums over its pairs.

    `sums` (6,): the numbers of positives and negatives, of kept positives and negatives, and the kept weights.
    """
    positives, negatives, kept_P, kept_N, pull, push = sums.tolist()
    return {
        "kept_positives": kept_P / positives if positives else 1.0,  # without pairs none is dropped
        "kept_negatives": kept_N / negatives if negatives else 1.0,
        "weight_positives": pull / max(1.0, kept_P),
        "weight_negatives": push / max(1.0, kept_N),
        "spread": _spread(X.detach()),
    }


def _spread(X: Tensor) -> float:
    """Standard deviation of the cosines of all pairs of rows, from the d x d products of columns.

    `Σ_ij S_ij = |Σ_i v_i|²` and `Σ_ij S_ij² = ‖VᵀV‖²`. Both are near m² where rows are alike, hence float64.
    """
    V = torch.nn.functional.normalize((X.cpu() if X.device.type == "mps" else X).double(), dim=1)
    lengths = (V**2).sum(1)  # the diagonal of S: 1, or 0 for a row of zeros
    pairs = max(1, len(V) * (len(V) - 1))
    mean = (V.sum(0).square().sum() - lengths.sum()) / pairs
    squares = sum((V.T @ columns).square().sum() for columns in V.split(512, dim=1)) - lengths.square().sum()
    return float((squares / pairs - mean**2).clamp(min=0).sqrt())


# --- the fast path ------------------------------------------------------------------------------------------------


def _streamed(embeddings: Tensor, labels: Tensor | Sequence[int], settings: _Settings) -> tuple[Tensor, Tensor]:
    """Compute the loss, and the sums for `_figures`."""
    lengths = row_lengths(embeddings.detach() if isinstance(embeddings, Tensor) else embeddings)
    codes = checked_labels(labels, len(embeddings)).to(embeddings.device)
    check_locality(settings.alpha, settings.beta, settings.base)
    check_epsilon(settings.epsilon)
    with torch.autocast(embeddings.device.type, enabled=False):
        loss, sums = _Streaming.apply(embeddings, lengths, codes, settings)
    return loss, sums


class _Streaming(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, lengths: Tensor, labels: Tensor, settings: _Settings) -> tuple[Tensor, Tensor]:
        classes = in_class_order(labels)
        lengths = lengths[classes.order]
        V = single_or_double(X)[classes.order].div_(lengths)
        mined, floor = _floors(lowest_positive(V, classes), settings)
        push, highest, kept_N, listed, corners = negative_terms(V, classes, mined, floor, settings.beta, settings.base)
        ceiling = highest + settings.epsilon  # NaN without negatives and with ε = ∞: keeps nothing
        pull, kept_P = positive_terms(V, classes, ceiling, settings.alpha, settings.base)
        ctx.save_for_backward(V, lengths, floor, ceiling, pull, push)
        ctx.rest = classes, listed, corners, settings, X.dtype
        same = sum(count * size**2 for size, count in classes.sizes)  # pairs within a class, with i = j
        # The weights e^L / (1 + Σ e^L) of an anchor add up to 1 - 1 / (1 + Σ e^L), and its term is log(1 + Σ e^L).
        weights = [float(-torch.expm1(-terms).sum()) for terms in (pull, push)]
        sums = torch.tensor(
            [same - len(V), len(V) ** 2 - same, int(kept_P), int(kept_N), *weights], dtype=torch.float64
        )
        ctx.mark_non_differentiable(sums)
        return (pull / settings.alpha + push / settings.beta).mean(), sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        V, lengths, floor, ceiling, pull, push = ctx.saved_tensors
        classes, listed, corners, settings, dtype = ctx.rest
        with torch.autocast(V.device.type, enabled=False):
            slope = torch.zeros_like(V)
            add_positive_gradient(slope, V, classes, ceiling, pull, settings.alpha, settings.base)
            add_negative_gradient(slope, V, classes, floor, push, listed, corners, settings.beta, settings.base)
            slope.addcmul_(V, torch.linalg.vecdot(slope, V)[:, None], value=-1)  # would only lengthen a row
            slope.mul_(upstream / len(V) / lengths)
            unsorted = torch.empty_like(slope, dtype=dtype)
            unsorted[classes.order] = slope.to(dtype)
        return unsorted, None, None, None


def _floors(lowest: Tensor, settings: _Settings) -> tuple[Tensor, Tensor]:
    """Two floors (m,): a negative above the first is kept (eq. 11), one above the second also counts.

    At the second floor even m negatives weigh no more than rounding: `m e^(β(floor - λ)) = eps`.
    """
    rounding = math.log(torch.finfo(lowest.dtype).eps / len(lowest))
    mined = (lowest - settings.epsilon).masked_fill_(lowest == math.inf, math.inf)
    return mined, mined.clamp(min=settings.base + rounding / settings.beta)


# --- positives ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows in class order: `order` (m,) of the rows, `number` (m,) of their classes, and (size, count) of the classes.

    Classes are numbered by size, so that classes of one size are adjacent.
    """

    order: Tensor
    number: Tensor
    sizes: list[tuple[int, int]]


def in_class_order(labels: Tensor) -> Classes:
    """Sort rows by the size of their class, then by label."""
    _, by_label, counts = torch.unique(labels, return_inverse=True, return_counts=True)
    number = counts.argsort(stable=True).argsort()[by_label]
    order = number.argsort(stable=True)
    sizes, classes = torch.unique(counts, return_counts=True)
    return Classes(order, number[order], list(zip(sizes.tolist(), classes.tolist(), strict=True)))


def lowest_positive(V: Tensor, classes: Classes) -> Tensor:
    """`min_{k∈P_i} S_ik` (m,); +∞ for a row that is alone in its class."""
    lowest = V.new_full((len(V),), math.inf)
    for strip, _, S in _blocks(V, classes):
        strip.of(lowest).copy_(S.amin(-1))
    return lowest


def positive_terms(V: Tensor, classes: Classes, ceiling: Tensor, alpha: float, base: float) -> tuple[Tensor, Tensor]:
    """`log(1 + Σ_P e^(-α(S - λ)))` (m,) over the positives below the ceiling, and the number of these positives."""
    total, kept = V.new_zeros(len(V)), torch.zeros((), dtype=torch.long, device=V.device)
    for strip, _, S in _blocks(V, classes):
        exponents = _exponents(S, strip.of(ceiling), alpha, base)
        strip.of(total).copy_(torch.logaddexp(exponents.logsumexp(-1), V.new_zeros(())))
        kept += exponents.gt(-math.inf).count_nonzero()
    return total, kept


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
    """`count` classes of `size` rows each, starting at row `start`; of each class the rows `first` to `stop`."""

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
    """Rows, all rows of their classes, and S (count, rows, size) between them; a row with itself is +∞.

    Many small classes of one size are processed together, a large class in strips of rows.
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

Listed = list[tuple[Tensor, Tensor, Tensor]]  # pairs of different rows: the rows, the other rows, the similarities
Corners = list[tuple[int, int]]  # the first row and the first column of tiles


def negative_terms(
    V: Tensor, classes: Classes, mined: Tensor, floor: Tensor, beta: float, base: float
) -> tuple[Tensor, Tensor, Tensor, Listed, Corners]:
    """Sweep once over the negatives. Return `log(1 + Σ_N e^(β(S - λ)))` (m,) over those above the floor (m,), the
    highest similarity (m,), the number above `mined` (m,), and for the gradient lists of pairs and tiles to recompute.

    If the largest `e^(β(S - λ))` could overflow, a first sweep finds each row's largest exponent, which is then
    factored out.
    """
    reference = V.new_zeros(len(V))
    if beta * (1 - base) + math.log(len(V)) > math.log(torch.finfo(V.dtype).max) - 1:
        largest = V.new_full((len(V),), -math.inf)
        for rows, columns, S in _tiles(V, classes):
            for own, half in _halves(rows, columns, S):
                largest[own] = torch.maximum(largest[own], half.amax(1))
        reference = (largest - base).mul_(beta).clamp_(min=0) * (largest > floor)  # 0 if nothing is above the floor
    shift = base + reference / beta  # e^(β(S - shift)) = e^(β(S - λ) - reference)
    sums, highest = V.new_zeros(len(V)), V.new_full((len(V),), -math.inf)
    kept = torch.zeros((), dtype=torch.long, device=V.device)
    listed: Listed = []
    corners: Corners = []
    room = _ROOM * V.numel()
    few = _FEW if V.device.type == "cpu" else 0  # lists are slow elsewhere
    for rows, columns, S in _tiles(V, classes):
        halves = _halves(rows, columns, S)
        for own, half in halves:
            highest[own] = torch.maximum(highest[own], half.amax(1))
            kept += half.gt(mined[own, None]).count_nonzero()
        above = S > torch.minimum(floor[rows, None], floor[columns])  # the floor of either end
        if rows == columns:
            above.triu_()  # each pair once
        count = int(above.count_nonzero())
        if count > min(room, few * S.numel()):
            corners.append((rows.start, columns.start))
            for own, half in halves:
                sums[own] += _terms_above(half, shift[own, None], floor[own, None], beta).sum(1)
        elif count:
            room -= count
            a, b = above.nonzero(as_tuple=True)
            listed.append((rows.start + a, columns.start + b, S[a, b]))
            for ends in listed[-1][:2]:
                sums.index_add_(0, ends, _terms_above(listed[-1][2], shift[ends], floor[ends], beta))
    return reference + torch.log1p(sums + torch.expm1(-reference)), highest, kept, listed, corners


def add_negative_gradient(
    gradient: Tensor,
    V: Tensor,
    classes: Classes,
    floor: Tensor,
    total: Tensor,
    listed: Listed,
    corners: Corners,
    beta: float,
    base: float,
) -> None:
    """Add the derivative of `Σ_i total_i / β` to `gradient` (m, d): weights `e^(β(S - λ) - total)` push both ends."""
    shift = base + total / beta  # e^(β(S - shift)) = e^(β(S - λ) - total)
    if listed:
        a, b, S = (torch.cat(column) for column in zip(*listed, strict=True))
        weights = _terms_above(S, shift[a], floor[a], beta) + _terms_above(S, shift[b], floor[b], beta)
        for ends in (torch.stack([a, b]), torch.stack([b, a])):
            sparse = torch.sparse_coo_tensor(ends, weights, (len(V), len(V)), check_invariants=False)
            gradient += torch.sparse.mm(sparse, V)
    for rows, columns, S in _tiles(V, classes, corners):
        weights = _terms_above(S, shift[rows, None], floor[rows, None], beta)
        if rows != columns:
            weights += _terms_above(S, shift[columns], floor[columns], beta)
        gradient[rows].addmm_(weights, V[columns])
        gradient[columns].addmm_(weights.T, V[rows])


def _terms_above(S: Tensor, shift: Tensor, floor: Tensor, beta: float) -> Tensor:
    """`e^(β(S - shift))` where S is above the floor, else 0."""
    kind = torch.finfo(S.dtype)
    terms = torch.sub(S, shift).mul_(beta)
    # Below it exp gives 0 and is ten times slower; above it nothing passes the floor, and ∞ · 0 is NaN.
    terms.clamp_(math.log(kind.tiny), math.log(kind.max) - 1).exp_()
    return terms.mul_(torch.gt(S, floor, out=torch.empty_like(S)))  # 1.0 and 0.0: bool times float is slow


def _halves(rows: slice, columns: slice, S: Tensor) -> list[tuple[slice, Tensor]]:
    """A tile as seen by its rows and, if these differ, by its columns: anchors, S (anchors, ...)."""
    return [(rows, S)] if rows == columns else [(rows, S), (columns, S.T)]


def _tiles(V: Tensor, classes: Classes, corners: Corners | None = None) -> Iterator[tuple[slice, slice, Tensor]]:
    """Rows, columns and S of each tile on or above the diagonal, -∞ within a class; the next tile overwrites S.

    Tiles within one class have no negatives and are skipped.
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
