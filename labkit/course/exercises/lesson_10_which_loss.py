"""Notebook 10: how losses distribute their push, and a training loop for any of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit.course.exercise import Cases, Unfit, array, blocked, check, compared, exercise, learnable, number
from labkit.course.exercises.draws import cosines, tensor
from labkit.pairs import infonce, masks_from_labels


@exercise(
    "10.1",
    ("            continue", "            shares.append(push.sum()); continue",
     "your mean includes anchors that push nothing, with a share of 0: leave them out"),
    ("W[i, N[i]]", "W[i]", "your row includes positives: only negatives are pushed, `W[i, N[i]]`"),
    (" / push.sum()", "", "that is the largest push; divide it by the sum of the anchor's pushes"),
    ("push.max() / push.sum()", "1 / len(push)", "that is an equal share for all; what is the largest share?"),
    ("sum(shares) / len(shares)", "(W * N).max(1).values.sum() / (W * N).sum()",
     "you divide two sums over the batch; take the share of each anchor first, then the mean"),
    read=number,
)  # fmt: skip
def pushes(random: np.random.Generator) -> Cases:
    for m, silent in ((5, 0), (6, 2), (4, 1)):
        N = random.random((m, m)) < 0.5
        N[:, :2] = True
        W = random.uniform(0.1, 3, size=(m, m))  # positives weigh, too
        quiet = random.permutation(m)[:silent]
        W[quiet] = np.where(N[quiet], 0, W[quiet])
        yield torch.from_numpy(W), torch.from_numpy(N)


@check("10.2")
def check_batches(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Orders of all pairs, one after the other, cut into batches; the seed determines them."""
    for count, size in ((23, 5), (30, 7)):
        pairs = torch.from_numpy(random.permutation(2 * count).reshape(count, 2))  # a row belongs to one pair
        each, seed = count // size, int(random.integers(90))
        steps = 2 * each + 2
        given, again, other = (_rows(answer(pairs.clone(), size, steps, seed + more)) for more in (0, 0, 1))
        if len(given) != steps:
            return f"expected {steps} batches, got {len(given)}: draw new orders until there are enough"
        inside = [sum(a in rows and b in rows for a, b in pairs.tolist()) for rows in given]
        if any(found != size or len(rows) != 2 * size for found, rows in zip(inside, given, strict=True)):
            return f"expected both rows of {size} pairs in every batch; one of your batches has a different number"
        first, second = ([row for rows in given[at : at + each] for row in rows] for at in (0, each))
        if len(set(first)) < len(first) or len(set(second)) < len(second):
            return "a pair is repeated before all others have been used: cut one order into pieces, then draw a new one"
        if [set(rows) for rows in given[:each]] == [set(rows) for rows in given[each : 2 * each]]:
            return "all your epochs have the same order: draw a new one, from a generator that is seeded once"
        if again != given or other == given:
            return "the seed alone determines the batches: draw with a generator that has this seed"
    shared = torch.tensor([(0, 1), (0, 2), (1, 2)])
    if any(sorted(rows) != [0, 1, 2] for rows in _rows(answer(shared, 3, 2, 0))):
        return "a sentence that is in two pairs of a batch must occur once: `.unique()`"
    return None


def _rows(given: Any) -> list[list[int]]:
    if not isinstance(given, list) or not all(isinstance(rows, Tensor) and rows.ndim == 1 for rows in given):
        raise Unfit("expected a list of tensors, each with the row numbers of a batch, (m,)")
    return [rows.tolist() for rows in given]


def _table(answer: Any) -> np.ndarray:
    if isinstance(answer, Tensor) and answer.requires_grad:
        raise Unfit("the table still collects gradients, and later cells only read it: `return E.detach()`")
    return array(answer)


@exercise(
    "10.3",
    ("*masks_from_labels(classes[rows])", "*masks_from_labels(classes[rows])[::-1]",
     "P and N are swapped: the loss takes S, P, N"),
    ("        optimiser.zero_grad()\n", "",
     "the gradients of earlier steps are still there: `optimiser.zero_grad()` in each step"),
    ("optim.Adam", "optim.SGD", "that is plain gradient descent: use `torch.optim.Adam`"),
    ("        optimiser.step()\n", "", "your table is still `start`: `optimiser.step()` moves it"),
    ("    return E.detach()", "        return E.detach()",
     "your function returns after the first batch: put `return` after the loop"),
    read=_table,
)  # fmt: skip
def starts(random: np.random.Generator) -> Cases:
    for n, words, d in ((12, 7, 3), (10, 6, 4)):
        C = torch.from_numpy(random.dirichlet(np.ones(words), size=n))
        classes = torch.from_numpy(random.permutation(np.arange(n) // 2))
        chosen = [torch.from_numpy(random.permutation(n)[: n - 2]) for _ in range(6)]
        loss = partial(infonce, temperature=float(random.uniform(0.2, 0.6)))
        yield loss, C, classes, tensor(random, words, d), chosen, float(random.uniform(0.02, 0.1))


@check("10.4")
def check_infonce(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean over positive pairs of log(1 + e^(R - Z))."""
    cases: list[tuple[Any, ...]] = []
    for sizes, tau in (((2, 3, 2), 0.3), ((3, 3, 4), 0.05), ((2, 4), 0.004)):
        S, labels = cosines(random, sizes, 3)
        cases.append((torch.from_numpy(S).float(), *masks_from_labels(torch.from_numpy(labels)), tau))
    complaint = compared(
        "10.4", answer, cases,
        ("F.softplus(R - Z)", "R - Z", "the positive is missing from the denominator: it is the 1 in log(1 + …)"),
        ("(~N, -torch.inf)", "(~(P | N), -torch.inf)", "(P & N, 0)",
         "your R includes positives: sum over the negatives alone"),
        (".mean()", ".sum()", "that is the sum over all positive pairs: take their mean"),
        ("terms[P].mean()", "((terms * P).sum(1) / P.sum(1)).mean()",
         "you average each anchor first: take one mean over all positive pairs"),
        ("S / tau", "S * tau", "you multiply by τ: divide S by it"),
        read=learnable, tolerance=1e-4,
    )  # fmt: skip
    return complaint or blocked(answer(cases[0][0].requires_grad_(), *cases[0][1:]), cases[0][0])


def _options(given: Any) -> tuple[np.ndarray, ...]:
    if not isinstance(given, dict):
        raise Unfit("expected a dict with one option for each name")
    return tuple(np.asarray(repr(each)) for name in sorted(given) for each in (name, given[name]))


@exercise(
    "10.5",
    ("np.argmax", "np.argmin", "you return the worst option: the largest number is the best"),
    ("int(np.argmax(scores))", "0", "you always return the first option: try them all"),
    ("int(np.argmax(scores))", "-1", "you always return the last option: keep the best, not the latest"),
    ("options[int(np.argmax(scores))]", "max(scores)",
     "that is the score of the best option: return the option"),
    ("options[int(np.argmax(scores))]", "int(np.argmax(scores))",
     "that is the index of the best option: return the option"),
    read=_options,
)  # fmt: skip
def candidates(random: np.random.Generator) -> Cases:
    for names, count in ((("infonce", "locality"), 4), (("a", "b", "c"), 3), (("one",), 5)):
        options = {name: [(f"{name} {place}", place / 10) for place in range(count)] for name in names}
        worth = {(name, each): float(random.uniform(0.7, 0.9)) for name in names for each in options[name]}
        yield options, lambda name, option: (name, option), worth.__getitem__
