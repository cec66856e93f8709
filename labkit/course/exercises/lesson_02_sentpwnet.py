"""Notebook 02: your own training code, from the batch to the epochs, and a value chosen on dev."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from labkit.course.exercise import (
    Unfit,
    Unnamed,
    array,
    check,
    close,
    find_mistake,
    learnable,
    mask,
    number,
    several,
)
from labkit.course.exercises.draws import padded
from labkit.pairs import locality, masks_from_labels
from labkit.training.encoders import inside

# --- a batch ----------------------------------------------------------------------------------------------------


def _batch(answer: Any) -> tuple[np.ndarray, ...]:
    """Numbers, lengths, P and N, with the sentences sorted by words, because their order is free."""
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise Unfit("expected four values: numbers, lengths, P and N")
    numbers, lengths = answer[:2]
    for name, each in (("numbers", numbers), ("lengths", lengths)):
        if not isinstance(each, Tensor) or each.is_floating_point() or each.dtype == torch.bool:
            kind = each.dtype if isinstance(each, Tensor) else type(each).__name__
            raise Unfit(f"{name} must be a tensor of whole numbers, because it indexes a table; yours has {kind}")
    P, N = (mask(each) for each in answer[2:])
    if numbers.ndim != 2 or lengths.shape != numbers.shape[:1] or P.shape != N.shape or len(P) != len(numbers):
        shapes = ", ".join(str(tuple(each.shape)) for each in (numbers, lengths, P, N))
        raise Unfit(f"expected numbers (m, longest), lengths (m,), P (m, m) and N (m, m); yours are {shapes}")
    order = sorted(range(len(numbers)), key=lambda row: numbers[row].tolist())
    both = np.ix_(order, order)
    return array(numbers[order]), array(lengths[order]), P[both], N[both]


@check("02.1")
def check_batch_of(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Distinct sentences, padded with 0 to the longest; P: same class and another row; N: another class."""
    cases = []
    for known, places in (
        (4, [(0, 1), (2, 0), (3, 0), (4, 5), (6, 5)]),
        (3, [(0, 1), (1, 2), (3, 4), (5, 1)]),
        (5, [(0, 1), (2, 1), (3, 1), (4, 5), (5, 6), (7, 8)]),
    ):
        lengths = random.permutation(np.arange(1, 13))
        sentences = [random.integers(1, 30, length).tolist() for length in lengths]
        rows = random.permutation(np.flatnonzero(lengths < 12)).tolist()  # the longest sentence occurs in no pair
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
         "a sentence that is in two pairs has two rows in yours: take each once (`dict.fromkeys`)"),
        (longest_of_all, "your rows are filled up to the longest sentence of all; the longest of this batch is enough"),
        (of_masks(lambda P, N: (~N, N)), "each sentence is its own positive in yours: leave out the diagonal of P"),
        (of_masks(lambda P, N: (P, ~P)), "each sentence is its own negative in yours: the diagonal is in neither mask"),
        (of_masks(lambda P, N: (N, P)), "P and N are swapped"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=_batch)
    for case in cases if isinstance(complaint, Unnamed) else ():
        parts = _batch(answer(*case)), _batch(right(*case))
        for name, mine, wanted in zip(("numbers", "lengths", "P", "N"), *parts, strict=True):
            if not np.array_equal(mine, wanted):
                return Unnamed(f"{name} is wrong, with the rows sorted by their word numbers: {complaint}")
    return complaint


# --- the encoder -------------------------------------------------------------------------------------------------

KNOWN = 14  # words


def _network(random: np.random.Generator, dimension: int = 5, filters: int = 4, size: int = 6) -> nn.ModuleDict:
    """A tiny network with the notebook's parts; the vector of padding is not 0, and shares are far from equal."""
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


def _encoded(
    net: nn.ModuleDict,
    numbers: Tensor,
    lengths: Tensor,
    *,
    blind: bool = True,
    shared: bool = False,
    floor: float = -torch.inf,
    both: Callable[[Tensor, Tensor], Tensor] = lambda largest, attended: torch.cat([largest, attended], 1),
    last: Callable[[Tensor], Tensor] = lambda vectors: F.normalize(vectors, dim=1),
) -> Tensor:
    """The encoder; each keyword argument is a possible mistake."""
    there = inside(lengths, numbers.shape[1])
    x = net["words"](numbers)
    if blind:
        x = x * there[:, :, None]
    largest = net["filters"](x.transpose(1, 2)).masked_fill(~there[:, None, :], floor).amax(2)
    logits = net["logit"](x)[:, :, 0]
    shares = (logits if shared else logits.masked_fill(~there, floor)).softmax(1)
    return last(net["out"](both(largest, (shares[:, :, None] * x).sum(1))))


@check("02.2")
def check_encoder(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Word vectors without padding; maxima and attended sum concatenated, a linear map, length 1."""
    cases = [
        (_network(random, *sizes), *padded(random, n, longest, KNOWN))
        for sizes, n, longest in (((5, 4, 6), 5, 4), ((3, 7, 2), 4, 6), ((6, 2, 5), 5, 5))
    ]

    def wrong(**how: Any) -> Callable[..., Any]:
        return lambda net, numbers, lengths: _encoded(net, numbers, lengths, **how)

    mistakes = (
        (
            wrong(blind=False),
            "a filter at the end of a sentence sees padding: set the word vectors of padding to 0 first (`inside`)",
        ),
        (wrong(last=lambda v: v), "the vectors must have length 1: divide each by its own length (`F.normalize`)"),
        (wrong(both=lambda s, a: torch.cat([a, s], 1)), "the largest answers come first, then the attended half"),
        (wrong(floor=0.0), "0 does not hide padding: answers and logits of words may be smaller. Set padding to -∞"),
        (wrong(shared=True), "padding has a share of the attention: set its logits to -∞ before the softmax"),
    )
    return find_mistake(answer, wrong(), cases, mistakes, read=learnable) or _all_learn(answer, *cases[0])


def _all_learn(answer: Callable[..., Any], net: nn.ModuleDict, numbers: Tensor, lengths: Tensor) -> str | None:
    """Whether a gradient reaches every part of the network."""
    made = answer(net, numbers, lengths)
    if made.requires_grad:
        (made * torch.linspace(-1, 1, made.shape[1])).sum().backward()
    for name, part in net.items():
        if next(part.parameters()).grad is None:
            return f"the vectors are right, but no gradient reaches net[{name!r}]: use tensors in every step"
    return None


# --- a step -----------------------------------------------------------------------------------------------------

World: TypeAlias = tuple[nn.ModuleDict, list[tuple[Tensor, ...]], float, float]  # a tiny network, batches, a rate, λ
STEPS = ("forgets", "asks", "moves")


def _world(random: np.random.Generator, dimension: int, rate: float, base: float) -> World:
    batches: list[tuple[Tensor, ...]] = []
    for _ in range(3):
        labels = torch.from_numpy(random.permutation(np.arange(7) % 3))
        batches.append((*padded(random, 7, 5, KNOWN), *masks_from_labels(labels)))
    return _network(random, dimension), batches, rate, base


def _loss(v: Tensor, P: Tensor, N: Tensor, base: float, *, alpha: float = 2.0, beta: float = 20.0) -> Tensor:
    return locality(v @ v.T, P, N, alpha=alpha, beta=beta, base=base)


def _step(loss_of: Callable[..., Tensor] = _loss, uphill: bool = False) -> Callable[..., float]:
    """A step with another loss, or uphill."""

    def step(net: Any, optimiser: Any, batch: Any, base: float) -> float:
        optimiser.zero_grad()
        loss = loss_of(_encoded(net, *batch[:2]), *batch[2:], base)
        (-loss if uphill else loss).backward()
        optimiser.step()
        return loss.item()

    return step


def _walk(step: Callable[..., Any]) -> Callable[[World], np.ndarray]:
    """The losses that a step returns over some batches, and the parameters afterwards: SGD with momentum."""

    def walked(world: World) -> np.ndarray:
        net, batches, rate, base = world
        optimiser = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.5)
        losses = [number(step(net, optimiser, batch, base)) for batch in batches]
        return np.concatenate([losses, *(each.detach().numpy().ravel() for each in net.parameters())])

    return walked


@check("02.3")
def check_one_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """zero_grad, loss, backward, step; the parameters and the losses are those of the reference."""
    cases = [(_world(random, *of),) for of in ((4, 0.5, 0.9), (5, 0.2, 0.6), (6, 1.0, 0.7))]
    mistakes = (
        (_walk(_step(uphill=True)), "your network moves uphill, so the loss grows: leave out the minus"),
        (_walk(_step(partial(_loss, alpha=20.0, beta=2.0))), "α and β are swapped"),
        (_walk(_step(lambda v, P, N, base: _loss(v, P, N, 0.9))), "λ is always 0.9 in yours: pass `base` on"),
        (_walk(_step(lambda v, P, N, base: _loss(v, N, P, base))), "P and N are swapped: positives are pushed apart"),
        (_walk(_step(lambda v, P, N, base: locality(v @ v.T, P, N, base=base))),
         "yours has the defaults of `locality` for α and β; use 2 and 20"),
    )  # fmt: skip
    complaint = find_mistake(_walk(answer), _walk(_step()), cases, mistakes, tolerance=1e-4)
    if complaint is None or complaint in {says for *_, says in mistakes}:
        return complaint
    return _order(answer, _world(random, 4, 0.5, 0.9)) or Unnamed(
        "the losses, or the parameters after some steps, are wrong: check `encoded` (02.2), the cosines and the "
        "settings of `locality`, and return the loss from before the move"
    )


def _order(answer: Callable[..., Any], world: World) -> str | None:
    """The complaint about a part of the second step that is missing or in the wrong place."""
    net, batches, rate, base = world
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
    answer(net, optimiser, batches[0], base)
    left = net["out"].bias.grad is not None
    told.clear()
    answer(net, optimiser, batches[1], base)
    forgets, asks, moves = ([at for at, each in enumerate(told) if each == name] for name in STEPS)
    if not asks:
        return "no gradient is computed: `loss.backward()` is missing, or the loss does not depend on the network"
    if not moves:
        return "the optimiser never moves the parameters: `optimiser.step()` is missing"
    if len(asks) > 1 or len(moves) > 1:
        return "one call makes one step: compute the gradients once, and let the optimiser move once"
    if moves < asks:
        return "the optimiser moves before this batch has gradients: call `backward` first, then `step`"
    if any(asks[0] < at < moves[0] for at in forgets):
        return "`zero_grad` between `backward` and `step` clears the new gradients, so nothing moves"
    if left and not forgets:
        return "gradients add up from step to step: clear the old ones with `optimiser.zero_grad()`"
    return None


# --- the epochs -------------------------------------------------------------------------------------------------

Pair: TypeAlias = tuple[int, int]


@check("02.4")
def check_epochs(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Every pair once per epoch, `size` at a time, in another order each epoch, all from the seed."""
    for rows, size, epochs in ((23, 5, 4), (12, 4, 3), (9, 20, 3)):
        pairs, seed = [(row, 100 + 7 * row % 31) for row in range(rows)], int(random.integers(1000))
        given, told, losses, back = _recorded(answer, list(pairs), size, epochs, seed)
        complaint = _what_is_learned(given, pairs, size, epochs) or _what_is_told(told, losses, back)
        if complaint:
            return complaint
        if _recorded(answer, list(pairs), size, epochs, seed)[0] != given:
            return "the same seed gives another order the second time: draw from a generator that is set by `seed`"
        if size < rows and _recorded(answer, list(pairs), size, epochs, seed + 1)[0] == given:
            return "another seed gives the same order: the order must come from `seed`"
    return None


def _recorded(answer: Callable[..., Any], pairs: list[Pair], size: int, epochs: int, seed: int) -> tuple[Any, ...]:
    """The input of `learn` in each epoch, the calls of `note`, the losses of each epoch, and the result."""
    given: list[list[Any]] = [[]]
    losses: list[list[float]] = [[]]
    told: list[tuple[Any, Any]] = []

    def learn(some: Any) -> float:
        given[-1].append([tuple(pair) if isinstance(pair, list) else pair for pair in some])
        losses[-1].append(1.0 / (1 + sum(map(len, given))) + 0.1 * len(losses))
        return losses[-1][-1]

    def note(epoch: Any, loss: Any) -> None:
        told.append((epoch, loss))
        given.append([])
        losses.append([])

    back = answer(pairs, size, epochs, seed, learn, note)
    return [epoch for epoch in given if epoch], told, [epoch for epoch in losses if epoch], back


def _what_is_learned(given: list[list[Any]], pairs: list[Pair], size: int, epochs: int) -> str | None:
    """Check that each epoch has all pairs once, `size` at a time, in an order of its own."""
    orders = [[pair for call in epoch for pair in call] for epoch in given]
    if not all(set(order) <= set(pairs) for order in orders):
        return "`learn` expects a list of the pairs themselves, `pairs[row]`, not their row numbers"
    if len(given) != epochs:
        return f"`note` ends an epoch: expected {epochs} epochs, found {len(given)}. Call it once, after the last batch"
    if any(sorted(order) != sorted(pairs) for order in orders):
        return "each pair must come exactly once in an epoch; the last batch may be smaller than the others"
    if any(max(map(len, epoch)) > size or len(epoch) != -(-len(pairs) // size) for epoch in given):
        return "`learn` must get `size` pairs at a time; only the last batch may be smaller"
    if all(order == pairs for order in orders):
        return "the pairs always come in the order of the list: draw a new order in each epoch"
    if any(one == other for one, other in pairwise(orders)):
        return "two epochs have the same order: draw it inside the loop, from a generator seeded before the loop"
    together = [{frozenset(call) for call in epoch} for epoch in given]
    if 1 < size < len(pairs) and all(sets == together[0] for sets in together):
        return "every epoch has the same batches: shuffle the pairs, not the batches"
    return None


def _what_is_told(told: list[tuple[Any, Any]], losses: list[list[float]], back: Any) -> str | None:
    """Check the mean losses, in the calls of `note` and in the result."""
    means = [sum(each) / len(each) for each in losses]
    if [number(epoch) for epoch, _ in told] != list(range(1, len(losses) + 1)):
        return f"`note` gets the epochs {[epoch for epoch, _ in told]}, expected 1 to {len(losses)}, then the loss"
    if not close([number(loss) for _, loss in told], means):
        return "`note` must get the mean of the losses of each epoch"
    return None if close(back, means) else "return the losses that `note` got: a mean loss for each epoch"


# --- a value chosen on dev ----------------------------------------------------------------------------------------

Tried: TypeAlias = dict[float, dict[str, float]]  # for each value to try, the AUC on each split


def _worlds(random: np.random.Generator) -> list[tuple[Tried]]:
    """Nine values and their AUCs: each split has another best value, and so have dev and test together."""
    worlds: list[tuple[Tried]] = []
    for _ in range(3):
        values = random.choice(np.arange(1, 99), 9, replace=False) / 10
        aucs = {split: random.uniform(0.6, 0.7, 9) for split in ("train", "dev", "test")}
        aucs["dev"][[0, 1, 4]], aucs["test"][1:3], aucs["train"][3] = (0.87, 0.86, 0.5), (0.88, 0.89), 0.93
        worlds.append(({float(values[at]): {split: float(aucs[split][at]) for split in aucs}
                        for at in random.permutation(9)},))  # fmt: skip
    return worlds


@check("02.5")
def check_tuning(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The best value on dev, and the test score of its network, which is computed once."""
    trained: list[float] = []
    tested: set[float] = set()

    def asked(world: Tried) -> Any:
        def train(value: float) -> tuple[str, float]:
            trained.append(value)
            return "network", value

        def auc(network: Any, split: str) -> float:
            if not (isinstance(network, tuple) and network[:1] == ("network",)):
                raise Unfit(f"`auc` expects what `train` returned; yours passes {network!r}")
            if split not in ("train", "dev", "test"):
                raise Unfit(f'`auc` knows the splits "train", "dev" and "test"; yours passes {split!r}')
            tested.update({network[1]} if split == "test" else ())
            return world[network[1]][split]

        trained.clear()
        tested.clear()
        return answer(list(world), train, auc)

    def chosen(by: str, told: str, least: bool = False) -> Callable[[Tried], Any]:
        def rule(world: Tried) -> tuple[float, float]:
            best = (min if least else max)(world, key=lambda value: world[value][by])
            return best, world[best][told]

        return rule

    mistakes = (
        (chosen("test", "test"), "the value was chosen on test: that makes its AUC there too good"),
        (chosen("test", "dev"), "dev and test are swapped: choose on dev, and report test"),
        (chosen("train", "test"), "the value was chosen on train, where learning by heart wins: choose on dev"),
        (chosen("dev", "dev"), "that AUC is on dev, where the value was chosen: report test"),
        (chosen("dev", "test", least=True), "that is the worst value on dev: the larger the AUC, the better"),
    )
    worlds = _worlds(random)
    read = several(2, number, "expected two things: the best value, and its AUC on test")
    complaint = find_mistake(asked, chosen("dev", "test"), worlds, mistakes, read=read)
    if complaint is None and len(tested) > 1:
        return "right, but yours asks test about several networks: ask only about the one that dev has chosen"
    if complaint is None and len(trained) > len(worlds[-1][0]):
        return f"right, but yours trains {len(trained)} times for {len(worlds[-1][0])} values: keep the networks"
    return complaint
