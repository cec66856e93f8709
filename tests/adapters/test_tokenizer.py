"""Exported tokenizers against `Reader`, on every assigned Unicode character."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers

from labkit.adapters.parts import tokenizer_of
from labkit.corpora import load
from labkit.text import PAD, UNKNOWN, Vocabulary
from labkit.training.reader import UNITS, Reader, learned_pieces

TRICKY = "aAbBzZ'’-.,:0123٣²½Ⅷ_ \t\n\u00a0\x1c\x85书店アー゠・éé́ßİµſ#<>\u0301\u200d😀\ue000"
CHARACTERS = [
    sign for sign in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(sign) not in ("Cn", "Co", "Cs")
]
NEWER = 100  # maximum number of these that differ because Python and the library use different versions of Unicode


@cache
def both(unit: str) -> tuple[Reader, Tokenizer, list[int]]:
    """A reader, its tokenizer after a round trip through JSON, and the reader's number for each token."""
    texts = [*load("questions").sentences()[:150], *load("places").sentences()[:50], " ".join(TRICKY), TRICKY]
    known = learned_pieces(texts, 800) if unit == "pieces" else Vocabulary.of(map(UNITS[unit], texts))
    reader = Reader(Vocabulary(known.words), unit, max_length=50)
    tokenizer, numbers = tokenizer_of(reader.vocabulary, unit)
    tokenizer.enable_truncation(reader.max_length)
    return reader, Tokenizer.from_str(tokenizer.to_str()), numbers


def read(unit: str, text: str) -> list[int]:
    _, tokenizer, numbers = both(unit)
    return [numbers[token] for token in tokenizer.encode(text).ids]


def test_words_characters_and_pieces() -> None:
    known = Vocabulary((PAD, UNKNOWN, "the", "cat", "c", "a", "t", "##a", "##t"))
    texts = {
        "words": {"The cat, the bird!": [2, 3, 2, 1], "...": [1], "THE": [2], "a-t": [1], "<UNK> <PAD>": [1, 1]},
        "characters": {f"cat {PAD} a": [4, 5, 6, 0, 5], "  ": [1], "x C": [1, 1]},
        "pieces": {"Cat catt": [3, 3, 8], "cx xc ?": [1, 1, 1], "a" * 100: [5, *[7] * 99], "a" * 101: [1], " ": [1]},
    }
    for unit, cases in texts.items():
        tokenizer, numbers = tokenizer_of(known, unit)
        found = {text: [numbers[token] for token in tokenizer.encode(text).ids] for text in cases}
        assert found == cases
        assert found == {text: Reader(known, unit, max_length=200).numbers(text) for text in cases}
        assert tokenizer.get_vocab_size() == len(numbers)


def test_unknown_words_give_no_token_if_not_counted() -> None:
    tokenizer, _ = tokenizer_of(Vocabulary((PAD, UNKNOWN, "the", "cat")), "words", counted=False)
    assert [tokenizer.encode(text).ids for text in ("the bird", "a bird", "...")] == [[2], [], []]


@pytest.mark.parametrize("unit", UNITS)
@given(text=st.lists(st.sampled_from([*TRICKY, PAD, UNKNOWN, "ab", "Mill "]), min_size=1, max_size=30).map("".join))
@example(text="a" * 101)
@example(text="ΑΘΗΝΑΣ ΣΑΣ Σ")
@example(text="don't rock-'n'-roll 3.5,7: 1.")
def test_any_text(unit: str, text: str) -> None:
    assert read(unit, text) == both(unit)[0].numbers(text)


@pytest.mark.whole
@pytest.mark.parametrize("unit", UNITS)
def test_all_characters(unit: str) -> None:
    """Every assigned character, after a letter and alone; unassigned ones behave alike, but take minutes."""
    reader, tokenizer, numbers = both(unit)
    texts = [f"a{sign}b {sign}" for sign in CHARACTERS if sign != "Σ"]
    found = (each.ids for each in tokenizer.encode_batch_fast(texts))
    other = [
        text[1] for text, ids in zip(texts, found, strict=True) if [numbers[id] for id in ids] != reader.numbers(text)
    ]
    assert len(other) <= NEWER
    form = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    assert all(form.normalize_str(sign) != unicodedata.normalize("NFKC", sign).lower() for sign in other)
