"""`labkit encode`: the vectors of sentences, to a file, to standard output, or to a folder of shards.

In: the folder of a run; lines of text, a corpus file, Parquet files or folders of shards. Out: a file with sentences
and vectors, block by block, or a folder of .npy shards, each made by a task.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from labkit.cli.arguments import (
    ExecutorName,
    Force,
    Json,
    RunFolder,
    check_free,
    clear_shards,
    opened_corpus,
    usable_method,
    workers_of,
)
from labkit.cli.output import remark, show_result, standard_output, step
from labkit.progress import Progress, terminal

if TYPE_CHECKING:
    from labkit.method import Method

BATCH = 256  # sentences

Blocks: TypeAlias = Iterator[tuple[list[str], int]]  # sentences, and how far that is of the total


def encode(
    run: RunFolder,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INPUT...]", help="For --out: Parquet files and folders of shards. Else as --input."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|-", help="A file that ends in .npz, .parquet or .tsv; - is standard output, as JSON lines."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder of .npy shards, for what does not fit into memory. What stopped it, the same call goes on "
            "from there.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="FILE|-",
            help="A text with one sentence a line, or a corpus file; - (or nothing) is standard input.",
        ),
    ] = None,
    distinct: Annotated[
        bool,
        typer.Option("--distinct", help="Each sentence of a corpus file once, not the texts of its rows in order."),
    ] = False,
    column: Annotated[str | None, typer.Option(help="--out: the column of sentences, `text` unless said so.")] = None,
    half: Annotated[bool, typer.Option("--half", help="--out: numbers as float16, half the size.")] = False,
    executor: ExecutorName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the vectors of sentences: of a text's lines, of a corpus file's rows, of standard input; or, with --out, of
    all rows of Parquet files and folders of shards.

    A row of pairs or triplets gives a vector for each of its texts, one after the other.
    """
    named = [*(inputs or []), *([] if source is None else [source])]
    if out is not None:
        if output is not None:
            raise ValueError(f"--output is {str(output)!r} and --out {str(out)!r}; leave one of them out")
        if distinct:
            raise ValueError(
                "--distinct is of a corpus file, and --out takes all rows; use `labkit data dedup` before it"
            )
        _encode_shards(run, named, out, column or "text", half, executor, force=force, json=json)
        return
    if output is None:
        raise ValueError("--output is missing, expected the file to write, or --out and a folder of shards; name one")
    for option, value in {"--column": column, "--half": half or None, "--executor": executor}.items():
        if value is not None:
            raise ValueError(f"{option} is of a folder of shards, which --out names; leave {option} out")
    if len(named) > 1:
        raise ValueError(f"there are {len(named)} inputs, expected one for a file; name a folder of shards with --out")
    _encode_file(run, named[0] if named else "-", output, distinct, force=force, json=json)


def _encode_shards(
    run: Path, sources: list[str], out: Path, column: str, half: bool, executor: str | None, *, force: bool, json: bool
) -> None:
    from labkit.corpora.shards import shards_in
    from labkit.embedding_shards import write_vectors

    if not sources:
        raise ValueError("INPUT is missing, expected Parquet files or folders of shards; name one before --out")
    work = workers_of(executor)
    clear_shards(out, force=force)
    usable_method(run)
    with step("encoded"), terminal("shard") as progress:
        made = write_vectors(run, sources, out, column=column, half=half, **work, progress=progress)
    shards = len(shards_in(out))
    record = {"run": run, "folder": out, "rows": made["rows"], "columns": made["dimension"], "type": made["type"]}
    text = f"{out}: {made['rows']:,} rows, {made['dimension']:,} columns, {made['type']}, in {shards:,} shard"
    show_result(record | {"shards": shards}, text + "s" * (shards > 1), json=json)


def _encode_file(run: Path, source: str, output: Path, distinct: bool, *, force: bool, json: bool) -> None:
    from labkit.embedding_files import check_place

    if str(output) != "-":
        check_place(output)
        check_free(output, "--output", force=force)
    elif json or force:
        option = "--json" if json else "--force"
        why = "both want standard output" if json else "standard output has nothing to write over"
        raise ValueError(f"{option} and --output - exclude each other: {why}; leave {option} out")
    if source != "-" and not Path(source).is_file():
        raise ValueError(f"--input is {source!r}, which is no file; check the name, or give - for standard input")
    method = usable_method(run)
    if source == "-" and sys.stdin is not None and sys.stdin.isatty():
        remark("one sentence a line; Ctrl-D ends")
    with step("encoded"), _opened(source, distinct) as (blocks, total, unit), terminal(unit) as progress:
        rows, width = _written(method, blocks, total, output, progress)
    if str(output) == "-":
        remark(f"{rows:,} sentences, {width:,} columns")
    else:
        record = {"run": run, "file": output, "sentences": rows, "columns": width}
        show_result(record, f"{output}: {rows:,} sentences, {width:,} columns", json=json)


def _written(method: Method, blocks: Blocks, total: int | None, output: Path, progress: Progress) -> tuple[int, int]:
    """Encode and write block by block; returns the number of rows and of columns."""
    from labkit.embedding_files import embedding_file

    count, width = 0, 0
    with _standard_lines() if str(output) == "-" else embedding_file(output) as add:
        for sentences, done in blocks:
            rows = method.encode(sentences, batch_size=BATCH)
            add(sentences, rows)
            count, width = count + len(sentences), rows.shape[1]
            progress(done, total, "encoding")
        if not count:
            raise ValueError("--input has no line, expected one sentence a line; give it at least one")
    return count, width


@contextmanager
def _standard_lines() -> Iterator[Callable[[list[str], Any], None]]:
    """Gives a function that writes a block of sentences and rows to standard output at once."""
    from labkit.embedding_files import json_lines

    def add(sentences: list[str], rows: Any) -> None:
        for line in json_lines(sentences, rows):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    with standard_output():
        yield add


@contextmanager
def _opened(source: str, distinct: bool) -> Iterator[tuple[Blocks, int | None, str]]:
    """The blocks of a source, the total that their progress counts up to, and what it counts."""
    from labkit.corpora.files import FORMATS
    from labkit.text import LINES, line_blocks

    if source == "-":
        stream = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
        yield line_blocks(stream, "standard input"), None, "B"
    elif any(ending in FORMATS for ending in Path(source.lower()).suffixes):
        sentences = opened_corpus(source).sentences() if distinct else _texts(Path(source))
        ends = range(LINES, len(sentences) + LINES, LINES)
        blocks = ((sentences[end - LINES : end], min(end, len(sentences))) for end in ends)
        yield blocks, len(sentences), "sentence"
    else:
        with Path(source).open("rb") as stream:
            yield line_blocks(stream, Path(source).name), Path(source).stat().st_size, "B"


def _texts(path: Path) -> list[str]:
    """The texts of a corpus file, row by row; of articles their sentences."""
    from labkit.corpora.files import read_rows
    from labkit.corpora.rows import texts_of_rows
    from labkit.untrusted import within_memory

    with within_memory(path.name):
        first = next(read_rows(path), (0, {}))[1]
        return (
            opened_corpus(str(path)).sentences() if "sections" in first else texts_of_rows(read_rows(path), path.name)
        )
