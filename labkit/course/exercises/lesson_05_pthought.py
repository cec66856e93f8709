"""Notebook 05: two decoders, your own training code, and P-coherence."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from labkit.arrays import unit
from labkit.course.exercise import Unfit, Unnamed, array, check, find_mistake, number, several
from labkit.course.exercises.draws import in_classes, lengths_of, tensor
from labkit.course.exercises.lesson_02_sentpwnet import learnable
from labkit.evaluation import p_coherence
from labkit.training.encoders import inside

WORDS, D, HIDDEN = 9, 3, 4  # of a tiny network: words, the size of their vectors, and of v
PATIENCE = 10_000  # steps of a decoder, which end an infinite loop
Batch: TypeAlias = tuple[Tensor, Tensor]


def _network(random: np.random.Generator, steep: float = 2.0) -> nn.ModuleDict:
    """A network with the notebook's parts, and logits that are far apart."""
    with torch.random.fork_rng():
        torch.manual_seed(int(random.integers(2**31)))
        parts: dict[str, nn.Module] = {
            "words": nn.Embedding(WORDS, D),
            "encoder": nn.GRU(D, HIDDEN // 2, batch_first=True, bidirectional=True),
        }
        for decoder in ("copy", "paraphrase"):
            parts[decoder] = nn.GRU(D + HIDDEN, HIDDEN, batch_first=True)
            parts[f"{decoder} word"] = word = nn.Linear(HIDDEN, WORDS)
            word.weight.data *= steep
    return nn.ModuleDict(parts)


def _sentences(random: np.random.Generator, n: int, longest: int) -> Batch:
    lengths = lengths_of(random, n, longest)
    return torch.from_numpy(random.integers(1, WORDS, (n, longest))) * inside(lengths, longest), lengths


def _paid(
    net: Any,
    decoder: str,
    v: Tensor,
    numbers: Tensor,
    lengths: Tensor,
    *,
    ahead: bool = False,
    blank: bool = False,
    last: int = 0,
    every: bool = False,
    mean: Callable[[Tensor], Tensor] = torch.mean,
) -> Tensor:
    """The mean of -log p; each keyword argument is a mistake."""
    ends = torch.zeros(len(numbers), 1, dtype=torch.long)
    read, write = torch.cat([ends, numbers], 1), torch.cat([numbers, ends], 1)
    x = net["words"](write if ahead else read)
    x = torch.cat([x, v[:, None].expand(-1, x.shape[1], -1)], 2)
    states, _ = net[decoder](x, None if blank else v[None])
    log_p = net[f"{decoder} word"](states).log_softmax(2).gather(2, write[:, :, None])[:, :, 0]
    counted = torch.arange(write.shape[1]) <= lengths[:, None] + last
    return -mean(log_p[counted | every])


@check("05.1")
def check_paid(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean of -log p over the words to write and one end per sentence."""
    cases = [
        (_network(random), decoder, tensor(random, n, HIDDEN).float(), *_sentences(random, n, longest))
        for decoder, n, longest in (("copy", 3, 5), ("paraphrase", 5, 4), ("copy", 4, 7))
    ]

    def wrong(**how: Any) -> Callable[..., Any]:
        return lambda net, decoder, v, numbers, lengths: _paid(net, decoder, v, numbers, lengths, **how)

    mistakes = (
        (wrong(every=True), "padding is counted: count the words of each sentence and one end"),
        (wrong(last=-1), "the end is missing: a sentence of n words has n + 1 steps, `<=` and not `<`"),
        (wrong(ahead=True), "your decoder reads the word that it should write: what it reads begins with a 0"),
        (wrong(blank=True), "v must be the decoder's first state, too: `net[decoder](x, v[None])`"),
        (wrong(mean=torch.sum), "that is the sum: return the mean"),
    )
    complaint = find_mistake(answer, wrong(), cases, mistakes, read=learnable)
    if complaint is None and not answer(*cases[0]).requires_grad:
        return "the numbers are right, but no gradient comes through them: use tensors in every step"
    return complaint


def _step(*, turned: bool = False, other_way: bool = False, forgets: bool = True, moves: bool = True) -> Any:
    """A step of training; each argument is a mistake."""

    def step(net: Any, optimiser: Any, sentence: Batch, other: Batch, emphasis: float) -> tuple[float, float]:
        if forgets:
            optimiser.zero_grad()
        x = pack_padded_sequence(net["words"](sentence[0]), sentence[1], batch_first=True, enforce_sorted=False)
        v = torch.cat([*net["encoder"](x)[1]], 1)
        targets = (other, sentence) if turned else (sentence, other)
        copy, para = (
            _paid(net, decoder, v, *each) for decoder, each in zip(("copy", "paraphrase"), targets, strict=True)
        )
        emphasis = -emphasis if other_way else emphasis
        ((1 - emphasis) * copy + (1 + emphasis) * para).backward()
        if moves:
            optimiser.step()
        return copy.item(), para.item()

    return step


def _walk(step: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """The losses of some steps, and the parameters afterwards."""
    read = several(2, number, "expected two numbers, as in `return copy.item(), para.item()`")

    def walked(net: nn.ModuleDict, batches: list[tuple[Batch, Batch]], emphasis: float) -> np.ndarray:
        optimiser = torch.optim.SGD(net.parameters(), lr=0.3)
        losses = [read(step(net, optimiser, *both, emphasis)) for both in batches]
        return np.concatenate([np.ravel(losses), *(each.detach().numpy().ravel() for each in net.parameters())])

    return walked


@check("05.2")
def check_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """zero_grad, eq. 10, backward, step."""
    cases = [
        (_network(random), [(_sentences(random, 4, 5), _sentences(random, 4, 6)) for _ in range(3)], emphasis)
        for emphasis in (0.5, -0.3, 0.8)
    ]
    mistakes = (
        (_walk(_step(other_way=True)), "the paraphrase must count more: swap the two factors"),
        (_walk(_step(turned=True)), "yours are swapped: the copy decoder writes `sentence`, the other one `other`"),
        (_walk(_step(forgets=False)), "gradients add up from step to step: begin with `optimiser.zero_grad()`"),
        (_walk(_step(moves=False)), "the network never moves: `optimiser.step()` is missing"),
        (_walk(lambda *given: _step()(*given)[::-1]), "return the loss of the copy first, then that of the paraphrase"),
    )
    complaint = find_mistake(_walk(answer), _walk(_step()), cases, mistakes, tolerance=1e-4)
    if complaint is None or complaint in {says for *_, says in mistakes}:
        return complaint
    return Unnamed(
        "the losses, or the parameters after some steps, are not those of eq. 10: take both losses from `paid` "
        "(05.1), before the move, with the same v, and call `backward` once, on L"
    )


def _written(
    net: Any,
    decoder: str,
    v: Tensor,
    longest: int,
    *,
    pick: Callable[[Tensor], Tensor] = torch.argmax,
    end: bool = False,
    forget: bool = False,
    blind: bool = False,
) -> list[int]:
    """Greedy decoding; each keyword argument is a mistake."""
    words: list[int] = []
    word, state = 0, v[None]
    for _ in range(longest):
        read = net["words"](torch.tensor([[0 if blind else word]]))
        out, after = net[decoder](torch.cat([read, v[:, None]], 2), state)
        state = state if forget else after
        word = int(pick(net[f"{decoder} word"](out)))
        if word == 0:
            return [*words, 0] if end else words
        words.append(word)
    return words


def _sentence(answer: Any) -> np.ndarray:
    """The word numbers as one text, so that two sentences can be compared side by side."""
    if isinstance(answer, str) or np.ndim(array(answer)) != 1 or (array(answer) % 1).any():
        raise Unfit("expected a list of word numbers, such as [4, 7, 2]")
    return np.asarray(" ".join(f"{number:.0f}" for number in array(answer)) or "no word")


def _speaker(random: np.random.Generator, low: int, high: int, longest: int) -> tuple[Any, ...]:
    """A case whose right sentence has from `low` to `high` words, several of them different."""
    while True:
        case = _network(random, steep=9.0), "copy", tensor(random, 1, HIDDEN).float(), longest
        words = _written(*case)
        if low <= len(words) <= high and len(set(words)) > 2:
            return case


@check("05.3")
def check_write(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The likeliest word, read next, until the end or `longest`."""
    cases = [_speaker(random, 3, 11, 12), _speaker(random, 3, 11, 12), _speaker(random, 7, 7, 7)]
    for net, *_ in cases:
        net["copy"].register_forward_pre_hook(_impatient)
    if len({str(_sentence(answer(*cases[0]))) for _ in range(3)}) > 1:
        return "yours writes another sentence the second time: do not draw at random, take the likeliest word"

    def wrong(**how: Any) -> Callable[..., Any]:
        return lambda net, decoder, v, longest: _written(net, decoder, v, longest, **how)

    mistakes = (
        (wrong(end=True), "word 0 is the end: leave it out of the list"),
        (wrong(forget=True), "the state must change: give the decoder the state that it returned last"),
        (wrong(blind=True), "yours reads the beginning, 0, at every step: read the word that it has just written"),
        (lambda *case: _written(*case)[:-1], "the last word is missing"),
        (wrong(pick=torch.argmin), "that is the least likely word: take the largest number"),
    )
    return find_mistake(answer, wrong(), cases, mistakes, read=_sentence)


_calls = count()


def _impatient(decoder: nn.Module, given: Any) -> None:
    if next(_calls) % PATIENCE == PATIENCE - 1:
        raise Unfit("your loop never stops: a sentence that does not end is cut after `longest` words")


@check("05.4")
def check_coherence(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean cosine over the pairs of a group, then over groups; and over the pairs of different groups."""
    cases = []
    for sizes, names, d in (((2, 3, 4), (2, 0, 1), 4), ((3, 6), ("sea", "hill"), 3), ((2, 4, 2, 5), (7, 3, 5, 4), 6)):
        rows, groups = in_classes(random, sizes, d)
        cases.append(((rows + 0.4) * random.uniform(0.3, 3, (len(rows), 1)), np.array(names)[groups]))

    def by(
        groupwise: Callable[[Any], Any] = lambda own: own[np.triu_indices(len(own), 1)].mean(),
        table: Callable[[Any], Any] = lambda v: unit(v) @ unit(v).T,
        pooled: bool = False,
        strangers: Callable[[Any], Any] = lambda same: ~same,
    ) -> Callable[..., Any]:
        def both(vectors: Any, groups: Any) -> Any:
            S, same = table(vectors), groups[:, None] == groups
            means = [groupwise(S[np.ix_(groups == name, groups == name)]) for name in np.unique(groups)]
            within = S[same & ~np.eye(len(S), dtype=bool)].mean() if pooled else np.mean(means)
            return within, S[strangers(same)].mean()

        return both

    def right(vectors: Any, groups: Any) -> Any:
        found = p_coherence(vectors, groups.tolist())
        return found.within, found.between

    mistakes = (
        (by(np.mean), by(lambda own: own[np.triu_indices(len(own))].mean()),
         "yours pairs a sentence with itself, where the cosine is 1: use pairs of two sentences"),
        (by(table=lambda v: v @ v.T), "those are dot products: first divide each row by its length"),
        (by(pooled=True), "yours is the mean over all pairs, and large groups count more: take means of groups first"),
        (by(strangers=np.ones_like), "between groups, only pairs of two different groups count; yours has all pairs"),
        (lambda *case: right(*case)[::-1], "within groups comes first, then between groups"),
    )  # fmt: skip
    return find_mistake(
        answer, right, cases, mistakes, read=several(2, number, "expected two numbers: `return within, between`")
    )


@check("05.5")
def check_fooled(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The smallest t of 0, 0.01, ... whose mixture with the mean's direction reaches the goal."""
    cases = []
    for sizes, d, goal in (((3, 4, 2), 4, 0.9), ((5, 2), 6, 0.8), ((2, 2, 3), 3, 0.97)):
        rows, groups = in_classes(random, sizes, d)
        cases.append(((rows + 0.2) * random.uniform(0.3, 3, (len(rows), 1)), groups, goal))

    def by(
        rows_of: Callable[[Any], Any] = unit,
        length: Callable[[Any], Any] = np.linalg.norm,
        which: str = "within",
        given: Callable[[Any], Any] = lambda mixed: mixed,
        turned: bool = False,
    ) -> Callable[..., Any]:
        def found(vectors: Any, groups: Any, goal: float) -> Any:
            rows = rows_of(vectors)
            c = rows.mean(0) / length(rows.mean(0))
            for t in np.arange(101) / 100:
                share = 1 - t if turned else t
                mixed = (1 - share) * rows + share * c
                if getattr(p_coherence(mixed, groups), which) >= goal:
                    return t, given(mixed)
            return 1.0, given(mixed)

        return found

    def right(vectors: Any, groups: Any, goal: float) -> Any:
        return by()(vectors, groups, goal)

    mistakes = (
        (by(rows_of=np.asarray), "first divide each row by its length: a long one would move less"),
        (by(length=lambda mean: 1.0), "c is a direction: divide the mean of the rows by its length"),
        (by(which="between"), "the goal is for the cosine within groups, the first number of `coherence`"),
        (by(given=unit), "return the mixture as it is, without dividing it by its length again"),
        (by(turned=True), "the shares are swapped: t is the share of c"),
    )
    read = several(2, array, "expected two things, as in `return t, mixed`")
    return find_mistake(answer, right, cases, mistakes, read=read)
