"""Drop repeated sentences from more rows than fit in memory.

    write_distinct(sources, folder)   write the first row of each distinct text, in order, as a folder of Parquet files

Two texts are equal if all their characters are. With `plain`, texts are also equal if they differ only in case, blanks
or Unicode composition (`labkit.text.normalise`: NFKC); the kept text is unchanged. Two different texts collide with
probability 10^-38 per pair.

The first pass over the rows keeps sixteen bytes per text, the second writes the distinct rows. With one column, whole
rows are kept; with several, their texts are written to a single column `text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labkit import scale
from labkit.corpora.shards import (
    ROWS,
    Part,
    files_of,
    first_seen,
    identified,
    key_rows,
    parts_of,
    schema_of,
    splits_of,
    tables,
    texts_of,
    write_tables,
)
from labkit.progress import Progress, silent
from labkit.text import normalise


class Comparison(NamedTuple):
    """The input files and the columns to compare."""

    part: Part
    columns: tuple[str, ...]
    plain: bool


def write_distinct(
    sources: Sequence[Path | str],
    folder: Path | str,
    *,
    columns: Sequence[str] = ("text",),
    plain: bool = False,
    size: int = ROWS,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write the rows whose text is not a repeat; the manifest counts the rows `read` and kept.

    The same call resumes an interrupted one.
    """
    columns, folder, files = tuple(columns), Path(folder), files_of(sources)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"columns are {', '.join(columns) or 'none'}; give one or more different names")
    parts = parts_of(sources, columns, rows=size)
    _check_alike(files, columns)
    plan = {"kind": "distinct", "columns": columns, "plain": plain, "size": size, "sources": identified(files)}
    if scale.folder(folder, plan):
        return scale.manifest(folder)
    numbered = {number: Comparison(part, columns, plain) for number, part in enumerate(parts)}
    keys = {scale.part(folder / scale.WORK, number, "npy"): each for number, each in numbered.items()}
    scale.each(_write_keys, keys, workers=workers, ray=ray, progress=progress)
    new = first_seen([np.load(path, mmap_mode="r", allow_pickle=False) for path in keys])
    left = {scale.part(folder, number, "parquet"): (each, new[number]) for number, each in numbered.items()}
    scale.each(_write_new, left, workers=workers, ray=ray, progress=progress)
    read, rows = sum(map(len, new)), sum(int(each.sum()) for each in new)
    return scale.finish(folder, plan, rows=rows, read=read, repeats=read - rows, splits=splits_of(left))


def _check_alike(files: Sequence[Path], columns: tuple[str, ...]) -> None:
    """Raise ValueError if the files have different columns."""
    if len(columns) > 1:
        return
    first = schema_of(files[0])
    for file in files[1:]:
        if not schema_of(file).equals(first):
            here, there = (
                ", ".join(f"{field.name} ({field.type})" for field in each) for each in (schema_of(file), first)
            )
            raise ValueError(
                f"{file} has the columns {here}, {files[0]} has {there}; all files must have the same columns"
            )


def _write_keys(given: Comparison, path: Path) -> None:
    texts: Iterable[str] = chain.from_iterable(texts_of(given.part, given.columns))
    with path.open("wb") as file:
        np.save(file, key_rows(map(normalise, texts) if given.plain else texts))


def _write_new(given: tuple[Comparison, np.ndarray], path: Path) -> None:
    """Write the new rows of a part."""
    import pyarrow as arrow

    (part, columns, _), new = given
    whole = len(columns) == 1
    schema = schema_of(part.path) if whole else arrow.schema([("text", arrow.string())])

    def kept() -> Iterator[Any]:
        at = 0
        for table in tables(part, None if whole else columns):
            if not whole:
                rows = zip(*(table.column(name).to_pylist() for name in columns), strict=True)
                table = arrow.table({"text": arrow.array([*chain.from_iterable(rows)], arrow.string())})
            yield table.filter(arrow.array(new[at : at + len(table)])).cast(schema)
            at += len(table)

    write_tables(kept(), path, schema)
