"""Lines of a text, whatever bytes they are of."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import text as lines
from labkit.text import line_blocks


def read(content: bytes) -> list[str]:
    return [text for block, _ in line_blocks(io.BytesIO(content), "t") for text in block]


def test_by_hand() -> None:
    assert read(b"a\n\nb\r\n c \n") == ["a", "", "b", " c "]
    assert read(b"a\rb\n\x0c") == ["a\rb", "\x0c"]  # only a line feed ends a line
    assert read(b"") == []
    assert read(b"\n") == [""]
    assert read(b"\xef\xbb\xbfa\n\xef\xbb\xbfb") == ["a", "\ufeffb"]  # a mark is one at the start only


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), max_size=20)))
def test_what_was_joined_comes_back(texts: list[str]) -> None:
    content = "".join(text + "\n" for text in texts).encode()
    if not content.startswith(b"\xef\xbb\xbf"):
        assert read(content) == texts


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), max_size=20)),
    st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]),
)
def test_what_was_joined_comes_back_from_utf_16(texts: list[str], encoding: str) -> None:
    content = ("\ufeff" + "".join(text + "\n" for text in texts)).encode(encoding)
    assert read(content) == texts
    assert sum(took for _, took in lines.text_lines(io.BytesIO(content), "t")) == (len(content) if texts else 0)


def test_a_line_of_utf_16_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(ValueError, match="t line 1 is longer than"):
        list(line_blocks(io.BytesIO(b"\xff\xfe" + b"\x0a\x0a" * lines.LONGEST), "t"))


def test_blocks_end_by_lines_and_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINES", 3)
    monkeypatch.setattr(lines, "BYTES", 10)
    found = list(line_blocks(io.BytesIO(b"a\nb\nc\nd\n" + b"x" * 20 + b"\ne"), "t"))
    assert found == [(["a", "b", "c"], 6), (["d", "x" * 20], 29), (["e"], 30)]


def test_the_longest_line() -> None:
    assert read(b"x" * lines.LONGEST) == ["x" * lines.LONGEST]
    with pytest.raises(ValueError, match="t line 2 is longer than 1,000,000 bytes"):
        read(b"a\n" + b"x" * (lines.LONGEST + 1))


class Endless(io.RawIOBase):
    """Text without end, made as it is read."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        buffer[:] = b"x" * len(buffer)
        return len(buffer)


def test_a_line_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(ValueError, match="longer than"):
        list(line_blocks(io.BufferedReader(Endless()), "t"))


def test_memory_is_flat() -> None:
    def content() -> Iterator[bytes]:
        yield from (b"%d " % number * 20 + b"\n" for number in range(60_000))

    source = content()

    class Made:
        def readline(self, limit: int) -> bytes:
            return next(source, b"")

    tracemalloc.start()
    try:
        count = sum(len(block) for block, _ in line_blocks(Made(), "t"))  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 60_000
    assert peak < 3_000_000  # all lines together: 10 million
