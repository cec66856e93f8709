"""Which method suits my data? A comparison that starts with a corpus and ends with a decision, within a time limit.

    report = bench(load("mine.csv"), out="report", minutes=20)
    print(report)                       the verdict and the table; details are in report/report.html

    1  the doctor       checks the data (`labkit.trials.doctor`)
    2  the plan         the methods, trials and seeds that fit into the time (`labkit.trials.plan`)
    3  the search       the same number of trials on dev for each method; if trials use only a part of the rows, the
                        three best and the default settings are trained on all rows, and dev chooses
    4  the test         the chosen settings with several seeds, scored once on test
    5  the report       which method leads, what it costs, whether more labels would help, where it makes mistakes

Everything is stored in the folder. Repeat the call to resume with the stored plan; it produces the same table.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from labkit import scale
from labkit.atomic import in_place, write_text
from labkit.corpora.article_rules import eligible
from labkit.corpora.records import Articles, Corpus, Labelled, Pairs
from labkit.evaluation.comparison import Parts, lead_of
from labkit.evaluation.scores import require_labels
from labkit.evaluation.threshold import Threshold, threshold
from labkit.experiment import Experiment, versions_of
from labkit.locks import locked
from labkit.method import Method
from labkit.methods import METHODS
from labkit.progress import Progress, silent
from labkit.trials import engine
from labkit.trials.doctor import Finding, examine
from labkit.trials.engine import Trial
from labkit.trials.metrics import NAMES, PROBE, Metric, encoded, fitted_probe, metrics_for
from labkit.trials.mistakes import mistakes_of
from labkit.trials.plan import ENTRIES, LEAST_SEEDS, Cost, Entry, Plan, cost_of, planned
from labkit.trials.report import Line, Report, as_html
from labkit.trials.space import optuna_version
from labkit.trials.tune import finalists, tune
from labkit.trials.verdict import UNITS, ranked

SMALL = 2_000  # training rows up to which every trial uses all of them, because a quarter would say too little
SHARES = (0.25, 0.5, 1.0)  # shares of the training rows, for the learning curve
EXPLAINING = 0.1  # share of the minutes for explaining mistakes; the others are listed without an explanation
JUDGED_A_MINUTE = 500  # sentences whose labels a large model checks, per minute of the limit


def bench(
    corpus: Corpus,
    *,
    out: Path | str,
    minutes: float = 20.0,
    methods: Sequence[str] = (),
    metric: str = "",
    seeds: int = 0,
    workers: int = 0,
    seed: int = 0,
    progress: Progress = silent,
    tell: Callable[[str], None] = lambda line: None,
) -> Report:
    """Compare the methods that suit a corpus, fairly, in about `minutes`, and write report.html into `out`.

    Settings are chosen on dev, with the same number of trials for each method. The test split is scored once, when they
    are fixed. By default there is one worker process per core. Repeat an interrupted call to resume it. `tell` receives
    the findings about the data and the plan before the first trial.

    >>> from labkit import bench, load
    >>> print(bench(load("mine.csv"), out="report", minutes=20))  # doctest: +SKIP
    """
    began = time.monotonic()
    given, corpus = corpus, with_dev(corpus)
    if corpus.sizes != given.sizes:
        tell("the corpus has no dev rows, so settings are chosen on a tenth of its training rows")
    known = _checked_metric(corpus, metric)
    if wrong := [name for name in methods if name not in ENTRIES]:
        raise ValueError(f"method {wrong[0]!r} cannot be compared; choose from {', '.join(ENTRIES)}")
    if seeds and seeds < LEAST_SEEDS:
        raise ValueError(f"seeds is {seeds}, expected at least {LEAST_SEEDS}, or 0; fewer seeds give no spread")
    names, folder, workers = list(dict.fromkeys(methods)) or [*ENTRIES], Path(out), workers or os.cpu_count() or 1
    versions: dict[str, Any] = {name: versions_of(METHODS[ENTRIES[name].method], {}) for name in names}
    if any(ENTRIES[name].space(corpus) for name in names):
        versions["optuna"] = optuna_version()  # raises an error without Optuna, before anything is stored
    folder.mkdir(parents=True, exist_ok=True)
    asked = {
        "kind": "bench",
        "fingerprint": corpus.fingerprint,
        "metric": known,
        "methods": names,
        "minutes": minutes,
        "seeds": seeds,
        "seed": seed,
        "versions": versions,
    }
    scale.folder(folder, asked)  # refuses the folder of another comparison
    measure = Metric(known, folder / "frozen")
    progress(0, None, "checking the data")
    findings = _findings(corpus, folder / "findings.json", minutes, seed)
    for each in findings:
        if each.level == "warning":
            tell(each.sentence)
    with locked(folder, patience=-1):  # two processes share one plan
        if not (folder / "planned.json").is_file():
            told = _named(progress, "measuring how long each method takes")
            timed = {name: (ENTRIES[name], corpus, measure) for name in names}
            found = _each(cost_of, folder / "costs", timed, workers=workers, progress=told)
            costs = {name: Cost(**cost) for name, cost in found.items()}
            spent = (time.monotonic() - began) / 60
            left = max(minutes - spent, minutes / 2)
            sized = planned(costs, left, workers, small=corpus.sizes["train"] <= SMALL, seeds=seeds)
            more = sized.pop("more")
            if not sized["methods"]:
                _forget(folder)
                reasons = "; ".join(f"{name}: {reason}" for name, reason in sized["left_out"].items())
                remedy = "fix these reasons" if all(cost.reason for cost in costs.values()) else "allow more minutes"
                raise ValueError(f"no method can be compared in {minutes:g} minutes ({reasons}); {remedy}")
            enough = math.ceil(spent + left + more - 1e-6) if more > 0 else 0
            made = Plan(known, minutes=minutes, workers=workers, costs=costs, seed=seed, enough=enough, **sized)
            write_text(folder / "planned.json", json.dumps(asdict(made), indent=1))
    try:
        plan = Plan.of(json.loads((folder / "planned.json").read_text("utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{folder / 'planned.json'} was written by another version ({error}); use another folder"
        ) from None
    tell(f"plan: {plan}")
    if plan.untried:
        tell(plan.untried)
    comparison = _Comparison(corpus, measure, folder, plan, progress)
    report = Report(Path(corpus.name).name, corpus.sizes, known, findings, plan)
    try:
        report = comparison.report(report)
    except KeyboardInterrupt:
        _write(replace(comparison.so_far(report), finished=False), folder, began)
        raise
    return _write(report, folder, began)


def _forget(folder: Path) -> None:
    """Remove everything stored before the plan, so that the folder can be used again with more minutes or extras."""
    for name in ("costs", "frozen"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("findings.json", scale.MANIFEST):
        (folder / name).unlink(missing_ok=True)


def _write(report: Report, folder: Path, began: float) -> Report:
    report = replace(report, took=(time.monotonic() - began) / 60)
    write_text(folder / "report.html", as_html(report))
    write_text(folder / "report.json", json.dumps(report.to_json(), indent=1, ensure_ascii=False, default=str) + "\n")
    return report


# --- the corpus --------------------------------------------------------------------------------------------------


def with_test(corpus: Corpus, test: Corpus) -> Corpus:
    """The corpus with another corpus's rows as its test split; its own test rows are added to dev."""
    if type(test) is not type(corpus):
        raise ValueError(f"the test rows are {test.KIND}, but the corpus has {corpus.KIND}; give both the same columns")
    if isinstance(corpus, Pairs) and isinstance(test, Pairs) and corpus.graded != test.graded:
        raise ValueError(
            "the test rows and the corpus differ: one has scores, the other labels; give both the same columns"
        )
    columns: dict[str, Any] = {name: (*getattr(corpus, name), *getattr(test, name)) for name in corpus.COLUMNS}
    splits = ["dev" if split == "test" else split for split in corpus.splits] + ["test"] * len(test)
    extra = {name: (*own, *test.extra[name]) for name, own in corpus.extra.items() if name in test.extra}
    numbers: list[int | str] = [*map(corpus.number_of, range(len(corpus)))]
    numbers += [f"{test.number_of(row)} of {Path(test.name).name}" for row in range(len(test))]
    return replace(corpus, **columns, splits=splits, extra=extra, numbers=numbers)


def with_dev(corpus: Corpus) -> Corpus:
    """The corpus with a tenth of its training rows as dev if it has no dev rows; related rows stay together."""
    if "dev" in corpus.sizes or "train" not in corpus.sizes:
        return corpus
    train = [row for row, split in enumerate(corpus.splits) if split == "train"]
    divided = zip(train, replace(corpus.take(train), splits=()).splits, strict=True)
    dev = {row for row, split in divided if split == "dev"}
    return replace(corpus, splits=["dev" if row in dev else split for row, split in enumerate(corpus.splits)])


def _checked_metric(corpus: Corpus, metric: str) -> str:
    """The metric, if the corpus allows training and scoring with it."""
    require_labels(corpus)
    if isinstance(corpus, Labelled) and len({*corpus.labels}) > 0.9 * len(corpus):
        raise ValueError(
            f"almost every row of {corpus.name!r} has a label of its own ({len({*corpus.labels}):,} labels in "
            f"{len(corpus):,} rows), but a class needs several rows; if the labels are grades of pairs, name the "
            "columns text_a, text_b and score"
        )
    for split in ("train", "dev", "test"):
        if split not in corpus.sizes:
            raise ValueError(
                f"corpus {corpus.name!r} has no {split} rows (it has {corpus.sizes}); add rows, give test rows with "
                "--test, or remove the column 'split', if there is one, to have the rows divided"
            )
    possible = metrics_for(corpus)
    if metric and metric not in possible:
        raise ValueError(f"metric is {metric!r}, expected one of {', '.join(possible)} for {corpus.KIND}")
    for split in ("train",) * ((metric or possible[0]) == PROBE) + ("dev", "test"):
        part = corpus.part(split)
        labels = {*part.values} if isinstance(part, Pairs) else {*part.classified()[1]}
        if len(labels) == 1:
            raise ValueError(
                f"every {split} row of {corpus.name!r} has the label {labels.pop()!r}; add rows with other labels"
            )
        if isinstance(part, Pairs) and len(part) < 3:
            raise ValueError(f"corpus {corpus.name!r} has {len(part)} {split} rows, expected at least 3; add some")
        if isinstance(part, Articles) and not any(map(eligible, part.articles)):
            raise ValueError(f"no {split} article of {corpus.name!r} has the five sections that scores need; add some")
    return metric or possible[0]


def _findings(corpus: Corpus, file: Path, minutes: float, seed: int) -> tuple[Finding, ...]:
    """The findings about the corpus, computed once."""
    if not file.is_file():
        model = len(corpus.sentences()) <= JUDGED_A_MINUTE * minutes
        found = examine(corpus, seed=seed, model=model, folder=file.parent / "frozen")
        write_text(file, json.dumps(list(map(asdict, found)), ensure_ascii=False, default=str))
    stored = json.loads(file.read_text("utf-8"))
    return tuple(
        Finding(**{**each, **{key: tuple(each.get(key, ())) for key in ("rows", "places")}}) for each in stored
    )


# --- one method, in its own process ------------------------------------------------------------------------------


def _each(
    compute: Callable[..., dict[str, Any]], folder: Path, given: Mapping[str, tuple[Any, ...]], **how: Any
) -> dict[str, dict[str, Any]]:
    """The JSON that `compute` returns for each name, stored in the folder; a failure is stored as `reason`."""
    files = {folder / f"{name}.json": each for name, each in given.items()}
    scale.each(partial(_write_computed, compute), files, **how)
    return {path.stem: json.loads(path.read_text("utf-8")) for path in files}


def _write_computed(compute: Callable[..., dict[str, Any]], given: tuple[Any, ...], path: Path) -> None:
    with scale.one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = compute(*given)
        except engine.FAILURES as error:
            found = {"reason": engine.reason_of(error)}
    write_text(path, json.dumps(found))


def _rescored(trial: Trial, corpus: Corpus, fewer: Corpus, metric: Metric, folder: Path) -> dict[str, Any]:
    """The score of a stored model on fewer test rows."""
    method = METHODS[trial.method]()
    method.load(engine.model_of(trial, corpus, metric, folder))
    return {"score": metric(method, fewer, "test")[0][metric.name]}


def _named(progress: Progress, what: str) -> Progress:
    return lambda done, total, _: progress(done, total, what)


def _choice(entry: Entry, corpus: Corpus, metric: Metric, folder: Path, plan: Plan) -> dict[str, Any]:
    """The settings of one method that are best on dev."""
    if not entry.space(corpus):
        [only] = engine.run([Trial(entry.method, entry.settings)], corpus, metric, folder)
        if only.reason:
            raise ValueError(only.reason)
        return {"settings": dict(entry.settings), "dev": only.figure, "at first": only.figure, "trials": 1}
    tuned = tune(
        Experiment(entry.method, corpus, entry.settings),
        trials=plan.trials,
        seed=plan.seed,
        part=plan.part,
        measure=metric,
        folder=folder / "tuned" / entry.name,
    )
    decided = tuned if plan.part == 1 else finalists(tuned, corpus, metric, folder)
    first = decided.trials[0].figure
    return {"settings": decided.settings, "dev": decided.best.figure, "at first": first, "trials": len(tuned.trials)}


# --- all methods -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Comparison:
    """A planned comparison in its folder."""

    corpus: Corpus
    metric: Metric
    folder: Path
    plan: Plan
    progress: Progress

    def report(self, report: Report) -> Report:
        """Search for settings, score them on test, and answer the questions of the report."""
        dear = sorted(self.plan.methods, key=lambda name: self.plan.costs[name].fit, reverse=True)  # the longest first
        given = {name: (ENTRIES[name], self.corpus, self.metric, self.folder, self.plan) for name in dear}
        told = _named(self.progress, "choosing settings on dev")
        choices = _each(_choice, self.folder / "chosen", given, workers=self.plan.workers, progress=told)
        tested = [trial for name in dear if "reason" not in choices[name] for trial in self.finals(name)]
        self._run(tested, "training with the chosen settings")
        report = self.so_far(report)
        if not report.lines:
            raise ValueError(f"no method could be trained: {'; '.join(report.failed.values())}")
        return self._answered(report)

    def _run(self, trials: Sequence[Trial], what: str) -> None:
        with scale.one_thread():
            told = _named(self.progress, what)
            engine.run(trials, self.corpus, self.metric, self.folder, workers=self.plan.workers, progress=told)

    def choice(self, name: str) -> dict[str, Any]:
        """The settings that the search chose for a method; empty if the search is not finished."""
        file = self.folder / "chosen" / f"{name}.json"
        return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}

    def finals(self, name: str, part: float = 1.0) -> list[Trial]:
        """The trials on test with the chosen settings, one for each seed."""
        method, settings, whole = ENTRIES[name].method, self.choice(name)["settings"], part == 1
        seeds = range(self.plan.seeds if self.plan.costs[name].random else 1)
        return [Trial(method, settings, seed, part, "test", keep=whole and seed == 0) for seed in seeds]

    def so_far(self, report: Report) -> Report:
        """The table of all methods whose seeds are finished."""
        failed: dict[str, str] = {}
        found: dict[str, list[engine.Result]] = {}
        choices = {name: choice for name in self.plan.methods if (choice := self.choice(name))}
        for name, choice in choices.items():
            if "reason" in choice:
                failed[name] = choice["reason"]
                continue
            results = engine.known(self.finals(name), self.corpus, self.metric, self.folder)
            if reasons := [each.reason for each in results if each is not None and each.reason]:
                failed[name] = reasons[0]
            elif all(results):
                found[name] = [each for each in results if each is not None]
        parts = {name: {seed: each.parts[self.metric.name] for seed, each in enumerate(found[name])} for name in found}
        lines = []
        for row in ranked(parts, lowest=self.metric.lowest):
            choice, scored = choices[row.name], found[row.name]
            means = {key: float(np.mean([each.figures[key] for each in scored])) for key in scored[0].figures}
            means = {key: mean for key, mean in means.items() if np.isfinite(mean)}  # JSON has no infinite threshold
            seconds = self.plan.costs[row.name].training([each.seconds for each in scored])
            costs = (seconds, means["microseconds"], means["megabytes"])
            of_dev = (choice["dev"], choice["at first"], choice["trials"])
            lines.append(Line(row, choice["settings"], *of_dev, means, *costs))
        return replace(report, lines=tuple(lines), failed=failed)

    def _answered(self, report: Report) -> Report:
        """Whether more labels would help, where the winner makes mistakes, and the winning model, ready to use."""
        corpus, folder, names = self.corpus, self.folder, [line.ranked.name for line in report.lines]
        winner, simple = names[0], [name for name in names if ENTRIES[name].simple][:1]
        shown = list(dict.fromkeys([winner, *simple]))
        fewer = [trial for name in shown for share in SHARES[:-1] for trial in self.finals(name, share)]
        self._run(fewer, "training with fewer labels")
        told = partial(self.progress, 0, None)
        curve, gain, low = {}, None, self.metric.lowest
        for name in shown:
            runs = {share: self._parts(self.finals(name, share)) for share in SHARES}
            if not all(runs.values()):  # too few rows to learn from
                continue
            rows = {share: ranked({name: dict(enumerate(each))}, lowest=low)[0] for share, each in runs.items()}
            curve[name] = {share: (row.score, row.low, row.high) for share, row in rows.items()}
            if name == winner and len(runs[0.5]) == len(runs[1.0]) and report.lines[0].ranked.units >= UNITS:
                lead = lead_of(runs[1.0], runs[0.5])
                gain = (lead.lead, *lead.interval())
        report = self.without_leaks(report)
        method = METHODS[ENTRIES[winner].method]()
        method.load(engine.model_of(self.finals(winner)[0], corpus, self.metric, folder))
        method.save(folder / "model")
        told("finding a threshold")
        cut = threshold(method, corpus) if isinstance(corpus, Pairs) and not corpus.graded else None
        told("explaining mistakes")
        known = encoded(method, corpus, self.metric.folder)
        classifier = fitted_probe(known, corpus) if self.metric.name == PROBE and isinstance(corpus, Labelled) else None
        mistakes = tuple(mistakes_of(known, corpus, classifier, seconds=EXPLAINING * 60 * self.plan.minutes))
        told("exporting the model")
        return replace(
            report,
            curve=curve,
            gain=gain,
            mistakes=mistakes,
            cut=cut,
            code=_code(cut, classifier, folder),
            exported=_exported(method, corpus, folder / "sentence-transformers", report),
        )

    def without_leaks(self, report: Report) -> Report:
        """Score each method's first run without the test rows that repeat rows of other splits."""
        corpus, metric = self.corpus, self.metric
        leaks = {row for each in report.findings if each.kind in ("leaks", "near-leaks") for row in each.places}
        kept = [row for row, split in enumerate(corpus.splits) if split != "test" or row not in leaks]
        rows = corpus.sizes["test"] - (len(corpus) - len(kept))
        if rows in (0, corpus.sizes["test"]) or rows < UNITS:
            return replace(report, unleaked_rows=rows)
        firsts = {line.ranked.name: self.finals(line.ranked.name)[0] for line in report.lines}
        given = {name: (first, corpus, corpus.take(kept), metric, self.folder) for name, first in firsts.items()}
        told = _named(self.progress, "scoring without leaks")
        found = _each(_rescored, self.folder / "unleaked", given, workers=self.plan.workers, progress=told)
        whole = engine.known([*firsts.values()], corpus, metric, self.folder)
        scores = {
            name: (result.figures[metric.name], found[name]["score"])
            for name, result in zip(firsts, whole, strict=True)
            if result is not None and "score" in found[name]
        }
        return replace(report, unleaked_rows=rows, unleaked=scores)

    def _parts(self, trials: Sequence[Trial]) -> list[Parts]:
        results = engine.known(trials, self.corpus, self.metric, self.folder)
        return [each.parts[self.metric.name] for each in results if each is not None and not each.reason]


def _stored(classifier: Any, file: Path) -> None:
    """Store a weight for each class and feature; with two classes, scikit-learn has those of the second class alone."""
    weights, bias = classifier.coef_, classifier.intercept_
    if len(weights) == 1:
        weights, bias = np.concatenate([0 * weights, weights]), np.array([0.0, *bias])
    with in_place(file) as beside:
        np.savez(beside, weights=weights, bias=bias, classes=classifier.classes_.astype(str))


def _code(cut: Threshold | None, classifier: Any, folder: Path) -> str:
    """Code that uses the winner."""
    opened = f"model = load_run({str(folder / 'model')!r})"
    if classifier is not None:
        _stored(classifier, folder / "classifier.npz")
        return f"""\
import numpy as np
from labkit import load_run
from labkit.arrays import unit

{opened}
classifier = np.load({str(folder / "classifier.npz")!r})
scores = unit(model.encode(["a sentence", "another one"])) @ classifier["weights"].T + classifier["bias"]
print(classifier["classes"][scores.argmax(axis=1)])"""
    lines = ["from labkit import load_run", "", opened]
    if cut is not None:
        lines += [
            'similarities = model.similarity_pairwise(["a sentence"], ["another one"])',
            f"same = similarities > {cut.threshold}  # the threshold from dev",
        ]
    else:
        lines += ['vectors = model.encode(["a sentence", "another one"])', "print(model.similarity(vectors, vectors))"]
    return "\n".join(lines)


def _exported(method: Method, corpus: Corpus, folder: Path, report: Report) -> str:
    """Export the winner for sentence-transformers, if possible, with its model card."""
    from labkit.adapters.export import export

    where, name, row = f"{Path(corpus.name).stem}/test", NAMES[report.metric], report.lines[0].ranked
    scores: dict[str, Any] = {
        "metrics": {where: {name: row.score}},
        "intervals": {where: {name: (row.low, row.high)}},
        "limits": [each.sentence for each in report.findings if each.level == "warning"],
    }
    if len(report.lines) > 1:
        scores["limits"].append(f"Of {len(report.lines)} methods, it scored highest on test: the score is optimistic.")
    try:
        some = corpus.part("dev").sentences()[:500]
        export(method, folder, "sentence-transformers", sentences=some, force=True, **scores)
    except ValueError as reason:
        return f"The model cannot be opened by sentence-transformers: {reason}."
    return f"For sentence-transformers, with its model card: {folder}"
