"""`labkit encode`, and the other commands for more rows than fit in memory: `data dedup` and `neighbours`.

`encode` writes the vectors of lines of text or of a corpus file to one file or to standard output, and those of Parquet
files and folders of shards to a folder of .npy shards. The same command resumes an interrupted one.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from labkit.cli.arguments import (
    ExecutorName,
    Force,
    Json,
    RunFolder,
    check_free,
    clear_shards,
    complete_corpora,
    opened_corpus,
    usable_method,
    workers_of,
)
from labkit.cli.output import remark, show_result, standard_output, step
from labkit.progress import terminal

BATCH = 256  # sentences

Blocks: TypeAlias = Iterator[tuple[list[str], int]]  # sentences, and progress towards the total


def encode(
    run: RunFolder,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INPUT...]", help="With --out: Parquet files, folders of shards. Else like --input."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|-", help="Output file (.npz, .parquet or .tsv); - writes JSON lines to standard output."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of .npy shards, for more than fits in memory. The same command resumes.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="FILE|-",
            help="Text with one sentence per line, or a corpus file; - (the default) reads standard input.",
        ),
    ] = None,
    distinct: Annotated[
        bool,
        typer.Option("--distinct", help="Encode each distinct sentence of a corpus file once, not every row."),
    ] = False,
    column: Annotated[str | None, typer.Option(help="With --out: column of the sentences. Default: text.")] = None,
    half: Annotated[bool, typer.Option("--half", help="With --out: store float16, half the size.")] = False,
    executor: ExecutorName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the vectors of sentences from a text, a corpus file or standard input; with --out, of all rows of Parquet
    files and folders of shards.

    A row of pairs or triplets gives one vector per text, in order.
    """
    named = [*(inputs or []), *([] if source is None else [source])]
    if out is not None:
        if output is not None:
            raise ValueError(f"--output {str(output)!r} and --out {str(out)!r} cannot be combined; omit one")
        if distinct:
            raise ValueError("--distinct needs a corpus file, but --out takes all rows; use `labkit data dedup` first")
        _encode_shards(run, named, out, column or "text", half, executor, force=force, json=json)
        return
    if output is None:
        raise ValueError("--output is missing; name the output file, or give --out and a folder of shards")
    for option, value in {"--column": column, "--half": half or None, "--executor": executor}.items():
        if value is not None:
            raise ValueError(f"{option} needs a folder of shards, given by --out; omit {option}")
    if len(named) > 1:
        raise ValueError(f"there are {len(named)} inputs, but a file takes one; name a folder of shards with --out")
    _encode_file(run, named[0] if named else "-", output, distinct, force=force, json=json)


def _encode_shards(
    run: Path, sources: list[str], out: Path, column: str, half: bool, executor: str | None, *, force: bool, json: bool
) -> None:
    from labkit.corpora.shards import shards_in
    from labkit.embedding_shards import write_vectors

    if not sources:
        raise ValueError("INPUT is missing; name Parquet files or folders of shards before --out")
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
    from labkit.embedding_files import check_place, write_embeddings, write_json_lines

    if str(output) != "-":
        check_place(output)
        check_free(output, "--output", force=force)
    elif json or force:
        option = "--json" if json else "--force"
        why = "both want standard output" if json else "standard output overwrites nothing"
        raise ValueError(f"{option} and --output - cannot be combined, because {why}; omit {option}")
    if source != "-" and not Path(source).is_file():
        raise ValueError(f"--input {source!r} is not a file; check the name, or use - for standard input")
    method = usable_method(run)
    if source == "-" and sys.stdin is not None and sys.stdin.isatty():
        remark("one sentence per line; Ctrl-D ends the input")
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
                raise ValueError("--input is empty; give at least one line with a sentence")

        if str(output) == "-":
            with standard_output():
                write_json_lines(sys.stdout.buffer, encoded())
        else:
            write_embeddings(output, encoded())
    if str(output) == "-":
        remark(f"{rows:,} sentences, {width:,} columns")
    else:
        record = {"run": run, "file": output, "sentences": rows, "columns": width}
        show_result(record, f"{output}: {rows:,} sentences, {width:,} columns", json=json)


@contextmanager
def _opened(source: str, distinct: bool) -> Iterator[tuple[Blocks, int | None, str]]:
    """The blocks of a source, the total for their progress, and its unit."""
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
    """The texts of a corpus file, row by row; for articles their sentences."""
    from labkit.corpora.files import read_rows
    from labkit.corpora.rows import texts_of_rows
    from labkit.untrusted import within_memory

    with within_memory(path.name):
        first = next(read_rows(path), (0, {}))[1]
        return (
            opened_corpus(str(path)).sentences() if "sections" in first else texts_of_rows(read_rows(path), path.name)
        )


# --- other folders of shards ---------------------------------------------------------------------------------------


def dedup(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Files of sentences (Parquet, CSV, TSV, TXT, JSONL) and folders of shards. The first of equal "
            "sentences is kept.",
            autocompletion=complete_corpora,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "--output", metavar="FOLDER", help="A folder of Parquet shards.")],
    column: Annotated[str, typer.Option(help="Column to compare; whole rows are kept.")] = "text",
    plain: Annotated[bool, typer.Option("--plain", help="Ignore differences in case and spaces.")] = False,
    executor: ExecutorName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Remove rows whose sentence already occurred; the first of equal sentences is kept."""
    from labkit.corpora.shards import shards_in, write_distinct

    work = workers_of(executor)
    clear_shards(out, force=force)
    with step("repeats dropped"), terminal("shard") as progress:
        made = write_distinct(inputs, out, column=column, plain=plain, **work, progress=progress)
    record = {
        "folder": out,
        "read": made["read"],
        "repeats": made["repeats"],
        "left": made["rows"],
        "shards": len(shards_in(out)),
        "splits": made["splits"],
    }
    share = made["repeats"] / made["read"]
    text = f"{out}: {made['rows']:,} of {made['read']:,} rows remain, {made['repeats']:,} ({share:.1%}) were duplicates"
    show_result(record, text, json=json)


def neighbours(
    vectors: Annotated[
        Path, typer.Argument(metavar="VECTORS", help="A folder written by `labkit encode --out`, or a .npy.")
    ],
    out: Annotated[Path, typer.Option("--out", "--output", metavar="FOLDER", help="A folder of Parquet shards.")],
    queries: Annotated[Path | None, typer.Option(help="Query vectors. Default: every row is a query.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Neighbours per query.")] = 10,
    index: Annotated[
        str, typer.Option(help="`exact` compares all rows; `faiss` searches approximately and reports its recall.")
    ] = "exact",
    yes: Annotated[bool, typer.Option("--yes", help="For exact: run however long it takes.")] = False,
    executor: ExecutorName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find the nearest rows of vectors by cosine, with their numbers and cosines, the nearest first."""
    from labkit.corpora.shards import shards_in
    from labkit.evaluation.neighbour_shards import write_neighbours

    work = workers_of(executor)
    clear_shards(out, force=force)
    with step("neighbours found"), terminal("shard") as progress:
        made = write_neighbours(
            vectors,
            out,
            queries=queries,
            count=count,
            index=index,
            insist=yes,
            **work,
            progress=progress,
        )
    said = {key: value for key, value in made.items() if key not in ("plan", "rows")}
    record = {"folder": out, "queries": made["rows"], **said, "shards": len(shards_in(out))}
    text = f"{out}: the {count} nearest of {made['base']:,} rows for each of {made['rows']:,}"
    if "recall" in made:
        text += f"; recall {made['recall']:.4f}, measured on {made['recalled']:,} of them"
    show_result(record, text, json=json)
