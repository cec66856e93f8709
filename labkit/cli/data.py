"""`labkit data list | get | check | make | mine | cluster`: embedded and published corpora, and files of one's own."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.arguments import (
    AnyCorpus,
    Force,
    Json,
    WithProgress,
    check_free,
    clear_shards,
    command,
    complete_corpora,
    corpus_of_file,
    nearest_name,
    opened_corpus,
    usable_method,
    workers_of,
)
from labkit.cli.output import remark, show_result, step, text_table
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus, Sentences
    from labkit.corpora.article_triplets import Plan
    from labkit.thematic.making import Funnel


def _published(incomplete: str) -> list[str]:
    from labkit.corpora import CORPORA

    return [name for name, each in CORPORA.items() if each.kind == "published" and name.startswith(incomplete)]


app = typer.Typer(no_args_is_help=True, help="The corpora: list them, fetch one, check a file, make one of any size.")


@command(app, "list")
def list_corpora(json: Json = False) -> None:
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
    lines = []
    for kind, title in (("embedded", "Embedded: here at once"), ("published", "Published: `labkit data get NAME`")):
        lines += [f"\n{title}\n", f"{'name':22}{'shape':10}{'rows':>18}{'size':>9}  {'here':5} what (licence)"]
        lines += [_line(row) for row in table if row["kind"] == kind]
    show_result(table, "\n".join(lines), json=json)


def _line(row: dict[str, Any]) -> str:
    rows, published = (f"{row[count]:,}" if row[count] else "?" for count in ("rows", "published"))
    if rows != published != "?":
        rows = f"{rows} of {published}"
    size = f"{row['bytes'] / 1e6:.2f} MB" if row["bytes"] else "-"
    here = "yes" if row["here"] else "no"
    return f"{row['name']:22}{row['shape']:10}{rows:>18}{size:>9}  {here:5} {row['what']} ({row['licence']})"


@command(app)
def get(
    name: Annotated[
        str, typer.Argument(help="A published corpus; `labkit data list` names them.", autocompletion=_published)
    ],
    json: Json = False,
) -> None:
    """Fetch a published corpus from its official address and check it. A broken download is retried."""
    from labkit.corpora.published import PUBLISHED, fetch_published
    from labkit.corpora.table import CORPORA, nearest_corpus

    if name in PUBLISHED:
        with step("fetched"), terminal("B") as progress:
            fetched = fetch_published(name, progress=progress)
        by_hand = [source.address for source in fetched.by_hand]
        show_result({"name": name, "place": fetched.folder, "by_hand": by_hand}, str(fetched), json=json)
    elif name in CORPORA:
        text = f"{name} comes with labkit: there is nothing to fetch."
        show_result({"name": name, "place": CORPORA[name].here()}, text, json=json)
    else:
        raise ValueError(f"corpus is {name!r}, expected a published one; {nearest_corpus(name)}")


@command(app)
def check(
    name: AnyCorpus,
    measure: Annotated[
        bool, typer.Option("--measure", help="Also: how far chance, TF-IDF and mean word vectors get on it.")
    ] = False,
    encoding: Annotated[str, typer.Option(help="Of a file of your own.")] = "utf-8-sig",
    json: Json = False,
) -> None:
    """Read a corpus to its end and say what is in it, or what is wrong with it and in which row."""
    from labkit.corpora import CORPORA, Sentences, load
    from labkit.corpora.rows import contradictions
    from labkit.corpora.shards import is_folder
    from labkit.progress import note

    if is_folder(name) and not _has_corpus(Path(name)):
        show_result(*_made_folder(Path(name)), json=json)
        return
    here = name in CORPORA or not Path(name).is_file()
    if name in CORPORA and encoding != "utf-8-sig":
        raise ValueError(f"--encoding is {encoding!r}, but {name} is not a file of your own; leave it out")
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
    if here and (contradiction := contradictions(corpus)):  # of a file it was said when it was read
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


def _has_corpus(folder: Path) -> bool:
    """Whether a finished folder holds sentences, and not vectors or neighbours."""
    from labkit.scale import manifest

    return manifest(folder)["plan"].get("kind") not in ("vectors", "neighbours")


def _made_folder(folder: Path) -> tuple[dict[str, Any], str]:
    """What a folder of vectors or of neighbours says of itself."""
    from labkit.corpora.shards import shards_in
    from labkit.scale import manifest

    made = manifest(folder)
    record = {"name": str(folder), "kind": made["plan"]["kind"], "shards": len(shards_in(folder)), "rows": made["rows"]}
    return record, f"{record['kind']} in {record['shards']:,} shards, {record['rows']:,} rows"


FROM_TEXTS = (
    "mean-vectors", "sif", "tfidf", "lsa", "pv-dbow", "sbert", "sbert-lp", "pca", "whitening", "all-but-the-top",
)  # fmt: skip


def _without_labels(corpus: Sentences, name: str) -> list[str]:
    """What can and what cannot be done with sentences of which nothing more is known."""
    lines = [
        f"They have no labels. What needs none: `labkit train` of {', '.join(FROM_TEXTS)}, of sentpwnet or bag with "
        "--set loss=simcse --set dropout=0.1, of static with --set epochs=0; pictures, neighbours and search in the "
        "app.",
        "What needs labels: scoring and tuning, hard negatives, all other methods. "
        f"`labkit data cluster {name} --out found.csv` finds classes and gives each sentence one.",
    ]
    if corpus.extra:
        columns = ", ".join(map(repr, corpus.extra))
        lines.append(f"Further columns: {columns}. If one of them holds the classes, name it 'label'.")
    return lines


@command(app)
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
            "--out",
            "--output",
            help="The file: .csv, .tsv or .jsonl, or one of these .gz. Of runs, and with --format: a folder.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="triplets: `arrow`, a folder that training reads from disk; `parquet`, a smaller one that it reads "
            "into memory. The same call resumes what was stopped.",
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="At least so many rows; without it, the size that ships.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Without it, that of the file that ships; 0 for triplets.")] = None,
    articles: Annotated[
        list[str] | None,
        typer.Option(
            help="triplets: a corpus of articles, a .jsonl, or a Wikipedia dump; any number of them, with the option "
            "before each."
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="triplets: `adjacent`, `article` or `other`, where negatives come from; or `titles`."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="triplets: a section is a `top` section with all below it, or each `heading`.")
    ] = None,
    max_per_anchor: Annotated[int | None, typer.Option(min=1, help="triplets: at most so many positives.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="triplets: the first N articles of each source.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="triplets: processes; one per core by default.")] = None,
    executor: Annotated[
        str | None, typer.Option(help="triplets: who does the work: `local:N` processes, or `ray[:HOST:PORT]`.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make an embedded corpus, triplets of articles, or the shipped runs: the same call gives the same files."""
    from labkit.corpora.table import DATA
    from labkit.scale import check_processes

    further = {
        "--articles": articles,
        "--rule": rule,
        "--by": by,
        "--max-per-anchor": max_per_anchor,
        "--limit": limit,
        "--workers": workers,
        "--executor": executor,
    }
    if form not in (None, "arrow", "parquet"):
        raise ValueError(f"--format is {form!r}, expected arrow or parquet; leave it out for a file, by its name")
    if workers is not None and executor is not None:
        raise ValueError(f"--workers is {workers} and --executor {executor!r}, which say the same; leave one out")
    if workers is not None:
        check_processes("--workers", workers)
    if executor is not None:
        workers_of(executor)  # a mistake in it is said before --force removes anything
    if name == "runs":
        for option, value in {**further, "--rows": rows, "--seed": seed}.items():
            if value is not None:
                raise ValueError(
                    f"{option} is {value}, but `make runs` has its settings in a table; leave {option} out"
                )
        for part in ("runs", "pictures"):
            check_free((out or DATA) / part, f"the folder of {part}", force=force)
        show_result(*make_shipped_runs(out or DATA), json=json)
        return
    if out is None:
        raise ValueError("--out is missing, expected the file to write; name it")
    if form is None:
        check_free(out, "--out", force=force)
    if name == "triplets":
        if not articles:
            raise ValueError("--articles is missing, expected a corpus of articles, a .jsonl or a dump; name one")
        if rows is not None:
            raise ValueError(
                f"--rows is {rows}, which is of embedded corpora; for triplets give --limit, a number of articles"
            )
        from labkit.corpora.article_triplets import Plan

        plan = Plan(rule or "adjacent", seed or 0, max_per_anchor, by or "top")
        if form is not None:
            clear_shards(out, force=force)
        work = {"workers": workers} if workers else workers_of(executor or "local")
        record, text = _make_triplets(articles, out, plan, form, {"limit": limit, **work})
    elif foreign := [option for option, value in further.items() if value is not None]:
        raise ValueError(
            f"{foreign[0]} is {further[foreign[0]]}, which is of `make triplets`, not of {name!r}; leave it out"
        )
    else:
        record, text = _make_embedded(name, out, rows, seed)
    show_result(record, text, json=json)


def _make_embedded(name: str, out: Path, rows: int | None, seed: int | None) -> tuple[dict[str, Any], str]:
    from labkit.corpora.files import format_of, write_rows
    from labkit.corpora.table import EMBEDDED

    if name not in EMBEDDED:
        hint = nearest_name(name, [*EMBEDDED, "triplets", "runs"], "`labkit data make --help` says what each is")
        raise ValueError(f"corpus is {name!r}, expected one of {', '.join(EMBEDDED)}, triplets or runs; {hint}")
    if name == "articles" and format_of(out)[0] != ".jsonl":
        raise ValueError(
            f"--out is {out.name!r}, expected a .jsonl, since articles have sections, for which a table has no room; "
            "rename it"
        )
    with step("written"), terminal("row") as progress:
        count = write_rows(EMBEDDED[name].stream(seed=seed, rows=rows), out, total=rows, progress=progress)
    return {"file": out, "rows": count}, f"{out}: {count:,} rows"


def _make_triplets(
    articles: list[str], out: Path, plan: Plan, form: str | None, how: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """Write the file or the folder; the record says what each rule removed, and how many shards there are."""
    from labkit.corpora.shards import shards_in
    from labkit.thematic.making import write_shards, write_triplets

    with step("written"), terminal("shard") as progress:
        if form is None:
            return _sifted(out, write_triplets(articles, out, plan, **how, progress=progress))
        made, funnel = write_shards(articles, out, plan, ending=form, **how, progress=progress)
    record, text = _sifted(out, funnel)
    shards = len(shards_in(out))
    return record | {"shards": shards, "splits": made["splits"]}, f"{text} in {shards:,} shard{'s' * (shards > 1)}"


def _sifted(out: Path, funnel: Funnel) -> tuple[dict[str, Any], str]:
    """What was read, what each rule removed, and what is left."""
    from labkit.thematic.making import UNITS

    record = {
        "file": out,
        "read": {unit: funnel.read(unit) for unit in UNITS},
        "removed": {
            rule: {unit: gone for unit in UNITS if (gone := funnel.removed(rule, unit))} for rule in funnel.rules
        },
        "left": {unit: funnel.left(unit) for unit in UNITS},
    }
    table = text_table(funnel.rows(), right=range(1, 6))
    return record, f"{table}\n{out}: {funnel.left('triplets'):,} triplets of {funnel.left('articles'):,} articles"


# --- hard negatives ----------------------------------------------------------------------------------------------


@command(app)
def mine(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|METHOD", help="Whose neighbours: a run's folder, or a method, fitted here as it stands."
        ),
    ],
    corpus: Annotated[
        str, typer.Option(help="Where to mine: a corpus' name, or a file of your own.", autocompletion=complete_corpora)
    ],
    out: Annotated[
        Path, typer.Option("--out", "--output", help="The file of triplets: .csv, .tsv or .jsonl, or one of these .gz.")
    ],
    count: Annotated[int, typer.Option(min=1, help="Negatives for each pair of anchor and positive.")] = 3,
    ranks: Annotated[
        str,
        typer.Option(help="From..to: so many of the nearest are skipped, up to that rank candidates are looked at."),
    ] = "0..50",
    margin: Annotated[
        float | None, typer.Option(help="A negative is at least so much less similar than the positive.")
    ] = None,
    relative: Annotated[float | None, typer.Option(help="The same, as a share of the positive's similarity.")] = None,
    most: Annotated[float | None, typer.Option(help="Similarity of a negative at most.")] = None,
    least: Annotated[float | None, typer.Option(help="Similarity of a negative at least.")] = None,
    sampling: Annotated[str, typer.Option(help="Of what is left: `top`, the nearest, or `random`.")] = "top",
    guide: Annotated[
        str | None,
        typer.Option(help="A run or a method that drops what it finds as near as the positive (GISTEmbed)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of `random`, and of who is whose positive in a class.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Mine hard negatives in each split of a corpus, as triplets that `labkit train` takes."""
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
            lines[-1] += f"; {share:.1%} are false, as the generator knows"
    write_rows(rows, out)
    lines.append(f"{out}: {len(rows):,} triplets")
    show_result(record, "\n".join(lines), json=json)


def _from_to(ranks: str) -> tuple[int, int]:
    low, dots, high = ranks.partition("..")
    if not (dots and low.isdigit() and high.isdigit()):
        raise ValueError(f"--ranks is {ranks!r}, expected two whole numbers as in 10..50; 0..50 skips none")
    return int(low), int(high)


def _method_of(name: str, corpus: Corpus) -> WithProgress:
    """The method of a run, or one of the table, fitted to the corpus."""
    from labkit.methods import METHODS

    if name not in METHODS or Path(name).exists():
        return WithProgress(usable_method(Path(name)))
    method = METHODS[name]()
    with step(f"{name} fitted"), terminal("step") as progress:
        method.fit(corpus, progress=progress)
    return WithProgress(method)


# --- classes of one's own ------------------------------------------------------------------------------------------


@command(app)
def cluster(
    name: AnyCorpus,
    out: Annotated[
        Path, typer.Option("--out", "--output", help="The file, text and label: .csv, .tsv or .jsonl, or .gz of these.")
    ],
    by: Annotated[str, typer.Option(help="`kmeans`, so many classes; or `density`, as many as there are.")] = "kmeans",
    classes: Annotated[int, typer.Option(min=2, help="Classes of kmeans.")] = 12,
    method: Annotated[
        str,
        typer.Option(
            metavar="RUN|METHOD", help="Whose vectors: a run's folder, or a method, fitted here as it stands."
        ),
    ] = "sif",
    seed: Annotated[int, typer.Option(min=0, help="Of kmeans.")] = 0,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find classes among the sentences of a corpus, named by their words, as a corpus that `labkit train` takes.

    In a table no text starts a formula: a ' stands before it. What density leaves out is in the class `none`.
    """
    from labkit.corpora.files import format_of, write_rows
    from labkit.evaluation.classes import WAYS, found_clusters
    from labkit.evaluation.regions import found_classes
    from labkit.spreadsheet import without_formula

    if by not in WAYS:
        raise ValueError(f"--by is {by!r}, expected one of {', '.join(WAYS)}; kmeans takes the number of classes")
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


# --- the runs that come with the lab -----------------------------------------------------------------------------


def make_shipped_runs(out: Path) -> tuple[dict[str, Any], str]:
    """Train the small runs into `out`/runs and draw pictures into `out`/pictures, anew from their seeds.

    What lay there under the same names goes.
    """
    from labkit.corpora.table import EMBEDDED
    from labkit.methods import load_run
    from labkit.shipped import DEMONSTRATIONS, Origin
    from labkit.shipped.making import PLAIN, draw_pictures, plain_methods, standing_of, write_standings
    from labkit.shipped.pictures import write_known

    runs, pictures = out / "runs", out / "pictures"
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
    return {"runs": runs, "pictures": pictures, "figures": figures}, "\n".join(lines)


def _train(name: str, runs: Path) -> None:
    """Train one by `labkit train`, beside its place, so that an interruption leaves the run that was there."""
    from labkit.cli.train import train
    from labkit.shipped import DEMONSTRATIONS

    shipped = DEMONSTRATIONS[name]
    new = runs / f".{name}"
    shutil.rmtree(new, ignore_errors=True)
    with redirect_stdout(io.StringIO()):  # what it is worth is said beside its baseline
        train(shipped.method, shipped.corpus, shipped.seed, out=new, changes=list(shipped.changes))
    shutil.rmtree(runs / name, ignore_errors=True)
    new.rename(runs / name)


def _kilobytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1000
