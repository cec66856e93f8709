"""Losses for large batches: embeddings (m, d) -> a scalar and batch statistics, without an m x m matrix.

    streaming_locality, noted_locality    the locality loss with mining, from labelled rows: the fast path
    by_anchors                            any loss, miner and masks, one strip of anchors at a time

The fast path computes `locality(S, *informative(S, P, N))` with S of the normalised rows, in tiles. Rows are sorted by
class: positives are blocks on the diagonal, so the mining floor is known before the sweep over the negatives. Half of
the tiles suffice, because S is symmetric. If few pairs of a tile count, they are listed for the gradient; all other
tiles are recomputed. Blocks and tiles have a maximum size, so memory is proportional to m · d even for a single class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
_SIDE = {True: 512, False: 4096}  # side of a tile; on a CPU the tile fits into the cache
_STRIP = 1 << 22  # number of similarities in a strip of anchors: 16 MB

Masks = tuple[Tensor, Tensor]


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
    return _streamed(embeddings, labels, alpha, beta, base, epsilon)[0]


def noted_locality(
    embeddings: Tensor, labels: Sequence[int], *, alpha: float, beta: float, base: float, epsilon: float
) -> tuple[Tensor, dict[str, float]]:
    """The loss of `streaming_locality`, and batch statistics: shares kept, mean weights of kept pairs, spread of S."""
    loss, sums = _streamed(embeddings, labels, alpha, beta, base, epsilon)
    return loss, _figures(embeddings, sums)


def by_anchors(
    embeddings: Tensor,
    masks: Callable[[slice], Masks],
    miner: Callable[[Tensor, Tensor, Tensor], Masks],
    loss: Callable[..., Tensor],
    temperature: Tensor | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """`loss(S, *miner(S, P, N))` and batch statistics, for losses and miners that treat each anchor separately.

    Rows (m, d) have unit length; `masks` gives P and N (k, m) for a slice of anchors. The gradient is computed along
    with the loss, so that only one strip of S (k, m) is held at a time. A random miner draws its share from each strip.
    A learned temperature replaces the loss's own and also gets a gradient.
    """
    X, m = embeddings.detach(), len(embeddings)
    learned = {} if temperature is None else {"temperature": temperature.detach().requires_grad_()}
    value, slope, sums = X.new_zeros(()), torch.zeros_like(X), torch.zeros(6, dtype=torch.float64)
    warmer = torch.zeros_like(value)
    height = max(1, _STRIP // m)
    for start in range(0, m, height):
        anchors = slice(start, min(m, start + height))
        S = (X[anchors] @ X.T).requires_grad_()  # (k, m)
        P, N = masks(anchors)
        kept_P, kept_N = miner(S.detach().clamp(-1, 1), P, N)
        with torch.enable_grad():
            part = loss(S, kept_P, kept_N, **learned) * (len(S) / m)  # a part of the mean over m
            weights, *warmth = torch.autograd.grad(part, [S, *learned.values()])  # (k, m), signed
        value += part.detach()
        warmer = sum(warmth, warmer)
        slope[anchors] += weights @ X  # S_ij = x_i · x_j: a pair moves both rows
        slope.addmm_(weights.T, X[anchors])
        weights = weights.abs_() * m
        of_strip = P.sum(), N.sum(), kept_P.sum(), kept_N.sum(), (weights * kept_P).sum(), (weights * kept_N).sum()
        sums += torch.tensor([float(number) for number in of_strip], dtype=torch.float64)
    # the value now, the gradient in the backward pass: all other parts are 0
    value = value + (slope * (embeddings - X)).sum()
    if temperature is not None:
        value = value + warmer * (temperature - temperature.detach())
    return value, _figures(X, sums)


def _figures(X: Tensor, sums: Tensor) -> dict[str, float]:
    """Batch statistics from `sums` (6,): positives and negatives, kept pairs, and the weights of kept pairs."""
    positives, negatives, kept_P, kept_N, pull, push = sums.tolist()
    return {
        "kept_positives": kept_P / positives if positives else 1.0,  # without pairs, none are dropped
        "kept_negatives": kept_N / negatives if negatives else 1.0,
        "weight_positives": pull / max(1.0, kept_P),
        "weight_negatives": push / max(1.0, kept_N),
        "spread": _spread(X.detach()),
    }


def _spread(X: Tensor) -> float:
    """Standard deviation of the cosines of all pairs of rows, from the d x d products of columns.

    `Σ_ij S_ij = |Σ_i v_i|²` and `Σ_ij S_ij² = ‖VᵀV‖²`. Both are near m² if rows are alike, hence float64.
    """
    V = torch.nn.functional.normalize((X.cpu() if X.device.type == "mps" else X).double(), dim=1)
    lengths = (V**2).sum(1)  # the diagonal of S: 1, or 0 for a row of zeros
    pairs = max(1, len(V) * (len(V) - 1))
    mean = (V.sum(0).square().sum() - lengths.sum()) / pairs
    squares = sum((V.T @ columns).square().sum() for columns in V.split(512, dim=1)) - lengths.square().sum()
    return float((squares / pairs - mean**2).clamp(min=0).sqrt())


# --- the fast path ------------------------------------------------------------------------------------------------


def _streamed(embeddings: Tensor, labels: Tensor | Sequence[int], *scales: float) -> tuple[Tensor, Tensor]:
    """Compute the loss, and the sums for `_figures`; the scales are alpha, beta, base and epsilon."""
    lengths = row_lengths(embeddings.detach() if isinstance(embeddings, Tensor) else embeddings)
    codes = checked_labels(labels, len(embeddings)).to(embeddings.device)
    check_locality(*scales[:3])
    check_epsilon(scales[3])
    with torch.autocast(embeddings.device.type, enabled=False):
        loss, sums = _Streaming.apply(embeddings, lengths, codes, *scales)
    return loss, sums


class _Streaming(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, X: Tensor, lengths: Tensor, labels: Tensor, alpha: float, beta: float, base: float, epsilon: float
    ) -> tuple[Tensor, Tensor]:
        order, number, sizes = in_class_order(labels)
        lengths = lengths[order]
        rows = _Sorted(single_or_double(X)[order].div_(lengths), number, sizes, alpha, beta, base)
        m, lowest = len(X), rows.lowest_positive()
        # A negative above the first floor is kept (eq. 11), but counts only above the second: below, even m negatives
        # weigh no more than rounding, m e^(β(floor - λ)) = eps.
        mined = (lowest - epsilon).masked_fill_(lowest == math.inf, math.inf)
        floor = mined.clamp(min=base + math.log(torch.finfo(rows.V.dtype).eps / m) / beta)
        push, highest, kept_N, listed, corners = rows.negative_terms(mined, floor)
        ceiling = highest + epsilon  # NaN without negatives and with ε = ∞: keeps nothing
        pull, kept_P = rows.positive_terms(ceiling)
        ctx.save_for_backward(order, lengths, floor, ceiling, pull, push)
        ctx.rest = rows, listed, corners, X.dtype
        same = sum(count * size**2 for size, count in sizes)  # pairs within a class, with i = j
        # The weights e^L / (1 + Σ e^L) of an anchor add up to 1 - 1 / (1 + Σ e^L), and its term is log(1 + Σ e^L).
        weights = [float(-torch.expm1(-terms).sum()) for terms in (pull, push)]
        sums = torch.tensor([same - m, m**2 - same, int(kept_P), int(kept_N), *weights], dtype=torch.float64)
        ctx.mark_non_differentiable(sums)
        return (pull / alpha + push / beta).mean(), sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        order, lengths, floor, ceiling, pull, push = ctx.saved_tensors
        rows, listed, corners, dtype = ctx.rest
        V = rows.V
        with torch.autocast(V.device.type, enabled=False):
            slope = torch.zeros_like(V)
            rows.add_positive_gradient(slope, ceiling, pull)
            rows.add_negative_gradient(slope, floor, push, listed, corners)
            slope.addcmul_(V, torch.linalg.vecdot(slope, V)[:, None], value=-1)  # this part would only lengthen a row
            slope.mul_(upstream / len(V) / lengths)
            unsorted = torch.empty_like(slope, dtype=dtype)
            unsorted[order] = slope.to(dtype)
        return unsorted, *[None] * 6


def in_class_order(labels: Tensor) -> tuple[Tensor, Tensor, list[tuple[int, int]]]:
    """Sort rows by the size of their class, then by label: their order (m,), the numbers of their classes (m,), and
    (size, count) of the classes. Classes are numbered by size, so that classes of one size are adjacent.
    """
    _, by_label, counts = torch.unique(labels, return_inverse=True, return_counts=True)
    number = counts.argsort(stable=True).argsort()[by_label]
    order = number.argsort(stable=True)
    sizes, classes = torch.unique(counts, return_counts=True)
    return order, number[order], list(zip(sizes.tolist(), classes.tolist(), strict=True))


def _of_classes(numbers: Tensor, rows: slice, size: int, first: int = 0, stop: int | None = None) -> Tensor:
    """Rows `first` to `stop` of each class of `size` adjacent rows: a view (classes, stop - first, ...)."""
    return numbers[rows].unflatten(0, (-1, size))[:, first:stop]


Listed = list[tuple[Tensor, Tensor]]  # pairs of different rows (2, n), their similarities (n,)
Corners = list[tuple[int, int]]  # the first row and the first column of tiles
Part = Callable[[Tensor], Tensor]  # takes rows of (m, ...)


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Unit rows V (m, d) in class order, with their class numbers (m,), and the hyperparameters."""

    V: Tensor
    number: Tensor
    sizes: list[tuple[int, int]]
    alpha: float
    beta: float
    base: float

    # --- positives: blocks of S on the diagonal ---

    def blocks(self) -> Iterator[tuple[Part, Part, Tensor]]:
        """Some rows, all rows of their classes, and S (classes, rows, size) between them, with +∞ for a row and itself.

        Many small classes of one size are processed together, a large class in strips of rows.
        """
        start = 0
        for size, count in self.sizes:
            end, step = start + size * count, size * max(1, _NUMBERS_AT_ONCE // size**2)
            height = max(1, min(size, _NUMBERS_AT_ONCE // size))
            for place in range(start, end, step):
                block = partial(_of_classes, rows=slice(place, min(place + step, end)), size=size)
                for first in range(0, size, height):
                    strip = partial(block, first=first, stop=first + height)
                    S = strip(self.V) @ block(self.V).mT
                    S.diagonal(first, 1, 2).fill_(math.inf)
                    yield strip, block, S
            start = end

    def lowest_positive(self) -> Tensor:
        """`min_{k∈P_i} S_ik` (m,); +∞ for a row that is alone in its class."""
        lowest = self.V.new_full((len(self.V),), math.inf)
        for strip, _, S in self.blocks():
            strip(lowest).copy_(S.amin(-1))
        return lowest

    def exponents(self, S: Tensor, ceiling: Tensor) -> Tensor:
        return (-self.alpha * (S - self.base)).masked_fill(~S.lt(ceiling[..., None]), -math.inf)

    def positive_terms(self, ceiling: Tensor) -> tuple[Tensor, Tensor]:
        """`log(1 + Σ_P e^(-α(S - λ)))` (m,) over the positives below the ceiling, and the number of these positives."""
        total, kept = self.V.new_zeros(len(self.V)), torch.zeros((), dtype=torch.long, device=self.V.device)
        for strip, _, S in self.blocks():
            exponents = self.exponents(S, strip(ceiling))
            strip(total).copy_(torch.logaddexp(exponents.logsumexp(-1), total.new_zeros(())))
            kept += exponents.gt(-math.inf).count_nonzero()
        return total, kept

    def add_positive_gradient(self, gradient: Tensor, ceiling: Tensor, total: Tensor) -> None:
        """Add the derivative of `Σ_i total_i / α` (m, d): weights `e^(-α(S - λ) - total)` pull both ends."""
        for strip, block, S in self.blocks():
            weights = torch.exp(self.exponents(S, strip(ceiling)) - strip(total)[..., None])
            strip(gradient).sub_(weights @ block(self.V))
            block(gradient).sub_(weights.mT @ strip(self.V))

    # --- negatives: square tiles of S ---

    def tiles(self, corners: Corners | None = None) -> Iterator[tuple[slice, slice, Tensor]]:
        """Rows, columns and S of each tile on or above the diagonal, -∞ within a class; the next tile overwrites S.

        Tiles within one class have no negatives and are skipped.
        """
        V, number, m, side = self.V, self.number, len(self.V), _SIDE[self.V.device.type == "cpu"]
        if corners is None:
            corners = [(i, j) for i in range(0, m, side) for j in range(i, m, side)]
        first = number[::side].tolist()
        last = [*number[side - 1 :: side].tolist(), int(number[-1])]
        buffer = V.new_empty(min(m, side) ** 2)
        for i, j in corners:
            rows, columns = slice(i, min(m, i + side)), slice(j, min(m, j + side))
            if first[i // side] == last[j // side]:
                continue
            shape = (rows.stop - i, columns.stop - j)
            S = torch.mm(V[rows], V[columns].T, out=buffer[: shape[0] * shape[1]].view(shape))
            if last[i // side] >= first[j // side]:
                S.masked_fill_(number[rows, None] == number[columns], -math.inf)
            yield rows, columns, S

    def negative_terms(self, mined: Tensor, floor: Tensor) -> tuple[Tensor, Tensor, Tensor, Listed, Corners]:
        """Sweep once over the negatives. Return `log(1 + Σ_N e^(β(S - λ)))` (m,) over those above the floor (m,), the
        highest similarity (m,), the number above `mined` (m,), and for the gradient lists of pairs and tiles to
        recompute.

        If the largest `e^(β(S - λ))` could overflow, a first sweep finds each row's largest exponent, which is then
        factored out.
        """
        V, beta, base, m = self.V, self.beta, self.base, len(self.V)
        reference = V.new_zeros(m)
        if beta * (1 - base) + math.log(m) > math.log(torch.finfo(V.dtype).max) - 1:
            largest = V.new_full((m,), -math.inf)
            for rows, columns, S in self.tiles():
                for own, half in _halves(rows, columns, S):
                    largest[own] = torch.maximum(largest[own], half.amax(1))
            reference = (largest - base).mul_(beta).clamp_(min=0) * (largest > floor)  # 0 if nothing is above the floor
        shift = base + reference / beta  # e^(β(S - shift)) = e^(β(S - λ) - reference)
        sums, highest = V.new_zeros(m), V.new_full((m,), -math.inf)
        kept = torch.zeros((), dtype=torch.long, device=V.device)
        listed, corners = Listed(), Corners()
        room = _ROOM * V.numel()
        few = _FEW if V.device.type == "cpu" else 0  # lists are slow elsewhere
        for rows, columns, S in self.tiles():
            halves = _halves(rows, columns, S)
            for own, half in halves:
                highest[own] = torch.maximum(highest[own], half.amax(1))
                kept += half.gt(mined[own, None]).count_nonzero()
            above = S > torch.minimum(floor[rows, None], floor[columns])  # the floor of either end
            if rows == columns:
                above.triu_()  # count each pair once
            count = int(above.count_nonzero())
            if count > min(room, few * S.numel()):
                corners.append((rows.start, columns.start))
                for own, half in halves:
                    sums[own] += _terms_above(half, shift[own, None], floor[own, None], beta).sum(1)
            elif count:
                room -= count
                a, b = above.nonzero(as_tuple=True)
                listed.append((torch.stack([rows.start + a, columns.start + b]), S[a, b]))
                for ends in listed[-1][0]:
                    sums.index_add_(0, ends, _terms_above(listed[-1][1], shift[ends], floor[ends], beta))
        return reference + torch.log1p(sums + torch.expm1(-reference)), highest, kept, listed, corners

    def add_negative_gradient(
        self, gradient: Tensor, floor: Tensor, total: Tensor, listed: Listed, corners: Corners
    ) -> None:
        """Add the derivative of `Σ_i total_i / β` (m, d): weights `e^(β(S - λ) - total)` push both ends."""
        V, beta = self.V, self.beta
        shift = self.base + total / beta  # e^(β(S - shift)) = e^(β(S - λ) - total)
        if listed:
            pairs, S = (torch.cat(column, -1) for column in zip(*listed, strict=True))
            weights = _terms_above(S, shift[pairs[0]], floor[pairs[0]], beta)
            weights += _terms_above(S, shift[pairs[1]], floor[pairs[1]], beta)
            sparse = torch.sparse_coo_tensor(pairs, weights, (len(V), len(V)), check_invariants=False)
            gradient += torch.sparse.mm(sparse, V)
            gradient += torch.sparse.mm(sparse.T, V)
        for rows, columns, S in self.tiles(corners):
            weights = _terms_above(S, shift[rows, None], floor[rows, None], beta)
            if rows != columns:
                weights += _terms_above(S, shift[columns], floor[columns], beta)
            gradient[rows].addmm_(weights, V[columns])
            gradient[columns].addmm_(weights.T, V[rows])


def _terms_above(S: Tensor, shift: Tensor, floor: Tensor, beta: float) -> Tensor:
    """`e^(β(S - shift))` where S is above the floor, else 0."""
    kind = torch.finfo(S.dtype)
    terms = torch.sub(S, shift).mul_(beta)
    # Below this range exp gives 0 and is ten times slower; above it nothing passes the floor, and ∞ · 0 is NaN.
    terms.clamp_(math.log(kind.tiny), math.log(kind.max) - 1).exp_()
    return terms.mul_(torch.gt(S, floor, out=torch.empty_like(S)))  # 1.0 and 0.0: bool times float is slow


def _halves(rows: slice, columns: slice, S: Tensor) -> list[tuple[slice, Tensor]]:
    """A tile as seen by its rows and, if these differ, by its columns: anchors, S (anchors, ...)."""
    return [(rows, S)] if rows == columns else [(rows, S), (columns, S.T)]
