"""Rows of large files in stretches: every row once and in order, however files are cut; mistakes are one sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from labkit.corpora.shards import MANIFEST, Making, plan_of, write_parquet
from labkit.corpora.stretches import row_tables, schema_of, stretches_of, text_blocks
from labkit.executors import Local

TEXTS = [f"sentence {number}" for number in range(53)]


def parquet_file(path: Path, texts: Sequence[str | None] = TEXTS, *, group: int = 10) -> Path:
    parquet.write_table(arrow.table({"text": texts, "number": range(len(texts))}), path, row_group_size=group)
    return path


def shards(folder: Path, texts: list[str] = TEXTS, size: int = 20) -> Path:
    cut = {number: texts[start : start + size] for number, start in enumerate(range(0, len(texts), size))}
    with Making(folder, plan_of("test", {}, [])) as making:
        making.run(_shard, cut, Local(1))
        making.finish(len(cut))
    return folder


def _shard(texts: list[str], path: Path) -> dict[str, object]:
    return write_parquet([{"text": text} for text in texts], path)


@pytest.mark.parametrize(("group", "rows"), [(1, 9), (7, 10), (10, 10), (10, 52), (100, 1), (7, 1000)])
def test_every_row_once_and_in_order(tmp_path: Path, group: int, rows: int) -> None:
    cut = stretches_of([parquet_file(tmp_path / "a.parquet", group=group)], rows=rows)
    assert all((each.stop or 0) - each.start <= rows for each in cut.each)
    read = [list(chain.from_iterable(text_blocks(each))) for each in cut.each]
    assert list(map(len, read)) == [(each.stop or 0) - each.start for each in cut.each]
    assert list(chain.from_iterable(read)) == TEXTS


def test_several_files_and_folders_come_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text('text,number\n"one, two",1\nthree,2\n')
    (tmp_path / "c.jsonl").write_text('{"text": "x", "number": 3}\n')
    (tmp_path / "d.txt").write_text("a line\n")
    sources = [shards(tmp_path / "folder"), *(tmp_path / name for name in ("b.csv", "c.jsonl", "d.txt"))]
    cut = stretches_of(sources, rows=15)
    read = list(chain.from_iterable(chain.from_iterable(map(text_blocks, cut.each))))
    assert read == [*TEXTS, "one, two", "three", "x", "a line"]
    assert [table.to_pylist() for table in row_tables(cut.each[-2])] == [[{"text": "x", "number": "3"}]]
    assert schema_of(tmp_path / "b.csv").names == ["text", "number"]


def test_texts_of_several_columns_stand_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"a": ["1", "2"], "b": ["3", "4"]}), path)
    (each,) = stretches_of([path], ["b", "a"]).each
    assert list(text_blocks(each, ["b", "a"])) == [["3", "1", "4", "2"]]


def test_the_fingerprint_is_that_of_what_is_in_the_files(tmp_path: Path) -> None:
    one, same = parquet_file(tmp_path / "a.parquet"), parquet_file(tmp_path / "b.parquet")
    other = parquet_file(tmp_path / "c.parquet", [*TEXTS[:-1], "other"])
    assert stretches_of([one]).fingerprint == stretches_of([same], rows=7).fingerprint
    assert stretches_of([one]).fingerprint != stretches_of([other]).fingerprint


def test_a_row_without_a_text_is_named(tmp_path: Path) -> None:
    path = parquet_file(tmp_path / "a.parquet", ["a", "b", "c", None, "d"], group=2)
    (_, second) = stretches_of([path], rows=3).each
    with pytest.raises(ValueError, match="a.parquet row 4"):
        list(text_blocks(second))


def test_hostile_sources(tmp_path: Path) -> None:
    nothing, numbers, broken = (tmp_path / name for name in ("none.parquet", "numbers.parquet", "broken.parquet"))
    parquet.write_table(arrow.table({"text": arrow.array([], arrow.string())}), nothing)
    parquet.write_table(arrow.table({"text": [1, 2]}), numbers)
    broken.write_bytes(b"PAR1 this is none")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "plain").mkdir()
    parquet_file(tmp_path / "plain" / "a.parquet")
    for source in (nothing, numbers, broken, tmp_path / "gone.parquet", tmp_path / "empty.csv", tmp_path / "plain"):
        with pytest.raises(ValueError, match=source.name):
            stretches_of([source])
    path = parquet_file(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="a.parquet has no column 'x'"):
        stretches_of([path], ["x"])
    (tmp_path / "b.csv").write_text("text\na\n")
    with pytest.raises(ValueError, match="b.csv"):
        stretches_of([tmp_path / "b.csv"], parquet_only=True)
    with pytest.raises(ValueError, match="rows is 0"):
        stretches_of([path], rows=0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": 21}, "part-00000.parquet has 20 rows"),
        ({"sha256": "0" * 64}, "part-00000.parquet"),
        ({"bytes": 1}, "part-00000.parquet"),
        ({"file": "../a.parquet"}, "manifest.json"),
        ({"file": 5}, "manifest.json"),
    ],
)
def test_a_manifest_that_lies_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    folder = shards(tmp_path / "folder")
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["shards"][0] |= change
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=said):
        stretches_of([folder])
