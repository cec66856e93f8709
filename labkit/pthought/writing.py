"""Write sentences from vectors, greedily or with beam search.

The unknown word is never written, nor is a run of `repeat` words that the sentence already contains, because decoders
tend to loop. A sentence longer than `max_length` words is truncated and marked. Sentences are ranked by `log p /
tokens^power`; plain log p (power 0) favours short ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.pthought.network import END, Decoder

# --- search ------------------------------------------------------------------------------------------------------

UNKNOWN_WORD = 1  # the number of the unknown word


@dataclass(frozen=True)
class Search:
    """The limits and the ranking of a search."""

    width: int = 5
    max_length: int = 50
    repeat: int = 3  # a run of this many words may not repeat; 0: no limit
    power: float = 0.7

    def __post_init__(self) -> None:
        if self.width < 1 or self.max_length < 1 or self.repeat < 0 or self.power < 0:
            raise ValueError(
                f"{self} is not a valid search: width and max_length must be at least 1, repeat and power at least 0"
            )

    def score(self, log_p: float, tokens: int) -> float:
        """The ranking score of a sentence; its end counts as a token."""
        return log_p / tokens**self.power


@dataclass(frozen=True)
class Written:
    """One sentence that a decoder wrote, as word numbers without the end; `ended` is false if it was truncated."""

    words: tuple[int, ...]
    log_probability: float
    score: float
    ended: bool
    text: str = ""


@torch.inference_mode()
def greedy(decoder: Decoder, table: Tensor, vectors: Tensor, search: Search) -> list[Written]:
    """One sentence for each vector; `table` (words, d) holds the word vectors."""
    state, read = decoder.first(vectors), torch.full((len(vectors),), END, device=vectors.device)  # (n, hidden), (n,)
    written: list[list[int]] = [[] for _ in vectors]
    log_p, ended = [0.0] * len(written), [False] * len(written)
    for _ in range(search.max_length):
        likely, state = decoder.step(vectors, table[read], state)
        _forbid(likely, written, search.repeat)  # (n, words)
        best, read = likely.max(1)  # (n,) each
        for row, (value, word) in enumerate(zip(best.tolist(), read.tolist(), strict=True)):
            if not ended[row]:
                log_p[row] += value
                ended[row] = word == END
                if word != END:
                    written[row].append(word)
        if all(ended):
            break
    return [_written(*each, search) for each in zip(written, log_p, ended, strict=True)]


@torch.inference_mode()
def beam(decoder: Decoder, table: Tensor, vector: Tensor, search: Search) -> list[Written]:
    """Up to `width` sentences for one vector (size,), the best first; truncated sentences come last.

    Every step reads the last word of each beginning, and keeps the most likely continuations.
    """
    begun: list[tuple[int, ...]] = [()]
    log_p, ended = [0.0], list[Written]()
    state = decoder.first(vector[None])  # (beginnings, hidden)
    for _ in range(search.max_length):
        read = torch.tensor([words[-1] if words else END for words in begun], device=vector.device)  # (beginnings,)
        likely, state = decoder.step(vector.expand(len(begun), -1), table[read], state)  # (beginnings, words)
        _forbid(likely, begun, search.repeat)
        totals = torch.tensor(log_p, dtype=torch.float64)[:, None] + likely.double().cpu()
        # a beginning can end in only one way, so at least `width` of twice as many candidates continue
        values, places = totals.flatten().topk(min(2 * search.width, totals.numel()))
        steps = [
            (value, *divmod(place, totals.shape[1]))  # log p, the beginning, the word
            for value, place in zip(values.tolist(), places.tolist(), strict=True)
            if value > -math.inf
        ]
        ended += [
            _written(begun[row], value, True, search) for value, row, word in steps[: search.width] if word == END
        ]
        steps = [step for step in steps if step[2] != END][: search.width]
        begun, log_p = [(*begun[row], word) for _, row, word in steps], [value for value, _, _ in steps]
        if not steps or _settled(ended, log_p[0], search):
            break
        state = state[[row for _, row, _ in steps]]
    cut = [_written(words, value, False, search) for words, value in zip(begun, log_p, strict=True)]
    found = ended + [one for one in cut if len(one.words) == search.max_length]
    return sorted(found, key=lambda one: (not one.ended, -one.score))[: search.width]


def _forbid(likely: Tensor, begun: Sequence[Sequence[int]], repeat: int) -> None:
    """Set log p to -inf, in place, for the unknown word and words that would complete a run of `repeat` words again."""
    likely[:, UNKNOWN_WORD] = -math.inf
    for row, words in enumerate(begun if repeat else ()):
        tail = words[len(words) - repeat + 1 :]
        ends = range(repeat - 1, len(words))
        likely[row, [words[end] for end in ends if words[end - repeat + 1 : end] == tail]] = -math.inf


def _settled(ended: Sequence[Written], live: float, search: Search) -> bool:
    """Whether no beginning can still beat the best: its log p can only fall, and is divided by the longest length."""
    best = sorted((one.score for one in ended), reverse=True)[: search.width]
    return len(best) == search.width and search.score(live, search.max_length) <= best[-1]


def _written(words: Sequence[int], log_p: float, ended: bool, search: Search) -> Written:
    return Written(tuple(words), log_p, search.score(log_p, len(words) + ended), ended)


# --- writing -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paraphrased:
    """The sentences that each decoder wrote for one sentence, best first.

    `unknown`: words read as the unknown word; `expanded`: words outside the training data, read through their vectors;
    `cut`: the number of words at the end that were not read.
    """

    sentence: str
    unknown: tuple[str, ...]
    expanded: tuple[str, ...]
    cut: int
    written: Mapping[str, tuple[Written, ...]]


def described(paraphrased: Paraphrased) -> str:
    """Describe the paraphrases of one sentence in lines of text."""
    lines = [paraphrased.sentence]
    if paraphrased.unknown:
        lines.append(f"  unknown words: {', '.join(paraphrased.unknown)}")
    if paraphrased.expanded:
        lines.append(f" not in the training data, read through their vectors: {', '.join(paraphrased.expanded)}")
    if paraphrased.cut:
        lines.append(f"  not read: the last {paraphrased.cut} words")
    for name, sentences in paraphrased.written.items():
        for place, one in enumerate(sentences):
            label = name if place == 0 else ""
            lines.append(f"  {label:10}  {one.log_probability:7.2f}  {one.text}{'' if one.ended else ' ...'}")
    return "\n".join(lines)
