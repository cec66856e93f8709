"""`labkit encode RUN --input FILE --output FILE`: sentences in, their vectors out."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from labkit.commands.opening import opened_corpus, opened_method, record_of
from labkit.progress import Progress, terminal

if TYPE_CHECKING:
    from labkit.methods import Method

BATCH = 256  # sentences

Blocks: TypeAlias = Iterator[tuple[list[str], int]]  # sentences, and how far that is of the total


def encode(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    output: Annotated[Path, typer.Option(help="A file that ends in .npz, .parquet or .tsv.")],
    source: Annotated[
        str, typer.Option("--input", metavar="FILE|-", help="A text with one sentence a line, or a corpus file.")
    ] = "-",
) -> None:
    """Write the vectors of sentences: of a text's lines, of a corpus file's distinct sentences, of standard input."""
    from labkit.embedding_files import check_place

    check_place(output)
    if source != "-" and not Path(source).is_file():
        raise ValueError(f"--input is {source!r}, which is no file; check the name, or give - for standard input")
    record_of(run)
    method = opened_method(run)
    if source == "-" and sys.stdin is not None and sys.stdin.isatty():
        typer.echo("one sentence a line; Ctrl-D ends", err=True)
    with _opened(source) as (blocks, total, unit), terminal(unit) as progress:
        rows, width = _written(method, blocks, total, output, progress)
    typer.echo(f"{output}: {rows:,} sentences, {width:,} columns")


def _written(method: Method, blocks: Blocks, total: int | None, output: Path, progress: Progress) -> tuple[int, int]:
    """Encode block by block; how many rows and columns that made."""
    from labkit.embedding_files import embedding_file

    count, width = 0, 0
    with embedding_file(output) as add:
        for sentences, done in blocks:
            rows = method.encode(sentences, batch_size=BATCH)
            add(sentences, rows)
            count, width = count + len(sentences), rows.shape[1]
            progress(done, total, "encoding")
        if not count:
            raise ValueError("--input has no line, expected one sentence a line; give it at least one")
    return count, width


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
