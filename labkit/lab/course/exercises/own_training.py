"""Notebook 02, its last exercises: a training by own code, from the batch to the epochs."""

from __future__ import annotations

import random as chance
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from labkit.lab.course.exercise import Unfit, Unnamed, array, check, close, find_mistake, mask, number
from labkit.lab.course.exercises.sentpwnet import attended, filled, largest, learnable, summed
from labkit.pairs import informative, locality, masks_from_labels
from labkit.training.encoders import inside


def _batch(answer: Any) -> tuple[np.ndarray, ...]:
    """Numbers, lengths, P and N, with the sentences in the order of their words: in which they come is free."""
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise Unfit("four things were expected: numbers, lengths, P and N")
    numbers, lengths = answer[:2]
    for name, each in (("numbers", numbers), ("lengths", lengths)):
        if not isinstance(each, Tensor) or each.is_floating_point() or each.is_complex() or each.dtype == torch.bool:
            kind = each.dtype if isinstance(each, Tensor) else type(each).__name__
            raise Unfit(f"{name} must be a tensor of whole numbers, and {kind} came: a table is looked up with them")
    if numbers.ndim != 2 or lengths.shape != numbers.shape[:1]:
        raise Unfit(
            f"numbers (m, longest) and lengths (m,) were expected, and {tuple(numbers.shape)} and "
            f"{tuple(lengths.shape)} came: a row a sentence"
        )
    P, N = (mask(each) for each in answer[2:])
    if P.shape != N.shape or P.shape != (len(numbers), len(numbers)):
        raise Unfit(f"P and N must be (m, m), here ({len(numbers)}, {len(numbers)}); yours are {P.shape} and {N.shape}")
    order = sorted(range(len(numbers)), key=lambda row: numbers[row].tolist())
    both = np.ix_(order, order)
    return array(numbers[order]), array(lengths[order]), P[both], N[both]


def _corpora() -> list[tuple[list[tuple[int, int]], list[list[int]], np.ndarray]]:
    """Pairs with sentences in common, sentences of other lengths, classes that a few of them share."""
    draw, cases = np.random.default_rng(9), []
    for known, places in (
        (4, [(0, 1), (2, 0), (3, 0), (4, 5), (6, 5)]),  # each pair has a sentence that no other has
        (3, [(0, 1), (1, 2), (3, 4), (5, 1)]),
        (5, [(0, 1), (2, 1), (3, 1), (4, 5), (5, 6), (7, 8)]),
    ):
        count = 12
        lengths = draw.permutation(np.arange(1, count + 1))
        sentences = [draw.integers(1, 30, length).tolist() for length in lengths]
        rows = draw.permutation(np.flatnonzero(lengths < count)).tolist()  # the longest sentence stands in no pair
        cases.append(([(rows[a], rows[b]) for a, b in places], sentences, draw.integers(0, known, count) * 3 + 1))
    return cases


def _batched(some: Any, sentences: Any, classes: Any, rows: Sequence[int] = ()) -> tuple[Tensor, ...]:
    """The batch of some pairs, or of these rows: numbers (m, longest), lengths (m,), P and N (m, m)."""
    rows = list(rows or dict.fromkeys(row for pair in some for row in pair))
    own = [torch.tensor(sentences[row]) for row in rows]
    lengths = torch.tensor([len(words) for words in own])
    return pad_sequence(own, batch_first=True), lengths, *masks_from_labels(torch.tensor(classes[rows]))


@check("02.9")
def check_batch_of(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Distinct sentences, filled up with 0 to the longest of them; P: one class and not the same row; N: another."""

    def right(some: Any, sentences: Any, classes: Any) -> Any:
        return _batched(some, sentences, classes)

    def of_rows(rows: Callable[[Any], list[int]]) -> Callable[..., Any]:
        return lambda some, sentences, classes: _batched(some, sentences, classes, rows(some))

    def wrong(how: Callable[[Tensor, Tensor, Tensor, Tensor], Any]) -> Callable[..., Any]:
        return lambda some, sentences, classes: how(*right(some, sentences, classes))

    def known_masks(how: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
        return wrong(lambda numbers, n, P, N: (numbers, n, *how(P, N)))

    def longest_of_all(some: Any, sentences: Any, classes: Any) -> Any:
        numbers, *others = right(some, sentences, classes)
        return F.pad(numbers, (0, max(map(len, sentences)) - numbers.shape[1])), *others

    def first_classes(some: Any, sentences: Any, classes: Any) -> Any:
        numbers, lengths, *_ = right(some, sentences, classes)
        return numbers, lengths, *masks_from_labels(torch.tensor(classes[: len(numbers)]))

    def given_pairs(some: Any, sentences: Any, classes: Any, others: bool) -> Any:
        """Only the given pairs as positives."""
        rows = list(dict.fromkeys(row for pair in some for row in pair))
        numbers, lengths, _, N = right(some, sentences, classes)
        P = torch.zeros(len(rows), len(rows), dtype=torch.bool)
        for a, b in some:
            P[rows.index(a), rows.index(b)] = P[rows.index(b), rows.index(a)] = True
        return numbers, lengths, P, ~P & ~torch.eye(len(rows), dtype=torch.bool) if others else N

    mistakes = (
        (of_rows(lambda some: [row for pair in some for row in pair]),
         "a sentence that stands in two pairs has two rows in yours: take each once (`dict.fromkeys`)"),
        (of_rows(lambda some: list(dict.fromkeys(a for a, _ in some))), "only the first sentences of the pairs"),
        (of_rows(lambda some: list(dict.fromkeys(b for _, b in some))), "only the second sentences of the pairs"),
        (wrong(lambda numbers, *rest: (numbers + (numbers == 0), *rest)), "padding is 0 here; 1 is the unknown word"),
        (wrong(lambda numbers, *others: (numbers - 1 * (numbers == 0), *others)),
         "padding is 0 here: a table of vectors has no row -1"),
        (wrong(lambda numbers, *rest: (torch.stack([row.roll(int((row == 0).sum())) for row in numbers]), *rest)),
         "the words stand at the end of their rows, padding before them: it comes after"),
        (longest_of_all,
         "yours is filled up to the longest sentence of all; the longest of this batch is enough, and faster"),
        (wrong(lambda numbers, n, *masks: (numbers[:, : n.min()], n, *masks)),
         "sentences are cut to the shortest of the batch: fill the others up instead"),
        (wrong(lambda numbers, n, *masks: (numbers, torch.full_like(n, int(n.max())), *masks)),
         "all lengths are that of the longest: then padding counts as words"),
        (wrong(lambda numbers, n, *masks: (numbers, n - 1, *masks)), "the lengths are one too small: count the words"),
        (wrong(lambda numbers, n, *masks: (numbers, n + 1, *masks)), "the lengths are one too large: count the words"),
        (known_masks(lambda P, N: (~N, N)), "everybody is a positive of itself in yours: leave the diagonal of P out"),
        (known_masks(lambda P, N: (P, ~P)), "everybody is a negative of itself: the diagonal is in neither mask"),
        (known_masks(lambda P, N: (N, P)), "P and N are exchanged"),
        (known_masks(lambda P, N: (P.triu(), N.triu())),
         "only one half of each mask: everybody is an anchor, so a pair counts both ways"),
        (known_masks(lambda P, N: (P.triu(), N)), "one half of P: everybody is an anchor, so a pair counts both ways"),
        (first_classes,
         "the classes are those of the first sentences of all: ask for the class of each row, `classes[row]`"),
        (known_masks(lambda P, N: masks_from_labels(torch.arange(len(P)))),
         "nobody has a positive in yours, as if each sentence had a class of its own: compare their classes"),
        (partial(given_pairs, others=False),
         "yours takes every pair that came for a positive: pairs labelled 0 come, too. Compare the classes"),
        (partial(given_pairs, others=True),
         "yours takes every pair that came for a positive and all others for negatives: compare the classes"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, _corpora(), mistakes, read=_batch)
    if not isinstance(complaint, Unnamed):
        return complaint
    for case in _corpora():
        parts = zip(("numbers", "lengths", "P", "N"), _batch(answer(*case)), _batch(right(*case)), strict=True)
        for name, mine, wanted in parts:
            if mine.shape != wanted.shape or not np.array_equal(mine, wanted):
                return Unnamed(f"{name} is not what it should be (sentences in the order of their words): {complaint}")
    return complaint


def _network(seed: int, known: int = 14, dimension: int = 5, filters: int = 4, size: int = 6) -> nn.ModuleDict:
    """A tiny network of the notebook's parts; the vector of padding is not 0."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        logit = nn.Linear(dimension, 1)
        logit.weight.data *= 4  # shares that are far from equal
        parts = {
            "words": nn.Embedding(known, dimension),
            "filters": nn.Conv1d(dimension, filters, 3, padding=1),
            "logit": logit,
            "out": nn.Linear(filters + dimension, size),
        }
    return nn.ModuleDict(parts)


def _sentences(seed: int, lengths: Sequence[int], known: int = 14) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    numbers = torch.randint(1, known, (len(lengths), max(lengths) + seed % 2), generator=draw)
    return numbers * inside(torch.tensor(lengths), numbers.shape[1]), torch.tensor(lengths)


def _encoded(
    net: nn.ModuleDict,
    numbers: Tensor,
    lengths: Tensor,
    *,
    blind: bool = True,
    answers: Callable[[Tensor], Tensor] = lambda answers: answers,
    largest: Callable[[Tensor, Tensor], Tensor] = largest,
    summed: Callable[[Tensor, Tensor, Tensor], Tensor] = attended,
    both: Callable[[Tensor, Tensor], Tensor] = lambda strongest, attended: torch.cat([strongest, attended], 1),
    last: Callable[[Tensor], Tensor] = lambda vectors: F.normalize(vectors, dim=1),
) -> Tensor:
    """The encoder; each argument by name is a way to be wrong."""
    x = net["words"](numbers)
    if blind:
        x = x * inside(lengths, numbers.shape[1])[:, :, None]
    strongest = largest(answers(net["filters"](x.transpose(1, 2))), lengths)
    return last(net["out"](both(strongest, summed(x, net["logit"](x)[:, :, 0], lengths))))


@check("02.10")
def check_encoder(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Word vectors without padding; largest answers and attended sum side by side, a linear map, length 1."""

    def wrong(**how: Any) -> Callable[..., Any]:
        return lambda net, numbers, lengths: _encoded(net, numbers, lengths, **how)

    mistakes = (
        (lambda net, numbers, lengths: _encoded(net, numbers, torch.full_like(lengths, numbers.shape[1])),
         "padding is taken for words everywhere in yours: the lengths play no part"),
        (wrong(blind=False),
         "a window at a sentence's end sees padding: multiply its word vectors by 0 (`inside`) first"),
        (wrong(last=lambda v: v), "the vectors must have length 1: divide each by its own (`F.normalize`)"),
        (wrong(blind=False, last=lambda v: v),
         "two things: a window at a sentence's end sees padding, and the vectors have not the length 1"),
        (wrong(last=lambda v: F.normalize(v, dim=0)), "divided along the sentences: each row has a length (`dim=1`)"),
        (wrong(last=lambda v: F.normalize(v, p=1, dim=1)),
         "divided by the sum of sizes; the length is the root of the sum of squares"),
        (wrong(last=lambda v: v / (v**2).sum(1, True)), "divided by the square of the length: a root is missing"),
        (wrong(last=lambda v: v / v.norm()), "divided by the length of the whole batch; each row has a length"),
        (wrong(last=lambda v: v.softmax(1)), "a softmax makes shares; the length is to be 1"),
        (wrong(both=lambda s, a: torch.cat([a, s], 1)),
         "the two stand the other way round: first the largest answers, then the attended sum"),
        (wrong(both=lambda s, a: F.normalize(torch.cat([s, a], 1), dim=1)),
         "the length is made 1 before the linear map as well: only the result is divided"),
        (wrong(both=lambda s, a: F.normalize(torch.cat([s, a], 1), dim=1), last=lambda v: v),
         "the length is made 1 before the linear map, and is another one after it"),
        (wrong(both=lambda s, a: torch.cat([s, 0 * a], 1)), "the attended sum plays no part in yours"),
        (wrong(both=lambda s, a: torch.cat([0 * s, a], 1)), "the largest answers play no part in yours"),
        (wrong(largest=lambda answers, lengths: answers.amax(2)),
         "the largest answer may stand on padding in yours: give `largest_answers` the lengths"),
        (wrong(largest=lambda answers, lengths: answers.amax(2), summed=lambda x, g, n: summed(g.softmax(1), x)),
         "the largest answer may stand on padding, and padding has a share of the attention: give both the lengths"),
        (wrong(largest=lambda a, n: filled(a, n, 0.0).sum(2) / n[:, None]),
         "yours has the mean of the answers: `largest_answers` takes the largest"),
        (wrong(summed=lambda x, g, n: x.sum(1) / n[:, None]),
         "yours has the plain mean of the word vectors: `attend` gives each word its share"),
        (wrong(summed=lambda x, g, n: x.sum(1)),
         "yours has the plain sum of the word vectors: `attend` gives each word its share"),
        (wrong(summed=lambda x, g, n: summed(g.softmax(1), x)),
         "padding has a share of the attention in yours: give `attend` the lengths"),
        (wrong(summed=lambda x, g, n: summed(filled(filled(g, n).softmax(1), n).softmax(1), x)),
         "the softmax is taken twice: `attend` wants the logits as they are"),
        (wrong(answers=torch.relu), "a relu cuts the filters' answers below 0: it was not asked for"),
        (wrong(answers=torch.tanh), "a tanh bends the filters' answers: it was not asked for"),
        (wrong(last=lambda v: F.normalize(v.tanh(), dim=1)), "a tanh bends the result: it was not asked for"),
        (wrong(last=lambda v: F.normalize(v.relu(), dim=1)), "a relu cuts the result below 0: it was not asked for"),
    )  # fmt: skip
    cases = [
        (_network(1), *_sentences(1, (4, 2, 1))),
        (_network(2, dimension=3, filters=7, size=2), *_sentences(2, (3, 6, 1, 5))),
        (_network(3, dimension=6, filters=2, size=5), *_sentences(3, (2, 4))),
    ]
    complaint = find_mistake(answer, wrong(), cases, mistakes, read=learnable)
    return complaint or _all_learn(answer, *cases[0])


def _all_learn(answer: Callable[..., Any], net: nn.ModuleDict, numbers: Tensor, lengths: Tensor) -> str | None:
    """Whether a gradient reaches every part of the network."""
    made = answer(net, numbers, lengths)
    if made.requires_grad:
        (made * torch.linspace(-1, 1, made.shape[1])).sum().backward()
    for name, part in net.items():
        if next(part.parameters()).grad is None:
            return (
                f"the vectors are right, but no gradient reaches net[{name!r}]: it could not learn. Work with tensors "
                "all the way, and without `no_grad`"
            )
    return None


# A step: where it is right, the parameters walk as those of the reference do, with an optimiser that has a memory


def _walk(step: Callable[..., Any]) -> Callable[[tuple[int, float, int]], np.ndarray]:
    """The losses that a step gives back over some batches, and the parameters after them."""

    def walked(world: tuple[int, float, int]) -> np.ndarray:
        net, batches = _world(world)
        optimiser = torch.optim.SGD(net.parameters(), lr=world[1], momentum=0.5)
        losses = [number(step(net, optimiser, batch)) for batch in batches]
        moved = [each.detach().numpy().ravel() for each in net.parameters()]
        return np.concatenate([losses, *moved])

    return walked


def _world(world: tuple[int, float, int]) -> tuple[nn.ModuleDict, list[tuple[Tensor, Tensor, Tensor, Tensor]]]:
    """A tiny network and some batches."""
    seed, _, steps = world
    draw = np.random.default_rng(seed)
    net, batches = _network(seed, dimension=3 + seed), []
    for _ in range(steps):
        lengths = draw.integers(1, 6, 7).tolist()
        labels = torch.tensor(draw.integers(0, 3, 7))
        batches.append((*_sentences(int(draw.integers(1000)), lengths), *masks_from_labels(labels)))
    return net, batches


WORLDS = ((1, 0.5, 4), (2, 0.2, 3), (3, 1.0, 3))


def _loss(v: Tensor, P: Tensor, N: Tensor, *, alpha: float = 2.0, beta: float = 20.0, base: float = 0.9) -> Tensor:
    return locality(v @ v.T, P, N, alpha=alpha, beta=beta, base=base)


def _step(loss_of: Callable[[Tensor, Tensor, Tensor], Tensor] = _loss, uphill: bool = False) -> Callable[..., float]:
    """A step with another loss, or the other way."""

    def step(net: Any, optimiser: Any, batch: Any) -> float:
        numbers, lengths, P, N = batch
        optimiser.zero_grad()
        loss = loss_of(_encoded(net, numbers, lengths), P, N)
        (-loss if uphill else loss).backward()
        optimiser.step()
        return loss.item()

    return step


@check("02.11")
def check_one_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """zero_grad, loss, backward, step; the parameters and the losses are those of the reference."""

    def with_loss(loss_of: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[..., Any]:
        return _walk(_step(loss_of))

    mistakes = (
        (_walk(_step(uphill=True)), "your network moves uphill: the loss grows. `loss.backward()`, without a minus"),
        (with_loss(lambda v, P, N: -_loss(v, P, N)), "yours is minus the loss: it goes uphill"),
        (with_loss(lambda v, P, N: locality(v @ v.T, P, N)),
         "α, β and λ are those that `locality` takes when it is told nothing; asked are 2, 20 and 0.9"),
        (with_loss(partial(_loss, alpha=20.0, beta=2.0)), "α and β are exchanged"),
        (with_loss(partial(_loss, base=0.5)), "λ (`base`) is 0.5 in yours; asked is 0.9"),
        (with_loss(partial(_loss, beta=50.0)), "β is 50 in yours; asked is 20"),
        (with_loss(lambda v, P, N: _loss(v, N, P)), "P and N are exchanged: positives would be pushed apart"),
        (with_loss(lambda v, P, N: _loss(v, *informative((v @ v.T).clamp(-1, 1), P, N, epsilon=0.3))),
         "you keep only informative pairs; here all pairs are to take part"),
        (with_loss(lambda v, P, N: _loss(v, P, N) * len(v)), "that is the sum over anchors; the loss is their mean"),
        (with_loss(lambda v, P, N: _loss(v, P, N) / len(v)), "divided by the anchors twice: `locality` is their mean"),
    )  # fmt: skip
    complaint = find_mistake(_walk(answer), _walk(_step()), [(world,) for world in WORLDS], mistakes, tolerance=1e-4)
    if complaint is None or complaint in {says for *_, says in mistakes}:
        return complaint
    return _order(answer) or _first_loss(answer)


def _order(answer: Callable[..., Any]) -> str | None:
    """What the answer does in a step, and when: the word for what is missing or stands in the wrong place."""
    net, batches = _world(WORLDS[0])
    told: list[str] = []

    class Told(torch.optim.SGD):
        def zero_grad(self, set_to_none: bool = True) -> None:
            told.append("forgets")
            super().zero_grad(set_to_none)

        def step(self, closure: Any = None) -> Any:
            told.append("moves")
            return super().step(closure)

    optimiser = Told(net.parameters(), lr=0.5)
    bias = net["out"].bias
    assert isinstance(bias, Tensor)
    bias.register_hook(lambda gradient: told.append("asks"))
    left, seen = False, []
    for batch in batches[:2]:
        left = left or bias.grad is not None
        told.clear()
        answer(net, optimiser, batch)
        seen.append(list(told))
    events = seen[-1]
    if "asks" not in events:
        return "no gradient is asked for: `loss.backward()` is missing, or the loss does not hang on the network"
    if "moves" not in events:
        return "the optimiser never moves the parameters: `optimiser.step()` is missing, or it is another optimiser's"
    if events.count("asks") > 1 or events.count("moves") > 1:
        return "one call makes one step: gradients are asked for once, and the optimiser moves once"
    if events.index("moves") < events.index("asks"):
        return "the optimiser moves before the gradients of this batch are there: `backward` first, then `step`"
    if "forgets" in events[events.index("asks") : events.index("moves")]:
        return "the gradients are forgotten (`zero_grad`) between `backward` and `step`: nothing is left to move by"
    if left and "forgets" not in events:
        return "gradients add up from step to step: forget the old ones with `optimiser.zero_grad()`"
    return None


def _first_loss(answer: Callable[..., Any]) -> str:
    """Whether the fault is before the first move, in the loss, or in the move."""
    net, batches = _world(WORLDS[0])
    optimiser = torch.optim.SGD(net.parameters(), lr=WORLDS[0][1])
    before = _loss(_encoded(net, *batches[0][:2]), *batches[0][2:]).item()
    given = number(answer(net, optimiser, batches[0]))
    after = _loss(_encoded(net, *batches[0][:2]), *batches[0][2:]).item()
    if close(given, before, 1e-4):
        return Unnamed(
            "the first loss is right, but then the parameters do not move as the gradients of this loss say: is a part "
            "of it cut off from them (`detach`), or is something done to the gradients?"
        )
    if close(given, after, 1e-4) and not close(before, after, 1e-4):
        return "that is the loss after the move; give back the one before it, from which the gradients came"
    return Unnamed(
        f"the first loss is {given:.4f} in the check, expected {before:.4f}: are `encoded` (02.10), the cosines and "
        "the settings of `locality` right?"
    )


# The epochs: what they give to `learn` and `note` is written down

Calls = list[list[Any]]  # of an epoch: what `learn` was given


def _recorded(
    answer: Callable[..., Any], pairs: list[tuple[int, int]], size: int, epochs: int, seed: int, elsewhere: int
) -> tuple[Calls, list[tuple[Any, Any]], list[list[float]], Any]:
    """All that `learn` was given, cut where `note` was called; what `note` was told, the losses, what came back."""
    given: Calls = [[]]
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

    with torch.random.fork_rng():
        kept = chance.getstate(), np.random.get_state()  # noqa: NPY002 (a student may draw from it)
        torch.manual_seed(elsewhere)
        chance.seed(elsewhere)
        np.random.seed(elsewhere)  # noqa: NPY002
        try:
            back = answer(pairs, size, epochs, seed, learn, note)
        finally:
            chance.setstate(kept[0])
            np.random.set_state(kept[1])  # noqa: NPY002
    return given, told, losses, back


@check("02.12")
def check_epochs_of(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Every pair once an epoch, `size` at a time, another order each epoch, all from the seed."""
    for rows, size, epochs, seed in ((23, 5, 4, 0), (12, 4, 3, 7), (9, 20, 3, 1), (8, 1, 2, 3)):
        pairs = [(row, 100 + 7 * row % 31) for row in range(rows)]
        own = list(pairs)
        given, told, losses, back = _recorded(answer, own, size, epochs, seed, elsewhere=11)
        complaint = (
            _what_is_learned(given, pairs, size, epochs, len(told))
            or _shuffled(given[:epochs], pairs)
            or _what_is_told(told, losses[:epochs], back, epochs)
        )
        if complaint is None and own != pairs:
            complaint = "right, but your function changes `pairs` itself: work on a copy, or on row numbers"
        if complaint:
            return complaint
        again = _recorded(answer, list(pairs), size, epochs, seed, elsewhere=12)[0]
        if again != given:
            return "the same seed gives another order when it is asked again: draw from a generator that `seed` has set"
        if size < rows and _recorded(answer, list(pairs), size, epochs, seed + 50, elsewhere=11)[0] == given:
            return "another seed gives the same order: the order must come from `seed`"
    return None


def _what_is_learned(given: Calls, pairs: list[tuple[int, int]], size: int, epochs: int, notes: int) -> str | None:
    """Whether each epoch has all pairs once, `size` at a time."""
    calls = [call for epoch in given for call in epoch]
    if not calls:
        return "`learn` is never called: it is what makes the steps"
    if any(not isinstance(call, list | tuple) or not call for call in calls):
        return "`learn` wants a list of pairs, not an empty one and nothing else"
    if any(not isinstance(pair, tuple | list) for call in calls for pair in call):
        return "`learn` wants the pairs themselves, `pairs[row]`, and not their row numbers"
    if any(tuple(pair) not in pairs for call in calls for pair in call):
        return "`learn` is given something that is none of `pairs`"
    whole = len(pairs) * epochs
    learned = sum(map(len, calls))
    if notes == 0:
        return "`note` is never called: it is to hear the mean loss at the end of each epoch"
    if notes == len(calls) != epochs:
        return "`note` is called after every step; it is to be called once, at the end of each epoch"
    if notes in (epochs - 1, epochs + 1) and learned == len(pairs) * notes:
        return f"{notes} epochs in place of {epochs}: `range(1, epochs + 1)` has as many as are asked"
    if notes != epochs:
        return f"`note` is called {notes} times in {epochs} epochs; once at the end of each was asked"
    if given[-1]:
        return "`learn` is called again after the last epoch is told to `note`"
    for epoch in given[:-1]:
        seen = Counter(tuple(pair) for call in epoch for pair in call)
        if missing := len(pairs) - len(seen):
            if missing == len(pairs) % size and learned == whole - missing * epochs:
                return "the last pairs of each epoch are left out: the last batch may be smaller"
            if max(seen.values()) > 1:
                return "pairs are drawn with return: some come twice in an epoch and some not at all"
            return f"{missing} of {len(pairs)} pairs are not learned from in an epoch; each must come once"
        if max(seen.values()) > 1:
            return "some pairs come more than once in an epoch; each must come once"
        most = max(map(len, epoch))
        if most > size or len(epoch) != -(-len(pairs) // size):
            return f"`learn` is given up to {most} pairs at a time, {len(epoch)} times an epoch, where `size` is {size}"
    return None


def _shuffled(given: Calls, pairs: list[tuple[int, int]]) -> str | None:
    """Whether the order is another one in each epoch, pair by pair."""
    orders = [[tuple(pair) for call in epoch for pair in call] for epoch in given]
    if all(order == pairs for order in orders):
        return "the pairs always come in the order of the list: shuffle them anew in each epoch"
    if all(order == orders[0] for order in orders):
        return (
            "the order is the same in every epoch: draw it inside the loop, from a generator that is seeded once, "
            "before it"
        )
    if any(one == other for one, other in pairwise(orders)):
        return "an epoch has the order of the one before it: draw it anew in each"
    if orders[0] == pairs:
        return "the first epoch comes in the order of the list: shuffle before it, too"
    together = [{frozenset(tuple(pair) for pair in call) for call in epoch} for epoch in given]
    if len(given[0]) > 1 and len(given[0][0]) > 1 and all(sets == together[0] for sets in together):
        return "the same pairs are together in a batch in every epoch: shuffle the pairs, not the batches"
    return None


def _what_is_told(told: list[tuple[Any, Any]], losses: list[list[float]], back: Any, epochs: int) -> str | None:
    """The mean losses, to `note` and at the end."""
    means = [sum(each) / len(each) for each in losses]
    if [number(epoch) for epoch, _ in told] != list(range(1, epochs + 1)):
        if [number(epoch) for epoch, _ in told] == list(range(epochs)):
            return "`note` hears epochs 0, 1, …: they are to be numbered from 1"
        return f"`note` hears of the epochs {[epoch for epoch, _ in told]}, expected 1 to {epochs}, then the loss"
    words = (
        ([sum(each) for each in losses], "the sum of the losses of an epoch; their mean was asked for"),
        ([each[-1] for each in losses], "the loss of an epoch's last batch; the mean of all was asked for"),
        ([each[0] for each in losses], "the loss of an epoch's first batch; the mean of all was asked for"),
        ([np.mean(np.concatenate(losses[: at + 1])) for at in range(epochs)],
         "the mean since the first epoch; begin anew"),
    )  # fmt: skip
    heard = [number(loss) for _, loss in told]
    if not close(heard, means):
        for wrong, says in words:
            if close(heard, wrong):
                return f"`note` hears {says}"
        return f"`note` hears {heard[0]:.4f} after the first epoch, and its losses' mean is {means[0]:.4f}"
    found = array(back)
    if found.shape != (epochs,):
        if found.size == 1:
            return "one loss comes back; the mean losses of all epochs were asked for, in a list"
        return f"{found.size} losses come back, expected {epochs}: one an epoch"
    return None if close(found, means) else "what comes back is not what `note` has heard: the mean loss of each epoch"
