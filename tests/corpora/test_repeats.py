"""Repeated sentences dropped from large files: what a loop over a set leaves, whoever does the work."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from labkit.corpora.repeats import write_distinct
from labkit.corpora.shards import Part, shards_in, tables
from labkit.text import normalise

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
def test_the_first_of_equals_stays_with_all_its_columns(tmp_path: Path, size: int, plain: bool) -> None:
    made = write_distinct([written(tmp_path / "a.parquet")], tmp_path / "out", plain=plain, size=size)
    wanted = first_of(ROWS, lambda row: normalise(row["text"]) if plain else row["text"])
    assert rows_of(tmp_path / "out") == wanted
    assert made["read"] == len(ROWS)
    assert made["repeats"] == len(ROWS) - len(wanted)
    assert made["splits"] == {"train": len(wanted)}
    assert not (tmp_path / "out" / ".work").exists()


def test_of_several_sources_the_first_has_its_sentences(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.jsonl"
    one.write_text("text,label\na,1\nb,2\na,3\n")
    two.write_text('{"text": "b", "label": 4}\n{"text": "c", "label": 5}\n')
    write_distinct([one, two], tmp_path / "out")
    assert [(row["text"], row["label"]) for row in rows_of(tmp_path / "out")] == [("a", "1"), ("b", "2"), ("c", "5")]
    write_distinct([two, tmp_path / "out"], tmp_path / "again")
    assert [row["label"] for row in rows_of(tmp_path / "again")] == ["4", "5", "1"]


def test_the_texts_of_several_columns(tmp_path: Path) -> None:
    rows = [{"a": "x", "b": "y"}, {"a": "y", "b": "z"}, {"a": "x", "b": "x"}]
    made = write_distinct([written(tmp_path / "t.parquet", rows)], tmp_path / "out", columns=["a", "b"], size=1)
    assert rows_of(tmp_path / "out") == [{"text": "x"}, {"text": "y"}, {"text": "z"}]
    assert (made["read"], made["repeats"]) == (6, 3)


def test_bad_sources_and_columns_are_refused(tmp_path: Path) -> None:
    path, other = written(tmp_path / "a.parquet"), written(tmp_path / "b.parquet", [{"text": "a", "more": 1}])
    with pytest.raises(ValueError, match=r"b.parquet"):
        write_distinct([path, other], tmp_path / "out")
    for columns in ([], ["text", "text"]):
        with pytest.raises(ValueError, match="columns"):
            write_distinct([path], tmp_path / "out", columns=columns)
    with pytest.raises(ValueError, match="column 'text'"):
        write_distinct([written(tmp_path / "c.parquet", [{"text": None}, {"text": "a"}])], tmp_path / "out")
    write_distinct([path], tmp_path / "done")
    with pytest.raises(ValueError, match="plain"):
        write_distinct([path], tmp_path / "done", plain=True)
