"""`labkit data list | get | check | mine | cluster | make`: bundled and published corpora, and your own files.

`data make corpus | triplets | runs` generates bundled corpora at any size, triplets from articles, and the bundled
runs. The same command always produces the same files.
"""

from __future__ import annotations

import io
import shutil
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from labkit.cli.arguments import (
    AnyCorpus,
    Command,
    Executor,
    Force,
    Json,
    Table,
    WithProgress,
    check_free,
    complete_corpora,
    corpus_of_file,
    opened_corpus,
    usable_method,
    workers_of,
    written_shards,
)
from labkit.cli.output import remark, show_result, step, text_table
from labkit.progress import note, terminal
from labkit.settings import nearest_name

if TYPE_CHECKING:
    from labkit.corpora import Corpus, Sentences
    from labkit.shipped import Demonstration
    from labkit.thematic.from_dumps import Funnel


app = typer.Typer(no_args_is_help=True, help="List, download, check, generate, mine, cluster and deduplicate corpora.")
making = typer.Typer(
    no_args_is_help=True, help="Generate a bundled corpus, triplets from articles, or the bundled runs."
)
app.add_typer(making, name="make")


@app.command("list", cls=Command)
def list_corpora(json: Json = False) -> None:
    """List all corpora with their size, their licence, and whether they are on this machine."""
    from labkit.corpora import CORPORA

    table: list[dict[str, Any]] = [
        {name: getattr(entry, name) for name in ("name", "kind", "shape", "rows", "licence")}
        | {"bytes": entry.size(), "here": entry.here() is not None, "what": entry.summary}
        for entry in CORPORA.values()
    ]
    rows = [["name", "shape", "rows", "size", "here", "what (licence)"], *map(_line, table)]
    head, *lines = text_table(rows, right=[2, 3]).splitlines()
    texts = []
    for kind, title in (("embedded", "Bundled"), ("published", "Published: `labkit data get NAME` downloads one")):
        texts += [
            title,
            "\n".join([head, *(line for line, row in zip(lines, table, strict=True) if row["kind"] == kind)]),
        ]
    show_result(table, "\n\n".join(texts), json=json)


def _line(row: dict[str, Any]) -> list[str]:
    rows = f"{row['rows']:,}" if row["rows"] else "?"
    size = f"{row['bytes'] / 1e6:.2f} MB" if row["bytes"] else "-"
    return [row["name"], row["shape"], rows, size, "yes" if row["here"] else "no", f"{row['what']} ({row['licence']})"]


@app.command(cls=Command)
def get(
    name: Annotated[str, Argument(help="A published corpus; see `labkit data list`.", autocompletion=complete_corpora)],
    json: Json = False,
) -> None:
    """Download a published corpus from its official address and verify it. A broken download is retried."""
    from labkit.corpora.catalogue import CORPORA, nearest_corpus
    from labkit.corpora.published import PUBLISHED

    if name not in CORPORA:
        raise ValueError(f"corpus {name!r} is not a published corpus; {nearest_corpus(name)}")
    if name not in PUBLISHED:
        text = f"{name} is bundled with labkit; there is nothing to download."
        show_result({"name": name, "place": CORPORA[name].here()}, text, json=json)
        return
    wanted = PUBLISHED[name]
    with step("downloaded"), terminal("B") as progress:
        by_hand = wanted.fetch(progress=progress)
    done = len(wanted.sources) - len(by_hand)
    lines = [f"{name}: {done} files in {wanted.cache}"] if done else []
    lines += [
        f"{name}: download {source.name} by hand from {source.address} ({source.by_hand}) and put it into "
        f"{wanted.cache}"
        for source in by_hand
    ]
    lines.append(f"{wanted.note} Licence: {wanted.licence}. Source: {wanted.citation}.".lstrip())
    record = {"name": name, "place": wanted.cache, "by_hand": [source.address for source in by_hand]}
    show_result(record, "\n".join(lines), json=json)


@app.command(cls=Command)
def check(
    name: AnyCorpus,
    measure: Annotated[
        bool, Option("--measure", help="Also score chance, TF-IDF and mean word vectors on it.")
    ] = False,
    encoding: Annotated[str, Option(help="Text encoding of your file.")] = "utf-8-sig",
    json: Json = False,
) -> None:
    """Read a whole corpus and report what it contains, or which row is invalid and why."""
    from labkit.corpora import CORPORA, Sentences, load
    from labkit.corpora.rows import contradictions

    here = name in CORPORA or not Path(name).is_file()
    if name in CORPORA and encoding != "utf-8-sig":
        raise ValueError(f"--encoding {encoding!r} is for your own files, but {name} is not one; omit it")
    with step("read"):
        corpus = load(name) if here else corpus_of_file(Path(name), encoding)
    texts = len(corpus.sentences())
    record = {
        "name": corpus.name,
        "shape": type(corpus).__name__,
        "rows": len(corpus),
        "splits": corpus.sizes,
        "distinct_texts": texts,
        "fingerprint": corpus.fingerprint,
    }
    lines = [str(corpus), f"{texts:,} distinct texts, fingerprint {corpus.fingerprint[:16]}"]
    if here and (contradiction := contradictions(corpus)):  # for a file, this was noted while it was read
        note(f"{name}: {contradiction}")
    if isinstance(corpus, Sentences):
        lines += _without_labels(corpus, name)
    if measure:
        from labkit.baselines.difficulty import difficulty

        with step("measured"), terminal("sentence") as progress:
            measured = difficulty(corpus, progress=progress)
        record |= {"difficulty": asdict(measured)}
        lines.append(str(measured))
    show_result(record, "\n".join(lines), json=json)


def _without_labels(corpus: Sentences, name: str) -> list[str]:
    """What can and cannot be done with unlabelled sentences."""
    lines = [
        "The sentences have no labels. Without labels you can train the simple methods, such as sif, lsa and sbert, "
        "sentpwnet or bag with --set loss=simcse --set dropout=0.1, and static with --set epochs=0. The app can show "
        "pictures and neighbours and search the sentences.",
        "Scores, tuning, hard negatives and all other methods need labels. "
        f"`labkit data cluster {name} --out found.csv` finds classes and labels each sentence with its class.",
    ]
    if corpus.extra:
        columns = ", ".join(map(repr, corpus.extra))
        lines.append(f"Other columns: {columns}. If one of them holds the classes, rename it to 'label'.")
    return lines


# --- hard negatives ----------------------------------------------------------------------------------------------


@app.command(cls=Command)
def mine(
    source: Annotated[
        str,
        Argument(
            metavar="RUN|METHOD", help="Model to mine with: a run folder, or a method to fit with default settings."
        ),
    ],
    corpus: Annotated[str, Option(help="Corpus to mine: a name or a file.", autocompletion=complete_corpora)],
    out: Table,
    count: Annotated[int, Option(min=1, help="Number of negatives per anchor-positive pair.")] = 3,
    ranks: Annotated[
        str, Option(help="FROM..TO: ranks of the neighbours to consider; 10..50 skips the ten nearest.")
    ] = "0..50",
    margin: Annotated[
        float | None, Option(help="Minimum difference in similarity between positive and negative.")
    ] = None,
    relative: Annotated[float | None, Option(help="Minimum difference relative to the positive's similarity.")] = None,
    most: Annotated[float | None, Option(help="Maximum similarity of a negative.")] = None,
    least: Annotated[float | None, Option(help="Minimum similarity of a negative.")] = None,
    sampling: Annotated[str, Option(help="Choose the nearest candidates (`top`) or `random` ones.")] = "top",
    guide: Annotated[
        str | None,
        Option(help="Run or method that rejects candidates that it finds as similar as the positive (GISTEmbed)."),
    ] = None,
    seed: Annotated[int, Option(help="Random seed; it also determines the pairing of positives within a class.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Mine hard negatives in each split of a corpus and write triplets for `labkit train`."""
    from labkit.corpora.files import format_of, write_rows
    from labkit.pairs.hard_negatives import false_negatives, known_meanings, mine_negatives

    check_free(out, "--out", force=force)
    format_of(out)
    low, dots, high = ranks.partition("..")
    if not (dots and low.isdigit() and high.isdigit()):
        raise ValueError(
            f"--ranks {ranks!r} is not a range of whole numbers; write it like 10..50, or 0..50 to skip no neighbour"
        )
    mined_in = opened_corpus(corpus)
    encoded, guiding = _method_of(source, mined_in), None if guide is None else _method_of(guide, mined_in)
    meanings = known_meanings(mined_in)
    rows: list[dict[str, Any]] = []
    splits: dict[str, dict[str, Any]] = {}
    lines = []
    how: dict[str, Any] = {"margin": margin, "relative": relative, "most": most, "least": least, "sampling": sampling}
    how |= {"count": count, "ranks": (int(low), int(high)), "guide": guiding, "seed": seed}
    for split in mined_in.sizes:
        with step(f"mined {split}"):
            mined = mine_negatives(encoded, mined_in, split=split, **how)
        rows += mined.corpus().rows()
        record = {name: getattr(mined, name) for name in ("pairs", "candidates", "dropped", "short")}
        splits[split] = {"negatives": len(mined), **record}
        lines.append(str(mined))
        if meanings is not None:
            splits[split]["false"] = share = float(false_negatives(mined, meanings).mean())
            lines[-1] += f"; {share:.1%} are false negatives according to the generator"
    write_rows(rows, out)
    lines.append(f"{out}: {len(rows):,} triplets")
    show_result({"file": out, "splits": splits}, "\n".join(lines), json=json)


def _method_of(name: str, corpus: Corpus) -> WithProgress:
    """The method of a run, or a method fitted to the corpus."""
    from labkit.methods import METHODS

    if name not in METHODS or Path(name).exists():
        return WithProgress(usable_method(Path(name)))
    method = METHODS[name]()
    with step(f"{name} fitted"), terminal("step") as progress:
        method.fit(corpus, progress=progress)
    return WithProgress(method)


# --- found classes ----------------------------------------------------------------------------------------------


@app.command(cls=Command)
def cluster(
    name: AnyCorpus,
    out: Table,
    by: Annotated[str, Option(help="`kmeans`, or `density`, which determines the number of classes.")] = "kmeans",
    classes: Annotated[int, Option(min=2, help="Number of classes for kmeans.")] = 12,
    method: Annotated[
        str,
        Option(
            metavar="RUN|METHOD", help="Model of the vectors: a run folder, or a method to fit with default settings."
        ),
    ] = "sif",
    seed: Annotated[int, Option(min=0, help="Random seed of kmeans.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Cluster the sentences of a corpus, name the clusters by their words, and write a corpus for `labkit train`.

    In CSV and TSV files, text that a spreadsheet would run as a formula starts with an added '. Sentences that
    `density` leaves out get the class `none`.
    """
    from labkit.corpora.files import format_of, write_rows
    from labkit.evaluation.classes import WAYS, found_clusters
    from labkit.evaluation.regions import found_classes
    from labkit.spreadsheet import without_formula

    if by not in WAYS:
        raise ValueError(f"--by {by!r} is not known; choose one of {', '.join(WAYS)}")
    check_free(out, "--out", force=force)
    table = format_of(out)[0] != ".jsonl"
    corpus = opened_corpus(name)
    texts = corpus.sentences()
    vectors = _method_of(method, corpus).encode(texts)
    with step("classes found"):
        labels = found_classes(texts, found_clusters(vectors, by, classes, seed=seed))
    guarded = without_formula if table else str
    write_rows(
        ({"text": guarded(text), "label": guarded(label)} for text, label in zip(texts, labels, strict=True)), out
    )
    sizes = Counter(labels)
    lines = [f"{size:>7,}  {label}" for label, size in sizes.most_common()]
    show_result({"file": out, "classes": sizes}, "\n".join([*lines, f"{out}: {len(texts):,} sentences"]), json=json)


# --- generated corpora -------------------------------------------------------------------------------------------


@making.command("corpus", cls=Command)
def make_corpus(
    name: Annotated[str, Argument(metavar="NAME", help="A bundled corpus; see `labkit data list`.")],
    out: Table,
    rows: Annotated[int | None, Option(min=1, help="Minimum number of rows. Default: the bundled size.")] = None,
    seed: Annotated[int | None, Option(help="Random seed. Default: the seed of the bundled file.")] = None,
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
        raise ValueError(f"--out {out.name!r} cannot store articles, because sections need a .jsonl file; rename it")
    with step("written"), terminal("row") as progress:
        count = write_rows(EMBEDDED[name].stream(seed=seed, rows=rows), out, total=rows, progress=progress)
    show_result({"file": out, "rows": count}, f"{out}: {count:,} rows", json=json)


# --- triplets ----------------------------------------------------------------------------------------------------


@making.command("triplets", cls=Command)
def make_triplets(
    articles: Annotated[list[str], Option(help="A corpus of articles, a .jsonl file or a Wikipedia dump; repeatable.")],
    out: Annotated[
        Path, Option("--out", "--output", help="Output file (.csv, .tsv, .jsonl, .gz); with --format, a folder.")
    ],
    form: Annotated[
        str | None,
        Option(
            "--format",
            metavar="arrow|parquet",
            help="Write a folder, for data larger than memory. Training reads arrow from disk; parquet is smaller but "
            "is read into memory. Repeat the command to resume.",
        ),
    ] = None,
    rule: Annotated[
        str, Option(help="Where negatives come from: `adjacent` section, `article`, `other` article, or `titles`.")
    ] = "adjacent",
    by: Annotated[
        str, Option(help="Sections: those of the `top` level with everything below them, or one per `heading`.")
    ] = "top",
    max_per_anchor: Annotated[int | None, Option(min=1, help="Maximum number of positives per anchor.")] = None,
    limit: Annotated[int | None, Option(min=1, help="Read only the first N articles of each source.")] = None,
    seed: Annotated[int, Option(help="Random seed.")] = 0,
    executor: Executor = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make triplets from articles or from a Wikipedia dump, and report what each rule removed."""
    from labkit.corpora.article_triplets import Plan
    from labkit.thematic.from_dumps import write_shards, write_triplets

    if form not in (None, "arrow", "parquet"):
        raise ValueError(f"--format {form!r} is not known; choose arrow or parquet, or omit it to write one file")
    how: dict[str, Any] = {"limit": limit, **workers_of(executor)}  # checked before --force removes anything
    plan = Plan(rule, seed, max_per_anchor, by)
    if form is None:
        check_free(out, "--out", force=force)
        with step("written"), terminal("shard") as progress:
            record, text = _sifted(out, write_triplets(articles, out, plan, **how, progress=progress))
    else:
        how |= {"plan": plan, "ending": form}
        (made, funnel), shards = written_shards(write_shards, articles, out=out, force=force, **how)
        record, text = _sifted(out, funnel)
        record |= {"shards": shards, "splits": made["splits"]}
        text += f" in {shards:,} shard{'s' * (shards > 1)}"
    show_result(record, text, json=json)


def _sifted(out: Path, funnel: Funnel) -> tuple[dict[str, Any], str]:
    """How many items were read, removed by each rule, and left."""
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


@making.command("runs", cls=Command)
def shipped_runs(
    out: Annotated[Path | None, Option(help="Folder for runs/ and pictures/. Default: the package.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Train the bundled runs again from their seeds, and draw their pictures."""
    from labkit.corpora.catalogue import DATA, EMBEDDED
    from labkit.methods import load_run
    from labkit.shipped import DEMONSTRATIONS
    from labkit.shipped.making import draw_all, standing_of, write_standings

    runs, pictures = (out or DATA) / "runs", (out or DATA) / "pictures"
    for folder in (runs, pictures):
        check_free(folder, f"the folder of {folder.name}", force=force)
    corpora = {name: embedded.load() for name, embedded in EMBEDDED.items()}
    trained, standings = [], {}
    for name, shipped in DEMONSTRATIONS.items():
        _train(shipped, runs)
        trained.append((load_run(runs / name), corpora[shipped.corpus]))
        standings[name] = standing_of(*trained[-1])
        remark(f"{name}: {standings[name]}")
    write_standings(standings, runs)
    draw_all(trained, corpora.values(), pictures)
    lines = [f"{name}: {each}" for name, each in standings.items()]
    lines.append(f"{runs}: {len(standings)} runs, {_kilobytes(runs):,} kB; {pictures}: {_kilobytes(pictures):,} kB")
    figures = {name: {"measure": each.measure, "figure": each.figure} for name, each in standings.items()}
    show_result({"runs": runs, "pictures": pictures, "figures": figures}, "\n".join(lines), json=json)


def _train(shipped: Demonstration, runs: Path) -> None:
    """Train one run with `labkit train` next to its final place, so that an interruption leaves the old run intact."""
    from labkit.cli.train import train

    new, place = runs / f".{shipped.name}", runs / shipped.name
    shutil.rmtree(new, ignore_errors=True)
    with redirect_stdout(io.StringIO()):  # its score is shown next to the score of its baseline
        train(shipped.method, shipped.corpus, shipped.seed, out=new, changes=list(shipped.changes))
    shutil.rmtree(place, ignore_errors=True)
    new.rename(place)


def _kilobytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1000
