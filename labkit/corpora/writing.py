"""Rows to a file, whole or not at all.

In: a stream of rows (dicts with the same columns) and a path named .csv, .tsv, .jsonl or one of these .gz. Out: the
file, with flat memory however many rows there are. It is written beside its place and moved there at the end, so that
an interruption leaves what was there before.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from labkit.atomic import in_place
from labkit.corpora.tables import format_of
from labkit.progress import Progress, silent


def write_rows(
    rows: Iterable[Mapping[str, Any]], path: Path | str, *, total: int | None = None, progress: Progress = silent
) -> int:
    """Write the rows and say how many there were; the columns are those of the first row."""
    path = Path(path)
    ending, packed = format_of(path)
    if ending == ".parquet":
        raise ValueError(f"{path.name}: rows are written as .csv, .tsv or .jsonl (or one of these .gz); rename it")
    if not path.parent.is_dir():
        raise ValueError(f"{path.name}: the folder {str(path.parent)!r} does not exist; make it first")
    count = 0
    with in_place(path) as raw, _text(raw, packed) as text:
        table: csv.DictWriter | None = None
        for count, row in enumerate(rows, 1):
            if ending == ".jsonl":
                text.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                if table is None:
                    table = _table(text, list(row), ending)
                    table.writeheader()
                if ending == ".tsv" and any(sign in str(value) for value in row.values() for sign in "\t\r\n"):
                    raise ValueError(
                        f"{path.name}: row {count} holds a tab or a line break, for which a .tsv has no room; write a "
                        ".csv or a .jsonl"
                    )
                table.writerow(row)
            if count % 1000 == 0:
                progress(count, total, path.name)
    progress(count, total, path.name)
    return count


def _table(text: IO[str], columns: list[str], ending: str) -> csv.DictWriter[str]:
    """Rows as CSV with quotes where needed, as TSV with none at all: so both are read again."""
    if ending == ".tsv":
        return csv.DictWriter(
            text, columns, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None
        )
    return csv.DictWriter(text, columns, lineterminator="\n")


@contextmanager
def _text(raw: IO[bytes], packed: bool) -> Iterator[IO[str]]:
    """Characters into bytes; packed without a name or time inside, so that the same rows give the same bytes."""
    if packed:
        with (
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as pack,
            io.TextIOWrapper(pack, "utf-8", newline="") as text,
        ):
            yield text
    else:
        plain = io.TextIOWrapper(raw, "utf-8", newline="")
        yield plain
        plain.detach()  # flushed, and the bytes below stay open for their owner
