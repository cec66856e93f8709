"""Writing rows: what is read back, what is left behind when it goes wrong, and the same bytes each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora import read_corpus
from labkit.corpora.files import write_rows

ROWS = [{"text": 'a "b", c\nd', "label": "x", "split": "train"}, {"text": "茶", "label": "y", "split": "test"}]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz"])
def test_round_trip_and_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    assert write_rows(iter(ROWS), one) == write_rows(ROWS, two) == 2
    assert list(read_corpus(one).rows()) == ROWS
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz"])
def test_a_tsv_has_no_quotes_and_no_room_for_tabs(tmp_path: Path, ending: str) -> None:
    rows = [{"text": 'a "b" \\ c', "label": "x", "split": "train"}, {"text": "茶", "label": "y", "split": "test"}]
    path = tmp_path / f"t{ending}"
    assert write_rows(rows, path) == 2
    assert list(read_corpus(path).rows()) == rows
    for sign in "\t\r\n":
        with pytest.raises(ValueError, match="row 2 holds a tab or a line break, for which a .tsv has no room"):
            write_rows([rows[0], rows[1] | {"text": f"a{sign}b"}], tmp_path / f"no{ending}")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    write_rows(ROWS, path)
    before = path.read_bytes()

    def breaks() -> Iterator[dict[str, Any]]:
        yield ROWS[0]
        raise KeyboardInterrupt

    for name in ("kept.csv", "new.csv", "new.jsonl.gz"):
        with pytest.raises(KeyboardInterrupt):
            write_rows(breaks(), tmp_path / name)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["kept.csv"]


def test_progress_ends_at_the_count(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    rows = ({"text": str(i), "label": "x"} for i in range(2500))
    write_rows(rows, tmp_path / "p.csv", total=2500, progress=lambda *step: seen.append(step))
    assert [step[0] for step in seen] == [1000, 2000, 2500]
    assert seen[-1] == (2500, 2500, "p.csv")


def test_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="written as .csv, .tsv or .jsonl"):
        write_rows(ROWS, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="does not exist; make it first"):
        write_rows(ROWS, tmp_path / "no" / "a.csv")
