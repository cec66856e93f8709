"""Words, vocabulary, padding, buckets: cases by hand, properties by hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.text import PAD, UNKNOWN, Vocabulary, buckets, pad, sentences, tokens, words


def test_words_of_several_scripts() -> None:
    assert words("The café's open!") == ["the", "café's", "open"]
    assert words("ＡＢＣ　Straße") == ["abc", "straße"]  # full-width letters are letters
    assert words("奶茶店 B1") == ["奶", "茶", "店", "b", "1"]
    assert words("서울 약국") == ["서울", "약국"]
    assert words("... !?") == []


def test_tokens_keep_punctuation() -> None:
    assert tokens("No, 1,500 people.") == ["no", ",", "1,500", "people", "."]


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Mr. Hill of St. Ann came. He sat.", ["Mr. Hill of St. Ann came.", "He sat."]),
        ("See Fig. 3 and No. 7. I said No. Then I went.", ["See Fig. 3 and No. 7.", "I said No.", "Then I went."]),
        ("It weighs 3.5 kg. done", ["It weighs 3.5 kg. done"]),
        ("Gov. Hall (b. 1900) ruled ca. 1940. He left.", ["Gov. Hall (b. 1900) ruled ca. 1940.", "He left."]),
        ("Hill et al. 1990 say so, op. cit. 5. It is so.", ["Hill et al. 1990 say so, op. cit. 5.", "It is so."]),
        ("Es war z. B. Köln. Это г. Москва. Да.", ["Es war z. B. Köln.", "Это г. Москва.", "Да."]),
        ("He came at 3 p.m. The bus had left.", ["He came at 3 p.m.", "The bus had left."]),
        ("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"]),
        ("你好。再见！", ["你好。", "再见！"]),
        ("", []),
        ("no end", ["no end"]),
    ],
)  # fmt: skip
def test_sentences(paragraph: str, expected: list[str]) -> None:
    assert sentences(paragraph) == expected


@given(st.text())
def test_sentences_lose_nothing_but_spaces(paragraph: str) -> None:
    assert "".join("".join(sentences(paragraph)).split()) == "".join(paragraph.split())


def test_vocabulary_ranks_by_count_then_alphabet() -> None:
    vocabulary = Vocabulary.of([["b", "a", "c"], ["c", "d"]])
    assert vocabulary.words == (PAD, UNKNOWN, "c", "a", "b", "d")
    assert vocabulary.encode(["c", "nobody", "d"]) == [2, 1, 5]
    assert Vocabulary.of([["b", "a", "c"], ["c"]], least=2).words == (PAD, UNKNOWN, "c")
    assert len(Vocabulary.of([["b", "a", "c"], ["c"]], most=1)) == 3


def test_vocabulary_refuses_what_it_cannot_number() -> None:
    with pytest.raises(ValueError, match="'<PAD>' and '<UNK>' first"):
        Vocabulary(("a", "b"))
    with pytest.raises(ValueError, match="has 'a' twice"):
        Vocabulary((PAD, UNKNOWN, "a", "a"))


def test_pad_fills_and_cuts() -> None:
    assert pad([[3, 4, 5], [6]]).tolist() == [[3, 4, 5], [6, 0, 0]]
    assert pad([[3, 4, 5], [6]], longest=2).tolist() == [[3, 4], [6, 0]]
    assert pad([[]]).tolist() == [[0]]  # never a width of nothing: encoders take a maximum over it
    assert pad([]).shape == (0, 1)


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=400),
    st.integers(1, 40),
    st.integers(0, 5),
)
def test_buckets_hand_out_every_row_once(lengths: list[int], batch: int, seed: int) -> None:
    made = list(buckets(lengths, batch, seed=seed))
    assert sorted(row for rows in made for row in rows) == list(range(len(lengths)))
    assert max(map(len, made)) <= batch
    assert made == list(buckets(lengths, batch, seed=seed))


def test_buckets_pad_less_than_plain_shuffling_and_differ_by_seed() -> None:
    lengths = np.random.default_rng(0).geometric(0.06, size=4000).tolist()

    def padded(batches: list[list[int]]) -> int:
        return sum(len(rows) * max(lengths[row] for row in rows) for rows in batches)

    bucketed = list(buckets(lengths, 64, seed=0))
    shuffled = np.random.default_rng(0).permutation(4000)
    plain = [shuffled[i : i + 64].tolist() for i in range(0, 4000, 64)]
    assert padded(bucketed) < 1.2 * sum(lengths) < padded(plain) / 2
    assert bucketed != list(buckets(lengths, 64, seed=1))
    with pytest.raises(ValueError, match="batch is 0"):
        next(buckets(lengths, 0, seed=0))
