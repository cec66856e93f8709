"""Notebook 10: how losses distribute their push, and a training loop for any of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from labkit.course.exercise import Unfit, array, blocked, check, find_mistake, learnable, number
from labkit.course.exercises.draws import cosines, tensor
from labkit.pairs import infonce, masks_from_labels


@check("10.1")
def check_nearest_share(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The largest push of each anchor divided by the sum of pushes, averaged over the anchors that push."""
    cases = []
    for m, silent in ((5, 0), (6, 2), (4, 1)):
        N = random.random((m, m)) < 0.5
        N[:, :2] = True
        W = random.uniform(0.1, 3, size=(m, m))  # positives weigh, too
        quiet = random.permutation(m)[:silent]
        W[quiet] = np.where(N[quiet], 0, W[quiet])
        cases.append((torch.from_numpy(W), torch.from_numpy(N)))

    def by(share: Callable[[Tensor], Any], mask: Callable[[Tensor], Tensor] = lambda N: N) -> Callable[..., Any]:
        def mean(W: Tensor, N: Tensor) -> Any:
            pushes = [W[i, mask(N)[i]] for i in range(len(W))]
            return np.mean([float(share(push)) for push in pushes if push.sum() > 0])

        return mean

    def with_silent(W: Tensor, N: Tensor) -> Any:
        push = W * N
        return (push.max(1).values / push.sum(1).clamp(min=1e-300)).mean()

    mistakes = (
        (with_silent, "an anchor that pushes nothing is in your mean, with a share of 0: leave it out"),
        (by(lambda push: push.max() / push.sum(), lambda N: torch.ones_like(N)),
         "positives are in your row: only negatives are pushed, `W[i, N[i]]`"),
        (by(lambda push: push.max()), "that is the largest push; divide it by the sum of the anchor's pushes"),
        (by(lambda push: 1 / len(push)), "that is an equal share for all; what does the largest of them get?"),
        (lambda W, N: (W * N).max(1).values.sum() / (W * N).sum(),
         "yours divides two sums over the batch; take the share of each anchor first, then the mean"),
    )  # fmt: skip
    return find_mistake(answer, by(lambda push: push.max() / push.sum()), cases, mistakes, read=number)


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
            return f"expected both rows of {size} pairs in every batch: another number is in one of yours"
        first, second = ([row for rows in given[at : at + each] for row in rows] for at in (0, each))
        if len(set(first)) < len(first) or len(set(second)) < len(second):
            return "a pair comes again before all others had their turn: cut one order into pieces, then draw a new one"
        if [set(rows) for rows in given[:each]] == [set(rows) for rows in given[each : 2 * each]]:
            return "every epoch has the same order in yours: draw a new one, from a generator that is seeded once"
        if again != given or other == given:
            return "the seed alone determines the batches: draw with a generator that has this seed"
    shared = torch.tensor([(0, 1), (0, 2), (1, 2)])
    if any(sorted(rows) != [0, 1, 2] for rows in _rows(answer(shared, 3, 2, 0))):
        return "a sentence that is in two pairs of a batch comes once: `.unique()`"
    return None


def _rows(given: Any) -> list[list[int]]:
    if not isinstance(given, list) or not all(isinstance(rows, Tensor) and rows.ndim == 1 for rows in given):
        raise Unfit("expected a list of tensors, each with the row numbers of a batch, (m,)")
    return [rows.tolist() for rows in given]


@check("10.3")
def check_trained(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """One step of Adam for each batch, down the loss of its cosines."""
    cases = []
    for n, words, d in ((12, 7, 3), (10, 6, 4)):
        C = torch.from_numpy(random.dirichlet(np.ones(words), size=n))
        classes = torch.from_numpy(random.permutation(np.arange(n) // 2))
        chosen = [torch.from_numpy(random.permutation(n)[: n - 2]) for _ in range(6)]
        loss = partial(infonce, temperature=float(random.uniform(0.2, 0.6)))
        cases.append((loss, C, classes, tensor(random, words, d), chosen, float(random.uniform(0.02, 0.1))))

    def by(turned: bool = False, forget: bool = True, how: Any = torch.optim.Adam, most: int = 9) -> Callable[..., Any]:
        def table(loss: Any, C: Tensor, classes: Tensor, start: Tensor, chosen: Any, rate: float) -> Tensor:
            E = start.detach().clone().requires_grad_()
            optimiser = how([E], lr=rate)
            for rows in chosen[:most]:
                V, masks = F.normalize(C[rows] @ E, dim=1), masks_from_labels(classes[rows])
                if forget:
                    optimiser.zero_grad()
                loss(V @ V.T, *(masks[::-1] if turned else masks)).backward()
                optimiser.step()
            return E.detach()

        return table

    mistakes = (
        (by(turned=True), "P and N have changed places: the loss takes S, P, N"),
        (by(forget=False), "the gradients of earlier steps are still there: `optimiser.zero_grad()` in each step"),
        (by(how=torch.optim.SGD), "that is plain gradient descent: use `torch.optim.Adam`"),
        (by(most=0), "your table is still `start`: `optimiser.step()` moves it"),
        (by(most=1), "yours returns after the first batch: put `return` after the loop"),
    )
    return find_mistake(answer, by(), cases, mistakes, read=_table)


def _table(answer: Any) -> np.ndarray:
    if isinstance(answer, Tensor) and answer.requires_grad:
        raise Unfit("the table still collects gradients, and later cells only read it: `return E.detach()`")
    return array(answer)


@check("10.4")
def check_infonce(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean over positive pairs of log(1 + e^(R - Z))."""
    cases = []
    for sizes, tau in (((2, 3, 2), 0.3), ((3, 3, 4), 0.05), ((2, 4), 0.004)):
        S, labels = cosines(random, sizes, 3)
        cases.append((torch.from_numpy(S).float(), *masks_from_labels(torch.from_numpy(labels)), tau))

    def terms(S: Tensor, P: Tensor, N: Tensor, tau: float) -> Tensor:
        Z = S / tau
        return F.softplus(Z.masked_fill(~N, -torch.inf).logsumexp(1, keepdim=True) - Z)

    def right(S: Tensor, P: Tensor, N: Tensor, tau: float) -> Tensor:
        return terms(S, P, N, tau)[P].mean()

    def by_anchor(S: Tensor, P: Tensor, N: Tensor, tau: float) -> Tensor:
        return ((terms(S, P, N, tau) * P).sum(1) / P.sum(1)).mean()

    def without_one(S: Tensor, P: Tensor, N: Tensor, tau: float) -> Tensor:
        Z = S / tau
        return (Z.masked_fill(~N, -torch.inf).logsumexp(1, keepdim=True) - Z)[P].mean()

    mistakes = (
        (without_one, "the positive is missing from the denominator: it is the 1 in log(1 + …)"),
        (lambda S, P, N, tau: right(S, P, ~torch.eye(len(S), dtype=torch.bool), tau),
         lambda S, P, N, tau: right(S, P, torch.ones_like(N), tau),
         "your R has positives in it: sum over the negatives alone"),
        (lambda *case: terms(*case)[case[1]].sum(), "that is the sum over all positive pairs: take their mean"),
        (by_anchor, "yours averages each anchor first: take one mean over all positive pairs"),
        (lambda S, P, N, tau: right(S, P, N, 1 / tau), "yours multiplies by τ: divide S by it"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=learnable, tolerance=1e-4)
    return complaint or blocked(lambda S: answer(S, *cases[0][1:]), cases[0][0])


@check("10.5")
def check_tuned(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """For each name the option whose model dev likes best."""
    cases = []
    for names, count in ((("infonce", "locality"), 4), (("a", "b", "c"), 3), (("one",), 5)):
        options = {name: [(f"{name} {place}", place / 10) for place in range(count)] for name in names}
        worth = {(name, each): float(random.uniform(0.7, 0.9)) for name in names for each in options[name]}
        cases.append((options, lambda name, option: (name, option), worth.__getitem__))

    def by(
        pick: Callable[..., Any], what: Callable[..., Any] = lambda options, at, score: options[at]
    ) -> Callable[..., Any]:
        def best(candidates: Any, train: Any, dev: Any) -> Any:
            scores = {name: [dev(train(name, each)) for each in options] for name, options in candidates.items()}
            return {name: what(candidates[name], int(pick(found)), max(found)) for name, found in scores.items()}

        return best

    def read(given: Any) -> tuple[np.ndarray, ...]:
        if not isinstance(given, dict):
            raise Unfit("expected a dict with one option for each name")
        return tuple(np.asarray(repr(each)) for name in sorted(given) for each in (name, given[name]))

    mistakes = (
        (by(np.argmin), "yours has the worst option: the largest number counts"),
        (by(lambda scores: 0), "yours is always the first option: try them all"),
        (by(lambda scores: -1), "yours is always the last option: keep the best, not the latest"),
        (by(np.argmax, lambda options, at, score: score), "that is the score of the best option: return the option"),
        (by(np.argmax, lambda options, at, score: at), "that is the place of the best option: return the option"),
    )
    return find_mistake(answer, by(np.argmax), cases, mistakes, read=read)
