"""Rows out of files and into files, and the corpus in a file; `rows.py` has the columns that each shape of corpus has.

Files are CSV, TSV, JSONL (each also .gz) and Parquet, read as a stream of (row number, {column: value}), with the row
numbers a spreadsheet shows (the header is row 1). What begins with the mark of UTF-16 is read so. A .txt whose first
line has the columns of a corpus, or a tab, is a table, as Excel's "Unicode Text" is; of any other each line is a
sentence, and blank lines are none. Articles have sections, and are JSONL only.

Nothing is trusted: not the encoding, not the number of cells, not what the name says the file is, not how large it
becomes when unpacked: that is counted before it is unpacked. What a file says of itself may be a lie: a stranger's is
read in a process of its own (`labkit.untrusted`). Files are written whole or not at all.
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
from labkit.text import MARKS, known_encoding, text_lines

NumberedRows = Iterator[tuple[int, dict[str, Any]]]

LARGEST = 8 * 2**30  # bytes unpacked: no file of sentences is larger
STREAMED = 2**42  # bytes, where a few rows at a time are held
SUSPECT_RATIO, SUSPECT_FROM = 200, 8 * 2**20  # text packs 3 to 30 times; a bomb 1000 times
FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
COLUMNS = 1_000  # of a table, at most
_CELL = 1_000_000  # characters in one cell
_DEEPEST = 50  # lists within lists
_LEAST = 4  # bytes that a value counts, however well a Parquet file packs it
_BATCH = 2**26  # bytes of Parquet rows that are unpacked together, were each text as long as its whole column
_GZIP = b"\x1f\x8b"
_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
_MAGIC = {b"PK\x03\x04": "a zip archive", b"PAR1": "a Parquet file", _GZIP: "a gzip file", b"%PDF": "a PDF"}


class TooLarge(ValueError):
    """What a file unpacks to is more than the limit, or more than can be honest."""


def format_of(path: Path) -> tuple[str, bool]:
    """(".csv", True) for `name.csv.gz`: the format by the file's name, and whether it is packed."""
    packed = path.suffix.lower() == ".gz"
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    if path.is_dir():
        raise ValueError(f"{path} is a folder, expected a .csv, .tsv, .jsonl or .parquet file; name a file in it")
    if ending in _SPREADSHEETS:
        raise ValueError(f"{path.name} is a spreadsheet, which is not read; save it as CSV in UTF-8 and use that file")
    if ending not in FORMATS or (packed and ending == ".parquet"):
        raise ValueError(
            f"{path.name}: expected a file named .csv, .tsv, .jsonl (or one of these .gz) or .parquet, or for articles "
            "a dump of a wiki; rename or convert it"
        )
    return ending, packed


def read_rows(path: Path | str, *, encoding: str = "utf-8-sig", limit: int = LARGEST) -> NumberedRows:
    """The rows of a file, streamed. Whatever is wrong is a ValueError of one sentence with the row's number."""
    path = Path(path)
    encoding = known_encoding(encoding)
    ending, packed = (".txt", False) if path.suffix.lower() == ".txt" else format_of(path)
    if path.is_dir():
        raise ValueError(f"{path.name} is a folder, expected a file; name the file inside it")
    if not path.exists():
        raise ValueError(f"{path} does not exist; check the name and the folder you are in")
    if path.stat().st_size > limit:
        raise ValueError(
            f"{path.name} has {amount(path.stat().st_size)}, the limit is {amount(limit)}; give a part of it"
        )
    try:
        if ending == ".parquet":
            yield from _parquet(path, limit)
        else:
            with _opened(path, packed, limit) as stream:
                if ending == ".jsonl":
                    yield from _jsonl(path, stream, encoding)
                elif ending == ".txt":
                    yield from _txt(path, stream, encoding)
                else:
                    yield from _csv(path, stream, encoding, ending)
    except (OSError, EOFError, zlib.error) as reason:
        why = getattr(reason, "strerror", None) or " ".join(str(reason).split())
        raise ValueError(f"{path.name} could not be read to its end ({why}); is it complete and still there?") from None


@contextmanager
def _opened(path: Path, packed: bool, limit: int) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked, once its first bytes agree with its name."""
    with path.open("rb") as raw:
        first = raw.read(4)
        raw.seek(0)
        kind = next((kind for magic, kind in _MAGIC.items() if first.startswith(magic)), "")
        if kind and not (packed and kind == _MAGIC[_GZIP]):
            raise ValueError(f"{path.name} is {kind} by its first bytes; unpack it or give it its right ending")
        if packed and first and not kind:
            raise ValueError(f"{path.name} is not a gzip file; drop the .gz from its name or pack it again")
        if not packed:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield cast(IO[bytes], io.BufferedReader(_Guarded(unpacked, path, limit), 2**16))


class _Guarded(io.RawIOBase):
    """Unpacked bytes, counted: a bomb is refused by its unpacked size, before it fills the memory."""

    def __init__(self, stream: gzip.GzipFile, path: Path, limit: int) -> None:
        self.stream, self.path, self.limit, self.seen = stream, path, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read1(len(buffer))
        self.seen += len(data)
        _check_unpacked(self.path, self.seen, self.limit, "unpack it yourself and give the file")
        buffer[: len(data)] = data
        return len(data)


def _check_unpacked(path: Path, unpacked: int, limit: int, remedy: str) -> None:
    """So many bytes are not more than the limit, and not many more than text packs into a file of this size."""
    packed = path.stat().st_size
    suspect = max(SUSPECT_FROM, SUSPECT_RATIO * packed)
    if unpacked > min(limit, suspect):
        if limit <= suspect:
            raise TooLarge(f"{path.name} unpacks to more than {amount(limit)}; give a part of it")
        raise TooLarge(
            f"{path.name} unpacks from {amount(packed)} to more than {amount(suspect)}, more than text would; if it is "
            f"honest, {remedy}"
        )


def _lines(path: Path, stream: IO[bytes], encoding: str) -> Iterator[str]:
    """Decoded lines; a byte that is not of the encoding is named with its line."""
    remedy = "save the file as UTF-8, or read it by `read_corpus(path, encoding=...)` in Python"
    lines = text_lines(stream, path.name, encoding, longest=64 * _CELL, remedy=remedy)
    for number, (line, _) in enumerate(lines, 1):
        if number == 1 and "\0" in line:
            raise ValueError(
                f"{path.name} row 1 holds a NUL, which is no text; if it is UTF-16 without a mark, save it as "
                "'CSV UTF-8' or name the encoding utf-16"
            )
        yield line


def _csv(path: Path, stream: IO[bytes], encoding: str, ending: str) -> NumberedRows:
    """CSV by its quotes, with commas or (as some spreadsheets write) semicolons or tabs; TSV without quoting.

    A .txt, or a .tsv in UTF-16, is a spreadsheet's, which puts a cell with a comma, a tab or a line break in quotes.
    """
    marked = stream.peek(4).startswith(tuple(mark for mark in MARKS if MARKS[mark] != "utf-8"))  # type: ignore[attr-defined]
    lines = _lines(path, stream, encoding)
    header = next(lines, "")
    if not header.strip():
        raise ValueError(f"{path.name} is empty, expected a header line and rows")
    if ending == ".tsv" and not marked:
        yield from _table(path, chain([header], lines), "\t", quoting=csv.QUOTE_NONE)
    else:
        yield from _table(path, chain([header], lines), "\t" if ending != ".csv" else _separator(header))


def _check_width(columns: Sized, at: str) -> None:
    """A table of very many columns takes minutes, and no corpus has them."""
    if len(columns) > COLUMNS:
        raise ValueError(f"{at}: {len(columns):,} columns, expected at most {COLUMNS:,}; keep those of a corpus")


def _separator(header: str) -> str:
    return next((sign for sign in ",;\t" if sign in header), ",")


def _table(path: Path, lines: Iterable[str], separator: str, quoting: Any = csv.QUOTE_MINIMAL) -> NumberedRows:
    """The rows below a header."""
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
                    f"{path.name} row {row}: {len(cells)} cells where the header has {len(columns)}; is a separator "
                    "inside a text that is not in quotes, or a cell missing?"
                )
            elif cells:  # a blank line is no row
                yield row, dict(zip(columns, cells, strict=True))
    except csv.Error as reason:
        if "new-line" in str(reason):
            raise ValueError(
                f"{path.name} row {row + 1}: a carriage return inside a line, as where files with different line ends "
                "were joined; save the file with one kind of line end"
            ) from None
        raise ValueError(f"{path.name} row {row + 1}: {reason}; look for a quote that is not closed") from None


def _txt(path: Path, stream: IO[bytes], encoding: str) -> NumberedRows:
    """A sentence a line; or a table, where the first line says so."""
    lines = _lines(path, stream, encoding)
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
                f"{path.name} line {number} has {len(line):,} letters, expected one sentence a line, of at most "
                f"{_CELL:,}; break it into lines"
            )
        if line.strip():
            yield number, {"text": line.strip()}


def _jsonl(path: Path, stream: IO[bytes], encoding: str) -> NumberedRows:
    """One JSON object a line."""
    for number, line in enumerate(_lines(path, stream, encoding), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if line.count("[") + line.count("{") > _DEEPEST and _too_deep(row):
                raise RecursionError(f"lists within lists, more than {_DEEPEST} deep")
        except (ValueError, RecursionError) as reason:  # ValueError: a number of many thousand digits, too
            raise ValueError(f"{path.name} row {number}: not JSON ({reason}); write one object a line") from None
        if not isinstance(row, dict):
            raise ValueError(f"{path.name} row {number}: {type(row).__name__}, expected a JSON object with columns")
        _check_width(row, f"{path.name} row {number}")
        yield number, {str(key).strip().lower(): value for key, value in row.items()}


def _too_deep(value: Any) -> bool:
    """Whether lists and objects stand within one another so deeply that whoever walks through them may fall."""
    level = [value]
    for _ in range(_DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = list(chain.from_iterable(inner))
    return bool(level)


def _parquet(path: Path, limit: int) -> NumberedRows:
    """Parquet, a batch of rows at a time."""
    number = 0
    for batch in parquet_batches(path, limit):
        names = column_names(batch.schema.names, path.name)
        try:
            columns = [column.to_pylist() for column in batch.columns]
        except (ValueError, OverflowError) as reason:  # a text that is not UTF-8, a date of the year 300,000
            raise ValueError(
                f"{path.name} rows {number + 1} to {number + batch.num_rows}: a value is none of its type "
                f"({' '.join(str(reason).split())}); mend or drop its column"
            ) from None
        for values in zip(*columns, strict=True):
            number += 1
            yield number, dict(zip(names, values, strict=True))


def parquet_batches(
    path: Path, limit: int, columns: Sequence[str] | None = None, *, remedy: str = "save it as CSV"
) -> Iterator[Any]:
    """Some columns of a Parquet file as Arrow's record batches, whose bytes without dictionaries are counted.

    A dictionary, a run or a common beginning packs a text of a megabyte a thousand times into a kilobyte. No text is
    longer than its packed column, so that so few rows are unpacked together that all of them could be as long.
    """
    with parquet_file(path) as file:
        if columns is None:
            _check_width(file.schema_arrow.names, path.name)
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        parts = [group.column(number) for group in groups for number in range(group.num_columns)]
        if columns is not None:
            parts = [part for part in parts if part.path_in_schema.partition(".")[0] in columns]
        by_header = sum(max(part.total_uncompressed_size, _LEAST * part.num_values) for part in parts)
        _check_unpacked(path, by_header, limit, remedy)
        texts = [part.total_uncompressed_size for part in parts if part.physical_type == "BYTE_ARRAY"]
        rows, seen = max(16, min(4096, _BATCH // max([1, *texts]))), 0
        for batch in file.iter_batches(rows, columns=columns, use_threads=False):
            seen += sum(map(_decoded, batch.columns))
            _check_unpacked(path, seen, limit, remedy)
            yield batch


@contextmanager
def parquet_file(path: Path, buffer: int = 0) -> Iterator[Any]:
    """An open Parquet file; what is wrong with it is a ValueError of one sentence.

    With a `buffer` of so many bytes, what a group of rows has of a column is read as it is needed, however large the
    groups are.
    """
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        with parquet.ParquetFile(path, buffer_size=buffer) as file:
            yield file
    except MemoryError:  # Arrow's own is an ArrowException, too
        raise
    except arrow.ArrowException as reason:
        raise ValueError(f"{path.name} is not a readable Parquet file ({str(reason).splitlines()[0]})") from None


def _decoded(array: Any) -> int:
    """Bytes of an Arrow array when each row has its own copy of what a dictionary holds once."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    kind = array.type
    if arrow.types.is_dictionary(kind):
        if arrow.types.is_primitive(kind.value_type):
            return 8 * len(array)
        return int(compute.sum(compute.binary_length(array.dictionary).take(array.indices)).as_py() or 0)
    if arrow.types.is_struct(kind):
        return sum(map(_decoded, array.flatten()))
    if arrow.types.is_nested(kind):  # lists and maps: what is in them, and where each begins
        return _LEAST * len(array) + _decoded(array.values if arrow.types.is_map(kind) else array.flatten())
    return max(array.nbytes, _LEAST * len(array))


# --- corpora -----------------------------------------------------------------------------------------------------


def read_corpus(
    path: Path | str,
    *,
    name: str | None = None,
    encoding: str = "utf-8-sig",
    limit: int = LARGEST,
    progress: Progress = silent,
) -> Corpus:
    """The corpus in a file; `limit` bounds its unpacked bytes."""
    path = Path(path)
    rows = read_rows(path, encoding=encoding, limit=limit)
    return corpus_of_rows(rows, path.name, name or path.name.split(".")[0], progress=progress)


def read_articles(path: Path | str) -> Iterator[tuple[Article, str]]:
    """The articles of a file one after the other, with their splits: for files too large for a corpus in memory."""
    path = Path(path)
    return articles_of_rows(read_rows(path, limit=STREAMED), path.name)


# --- writing -----------------------------------------------------------------------------------------------------


def write_rows(
    rows: Iterable[Mapping[str, Any]], path: Path | str, *, total: int | None = None, progress: Progress = silent
) -> int:
    """Write the rows and say how many there were; the columns are those of the first row.

    Memory stays flat however many there are. The file is written beside its place and moved there at the end, so that
    an interruption leaves what was there before.
    """
    path = Path(path)
    ending, packed = format_of(path)
    if ending == ".parquet":
        raise ValueError(f"{path.name}: rows are written as .csv, .tsv or .jsonl (or one of these .gz); rename it")
    if not path.parent.is_dir():
        raise ValueError(f"{path.name}: the folder {str(path.parent)!r} does not exist; make it first")
    count = 0
    with in_place(path) as raw, _text_into(raw, packed) as text:
        table: csv.DictWriter | None = None
        for count, row in enumerate(rows, 1):
            if ending == ".jsonl":
                text.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                if table is None:  # CSV with quotes where needed, TSV with none at all: so both are read again
                    unquoted: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
                    table = csv.DictWriter(
                        text, list(row), lineterminator="\n", **(unquoted if ending == ".tsv" else {})
                    )
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


@contextmanager
def _text_into(raw: IO[bytes], packed: bool) -> Iterator[IO[str]]:
    """Characters into bytes; packed without a name or time inside, so that the same rows give the same bytes."""
    with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) if packed else nullcontext(raw) as target:
        text = io.TextIOWrapper(cast(IO[bytes], target), "utf-8", newline="")
        yield text
        text.detach()  # flushed, and the bytes below stay open for their owner
