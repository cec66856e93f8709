"""Rows of large files in parts: every row once and in order, however files are cut; mistakes are one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import scale
from labkit.corpora import shards
from labkit.corpora.shards import (
    Part,
    first_seen,
    key_rows,
    parts_of,
    schema_of,
    splits_of,
    tables,
    texts_of,
    write_texts,
)

TEXTS = [f"sentence {number}" for number in range(53)]


def parquet_file(path: Path, texts: Sequence[str | None] = TEXTS, *, group: int = 10) -> Path:
    parquet.write_table(arrow.table({"text": texts, "number": range(len(texts))}), path, row_group_size=group)
    return path


def arrow_file(path: Path) -> Path:
    write_texts(({"text": text} for text in TEXTS), path, ("text",))
    return path


def folder(path: Path, ending: str, size: int = 20) -> Path:
    scale.folder(path, {"kind": "test"})
    cut = [TEXTS[start : start + size] for start in range(0, len(TEXTS), size)]
    scale.each(_write, {scale.part(path, number, ending): texts for number, texts in enumerate(cut)})
    scale.finish(path, {"kind": "test"})
    return path


def _write(texts: list[str], path: Path) -> None:
    write_texts([{"text": text, "split": "train"} for text in texts], path, ("text", "split"))


@pytest.mark.parametrize(("group", "rows"), [(1, 9), (7, 10), (10, 10), (10, 52), (100, 1), (7, 1000)])
def test_every_row_once_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, rows: int) -> None:
    monkeypatch.setattr(shards, "GROUP", group)
    for path in (parquet_file(tmp_path / "a.parquet", group=group), arrow_file(tmp_path / "a.arrow")):
        parts = parts_of([path], rows=rows)
        read = [list(chain.from_iterable(texts_of(part))) for part in parts]
        assert [len(texts) for texts in read] == [(part.stop or 0) - part.start for part in parts]
        assert max(map(len, read)) <= rows
        assert list(chain.from_iterable(read)) == TEXTS


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_several_files_and_folders_come_in_their_order(tmp_path: Path, ending: str) -> None:
    (tmp_path / "b.csv").write_text('text,number\n"one, two",1\nthree,2\n')
    (tmp_path / "c.jsonl").write_text('{"text": "x", "number": 3}\n')
    (tmp_path / "d.txt").write_text("a line\n")
    sources = [folder(tmp_path / "folder", ending), *(tmp_path / name for name in ("b.csv", "c.jsonl", "d.txt"))]
    parts = parts_of(sources, rows=15)
    read = list(chain.from_iterable(chain.from_iterable(map(texts_of, parts))))
    assert read == [*TEXTS, "one, two", "three", "x", "a line"]
    assert [table.to_pylist() for table in tables(parts[-2])] == [[{"text": "x", "number": "3"}]]
    assert schema_of(tmp_path / "b.csv").names == ["text", "number"]
    assert splits_of(shards.files_of(sources[:1])) == {"train": 53}


def test_texts_of_several_columns_are_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"a": ["1", "2"], "b": ["3", "4"]}), path)
    (part,) = parts_of([path], ["b", "a"])
    assert list(texts_of(part, ["b", "a"])) == [["3", "1", "4", "2"]]


def test_a_row_without_a_text_is_named(tmp_path: Path) -> None:
    path = parquet_file(tmp_path / "a.parquet", ["a", "b", "c", None, "d"], group=2)
    (_, second) = parts_of([path], rows=3)
    with pytest.raises(ValueError, match="a.parquet.*4"):
        list(texts_of(second))


def test_hostile_sources(tmp_path: Path) -> None:
    nothing, numbers, broken = (tmp_path / name for name in ("none.parquet", "numbers.parquet", "broken.parquet"))
    parquet.write_table(arrow.table({"text": arrow.array([], arrow.string())}), nothing)
    parquet.write_table(arrow.table({"text": [1, 2]}), numbers)
    broken.write_bytes(b"PAR1 this is none")
    (tmp_path / "broken.arrow").write_bytes(b"ARROW1 this is none")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "plain").mkdir()
    parquet_file(tmp_path / "plain" / "a.parquet")
    bad = [tmp_path / name for name in ("broken.arrow", "gone.parquet", "empty.csv", "plain")]
    for source in (nothing, numbers, broken, *bad):
        with pytest.raises(ValueError, match=source.name):
            parts_of([source])
    path = parquet_file(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="a.parquet has no column 'x'"):
        parts_of([path], ["x"])
    (tmp_path / "b.csv").write_text("text\na\n")
    with pytest.raises(ValueError, match="b.csv"):
        parts_of([tmp_path / "b.csv"], tables_only=True)
    with pytest.raises(ValueError, match="rows.*0"):
        parts_of([path], rows=0)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), min_size=1, max_size=4), st.integers(1, 40))
def test_the_first_of_equal_keys_is_new(files: list[list[str]], compared: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "COMPARED", compared)
        found = first_seen([key_rows(texts) for texts in files])
    seen: set[str] = set()
    for texts, new in zip(files, found, strict=True):
        for text, first in zip(texts, new.tolist(), strict=True):
            assert first == (text not in seen)
            seen.add(text)


def test_a_part_is_read_to_its_end_where_it_has_none(tmp_path: Path) -> None:
    for path in (parquet_file(tmp_path / "a.parquet"), arrow_file(tmp_path / "a.arrow")):
        assert sum(map(len, tables(Part(str(path), 50)))) == 3
        assert np.concatenate([table["text"].to_numpy() for table in tables(Part(str(path)))]).tolist() == TEXTS
