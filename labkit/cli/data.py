"""`labkit data list | get | check | mine | cluster | make | dedup`: bundled and published corpora, and your own files.

`data make corpus | triplets | runs` generates bundled corpora at any size, triplets from articles, and the bundled
runs. The same command always produces the same files.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option, Typer

from labkit.cli import opening
from labkit.cli.arguments import (
    MODEL,
    UTF8,
    AnyCorpus,
    Columns,
    Command,
    Encoding,
    Executor,
    Force,
    Shards,
    Shown,
    Table,
    check_free,
    complete_corpora,
)
from labkit.cli.output import step, text_table
from labkit.cli.train import train
from labkit.corpora import CORPORA, Sentences
from labkit.corpora.article_triplets import Plan
from labkit.corpora.catalogue import DATA, EMBEDDED, nearest_corpus
from labkit.corpora.files import format_of, write_rows
from labkit.corpora.published import PUBLISHED
from labkit.corpora.rows import contradictions
from labkit.corpora.shards import write_distinct
from labkit.evaluation.classes import found_clusters
from labkit.evaluation.regions import found_classes
from labkit.methods import load_run
from labkit.progress import note, terminal
from labkit.settings import nearest_name
from labkit.shipped import DEMONSTRATIONS, Demonstration
from labkit.spreadsheet import without_formula
from labkit.thematic.from_dumps import UNITS, Funnel, write_shards, write_triplets

WITHOUT_LABELS = """\
The sentences have no labels. Without labels, you can train simple methods such as sif, lsa and sbert; sentpwnet or bag
with --set loss=simcse --set dropout=0.1; and static with --set epochs=0. Scores, tuning and hard negatives need
labels. `labkit data cluster {name} --out found.csv` finds classes and labels each sentence with its class."""

app = Typer(no_args_is_help=True, rich_markup_mode=None, help="List, download, check, mine and generate corpora.")
making = Typer(no_args_is_help=True, help="Generate a bundled corpus, a set of triplets, or the bundled runs.")
app.add_typer(making, name="make")


@app.command("list", cls=Command)
def list_corpora() -> Shown:
    """List all corpora with their size, their licence, and whether they are on this machine."""
    records: list[dict[str, Any]] = []
    table = [["name", "shape", "rows", "size", "here", "what (licence)"]]
    for entry in CORPORA.values():
        record = {name: getattr(entry, name) for name in ("name", "kind", "shape", "rows", "licence")}
        records.append(record | {"bytes": entry.size(), "here": entry.here() is not None, "what": entry.summary})
        rows, size = f"{entry.rows:,}" if entry.rows else "?", entry.size()
        about = f"{size / 1e6:.2f} MB" if size else "-", "no" if entry.here() is None else "yes"
        table.append([entry.name, entry.shape, rows, *about, f"{entry.summary} ({entry.licence})"])
    return (
        records,
        f"{text_table(table, right=[2, 3])}\n\n`labkit data get NAME` downloads a corpus that is not here yet.",
    )


@app.command(cls=Command)
def get(
    name: Annotated[str, Argument(help="A published corpus; see `labkit data list`.", autocompletion=complete_corpora)],
) -> Shown:
    """Download a published corpus from its official address and verify it. A broken download is retried."""
    if name not in CORPORA:
        raise ValueError(f"{name!r} is not the name of a published corpus; {nearest_corpus(name)}")
    if name not in PUBLISHED:
        return {"name": name, "place": CORPORA[name].here()}, f"{name} is bundled; there is nothing to download."
    wanted = PUBLISHED[name]
    with step("downloaded"), terminal("B") as progress:
        by_hand = wanted.fetch(progress=progress)
    done = len(wanted.sources) - len(by_hand)
    lines = [f"{name}: {done} files in {wanted.cache}"] if done else []
    for source in by_hand:
        lines.append(f"{name}: download {source.address} by hand ({source.by_hand}) into {wanted.cache}")
    lines.append(f"{wanted.note} Licence: {wanted.licence}. Source: {wanted.citation}.".lstrip())
    record = {"name": name, "place": wanted.cache, "by_hand": [source.address for source in by_hand]}
    return record, "\n".join(lines)


@app.command(cls=Command)
def check(
    name: AnyCorpus,
    measure: Annotated[bool, Option("--measure", help="Also score chance, TF-IDF and mean word vectors.")] = False,
    encoding: Encoding = UTF8,
    columns: Columns = "",
) -> Shown:
    """Read a whole corpus and report what it contains, or which row is invalid and why."""
    is_file = name not in CORPORA and Path(name).is_file()
    corpus = opening.opened_corpus(name, columns, encoding)
    texts, prints = len(corpus.sentences()), corpus.fingerprint
    record: dict[str, Any] = {"name": corpus.name, "shape": type(corpus).__name__, "rows": len(corpus)}
    record |= {"splits": corpus.sizes, "distinct_texts": texts, "fingerprint": prints}
    lines = [str(corpus), f"{texts:,} distinct texts, fingerprint {prints[:16]}"]
    if not is_file and (contradiction := contradictions(corpus)):  # for a file, this was noted while it was read
        note(f"{name}: {contradiction}")
    counts = Counter(corpus.classified()[1])
    if single := [each for each, count in counts.items() if count == 1]:
        what = corpus.COLUMNS[corpus.CLASSES]
        note(
            f"{name}: only one row for {len(single):,} of {len(counts):,} values of {what}, such as {single[0]!r:.60}; "
            "add rows, or merge or drop them"
        )
    if isinstance(corpus, Sentences):
        lines.append(WITHOUT_LABELS.format(name=name))
        lines += [
            f"Other columns: {[*corpus.extra]}. If one of them contains the classes, rename that column to 'label'."
        ] * bool(corpus.extra)
    if measure:
        from labkit.baselines.difficulty import difficulty  # takes a second

        with step("measured"), terminal("sentence") as progress:
            measured = difficulty(corpus, progress=progress)
        record["difficulty"] = measured
        lines.append(str(measured))
    return record, "\n".join(lines)


# --- a corpus from another -------------------------------------------------------------------------------------------


@app.command(cls=Command)
def mine(
    source: Annotated[str, Argument(metavar="RUN|METHOD", help=MODEL)],
    corpus: Annotated[str, Option(help="Corpus to mine: a name or a file.", autocompletion=complete_corpora)],
    out: Table,
    count: Annotated[int, Option(min=1, help="Number of negatives per anchor-positive pair.")] = 3,
    ranks: Annotated[str, Option(help="Ranks of the candidates, FROM..TO; 10..50 skips the ten nearest.")] = "0..50",
    margin: Annotated[float | None, Option(help="Minimum difference in similarity to the positive.")] = None,
    relative: Annotated[float | None, Option(help="Minimum difference relative to the positive's similarity.")] = None,
    most: Annotated[float | None, Option(help="Maximum similarity of a negative.")] = None,
    least: Annotated[float | None, Option(help="Minimum similarity of a negative.")] = None,
    sampling: Annotated[str, Option(help="Choose the nearest candidates (`top`) or `random` ones.")] = "top",
    guide: Annotated[
        str | None,
        Option(help="Run or method that rejects candidates at least as similar as the positive (GISTEmbed)."),
    ] = None,
    seed: Annotated[int, Option(help="Random seed, also used to pair the sentences of a class.")] = 0,
    force: Force = False,
) -> Shown:
    """Mine hard negatives in each split of a corpus and write triplets for `labkit train`."""
    from labkit.pairs.hard_negatives import false_negatives, known_meanings, mine_negatives  # imports torch

    check_free(out, "--out", force=force)
    format_of(out)
    low, dots, high = ranks.partition("..")
    if not (dots and low.isdigit() and high.isdigit()):
        raise ValueError(f"--ranks {ranks!r} is not a range of whole numbers; write it like 10..50")
    mined_in = opening.opened_corpus(corpus)
    encoded = opening.fitted_method(source, mined_in)
    meanings = known_meanings(mined_in)
    rows: list[dict[str, Any]] = []
    splits: dict[str, dict[str, Any]] = {}
    lines = []
    how: dict[str, Any] = {"margin": margin, "relative": relative, "most": most, "least": least, "sampling": sampling}
    how |= {"count": count, "ranks": (int(low), int(high)), "seed": seed}
    how |= {"guide": None if guide is None else opening.fitted_method(guide, mined_in)}
    for split in mined_in.sizes:
        with step(f"mined {split}"):
            mined = mine_negatives(encoded, mined_in, split=split, **how)
        rows += mined.corpus().rows()
        record = {name: getattr(mined, name) for name in ("pairs", "candidates", "dropped", "short")}
        splits[split] = {"negatives": len(mined), **record}
        lines.append(str(mined))
        if meanings is not None:
            splits[split]["false"] = share = float(false_negatives(mined, meanings).mean())
            lines[-1] += f"; {100 * share:.1f} % are false negatives according to the generator"
    write_rows(rows, out)
    lines.append(f"{out}: {len(rows):,} triplets")
    return {"file": out, "splits": splits}, "\n".join(lines)


@app.command(cls=Command)
def cluster(
    name: AnyCorpus,
    out: Table,
    by: Annotated[
        Literal["kmeans", "density"], Option(help="Algorithm; density chooses the number of classes.")
    ] = "kmeans",
    classes: Annotated[int, Option(min=2, help="Number of classes for kmeans.")] = 12,
    method: Annotated[str, Option(metavar="RUN|METHOD", help=MODEL)] = "sif",
    seed: Annotated[int, Option(min=0, help="Random seed of kmeans.")] = 0,
    force: Force = False,
) -> Shown:
    """Cluster the sentences of a corpus and write a corpus whose classes are the clusters, named after their words.

    In CSV and TSV files, text that a spreadsheet would run as a formula starts with an added '. Sentences that
    `density` leaves out get the class `none`.
    """
    check_free(out, "--out", force=force)
    guarded = str if format_of(out)[0] == ".jsonl" else without_formula
    corpus = opening.opened_corpus(name)
    texts = corpus.sentences()
    vectors = opening.fitted_method(method, corpus).encode(texts)
    with step("classes found"):
        labels = found_classes(texts, found_clusters(vectors, by, classes, seed=seed))
    pairs = zip(texts, labels, strict=True)
    write_rows(({"text": guarded(text), "label": guarded(label)} for text, label in pairs), out)
    sizes = Counter(labels)
    lines = [f"{size:>7,}  {label}" for label, size in sizes.most_common()]
    return {"file": out, "classes": sizes}, "\n".join([*lines, f"{out}: {len(texts):,} sentences"])


@app.command(cls=Command)
def dedup(
    inputs: Annotated[
        list[str], Argument(metavar="INPUT", help="Files and folders of shards.", autocompletion=complete_corpora)
    ],
    out: Shards,
    column: Annotated[str, Option(help="Column to compare; all columns are written.")] = "text",
    plain: Annotated[bool, Option("--plain", help="Ignore differences in case and spaces.")] = False,
    executor: Executor = None,
    force: Force = False,
) -> Shown:
    """Remove rows whose sentence occurs in an earlier row. Files are Parquet, CSV, TSV, TXT or JSONL."""
    how = {"column": column, "plain": plain, **opening.workers_of(executor)}
    made, shards = opening.written_shards(write_distinct, inputs, out=out, force=force, **how)
    record = {"folder": out, "left": made["rows"], "shards": shards}
    record |= {name: made[name] for name in ("read", "repeats", "splits")}
    return record, f"{out}: {made['rows']:,} of {made['read']:,} rows remain, {made['repeats']:,} were duplicates"


# --- generated corpora -------------------------------------------------------------------------------------------


@making.command("corpus", cls=Command)
def make_corpus(
    name: Annotated[str, Argument(metavar="NAME", help="A bundled corpus; see `labkit data list`.")],
    out: Table,
    rows: Annotated[int | None, Option(min=1, help="Minimum number of rows. Default: the bundled size.")] = None,
    seed: Annotated[int | None, Option(help="Random seed. Default: the seed of the bundled file.")] = None,
    force: Force = False,
) -> Shown:
    """Generate a bundled corpus at any size."""
    if name not in EMBEDDED:
        hint = nearest_name(name, EMBEDDED, "choose one of them")
        raise ValueError(f"corpus {name!r} is not one of {', '.join(EMBEDDED)}; {hint}")
    check_free(out, "--out", force=force)
    if name == "articles" and format_of(out)[0] != ".jsonl":
        raise ValueError(f"--out {out.name!r} cannot store articles, because sections need a .jsonl file; rename it")
    with step("written"), terminal("row") as progress:
        count = write_rows(EMBEDDED[name].stream(seed=seed, rows=rows), out, total=rows, progress=progress)
    return {"file": out, "rows": count}, f"{out}: {count:,} rows"


@making.command("triplets", cls=Command)
def make_triplets(
    articles: Annotated[list[str], Option(help="A .jsonl file of articles or a Wikipedia dump; repeatable.")],
    out: Table,
    form: Annotated[
        Literal["arrow", "parquet"] | None,
        Option(
            "--format", help="Write a folder of shards: arrow can be trained on from disk; parquet takes less space."
        ),
    ] = None,
    rule: Annotated[
        str, Option(help="Where negatives come from: adjacent section, article, other article, or titles.")
    ] = "adjacent",
    by: Annotated[str, Option(help="Sections: one per `top`-level heading, or one per `heading`.")] = "top",
    max_per_anchor: Annotated[int | None, Option(min=1, help="Maximum number of positives per anchor.")] = None,
    limit: Annotated[int | None, Option(min=1, help="Read only the first N articles of each source.")] = None,
    seed: Annotated[int, Option(help="Random seed.")] = 0,
    executor: Executor = None,
    force: Force = False,
) -> Shown:
    """Make triplets from articles or from a Wikipedia dump, and report what each rule removed."""
    how: dict[str, Any] = {"limit": limit, **opening.workers_of(executor)}  # checked before --force removes anything
    plan = Plan(rule, seed, max_per_anchor, by)
    if form is None:
        check_free(out, "--out", force=force)
        with step("written"), terminal("shard") as progress:
            record, text = _sifted(out, write_triplets(articles, out, plan, **how, progress=progress))
    else:
        how |= {"plan": plan, "ending": form}
        (made, funnel), shards = opening.written_shards(write_shards, articles, out=out, force=force, **how)
        record, text = _sifted(out, funnel)
        record |= {"shards": shards, "splits": made["splits"]}
        text += f", shards: {shards:,}"
    return record, text


def _sifted(out: Path, funnel: Funnel) -> tuple[dict[str, Any], str]:
    """How many items were read, removed by each rule, and left."""
    removed = {rule: {unit: gone for unit in UNITS if (gone := funnel.removed(rule, unit))} for rule in funnel.rules}
    record = {"file": out, "read": {unit: funnel.read(unit) for unit in UNITS}, "removed": removed}
    record["left"] = {unit: funnel.left(unit) for unit in UNITS}
    table = text_table(funnel.rows(), right=range(1, 6))
    return record, f"{table}\n{out}: {funnel.left('triplets'):,} triplets from {funnel.left('articles'):,} articles"


@making.command("runs", cls=Command)
def shipped_runs(
    out: Annotated[Path | None, Option(help="Folder for runs/ and pictures/. Default: the package's own.")] = None,
    force: Force = False,
) -> Shown:
    """Retrain the bundled runs from their seeds, and redraw their pictures."""
    from labkit.shipped.making import draw_all, standing_of, write_standings  # takes a second

    runs, pictures = (out or DATA) / "runs", (out or DATA) / "pictures"
    for folder in (runs, pictures):
        check_free(folder, f"the folder of {folder.name}", force=force)
    corpora = {name: embedded.load() for name, embedded in EMBEDDED.items()}
    trained, standings = [], {}
    for name, shipped in DEMONSTRATIONS.items():
        _train(shipped, runs)
        trained.append((load_run(runs / name), corpora[shipped.corpus]))
        standings[name] = standing_of(*trained[-1])
    write_standings(standings, runs)
    draw_all(trained, corpora.values(), pictures)
    figures = {name: {"measure": each.measure, "figure": each.figure} for name, each in standings.items()}
    text = "\n".join(f"{name}: {each}" for name, each in standings.items())
    return {"runs": runs, "pictures": pictures, "figures": figures}, text


def _train(shipped: Demonstration, runs: Path) -> None:
    """Train a bundled run in a temporary folder, so that an interruption leaves the old run intact."""
    new, place = runs / f".{shipped.name}", runs / shipped.name
    shutil.rmtree(new, ignore_errors=True)
    train(shipped.method, shipped.corpus, shipped.seed, out=new, changes=list(shipped.changes))
    shutil.rmtree(place, ignore_errors=True)
    new.rename(place)
