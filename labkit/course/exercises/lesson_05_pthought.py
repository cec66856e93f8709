"""Notebook 05: two decoders, your own training code, and P-coherence."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
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
    compared,
    exercise,
    learnable,
    number,
    several,
    solution,
)
from labkit.course.exercises.draws import in_classes, lengths_of, tensor
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


@check("05.1")
def check_paid(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean of -log p over the words to write and one end per sentence."""
    cases: list[tuple[Any, ...]] = [
        (_network(random), decoder, tensor(random, n, HIDDEN).float(), *_sentences(random, n, longest))
        for decoder, n, longest in (("copy", 3, 5), ("paraphrase", 5, 4), ("copy", 4, 7))
    ]
    complaint = compared(
        "05.1", answer, cases,
        ("right[counted]", "right", "padding is counted: count the words of each sentence plus one end"),
        ("<= lengths", "< lengths",
         "the end is missing: a sentence of n words has n + 1 steps, so use `<=`, not `<`"),
        ('net["words"](read)', 'net["words"](write)',
         "your decoder reads the word that it should write: its input must begin with a 0"),
        ("(x, v[None])", "(x)", "v must be the decoder's first state, too: `net[decoder](x, v[None])`"),
        (".mean()", ".sum()", "that is the sum: return the mean"),
        read=learnable,
    )  # fmt: skip
    return complaint or blocked(answer(*cases[0]), cases[0][0]["words"].weight)


def _walk(step: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """The losses of some steps, and the parameters afterwards."""
    read = several("expected two numbers, as in `return copy.item(), para.item()`", number, number)

    def walked(net: nn.ModuleDict, batches: list[tuple[Batch, Batch]], emphasis: float) -> np.ndarray:
        optimiser = torch.optim.SGD(net.parameters(), lr=0.3)
        losses = [read(step(net, optimiser, *both, emphasis)) for both in batches]
        return np.concatenate([np.ravel(losses), *(each.detach().numpy().ravel() for each in net.parameters())])

    return walked


@exercise(
    "05.2",
    ("(1 - emphasis) * copy + (1 + emphasis)", "(1 + emphasis) * copy + (1 - emphasis)",
     "the paraphrase must count more: swap the two factors"),
    ('v, *sentence)\n    para = paid(net, "paraphrase", v, *other)',
     'v, *other)\n    para = paid(net, "paraphrase", v, *sentence)',
     "the targets are swapped: the copy decoder writes `sentence`, the other one `other`"),
    ("    optimiser.zero_grad()\n", "", "gradients add up from step to step: begin with `optimiser.zero_grad()`"),
    ("    optimiser.step()\n", "", "the network never moves: `optimiser.step()` is missing"),
    ("copy.item(), para.item()", "para.item(), copy.item()",
     "return the loss of the copy first, then that of the paraphrase"),
    through=_walk,
    otherwise="the losses, or the parameters after some steps, are not those of eq. 10: take both losses from `paid` "
    "(05.1), before the step, with the same v, and call `backward` once, on L",
    tolerance=1e-4,
)  # fmt: skip
def batches(random: np.random.Generator) -> Cases:
    for emphasis in (0.5, -0.3, 0.8):
        yield _network(random), [(_sentences(random, 4, 5), _sentences(random, 4, 6)) for _ in range(3)], emphasis


def _sentence(answer: Any) -> np.ndarray:
    """The word numbers as one text, so that two sentences can be compared side by side."""
    if isinstance(answer, str) or np.ndim(array(answer)) != 1 or (array(answer) % 1).any():
        raise Unfit("expected a list of word numbers, such as [4, 7, 2]")
    return np.asarray(" ".join(f"{number:.0f}" for number in array(answer)) or "no word")


def _speaker(random: np.random.Generator, low: int, high: int, longest: int) -> tuple[Any, ...]:
    """A case whose correct sentence has from `low` to `high` words, several of them different."""
    while True:
        case = _network(random, steep=9.0), "copy", tensor(random, 1, HIDDEN).float(), longest
        words = solution("05.3")(*case)
        if low <= len(words) <= high and len(set(words)) > 2:
            return case


@check("05.3")
def check_write(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The likeliest word at each step, which is read next, until the end or `longest`."""
    cases = [_speaker(random, 3, 11, 12), _speaker(random, 3, 11, 12), _speaker(random, 7, 7, 7)]
    for net, *_ in cases:
        net["copy"].register_forward_pre_hook(_impatient)
    if len({str(_sentence(answer(*cases[0]))) for _ in range(3)}) > 1:
        return (
            "your function writes a different sentence the second time: take the likeliest word instead of drawing at "
            "random"
        )
    return compared(
        "05.3", answer, cases,
        ("if word.item() == 0:\n            break\n        found.append(int(word))",
         "found.append(int(word))\n        if word.item() == 0:\n            break",
         "word 0 is the end: leave it out of the list"),
        ("out, state =", "out, _ =", "the state must change: give the decoder the state that it returned last"),
        ('net["words"](word)', 'net["words"](0 * word)',
         "your decoder reads the start, 0, at every step: let it read the word that it has just written"),
        ("return found", "return found[:-1]", "the last word is missing"),
        (".argmax", ".argmin", "that is the least likely word: take the largest number"),
        read=_sentence,
    )  # fmt: skip


_calls = count()


def _impatient(decoder: nn.Module, given: Any) -> None:
    if next(_calls) % PATIENCE == PATIENCE - 1:
        raise Unfit("your loop never stops: if a sentence does not end, cut it off after `longest` words")


@exercise(
    "05.4",
    ("own[np.triu_indices(len(own), 1)]", "own", "own[np.triu_indices(len(own))]",
     "you pair a sentence with itself, where the cosine is 1: use pairs of two sentences"),
    (" / np.linalg.norm(vectors, axis=1, keepdims=True)", "",
     "those are dot products: first divide each row by its length"),
    ("np.mean(means)", "(S * (groups[:, None] == groups) - np.diag(S.diagonal())).sum() / "
     "((groups[:, None] == groups).sum() - len(S))",
     "that is the mean over all pairs, where large groups count more: first take the mean of each group"),
    ("S[groups[:, None] != groups]", "S",
     "between groups, only pairs of two different groups count; you use all pairs"),
    ("within, between", "between, within", "within groups comes first, then between groups"),
    read=several("expected two numbers: `return within, between`", number, number),
)  # fmt: skip
def grouped(random: np.random.Generator) -> Cases:
    for sizes, names, d in (((2, 3, 4), (2, 0, 1), 4), ((3, 6), ("sea", "hill"), 3), ((2, 4, 2, 5), (7, 3, 5, 4), 6)):
        rows, groups = in_classes(random, sizes, d)
        yield (rows + 0.4) * random.uniform(0.3, 3, (len(rows), 1)), np.array(names)[groups]


@exercise(
    "05.5",
    (" / np.linalg.norm(vectors, axis=1, keepdims=True)", "",
     "first divide each row by its length: a long row would move less"),
    ("    c = c / np.linalg.norm(c)\n", "", "c is a direction: divide the mean of the rows by its length"),
    ("if within", "if between", "the goal refers to the cosine within groups, the first number of `coherence`"),
    ("return t, mixed", "return t, mixed / np.linalg.norm(mixed, axis=1, keepdims=True)",
     "return the mixture itself, without dividing it by its length again"),
    ("(1 - t) * rows + t * c", "t * rows + (1 - t) * c", "the shares are swapped: t is the share of c"),
    read=several("expected two things, as in `return t, mixed`", array, array),
)  # fmt: skip
def goals(random: np.random.Generator) -> Cases:
    for sizes, d, goal in (((3, 4, 2), 4, 0.9), ((5, 2), 6, 0.8), ((2, 2, 3), 3, 0.97)):
        rows, groups = in_classes(random, sizes, d)
        yield (rows + 0.2) * random.uniform(0.3, 3, (len(rows), 1)), groups, goal
