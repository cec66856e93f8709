"""Commands on trained runs: `labkit evaluate`, `compare`, `explain`, `paraphrase` and `export`.

In: run folders. Out: scores or sentences, as text or JSON, or a model for another library.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from labkit.cli.arguments import Command, CorpusName, Force, RunFolder, Shown, check_free
from labkit.cli.opening import corpus_for, opened_corpus, record_of, scored, usable_method
from labkit.cli.output import chosen, remark, step, text_table
from labkit.corpora import Corpus
from labkit.figure_names import SAW, VERDICTS
from labkit.methods import load_run
from labkit.progress import note, terminal

if TYPE_CHECKING:
    from labkit.trials.leaderboard import Line

SAMPLE = 1_000  # sentences on which an exported model is checked

app = Typer(rich_markup_mode=None)


@app.command(cls=Command)
def evaluate(
    run: RunFolder,
    corpus: CorpusName = None,
    split: Annotated[str, Option(help="Split to score: train, dev or test.")] = "test",
) -> Shown:
    """Score a run with the metrics that fit the corpus.

    Above 20,000 sentences, only a fixed sample of 20,000 is used as queries; the output then says so.
    """
    record = record_of(run)
    opened = corpus_for(run, record, corpus)
    scores = scored(load_run(run), opened, split=split)
    same = opened.fingerprint == record["fingerprint"]
    outcome = {"run": run, **{name: record[name] for name in ("method", "seed", "state")}}
    outcome |= {"trained_on": record["corpus"], "corpus": opened.name, "split": split, "same_corpus": same}
    outcome |= {"measure": scores.measure, "figures": scores.figures}
    outcome |= {"sample": scores.sample} if scores.sample else {}
    head = f"{run}: {record['method']}, trained on {record['corpus']} with seed {record['seed']}"
    other = "" if same else f"{opened.name} is not the corpus it was trained on (different fingerprint)"
    figures = text_table([[name, f"{value:.4f}"] for name, value in scores.figures.items()], right=[1])
    return outcome, "\n\n".join(filter(None, [head, other, f"{opened.name}, {split}", figures, scores.sample]))


@app.command(cls=Command)
def compare(
    runs: Annotated[list[Path], Argument(metavar="RUN", help="The folders of the runs.")],
    corpus: CorpusName = None,
) -> Shown:
    """Compare the test scores of runs. Runs that differ only in the seed are averaged in one line."""
    from labkit.evaluation.scores import score
    from labkit.trials.leaderboard import Result, leaderboard

    records = {run: record_of(run) for run in {run.resolve(): run for run in runs}.values()}  # each run counts once
    opened = _common_corpus(records) if corpus is None else opened_corpus(corpus)
    results = []
    with step("scored and compared"), terminal("run") as progress:
        for number, (run, record) in enumerate(records.items()):
            progress(number, len(records), f"scoring {run}")
            model = load_run(run)
            results.append(Result.of(str(run), record, model, score(model, opened, apart=True)))
        lines = leaderboard(results)
    if len(records) > sum(len(line.results) for line in lines):
        note("identical runs with the same seed are counted only once", stacklevel=2)
    figures = list(dict.fromkeys(name for line in lines for name in line.means))
    means = [["means", *figures]]  # a column for each metric of any line
    for line in lines:
        means.append([line.name, *(f"{line.means[name]:.4f}" if name in line.means else "-" for name in figures)])
    table = text_table(means, right=range(1, len(figures) + 1))
    text = f"{opened.name}, test: {lines[0].figure}, best first\n\n{text_table([*map(_ranked, lines)])}\n\n{table}"
    return {"corpus": opened.name, "split": "test", "lines": [*map(_record, lines)]}, text


def _common_corpus(records: dict[Path, dict[str, Any]]) -> Corpus:
    """The one corpus that all runs were trained on."""
    (first, record), *rest = records.items()
    for run, other in rest:
        if other["fingerprint"] != record["fingerprint"]:
            raise ValueError(
                f"run {str(run)!r} was trained on {other['corpus']}, but {str(first)!r} on {record['corpus']} "
                "(different fingerprints); use --corpus to choose the corpus for the comparison"
            )
    corpus = corpus_for(first, record)
    if corpus.fingerprint != record["fingerprint"]:
        note(f"{corpus.name} has changed since the runs were trained on it", stacklevel=2)
    return corpus


def _ranked(line: Line) -> list[str]:
    """A line's name, its mean over seeds, and its verdict with the difference from the best line."""
    count = len(line.results)
    mean = str(line.spread or f"{line.mean:.4f} ({count} run{'s' * (count > 1)})")
    parts = [VERDICTS.get(line.verdict, line.verdict)]
    if line.lead is not None:
        low, high = line.lead.interval()
        parts.append(f"{-line.lead.lead:+.4f} [{-high:+.4f}, {-low:+.4f}]")
    parts += [SAW] * line.saw_test + [line.sample] * bool(line.sample)
    return [line.name, mean, "; ".join(parts)]


def _record(line: Line) -> dict[str, Any]:
    record = {name: getattr(line.results[0], name) for name in ("method", "settings", "trained_on")}
    record |= {"name": line.name, "measure": line.figure, "mean": line.means, "verdict": line.verdict}
    record |= {"runs": [each.run for each in line.results], "seeds": [each.seed for each in line.results]}
    record |= {"spread": line.spread and line.spread.spread, "saw_test": line.saw_test}
    record |= {"behind_by": line.lead and line.lead.lead, "interval": line.lead and line.lead.interval()}
    return record | ({"sample": line.sample} if line.sample else {})


@app.command(cls=Command)
def explain(
    model: Annotated[str, Argument(metavar="MODEL", help="A run folder, or a sentence-transformers folder or name.")],
    a: Annotated[str, Argument(help="A sentence.")],
    b: Annotated[str, Argument(help="Another sentence.")],
    c: Annotated[
        str | None,
        Argument(help="A third sentence; the output says why the first is closer to the second than to this one."),
    ] = None,
    way: Annotated[
        str, Option(help="exact, attention, integrated, neighbours or left-out. Default: the model's best.")
    ] = "",
    steps: Annotated[
        int, Option(min=0, help=("For integrated: number of integration steps; 0 chooses automatically."))
    ] = 0,
    top: Annotated[int | None, Option(min=1, help="Number of parts of each kind to show. Default: 8.")] = None,
) -> Shown:
    """Show which words make two sentences similar, or make one closer to a second than to a third."""
    from labkit.adapters import explain as adapter

    if chosen("json") and top is not None:
        raise ValueError(f"--top {top} does not apply to --json, which prints all parts; omit one")
    if (folder := Path(model)).is_dir() and not (folder / "modules.json").is_file():
        method = usable_method(folder)
    else:
        with step(f"model {model} opened"):
            method = adapter.method_of(model)
    how: dict[str, Any] = {"way": way, "steps": steps}
    found = adapter.explain(method, a, b, **how) if c is None else method.contrast(a, b, c, **how)
    return found.record(), found.text(top=top or 8)


@app.command(cls=Command)
def paraphrase(
    run: RunFolder,
    sentence: Annotated[str, Argument(metavar="SENTENCE", help="The sentence to paraphrase.")],
    width: Annotated[int, Option("--beam", min=1, help="Beam width; 1 always takes the most likely word.")] = 1,
) -> Shown:
    """Decode a sentence's vector into the sentence itself (auto) and a paraphrase, with their log-probabilities."""
    from labkit.pthought.writing import Search, described

    method: Any = usable_method(run)
    if not hasattr(method, "paraphrase"):
        raise ValueError(f"run {str(run)!r} was trained with {method.name}, which has no decoder; use a pthought run")
    search = Search(width=width, max_length=method.settings.max_length) if width > 1 else None
    with step("written"):
        paraphrases = method.paraphrase([sentence], search=search)[0]
    return paraphrases, described(paraphrases)


@app.command(cls=Command)
def export(
    run: RunFolder,
    folder: Annotated[Path, Argument(metavar="FOLDER", help="Folder to write the model to.")],
    to: Annotated[str, Option(metavar="sentence-transformers|onnx|model2vec", help="Library that opens the model.")],
    quantize: Annotated[bool, Option("--quantize", help="Store 8-bit weights (onnx, model2vec).")] = False,
    corpus: CorpusName = None,
    force: Force = False,
) -> Shown:
    """Export a run as a model that works without labkit, and check it on sentences of the dev split. This works for
    sentpwnet, siamese, triplet, bag, static, thematic, mean-vectors, sif, sbert, and for pca, whitening and
    all-but-the-top on top of these. With encoder=transformer, the fine-tuned model is included.
    """
    from labkit.adapters.export import export as exported

    check_free(folder, "FOLDER", force=force)
    record = record_of(run)
    method = load_run(run)
    where, metrics, intervals = f"{record['corpus']}/test", record["metrics"], {}
    try:
        opened = corpus_for(run, record, corpus)
        sentences = (opened.part("dev") if "dev" in opened.splits else opened).sentences()[:SAMPLE]
    except ValueError:
        if corpus is not None:
            raise
        sentences = list(method.snapshots.texts)  # the corpus is no longer available
    else:
        if opened.fingerprint == record["fingerprint"] and where in metrics:
            intervals[where] = scored(method, opened, apart=True).intervals()
    how: dict[str, Any] = {"quantize": quantize, "sentences": sentences, "metrics": metrics, "intervals": intervals}
    with step("exported"):
        outcome = exported(method, folder, to, force=force, **how)
    for limit in outcome.limits:
        remark(f"labkit: note: {limit}")
    return {"run": run, **vars(outcome)}, str(outcome)
