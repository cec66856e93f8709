"""`labkit encode`, and the other commands for more rows than fit in memory: `data dedup` and `neighbours`.

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

from typer import Argument, Option

from labkit.cli.arguments import (
    Executor,
    Force,
    Json,
    RunFolder,
    Shards,
    check_free,
    complete_corpora,
    opened_corpus,
    record_of,
    usable_method,
    workers_of,
    written_shards,
)
from labkit.cli.output import remark, show_result, standard_output, step
from labkit.progress import terminal

BATCH = 256  # sentences

Blocks: TypeAlias = Iterator[tuple[list[str], int]]  # sentences, and progress towards the total


def encode(
    run: RunFolder,
    inputs: Annotated[
        list[str] | None,
        Argument(
            metavar="[INPUT...]", help="With --out: Parquet files or folders of shards. Otherwise the same as --input."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(metavar="FILE|-", help="Output file (.npz, .parquet or .tsv); - writes JSON lines to standard output."),
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
            "--input",
            metavar="FILE|-",
            help="Text with one sentence per line, or a corpus file; - (the default) reads standard input.",
        ),
    ] = None,
    distinct: Annotated[
        bool, Option("--distinct", help="Encode each distinct sentence of a corpus file once, not every row.")
    ] = False,
    column: Annotated[str | None, Option(help="With --out: column of the sentences. Default: text.")] = None,
    half: Annotated[bool, Option("--half", help="With --out: store float16, half the size.")] = False,
    executor: Executor = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the vectors of sentences from a text file, a corpus file or standard input. With --out, encode all rows of
    Parquet files and folders of shards.

    A row of pairs or triplets gives one vector per text, in order.
    """
    named = [*(inputs or []), *([] if source is None else [source])]
    if out is None:
        if output is None:
            raise ValueError("--output is missing; name the output file, or give --out and a folder of shards")
        for option, value in {"--column": column, "--half": half or None, "--executor": executor}.items():
            if value is not None:
                raise ValueError(f"{option} needs a folder of shards, given by --out; omit {option}")
        if len(named) > 1:
            raise ValueError(
                f"there are {len(named)} inputs, but --output takes only one; name a folder of shards with --out"
            )
        _encode_file(run, named[0] if named else "-", output, distinct, force=force, json=json)
        return
    if output is not None:
        raise ValueError(f"--output {str(output)!r} and --out {str(out)!r} cannot be combined; omit one")
    if distinct:
        raise ValueError("--distinct needs a corpus file, but --out encodes all rows; run `labkit data dedup` first")
    if not named:
        raise ValueError("INPUT is missing; name Parquet files or folders of shards before --out")
    from labkit.embedding_shards import write_vectors

    how = {"column": column or "text", "half": half, **workers_of(executor)}
    record_of(run)
    made, shards = written_shards(write_vectors, run, named, out=out, force=force, **how)
    record = {"run": run, "folder": out, "rows": made["rows"], "columns": made["dimension"], "type": made["type"]}
    text = f"{out}: {made['rows']:,} rows, {made['dimension']:,} columns, {made['type']}, in {shards:,} shard"
    show_result(record | {"shards": shards}, text + "s" * (shards > 1), json=json)


def _encode_file(run: Path, source: str, output: Path, distinct: bool, *, force: bool, json: bool) -> None:
    from labkit.embedding_files import check_place, write_embeddings, write_json_lines

    piped = str(output) == "-"
    if not piped:
        check_place(output)
        check_free(output, "--output", force=force)
    elif json or force:
        option = "--json" if json else "--force"
        why = "both write to standard output" if json else "standard output never overwrites anything"
        raise ValueError(f"{option} and --output - cannot be combined, because {why}; omit {option}")
    if source != "-" and not Path(source).is_file():
        raise ValueError(f"--input {source!r} is not a file; check the name, or use - for standard input")
    method = usable_method(run)
    if source == "-" and sys.stdin is not None and sys.stdin.isatty():
        remark("type one sentence per line, and press Ctrl-D at the end")
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

        if piped:
            with standard_output():
                write_json_lines(sys.stdout.buffer, encoded())
        else:
            write_embeddings(output, encoded())
    size = f"{rows:,} sentences, {width:,} columns"
    if piped:
        remark(size)
    else:
        record = {"run": run, "file": output, "sentences": rows, "columns": width}
        show_result(record, f"{output}: {size}", json=json)


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
    """The texts of a corpus file, row by row; for articles, their sentences."""
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
        Argument(
            metavar="INPUT...",
            help="Files of sentences (Parquet, CSV, TSV, TXT, JSONL) and folders of shards. The first of several equal "
            "sentences is kept.",
            autocompletion=complete_corpora,
        ),
    ],
    out: Shards,
    column: Annotated[str, Option(help="Column to compare; whole rows are kept.")] = "text",
    plain: Annotated[bool, Option("--plain", help="Ignore differences in case and spaces.")] = False,
    executor: Executor = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Remove rows whose sentence occurred in an earlier row."""
    from labkit.corpora.shards import write_distinct

    how = {"column": column, "plain": plain, **workers_of(executor)}
    made, shards = written_shards(write_distinct, inputs, out=out, force=force, **how)
    read, repeats, left = made["read"], made["repeats"], made["rows"]
    record = {"folder": out, "read": read, "repeats": repeats, "left": left, "shards": shards, "splits": made["splits"]}
    share = f"{repeats / read:.1%}"
    show_result(record, f"{out}: {left:,} of {read:,} rows remain, {repeats:,} ({share}) were duplicates", json=json)


def neighbours(
    vectors: Annotated[
        Path, Argument(metavar="VECTORS", help="A folder written by `labkit encode --out`, or a .npy file.")
    ],
    out: Shards,
    queries: Annotated[Path | None, Option(help="Query vectors. Default: every row is a query.")] = None,
    count: Annotated[int, Option(min=1, help="Neighbours per query.")] = 10,
    index: Annotated[
        str, Option(help="`exact` compares all rows; `faiss` searches approximately and reports its recall.")
    ] = "exact",
    yes: Annotated[bool, Option("--yes", help="With exact: run no matter how long it takes.")] = False,
    executor: Executor = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find the rows with the highest cosine to each query, and write their row numbers and cosines, nearest first."""
    from labkit.evaluation.neighbour_shards import write_neighbours

    how = {"queries": queries, "count": count, "index": index, "insist": yes, **workers_of(executor)}
    made, shards = written_shards(write_neighbours, vectors, out=out, force=force, **how)
    said = {key: value for key, value in made.items() if key not in ("plan", "rows")}
    text = f"{out}: the {count} nearest of {made['base']:,} rows for each of {made['rows']:,} queries"
    if "recall" in made:
        text += f"; recall {made['recall']:.4f}, measured on {made['recalled']:,} of them"
    show_result({"folder": out, "queries": made["rows"], **said, "shards": shards}, text, json=json)
