"""`labkit encode RUN --input FILE --output FILE`: sentences in, their vectors out."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from labkit.commands.opening import opened_corpus, opened_method, record_of
from labkit.commands.options import Force, Json, RunFolder, check_free
from labkit.commands.saying import answer, remark, standard_output, step
from labkit.progress import Progress, terminal

if TYPE_CHECKING:
    from labkit.methods import Method

BATCH = 256  # sentences

Blocks: TypeAlias = Iterator[tuple[list[str], int]]  # sentences, and how far that is of the total


def encode(
    run: RunFolder,
    output: Annotated[
        Path,
        typer.Option(
            metavar="FILE|-", help="A file that ends in .npz, .parquet or .tsv; - is standard output, as JSON lines."
        ),
    ],
    source: Annotated[
        str, typer.Option("--input", metavar="FILE|-", help="A text with one sentence a line, or a corpus file.")
    ] = "-",
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the vectors of sentences: of a text's lines, of a corpus file's distinct sentences, of standard input."""
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
    record_of(run)
    method = opened_method(run)
    if source == "-" and sys.stdin is not None and sys.stdin.isatty():
        remark("one sentence a line; Ctrl-D ends")
    with step("encoded"), _opened(source) as (blocks, total, unit), terminal(unit) as progress:
        rows, width = _written(method, blocks, total, output, progress)
    if str(output) == "-":
        remark(f"{rows:,} sentences, {width:,} columns")
    else:
        record = {"run": run, "file": output, "sentences": rows, "columns": width}
        answer(record, f"{output}: {rows:,} sentences, {width:,} columns", json=json)


def _written(method: Method, blocks: Blocks, total: int | None, output: Path, progress: Progress) -> tuple[int, int]:
    """Encode block by block; how many rows and columns that made."""
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
    """A function that takes each block, whose lines are on standard output at once."""
    from labkit.embedding_files import json_lines

    def add(sentences: list[str], rows: Any) -> None:
        for line in json_lines(sentences, rows):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    with standard_output():
        yield add


@contextmanager
def _opened(source: str) -> Iterator[tuple[Blocks, int | None, str]]:
    """The blocks of a source, where their counting will end, and what it counts."""
    from labkit.corpora.tables import FORMATS
    from labkit.lines import line_blocks

    if source == "-":
        stream = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
        yield line_blocks(stream, "standard input"), None, "B"
    elif any(ending in FORMATS for ending in Path(source.lower()).suffixes):
        sentences = opened_corpus(source).sentences()
        yield _cut(sentences), len(sentences), "sentence"
    else:
        with Path(source).open("rb") as stream:
            yield line_blocks(stream, Path(source).name), Path(source).stat().st_size, "B"


def _cut(sentences: list[str]) -> Blocks:
    from labkit.lines import LINES

    for start in range(0, len(sentences), LINES):
        block = sentences[start : start + LINES]
        yield block, start + len(block)
