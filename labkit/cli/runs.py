"""Commands on trained runs: `labkit compare`, `evaluate`, `explain`, `paraphrase`, `runs`.

In: run folders. Out: scores or sentences, as text or JSON.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from labkit.cli.arguments import (
    CorpusName,
    Force,
    Json,
    RunFolder,
    WithProgress,
    check_free,
    corpus_for,
    opened_corpus,
    opened_method,
    record_of,
    usable_method,
)
from labkit.cli.output import remark, show_result, step, text_table
from labkit.progress import note, terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.evaluation.leaderboard import Line

# --- compare -----------------------------------------------------------------------------------------------------


def compare(
    runs: Annotated[list[Path], Argument(metavar="RUN...", help="The folders of the runs.")],
    corpus: CorpusName = None,
    json: Json = False,
) -> None:
    """Compare the test scores of runs; runs that differ only in the seed share a line."""
    from labkit.evaluation.leaderboard import Result, leaderboard
    from labkit.evaluation.scores import score

    folders: dict[Path, Path] = {}
    for run in runs:
        folders.setdefault(run.resolve(), run)  # each run counts once
    records = {run: record_of(run) for run in folders.values()}
    opened = _common_corpus(records) if corpus is None else opened_corpus(corpus)
    results = []
    with step("scored and compared"), terminal("run") as progress:
        for number, (run, record) in enumerate(records.items()):
            progress(number, len(records), f"scoring {run}")
            scores = score(opened_method(run), opened, apart=True)
            results.append(Result.of(str(run), record, scores))
        lines = leaderboard(results)
    if len(records) > sum(len(line.results) for line in lines):
        note("identical runs with the same seed are counted only once", stacklevel=2)
    comparison = {"corpus": opened.name, "split": "test", "lines": [_record(line) for line in lines]}
    ranking = text_table([_ranked(line) for line in lines])
    figures = list(dict.fromkeys(name for line in lines for name in line.means))
    means = [["means", *figures]]  # a column for each metric of any line
    for line in lines:
        means.append([line.name, *(f"{line.means[name]:.4f}" if name in line.means else "-" for name in figures)])
    table = text_table(means, right=range(1, len(figures) + 1))
    text = f"{opened.name}, test: {lines[0].figure}, best first\n\n{ranking}\n\n{table}"
    show_result(comparison, text, json=json)


def _common_corpus(records: dict[Path, dict[str, Any]]) -> Corpus:
    """The one corpus that all runs were trained on."""
    (first, record), *rest = records.items()
    for run, other in rest:
        if other["fingerprint"] != record["fingerprint"]:
            raise ValueError(
                f"run {str(run)!r} was trained on {other['corpus']}, but {str(first)!r} on {record['corpus']} "
                "(different fingerprints); choose the corpus to compare them on with --corpus"
            )
    corpus = corpus_for(first, record)
    if corpus.fingerprint != record["fingerprint"]:
        note(f"{corpus.name} has changed since the runs were trained on it", stacklevel=2)
    return corpus


def _ranked(line: Line) -> list[str]:
    """A line's name, its mean over seeds, and its verdict with the difference from the best line."""
    from labkit.figure_names import SAW, VERDICTS

    count = len(line.results)
    mean = str(line.spread or f"{line.mean:.4f} ({count} run{'s' * (count > 1)})")
    parts = [VERDICTS.get(line.verdict, line.verdict)]
    if line.lead is not None:
        low, high = line.lead.interval()
        parts.append(f"{-line.lead.lead:+.4f} [{-high:+.4f}, {-low:+.4f}]")
    parts += [SAW] * line.saw_test + [line.sample] * bool(line.sample)
    return [line.name, mean, "; ".join(parts)]


def _record(line: Line) -> dict[str, Any]:
    first, spread, lead = line.results[0], line.spread, line.lead
    return {
        "name": line.name,
        "method": first.method,
        "settings": dict(first.settings),
        "trained_on": first.trained_on,
        "runs": [result.run for result in line.results],
        "seeds": [result.seed for result in line.results],
        "measure": line.figure,
        "mean": line.means,
        "spread": spread and spread.spread,
        "verdict": line.verdict,
        "behind_by": lead and lead.lead,
        "interval": lead and lead.interval(),
        "saw_test": line.saw_test,
        **({"sample": line.sample} if line.sample else {}),
    }


# --- evaluate ----------------------------------------------------------------------------------------------------


def evaluate(
    run: RunFolder,
    corpus: CorpusName = None,
    split: Annotated[str, Option(help="train, dev or test.")] = "test",
    json: Json = False,
) -> None:
    """Score a run with the metrics that fit the corpus.

    Above 20,000 sentences, only a fixed sample of 20,000 is used as queries; the output then says so.
    """
    from labkit.evaluation.scores import score

    record = record_of(run)
    opened = corpus_for(run, record, corpus)
    method = WithProgress(opened_method(run))
    with step("scored"), terminal("sentence") as progress:
        scores = score(method, opened, split=split, progress=progress)
    same = opened.fingerprint == record["fingerprint"]
    outcome = {
        "run": run,
        **{name: record[name] for name in ("method", "seed", "state")},
        "trained_on": record["corpus"],
        "corpus": opened.name,
        "split": split,
        "same_corpus": same,
        "measure": scores.measure,
        "figures": scores.figures,
    }
    head = f"{run}: {record['method']}, trained on {record['corpus']} with seed {record['seed']}"
    if not same:
        head += f"\n{opened.name} is not the corpus it was trained on (different fingerprint)"
    figures = text_table([[name, f"{value:.4f}"] for name, value in scores.figures.items()], right=[1])
    parts = [head, f"{opened.name}, {split}", figures]
    if scores.sample:
        outcome["sample"] = scores.sample
        parts.append(scores.sample)
    show_result(outcome, "\n\n".join(parts), json=json)


# --- explain and paraphrase --------------------------------------------------------------------------------------


def explain(
    model: Annotated[
        str,
        Argument(
            metavar="MODEL",
            help="A run folder, the folder of a sentence-transformers model, or a model name on the Hub.",
        ),
    ],
    a: Annotated[str, Argument(help="A sentence.")],
    b: Annotated[str, Argument(help="Another sentence.")],
    c: Annotated[
        str | None, Argument(help="A third sentence: explain why the first is closer to the second than to it.")
    ] = None,
    way: Annotated[
        str, Option(help="exact, attention, integrated, neighbours or left-out. Default: the model's first explainer.")
    ] = "",
    steps: Annotated[int, Option(min=0, help="For integrated: number of integration steps; 0: automatic.")] = 0,
    top: Annotated[
        int | None, Option(min=1, help="Number of parts of each kind to show; JSON contains them all.  [default: 8]")
    ] = None,
    json: Json = False,
) -> None:
    """Show which words make two sentences similar, or make one closer to a second than to a third."""
    from labkit.adapters import explain as adapter

    if json and top is not None:
        raise ValueError(f"--top {top} does not apply to --json, which prints all parts; omit one")
    if (folder := Path(model)).is_dir() and not (folder / "modules.json").is_file():
        method = usable_method(folder)
    else:
        with step(f"model {model} opened"):
            method = adapter.method_of(model)
    how: dict[str, Any] = {"way": way, "steps": steps}
    found = adapter.explain(method, a, b, **how) if c is None else method.contrast(a, b, c, **how)
    show_result(found.record(), found.text(top=top or 8), json=json)


def paraphrase(
    run: RunFolder,
    sentence: Annotated[str, Argument(metavar="SENTENCE", help="The sentence to paraphrase.")],
    width: Annotated[int, Option("--beam", min=1, help="Beam width; 1 always takes the most likely word.")] = 1,
    json: Json = False,
) -> None:
    """Decode a sentence's vector into the sentence itself (auto) and a paraphrase, with their log-probabilities."""
    from labkit.pthought.writing import Search, described

    method: Any = usable_method(run)
    if not hasattr(method, "paraphrase"):
        raise ValueError(
            f"run {str(run)!r} was trained with {method.name}, which has no decoder; use a run of pthought"
        )
    search = Search(width=width, max_length=method.settings.max_length) if width > 1 else None
    with step("written"):
        paraphrases = method.paraphrase([sentence], search=search)[0]
    show_result(dataclasses.asdict(paraphrases), described(paraphrases), json=json)


# --- runs --------------------------------------------------------------------------------------------------------

HEAD = ["run", "method", "corpus", "seed", "epochs", "on test", "state", "date"]
_ORDERS = ("date", "figure", "epochs", "run", "method", "corpus", "seed", "state")
_LARGEST_FIRST = ("date", "figure", "epochs")
_UNKNOWN = dict.fromkeys(("method", "corpus"), "") | dict.fromkeys(("seed", "epochs", "measure", "figure", "reason"))


def runs(
    words: Annotated[
        list[str] | None, Argument(metavar="WORD", help="List only runs whose row contains all of these words.")
    ] = None,
    folder: Annotated[list[Path] | None, Option(help="A folder of runs; repeatable. Default: runs/.")] = None,
    sort: Annotated[
        str, Option(metavar="|".join(_ORDERS), help="Sort key; date, figure and epochs sort in descending order.")
    ] = "date",
    json: Json = False,
) -> None:
    """List runs: method, corpus, seed, epochs, test score, state and date."""
    # only `run.json` and the lines of `history.csv` are read, so that listing hundreds of runs is fast
    if sort not in _ORDERS:
        raise ValueError(f"--sort is {sort!r}; choose one of {', '.join(_ORDERS)}")
    places = folder or [Path("runs")]
    for place in places:
        if folder and not place.is_dir():
            raise ValueError(f"--folder {str(place)!r} does not exist; check the path")
    lines = [each for place in places for each in _lines(place)]
    kept = [line for line, text in lines if all(word.lower() in text.lower() for word in words or [])]
    kept.sort(key=lambda line: line["run"])
    kept.sort(key=lambda line: float("-inf") if line[sort] is None else line[sort], reverse=sort in _LARGEST_FIRST)
    where = " and ".join(map(str, places))
    if words and not kept:
        raise ValueError(
            f"none of the {len(lines)} runs in {where} contains {' and '.join(map(repr, words))}; to list another "
            "folder, use --folder"
        )
    if not kept:
        remark(f"no runs in {where}; train one first")
    if kept or json:
        show_result(kept, text_table([HEAD, *map(_cells, kept)], right=[3, 4]), json=json)


def _cells(line: Mapping[str, Any]) -> list[str]:
    """A run as a row of a text table."""
    figure = "-" if line["figure"] is None else f"{line['measure']} {line['figure']:.4f}"
    numbers = ["-" if line[name] is None else str(line[name]) for name in ("seed", "epochs")]
    names = [line["run"], line["method"] or "?", line["corpus"] or "?"]
    return [*names, *numbers, figure, line["reason"] or line["state"], line["date"][:16].replace("T", " ")]


def _lines(place: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The runs in a folder, or the folder itself if it is a run, each with the text to search.

    The state of a run is finished, unfinished, training or damaged; `reason` says why it cannot be used.
    """
    from labkit.atomic import sentence_of
    from labkit.locks import LOCK, is_locked
    from labkit.runs import CHECKPOINT, HISTORY, MODEL, has_checkpoint

    for folder in [place, *(sorted(place.iterdir()) if place.is_dir() else [])]:
        line: dict[str, Any] = {"run": str(folder), "state": "damaged", "date": "", **_UNKNOWN}
        text, record = "", folder / "run.json"
        try:
            signs = (record, *(folder / name for name in (CHECKPOINT, MODEL, HISTORY, LOCK)))
            if folder.name.startswith(".") or not any(path.is_file() for path in signs):
                continue
            written = (record if record.is_file() else folder).stat().st_mtime
            line["date"], busy = datetime.fromtimestamp(written).isoformat(timespec="seconds"), is_locked(folder)
            if (busy or has_checkpoint(folder)) and not record.is_file():
                line["state"], line["reason"] = "unfinished", "unfinished: no epoch completed"
            else:
                known, text = _known(folder)
                line |= known
            if busy:
                line["state"] = line["reason"] = "training"
        except (ValueError, OSError, TypeError) as reason:
            line["reason"] = f"damaged: {sentence_of(reason).removeprefix(f'run {str(folder)!r} ')}"
        yield line, f"{folder} {line['state']} {text}"


def _known(folder: Path) -> tuple[dict[str, Any], str]:
    """The contents of a run's record, and the text to search."""
    from labkit.figure_names import ordered
    from labkit.runs import history, read_record

    record = read_record(folder)
    missing = [name for name in record["files"] if not (folder / name).is_file()]
    if missing:
        raise ValueError(f"{', '.join(missing)} missing")
    tests = {name: each for name, each in record["metrics"].items() if name.endswith("/test") and each}
    figures: Mapping[str, Any] = tests.get(f"{record['corpus']}/test") or next(iter(tests.values()), {})
    names = [name for name in figures if ordered(name)]
    main = "spearman" if "spearman" in names else next(iter(names), None)
    known = {name: record[name] for name in ("method", "corpus", "seed")} | {
        "state": "finished" if record["state"] == "finished" else "unfinished",
        "epochs": len(history(folder)) or None,
        "measure": main,
        "figure": main and figures[main],
    }
    settings = " ".join(f"{name}={value}" for name, value in record["settings"].items())
    return known, f"{known['method']} {known['corpus']} seed{known['seed']} {settings}"


# --- export ------------------------------------------------------------------------------------------------------

SAMPLE = 1_000  # sentences on which the exported model is checked


def export(
    run: RunFolder,
    folder: Annotated[Path, Argument(metavar="FOLDER", help="Folder to write the model to.")],
    to: Annotated[str, Option(metavar="sentence-transformers|onnx|model2vec", help="Library that opens the model.")],
    quantize: Annotated[
        bool, Option("--quantize", help="Store 8-bit weights (onnx, model2vec) and report the loss of precision.")
    ] = False,
    corpus: CorpusName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Export a run as a model that works without labkit, and check it on sentences of the dev split.

    This works for sentpwnet, siamese, triplet, bag, static, thematic, mean-vectors, sif, sbert, and for pca, whitening
    and all-but-the-top on top of these. With encoder=transformer, the fine-tuned model is included. Methods whose
    vectors depend on other sentences (sbert-lp) cannot be exported.
    """
    from labkit.adapters.export import export as exported
    from labkit.evaluation.scores import score

    check_free(folder, "FOLDER", force=force)
    record = record_of(run)
    method = opened_method(run)
    opened: Corpus | None = None
    try:
        opened = corpus_for(run, record, corpus)
        sentences = (opened.part("dev") if "dev" in opened.splits else opened).sentences()[:SAMPLE]
    except ValueError:
        if corpus is not None:
            raise
        sentences = list(method.snapshots.texts)  # the corpus is no longer available
    where = f"{record['corpus']}/test"
    intervals = {}
    if opened is not None and opened.fingerprint == record["fingerprint"] and where in record["metrics"]:
        with step("intervals measured"), terminal("sentence") as progress:
            intervals[where] = score(method, opened, apart=True, progress=progress).intervals()
    with step("exported"):
        outcome = exported(
            method,
            folder,
            to,
            quantize=quantize,
            sentences=sentences,
            metrics=record["metrics"],
            intervals=intervals,
            force=force,
        )
    for limit in outcome.limits:
        remark(f"labkit: note: {limit}")
    show_result({"run": run, **vars(outcome)}, str(outcome), json=json)
