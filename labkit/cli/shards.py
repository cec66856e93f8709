"""Commands over more rows than fit into memory: `labkit data dedup` and `labkit neighbours`.

In: Parquet files, folders of shards, other files of sentences; vectors as `labkit encode --out` leaves them. Out: a
folder of shards each. Whatever stops them, the same call goes on from there.
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
            help="Files of sentences (Parquet, CSV, TSV, TXT, JSONL) and folders of shards, in the order in which the "
            "first of equals is looked for.",
            autocompletion=complete_corpora,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "--output", metavar="FOLDER", help="A folder of Parquet shards.")],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="The column whose texts are compared, `text` unless said so; whole rows stay. With the option before "
            "each of several, as anchor, positive, negative: their distinct texts, in one column.",
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Equal are also texts that differ in capitals and blanks alone.")
    ] = False,
    executor: ExecutorName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Drop the rows whose sentence an earlier row has, character by character; the first of equals stays."""
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
    text = f"{out}: {made['rows']:,} of {made['read']:,} rows are left, {made['repeats']:,} ({share:.1%}) were repeats"
    show_result(record, text, json=json)


def neighbours(
    vectors: Annotated[
        Path, typer.Argument(metavar="VECTORS", help="A folder that `labkit encode --out` has made, or a .npy.")
    ],
    out: Annotated[Path, typer.Option("--out", "--output", metavar="FOLDER", help="A folder of Parquet shards.")],
    queries: Annotated[
        Path | None, typer.Option(help="Vectors that ask; without them all rows ask for their nearest others.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Neighbours of each.")] = 10,
    index: Annotated[
        str, typer.Option(help="`exact` compares all with all; `faiss` looks where they may be, and says how often.")
    ] = "exact",
    yes: Annotated[bool, typer.Option("--yes", help="exact: however long it takes.")] = False,
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
