"""Read rows from files and write rows to files; `rows.py` lists the columns of each corpus shape.

Files are CSV, TSV, JSONL (each also .gz) and Parquet. They are read as a stream of (row number, {column: value}),
numbered as in a spreadsheet: the header is row 1. In a .txt file, each line is a sentence and blank lines are skipped,
unless the first line is a header or contains a tab. Articles have sections, so they need JSONL.

Nothing about a file is trusted: the encoding, the number of cells, the format that the name claims, and the unpacked
size are all checked. An uploaded file is read in a separate process with limits (`labkit.untrusted`). Files are written
completely or not at all.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from labkit.atomic import amount, in_place
from labkit.corpora.records import Article, Corpus
from labkit.corpora.rows import SHAPES, articles_of_rows, column_names, corpus_of_rows
from labkit.progress import Progress, silent
from labkit.text import known_encoding, marked_encoding, text_lines

NumberedRows = Iterator[tuple[int, dict[str, Any]]]

LARGEST = 8 * 2**30  # unpacked bytes; no file of sentences is larger
STREAMED = 2**42  # bytes, if only a few rows are held at a time
FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
COLUMNS = 1_000  # maximum of columns in a table
_CELL = 1_000_000  # characters in one cell
_BATCH = 1024  # rows of a Parquet file unpacked at once
_GZIP = b"\x1f\x8b"
_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
_MAGIC = {b"PK\x03\x04": "a zip archive", b"PAR1": "a Parquet file", _GZIP: "a gzip file", b"%PDF": "a PDF"}


class TooLarge(ValueError):
    """A file unpacks to more than the limit."""


def format_of(path: Path, *, text: bool = False) -> tuple[str, bool]:
    """The format according to the file's name, and whether it is compressed: (".csv", True) for `name.csv.gz`.

    With `text`, for files to read, .txt is also a format.
    """
    packed = path.suffix.lower() == ".gz"
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a .csv, .tsv, .jsonl or .parquet file inside it")
    if ending in _SPREADSHEETS:
        raise ValueError(f"{path.name} is a spreadsheet, which labkit cannot read; save it as CSV (UTF-8)")
    known = (*FORMATS, ".txt") if text else FORMATS
    if ending not in known or (packed and ending in (".parquet", ".txt")):
        raise ValueError(
            f"{path.name} is not a .csv, .tsv or .jsonl file (optionally with .gz), a .parquet file or, for articles, "
            "a wiki dump; rename or convert it"
        )
    return ending, packed


def read_rows(path: Path | str, *, encoding: str = "utf-8-sig", limit: int = LARGEST) -> NumberedRows:
    """The rows of a file, streamed. Any fault raises a ValueError that names the row."""
    path = Path(path)
    encoding = known_encoding(encoding)
    ending, packed = format_of(path, text=True)
    if not path.exists():
        raise ValueError(f"{path} does not exist; check the name and the current folder")
    if path.stat().st_size > limit:
        raise ValueError(
            f"{path.name} has {amount(path.stat().st_size)}, above the limit of {amount(limit)}; use part of it"
        )
    try:
        if ending == ".parquet":
            yield from _parquet(path, limit)
        else:
            with _opened(path, packed) as stream:
                wide = marked_encoding(stream) in ("utf-16", "utf-32")
                lines = _lines(path, stream, encoding, limit)
                if ending in (".jsonl", ".txt"):
                    yield from (_jsonl if ending == ".jsonl" else _txt)(path, lines)
                else:
                    yield from _csv(path, lines, ending, wide)
    except (OSError, EOFError, zlib.error) as reason:
        why = getattr(reason, "strerror", None) or " ".join(str(reason).split())
        raise ValueError(f"{path.name} could not be read to the end ({why}); check that it is complete") from None


def _opened(path: Path, packed: bool) -> IO[bytes]:
    """The unpacked bytes of the file, after a check that its first bytes agree with its name."""
    with path.open("rb") as raw:
        first = raw.read(4)
    kind = next((kind for magic, kind in _MAGIC.items() if first.startswith(magic)), "")
    if kind != (_MAGIC[_GZIP] if packed else ""):
        raise ValueError(f"{path.name} is {kind or 'not a gzip file'}; unpack it or correct its extension")
    return cast(IO[bytes], gzip.open(path) if packed else path.open("rb"))


def check_unpacked(path: Path, size: int, limit: int) -> None:
    """Reject a file that unpacks to more than the limit."""
    if size > limit:
        raise TooLarge(f"{path.name} is larger than the limit of {amount(limit)} when unpacked; use part of it")


def _lines(path: Path, stream: IO[bytes], encoding: str, limit: int) -> Iterator[str]:
    """Decode the lines and count their bytes; a decoding error names its line."""
    seen = 0
    remedy = "save the file as UTF-8, or name its encoding: --encoding latin-1 for `labkit bench` and `data check`, "
    remedy += "encoding='latin-1' for `read_corpus`"
    lines = text_lines(stream, path.name, encoding, longest=64 * _CELL, remedy=remedy)
    for number, line in enumerate(lines, 1):
        if number == 1 and "\0" in line:
            raise ValueError(
                f"{path.name} row 1 contains a NUL character. If the file is UTF-16 without a byte order mark, save "
                "it as 'CSV UTF-8' or pass encoding='utf-16'"
            )
        seen += len(line)
        check_unpacked(path, seen, limit)
        yield line


def _csv(path: Path, lines: Iterator[str], ending: str, wide: bool) -> NumberedRows:
    """CSV with quotes, separated by commas or (from some spreadsheets) semicolons or tabs; TSV without quotes.

    A .tsv in UTF-16 comes from a spreadsheet, which quotes cells that contain a comma, tab or line break.
    """
    header = next(lines, "")
    if not header.strip():
        raise ValueError(f"{path.name} is empty, expected a header line and rows")
    separator = "\t" if ending == ".tsv" else _separator(header)
    quoting = csv.QUOTE_NONE if ending == ".tsv" and not wide else csv.QUOTE_MINIMAL
    yield from _table(path, chain([header], lines), separator, quoting)


def _check_width(columns: Sized, at: str) -> None:
    """Reject a table with very many columns, which would take minutes and which no corpus needs."""
    if len(columns) > COLUMNS:
        raise ValueError(f"{at} has {len(columns):,} columns, more than {COLUMNS:,}; keep only those of the corpus")


def _separator(header: str) -> str:
    return next((sign for sign in ",;\t" if sign in header), ",")


def _table(path: Path, lines: Iterable[str], separator: str, quoting: Any = csv.QUOTE_MINIMAL) -> NumberedRows:
    """The rows below the header."""
    csv.field_size_limit(_CELL)
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)
    columns: list[str] = []
    row = 0
    try:
        for row, cells in enumerate(reader, 1):
            if row == 1:
                _check_width(cells, f"{path.name} row 1")
                columns = column_names(cells, f"{path.name} row 1")
            elif cells and len(cells) != len(columns):
                raise ValueError(
                    f"{path.name} row {row}: {len(cells)} cells, but the header has {len(columns)}; look for a "
                    "missing cell, or a separator in unquoted text"
                )
            elif cells:  # skip blank lines
                yield row, dict(zip(columns, cells, strict=True))
    except csv.Error as reason:
        if "new-line" in str(reason):
            raise ValueError(
                f"{path.name} row {row + 1} has a carriage return within a line, perhaps because line endings are "
                "mixed. Save the file with one kind of line ending"
            ) from None
        raise ValueError(f"{path.name} row {row + 1}: {reason}; look for an unclosed quote") from None


def _txt(path: Path, lines: Iterator[str]) -> NumberedRows:
    """One sentence per line, or a table if the first line is a header."""
    first = next(lines, "")
    separator = "\t" if "\t" in first else _separator(first)
    columns = {name.strip().strip('"').lower() for name in first.split(separator)}
    if separator == "\t" or any(columns.issuperset(needed) for needed in SHAPES.values()):
        if columns != {"text"}:
            yield from _table(path, chain([first], lines), separator)
            return
        first = ""  # a header
    for number, line in enumerate(chain([first], lines), 1):
        if len(line) > _CELL:
            raise ValueError(
                f"{path.name} line {number} has {len(line):,} characters, but a line may have at most {_CELL:,}; "
                "write one sentence per line"
            )
        if line.strip():
            yield number, {"text": line.strip()}


def _jsonl(path: Path, lines: Iterator[str]) -> NumberedRows:
    """One JSON object per line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as reason:  # ValueError also for numbers with thousands of digits
            raise ValueError(f"{path.name} row {number}: invalid JSON ({reason}); write one object per line") from None
        if not isinstance(row, dict):
            raise ValueError(f"{path.name} row {number}: {type(row).__name__}, expected a JSON object with columns")
        _check_width(row, f"{path.name} row {number}")
        yield number, {str(key).strip().lower(): value for key, value in row.items()}


def _parquet(path: Path, limit: int) -> NumberedRows:
    """Parquet in batches of rows. The size of texts is counted, because a dictionary stores repeated ones once."""
    number, seen = 0, 0
    for batch in parquet_batches(path, limit):
        names = column_names(batch.schema.names, path.name)
        try:
            columns = [column.to_pylist() for column in batch.columns]
        except (ValueError, OverflowError) as reason:  # such as text that is not UTF-8, or a date in the year 300,000
            raise ValueError(
                f"{path.name} rows {number + 1} to {number + batch.num_rows}: a value does not match its column's type "
                f"({' '.join(str(reason).split())}); repair or drop the column"
            ) from None
        seen += sum(len(value) for column in columns for value in column if isinstance(value, str))
        check_unpacked(path, seen, limit)
        for values in zip(*columns, strict=True):
            number += 1
            yield number, dict(zip(names, values, strict=True))


def parquet_batches(path: Path, limit: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Some columns of a Parquet file as Arrow record batches, after a check of their unpacked size."""
    with parquet_file(path) as file:
        if columns is None:
            _check_width(file.schema_arrow.names, path.name)
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        parts = [group.column(number) for group in groups for number in range(group.num_columns)]
        if columns is not None:
            parts = [part for part in parts if part.path_in_schema.partition(".")[0] in columns]
        check_unpacked(path, sum(max(part.total_uncompressed_size, 4 * part.num_values) for part in parts), limit)
        yield from file.iter_batches(_BATCH, columns=columns, use_threads=False)


@contextmanager
def parquet_file(path: Path, buffer: int = 0) -> Iterator[Any]:
    """An open Parquet file; raises ValueError with one sentence if it cannot be read.

    With a `buffer` of N bytes, the columns of a row group are read as needed, however large the groups are.
    """
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path, buffer_size=buffer) as file:
            yield file
    except MemoryError:  # Arrow's own memory error is an ArrowException, too
        raise
    except arrow.ArrowException as reason:
        raise ValueError(f"{path.name} is not a readable Parquet file ({str(reason).splitlines()[0]})") from None


# --- corpora -----------------------------------------------------------------------------------------------------


def read_corpus(
    path: Path | str,
    *,
    name: str | None = None,
    encoding: str = "utf-8-sig",
    limit: int = LARGEST,
    columns: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Corpus:
    """Read a corpus from a file. `limit` bounds its unpacked bytes; `columns` maps our column names to the file's.

    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "mine.csv"
    >>> pd.DataFrame({"body": ["a cat", "an oak"], "topic": ["pet", "tree"]}).to_csv(path, index=False)
    >>> read_corpus(path, columns={"text": "body", "label": "topic"}).labels
    ('pet', 'tree')
    """
    path = Path(path)
    rows = read_rows(path, encoding=encoding, limit=limit)
    return corpus_of_rows(rows, path.name, name or path.name.split(".")[0], columns=columns, progress=progress)


def read_articles(path: Path | str) -> Iterator[tuple[Article, str]]:
    """The articles of a file with their splits, streamed: for files too large to fit in memory as a corpus."""
    path = Path(path)
    return articles_of_rows(read_rows(path, limit=STREAMED), path.name)


# --- writing -----------------------------------------------------------------------------------------------------


def check_output(path: Path) -> tuple[str, bool]:
    """The format of an output file and whether it is compressed; raises ValueError if the file cannot be written."""
    ending, packed = format_of(path)
    if ending == ".parquet":
        raise ValueError(f"{path.name}: the output must be .csv, .tsv or .jsonl, optionally with .gz; rename it")
    if not path.parent.is_dir():
        raise ValueError(f"{path.name}: the folder {str(path.parent)!r} does not exist; create it first")
    return ending, packed


def write_rows(
    rows: Iterable[Mapping[str, Any]], path: Path | str, *, total: int | None = None, progress: Progress = silent
) -> int:
    """Write the rows and return their number; the first row determines the columns.

    Memory use is constant. The file is written under a temporary name and then renamed, so an interruption leaves the
    old file intact.
    """
    path = Path(path)
    ending, packed = check_output(path)
    count = 0
    with in_place(path) as raw, _text_into(raw, packed) as text:
        table: csv.DictWriter | None = None
        for count, row in enumerate(rows, 1):
            if ending == ".jsonl":
                text.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                if table is None:  # CSV has quotes where needed and TSV has none, as when they are read
                    unquoted: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
                    table = csv.DictWriter(
                        text, list(row), lineterminator="\n", **(unquoted if ending == ".tsv" else {})
                    )
                    table.writeheader()
                if ending == ".tsv" and any(sign in str(value) for value in row.values() for sign in "\t\r\n"):
                    raise ValueError(
                        f"{path.name}: row {count} contains a tab or a line break, which a .tsv cannot hold; write a "
                        ".csv or .jsonl"
                    )
                table.writerow(row)
            if count % 1000 == 0:
                progress(count, total, path.name)
    progress(count, total, path.name)
    return count


@contextmanager
def _text_into(raw: IO[bytes], packed: bool) -> Iterator[IO[str]]:
    """Write text to a stream of bytes; gzip stores no name or time, so that equal rows give equal bytes."""
    with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) if packed else nullcontext(raw) as target:
        text = io.TextIOWrapper(cast(IO[bytes], target), "utf-8", newline="")
        yield text
        text.detach()  # flush, but leave the bytes below open for their owner
