"""`labkit data make corpus | triplets | runs`: bundled corpora at any size, triplets from articles, the bundled runs.

The same command makes the same files.
"""

from __future__ import annotations

import io
import shutil
from contextlib import redirect_stdout
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.arguments import Force, Json, check_free, clear_shards, command, nearest_name, workers_of
from labkit.cli.output import remark, show_result, step, text_table
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.thematic.from_dumps import Funnel

app = typer.Typer(no_args_is_help=True, help="Generate a bundled corpus, triplets from articles, or the bundled runs.")


# --- corpora -----------------------------------------------------------------------------------------------------


@command(app)
def corpus(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A bundled corpus; see `labkit data list`.")],
    out: Annotated[
        Path, typer.Option("--out", "--output", help="Output file: .csv, .tsv or .jsonl, optionally with .gz.")
    ],
    rows: Annotated[int | None, typer.Option(min=1, help="Minimum number of rows. Default: the bundled size.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed. Default: that of the bundled file.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Generate a bundled corpus at any size."""
    from labkit.corpora.catalogue import EMBEDDED
    from labkit.corpora.files import format_of, write_rows

    if name not in EMBEDDED:
        hint = nearest_name(name, EMBEDDED, "choose one of them")
        raise ValueError(f"corpus {name!r} is not one of {', '.join(EMBEDDED)}; {hint}")
    check_free(out, "--out", force=force)
    if name == "articles" and format_of(out)[0] != ".jsonl":
        raise ValueError(f"--out {out.name!r} cannot hold articles, because their sections need a .jsonl; rename it")
    with step("written"), terminal("row") as progress:
        count = write_rows(EMBEDDED[name].stream(seed=seed, rows=rows), out, total=rows, progress=progress)
    show_result({"file": out, "rows": count}, f"{out}: {count:,} rows", json=json)


# --- triplets ----------------------------------------------------------------------------------------------------


@command(app)
def triplets(
    articles: Annotated[
        list[str], typer.Option(help="A corpus of articles, a .jsonl file or a Wikipedia dump; repeatable.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "--output", help="Output file (.csv, .tsv, .jsonl, .gz); with --format, a folder.")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="arrow|parquet",
            help="Write a folder, as large as needed: arrow is read from disk in training, parquet is smaller and read "
            "into memory. The same command resumes.",
        ),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(help="Where negatives come from: `adjacent` section, `article`, or `other` article; or `titles`."),
    ] = "adjacent",
    by: Annotated[str, typer.Option(help="Sections: `top` level with all below, or each `heading`.")] = "top",
    max_per_anchor: Annotated[int | None, typer.Option(min=1, help="Maximum number of positives per anchor.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Read only the first N articles of each source.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    executor: Annotated[
        str | None, typer.Option(help="`local:N` processes (default: one per core) or `ray[:HOST:PORT]`.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make triplets from articles or from a Wikipedia dump, and report what each rule removed."""
    from labkit.corpora.article_triplets import Plan
    from labkit.corpora.shards import shards_in
    from labkit.thematic.from_dumps import write_shards, write_triplets

    if form not in (None, "arrow", "parquet"):
        raise ValueError(f"--format {form!r} is not known; choose arrow or parquet, or omit it to write one file")
    how: dict[str, Any] = {"limit": limit, **workers_of(executor)}  # checked before --force removes anything
    plan = Plan(rule, seed, max_per_anchor, by)
    if form is None:
        check_free(out, "--out", force=force)
    else:
        clear_shards(out, force=force)
    with step("written"), terminal("shard") as progress:
        if form is None:
            record, text = _sifted(out, write_triplets(articles, out, plan, **how, progress=progress))
        else:
            made, funnel = write_shards(articles, out, plan, ending=form, **how, progress=progress)
            record, text = _sifted(out, funnel)
            shards = len(shards_in(out))
            record |= {"shards": shards, "splits": made["splits"]}
            text += f" in {shards:,} shard{'s' * (shards > 1)}"
    show_result(record, text, json=json)


def _sifted(out: Path, funnel: Funnel) -> tuple[dict[str, Any], str]:
    """What was read, what each rule removed, and what is left."""
    from labkit.thematic.from_dumps import UNITS

    record = {
        "file": out,
        "read": {unit: funnel.read(unit) for unit in UNITS},
        "removed": {
            rule: {unit: gone for unit in UNITS if (gone := funnel.removed(rule, unit))} for rule in funnel.rules
        },
        "left": {unit: funnel.left(unit) for unit in UNITS},
    }
    table = text_table(funnel.rows(), right=range(1, 6))
    return record, f"{table}\n{out}: {funnel.left('triplets'):,} triplets from {funnel.left('articles'):,} articles"


# --- the bundled runs --------------------------------------------------------------------------------------------


@command(app, "runs")
def shipped_runs(
    out: Annotated[Path | None, typer.Option(help="Folder for runs/ and pictures/. Default: the package.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Train the bundled runs again from their seeds, and draw their pictures."""
    from labkit.corpora.catalogue import DATA, EMBEDDED
    from labkit.methods import load_run
    from labkit.shipped import DEMONSTRATIONS, Origin
    from labkit.shipped.making import PLAIN, draw_pictures, plain_methods, standing_of, write_standings
    from labkit.shipped.pictures import write_known

    runs, pictures = (out or DATA) / "runs", (out or DATA) / "pictures"
    for folder in (runs, pictures):
        check_free(folder, f"the folder of {folder.name}", force=force)
    corpora = {name: embedded.load() for name, embedded in EMBEDDED.items()}
    trained, standings, lines = [], {}, list[str]()
    for name, shipped in DEMONSTRATIONS.items():
        _train(name, runs)
        trained.append((load_run(runs / name), corpora[shipped.corpus]))
        standings[name] = standing_of(*trained[-1])
        lines.append(f"{name}: {standings[name]}")
        remark(lines[-1])
    write_standings(standings, runs)
    with terminal("picture") as progress:
        pictured = chain(trained, plain_methods(corpora))
        drawn = {draw_pictures(method, corpus, pictures, progress) for method, corpus in pictured}
    write_known((Origin.unfitted(name, corpus) for corpus in corpora.values() for name in PLAIN), pictures)
    for old in set(pictures.glob("*.npz")) - drawn:
        old.unlink()
    lines.append(f"{runs}: {len(standings)} runs, {_kilobytes(runs):,} kB; {pictures}: {_kilobytes(pictures):,} kB")
    figures = {name: {"measure": each.measure, "figure": each.figure} for name, each in standings.items()}
    show_result({"runs": runs, "pictures": pictures, "figures": figures}, "\n".join(lines), json=json)


def _train(name: str, runs: Path) -> None:
    """Train one run with `labkit train` next to its final place, so that an interruption leaves the old run intact."""
    from labkit.cli.train import train
    from labkit.shipped import DEMONSTRATIONS

    shipped = DEMONSTRATIONS[name]
    new = runs / f".{name}"
    shutil.rmtree(new, ignore_errors=True)
    with redirect_stdout(io.StringIO()):  # its score is shown with that of its baseline
        train(shipped.method, shipped.corpus, shipped.seed, out=new, changes=list(shipped.changes))
    shutil.rmtree(runs / name, ignore_errors=True)
    new.rename(runs / name)


def _kilobytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1000
