"""Commands for more rows than fit in memory: `labkit data dedup` and `labkit neighbours`.

In: Parquet files, folders of shards, other files of sentences; vectors from `labkit encode --out`. Out: a folder of
shards. The same command resumes an interrupted one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.arguments import ExecutorName, Force, Json, clear_shards, complete_corpora, workers_of
from labkit.cli.output import show_result, step
from labkit.progress import terminal


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
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="Column to compare; whole rows are kept. Default: text. Repeat it for several, such as anchor, "
            "positive and negative, to get their distinct texts in one column.",
        ),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Ignore differences in case and spaces.")] = False,
    executor: ExecutorName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Remove rows whose sentence already occurred; the first of equal sentences is kept."""
    from labkit.corpora.repeats import write_distinct
    from labkit.corpora.shards import shards_in

    work = workers_of(executor)
    clear_shards(out, force=force)
    with step("repeats dropped"), terminal("shard") as progress:
        made = write_distinct(inputs, out, columns=columns or ["text"], plain=plain, **work, progress=progress)
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
