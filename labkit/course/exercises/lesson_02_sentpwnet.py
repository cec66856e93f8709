"""Notebook 02: your own training code, from the batch to the epochs, and a value chosen on dev."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from labkit.course.exercise import (
    Cases,
    Unfit,
    array,
    blocked,
    check,
    close,
    compared,
    exercise,
    learnable,
    mask,
    number,
    several,
)
from labkit.course.exercises.draws import padded
from labkit.pairs import masks_from_labels

# --- a batch ----------------------------------------------------------------------------------------------------


def _batch(answer: Any) -> tuple[np.ndarray, ...]:
    """Numbers, lengths, P and N, with the sentences sorted by words, because any order is allowed."""
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


@exercise(
    "02.1",
    ("list(dict.fromkeys(row for pair in some for row in pair))", "[row for pair in some for row in pair]",
     "a sentence that is in two pairs has two rows: use each sentence once (`dict.fromkeys`)"),
    ("int(lengths.max())", "max(map(len, sentences))",
     "your rows are padded to the longest sentence of all; the longest of this batch is enough"),
    (" & ~torch.eye(len(rows), dtype=torch.bool)", "",
     "each sentence is its own positive: leave out the diagonal of P"),
    ("lengths, P, N", "lengths, P, ~P", "each sentence is its own negative: leave the diagonal out of both masks"),
    ("lengths, P, N", "lengths, N, P", "P and N are swapped"),
    read=_batch,
)  # fmt: skip
def pairs_of_rows(random: np.random.Generator) -> Cases:
    for known, places in (
        (4, [(0, 1), (2, 0), (3, 0), (4, 5), (6, 5)]),
        (3, [(0, 1), (1, 2), (3, 4), (5, 1)]),
        (5, [(0, 1), (2, 1), (3, 1), (4, 5), (5, 6), (7, 8)]),
    ):
        lengths = random.permutation(np.arange(1, 13))
        sentences = [random.integers(1, 30, length).tolist() for length in lengths]
        rows = random.permutation(np.flatnonzero(lengths < 12)).tolist()  # the longest sentence occurs in no pair
        classes = random.permutation(np.arange(12) % known) * 3 + 1
        yield [(rows[a], rows[b]) for a, b in places], sentences, classes


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


@check("02.2")
def check_encoder(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Word vectors without padding; maxima and attended sum concatenated, a linear map, length 1."""
    cases = [
        (_network(random, *sizes), *padded(random, n, longest, KNOWN))
        for sizes, n, longest in (((5, 4, 6), 5, 4), ((3, 7, 2), 4, 6), ((6, 2, 5), 5, 5))
    ]
    complaint = compared(
        "02.2", answer, cases,
        (" * there[:, :, None]", "",
         "a filter at the end of a sentence sees padding: set the word vectors of padding to 0 first (`inside`)"),
        ('F.normalize(net["out"](both), dim=1)', 'net["out"](both)',
         "the vectors must have length 1: divide each by its own length (`F.normalize`)"),
        ("[largest, attended]", "[attended, largest]", "the largest answers come first, then the attended sum"),
        ("-torch.inf", "0.0", "0 does not hide padding: answers and logits of words may be smaller. Set padding to -∞"),
        (".masked_fill(~there, -torch.inf).softmax", ".softmax",
         "padding has a share of the attention: set its logits to -∞ before the softmax"),
        read=learnable,
    )  # fmt: skip
    net = cases[0][0]
    return complaint or blocked(answer(*cases[0]), *(next(part.parameters()) for part in net.values()))


# --- a step -----------------------------------------------------------------------------------------------------

World: TypeAlias = tuple[nn.ModuleDict, list[tuple[Tensor, ...]], float, float]  # a tiny network, batches, a rate, λ


def _walk(step: Callable[..., Any]) -> Callable[[World], np.ndarray]:
    """The losses that a step returns over some batches, and the parameters afterwards: SGD with momentum."""

    def walked(world: World) -> np.ndarray:
        net, batches, rate, base = world
        optimiser = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.5)
        losses = [number(step(net, optimiser, batch, base)) for batch in batches]
        return np.concatenate([losses, *(each.detach().numpy().ravel() for each in net.parameters())])

    return walked


@exercise(
    "02.3",
    ("    optimiser.zero_grad()\n", "",
     "gradients add up from step to step: clear the old ones with `optimiser.zero_grad()`"),
    ("loss.backward()\n    optimiser.step()", "loss.backward()",
     "the network never moves: `loss.backward()` comes after `zero_grad`, and `optimiser.step()` right after it"),
    ("v.T, P, N", "v.T, N, P", "P and N are swapped: positives are pushed apart"),
    ("base=base", "base=0.9", "your λ is always 0.9: pass `base` on"),
    ("alpha=2.0, beta=20.0, ", "", "you use the defaults of `locality` for α and β; use 2 and 20"),
    through=_walk,
    otherwise="the losses, or the parameters after some steps, are wrong: check `encoded` (02.2), the cosines and the "
    "settings of `locality`, and return the loss from before the step",
    tolerance=1e-4,
)  # fmt: skip
def worlds(random: np.random.Generator) -> Cases:
    for dimension, rate, base in ((4, 0.5, 0.9), (5, 0.2, 0.6), (6, 1.0, 0.7)):
        batches: list[tuple[Tensor, ...]] = []
        for _ in range(3):
            labels = torch.from_numpy(random.permutation(np.arange(7) % 3))
            batches.append((*padded(random, 7, 5, KNOWN), *masks_from_labels(labels)))
        yield ((_network(random, dimension), batches, rate, base),)


# --- the epochs -------------------------------------------------------------------------------------------------

Pair: TypeAlias = tuple[int, int]


@check("02.4")
def check_epochs(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Every pair once per epoch, `size` at a time, in a new order each epoch, all determined by the seed."""
    for rows, size, epochs in ((23, 5, 4), (12, 4, 3), (9, 20, 3)):
        pairs, seed = [(row, 100 + 7 * row % 31) for row in range(rows)], int(random.integers(1000))
        given, told, losses, back = _recorded(answer, list(pairs), size, epochs, seed)
        if complaint := _what_is_learned(given, pairs, size, epochs):
            return complaint
        means = [sum(each) / len(each) for each in losses]
        if [number(epoch) for epoch, _ in told] != list(range(1, epochs + 1)):
            return f"`note` gets the epochs {[epoch for epoch, _ in told]}, expected 1 to {epochs}, then the loss"
        if not close([number(loss) for _, loss in told], means) or not close(back, means):
            return "`note` must get the mean loss of each epoch, and the function returns all of them"
        if _recorded(answer, list(pairs), size, epochs, seed)[0] != given:
            return "the same seed gives a different order the second time: draw from a generator seeded with `seed`"
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
    """Check that each epoch has all pairs once, `size` at a time, in a new order."""
    orders = [[pair for call in epoch for pair in call] for epoch in given]
    if not all(set(order) <= set(pairs) for order in orders):
        return "`learn` expects a list of the pairs themselves, `pairs[row]`, not their row numbers"
    if len(given) != epochs:
        return f"`note` ends an epoch: expected {epochs} epochs, found {len(given)}. Call it once, after the last batch"
    if any(sorted(order) != sorted(pairs) for order in orders):
        return "each pair must be used exactly once per epoch; only the last batch may be smaller"
    if any(max(map(len, epoch)) > size or len(epoch) != -(-len(pairs) // size) for epoch in given):
        return "`learn` must get `size` pairs at a time; only the last batch may be smaller"
    if any(one == other for one, other in pairwise([pairs, *orders])):
        return (
            "two epochs have the same order, or one has the order of the list: draw a new order inside the loop, from "
            "one generator"
        )
    together = [{frozenset(call) for call in epoch} for epoch in given]
    if 1 < size < len(pairs) and all(sets == together[0] for sets in together):
        return "every epoch has the same batches: shuffle the pairs, not the batches"
    return None


# --- a value chosen on dev ----------------------------------------------------------------------------------------

Tried: TypeAlias = dict[float, dict[str, float]]  # for each value to try, the AUC on each split


def _worlds(random: np.random.Generator) -> list[tuple[Tried]]:
    """Nine values and their AUCs: each split has a different best value, as do dev and test together."""
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

    def asked(tuned: Callable[..., Any]) -> Callable[[Tried], Any]:
        def of_a_world(world: Tried) -> Any:
            def train(value: float) -> tuple[str, float]:
                trained.append(value)
                return "network", value

            def auc(network: Any, split: str) -> float:
                if not (isinstance(network, tuple) and network[:1] == ("network",)):
                    raise Unfit(f"`auc` expects what `train` returned; you passed {network!r}")
                if split not in ("train", "dev", "test"):
                    raise Unfit(f'`auc` knows the splits "train", "dev" and "test"; you passed {split!r}')
                tested.update({network[1]} if split == "test" else ())
                return world[network[1]][split]

            trained.clear()
            tested.clear()
            return tuned(list(world), train, auc)

        return of_a_world

    worlds = _worlds(random)
    complaint = compared(
        "02.5", answer, worlds,
        ('"dev"', '"test"', "the value was chosen on test: that makes its AUC there too good"),
        ('"dev"))\n    return best, auc(networks[best], "test"', '"test"))\n    return best, auc(networks[best], "dev"',
         "dev and test are swapped: choose on dev, and report test"),
        ('"dev"', '"train"', "the value was chosen on train, where memorising wins: choose on dev"),
        ('"test"', '"dev"', "that AUC is on dev, where the value was chosen: report test"),
        ("max(", "min(", "that is the worst value on dev: the larger the AUC, the better"),
        through=asked,
        read=several("expected two things: the best value, and its AUC on test", number, number),
    )  # fmt: skip
    asked(answer)(worlds[-1][0])
    if complaint is None and len(tested) > 1:
        return "right, but you score several networks on test: score only the one chosen on dev"
    if complaint is None and len(trained) > len(worlds[-1][0]):
        return f"right, but you train {len(trained)} times for {len(worlds[-1][0])} values: keep the networks"
    return complaint
