"""Rows of files that may be larger than memory, cut into stretches, each of which one task reads.

    stretches_of(sources, columns)  those of Parquet files, of folders of shards, and of other files, in order
    row_tables(stretch)             its rows as Arrow tables of a few thousand
    text_blocks(stretch, columns)   the texts of some columns, row by row, in lists of a few thousand

A Parquet file is entered where its groups of rows begin, so that many tasks read one file. All other files (CSV, TSV,
JSONL, TXT) can only be read from their beginning: each is one stretch, and its cells are texts.

What a folder of shards says of itself is compared with its files before anything is read from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any

from labkit.corpora.files import STREAMED, parquet_file, read_rows
from labkit.corpora.shards import GROUP, checked, is_making, is_shards, sha256_of
from labkit.progress import Progress, silent

ROWS = 2**16  # of a stretch


@dataclass(frozen=True)
class Stretch:
    """Rows of one file, from `start` to before `stop`, or to its end."""

    path: str
    start: int = 0
    stop: int | None = None


@dataclass(frozen=True)
class Stretches:
    """What sources are made of: their files, the stretches of these, and the sha256 of what they hold."""

    files: tuple[Path, ...]
    each: tuple[Stretch, ...]
    fingerprint: str


def stretches_of(
    sources: Sequence[Path | str],
    columns: Sequence[str] = ("text",),
    *,
    rows: int = ROWS,
    parquet_only: bool = False,
    progress: Progress = silent,
) -> Stretches:
    """The stretches of files and folders that have these columns of texts; a ValueError says which has not."""
    if rows < 1:
        raise ValueError(f"rows is {rows}, expected at least 1 in a stretch; leave it out for {ROWS:,}")
    files: list[Path] = []
    stretches: list[Stretch] = []
    digest = hashlib.sha256()
    for path, count, sha in chain.from_iterable(_files(Path(source), progress) for source in sources):
        if path.suffix.lower() == ".parquet":
            found = _rows_in(path, columns)
            if count is not None and found != count:
                raise ValueError(f"{path} has {found:,} rows, its manifest speaks of {count:,}; make the folder again")
            bounds = range(0, found, rows)
            stretches += [Stretch(str(path.resolve()), start, min(start + rows, found)) for start in bounds]
        elif parquet_only:
            raise ValueError(f"input is {path.name!r}, expected a .parquet or a folder of shards; convert it")
        else:
            _check_columns(path, next(read_rows(path, limit=STREAMED), (0, {}))[1], columns)
            stretches.append(Stretch(str(path.resolve())))
        files.append(path)
        digest.update(sha.encode())
        progress(len(files), None, "sources looked through")
    if not stretches:
        names = ", ".join(map(str, sources)) or "the list of sources"
        raise ValueError(f"{names} has no rows, expected at least one; name a file with sentences")
    return Stretches(tuple(files), tuple(stretches), digest.hexdigest())


def _files(source: Path, progress: Progress) -> Iterator[tuple[Path, int | None, str]]:
    """The files of a source, with the rows that its manifest has for each, and their sha256."""
    if source.is_dir() or is_making(source):
        if not is_shards(source) and not is_making(source) and (held := sorted(source.glob("*.parquet"))):
            raise ValueError(f"{source} is no folder of shards; name the files in it, such as {held[0].name!r}")
        manifest = checked(source, progress=progress)
        for number, shard in enumerate(manifest.shards):
            yield manifest.path(number), shard.rows, shard.sha256
    elif not source.is_file():
        raise ValueError(f"there is no file or folder {str(source)!r}; check the name and the folder you are in")
    else:
        yield source, None, sha256_of(source)


# --- reading -----------------------------------------------------------------------------------------------------


def row_tables(stretch: Stretch, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows as Arrow tables, of some columns or of all; the cells of what is no Parquet are texts."""
    import pyarrow as arrow

    path = Path(stretch.path)
    if path.suffix.lower() != ".parquet":
        schema = schema_of(path)
        rows = ({name: _cell(row.get(name)) for name in schema.names} for _, row in read_rows(path, limit=STREAMED))
        while group := list(islice(rows, GROUP)):
            table = arrow.Table.from_pylist(group, schema=schema)
            yield table if columns is None else table.select(list(columns))
        return
    with parquet_file(path, buffer=2**20) as file:
        meta = file.metadata
        stop = meta.num_rows if stretch.stop is None else stretch.stop
        first, at, groups = 0, 0, []
        for number in range(meta.num_row_groups):
            end = at + meta.row_group(number).num_rows
            if end <= stretch.start:
                first = end
            elif at < stop:
                groups.append(number)
            at = end
        for batch in file.iter_batches(GROUP, row_groups=groups, columns=columns, use_threads=False):
            low, high = max(stretch.start - first, 0), min(stop - first, len(batch))
            if low < high:
                yield arrow.Table.from_batches([batch.slice(low, high - low)])
            first += len(batch)
            if first >= stop:
                break


def text_blocks(stretch: Stretch, columns: Sequence[str] = ("text",), *, split: str = "") -> Iterator[list[str]]:
    """The texts of these columns, of each row one after the other; a ValueError names the row that has none.

    With `split` those of its rows, where rows have splits.
    """
    row = stretch.start
    divided = bool(split) and "split" in schema_of(stretch.path).names
    for table in row_tables(stretch, [*columns, "split"] if divided else columns):
        values = [table.column(name).to_pylist() for name in columns]
        block = [text for texts in zip(*values, strict=True) for text in texts]
        if None in block:
            at = block.index(None)
            raise ValueError(
                f"{Path(stretch.path).name} row {row + at // len(columns) + 1} has nothing in column "
                f"{columns[at % len(columns)]!r}, expected a text; drop it or fill it in"
            )
        if divided:
            own = [each == split for each in table.column("split").to_pylist() for _ in columns]
            block = list(compress(block, own))
        yield block
        row += len(table)


def schema_of(path: Path | str) -> Any:
    """The Arrow schema of a file; texts where it is no Parquet."""
    import pyarrow as arrow

    if Path(path).suffix.lower() == ".parquet":
        with parquet_file(Path(path)) as file:
            return file.schema_arrow.remove_metadata()
    first = next(read_rows(path, limit=STREAMED), (0, {}))[1]
    return arrow.schema([(name, arrow.string()) for name in first])


def _rows_in(path: Path, columns: Sequence[str]) -> int:
    import pyarrow as arrow

    with parquet_file(path) as file:
        schema = file.schema_arrow
        _check_columns(path, schema.names, columns)
        for name in columns:
            kind = schema.field(name).type
            kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
            if not (arrow.types.is_string(kind) or arrow.types.is_large_string(kind)):
                raise ValueError(f"{path.name} has {kind} in column {name!r}, expected texts; name a column of texts")
        return int(file.metadata.num_rows)


def _check_columns(path: Path, names: Iterable[str], columns: Sequence[str]) -> None:
    names = list(names)
    for column in columns:
        if names.count(column) != 1 and (names or path.suffix.lower() == ".parquet"):
            there = ", ".join(map(repr, names)) or "none"
            raise ValueError(f"{path.name} has no column {column!r}, its columns are {there}; name one with --column")


def _cell(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
