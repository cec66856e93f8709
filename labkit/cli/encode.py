"""`labkit encode`, and the other commands for more rows than fit in memory: `neighbours` and `data dedup`.

`encode` writes the vectors of text lines or a corpus file to a file or to standard output, and the vectors of Parquet
files and folders of shards to a folder of .npy shards. Repeating an interrupted command resumes it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from typer import Argument, Option, Typer

from labkit import text
from labkit.cli.arguments import Command, Executor, Force, RunFolder, Shards, Shown, check_free
from labkit.cli.opening import opened_corpus, record_of, usable_method, workers_of, written_shards
from labkit.cli.output import chosen, standard_output, step
from labkit.corpora.files import FORMATS, read_rows
from labkit.corpora.rows import texts_of_rows
from labkit.embedding_files import check_place, write_embeddings, write_json_lines
from labkit.embedding_shards import write_vectors
from labkit.evaluation.neighbour_shards import write_neighbours
from labkit.progress import terminal
from labkit.untrusted import within_memory

BATCH = 256  # sentences

Blocks: TypeAlias = Iterator[tuple[list[str], int]]  # sentences, and progress towards the total

app = Typer(rich_markup_mode=None)


@app.command(cls=Command)
def encode(
    run: RunFolder,
    inputs: Annotated[
        list[str] | None,
        Argument(
            metavar="INPUT", help="With --out: Parquet files or folders of shards. Otherwise: the same as --input."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(metavar="FILE|-", help="A .npz, .parquet or .tsv file, or - for JSON lines on standard output."),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            metavar="FOLDER", help="Folder of .npy shards, for data larger than memory. Repeat the command to resume."
        ),
    ] = None,
    source: Annotated[
        str | None,
        Option(
            "--input", metavar="FILE|-", help="Text with one sentence per line, a corpus file, or - for standard input."
        ),
    ] = None,
    distinct: Annotated[
        bool, Option("--distinct", help="Encode each distinct sentence of a corpus file once.")
    ] = False,
    column: Annotated[
        str | None, Option(help="With --out: the column that contains the sentences. Default: text.")
    ] = None,
    half: Annotated[bool, Option("--half", help="With --out: store float16, which takes half the space.")] = False,
    executor: Executor = None,
    force: Force = False,
) -> Shown | None:
    """Write the vectors of sentences from a text file, a corpus file or standard input (the default of --input).

    With --out, write the vectors of all rows in Parquet files and folders of shards. A row of pairs or triplets gives
    one vector per text, in order.
    """
    named = [*(inputs or []), *([] if source is None else [source])]
    given = {"--output": output, "--distinct": distinct, "--column": column, "--half": half, "--executor": executor}
    for option in ("--output", "--distinct") if out else ("--column", "--half", "--executor"):
        if given[option]:
            raise ValueError(f"{option} does not apply {'with' if out else 'without'} --out; omit it")
    if out is None:
        if output is None:
            raise ValueError("--output is missing; name the output file, or give --out and a folder of shards")
        if len(named) > 1:
            raise ValueError(
                f"there are {len(named)} inputs, but --output takes only one; name a folder of shards with --out"
            )
        return _encode_file(run, named[0] if named else "-", output, distinct, force=force)
    if not named:
        raise ValueError("INPUT is missing; name Parquet files or folders of shards before --out")
    how = {"column": column or "text", "half": half, **workers_of(executor)}
    record_of(run)
    made, shards = written_shards(write_vectors, run, named, out=out, force=force, **how)
    record = {"run": run, "folder": out, "rows": made["rows"], "columns": made["dimension"], "type": made["type"]}
    told = f"{out}: {made['rows']:,} rows, {made['dimension']:,} columns, {made['type']}, shards: {shards:,}"
    return record | {"shards": shards}, told


def _encode_file(run: Path, source: str, output: Path, distinct: bool, *, force: bool) -> Shown | None:
    piped = str(output) == "-"
    for option, unwanted in (("--json", chosen("json")), ("--force", force)):
        if piped and unwanted:
            raise ValueError(f"{option} and --output - cannot be combined; omit one")
    if not piped:
        check_place(output)
        check_free(output, "--output", force=force)
    if source != "-" and not Path(source).is_file():
        raise ValueError(f"--input {source!r} is not a file; check the name, or use - for standard input")
    method = usable_method(run)
    with step("encoded"), _opened(source, distinct) as (blocks, total, unit), terminal(unit) as progress:
        rows = width = 0

        def encoded() -> Iterator[tuple[list[str], Any]]:
            nonlocal rows, width
            for sentences, done in blocks:
                vectors = method.encode(sentences, batch_size=BATCH)
                yield sentences, vectors
                rows, width = rows + len(sentences), vectors.shape[1]
                progress(done, total, "encoding")
            if not rows:
                raise ValueError("--input contains no sentences; provide at least one")

        if piped:
            with standard_output():
                write_json_lines(sys.stdout.buffer, encoded())
            return None
        write_embeddings(output, encoded())
    record = {"run": run, "file": output, "sentences": rows, "columns": width}
    return record, f"{output}: {rows:,} sentences, {width:,} columns"


@contextmanager
def _opened(source: str, distinct: bool) -> Iterator[tuple[Blocks, int | None, str]]:
    """The blocks of a source, and the total and the unit for their progress."""
    if source == "-":
        stream = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
        yield text.line_blocks(stream, "standard input"), None, "B"
    elif any(ending in FORMATS for ending in Path(source.lower()).suffixes):
        sentences = opened_corpus(source).sentences() if distinct else _texts(Path(source))
        ends = range(text.LINES, len(sentences) + text.LINES, text.LINES)
        blocks = ((sentences[end - text.LINES : end], min(end, len(sentences))) for end in ends)
        yield blocks, len(sentences), "sentence"
    else:
        with Path(source).open("rb") as stream:
            yield text.line_blocks(stream, Path(source).name), Path(source).stat().st_size, "B"


def _texts(path: Path) -> list[str]:
    """The texts of a corpus file, row by row; for articles, their sentences."""
    with within_memory(path.name):
        if "sections" in next(read_rows(path), (0, {}))[1]:
            return opened_corpus(str(path)).sentences()
        return texts_of_rows(read_rows(path), path.name)


@app.command(cls=Command)
def neighbours(
    vectors: Annotated[
        Path, Argument(metavar="VECTORS", help="A folder written by `labkit encode --out`, or a .npy file.")
    ],
    out: Shards,
    queries: Annotated[Path | None, Option(help="Query vectors. Default: every row is a query.")] = None,
    count: Annotated[int, Option(min=1, help="Neighbours per query.")] = 10,
    index: Annotated[str, Option(help="exact, or faiss (approximate; its recall is measured).")] = "exact",
    yes: Annotated[bool, Option("--yes", help="With exact: run no matter how long it takes.")] = False,
    executor: Executor = None,
    force: Force = False,
) -> Shown:
    """Find the rows with the highest cosine to each query, and write their row numbers and cosines, nearest first."""
    how = {"queries": queries, "count": count, "index": index, "insist": yes, **workers_of(executor)}
    made, shards = written_shards(write_neighbours, vectors, out=out, force=force, **how)
    told = f"{out}: the {count} nearest of {made['base']:,} rows for each of {made['rows']:,} queries"
    if "recall" in made:
        told += f"; recall {made['recall']:.4f}, measured on {made['recalled']:,} of them"
    del made["plan"]
    return {"folder": out, "queries": made.pop("rows"), **made, "shards": shards}, told
