"""Greedy and beam search against exhaustive search, over a tiny vocabulary."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from labkit.pthought.network import END, Decoder
from labkit.pthought.writing import Search, Written, beam, greedy

WORDS, DIMENSION, SIZE = 5, 3, 4  # the end, the unknown word, and 2, 3, 4
LONGEST = 4


def decoder(seed: int = 0, sharp: float = 3.0) -> tuple[Decoder, Tensor, Tensor]:
    """A decoder with peaked distributions, word vectors, and three sentence vectors."""
    torch.manual_seed(seed)
    made = Decoder(DIMENSION, SIZE, 6, WORDS).double().eval()
    made.out.weight.data *= sharp
    return made, torch.randn(WORDS, DIMENSION).double(), torch.randn(3, SIZE).double()


def beams(made: Decoder, table: Tensor, vectors: Tensor, search: Search) -> list[list[Written]]:
    return [beam(made, table, vector, search) for vector in vectors]


def log_p(made: Decoder, table: Tensor, vector: Tensor, words: tuple[int, ...]) -> float:
    """The log probability of these words, including the end token if present."""
    state, total = made.first(vector[None]), 0.0
    with torch.no_grad():
        for read, write in zip([END, *words[:-1]], words, strict=True):
            likely, state = made.step(vector[None], table[[read]], state)
            total += likely[0, write].item()
    return total


def everything(
    made: Decoder, table: Tensor, vector: Tensor, search: Search, max_length: int = LONGEST
) -> list[Written]:
    """All finished sentences, best first, then all truncated ones."""
    found = []
    for length in range(max_length + 1):
        for words in itertools.product(range(2, WORDS), repeat=length):
            runs = [words[i : i + search.repeat] for i in range(length - search.repeat + 1)] if search.repeat else []
            if len(set(runs)) < len(runs):
                continue
            ended = length < max_length
            value = log_p(made, table, vector, (*words, END) if ended else words)
            found.append(Written(words, value, value / (length + ended) ** search.power, ended))
    return sorted(found, key=lambda one: (not one.ended, -one.score))


def close(found: list[Written], expected: list[Written]) -> None:
    assert [one.words for one in found] == [one.words for one in expected]
    assert [one.ended for one in found] == [one.ended for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-9)
        assert one.score == pytest.approx(other.score, abs=1e-9)


@pytest.mark.parametrize(("seed", "repeat", "power"), [(0, 0, 0.7), (1, 1, 0.0), (2, 2, 1.5)])
def test_a_wide_beam_equals_exhaustive_search(seed: int, repeat: int, power: float) -> None:
    made, table, vectors = decoder(seed)
    search = Search(width=150, max_length=LONGEST, repeat=repeat, power=power)
    for found, vector in zip(beams(made, table, vectors, search), vectors, strict=True):
        close(found, everything(made, table, vector, search)[:150])


def beam_by_loops(made: Decoder, table: Tensor, vector: Tensor, search: Search) -> list[Written]:
    """Beam search that scores every step of every live sentence and never stops early."""
    live: list[tuple[int, ...]] = [()]
    found = []
    for _ in range(search.max_length):
        steps = sorted(
            ((log_p(made, table, vector, (*words, word)), (*words, word)) for words in live for word in (END, 2, 3, 4)),
            reverse=True,
        )
        ends = [(value, words[:-1]) for value, words in steps[: search.width] if words[-1] == END]
        found += [Written(words, value, value / (len(words) + 1) ** search.power, True) for value, words in ends]
        live = [words for _, words in steps if words[-1] != END][: search.width]
    cut = [(log_p(made, table, vector, words), words) for words in live]
    found += [Written(words, value, value / len(words) ** search.power, False) for value, words in cut]
    return sorted(found, key=lambda one: (not one.ended, -one.score))[: search.width]


@pytest.mark.parametrize(("seed", "sharp", "width"), [(0, 0.5, 2), (7, 0.5, 3), (2, 2.0, 1), (1, 3.0, 2), (6, 3.0, 3)])
def test_a_narrow_beam_against_plain_loops(seed: int, sharp: float, width: int) -> None:
    made, table, vectors = decoder(seed, sharp=sharp)
    search = Search(width=width, max_length=5, repeat=0)
    for found, vector in zip(beams(made, table, vectors, search), vectors, strict=True):
        close(found, beam_by_loops(made, table, vector, search))


@pytest.mark.parametrize("seed", range(2))
def test_greedy_search_against_plain_loops(seed: int) -> None:
    made, table, vectors = decoder(seed)
    search = Search(max_length=LONGEST, repeat=0, power=0.0)
    for found, vector in zip(greedy(made, table, vectors, search), vectors, strict=True):
        words: tuple[int, ...] = ()
        while len(words) < LONGEST and END not in words:
            words = max(((*words, word) for word in (0, 2, 3, 4)), key=lambda each: log_p(made, table, vector, each))
        assert found.words == tuple(word for word in words if word != END)
        assert found.ended == (END in words)
        assert found.log_probability == pytest.approx(log_p(made, table, vector, words), abs=1e-9)


def always(word: int) -> tuple[Decoder, Tensor, Tensor]:
    """A decoder that always prefers this word, then 2, 3, 4 in this order, then the end; with its vectors."""
    made, table, vectors = decoder()
    made.out.weight.data.zero_()
    made.out.bias.data = torch.tensor([0.0, 9.0, 3.0, 2.0, 1.0]).double()
    made.out.bias.data[word] += 20.0
    return made, table, vectors[:1]


def test_max_length_truncates_and_marks_it() -> None:
    search = Search(width=2, max_length=7, repeat=0)
    quick = greedy(*always(2), search)[0]
    assert (quick.words, quick.ended) == ((2,) * 7, False)
    assert quick.log_probability == pytest.approx(0, abs=1e-5)
    found = beams(*always(2), search)[0]
    assert all(len(one.words) < 7 for one in found if one.ended)
    assert {len(one.words) for one in found if not one.ended} <= {7}


def test_the_unknown_word_is_never_written_and_a_sentence_may_be_empty() -> None:
    for written in (greedy(*always(1), Search(max_length=5)), beams(*always(1), Search(max_length=5))[0]):
        assert all(1 not in one.words for one in written)
    (empty,) = greedy(*always(0), Search())
    assert (empty.words, empty.ended, beams(*always(0), Search())[0][0].words) == ((), True, ())


@pytest.mark.parametrize("repeat", [1, 2, 3])
def test_no_ngram_is_repeated(repeat: int) -> None:
    search = Search(width=3, max_length=30, repeat=repeat)
    for written in (greedy(*always(2), search), beams(*always(2), search)[0]):
        for one in written:
            runs = [one.words[i : i + repeat] for i in range(len(one.words) - repeat + 1)]
            assert len(set(runs)) == len(runs)
            assert len(one.words) >= repeat
