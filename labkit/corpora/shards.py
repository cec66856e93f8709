"""Files that may be larger than memory: cut into parts, read as Arrow tables, written as Parquet or Arrow.

    parts_of(sources, column)     the parts of files and of folders of files, in order
    tables(part)                  the rows of a part as Arrow tables of a few thousand rows
    corpus_of_folder(folder)      the corpus in such a folder; Arrow files are mapped, Parquet files read into memory
    write_tables(tables, path)    one file of a folder; `scale.each` writes many, with processes or Ray
    write_distinct(sources, folder)   drop rows with a repeated text

A Parquet or Arrow file is cut into equal parts, so that many workers can read it. Other files (CSV, TSV, JSONL, TXT)
must be read from the start, so each is one part; its cells are texts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from labkit import scale
from labkit.corpora.files import STREAMED, parquet_file, read_rows
from labkit.corpora.records import SPLITS, Column, Corpus, Groups, Labelled, Sentences, Triplets
from labkit.corpora.rows import from_columns
from labkit.progress import Progress, silent
from labkit.text import normalise

ROWS = 2**16  # rows of a part
GROUP = 2**13  # rows read or written at once
TABLES = (".parquet", ".arrow")


@dataclass(frozen=True)
class Part:
    """The rows of a file from `start` to `stop` (exclusive), or to the end."""

    path: str
    start: int = 0
    stop: int | None = None


def files_of(sources: Iterable[Path | str]) -> list[Path]:
    """The given files, and the files of the given finished folders."""
    files: list[Path] = []
    for source in map(Path, sources):
        if source.is_dir():
            scale.manifest(source)  # raises an error if the folder is not finished
            files += shards_in(source)
        elif source.is_file():
            files.append(source)
        else:
            raise ValueError(f"{str(source)!r} does not exist; check the name and the current folder")
    return files


def shards_in(folder: Path) -> list[Path]:
    """The files of a folder, in order."""
    return sorted(path for path in folder.glob("part-*") if path.suffix in (*TABLES, ".npy"))


def parts_of(
    sources: Iterable[Path | str], column: str = "text", *, rows: int = ROWS, tables_only: bool = False
) -> list[Part]:
    """The parts of files and folders; raises ValueError if a file lacks this column of texts."""
    parts: list[Part] = []
    for path in files_of(sources):
        _check_column(path, column)
        where = str(path.resolve())
        if path.suffix.lower() in TABLES:
            count = _rows_in(path)
            parts += [Part(where, start, min(start + rows, count)) for start in range(0, count, rows)]
        elif tables_only:
            raise ValueError(
                f"input is {path.name!r}, expected a .parquet file, an .arrow file or a folder of them; convert it"
            )
        else:
            parts.append(Part(where))
    if not parts:
        names = ", ".join(map(str, sources)) or "the list of sources"
        raise ValueError(f"{names} has no rows; give a file with sentences")
    return parts


def _check_column(path: Path, column: str) -> None:
    import pyarrow as arrow

    schema = schema_of(path)
    if schema.names.count(column) != 1:
        there = ", ".join(map(repr, schema.names)) or "none"
        raise ValueError(f"{path.name} has no column {column!r} (it has {there}); choose one with --column")
    kind = schema.field(column).type
    kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
    if kind not in (arrow.string(), arrow.large_string()):
        raise ValueError(f"{path.name} has {kind} in column {column!r}, expected text; choose a column of texts")


def identified(files: Iterable[Path]) -> list[list[str]]:
    """The names and sha256 hashes of files, which identify the input of a plan."""
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
    if path.suffix.lower() == ".parquet":
        yield from _parquet_tables(path, part, columns)
        return
    if path.suffix.lower() == ".arrow":
        whole = mapped(path).slice(part.start, None if part.stop is None else part.stop - part.start)
        blocks = (whole.slice(start, GROUP) for start in range(0, len(whole), GROUP))
    else:
        schema = schema_of(path)
        rows = ({name: _cell(row.get(name)) for name in schema.names} for _, row in read_rows(path, limit=STREAMED))
        blocks = (arrow.Table.from_pylist(group, schema=schema) for group in _grouped(rows))
    yield from (table if columns is None else table.select(list(columns)) for table in blocks)


def _grouped(rows: Iterator[Any]) -> Iterator[list[Any]]:
    return iter(lambda: list(islice(rows, GROUP)), [])


def _cell(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def _parquet_tables(path: Path, part: Part, columns: Sequence[str] | None) -> Iterator[Any]:
    """Read only the row groups that contain the part."""
    import pyarrow as arrow

    with parquet_file(path, buffer=2**20) as file:
        stop = file.metadata.num_rows if part.stop is None else part.stop
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        ends = np.cumsum(sizes, dtype=np.int64)
        groups = [n for n, end in enumerate(ends.tolist()) if end > part.start and end - sizes[n] < stop]
        if not groups:
            return
        first = int(ends[groups[0]] - sizes[groups[0]])
        for batch in file.iter_batches(GROUP, row_groups=groups, columns=columns, use_threads=False):
            low, high = max(part.start - first, 0), min(stop - first, len(batch))
            if low < high:
                yield arrow.Table.from_batches([batch.slice(low, high - low)])
            first += len(batch)


def texts_of(part: Part, column: str = "text") -> Iterator[list[str]]:
    """The texts of a column, a few thousand at a time; raises ValueError if a row has no text."""
    row = part.start
    for table in tables(part, [column]):
        texts = table.column(column).to_pylist()
        if None in texts:
            raise ValueError(
                f"{Path(part.path).name} row {row + texts.index(None) + 1} has no text in column {column!r}; fill it "
                "in or drop the row"
            )
        yield texts
        row += len(texts)


def _rows_in(path: Path) -> int:
    if path.suffix.lower() == ".arrow":
        return len(mapped(path))
    with parquet_file(path) as file:
        return int(file.metadata.num_rows)


def schema_of(path: Path | str) -> Any:
    """The Arrow schema of a file; for CSV and similar files, all columns are texts."""
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
    """The number of rows of each split in all files; empty if rows have no split."""
    counts: Counter[str] = Counter()
    for path in files:
        if "split" in schema_of(path).names:
            for table in tables(Part(str(path)), ["split"]):
                counts.update(table["split"].to_pylist())
    return {split: counts[split] for split in SPLITS if counts[split]}


def corpus_of_folder(folder: Path | str, name: str = "") -> Corpus:
    """The corpus in a finished folder of tables; its columns determine its shape."""
    import pyarrow as arrow

    folder = Path(folder)
    files = [path for path in files_of([folder]) if path.suffix in TABLES]
    table = arrow.concat_tables(map(mapped, files)) if files else arrow.table({})
    columns: dict[str, Any] = {column: Column(table[column]) for column in table.column_names}
    for shape in (Triplets, Labelled, Groups, Sentences):
        if columns.keys() >= set(shape.COLUMNS.values()):
            return from_columns(shape, columns, name or folder.name)
    raise ValueError(
        f"{folder} has {', '.join(map(repr, columns)) or 'no column'}, which are not the columns of triplets, classes, "
        "groups or sentences; use another folder"
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

    schema = arrow.schema([(name, arrow.string()) for name in columns])
    write_tables((arrow.Table.from_pylist(group, schema=schema) for group in _grouped(iter(rows))), path, schema)


# --- repeats: pass one keeps sixteen bytes per text, pass two writes the distinct rows ---------------------------


def key_rows(texts: Iterable[str]) -> np.ndarray:
    """Sixteen bytes for each text, uint64 (n, 2); two different texts collide with probability 10^-38."""
    keys = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(keys), np.uint64).reshape(-1, 2)


def first_seen(keys: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each file, which of its keys (n, 2) appear in no earlier row and no earlier file, bool (n,)."""
    rows = np.concatenate(keys)
    order = np.lexsort(rows.T)  # equal keys in the order of their rows
    new, ordered = np.ones(len(rows), bool), rows[order]
    new[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.split(new, np.cumsum([len(each) for each in keys])[:-1])


def write_distinct(
    sources: Sequence[Path | str],
    folder: Path | str,
    *,
    column: str = "text",
    plain: bool = False,
    size: int = ROWS,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write the first row of each distinct text, in order; the manifest counts the rows that were read and kept.

    With `plain`, texts are also equal if they differ only in case, whitespace or Unicode composition
    (`labkit.text.normalise`). Repeating the call resumes it after an interruption.
    """
    folder, files = Path(folder), files_of(sources)
    parts = parts_of(sources, column, rows=size)
    for file in files[1:]:
        if not schema_of(file).equals(schema_of(files[0])):
            here, there = (" ".join(str(schema_of(each)).split()) for each in (file, files[0]))
            raise ValueError(f"{file} has {here}, but {files[0]} has {there}; all files must have the same columns")
    plan = {"kind": "distinct", "column": column, "plain": plain, "size": size, "sources": identified(files)}
    if scale.folder(folder, plan):
        return scale.manifest(folder)
    keys = {scale.part(folder / scale.WORK, number, "npy"): part for number, part in enumerate(parts)}
    scale.each(partial(_write_keys, column, plain), keys, workers=workers, ray=ray, progress=progress)
    new = first_seen([np.load(path, allow_pickle=False) for path in keys])
    left = {scale.part(folder, n, "parquet"): each for n, each in enumerate(zip(parts, new, strict=True))}
    scale.each(_write_new, left, workers=workers, ray=ray, progress=progress)
    read, rows = sum(map(len, new)), sum(int(each.sum()) for each in new)
    return scale.finish(folder, plan, rows=rows, read=read, repeats=read - rows, splits=splits_of(left))


def _write_keys(column: str, plain: bool, part: Part, path: Path) -> None:
    texts: Iterable[str] = chain.from_iterable(texts_of(part, column))
    with path.open("wb") as file:
        np.save(file, key_rows(map(normalise, texts) if plain else texts))


def _write_new(given: tuple[Part, np.ndarray], path: Path) -> None:
    """Write the new rows of a part."""
    import pyarrow as arrow

    part, new = given
    schema = schema_of(part.path)

    def kept() -> Iterator[Any]:
        at = 0
        for table in tables(part):
            yield table.filter(arrow.array(new[at : at + len(table)])).cast(schema)
            at += len(table)

    write_tables(kept(), path, schema)
