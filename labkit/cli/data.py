"""`labkit data list | get | check | mine | cluster`: bundled and published corpora, and your own files."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli import make
from labkit.cli.arguments import (
    AnyCorpus,
    Force,
    Json,
    WithProgress,
    check_free,
    command,
    complete_corpora,
    corpus_of_file,
    opened_corpus,
    usable_method,
)
from labkit.cli.output import show_result, step
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus, Sentences


def _published(incomplete: str) -> list[str]:
    from labkit.corpora import CORPORA

    return [name for name, each in CORPORA.items() if each.kind == "published" and name.startswith(incomplete)]


app = typer.Typer(no_args_is_help=True, help="Corpora: list, download, check, generate, mine, cluster, deduplicate.")
app.add_typer(make.app, name="make")


@command(app, "list")
def list_corpora(json: Json = False) -> None:
    """List all corpora with their size, their licence, and whether they are on this machine."""
    from labkit.corpora import CORPORA

    table: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "kind": entry.kind,
            "shape": entry.shape,
            "rows": entry.rows,
            "bytes": entry.size(),
            "here": entry.here() is not None,
            "licence": entry.licence,
            "what": entry.summary,
        }
        for entry in CORPORA.values()
    ]
    lines = []
    for kind, title in (("embedded", "Bundled"), ("published", "Published: `labkit data get NAME` downloads one")):
        lines += [f"\n{title}\n", f"{'name':22}{'shape':10}{'rows':>9}{'size':>9}  {'here':5} what (licence)"]
        lines += [_line(row) for row in table if row["kind"] == kind]
    show_result(table, "\n".join(lines), json=json)


def _line(row: dict[str, Any]) -> str:
    rows = f"{row['rows']:,}" if row["rows"] else "?"
    size = f"{row['bytes'] / 1e6:.2f} MB" if row["bytes"] else "-"
    here = "yes" if row["here"] else "no"
    return f"{row['name']:22}{row['shape']:10}{rows:>9}{size:>9}  {here:5} {row['what']} ({row['licence']})"


@command(app)
def get(
    name: Annotated[str, typer.Argument(help="A published corpus; see `labkit data list`.", autocompletion=_published)],
    json: Json = False,
) -> None:
    """Download a published corpus from its official address and verify it. A broken download is retried."""
    from labkit.corpora.catalogue import CORPORA, nearest_corpus
    from labkit.corpora.published import PUBLISHED

    if name in PUBLISHED:
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
    elif name in CORPORA:
        text = f"{name} is bundled with labkit; there is nothing to download."
        show_result({"name": name, "place": CORPORA[name].here()}, text, json=json)
    else:
        raise ValueError(f"corpus {name!r} is not a published one; {nearest_corpus(name)}")


@command(app)
def check(
    name: AnyCorpus,
    measure: Annotated[
        bool, typer.Option("--measure", help="Also score chance, TF-IDF and mean word vectors on it.")
    ] = False,
    encoding: Annotated[str, typer.Option(help="Text encoding of your file.")] = "utf-8-sig",
    json: Json = False,
) -> None:
    """Read a whole corpus and report what is in it, or which row is wrong and why."""
    from labkit.corpora import CORPORA, Sentences, load
    from labkit.corpora.rows import contradictions
    from labkit.progress import note

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
    if here and (contradiction := contradictions(corpus)):  # a file reports it as it is read
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
    """What can and cannot be done with sentences without labels."""
    lines = [
        "The sentences have no labels. Without labels you can train the simple methods, such as sif, lsa and sbert, "
        "sentpwnet or bag with --set loss=simcse --set dropout=0.1, and static with --set epochs=0. The app shows "
        "pictures, neighbours and search.",
        "Scores, tuning, hard negatives and all other methods need labels. "
        f"`labkit data cluster {name} --out found.csv` finds classes and labels each sentence with one.",
    ]
    if corpus.extra:
        columns = ", ".join(map(repr, corpus.extra))
        lines.append(f"Other columns: {columns}. If one of them holds the classes, rename it to 'label'.")
    return lines


# --- hard negatives ----------------------------------------------------------------------------------------------


@command(app)
def mine(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|METHOD", help="Model to mine with: a run folder, or a method to fit with default settings."
        ),
    ],
    corpus: Annotated[str, typer.Option(help="Corpus to mine: a name or a file.", autocompletion=complete_corpora)],
    out: Annotated[
        Path, typer.Option("--out", "--output", help="Output file: .csv, .tsv or .jsonl, optionally with .gz.")
    ],
    count: Annotated[int, typer.Option(min=1, help="Number of negatives per anchor-positive pair.")] = 3,
    ranks: Annotated[
        str,
        typer.Option(help="FROM..TO: ranks of the neighbours to consider; 10..50 skips the ten nearest."),
    ] = "0..50",
    margin: Annotated[
        float | None, typer.Option(help="Minimum difference in similarity between positive and negative.")
    ] = None,
    relative: Annotated[float | None, typer.Option(help="The same, as a share of the positive's similarity.")] = None,
    most: Annotated[float | None, typer.Option(help="Maximum similarity of a negative.")] = None,
    least: Annotated[float | None, typer.Option(help="Minimum similarity of a negative.")] = None,
    sampling: Annotated[str, typer.Option(help="Choose the nearest candidates (`top`) or `random` ones.")] = "top",
    guide: Annotated[
        str | None,
        typer.Option(help="Run or method that drops candidates it finds as similar as the positive (GISTEmbed)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed, also for pairing positives within a class.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Mine hard negatives in each split of a corpus and write triplets for `labkit train`."""
    from labkit.corpora.files import format_of, write_rows
    from labkit.pairs.hard_negatives import false_negatives, known_meanings, mine_negatives

    check_free(out, "--out", force=force)
    format_of(out)
    low, high = _from_to(ranks)
    mined_in = opened_corpus(corpus)
    encoded, guiding = _method_of(source, mined_in), None if guide is None else _method_of(guide, mined_in)
    meanings = known_meanings(mined_in)
    rows: list[dict[str, Any]] = []
    record: dict[str, Any] = {"file": out, "splits": {}}
    lines = []
    for split in mined_in.sizes:
        with step(f"mined {split}"):
            mined = mine_negatives(
                encoded,
                mined_in,
                count=count,
                ranks=(low, high),
                margin=margin,
                relative=relative,
                most=most,
                least=least,
                sampling=sampling,
                guide=guiding,
                split=split,
                seed=seed,
            )
        rows += mined.corpus().rows()
        record["splits"][split] = {
            "negatives": len(mined),
            "pairs": mined.pairs,
            "candidates": mined.candidates,
            "dropped": dict(mined.dropped),
            "short": mined.short,
        }
        lines.append(str(mined))
        if meanings is not None:
            share = float(false_negatives(mined, meanings).mean())
            record["splits"][split]["false"] = share
            lines[-1] += f"; {share:.1%} are false negatives according to the generator"
    write_rows(rows, out)
    lines.append(f"{out}: {len(rows):,} triplets")
    show_result(record, "\n".join(lines), json=json)


def _from_to(ranks: str) -> tuple[int, int]:
    low, dots, high = ranks.partition("..")
    if not (dots and low.isdigit() and high.isdigit()):
        raise ValueError(f"--ranks {ranks!r} is not a range of whole numbers such as 10..50; 0..50 skips none")
    return int(low), int(high)


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


@command(app)
def cluster(
    name: AnyCorpus,
    out: Annotated[
        Path, typer.Option("--out", "--output", help="Output file: .csv, .tsv or .jsonl, optionally with .gz.")
    ],
    by: Annotated[str, typer.Option(help="`kmeans`, or `density`, which finds the number itself.")] = "kmeans",
    classes: Annotated[int, typer.Option(min=2, help="Number of classes for kmeans.")] = 12,
    method: Annotated[
        str,
        typer.Option(
            metavar="RUN|METHOD", help="Model of the vectors: a run folder, or a method to fit with default settings."
        ),
    ] = "sif",
    seed: Annotated[int, typer.Option(min=0, help="Random seed of kmeans.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Cluster the sentences of a corpus, name the clusters by their words, and write a corpus for `labkit train`.

    In CSV and TSV files, text that a spreadsheet would run as a formula gets a leading '. Sentences that density leaves
    out are in the class `none`.
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
