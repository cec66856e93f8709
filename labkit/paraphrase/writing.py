"""Sentences written anew, for people to read. In: a model, how it reads, sentences and their vectors. Out: records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from labkit.paraphrase.model import Model
from labkit.paraphrase.search import Generated, Search, beam, greedy
from labkit.paraphrase.vocabulary import Reading


@dataclass(frozen=True)
class Written:
    """One sentence that a decoder wrote; `ended` is false where it was cut."""

    text: str
    log_probability: float
    score: float
    ended: bool


@dataclass(frozen=True)
class Paraphrased:
    """What was made of a sentence: by decoder, the sentences it wrote, the best first.

    `unknown`: words read as the unknown one; `expanded`: words not of training, read through their vectors; `cut`: how
    many words at the end were not read.
    """

    sentence: str
    unknown: tuple[str, ...]
    expanded: tuple[str, ...]
    cut: int
    written: Mapping[str, tuple[Written, ...]]


def write(
    model: Model, reading: Reading, sentences: Sequence[str], vectors: Tensor, search: Search | None
) -> list[Paraphrased]:
    """What every decoder writes from the vectors (n, size): the greedy sentence where there is no search."""
    table = model.encoder.words.table.weight
    made: dict[str, list[list[Generated]]] = {}
    for name in model.decoders:
        if search is None:
            plain = Search(longest=reading.reader.longest)
            made[name] = [[one] for one in greedy(model.decoder(name), table, vectors, plain)]
        else:
            made[name] = beam(model.decoder(name), table, vectors, search)
    return [
        Paraphrased(
            sentence,
            tuple(reading.unknown(sentence)),
            tuple(reading.expanded(sentence)),
            reading.cut(sentence),
            {name: tuple(_spelled(one, reading) for one in found[row]) for name, found in made.items()},
        )
        for row, sentence in enumerate(sentences)
    ]


def described(found: Paraphrased) -> str:
    """All of it as lines."""
    lines = [found.sentence]
    if found.unknown:
        lines.append(f"  not known, read as the unknown word: {', '.join(found.unknown)}")
    if found.expanded:
        lines.append(f"  not of training, read through their vectors: {', '.join(found.expanded)}")
    if found.cut:
        lines.append(f"  not read: the last {found.cut} words")
    for name, sentences in found.written.items():
        for place, one in enumerate(sentences):
            label = name if place == 0 else ""
            lines.append(f"  {label:10}  {one.log_probability:7.2f}  {one.text}{'' if one.ended else ' ...'}")
    return "\n".join(lines)


def _spelled(found: Generated, reading: Reading) -> Written:
    words = reading.reader.vocabulary.words
    text = " ".join(words[number] for number in found.words)
    return Written(text, found.log_probability, found.score, found.ended)
