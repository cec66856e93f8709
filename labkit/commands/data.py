"""`labkit data list | get | check | make`."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from labkit.progress import terminal

app = typer.Typer(no_args_is_help=True, help="The corpora: list them, fetch one, check a file, make one of any size.")


@app.command("list")
def list_corpora(as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False) -> None:
    """Say of each corpus what it is, its size, its licence, and whether it is here."""
    from labkit.corpora import CORPORA

    table: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "kind": entry.kind,
            "shape": entry.shape,
            "rows": entry.rows if entry.here() is None else entry.rows_here(),
            "published": entry.rows,
            "bytes": entry.size(),
            "here": entry.here() is not None,
            "licence": entry.licence,
            "what": entry.summary,
        }
        for entry in CORPORA.values()
    ]
    if as_json:
        typer.echo(json.dumps(table, indent=2))
        return
    for kind, title in (("embedded", "Embedded: here at once"), ("published", "Published: `labkit data get NAME`")):
        typer.echo(f"\n{title}\n")
        typer.echo(f"{'name':22}{'shape':10}{'rows':>18}{'size':>9}  {'here':5} what (licence)")
        for row in table:
            if row["kind"] == kind:
                rows, published = (f"{row[count]:,}" if row[count] else "?" for count in ("rows", "published"))
                if rows != published != "?":
                    rows = f"{rows} of {published}"
                size = f"{row['bytes'] / 1e6:.2f} MB" if row["bytes"] else "-"
                here = "yes" if row["here"] else "no"
                typer.echo(
                    f"{row['name']:22}{row['shape']:10}{rows:>18}{size:>9}  {here:5} {row['what']} ({row['licence']})"
                )


@app.command()
def get(name: Annotated[str, typer.Argument(help="A published corpus; `labkit data list` names them.")]) -> None:
    """Fetch a published corpus from its official address and check it. A broken download goes on where it stopped."""
    from labkit.corpora.published import PUBLISHED, fetch_published

    if name not in PUBLISHED:
        from labkit.corpora.table import CORPORA, nearest

        if name in CORPORA:
            typer.echo(f"{name} comes with labkit: there is nothing to fetch.")
            return
        raise ValueError(f"corpus is {name!r}, expected a published one; {nearest(name)}")
    with terminal("B") as progress:
        fetched = fetch_published(name, progress=progress)
    typer.echo(str(fetched))


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A corpus' name, or a file of your own (CSV, TSV, JSONL, Parquet).")],
    measure: Annotated[
        bool, typer.Option("--measure", help="Also: how far chance, TF-IDF and mean word vectors get on it.")
    ] = False,
    encoding: Annotated[str, typer.Option(help="Of a file of your own.")] = "utf-8-sig",
) -> None:
    """Read a corpus to its end and say what is in it, or what is wrong with it and in which row."""
    from labkit.commands.opening import corpus_of_file
    from labkit.corpora import CORPORA, load
    from labkit.corpora.files import contradictions
    from labkit.notes import note

    here = name in CORPORA or not Path(name).exists()
    corpus = load(name) if here else corpus_of_file(Path(name), encoding)
    typer.echo(corpus)
    typer.echo(f"{len(corpus.sentences()):,} distinct texts, fingerprint {corpus.fingerprint[:16]}")
    if here and (told := contradictions(corpus)):  # of a file it was said when it was read
        note(f"{name}: {told}")
    if measure:
        from labkit.difficulty import difficulty

        with terminal("sentence") as progress:
            found = difficulty(corpus, progress=progress)
        typer.echo(found)


@app.command()
def make(
    name: Annotated[
        str,
        typer.Argument(
            help="An embedded corpus, to be made anew or at another size; `triplets`, of articles; or `runs`, those "
            "that come with the lab, and their pictures."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output", help="The file: .csv, .tsv or .jsonl, or one of these .gz. Of runs: a folder."
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="At least so many rows; without it, the size that ships.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Without it, that of the file that ships; 0 for triplets.")] = None,
    articles: Annotated[
        str | None, typer.Option(help="triplets: a corpus of articles, a .jsonl, or a Wikipedia dump (.xml.bz2).")
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="triplets: `adjacent`, `article` or `other`, where negatives come from; or `titles`."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="triplets: a section is a `top` section with all below it, or each `heading`.")
    ] = None,
    max_per_anchor: Annotated[int | None, typer.Option(min=1, help="triplets: at most so many positives.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="triplets: of so many articles, the first ones.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="triplets: processes; for a dump one a core, up to 8.")
    ] = None,
) -> None:
    """Make an embedded corpus, triplets of articles, or the shipped runs: the same call gives the same files."""
    further = {
        "--articles": articles,
        "--rule": rule,
        "--by": by,
        "--max-per-anchor": max_per_anchor,
        "--limit": limit,
        "--workers": workers,
    }
    if name == "runs":
        for option, value in {**further, "--rows": rows, "--seed": seed}.items():
            if value is not None:
                raise ValueError(f"{option} is not of `make runs`, whose settings stand in a table; leave it out")
        _make_runs(out)
        return
    if out is None:
        raise ValueError("--out is missing, expected the file to write; name it")
    if name == "triplets":
        if articles is None:
            raise ValueError("--articles is missing: name a corpus of articles, a .jsonl or a dump to make triplets of")
        if rows is not None:
            raise ValueError("--rows is of embedded corpora; for triplets give --limit, a number of articles")
        _make_triplets(articles, out, rule or "adjacent", seed or 0, max_per_anchor, by or "top", limit, workers)
    elif given := next((option for option, value in further.items() if value is not None), None):
        raise ValueError(f"{given} is of `make triplets`, not of {name!r}; leave it out")
    else:
        _make_embedded(name, out, rows, seed)


def _make_runs(out: Path | None) -> None:
    from labkit.commands.demonstrate import make_demonstrations
    from labkit.corpora.embedded import DATA

    make_demonstrations(out or DATA)


def _make_embedded(name: str, out: Path, rows: int | None, seed: int | None) -> None:
    from labkit.corpora.embedded import EMBEDDED
    from labkit.corpora.tables import format_of
    from labkit.corpora.writing import write_rows

    if name not in EMBEDDED:
        near = get_close_matches(name, [*EMBEDDED, "triplets", "runs"], n=1)
        raise ValueError(
            f"corpus is {name!r}, expected one of {', '.join(EMBEDDED)}, triplets or runs; "
            + (f"did you mean {near[0]!r}?" if near else "`labkit data make --help` says what each is")
        )
    if name == "articles" and format_of(out)[0] != ".jsonl":
        raise ValueError(
            f"out is {out.name!r}, expected a .jsonl: articles have sections, which a table has no room for"
        )
    with terminal("row") as progress:
        count = write_rows(EMBEDDED[name].stream(seed=seed, rows=rows), out, total=rows, progress=progress)
    typer.echo(f"{out}: {count:,} rows")


def _make_triplets(
    articles: str,
    out: Path,
    rule: str,
    seed: int,
    max_per_anchor: int | None,
    by: str,
    limit: int | None,
    workers: int | None,
) -> None:
    """The file, and on standard output what each rule removed."""
    from labkit.articles import Plan, write_triplets
    from labkit.articles.dump import is_dump
    from labkit.articles.workers import usual
    from labkit.commands.saying import columns

    plan = Plan(rule, seed, max_per_anchor, by)
    with terminal("B" if is_dump(Path(articles)) else "article") as progress:
        # what is not a dump is read faster than processes start
        count = workers or (usual() if is_dump(Path(articles)) else 1)
        funnel = write_triplets(articles, out, plan, workers=count, limit=limit, progress=progress)
    typer.echo(columns(funnel.rows(), right=range(1, 6)))
    typer.echo(f"{out}: {funnel.left('triplets'):,} triplets of {funnel.left('articles'):,} articles")
