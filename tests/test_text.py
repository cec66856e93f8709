"""Words, sentences, vocabularies, batches, and the lines of any file."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import text as lines
from labkit.text import PAD, UNKNOWN, Vocabulary, buckets, line_blocks, pad, sentences, words


def test_words_of_several_scripts() -> None:
    assert words("The café's open!") == ["the", "café's", "open"]
    assert words("ＡＢＣ　Straße") == ["abc", "straße"]  # full-width letters are letters
    assert words("奶茶店 B1") == ["奶", "茶", "店", "b", "1"]
    assert words("서울 약국") == ["서울", "약국"]
    assert words("カフェ・バー") == ["カ", "フ", "ェ", "バ", "ー"]  # the dot is in the Katakana block
    assert words("... !?") == []


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
def test_sentences_lose_only_spaces(paragraph: str) -> None:
    assert "".join("".join(sentences(paragraph)).split()) == "".join(paragraph.split())


def test_vocabulary_ranks_by_count_then_alphabet() -> None:
    vocabulary = Vocabulary.of([["b", "a", "c"], ["c", "d"]])
    assert vocabulary.words == (PAD, UNKNOWN, "c", "a", "b", "d")
    assert vocabulary.encode(["c", "nobody", "d"]) == [2, 1, 5]
    assert Vocabulary.of([["b", "a", "c"], ["c"]], min_count=2).words == (PAD, UNKNOWN, "c")
    assert len(Vocabulary.of([["b", "a", "c"], ["c"]], vocab_size=1)) == 3


def test_invalid_vocabularies_are_refused() -> None:
    with pytest.raises(ValueError, match="<PAD>"):
        Vocabulary(("a", "b"))
    with pytest.raises(ValueError, match="'a'"):
        Vocabulary((PAD, UNKNOWN, "a", "a"))


def test_pad_fills_and_cuts() -> None:
    assert pad([[3, 4, 5], [6]]).tolist() == [[3, 4, 5], [6, 0, 0]]
    assert pad([[]]).tolist() == [[0]]  # never of width 0, because encoders take a maximum over it
    assert pad([]).shape == (0, 1)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=400), st.integers(1, 40), st.integers(0, 5))
def test_buckets_have_every_row_once(lengths: list[int], batch: int, seed: int) -> None:
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
    with pytest.raises(ValueError, match="batch"):
        next(buckets(lengths, 0, seed=0))


# --- lines -----------------------------------------------------------------------------------------------------------


def read(content: bytes) -> list[str]:
    return [text for block, _ in line_blocks(io.BytesIO(content), "t") for text in block]


def test_lines_by_hand() -> None:
    assert read(b"a\n\nb\r\n c \n") == ["a", "", "b", " c "]
    assert read(b"a\rb\n\x0c") == ["a\rb", "\x0c"]  # only a line feed ends a line
    assert read(b"") == []
    assert read(b"\n") == [""]
    assert read(b"\xef\xbb\xbfa\n\xef\xbb\xbfb") == ["a", "\ufeffb"]  # a byte order mark only counts at the start


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), max_size=20)),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]),
)
def test_joined_lines_are_split_again(texts: list[str], encoding: str) -> None:
    content = "".join(text + "\n" for text in texts)
    assert read(("\ufeff" + content).encode(encoding)) == texts
    if encoding == "utf-8" and not content.startswith("\ufeff"):
        assert read(content.encode()) == texts


def test_an_endless_line_of_utf_16_is_refused() -> None:
    with pytest.raises(ValueError, match="t.*1"):
        list(line_blocks(io.BytesIO(b"\xff\xfe" + b"\x0a\x0a" * (lines.LONGEST + 1)), "t"))


def test_blocks_are_limited_in_lines_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINES", 3)
    monkeypatch.setattr(lines, "SIZE", 10)
    found = list(line_blocks(io.BytesIO(b"a\nb\nc\nd\n" + b"x" * 20 + b"\ne"), "t"))
    assert found == [(["a", "b", "c"], 6), (["d", "x" * 20], 29), (["e"], 30)]


def test_the_longest_line() -> None:
    assert read(b"x" * lines.LONGEST) == ["x" * lines.LONGEST]
    with pytest.raises(ValueError, match="t.*2"):
        read(b"a\n" + b"x" * (lines.LONGEST + 1))
