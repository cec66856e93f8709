"""Notebook 02: each check takes every right form and names the wrong ones."""

from __future__ import annotations

import itertools
import random as chance
from functools import partial
from statistics import fmean, median, pstdev, stdev, variance
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from s2cell import cell_id_to_parent_cell_id
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from labkit.evaluation import best_threshold
from labkit.lab.course.exercise import judge
from labkit.lab.course.exercises.sentpwnet import LESSON
from labkit.pairs import informative, locality, masks_from_labels
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def beside(rows: Tensor, lengths: Tensor) -> Tensor:
    """True on padding, (n, length), for answers (n, filters, length) or logits (n, length)."""
    return torch.arange(rows.shape[-1]) >= lengths[:, None]


def filled(rows: Tensor, lengths: Tensor, value: float = -torch.inf) -> Tensor:
    outside = beside(rows, lengths)
    return rows.masked_fill(outside[:, None, :] if rows.ndim == 3 else outside, value)


def summed(shares: Tensor, states: Tensor) -> Tensor:
    return (shares[:, :, None] * states).sum(1)


# --- 02.1 and 02.2 ---------------------------------------------------------------------------------------------


def one_by_one(answers: Tensor, lengths: Tensor) -> Tensor:
    return torch.stack([row[:, :n].amax(1) for row, n in zip(answers, lengths.tolist(), strict=True)])


def in_place(answers: Tensor, lengths: Tensor) -> Tensor:
    answers[beside(answers, lengths)[:, None, :].expand_as(answers)] = -torch.inf
    return answers.amax(2)


def typed_in(answers: Tensor, lengths: Tensor) -> Tensor:
    return torch.tensor([[max(f[:n]) for f in s] for s, n in zip(answers.tolist(), lengths.tolist(), strict=True)])


def largest(answers: Tensor, lengths: Tensor) -> Tensor:
    return filled(answers, lengths).amax(2)


def attend(states: Tensor, logits: Tensor, lengths: Tensor) -> Tensor:
    return summed(filled(logits, lengths).softmax(1), states)


def by_hand(states: Tensor, logits: Tensor, lengths: Tensor) -> Tensor:
    weights = logits.exp() * ~beside(logits, lengths)
    return torch.einsum("nt,ntd->nd", weights / weights.sum(1, keepdim=True), states)


# --- 02.3 ------------------------------------------------------------------------------------------------------


def ruled(spread: Any, middle: Any = fmean) -> Any:
    def rule(a, b):  # type: ignore[no-untyped-def]
        gap = middle(a) - middle(b)
        return "tie" if abs(gap) <= spread(a, b) else "first" if gap > 0 else "second"

    return rule


def larger(each: Any) -> Any:
    return ruled(lambda a, b: max(each(a), each(b)))


house = larger(stdev)


def with_numpy(a: Any, b: Any) -> Any:
    gap = np.mean(a) - np.mean(b)
    if gap > max(np.std(a, ddof=1), np.std(b, ddof=1)):
        return np.str_("first")
    return "second" if -gap > max(np.std(a, ddof=1), np.std(b, ddof=1)) else "tie"


# --- 02.5 and 02.6 ---------------------------------------------------------------------------------------------


def accuracy(threshold, scores, labels):  # type: ignore[no-untyped-def]
    return ((scores > threshold) == (labels == 1)).mean()


def honest(d, dl, t, tl):  # type: ignore[no-untyped-def]
    return accuracy(best_threshold(d, dl), t, tl)


def noise(count: int) -> float:
    random, labels = np.random.default_rng(1), np.arange(count) % 2
    draws = [random.random(count) for _ in range(400)]
    return float(np.mean([accuracy(best_threshold(scores, labels), scores, labels) for scores in draws]))


# --- 02.7 ------------------------------------------------------------------------------------------------------


def marker(level: int) -> int:
    return 1 << 2 * (30 - level)


def parent(cell: int, level: int) -> int:
    return (cell & -marker(level)) | marker(level)


# --- 02.9 ------------------------------------------------------------------------------------------------------


def batch(some, sentences, classes, rows=None, fill=0, width=None):  # type: ignore[no-untyped-def]
    rows = list(dict.fromkeys(row for pair in some for row in pair)) if rows is None else rows
    lengths = torch.tensor([len(sentences[row]) for row in rows])
    numbers = torch.full((len(rows), width or int(lengths.max())), fill)
    for place, row in enumerate(rows):
        numbers[place, : lengths[place]] = torch.tensor(sentences[row])
    return numbers, lengths, *masks_from_labels(torch.tensor([int(classes[row]) for row in rows]))


def padded_by_torch(some, sentences, classes):  # type: ignore[no-untyped-def]
    rows = list({row: None for pair in some for row in pair})
    own = [torch.tensor(sentences[row]) for row in rows]
    labels = torch.from_numpy(classes[rows])
    same = labels.view(-1, 1).eq(labels.view(1, -1))
    P = same.clone().fill_diagonal_(False)
    lengths = torch.tensor([len(each) for each in own], dtype=torch.int32)
    return [pad_sequence(own, batch_first=True), lengths, P, same.logical_not()]


def changed_batch(**parts: Any) -> Any:
    """A batch with some of its four parts made anew from all four."""

    def made(some, sentences, classes):  # type: ignore[no-untyped-def]
        names = ("numbers", "lengths", "P", "N")
        own = dict(zip(names, batch(some, sentences, classes), strict=True))
        return tuple(parts[name](own) if name in parts else own[name] for name in names)

    return made


def eye(own: dict[str, Tensor]) -> Tensor:
    return torch.eye(len(own["P"]), dtype=torch.bool)


# --- 02.10 -----------------------------------------------------------------------------------------------------


def encoded(
    net, numbers, lengths, *, seen=False, length=lambda v: F.normalize(v, dim=1), cat=None, pool=largest, sum_=attend
):  # type: ignore[no-untyped-def]
    x = net["words"](numbers)
    if not seen:
        x = x.masked_fill(beside(numbers, lengths)[:, :, None], 0.0)
    strongest = pool(net["filters"](x.transpose(1, 2)), lengths)
    attended = sum_(x, net["logit"](x)[:, :, 0], lengths)
    return length(net["out"](cat(strongest, attended) if cat else torch.cat([strongest, attended], 1)))


def by_norm(net, numbers, lengths):  # type: ignore[no-untyped-def]
    x = net["words"](numbers) * (numbers != 0).unsqueeze(2)
    answers = net["filters"](x.permute(0, 2, 1))
    both = torch.hstack([largest(answers, lengths), attend(x, net["logit"](x).squeeze(2), lengths)])
    v = net["out"](both)
    return v / v.norm(dim=1, keepdim=True)


def one_sentence_at_a_time(net, numbers, lengths):  # type: ignore[no-untyped-def]
    return torch.cat([encoded(net, row[None, :n], n[None]) for row, n in zip(numbers, lengths, strict=True)])


def without_learning(net, numbers, lengths):  # type: ignore[no-untyped-def]
    with torch.no_grad():
        return encoded(net, numbers, lengths)


# --- 02.11 -----------------------------------------------------------------------------------------------------


def lost(net, batch, keep=lambda S, P, N: (S, P, N), encoded=encoded, **changed):  # type: ignore[no-untyped-def]
    """The loss of a batch; `keep` changes similarities and masks."""
    numbers, lengths, P, N = batch
    v = encoded(net, numbers, lengths)
    return locality(*keep(v @ v.T, P, N), **({"alpha": 2.0, "beta": 20.0, "base": 0.9} | changed))


def mined(S, P, N):  # type: ignore[no-untyped-def]
    return S, *informative(S.clamp(-1, 1), P, N, epsilon=0.3)


def half_detached(net, batch):  # type: ignore[no-untyped-def]
    v = encoded(net, *batch[:2])
    return locality(v.detach() @ v.T, *batch[2:], alpha=2.0, beta=20.0, base=0.9)


def step(net, optimiser, batch, of=lost):  # type: ignore[no-untyped-def]
    optimiser.zero_grad()
    loss = of(net, batch)
    loss.backward()
    optimiser.step()
    return loss.item()


def in_order(*acts):  # type: ignore[no-untyped-def]
    """A step that does these things, in this order."""

    def acting(net, optimiser, batch):  # type: ignore[no-untyped-def]
        for act in acts:
            if act == "loss":
                loss = lost(net, batch)
            elif act == "ask":
                loss.backward()
            else:
                {"forget": optimiser.zero_grad, "move": optimiser.step}[act]()
        return loss.item()

    return acting


def by_eq_8(net, optimiser, batch):  # type: ignore[no-untyped-def]
    """As somebody writes it who has written the loss in notebook 1; gives a tensor back."""
    numbers, lengths, P, N = batch
    v = encoded(net, numbers, lengths)
    S = v.mm(v.t())
    pull = (1 + (torch.exp(-2 * (S - 0.9)) * P).sum(1)).log() / 2
    push = (1 + (torch.exp(20 * (S - 0.9)) * N).sum(1)).log() / 20
    loss = (pull + push).mean()
    for each in net.parameters():
        each.grad = None
    loss.backward()
    optimiser.step()
    return loss


def zero_at_the_end(net, optimiser, batch):  # type: ignore[no-untyped-def]
    loss = lost(net, batch)
    loss.backward()
    optimiser.step()
    net.zero_grad()
    return float(loss.detach())


def twice(net, optimiser, batch):  # type: ignore[no-untyped-def]
    step(net, optimiser, batch)
    return step(net, optimiser, batch)


def loss_after(net, optimiser, batch):  # type: ignore[no-untyped-def]
    step(net, optimiser, batch)
    return lost(net, batch).item()


# --- 02.12 -----------------------------------------------------------------------------------------------------


def epochs(
    pairs, size, epochs, seed, learn, note, *, orders=None, cut=None, mean=fmean, first=1, back=lambda losses: losses
):  # type: ignore[no-untyped-def]
    """The loop; `orders(count, seed)` gives an endless row of orders, `cut` the batches of one."""
    drawn = (orders or by_torch)(len(pairs), seed)
    cut = cut or chunks
    losses = []
    for epoch in range(first, first + epochs):
        found = [learn([pairs[row] for row in chunk]) for chunk in cut(next(drawn), size)]
        losses.append(mean(found))
        note(epoch, losses[-1])
    return back(losses)


def chunks(order, size):  # type: ignore[no-untyped-def]
    return [order[at : at + size] for at in range(0, len(order), size)]


def each_epoch(draw):  # type: ignore[no-untyped-def]
    """Orders that are drawn from the number of sentences, the seed and the epoch."""
    return lambda count, seed: (draw(count, seed, epoch) for epoch in itertools.count(1))


def by_torch(count, seed):  # type: ignore[no-untyped-def]
    random = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randperm(count, generator=random).tolist()


def by_numpy(count, seed):  # type: ignore[no-untyped-def]
    random = np.random.default_rng(seed)
    while True:
        yield random.permutation(count)


def by_the_global(count, seed):  # type: ignore[no-untyped-def]
    torch.manual_seed(seed)
    while True:
        yield torch.randperm(count).tolist()


def with_return(count, seed):  # type: ignore[no-untyped-def]
    random = np.random.default_rng(seed)
    while True:
        yield random.integers(0, count, count).tolist()


def only_batches(pairs, size, epochs, seed, learn, note):  # type: ignore[no-untyped-def]
    random, cut, losses = chance.Random(seed), chunks(list(range(len(pairs))), size), []
    for epoch in range(1, epochs + 1):
        random.shuffle(cut)
        losses.append(fmean([learn([pairs[row] for row in chunk]) for chunk in cut]))
        note(epoch, losses[-1])
    return losses


def shuffles_the_list(pairs, size, epochs, seed, learn, note):  # type: ignore[no-untyped-def]
    random, losses = chance.Random(seed), []
    for epoch in range(1, epochs + 1):
        random.shuffle(pairs)
        losses.append(fmean([learn(pairs[at : at + size]) for at in range(0, len(pairs), size)]))
        note(epoch, losses[-1])
    return losses


def noting_steps(pairs, size, epochs_, seed, learn, note):  # type: ignore[no-untyped-def]
    def noted(some):  # type: ignore[no-untyped-def]
        loss = learn(some)
        note(1, loss)
        return loss

    return epochs(pairs, size, epochs_, seed, noted, lambda epoch, loss: None)


# --- 02.13 and 02.14 -------------------------------------------------------------------------------------------


def tuned(values, train, auc, by="dev", says="test", pick=max):  # type: ignore[no-untyped-def]
    networks = {value: train(value) for value in values}
    best = pick(values, key=lambda value: auc(networks[value], by))
    return best, auc(networks[best], says)


def one_at_a_time(values, train, auc):  # type: ignore[no-untyped-def]
    best = None
    for value in values:
        network = train(value)
        figure = auc(network, "dev")
        if best is None or figure > best[0]:
            best = figure, value, network
    return [best[1], torch.tensor(auc(best[2], "test"))]


def trained_anew(values, train, auc):  # type: ignore[no-untyped-def]
    best, _ = tuned(values, train, auc)
    return best, auc(train(best), "test")


def all_on_test(values, train, auc):  # type: ignore[no-untyped-def]
    rows = [(auc(network, "dev"), value, auc(network, "test")) for value in values for network in (train(value),)]
    return max(rows)[1:]


def fair(rows, alike=("encoder", "seeds", "trials"), least=1, on=("dev",)):  # type: ignore[no-untyped-def]
    same = all(len({row[what] for row in rows}) == 1 for what in alike)
    return same and all(row["trials"] >= least and row["chosen on"] in on for row in rows)


RIGHT = {
    "02.1": [
        largest,
        one_by_one,
        lambda answers, lengths: filled(answers, lengths, -1e9).max(dim=2).values,
        lambda answers, lengths: filled(answers, lengths, torch.finfo(answers.dtype).min).amax(-1),
    ],
    "02.2": [
        attend,
        by_hand,
        lambda states, logits, lengths: summed(filled(logits, lengths, -1e9).softmax(1), states),
        lambda states, logits, lengths: torch.stack(
             [F.softmax(g[:n], 0) @ h[:n] for h, g, n in zip(states, logits, lengths.tolist(), strict=True)]
         ),
    ],
    "02.3": [house, with_numpy, lambda a, b: house(a, b).upper()],
    "02.5": [
        honest,
        lambda d, dl, t, tl: round(float(honest(d, dl, t, tl)), 3),
        lambda d, dl, t, tl: torch.tensor(honest(d, dl, t, tl)),
        lambda d, dl, t, tl: fmean((s > best_threshold(d, dl)) == bool(y) for s, y in zip(t, tl, strict=True)),
    ],
    "02.6": [noise(50), 0.58, np.array([0.585]), torch.tensor(0.577)],
    "02.7": [
        parent,
        cell_id_to_parent_cell_id,
        lambda cell, level: cell & ~(marker(level) - 1) | marker(level),
        lambda cell, level: np.uint64(parent(cell, level)),
        lambda cell, level: ((cell >> 2 * (30 - level)) | 1) << 2 * (30 - level),
    ],
    "02.9": [
        batch,
        lambda some, *corpus: batch(some, *corpus, rows=sorted({row for pair in some for row in pair})),
        padded_by_torch,
    ],
    "02.10": [encoded, by_norm, one_sentence_at_a_time],
    "02.11": [step, by_eq_8, zero_at_the_end],
    "02.12": [
        epochs,
        partial(epochs, orders=by_numpy),
        partial(epochs, orders=each_epoch(lambda n, seed, at: chance.Random(1000 * seed + at).sample(range(n), n))),
        partial(epochs, orders=by_the_global, back=np.array),
        partial(epochs, back=tuple),
    ],
    "02.14": [tuned, one_at_a_time, lambda *given: list(map(np.float32, tuned(*given)))],
    "02.13": [
        fair,
        lambda rows: {(row["encoder"], row["seeds"], row["trials"] or None, row["chosen on"]) for row in rows}
        == {(rows[0]["encoder"], rows[0]["seeds"], rows[0]["trials"] or 0, "dev")},
        lambda rows: np.bool_(fair(rows)),
    ],
}  # fmt: skip

WRONG = {
    "02.1": [
        (lambda answers, lengths: answers.amax(2), "padding takes part"),
        (lambda answers, lengths: filled(answers, lengths, 0.0).amax(2), "0 is no floor"),
        (lambda answers, lengths: filled(answers, lengths, -1.0).amax(2), "-1 is no floor"),
        (lambda answers, lengths: filled(answers, lengths, -1e4).amax(2), "is no floor"),
        (lambda answers, lengths: filled(answers, lengths).amax(1), "over the filters"),
        (lambda answers, lengths: filled(answers, lengths, 0.0).sum(2) / lengths[:, None], "the mean"),
        (lambda answers, lengths: filled(answers, lengths, torch.inf).amin(2), "the smallest"),
        (lambda answers, lengths: filled(answers, lengths), "the shape is"),
        (lambda answers, lengths: filled(answers, lengths).argmax(2), "argmax"),
        (lambda answers, lengths: answers[:, :, 0], "the first word"),
        (lambda answers, lengths: filled(answers, lengths + 1).amax(2), "one place of padding"),
        (lambda answers, lengths: filled(answers, lengths - 1).amax(2), "the last word"),
        (lambda answers, lengths: answers[:, :, : int(lengths.min())].amax(2), "as the shortest sentence"),
        (lambda answers, lengths: largest(answers, lengths).relu(), "a relu"),
        (lambda answers, lengths: filled(answers, lengths).max(2), "`.values`"),
        (in_place, "changes answers itself"),
        (typed_in, "no gradient"),
        (lambda answers, lengths: filled(answers, lengths, torch.inf).amax(2), "an infinity that was put in"),
        (lambda answers, lengths: largest(answers, lengths).numpy(), "a tensor was expected"),
        (lambda answers, lengths: largest(answers, lengths).squeeze(0), "the shape is"),
        (lambda answers, lengths: largest(answers, lengths).squeeze(1), "the shape is"),
    ],
    "02.2": [
        (lambda states, logits, lengths: summed(logits.softmax(1), states), "padding takes part"),
        (lambda states, logits, lengths: summed(filled(logits.softmax(1), lengths, 0), states), "no longer sums"),
        (lambda states, logits, lengths: summed(filled(logits, lengths, 0.0).softmax(1), states), "e^(0)"),
        (lambda states, logits, lengths: summed(filled(logits, lengths, -1.0).softmax(1), states), "e^(-1)"),
        (lambda states, logits, lengths: summed(filled(logits, lengths, -10).softmax(1), states), "e^(-10)"),
        (lambda states, logits, lengths: summed(filled(logits, lengths).softmax(0).nan_to_num(), states),
         "between the sentences"),
        (lambda states, logits, lengths: summed(filled(logits, lengths, 0.0), states), "softmax is missing"),
        (lambda states, logits, lengths: summed(~beside(logits, lengths) / lengths[:, None], states), "the plain mean"),
        (lambda states, logits, lengths: summed(filled(logits, lengths).exp(), states), "makes no shares"),
        (lambda states, logits, lengths: summed(filled(-logits, lengths).softmax(1), states), "the sign"),
        (lambda states, logits, lengths: states[torch.arange(len(states)), filled(logits, lengths).argmax(1)],
         "the best word alone"),
        (lambda states, logits, lengths: summed(filled(logits.sigmoid(), lengths, 0.0), states), "each word alone"),
        (lambda states, logits, lengths: attend(states, logits.detach(), lengths), "no gradient"),
        (lambda states, logits, lengths: attend(states, logits, lengths).squeeze(0), "the shape is"),
    ],
    "02.3": [
        (ruled(lambda a, b: 0.0), "never says tie"),
        (lambda a, b: "tie", "whatever the figures"),
        (lambda a, b: "first", "whatever the figures"),
        (larger(pstdev), "divides by n;"),
        (larger(lambda x: pstdev(x) / len(x) ** 0.5), "√n"),
        (larger(lambda x: stdev(x) / len(x) ** 0.5), "the standard error"),
        (ruled(lambda a, b: min(stdev(a), stdev(b))), "the smaller"),
        (ruled(lambda a, b: (stdev(a) + stdev(b)) / 2), "the mean of the two spreads"),
        (ruled(lambda a, b: stdev(a) + stdev(b)), "adds the spreads"),
        (ruled(lambda a, b: stdev(a)), "of a alone"),
        (ruled(lambda a, b: stdev(b)), "of b alone"),
        (larger(lambda x: (max(x) - min(x)) / 2), "half the range"),
        (larger(lambda x: max(x) - min(x)), "the range"),
        (larger(lambda x: stdev(x) / 2), "half a spread"),
        (larger(variance), "variance"),
        (ruled(lambda a, b: 0.01), "a fixed limit"),
        (ruled(lambda a, b: 0.013), "cases of the check"),
        (ruled(lambda a, b: (stdev(a) ** 2 + stdev(b) ** 2) ** 0.5), "of a difference"),
        (ruled(lambda a, b: stdev([*a, *b])), "together"),
        (ruled(lambda a, b: max(stdev(a), stdev(b)), median), "medians"),
        (lambda a, b: "first" if fmean(a) - fmean(b) > max(stdev(a), stdev(b)) else "tie", "never says 'second'"),
        (lambda a, b: house(b, a), "exchanged"),
        (lambda a, b: True, "was expected"),
        (lambda a, b: house(a, b) if fmean(a) != fmean(b) else "second", "that is a tie, too"),
    ],
    "02.5": [
        (lambda d, dl, t, tl: accuracy(best_threshold(t, tl), t, tl), "Algorithm 1"),
        (lambda d, dl, t, tl: accuracy(best_threshold(d, dl), d, dl), "on dev"),
        (lambda d, dl, t, tl: accuracy(best_threshold(t, tl), d, dl), "exchanged"),
        (lambda d, dl, t, tl: accuracy(0.5, t, tl), "nobody's best"),
        (lambda d, dl, t, tl: accuracy(d.mean(), t, tl), "the mean score"),
        (lambda d, dl, t, tl: accuracy(best_threshold(np.r_[d, t], np.r_[dl, tl]), t, tl), "leaks as well"),
        (lambda d, dl, t, tl: 1 - honest(d, dl, t, tl), "share of errors"),
        (lambda d, dl, t, tl: 100 * honest(d, dl, t, tl), "percent"),
        (lambda d, dl, t, tl: len(t) * honest(d, dl, t, tl), "a count"),
        (lambda d, dl, t, tl: best_threshold(d, dl), "that is the threshold"),
        (lambda d, dl, t, tl: (t > best_threshold(d, dl)).mean(), "called the same"),
        (lambda d, dl, t, tl: (t > best_threshold(d, dl)) == (tl == 1), "one number"),
        (lambda d, dl, t, tl: 0.747, "it must be computed"),
        (lambda d, dl, t, tl: ((t < best_threshold(d, dl)) == (tl == 1)).mean(), "not below it"),
        (lambda d, dl, t, tl: (best_threshold(d, dl), honest(d, dl, t, tl)), "or a choice"),
        (lambda d, dl, t, tl: honest(d[: len(t)], dl[: len(t)], t, tl), "cases of the check"),
        (lambda d, dl, t, tl: ((t >= best_threshold(d, dl)) == (tl == 1)).mean(), "cases of the check"),
    ],
    "02.6": [
        (0.5, "what noise is worth"),
        (noise(20), "as much as 20 pairs"),
        (noise(200), "as much as 200 pairs"),
        (noise(50) - 0.5, "how much it leaks"),
        (1 - noise(50), "wrong decisions"),
        (0.9, "too much"),
        (0.567, "too little"),
        (58.0, "percent"),
        (29.0, "how many of the 50"),
        (1.0, "no threshold calls"),
        (0.3, "below 0.5"),
        (0.6, "rounded"),
        ([0.5, 0.6], "one number"),
        ("58 %", "one number"),
    ],
    "02.7": [
        (lambda cell, level: cell, "the cell itself"),
        (lambda cell, level: cell & -marker(level), "marker is missing"),
        (lambda cell, level: cell & -marker(level) & ~marker(level), "marker is missing"),
        (lambda cell, level: cell | marker(level), "still there"),
        (lambda cell, level: (cell & -(1 << 30 - level)) | 1 << 30 - level, "two bits"),
        (lambda cell, level: int(str(cell)[: level + 1].ljust(19, "0")), "cutting decimal digits"),
        (lambda cell, level: cell_id_to_parent_cell_id(cell, level + 1), "one level finer"),
        (lambda cell, level: parent(cell, level - 1), "one level coarser"),
        (lambda cell, level: (cell & -marker(level)) ^ marker(level), "`^`"),
        (lambda cell, level: (cell & -marker(level)) + marker(level), "carries"),
        (lambda cell, level: cell >> 2 * (30 - level), "the bits stay"),
        (lambda cell, level: float(parent(cell, level)), "a whole number"),
        (lambda cell, level: parent(5159555464442150912, level), "whatever cell is"),
        (lambda cell, level: parent(cell, 14), "whatever level is"),
        (lambda cell, level: parent(cell, level) & (1 << 63) - 1, "right in 25 of 30 cases"),
        (lambda cell, level: int(np.uint64(parent(cell, level)).astype(np.int64)), "right in 25 of 30 cases"),
    ],
    "02.9": [
        (lambda s, t, c: batch(s, t, c, rows=[row for pair in s for row in pair]), "two rows"),
        (lambda s, t, c: batch(s, t, c, rows=list(dict.fromkeys(a for a, _ in s))), "the first sentences"),
        (lambda s, t, c: batch(s[:-1], t, c), "the shape is"),
        (changed_batch(N=lambda own: torch.ones_like(own["N"])), "N is not what it should be"),
        (partial(batch, fill=1), "padding is 0"),
        (lambda s, t, c: batch(s, t, c, width=max(map(len, t))), "of this batch is enough"),
        (changed_batch(lengths=lambda own: torch.full_like(own["lengths"], own["numbers"].shape[1])), "padding counts"),
        (changed_batch(P=lambda own: ~own["N"]), "a positive of itself"),
        (changed_batch(N=lambda own: ~own["P"]), "a negative of itself"),
        (changed_batch(P=lambda own: own["N"], N=lambda own: own["P"]), "exchanged"),
        (changed_batch(P=lambda own: own["P"].triu()), "one half of P"),
        (changed_batch(P=lambda own: own["P"].triu(), N=lambda own: own["N"].triu()), "one half"),
        (changed_batch(P=lambda own: own["P"].float()), "True and False"),
        (changed_batch(numbers=lambda own: own["numbers"].float()), "whole numbers"),
        (changed_batch(lengths=lambda own: own["lengths"].tolist()), "whole numbers"),
        (changed_batch(numbers=lambda own: own["numbers"].flip(1)), "at (0, 0)"),
        (lambda s, t, c: batch(s, t, np.arange(len(c))), "compare their classes"),
        (lambda s, t, c: batch(s, t, c)[:2], "four things"),
        (changed_batch(P=lambda own: torch.zeros_like(own["P"]), N=lambda own: ~eye(own)), "their classes"),
    ],
    "02.10": [
        (partial(encoded, seen=True), "sees padding"),
        (partial(encoded, length=lambda v: v), "length 1"),
        (partial(encoded, seen=True, length=lambda v: v), "two things"),
        (partial(encoded, length=lambda v: F.normalize(v, dim=0)), "along the sentences"),
        (partial(encoded, length=lambda v: v / (v**2).sum(1, keepdim=True)), "a root"),
        (partial(encoded, cat=lambda s, a: torch.cat([a, s], 1)), "other way round"),
        (partial(encoded, cat=lambda s, a: torch.cat([s, 0 * a], 1)), "the attended sum plays no part"),
        (partial(encoded, cat=lambda s, a: torch.cat([0 * s, a], 1)), "the largest answers play no part"),
        (partial(encoded, pool=lambda answers, lengths: answers.amax(2)), "may stand on padding"),
        (partial(encoded, sum_=lambda x, g, n: x.sum(1) / n[:, None]), "the plain mean"),
        (partial(encoded, sum_=lambda x, g, n: summed(g.softmax(1), x)), "padding has a share"),
        (partial(encoded, pool=lambda answers, lengths: largest(answers.relu(), lengths)), "a relu"),
        (without_learning, "no gradient"),
        (lambda net, numbers, n: encoded(net, numbers, n).tolist(), "a tensor was expected"),
        (lambda net, numbers, n: encoded(net, numbers, torch.full_like(n, numbers.shape[1])),
         "the lengths play no part"),
    ],
    "02.11": [
        (in_order("loss", "ask", "move"), "gradients add up"),
        (in_order("forget", "loss", "ask"), "never moves"),
        (in_order("forget", "loss", "move"), "no gradient is asked for"),
        (in_order("loss", "ask", "forget", "move"), "are forgotten"),
        (in_order("move", "forget", "loss", "ask"), "moves before"),
        (lambda net, _, batch: step(net, torch.optim.SGD(net.parameters(), lr=0.5), batch), "another optimiser's"),
        (twice, "one call makes one step"),
        (loss_after, "after the move"),
        (lambda *given: -step(*given, of=lambda net, batch: -lost(net, batch)), "uphill"),
        (partial(step, of=partial(lost, alpha=2.0, beta=50.0, base=0.5)), "told nothing"),
        (partial(step, of=partial(lost, base=0.5)), "is 0.5 in yours"),
        (partial(step, of=partial(lost, alpha=20.0, beta=2.0)), "α and β are exchanged"),
        (partial(step, of=partial(lost, keep=mined)), "only informative"),
        (partial(step, of=partial(lost, keep=lambda S, P, N: (S, N, P))), "P and N are exchanged"),
        (partial(step, of=lambda net, batch: lost(net, batch) * len(batch[0])), "the sum over anchors"),
        (partial(step, of=partial(lost, encoded=partial(encoded, seen=True))), "are `encoded` (02.10)"),
        (partial(step, of=half_detached), "do not move as the gradients"),
        (lambda net, optimiser, batch: None, "nothing back"),
        (lambda net, optimiser, batch: 0.0, "no gradient is asked for"),
    ],
    "02.12": [
        (partial(epochs, orders=each_epoch(lambda count, seed, at: list(range(count)))), "in the order of the list"),
        (partial(epochs, orders=each_epoch(lambda count, seed, at: next(by_torch(count, seed)))),
         "the same in every epoch"),
        (partial(epochs, orders=each_epoch(lambda count, seed, at: torch.randperm(count).tolist())),
         "the same seed gives another order"),
        (partial(epochs, orders=lambda count, seed: by_torch(count, 0)), "another seed gives the same order"),
        (partial(epochs, orders=lambda count, seed: itertools.chain([list(range(count))], by_torch(count, seed))),
         "the first epoch comes in the order"),
        (partial(epochs, orders=with_return), "drawn with return"),
        (only_batches, "the same pairs are together"),
        (shuffles_the_list, "changes `pairs` itself"),
        (lambda pairs, *rest: epochs(range(len(pairs)), *rest), "the pairs themselves"),
        (lambda *given: epochs(*given[:-1], lambda epoch, loss: None), "`note` is never called"),
        (noting_steps, "after every step"),
        (lambda pairs, size, count, *rest: epochs(pairs, size, count + 1, *rest), "in place of"),
        (lambda pairs, size, count, *rest: epochs(pairs, size, count - 1, *rest), "in place of"),
        (partial(epochs, cut=lambda order, size: chunks(order, size)[: len(order) // size]), "are left out"),
        (partial(epochs, cut=lambda order, size: chunks(order, size + 1)), "`size` is 5"),
        (partial(epochs, cut=lambda order, size: [order]), "`size` is 5"),
        (partial(epochs, cut=lambda order, size: chunks(order, size)[1:]), "not learned from"),
        (partial(epochs, mean=sum), "the sum of the losses"),
        (partial(epochs, mean=lambda found: found[-1]), "the loss of an epoch's last batch"),
        (partial(epochs, first=0), "numbered from 1"),
        (partial(epochs, back=lambda losses: losses[-1]), "one loss comes back"),
        (lambda *_: [], "`learn` is never called"),
    ],
    "02.14": [
        (partial(tuned, by="test"), "chosen on test"),
        (partial(tuned, by="test", says="dev"), "dev and test are exchanged"),
        (partial(tuned, by="train"), "chosen on train"),
        (partial(tuned, says="dev"), "it flatters"),
        (partial(tuned, says="train"), "an AUC on train"),
        (partial(tuned, pick=min), "worst on dev"),
        (lambda *given: tuned(*given)[::-1], "changed places"),
        (lambda values, *rest: (values.index(tuned(values, *rest)[0]), tuned(values, *rest)[1]), "the place of"),
        (lambda values, train, auc: (values[-1], auc(train(values[-1]), "test")), "the last value"),
        (lambda values, train, auc: (max(values), auc(train(max(values)), "test")), "the largest value"),
        (lambda values, train, auc: (tuned(values, train, auc)[0], max(auc(train(v), "test") for v in values)),
         "the best that any network has"),
        (lambda values, train, auc: tuned(values, train, auc)[0], "two things"),
        (lambda values, train, auc: (tuned(values, train, auc)[0], 0.5), "yours is"),
        (lambda values, train, auc: tuned(values, lambda value: value, auc), "what `train` gave back"),
        (partial(tuned, by="valid"), "knows the splits"),
        (all_on_test, "dev has not chosen"),
        (trained_anew, "10 times for 9 values"),
    ],
    "02.13": [
        (lambda rows: True, "every table fair"),
        (lambda rows: False, "no table fair"),
        (lambda rows: not fair(rows), "turned round"),
        (lambda rows: len({row["trials"] for row in rows}) == 1, "alone does not make it fair"),
        (partial(fair, least=0, on=("dev", "test", "nothing")), "does not ask on what"),
        (partial(fair, on=("dev", "test")), "were chosen on test"),
        (partial(fair, least=0), "first guesses"),
        (partial(fair, alike=("encoder", "seeds")), "does not compare the trials"),
        (partial(fair, alike=("trials", "seeds")), "does not compare the encoders"),
        (partial(fair, alike=("trials", "encoder")), "does not compare the seeds"),
        (partial(fair, alike=()), "chosen on dev is not enough"),
        (partial(fair, least=16), "16 trials are one budget"),
        (partial(fair, alike=("encoder", "seeds", "trials", "values")), "no table fair"),
        (lambda rows: fair(rows[:2]), "the first two rows"),
        (lambda rows: fair([rows[0], rows[2]]), "others stand between"),
        (lambda rows: fair(rows, ["encoder", "seeds"]) and rows[0]["trials"] >= rows[2]["trials"],
         "cases of the check"),
        (lambda rows: "fair" if fair(rows) else "unfair", "True or False"),
    ],
}  # fmt: skip


def test_most_mistakes_are_named() -> None:
    named = [judge(LESSON.exercises[key], given).named for key, rows in WRONG.items() for given, _ in rows]
    assert sum(named) / len(named) > 0.9
