"""Notebook 02, its last exercises: a training by own code, from the batch to the epochs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from labkit.course.exercise import Unfit, Unnamed, array, check, close, find_mistake, mask, number
from labkit.course.exercises.draws import lengths_of
from labkit.course.exercises.sentpwnet import attended, largest, learnable
from labkit.pairs import locality, masks_from_labels
from labkit.training.encoders import inside


def _batch(answer: Any) -> tuple[np.ndarray, ...]:
    """Numbers, lengths, P and N, with the sentences in the order of their words: in which they come is free."""
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise Unfit("four things were expected: numbers, lengths, P and N")
    numbers, lengths = answer[:2]
    for name, each in (("numbers", numbers), ("lengths", lengths)):
        if not isinstance(each, Tensor) or each.is_floating_point() or each.dtype == torch.bool:
            kind = each.dtype if isinstance(each, Tensor) else type(each).__name__
            raise Unfit(f"{name} must be a tensor of whole numbers, and {kind} came: a table is looked up with them")
    P, N = (mask(each) for each in answer[2:])
    if numbers.ndim != 2 or lengths.shape != numbers.shape[:1] or P.shape != N.shape or len(P) != len(numbers):
        shapes = ", ".join(str(tuple(each.shape)) for each in (numbers, lengths, P, N))
        raise Unfit(f"numbers (m, longest), lengths (m,), P (m, m) and N (m, m) were expected, and {shapes} came")
    order = sorted(range(len(numbers)), key=lambda row: numbers[row].tolist())
    both = np.ix_(order, order)
    return array(numbers[order]), array(lengths[order]), P[both], N[both]


@check("02.9")
def check_batch_of(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Distinct sentences, filled up with 0 to the longest of them; P: one class and not the same row; N: another."""
    cases = []
    for known, places in (
        (4, [(0, 1), (2, 0), (3, 0), (4, 5), (6, 5)]),
        (3, [(0, 1), (1, 2), (3, 4), (5, 1)]),
        (5, [(0, 1), (2, 1), (3, 1), (4, 5), (5, 6), (7, 8)]),
    ):
        lengths = random.permutation(np.arange(1, 13))
        sentences = [random.integers(1, 30, length).tolist() for length in lengths]
        rows = random.permutation(np.flatnonzero(lengths < 12)).tolist()  # the longest sentence stands in no pair
        classes = random.permutation(np.arange(12) % known) * 3 + 1
        cases.append(([(rows[a], rows[b]) for a, b in places], sentences, classes))

    def right(some: Any, sentences: Any, classes: Any) -> tuple[Tensor, ...]:
        return of_rows(list(dict.fromkeys(row for pair in some for row in pair)), sentences, classes)

    def of_rows(rows: list[int], sentences: Any, classes: Any) -> tuple[Tensor, ...]:
        own = [torch.tensor(sentences[row]) for row in rows]
        lengths = torch.tensor([len(words) for words in own])
        return pad_sequence(own, batch_first=True), lengths, *masks_from_labels(torch.tensor(classes[rows]))

    def of_masks(how: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
        def made(*case: Any) -> Any:
            numbers, lengths, P, N = right(*case)
            return numbers, lengths, *how(P, N)

        return made

    def longest_of_all(some: Any, sentences: Any, classes: Any) -> Any:
        numbers, *others = right(some, sentences, classes)
        return F.pad(numbers, (0, max(map(len, sentences)) - numbers.shape[1])), *others

    mistakes = (
        (lambda some, *rest: of_rows([row for pair in some for row in pair], *rest),
         "a sentence that stands in two pairs has two rows in yours: take each once (`dict.fromkeys`)"),
        (longest_of_all, "yours is filled up to the longest sentence of all; the longest of this batch is enough"),
        (of_masks(lambda P, N: (~N, N)), "everybody is a positive of itself in yours: leave the diagonal of P out"),
        (of_masks(lambda P, N: (P, ~P)), "everybody is a negative of itself: the diagonal is in neither mask"),
        (of_masks(lambda P, N: (N, P)), "P and N are exchanged"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=_batch)
    for case in cases if isinstance(complaint, Unnamed) else ():
        parts = _batch(answer(*case)), _batch(right(*case))
        for name, mine, wanted in zip(("numbers", "lengths", "P", "N"), *parts, strict=True):
            if not np.array_equal(mine, wanted):
                return Unnamed(f"{name} is not what it should be (sentences in the order of their words): {complaint}")
    return complaint


# --- the encoder and a step -------------------------------------------------------------------------------------

KNOWN = 14  # words


def _network(random: np.random.Generator, dimension: int = 5, filters: int = 4, size: int = 6) -> nn.ModuleDict:
    """A tiny network of the notebook's parts; the vector of padding is not 0, and shares are far from equal."""
    with torch.random.fork_rng():
        torch.manual_seed(int(random.integers(2**31)))
        logit = nn.Linear(dimension, 1)
        logit.weight.data *= 4
        parts = {
            "words": nn.Embedding(KNOWN, dimension),
            "filters": nn.Conv1d(dimension, filters, 3, padding=1),
            "logit": logit,
            "out": nn.Linear(filters + dimension, size),
        }
    return nn.ModuleDict(parts)


def _sentences(random: np.random.Generator, n: int, longest: int) -> tuple[Tensor, Tensor]:
    lengths = lengths_of(random, n, longest)
    numbers = torch.from_numpy(random.integers(1, KNOWN, (n, longest + random.integers(2))))
    return numbers * inside(lengths, numbers.shape[1]), lengths


def _encoded(
    net: nn.ModuleDict,
    numbers: Tensor,
    lengths: Tensor,
    *,
    blind: bool = True,
    whole: bool = False,
    both: Callable[[Tensor, Tensor], Tensor] = lambda strongest, attended: torch.cat([strongest, attended], 1),
    last: Callable[[Tensor], Tensor] = lambda vectors: F.normalize(vectors, dim=1),
) -> Tensor:
    """The encoder; each argument by name is a way to be wrong."""
    x = net["words"](numbers)
    if blind:
        x = x * inside(lengths, numbers.shape[1])[:, :, None]
    if whole:
        lengths = torch.full_like(lengths, numbers.shape[1])
    strongest = largest(net["filters"](x.transpose(1, 2)), lengths)
    return last(net["out"](both(strongest, attended(x, net["logit"](x)[:, :, 0], lengths))))


@check("02.10")
def check_encoder(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Word vectors without padding; largest answers and attended sum side by side, a linear map, length 1."""
    cases = [
        (_network(random), *_sentences(random, 5, 4)),
        (_network(random, 3, 7, 2), *_sentences(random, 4, 6)),
        (_network(random, 6, 2, 5), *_sentences(random, 5, 5)),
    ]

    def wrong(**how: Any) -> Callable[..., Any]:
        return lambda net, numbers, lengths: _encoded(net, numbers, lengths, **how)

    mistakes = (
        (wrong(blind=False),
         "a window at a sentence's end sees padding: multiply its word vectors by 0 (`inside`) first"),
        (wrong(last=lambda v: v), "the vectors must have length 1: divide each by its own (`F.normalize`)"),
        (wrong(last=lambda v: F.normalize(v, dim=0)), "divided along the sentences: each row has a length (`dim=1`)"),
        (wrong(both=lambda s, a: torch.cat([a, s], 1)),
         "the two stand the other way round: first the largest answers, then the attended sum"),
        (wrong(whole=True), "padding takes part in what `largest_answers` or `attend` gives: hand on the lengths"),
    )  # fmt: skip
    return find_mistake(answer, wrong(), cases, mistakes, read=learnable) or _all_learn(answer, *cases[0])


def _all_learn(answer: Callable[..., Any], net: nn.ModuleDict, numbers: Tensor, lengths: Tensor) -> str | None:
    """Whether a gradient reaches every part of the network."""
    made = answer(net, numbers, lengths)
    if made.requires_grad:
        (made * torch.linspace(-1, 1, made.shape[1])).sum().backward()
    for name, part in net.items():
        if next(part.parameters()).grad is None:
            return f"the vectors are right, but no gradient reaches net[{name!r}]: work with tensors all the way"
    return None


World = tuple[nn.ModuleDict, list[tuple[Tensor, ...]], float]  # a tiny network, some batches, a rate
STEPS = ("forgets", "asks", "moves")


def _world(random: np.random.Generator, dimension: int, rate: float) -> World:
    batches: list[tuple[Tensor, ...]] = []
    for _ in range(3):
        labels = torch.from_numpy(random.permutation(np.arange(7) % 3))
        batches.append((*_sentences(random, 7, 5), *masks_from_labels(labels)))
    return _network(random, dimension), batches, rate


def _loss(v: Tensor, P: Tensor, N: Tensor, *, alpha: float = 2.0, beta: float = 20.0, base: float = 0.9) -> Tensor:
    return locality(v @ v.T, P, N, alpha=alpha, beta=beta, base=base)


def _step(loss_of: Callable[[Tensor, Tensor, Tensor], Tensor] = _loss, uphill: bool = False) -> Callable[..., float]:
    """A step with another loss, or the other way."""

    def step(net: Any, optimiser: Any, batch: Any) -> float:
        optimiser.zero_grad()
        loss = loss_of(_encoded(net, *batch[:2]), *batch[2:])
        (-loss if uphill else loss).backward()
        optimiser.step()
        return loss.item()

    return step


def _walk(step: Callable[..., Any]) -> Callable[[World], np.ndarray]:
    """The losses that a step gives back over some batches, and the parameters after them: SGD with a memory."""

    def walked(world: World) -> np.ndarray:
        net, batches, rate = world
        optimiser = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.5)
        losses = [number(step(net, optimiser, batch)) for batch in batches]
        return np.concatenate([losses, *(each.detach().numpy().ravel() for each in net.parameters())])

    return walked


@check("02.11")
def check_one_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """zero_grad, loss, backward, step; the parameters and the losses are those of the reference."""
    cases = [(_world(random, dimension, rate),) for dimension, rate in ((4, 0.5), (5, 0.2), (6, 1.0))]
    mistakes = (
        (_walk(_step(uphill=True)), "your network moves uphill: the loss grows. `loss.backward()`, without a minus"),
        (_walk(_step(partial(_loss, alpha=20.0, beta=2.0))), "α and β are exchanged"),
        (_walk(_step(partial(_loss, base=0.5))), "λ (`base`) is 0.5 in yours; asked is 0.9"),
        (_walk(_step(lambda v, P, N: _loss(v, N, P))), "P and N are exchanged: positives would be pushed apart"),
        (_walk(_step(lambda v, P, N: locality(v @ v.T, P, N))),
         "α, β and λ are those that `locality` takes when it is told nothing; asked are 2, 20 and 0.9"),
    )  # fmt: skip
    complaint = find_mistake(_walk(answer), _walk(_step()), cases, mistakes, tolerance=1e-4)
    if complaint is None or complaint in {says for *_, says in mistakes}:
        return complaint
    return _order(answer, _world(random, 4, 0.5)) or Unnamed(
        "the losses, or the parameters after some steps, are not those of this loss: are `encoded` (02.10), the "
        "cosines and the settings of `locality` right, and is the loss the one before the move?"
    )


def _order(answer: Callable[..., Any], world: World) -> str | None:
    """What the second call of a step does, and when: what is said of a part that is missing or in the wrong place."""
    net, batches, rate = world
    told: list[str] = []

    class Told(torch.optim.SGD):
        def zero_grad(self, set_to_none: bool = True) -> None:
            told.append("forgets")
            super().zero_grad(set_to_none)

        def step(self, closure: Any = None) -> Any:
            told.append("moves")
            return super().step(closure)

    optimiser = Told(net.parameters(), lr=rate)
    net["out"].bias.register_hook(lambda gradient: told.append("asks"))  # type: ignore[operator]
    answer(net, optimiser, batches[0])
    left = net["out"].bias.grad is not None
    told.clear()
    answer(net, optimiser, batches[1])
    forgets, asks, moves = ([at for at, each in enumerate(told) if each == name] for name in STEPS)
    if not asks:
        return "no gradient is asked for: `loss.backward()` is missing, or the loss does not hang on the network"
    if not moves:
        return "the optimiser never moves the parameters: `optimiser.step()` is missing"
    if len(asks) > 1 or len(moves) > 1:
        return "one call makes one step: gradients are asked for once, and the optimiser moves once"
    if moves < asks:
        return "the optimiser moves before the gradients of this batch are there: `backward` first, then `step`"
    if any(asks[0] < at < moves[0] for at in forgets):
        return "the gradients are forgotten (`zero_grad`) between `backward` and `step`: nothing is left to move by"
    if left and not forgets:
        return "gradients add up from step to step: forget the old ones with `optimiser.zero_grad()`"
    return None


# --- the epochs -------------------------------------------------------------------------------------------------

Epochs = list[list[Any]]  # of each epoch the batches that `learn` was given


@check("02.12")
def check_epochs_of(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Every pair once an epoch, `size` at a time, another order each epoch, all from the seed."""
    for rows, size, epochs in ((23, 5, 4), (12, 4, 3), (9, 20, 3)):
        pairs, seed = [(row, 100 + 7 * row % 31) for row in range(rows)], int(random.integers(1000))
        own = list(pairs)
        given, told, losses, back = _recorded(answer, own, size, epochs, seed)
        complaint = _what_is_learned(given, pairs, size, epochs) or _what_is_told(told, losses, back, epochs)
        if complaint:
            return complaint
        if own != pairs:
            return "right, but your function changes `pairs` itself: work on a copy, or on row numbers"
        if _recorded(answer, list(pairs), size, epochs, seed)[0] != given:
            return "the same seed gives another order when it is asked again: draw from a generator that `seed` has set"
        if size < rows and _recorded(answer, list(pairs), size, epochs, seed + 1)[0] == given:
            return "another seed gives the same order: the order must come from `seed`"
    return None


def _recorded(
    answer: Callable[..., Any], pairs: Any, size: int, epochs: int, seed: int
) -> tuple[Epochs, Any, Any, Any]:
    """What `learn` was given in each epoch, what `note` was told, the losses of each epoch, and what came back."""
    given: Epochs = [[]]
    losses: list[list[float]] = [[]]
    told: list[tuple[Any, Any]] = []

    def learn(some: Any) -> float:
        given[-1].append(some)
        losses[-1].append(1.0 / (1 + sum(map(len, given))) + 0.1 * len(losses))
        return losses[-1][-1]

    def note(epoch: Any, loss: Any) -> None:
        told.append((epoch, loss))
        given.append([])
        losses.append([])

    back = answer(pairs, size, epochs, seed, learn, note)
    return [epoch for epoch in given if epoch], told, [epoch for epoch in losses if epoch], back


def _what_is_learned(given: Epochs, pairs: list[tuple[int, int]], size: int, epochs: int) -> str | None:
    """Whether each epoch has all pairs once, `size` at a time, in an order of its own."""
    if not given:
        return "`learn` is never called: it is what makes the steps"
    calls = [call for epoch in given for call in epoch]
    if not all(isinstance(call, list | tuple) and {*map(_pair, call)} <= {*pairs} for call in calls):
        return "`learn` wants a list of the pairs themselves, `pairs[row]`, and not their row numbers"
    orders = [[_pair(pair) for call in epoch for pair in call] for epoch in given]
    if len(given) != epochs:
        return (
            f"`note` ends an epoch: {len(given)} were seen, expected {epochs}. Call it once, after an epoch's batches"
        )
    if len(set(orders[0])) < len(pairs) and len(set(orders[0])) == len(orders[0]):
        return f"{len(pairs) - len(orders[0])} pairs are left out of an epoch: the last batch may be smaller"
    if any(sorted(order) != sorted(pairs) for order in orders):
        return "some pairs come more than once in an epoch, or not at all: each must come once"
    if any(max(map(len, epoch)) > size or len(epoch) != -(-len(pairs) // size) for epoch in given):
        return f"`learn` is given up to {max(map(len, calls))} pairs at a time, where `size` is {size}"
    if all(order == pairs for order in orders):
        return "the pairs always come in the order of the list: shuffle them anew in each epoch"
    if any(one == other for one, other in pairwise(orders)):
        return "the order is that of the epoch before: draw it inside the loop, from a generator seeded before it"
    together = [{frozenset(map(_pair, call)) for call in epoch} for epoch in given]
    if 1 < size < len(pairs) and all(sets == together[0] for sets in together):
        return "the same pairs are together in a batch in every epoch: shuffle the pairs, not the batches"
    return None


def _pair(pair: Any) -> Any:
    return tuple(pair) if isinstance(pair, list) else pair


def _what_is_told(told: list[tuple[Any, Any]], losses: list[list[float]], back: Any, epochs: int) -> str | None:
    """The mean losses, to `note` and at the end."""
    means = [sum(each) / len(each) for each in losses]
    if [number(epoch) for epoch, _ in told] != list(range(1, epochs + 1)):
        return f"`note` hears of the epochs {[epoch for epoch, _ in told]}, expected 1 to {epochs}, then the loss"
    heard = [number(loss) for _, loss in told]
    if not close(heard, means):
        if close(heard, [sum(each) for each in losses]):
            return "`note` hears the sum of the losses of an epoch; their mean was asked for"
        return f"`note` hears {heard[0]:.4f} after the first epoch, and its losses' mean is {means[0]:.4f}"
    return None if close(back, means) else "what comes back must be what `note` has heard: a mean loss for each epoch"
