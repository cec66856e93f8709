"""Files that may be larger than memory: cut into parts, read as Arrow tables, written as Parquet or Arrow.

    parts_of(sources, columns)    the parts of files and of folders of files, in order
    tables(part)                  its rows as Arrow tables of a few thousand
    corpus_of_folder(folder)      the corpus in such a folder: Arrow files are mapped, Parquet files read into memory
    write_tables(tables, path)    one file of a folder; `scale.each` writes many, with processes or Ray
    first_seen(keys)              which rows of many files have a new key

A Parquet or Arrow file is cut into equal parts, so that many workers can read it. Other files (CSV, TSV, JSONL, TXT)
must be read from the start: each is one part, and its cells are texts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from labkit.corpora.columns import Column
from labkit.corpora.files import STREAMED, parquet_file, read_rows
from labkit.corpora.records import Corpus, Groups, Labelled, Sentences, Triplets
from labkit.scale import is_begun, is_finished, manifest

ROWS = 2**16  # of a part
GROUP = 2**13  # rows read or written at once
COMPARED = 2**23  # keys compared in memory at once
TABLES = (".parquet", ".arrow")


@dataclass(frozen=True)
class Part:
    """The rows of a file from `start` up to but not including `stop`, or to the end."""

    path: str
    start: int = 0
    stop: int | None = None


def files_of(sources: Iterable[Path | str]) -> list[Path]:
    """The given files, and the files of the given finished folders."""
    files: list[Path] = []
    for source in map(Path, sources):
        if source.is_dir():
            manifest(source)  # raises an error if the folder is not finished
            files += shards_in(source)
        elif source.is_file():
            files.append(source)
        else:
            raise ValueError(f"{str(source)!r} does not exist; check the name and the current folder")
    return files


def shards_in(folder: Path) -> list[Path]:
    """The files of a folder, in order."""
    return sorted(path for path in folder.glob("part-*") if path.suffix in (*TABLES, ".npy"))


def is_folder(path: Path | str) -> bool:
    """Whether this is a folder of files that labkit has written or is writing."""
    return is_begun(path) or is_finished(path)


def parts_of(
    sources: Iterable[Path | str], columns: Sequence[str] = ("text",), *, rows: int = ROWS, tables_only: bool = False
) -> list[Part]:
    """The parts of files and folders; raises ValueError if a file lacks one of these text columns."""
    if rows < 1:
        raise ValueError(f"rows is {rows}, expected at least 1 per part; omit it for {ROWS:,}")
    parts: list[Part] = []
    for path in files_of(sources):
        if path.suffix.lower() in TABLES:
            _check_columns(path, columns)
            count = rows_in(path)
            where = str(path.resolve())
            parts += [Part(where, start, min(start + rows, count)) for start in range(0, count, rows)]
        elif tables_only:
            raise ValueError(f"input is {path.name!r}, expected a .parquet, an .arrow or a folder of them; convert it")
        else:
            _check_columns(path, columns)
            parts.append(Part(str(path.resolve())))
    if not parts:
        names = ", ".join(map(str, sources)) or "the list of sources"
        raise ValueError(f"{names} has no rows; give a file with sentences")
    return parts


def identified(files: Iterable[Path]) -> list[list[str]]:
    """The name and sha256 of each file, which identify the input of a plan."""
    return [[path.name, sha256_of(path)] for path in files]


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- reading -----------------------------------------------------------------------------------------------------


def mapped(path: Path) -> Any:
    """The table of an Arrow file, memory-mapped, or of a Parquet file, read into memory."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        if path.suffix.lower() == ".parquet":
            return parquet.read_table(path)
        return arrow.ipc.open_file(arrow.memory_map(str(path))).read_all()
    except (arrow.ArrowException, OSError) as reason:
        raise ValueError(
            f"{path} is not a readable table ({' '.join(str(reason).split())[:120]}); create or download it again"
        ) from None


def tables(part: Part, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows as Arrow tables, with all columns or some; other files give cells of text."""
    import pyarrow as arrow

    path = Path(part.path)
    if path.suffix.lower() == ".arrow":
        whole = mapped(path)
        stop = len(whole) if part.stop is None else part.stop
        for start in range(part.start, stop, GROUP):
            table = whole.slice(start, min(GROUP, stop - start))
            yield table if columns is None else table.select(list(columns))
    elif path.suffix.lower() == ".parquet":
        yield from _parquet_tables(path, part, columns)
    else:
        schema = schema_of(path)
        rows = ({name: _cell(row.get(name)) for name in schema.names} for _, row in read_rows(path, limit=STREAMED))
        while group := list(islice(rows, GROUP)):
            table = arrow.Table.from_pylist(group, schema=schema)
            yield table if columns is None else table.select(list(columns))


def _parquet_tables(path: Path, part: Part, columns: Sequence[str] | None) -> Iterator[Any]:
    """Read only the row groups that contain the part."""
    import pyarrow as arrow

    with parquet_file(path, buffer=2**20) as file:
        stop = file.metadata.num_rows if part.stop is None else part.stop
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        ends = np.cumsum(sizes, dtype=np.int64)
        groups = [n for n, end in enumerate(ends.tolist()) if end > part.start and end - sizes[n] < stop]
        first = int(ends[groups[0]] - sizes[groups[0]]) if groups else 0
        for batch in file.iter_batches(GROUP, row_groups=groups, columns=columns, use_threads=False):
            low, high = max(part.start - first, 0), min(stop - first, len(batch))
            if low < high:
                yield arrow.Table.from_batches([batch.slice(low, high - low)])
            first += len(batch)


def texts_of(part: Part, columns: Sequence[str] = ("text",)) -> Iterator[list[str]]:
    """The texts of these columns, row by row; raises ValueError if a row has none."""
    row = part.start
    for table in tables(part, columns):
        values = [table.column(name).to_pylist() for name in columns]
        block = [text for texts in zip(*values, strict=True) for text in texts]
        if None in block:
            at = block.index(None)
            raise ValueError(
                f"{Path(part.path).name} row {row + at // len(columns) + 1} has no text in column "
                f"{columns[at % len(columns)]!r}; fill it in or drop the row"
            )
        yield block
        row += len(table)


def rows_in(path: Path) -> int:
    """How many rows a Parquet or Arrow file has."""
    if path.suffix.lower() == ".arrow":
        return len(mapped(path))
    with parquet_file(path) as file:
        return int(file.metadata.num_rows)


def schema_of(path: Path | str) -> Any:
    """The Arrow schema of a file; text columns for CSV and the like."""
    import pyarrow as arrow

    path = Path(path)
    if path.suffix.lower() == ".arrow":
        return mapped(path).schema.remove_metadata()
    if path.suffix.lower() == ".parquet":
        with parquet_file(path) as file:
            return file.schema_arrow.remove_metadata()
    first = next(read_rows(path, limit=STREAMED), (0, {}))[1]
    return arrow.schema([(name, arrow.string()) for name in first])


def splits_of(files: Iterable[Path]) -> dict[str, int]:
    """How many rows each split has over all files; empty if rows have no split."""
    import pyarrow.compute as compute

    counts: Counter[str] = Counter()
    for path in files:
        if "split" in schema_of(path).names:
            for table in tables(Part(str(path)), ["split"]):
                counts.update(
                    {each["values"]: each["counts"] for each in compute.value_counts(table["split"]).to_pylist()}
                )
    return {split: counts[split] for split in ("train", "dev", "test") if counts[split]}


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    import pyarrow as arrow

    schema = schema_of(path)
    for column in columns:
        if schema.names.count(column) != 1 and (schema.names or path.suffix.lower() in TABLES):
            there = ", ".join(map(repr, schema.names)) or "none"
            raise ValueError(f"{path.name} has no column {column!r} (it has {there}); choose one with --column")
        kind = schema.field(column).type if schema.names else arrow.string()
        kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
        if not (arrow.types.is_string(kind) or arrow.types.is_large_string(kind)):
            raise ValueError(f"{path.name} has {kind} in column {column!r}, expected text; choose a column of texts")


def _cell(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


# --- corpora ------------------------------------------------------------------------------------------------------


def corpus_of_folder(folder: Path | str, name: str = "") -> Corpus:
    """The corpus in a finished folder of tables; its columns determine its shape."""
    import pyarrow as arrow

    folder = Path(folder)
    manifest(folder)  # raises an error if the folder is not finished
    files = [path for path in shards_in(folder) if path.suffix != ".npy"]
    table = arrow.concat_tables([mapped(path) for path in files]) if files else arrow.table({})
    columns: dict[str, Any] = {column: Column(table[column]) for column in table.column_names}
    for shape in (Triplets, Labelled, Groups, Sentences):
        if columns.keys() >= set(shape.COLUMNS.values()):
            fields = {field: columns.pop(column) for field, column in shape.COLUMNS.items()}
            splits = columns.pop("split", ())
            return cast(Any, shape)(**fields, name=name or folder.name, splits=splits, extra=columns)
    have = ", ".join(map(repr, table.column_names)) or "no column"
    raise ValueError(
        f"{folder} has {have}, which are not the columns of triplets, classes, groups or sentences; use another folder"
    )


# --- writing -----------------------------------------------------------------------------------------------------


def write_tables(given: Iterable[Any], path: Path, schema: Any) -> None:
    """Write Arrow tables of one schema as Arrow if the name ends in .arrow, else as Parquet."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    with path.open("wb") as file:
        if path.suffix == ".arrow":
            writer: Any = arrow.ipc.new_file(file, schema)
        else:
            writer = parquet.ParquetWriter(file, schema, compression="zstd")
        with writer:
            for table in given:
                writer.write_table(table.combine_chunks())


def write_texts(rows: Iterable[Mapping[str, Any]], path: Path, columns: Sequence[str]) -> None:
    """Write rows of texts, holding only a few thousand in memory."""
    import pyarrow as arrow

    schema, stream = arrow.schema([(name, arrow.string()) for name in columns]), iter(rows)
    groups = iter(lambda: list(islice(stream, GROUP)), [])
    write_tables((arrow.Table.from_pylist(group, schema=schema) for group in groups), path, schema)


# --- repeats -----------------------------------------------------------------------------------------------------


def key_rows(texts: Iterable[str]) -> np.ndarray:
    """Sixteen bytes for each text, uint64 (n, 2); two different texts collide with probability 10^-38."""
    keys = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(keys), np.uint64).reshape(-1, 2)


def first_seen(keys: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Which keys (n, 2) of each file appear in no earlier row and no earlier file, bool (n,).

    Keys are compared a few million at a time, grouped by remainder across all files.
    """
    new = [np.zeros(len(each), bool) for each in keys]
    remainders = 1 + sum(map(len, keys)) // COMPARED
    for remainder in range(remainders):
        places = [np.flatnonzero(each[:, 0] % remainders == remainder) for each in keys]
        owners = np.repeat(np.arange(len(keys)), [len(each) for each in places])
        rows = np.concatenate([each[place] for each, place in zip(keys, places, strict=True)])
        order = np.lexsort(rows.T)  # equal keys in the order of their rows
        first = np.ones(len(rows), bool)
        first[order[1:]] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
        for owner, place in enumerate(places):
            new[owner][place] = first[owners == owner]
    return new
