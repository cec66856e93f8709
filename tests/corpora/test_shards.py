"""Large files in parts: every row once and in order, wherever files are cut; repeated texts; bad sources."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

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
    shards_in,
    splits_of,
    tables,
    texts_of,
    write_distinct,
    write_texts,
)
from labkit.text import normalise

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


@pytest.mark.parametrize(("group", "rows"), [(1, 9), (7, 10), (10, 52), (100, 1)])
def test_every_row_once_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, rows: int) -> None:
    monkeypatch.setattr(shards, "GROUP", group)
    for path in (parquet_file(tmp_path / "a.parquet", group=group), arrow_file(tmp_path / "a.arrow")):
        parts = parts_of([path], rows=rows)
        read = [list(chain.from_iterable(texts_of(part))) for part in parts]
        assert [len(texts) for texts in read] == [(part.stop or 0) - part.start for part in parts]
        assert max(map(len, read)) <= rows
        assert list(chain.from_iterable(read)) == TEXTS


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_several_files_and_folders_keep_their_order(tmp_path: Path, ending: str) -> None:
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
        parts_of([path], "x")
    (tmp_path / "b.csv").write_text("text\na\n")
    with pytest.raises(ValueError, match="b.csv"):
        parts_of([tmp_path / "b.csv"], tables_only=True)
    (_, second) = parts_of([parquet_file(tmp_path / "c.parquet", ["a", "b", "c", None, "d"], group=2)], rows=3)
    with pytest.raises(ValueError, match="c.parquet.*4"):
        list(texts_of(second))


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), min_size=1, max_size=4))
def test_the_first_of_equal_keys_is_new(files: list[list[str]]) -> None:
    found = first_seen([key_rows(texts) for texts in files])
    seen: set[str] = set()
    for texts, new in zip(files, found, strict=True):
        for text, first in zip(texts, new.tolist(), strict=True):
            assert first == (text not in seen)
            seen.add(text)


# --- repeats ---------------------------------------------------------------------------------------------------------

RANDOM = random.Random(0)
ROWS = [
    {"text": RANDOM.choice(["Ä", "a\u0308", "ä", "b", "B ", "b\u2028", f"rare {n}"]), "number": n, "split": "train"}
    for n in range(150)
]


def written(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    parquet.write_table(arrow.Table.from_pylist(rows), path, row_group_size=33)
    return path


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for path in shards_in(folder) for table in tables(Part(str(path))) for row in table.to_pylist()]


def first_of(rows: list[dict[str, Any]], key: Any) -> list[dict[str, Any]]:
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(key(row), row)
    return list(first.values())


@pytest.mark.parametrize(("size", "plain"), [(20, False), (20, True), (10_000, True)])
def test_the_first_of_equal_texts_is_kept_with_all_its_columns(tmp_path: Path, size: int, plain: bool) -> None:
    made = write_distinct([written(tmp_path / "a.parquet")], tmp_path / "out", plain=plain, size=size)
    wanted = first_of(ROWS, lambda row: normalise(row["text"]) if plain else row["text"])
    assert rows_of(tmp_path / "out") == wanted
    assert made["read"] == len(ROWS)
    assert made["repeats"] == len(ROWS) - len(wanted)
    assert made["splits"] == {"train": len(wanted)}
    assert not (tmp_path / "out" / ".work").exists()


def test_repeated_texts_are_kept_from_the_first_source(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.jsonl"
    one.write_text("text,label\na,1\nb,2\na,3\n")
    two.write_text('{"text": "b", "label": 4}\n{"text": "c", "label": 5}\n')
    write_distinct([one, two], tmp_path / "out")
    assert [(row["text"], row["label"]) for row in rows_of(tmp_path / "out")] == [("a", "1"), ("b", "2"), ("c", "5")]
    write_distinct([two, tmp_path / "out"], tmp_path / "again")
    assert [row["label"] for row in rows_of(tmp_path / "again")] == ["4", "5", "1"]


def test_bad_sources_and_columns_are_refused(tmp_path: Path) -> None:
    path, other = written(tmp_path / "a.parquet"), written(tmp_path / "b.parquet", [{"text": "a", "more": 1}])
    with pytest.raises(ValueError, match=r"b.parquet"):
        write_distinct([path, other], tmp_path / "out")
    with pytest.raises(ValueError, match="column 'text'"):
        write_distinct([written(tmp_path / "c.parquet", [{"text": None}, {"text": "a"}])], tmp_path / "out")
    write_distinct([path], tmp_path / "done")
    with pytest.raises(ValueError, match="plain"):
        write_distinct([path], tmp_path / "done", plain=True)
